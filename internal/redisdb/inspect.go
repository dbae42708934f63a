package redisdb

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
	"comanda/internal/seq"
)

// inspectTimeout limits one round trip of an inspection. It is long, because a busy server replies late and no request
// waits.
const inspectTimeout = 10 * time.Second

// Inspector reads everything that the servers hold, on separate connections, so that it affects neither other calls nor
// the breaker. It is the only part of the package that sends undeclared keys, and it only reads. Keys are passed and
// returned without the namespace. Close ends its connections.
type Inspector struct {
	reader // routes keys to their nodes

	client  rueidis.Client
	masters []*Master
}

// Inspect connects to every master and returns an Inspector. An unreachable server is an error.
func (db *DB) Inspect(ctx context.Context) (*Inspector, error) {
	option := db.option
	option.ConnWriteTimeout = inspectTimeout // rueidis limits replies by it as well
	// Few round trips run at once. Allocating the default ring of 1,024 entries takes longer than a round trip.
	option.RingScaleEachConn = 4
	client, err := rueidis.NewClient(option)
	if err != nil {
		if client != nil {
			client.Close()
		}
		return nil, translate("inspect", classify(err), err)
	}
	c := &Inspector{client: client, reader: reader{client, db.cfg.Namespace}}
	nodes := client.Nodes()
	for _, addr := range slices.Sorted(maps.Keys(nodes)) {
		conn, release := nodes[addr].Dedicate()
		m := &Master{addr: addr, release: release, reader: reader{conn, db.cfg.Namespace}}
		c.masters = append(c.masters, m)
		replica, err := m.isReplica(ctx)
		if err != nil {
			c.Close()
			return nil, err
		}
		if replica {
			release()
			c.masters = c.masters[:len(c.masters)-1]
		}
	}
	return c, nil
}

// Close closes the connections.
func (c *Inspector) Close() {
	for _, m := range c.masters {
		m.release()
	}
	c.client.Close()
}

// Masters returns the servers that hold keys, ordered by address.
func (c *Inspector) Masters() []*Master { return c.masters }

// reader sends the commands of an inspection.
type reader struct {
	conn      rueidis.CommandClient
	namespace keyspace.Namespace
}

// on returns a command on a key that need not be declared. Extra arguments follow the key.
func (r *reader) on(key, verb string, args ...string) rueidis.Completed {
	return r.conn.B().Arbitrary(verb).Keys(r.namespace.Raw(key)).Args(args...).Build()
}

// send sends commands in one round trip. The refusal of a single command stays in its result.
func (r *reader) send(ctx context.Context, name string, cmds []rueidis.Completed) ([]rueidis.RedisResult, error) {
	if len(cmds) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	results := r.conn.DoMulti(ctx, cmds...)
	for _, res := range results {
		if k := classify(res.Error()); k != fine && k != reply {
			return nil, translate(name, k, res.Error())
		}
	}
	return results, nil
}

// State is the type and the remaining life of a key.
type State struct {
	Type keyspace.Type // "none" if the key no longer exists
	TTL  time.Duration // whole milliseconds, or Forever
}

// Forever is the TTL of a key without expiry.
const Forever time.Duration = -1

const (
	goneType = keyspace.Type("none")
	goneTTL  = -2 // reply of PTTL for a missing key
)

// Gone reports whether the key no longer exists.
func (s State) Gone() bool { return s.Type == goneType }

func lifeOf(ms int64) time.Duration {
	if ms < 0 {
		return Forever
	}
	return time.Duration(ms) * time.Millisecond
}

// States returns the type and the TTL of keys in one round trip.
func (r *reader) States(ctx context.Context, keys []string) ([]State, error) {
	cmds := make([]rueidis.Completed, 0, 2*len(keys))
	for _, key := range keys {
		cmds = append(cmds, r.on(key, "TYPE"), r.on(key, "PTTL"))
	}
	results, err := r.send(ctx, "TYPE", cmds)
	if err != nil {
		return nil, err
	}
	states := make([]State, len(keys))
	for i := range states {
		kind, err := results[2*i].ToString()
		if err != nil {
			return nil, translate("TYPE", classify(err), err)
		}
		ms, err := results[2*i+1].AsInt64()
		if err != nil {
			return nil, translate("PTTL", classify(err), err)
		}
		states[i] = State{keyspace.Type(kind), lifeOf(ms)}
	}
	return states, nil
}

// Memory returns the bytes that keys occupy, including the server's overhead; 0 for a missing key, and if the server
// does not support the command.
func (r *reader) Memory(ctx context.Context, keys []string) ([]int64, error) {
	cmds := seq.Map(keys, func(key string) rueidis.Completed {
		return r.conn.B().MemoryUsage().Key(r.namespace.Raw(key)).Build()
	})
	return r.numbers(ctx, "MEMORY", cmds)
}

// lengthCommands returns the length of a value by its type.
var lengthCommands = map[keyspace.Type]string{
	keyspace.String: "STRLEN", keyspace.Hash: "HLEN", keyspace.Set: "SCARD", keyspace.SortedSet: "ZCARD", keyspace.List: "LLEN",
	keyspace.Stream: "XLEN",
}

// Lengths returns the lengths of keys in one round trip: bytes of a string, and members, fields or entries of other types.
// A key that was deleted or replaced meanwhile has the length 0, and so has a type that has none.
func (r *reader) Lengths(ctx context.Context, keys []KeyInfo) ([]int64, error) {
	cmds := seq.Map(keys, func(k KeyInfo) rueidis.Completed {
		if verb, ok := lengthCommands[k.Type]; ok {
			return r.on(k.Key, verb)
		}
		return r.on(k.Key, "EXISTS")
	})
	lengths, err := r.numbers(ctx, "STRLEN", cmds)
	for i := range lengths {
		if _, ok := lengthCommands[keys[i].Type]; !ok {
			lengths[i] = 0
		}
	}
	return lengths, err
}

// numbers sends commands in one round trip and returns their replies; 0 for one that is refused.
func (r *reader) numbers(ctx context.Context, name string, cmds []rueidis.Completed) ([]int64, error) {
	results, err := r.send(ctx, name, cmds)
	return seq.Map(results, func(r rueidis.RedisResult) int64 {
		n, _ := r.AsInt64()
		return n
	}), err
}

// Entry is an id that a key is expected to hold, as its value or as a member of its set.
type Entry struct {
	Key, ID string
	Set     bool
}

// Hold reports for each entry whether its key still holds the id. A key of another type does not.
func (c *Inspector) Hold(ctx context.Context, entries []Entry) ([]bool, error) {
	cmds := make([]rueidis.Completed, len(entries))
	for i, e := range entries {
		cmds[i] = c.on(e.Key, "GET")
		if e.Set {
			cmds[i] = c.on(e.Key, "SISMEMBER", e.ID)
		}
	}
	results, err := c.send(ctx, "SISMEMBER", cmds)
	if err != nil {
		return nil, err
	}
	held := make([]bool, len(entries))
	for i, e := range entries {
		if e.Set {
			n, _ := results[i].AsInt64()
			held[i] = n == 1
			continue
		}
		text, err := results[i].ToString()
		held[i] = err == nil && text == e.ID
	}
	return held, nil
}
