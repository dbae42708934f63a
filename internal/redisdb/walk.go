package redisdb

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
	"comanda/internal/seq"
)

// scanCount is the COUNT of SCAN calls: enough to fill a packet, few enough to block the server for less than a
// millisecond. memberPage is larger, because members of sets cost less than keys.
const scanCount = 1000

var scanPage, memberPage = strconv.Itoa(scanCount), strconv.Itoa(4 * scanCount)

// Master is one master that an Inspector reads, on a connection of its own. It is not safe for concurrent use;
// different masters may be read concurrently.
type Master struct {
	reader

	addr    string
	release func()
}

// Addr returns host:port of the server, or "embedded".
func (m *Master) Addr() string { return m.addr }

// isReplica queries the role. The embedded store has no replicas and refuses ROLE.
func (m *Master) isReplica(ctx context.Context) (bool, error) {
	results, err := m.send(ctx, "ROLE", []rueidis.Completed{m.conn.B().Role().Build()})
	if err != nil {
		return false, err
	}
	answer, err := results[0].ToArray()
	if err != nil || len(answer) == 0 {
		return false, nil //nolint:nilerr // a server that refuses the command counts as a master
	}
	role, _ := answer[0].ToString()
	return role == "slave" || role == "replica", nil
}

// Size returns the number of keys on the server, including those of other namespaces.
func (m *Master) Size(ctx context.Context) (int64, error) {
	results, err := m.send(ctx, "DBSIZE", []rueidis.Completed{m.conn.B().Dbsize().Build()})
	if err != nil {
		return 0, err
	}
	n, err := results[0].AsInt64()
	return n, translate("DBSIZE", classify(err), err)
}

// Lookup selects what a walk reads about a key.
type Lookup uint8

// The lookups. All but LookupName and LookupSize also read the TTL. If a key has another type than the lookup expects,
// its type and TTL are read afterwards.
const (
	LookupName    Lookup = iota // nothing else
	LookupType                  // the type
	LookupText                  // the value of a string
	LookupMembers               // the first members of a set; Master.Members returns all
	LookupSize                  // the number of members of a set
)

// KeyInfo has the properties of a key that a walk has read.
type KeyInfo struct {
	Key string
	State
	Text    string   // value of a string, for LookupText
	Members []string // members of a set, for LookupMembers
	More    bool     // the set has more members
	Size    int64    // number of members of a set, for LookupSize
}

// Walk passes all keys to fn, one master after the other, see Master.Walk.
func (db *DB) Walk(
	ctx context.Context, match string, lookup func(key string) Lookup, fn func(m *Master, page []KeyInfo) error,
) error {
	c, err := db.Inspect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, m := range c.Masters() {
		err := m.Walk(ctx, match, lookup, func(page []KeyInfo) error { return fn(m, page) })
		if err != nil {
			return err
		}
	}
	return nil
}

// Walk passes the keys of this installation that match a glob pattern to fn; "" matches all. lookup selects what is
// read about each key; nil reads names only. A key that exists during the whole walk is passed at least once, possibly
// twice. Walk stops at the first error, including that of fn. The pages hold at most 2*scanCount keys: the embedded
// store returns all its keys at once.
func (m *Master) Walk(ctx context.Context, match string, lookup func(key string) Lookup, fn func([]KeyInfo) error) error {
	for cursor := uint64(0); ; {
		found, err := m.scan(ctx, cursor, match)
		if err != nil {
			return err
		}
		// A page of SCAN may exceed COUNT. Chunks bound what one round trip keeps in memory on both sides.
		for keys := range slices.Chunk(found.Elements, 2*scanCount) {
			page, err := m.inspect(ctx, keys, lookup)
			if err != nil {
				return err
			}
			if err := fn(page); err != nil {
				return err
			}
		}
		if cursor = found.Cursor; cursor == 0 {
			return nil
		}
	}
}

func (m *Master) scan(ctx context.Context, cursor uint64, match string) (rueidis.ScanEntry, error) {
	words := []string{"SCAN", strconv.FormatUint(cursor, 10), "COUNT", scanPage}
	if match = m.namespace.Raw(cmp.Or(match, "*")); match != "*" {
		words = append(words, "MATCH", match)
	}
	results, err := m.send(ctx, "SCAN", []rueidis.Completed{m.conn.B().Arbitrary(words...).Build()})
	if err != nil {
		return rueidis.ScanEntry{}, err
	}
	found, err := results[0].AsScanEntry()
	return found, translate("SCAN", classify(err), err)
}

// inspect reads the data of keys in one round trip. A second round trip reads the types that the replies did not reveal.
func (m *Master) inspect(ctx context.Context, keys []string, lookup func(string) Lookup) ([]KeyInfo, error) {
	page, lookups := make([]KeyInfo, len(keys)), make([]Lookup, len(keys))
	cmds := make([]rueidis.Completed, 0, 2*len(keys))
	for i, key := range keys {
		page[i].Key, _ = m.namespace.Strip(key)
		if lookup != nil {
			lookups[i] = lookup(page[i].Key)
		}
		cmds = m.appendLookup(cmds, page[i].Key, lookups[i])
	}
	results, err := m.send(ctx, "SCAN", cmds)
	if err != nil {
		return nil, err
	}
	var unknown []int
	for i := range page {
		rest, known, err := page[i].take(lookups[i], results)
		if err != nil {
			return nil, translate("PTTL", classify(err), err)
		}
		if results = rest; !known {
			unknown = append(unknown, i)
		}
	}
	states, err := m.States(ctx, seq.Map(unknown, func(at int) string { return page[at].Key }))
	if err != nil {
		return nil, err
	}
	for i, at := range unknown {
		page[at].State = states[i]
	}
	return page, nil
}

func (m *Master) appendLookup(cmds []rueidis.Completed, key string, q Lookup) []rueidis.Completed {
	switch q {
	case LookupName:
		return cmds
	case LookupSize:
		return append(cmds, m.on(key, "SCARD"))
	case LookupText:
		cmds = append(cmds, m.on(key, "GET"))
	case LookupMembers:
		cmds = append(cmds, m.on(key, "SSCAN", "0", "COUNT", scanPage))
	case LookupType:
		cmds = append(cmds, m.on(key, "TYPE"))
	}
	return append(cmds, m.on(key, "PTTL"))
}

// take reads the replies to a lookup and returns the remaining ones. known is false if the key has another type than
// the lookup expects.
func (s *KeyInfo) take(q Lookup, results []rueidis.RedisResult) (rest []rueidis.RedisResult, known bool, err error) {
	switch q {
	case LookupName:
		return results, true, nil
	case LookupSize:
		s.Size, err = results[0].AsInt64()
		s.Type = keyspace.Set
		return results[1:], err == nil, nil
	}
	ms, err := results[1].AsInt64()
	if err != nil {
		return nil, false, err
	}
	s.TTL = lifeOf(ms)
	answer, rest := results[0], results[2:]
	switch {
	case ms == goneTTL:
		s.Type = goneType
	case answer.Error() != nil: // a value of another type, or written between the two commands
		return rest, false, nil //nolint:nilerr // the caller reads the type
	case q == LookupText:
		s.Type = keyspace.String
		s.Text, err = answer.ToString()
	case q == LookupMembers:
		var first rueidis.ScanEntry
		first, err = answer.AsScanEntry()
		s.Type, s.Members, s.More = keyspace.Set, first.Elements, first.Cursor != 0
	default:
		var name string
		name, err = answer.ToString()
		s.Type = keyspace.Type(name)
	}
	return rest, true, err
}

// Members passes the members of a set to fn, page by page. A missing key and a key of another type have none. A member
// may occur twice.
func (m *Master) Members(ctx context.Context, key string, fn func(members []string) error) error {
	for cursor := uint64(0); ; {
		results, err := m.send(ctx, "SSCAN", []rueidis.Completed{
			m.on(key, "SSCAN", strconv.FormatUint(cursor, 10), "COUNT", memberPage),
		})
		if err != nil {
			return err
		}
		page, err := results[0].AsScanEntry()
		if err != nil {
			return nil //nolint:nilerr // a value of another type; the caller decides whether that is an error
		}
		if len(page.Elements) > 0 {
			if err := fn(page.Elements); err != nil {
				return err
			}
		}
		if cursor = page.Cursor; cursor == 0 {
			return nil
		}
	}
}
