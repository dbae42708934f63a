package redisdb

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
)

// Scan passes the keys that match a glob pattern to fn, on separate connections, one master after the other. Keys are
// without the namespace, and only those of this installation. A key that exists during the whole scan is passed at
// least once, possibly twice. Scan stops at the first error, including that of fn. fn may keep the slice.
func (db *DB) Scan(ctx context.Context, match string, fn func(node string, keys []string) error) error {
	c, err := db.Inspect(ctx)
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

// inspectTimeout limits one exchange of an inspection. No request waits for it, so it is long: a busy server replies
// late.
const inspectTimeout = 10 * time.Second

// Inspector reads everything that the servers hold, on separate connections, so that it affects neither other calls nor
// the breaker. It is the only part of the package that sends undeclared keys, and it only reads. Keys are passed and
// returned without the namespace. Close ends its connections.
type Inspector struct {
	client    rueidis.Client // routes keys to their nodes
	masters   []*Master
	namespace keyspace.Namespace
}

// Inspect connects to every master and returns an Inspector. An unreachable server is an error.
func (db *DB) Inspect(ctx context.Context) (*Inspector, error) {
	client, err := rueidis.NewClient(db.option)
	if err != nil {
		if client != nil {
			client.Close()
		}
		return nil, translate("census", classify(err), err)
	}
	c := &Inspector{client: client, namespace: db.cfg.Namespace}
	for addr := range client.Nodes() {
		w, err := dialWire(ctx, db.option, addr)
		if err != nil {
			c.Close()
			return nil, translateWire("census", err)
		}
		m := &Master{addr: addr, option: db.option, wire: w, namespace: c.namespace, bare: db.embedded}
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

// Close closes the connections.
func (c *Inspector) Close() {
	for _, m := range c.masters {
		m.wire.close()
	}
	c.client.Close()
}

// Masters returns the servers that hold keys, ordered by address.
func (c *Inspector) Masters() []*Master { return c.masters }

// Exist reports for each key whether it exists on its master.
func (c *Inspector) Exist(ctx context.Context, keys []string) ([]bool, error) {
	found := make([]bool, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
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

// rawKey prepends the namespace to a key that need not be declared.
func rawKey(ns keyspace.Namespace, key string) string { return ns.Raw(key) }

// Entry is an id that a key is expected to hold, as its value or as a member of its set.
type Entry struct {
	Key, ID string
	Set     bool
}

// Hold reports for each entry whether its key still holds the id.
func (c *Inspector) Hold(ctx context.Context, entries []Entry) ([]bool, error) {
	held := make([]bool, len(entries))
	if len(entries) == 0 {
		return held, nil
	}
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
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
		if k := classify(err); k != fine && k != reply { // a key of another type does not hold the id
			return nil, translate("SISMEMBER", k, err)
		}
	}
	return held, nil
}

// States is Master.States for keys of any master.
func (c *Inspector) States(ctx context.Context, keys []string) ([]State, error) {
	states := make([]State, len(keys))
	if len(keys) == 0 {
		return states, nil
	}
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
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
