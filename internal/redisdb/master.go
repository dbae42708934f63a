package redisdb

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
)

// scanCount is the COUNT of SCAN calls: enough to fill a packet, few enough to block the server for less than a
// millisecond.
const scanCount = 1000

var scanPage, memberPage = strconv.Itoa(scanCount), strconv.Itoa(4 * scanCount) // members are cheaper than keys

// Master is one master that an Inspector reads. It is not safe for concurrent use; different masters may be read
// concurrently.
type Master struct {
	addr      string
	option    rueidis.ClientOption
	wire      *wire
	namespace keyspace.Namespace
	replica   bool
	bare      bool // see DB
}

// Addr returns host:port of the server, or "embedded".
func (m *Master) Addr() string { return m.addr }

// isReplica queries the role. The embedded store has no replicas and does not support ROLE.
func (m *Master) isReplica(ctx context.Context) (bool, error) {
	m.wire.add("ROLE")
	var role string
	err := m.wire.exchange(ctx, func() error {
		v, err := m.wire.read()
		if err == nil && len(v.list) > 0 {
			role = v.list[0].text
		}
		return err
	})
	return role == "slave" || role == "replica", translateWire("ROLE", err)
}

// Size returns the number of keys on the server, including those of other namespaces.
func (m *Master) Size(ctx context.Context) (n int64, err error) {
	m.wire.add("DBSIZE")
	err = m.wire.exchange(ctx, func() error {
		v, err := m.wire.read()
		n = v.n
		return firstOf(err, v.err())
	})
	return n, translateWire("DBSIZE", err)
}

// Scan is DB.Scan on one master.
func (m *Master) Scan(ctx context.Context, match string, fn func(keys []string) error) error {
	return m.walk(ctx, match, nil, func(page []KeyInfo) error {
		keys := make([]string, len(page))
		for i := range page {
			keys[i] = page[i].Key
		}
		return fn(keys)
	})
}

func (m *Master) scan(cursor, match string) []string {
	if match == "" {
		match = "*"
	}
	match = rawKey(m.namespace, match)
	if match == "*" {
		return []string{"SCAN", cursor, "COUNT", scanPage}
	}
	return []string{"SCAN", cursor, "COUNT", scanPage, "MATCH", match}
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
	goneTTL  = -2
)

// Gone reports whether the key no longer exists.
func (s State) Gone() bool { return s.Type == goneType }

func lifeOf(ms int64) time.Duration {
	if ms < 0 {
		return Forever
	}
	return time.Duration(ms) * time.Millisecond
}

// States returns the type and the TTL of keys in one exchange.
func (m *Master) States(ctx context.Context, keys []string) ([]State, error) {
	states := make([]State, len(keys))
	if len(keys) == 0 {
		return states, nil
	}
	for _, key := range keys {
		m.put(m.wire, key, LookupType)
	}
	err := m.wire.exchange(ctx, func() error {
		for i := range states {
			var s KeyInfo
			if err := m.wire.readAbout(&s, LookupType); err != nil {
				return err
			}
			states[i] = s.State
		}
		return nil
	})
	return states, translateWire("TYPE", err)
}

// Texts returns the values of string keys; "" for a missing key and for a key of another type.
func (m *Master) Texts(ctx context.Context, keys []string) ([]string, error) {
	texts := make([]string, len(keys))
	return texts, m.each(ctx, keys, []string{"GET"}, func(i int, v value) {
		if v.kind == '$' {
			texts[i] = v.text
		}
	})
}

// Memory returns the bytes that keys occupy, including the server's overhead; 0 for a missing key.
func (m *Master) Memory(ctx context.Context, keys []string) ([]int64, error) {
	sizes := make([]int64, len(keys))
	return sizes, m.each(ctx, keys, []string{"MEMORY", "USAGE"}, func(i int, v value) {
		if v.kind == ':' {
			sizes[i] = v.n
		}
	})
}

// each sends the same command for many keys in one exchange.
func (m *Master) each(ctx context.Context, keys, verb []string, take func(i int, v value)) error {
	words := slices.Clone(append(verb, ""))
	for _, key := range keys {
		words[len(words)-1] = rawKey(m.namespace, key)
		m.wire.add(words...)
	}
	err := m.wire.exchange(ctx, func() error {
		for i := range keys {
			v, err := m.wire.read()
			if err != nil {
				return err
			}
			take(i, v)
		}
		return nil
	})
	return translateWire(verb[0], err)
}

// Members passes the members of a set to fn, page by page. A missing key and a key of another type have none. A member
// may occur twice.
func (m *Master) Members(ctx context.Context, key string, fn func(members []string) error) error {
	for cursor := "0"; ; {
		m.wire.add("SSCAN", rawKey(m.namespace, key), cursor, "COUNT", memberPage)
		var page value
		err := m.wire.exchange(ctx, func() (err error) {
			page, err = m.wire.read()
			return err
		})
		if err != nil {
			return translateWire("SSCAN", err)
		}
		if page.kind == '-' {
			return nil // of another type; the caller decides whether that is an error
		}
		if len(page.list) != 2 {
			return translateWire("SSCAN", errProtocol)
		}
		if members := textsOf(page.list[1].list); len(members) > 0 {
			if err := fn(members); err != nil {
				return err
			}
		}
		if cursor = page.list[0].text; cursor == "0" {
			return nil
		}
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func textsOf(list []value) []string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = v.text
	}
	return texts
}
