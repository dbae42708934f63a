package redisdb

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
)

// Scan walks over the keys that match a glob pattern, on connections of its own: one master after the other, a thousand
// places per call. Keys come without the namespace, and only those of ours. A key that lives during the whole walk is
// seen at least once, and maybe twice. It ends with the first error, also that of fn; the slice is fn's to keep.
func (db *DB) Scan(ctx context.Context, match string, fn func(node string, keys []string) error) error {
	c, err := db.Census(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, m := range c.Masters() {
		err := m.Scan(ctx, match, func(keys []string) error { return fn(m.Addr(), keys) })
		if err != nil {
			return err
		}
	}
	return nil
}

// censusPatience bounds one exchange of a census. Nobody waits for it, so it may be long; a server that is busy with
// guests answers late.
const censusPatience = 10 * time.Second

// Census looks at everything that the servers hold, on connections of its own: neither the calls that serve guests nor
// the breaker notice it. It is the only one who sends keys that nobody declared, and it only reads. Keys are given and
// taken without the namespace. Close ends its connections.
type Census struct {
	client    rueidis.Client // knows the nodes, and which has a key
	masters   []*Master
	namespace keyspace.Namespace
}

// Census connects to every master. A server that is out of reach is an error.
func (db *DB) Census(ctx context.Context) (*Census, error) {
	client, err := rueidis.NewClient(db.option)
	if err != nil {
		if client != nil {
			client.Close()
		}
		return nil, translate("census", classify(err), err)
	}
	c := &Census{client: client, namespace: db.cfg.Namespace}
	for addr := range client.Nodes() {
		w, err := dialWire(ctx, db.option, addr)
		if err != nil {
			c.Close()
			return nil, translateWire("census", err)
		}
		m := &Master{addr: addr, option: db.option, wire: w, namespace: c.namespace, bare: db.bare}
		c.masters = append(c.masters, m)
		if m.replica, err = m.isReplica(ctx); err != nil {
			c.Close()
			return nil, err
		}
	}
	c.masters = slices.DeleteFunc(c.masters, func(m *Master) bool {
		if m.replica {
			m.wire.close()
		}
		return m.replica
	})
	slices.SortFunc(c.masters, func(a, b *Master) int { return strings.Compare(a.addr, b.addr) })
	return c, nil
}

// Close ends the connections.
func (c *Census) Close() {
	for _, m := range c.masters {
		m.wire.close()
	}
	c.client.Close()
}

// Masters are the servers that hold keys, in the order of their addresses.
func (c *Census) Masters() []*Master { return c.masters }

// Exist tells for each key whether it is there, on whatever master.
func (c *Census) Exist(ctx context.Context, keys []string) ([]bool, error) {
	found := make([]bool, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, censusPatience)
	defer cancel()
	cmds := make([]rueidis.Completed, len(keys))
	for i, key := range keys {
		cmds[i] = c.client.B().Arbitrary("EXISTS").Keys(rawKey(c.namespace, key)).Build()
	}
	for i, r := range c.client.DoMulti(ctx, cmds...) {
		n, err := r.AsInt64()
		if err != nil {
			return nil, translate("EXISTS", classify(err), err)
		}
		found[i] = n == 1
	}
	return found, nil
}

// rawKey puts the namespace in front of a key that need not be declared.
func rawKey(ns keyspace.Namespace, key string) string { return ns.Raw(key) }

// Entry is an id that a key is said to hold: as its text, or as a member of the set.
type Entry struct {
	Key, ID string
	Set     bool
}

// Hold tells for each entry whether it is still there, on whatever master.
func (c *Census) Hold(ctx context.Context, entries []Entry) ([]bool, error) {
	held := make([]bool, len(entries))
	if len(entries) == 0 {
		return held, nil
	}
	ctx, cancel := context.WithTimeout(ctx, censusPatience)
	defer cancel()
	cmds := make([]rueidis.Completed, len(entries))
	for i, e := range entries {
		if e.Set {
			cmds[i] = c.client.B().Arbitrary("SISMEMBER").Keys(rawKey(c.namespace, e.Key)).Args(e.ID).Build()
		} else {
			cmds[i] = c.client.B().Arbitrary("GET").Keys(rawKey(c.namespace, e.Key)).Build()
		}
	}
	for i, r := range c.client.DoMulti(ctx, cmds...) {
		var err error
		if entries[i].Set {
			var n int64
			n, err = r.AsInt64()
			held[i] = n == 1
		} else {
			var text string
			text, err = r.ToString()
			held[i] = err == nil && text == entries[i].ID
		}
		if k := classify(err); k != fine && k != reply { // a key of another type holds nothing
			return nil, translate("SISMEMBER", k, err)
		}
	}
	return held, nil
}

// States is Master.States for keys on whatever master.
func (c *Census) States(ctx context.Context, keys []string) ([]State, error) {
	states := make([]State, len(keys))
	if len(keys) == 0 {
		return states, nil
	}
	ctx, cancel := context.WithTimeout(ctx, censusPatience)
	defer cancel()
	cmds := make([]rueidis.Completed, 0, 2*len(keys))
	for _, key := range keys {
		key = rawKey(c.namespace, key)
		cmds = append(cmds, c.client.B().Arbitrary("TYPE").Keys(key).Build(), c.client.B().Arbitrary("PTTL").Keys(key).Build())
	}
	answers := c.client.DoMulti(ctx, cmds...)
	for i := range states {
		kind, err := answers[2*i].ToString()
		if err != nil {
			return nil, translate("TYPE", classify(err), err)
		}
		ms, err := answers[2*i+1].AsInt64()
		if err != nil {
			return nil, translate("PTTL", classify(err), err)
		}
		states[i] = State{keyspace.Type(kind), lifeOf(ms)}
	}
	return states, nil
}
