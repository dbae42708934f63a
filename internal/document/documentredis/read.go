package documentredis

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/seq"
)

// Bodies implements document.Cache.
func (s *Store) Bodies(ctx context.Context, e *document.Entity, ids []string) ([]string, error) {
	if len(ids) == 1 {
		body, _, err := s.db.Do(ctx, "GET", e.Keys.Key(ids[0])).Text()
		return []string{body}, err
	}
	return s.texts(ctx, seq.Map(ids, e.Keys.Key))
}

// Owner implements document.Cache.
func (s *Store) Owner(
	ctx context.Context, e *document.Entity, x *document.Index, encoded string,
) (id, body string, err error) {
	id, found, err := s.db.Do(ctx, "GET", x.Keys[0].Key(encoded)).Text()
	if err != nil || !found {
		return "", "", err
	}
	key := e.Keys.Key(id)
	if !key.Valid() { // another program has written the index key
		return "", "", nil
	}
	body, _, err = s.db.Do(ctx, "GET", key).Text()
	return id, body, err
}

// Members implements document.Cache. It reads the smallest set, checks its members against the others, and reads the
// markers last, so that keys lost in between are not taken for empty sets.
func (s *Store) Members(
	ctx context.Context, epoch string, e *document.Entity, sets []document.IndexEntry, most int,
) (ids []string, known bool, err error) {
	keys := []keyspace.Key{e.Keys.List()}
	if len(sets) > 0 {
		keys = seq.Map(sets, func(e document.IndexEntry) keyspace.Key { return e.Index.Keys[0].Key(e.Value) })
	}
	smallest, size, err := s.smallestSet(ctx, keys)
	if err != nil || size > int64(most) {
		return nil, false, err
	}
	if size > 0 {
		if ids, err = s.intersect(ctx, keys, smallest); err != nil {
			return nil, false, err
		}
	}
	marked, err := s.isCurrent(ctx, epoch, keys)
	sortIDs(e, ids)
	return ids, marked, err
}

// smallestSet returns the set with the fewest members: reading it bounds the work by the rarest value.
func (s *Store) smallestSet(ctx context.Context, keys []keyspace.Key) (at int, size int64, err error) {
	replies, err := s.db.DoMulti(ctx, commands("SCARD", keys)...)
	if err != nil {
		return 0, 0, err
	}
	for i, r := range replies {
		n, err := r.Int()
		if err != nil {
			return 0, 0, err
		}
		if i == 0 || n < size {
			at, size = i, n
		}
	}
	return at, size, nil
}

// intersect returns the members of one set that are in all others. SINTER would need all keys in one slot of a Cluster,
// and the keys of different values are in different slots.
func (s *Store) intersect(ctx context.Context, keys []keyspace.Key, first int) ([]string, error) {
	ids, err := s.db.Do(ctx, "SMEMBERS", keys[first]).Texts()
	if err != nil || len(keys) == 1 || len(ids) == 0 {
		return ids, err
	}
	var cmds []redisdb.Cmd
	for i, k := range keys {
		if i != first {
			cmds = append(cmds, redisdb.Command("SMISMEMBER", k, ids...))
		}
	}
	replies, err := s.db.DoMulti(ctx, cmds...)
	if err != nil {
		return nil, err
	}
	missing := map[string]bool{}
	for _, r := range replies {
		member, err := r.Ints()
		if err != nil {
			return nil, err
		}
		for i, is := range member {
			if is == 0 {
				missing[ids[i]] = true
			}
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return missing[id] }), nil
}

// sortIDs sorts ids: numbers by value, text by bytes, lines of an order by number.
func sortIDs(e *document.Entity, ids []string) {
	slices.SortFunc(ids, func(a, b string) int {
		if e == document.Order {
			return strings.Compare(a, b)
		}
		orderA, lineA, _ := strings.Cut(a, "-")
		orderB, lineB, _ := strings.Cut(b, "-")
		return cmp.Or(byNumber(e.Numeric, orderA, orderB), byNumber(true, lineA, lineB))
	})
}

// byNumber compares canonical numbers as text: the longer one is larger. It needs no parsing and no limit.
func byNumber(numeric bool, a, b string) int {
	if numeric {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	}
	return strings.Compare(a, b)
}
