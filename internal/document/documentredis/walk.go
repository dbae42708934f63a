package documentredis

import (
	"context"
	"strconv"
	"strings"

	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

// Walk implements document.Walker. It finds keys by SCAN, on connections of its own, and reads the members of sets in
// between.
func (s *Store) Walk(
	ctx context.Context, seen *document.KeySet, found func(context.Context, []document.Difference) error,
) error {
	w := &walk{Store: s, seen: seen, found: found}
	err := s.db.Scan(ctx, "*", func(_ string, keys []string) error {
		for _, raw := range keys {
			w.sort(raw)
		}
		return w.flush(ctx, pageSize)
	})
	if err != nil {
		return err
	}
	return w.flush(ctx, 0)
}

// pageSize is how many keys or suspects are processed together.
const pageSize = 500

// walk is a walk in progress with the keys that it has set aside.
type walk struct {
	*Store
	seen  *document.KeySet
	found func(context.Context, []document.Difference) error

	known    []countedSet // sets whose size must equal the number of members implied by SQL
	strings  []indexKey   // unknown keys of unique indexes
	sets     []indexKey   // sets that have to be read
	suspects []document.Difference
}

// countedSet is a set with the number of members that SQL implies.
type countedSet struct {
	raw     string
	key     keyspace.Key
	members int
}

// indexKey is a key of an index, or of a list if the index is nil.
type indexKey struct {
	key    keyspace.Key
	entity *document.Entity
	index  *document.Index
	own    bool   // the text is the document's id, the members are values
	text   string // the variable part of the key
}

// entities and owners map key families to what they belong to.
var entities, owners = families()

func families() (map[*keyspace.Documents]*document.Entity, map[*keyspace.DocumentIndex]indexKey) {
	of, by := map[*keyspace.Documents]*document.Entity{}, map[*keyspace.DocumentIndex]indexKey{}
	for _, e := range document.Entities {
		of[e.Keys] = e
		for _, x := range e.Indexes {
			for _, family := range x.Keys {
				by[family] = indexKey{entity: e, index: x, own: family.Own}
			}
		}
	}
	return of, by
}

const memoHead, memoTail = "memo:{", "}"

// sort sets a key aside for what is to be done with it. Most keys are known from SQL, and most of them are no sets:
// they were compared already.
func (w *walk) sort(raw string) {
	body := raw
	if strings.HasPrefix(raw, memoHead) {
		body = strings.TrimSuffix(raw[len(memoHead):], memoTail)
	}
	members, known := w.seen.Has(body)
	if known && members == 0 {
		return
	}
	k, ok := keyspace.ParseDocument(raw)
	if !ok {
		return
	}
	if known {
		w.known = append(w.known, countedSet{raw, k.Key, members})
		return
	}
	w.sortUnknown(raw, k)
}

// sortUnknown sets a key aside that is not known from SQL, or whose set has other members.
func (w *walk) sortUnknown(raw string, k keyspace.DocumentKey) {
	switch k.Part {
	case keyspace.DocumentBody, keyspace.DocumentMemo:
		kind := document.OrphanDocument
		if k.Part == keyspace.DocumentMemo {
			kind = document.OrphanMemo
		}
		ref := document.Ref{Entity: entities[k.Family], ID: k.Text}
		w.suspects = append(w.suspects, document.Difference{Kind: kind, Ref: ref, Key: raw})
	case keyspace.DocumentList:
		w.sets = append(w.sets, indexKey{key: k.Key, entity: entities[k.Family]})
	case keyspace.DocumentEntry:
		x := owners[k.Index]
		x.key, x.text = k.Key, k.Text
		if x.index.OnlyValue != "" {
			x.text = x.index.OnlyValue
		}
		if x.index.Unique {
			w.strings = append(w.strings, x)
		} else {
			w.sets = append(w.sets, x)
		}
	case keyspace.DocumentCounter:
	}
}

// flush processes the keys set aside, if there are at least so many.
func (w *walk) flush(ctx context.Context, least int) error {
	if len(w.known) > least {
		if err := w.compareSizes(ctx); err != nil {
			return err
		}
	}
	if len(w.strings) > least {
		if err := w.readStrings(ctx); err != nil {
			return err
		}
	}
	if len(w.sets) > least {
		if err := w.readSets(ctx); err != nil {
			return err
		}
	}
	if len(w.suspects) > least {
		return w.report(ctx)
	}
	return nil
}

// compareSizes compares the sizes of sets with SQL. All members that SQL implies were found, so a larger set has
// orphans.
func (w *walk) compareSizes(ctx context.Context) error {
	cmds := make([]redisdb.Cmd, len(w.known))
	for i, c := range w.known {
		cmds[i] = redisdb.Command("SCARD", c.key)
	}
	replies, err := w.lenient(ctx, cmds)
	if err != nil {
		return err
	}
	for i, c := range w.known {
		n, err := replies[i].Int()
		if err != nil && !isWrongType(err) {
			return err
		}
		if k, ok := keyspace.ParseDocument(c.raw); ok && n != int64(c.members) {
			w.sortUnknown(c.raw, k)
		}
	}
	w.known = w.known[:0]
	return nil
}

func (w *walk) report(ctx context.Context) error {
	suspects := w.suspects
	w.suspects = nil
	return w.found(ctx, suspects)
}

func (w *walk) readStrings(ctx context.Context) error {
	keys := make([]keyspace.Key, len(w.strings))
	for i, x := range w.strings {
		keys[i] = x.key
	}
	ids, err := w.lenientTexts(ctx, keys)
	if err != nil {
		return err
	}
	for i, x := range w.strings {
		if ids[i] != "" {
			w.addSuspect(x, ids[i])
		} else {
			w.addUnreadable(x) // or gone, which StillPresent detects
		}
	}
	w.strings = w.strings[:0]
	return nil
}

// addSuspect adds a member of an index or list that SQL may not imply.
func (w *walk) addSuspect(x indexKey, member string) {
	d := document.Difference{Kind: document.OrphanList, Ref: document.Ref{Entity: x.entity, ID: member}, Key: x.key.String()}
	if x.index != nil {
		d.Kind, d.Entry = document.OrphanEntry, document.IndexEntry{Index: x.index, Value: x.text}
		if x.own {
			d.Ref.ID, d.Entry.Value = x.text, member
		}
	}
	w.suspects = append(w.suspects, d)
}

// addUnreadable adds a key of an index or list that cannot be read.
func (w *walk) addUnreadable(x indexKey) {
	ref := document.Ref{Entity: x.entity}
	w.suspects = append(w.suspects, document.Difference{Kind: document.UnknownKey, Ref: ref, Key: x.key.String()})
}

// readSets reads sets. It reads their sizes first: large sets are read in pages.
func (w *walk) readSets(ctx context.Context) error {
	sizes := make([]redisdb.Cmd, len(w.sets))
	for i, x := range w.sets {
		sizes[i] = redisdb.Command("SCARD", x.key)
	}
	replies, err := w.lenient(ctx, sizes)
	if err != nil {
		return err
	}
	var small []indexKey
	var cmds []redisdb.Cmd
	for i, x := range w.sets {
		n, err := replies[i].Int()
		if isWrongType(err) {
			w.addUnreadable(x)
			continue
		}
		if err != nil {
			return err
		}
		if n > pageSize {
			if err := w.readLarge(ctx, x); err != nil {
				return err
			}
			continue
		}
		small, cmds = append(small, x), append(cmds, redisdb.Command("SMEMBERS", x.key))
	}
	if replies, err = w.lenient(ctx, cmds); err != nil {
		return err
	}
	for i, x := range small {
		members, err := replies[i].Texts()
		if err != nil && !isWrongType(err) {
			return err
		}
		for _, m := range members {
			w.addSuspect(x, m)
		}
	}
	w.sets = w.sets[:0]
	return nil
}

// readLarge reads a set in pages.
func (w *walk) readLarge(ctx context.Context, x indexKey) error {
	for cursor := "0"; ; {
		page, err := w.db.Do(ctx, "SSCAN", x.key, cursor, "COUNT", strconv.Itoa(2*pageSize)).List()
		if err != nil || len(page) != 2 {
			return err
		}
		members, err := page[1].Texts()
		if err != nil {
			return err
		}
		for _, m := range members {
			w.addSuspect(x, m)
		}
		if len(w.suspects) > pageSize {
			if err := w.report(ctx); err != nil {
				return err
			}
		}
		if cursor, _, err = page[0].Text(); err != nil || cursor == "0" {
			return err
		}
	}
}

// StillPresent implements document.Walker.
func (s *Store) StillPresent(ctx context.Context, found []document.Difference) ([]document.Difference, error) {
	cmds := make([]redisdb.Cmd, 0, len(found))
	kept := make([]document.Difference, 0, len(found))
	for _, d := range found {
		k, ok := keyspace.ParseDocument(d.Key)
		if !ok {
			continue
		}
		kept = append(kept, d)
		switch {
		case d.Kind == document.UnknownKey:
			cmds = append(cmds, redisdb.Command("TYPE", k.Key))
		case d.Kind == document.OrphanList:
			cmds = append(cmds, redisdb.Command("SISMEMBER", k.Key, d.Ref.ID))
		case d.Kind == document.OrphanEntry && !d.Entry.Index.Unique:
			_, member := keyAndMember(k.Index, d.Ref.ID, d.Entry.Value)
			cmds = append(cmds, redisdb.Command("SISMEMBER", k.Key, member))
		default:
			cmds = append(cmds, redisdb.Command("GET", k.Key))
		}
	}
	replies, err := s.lenient(ctx, cmds)
	if err != nil {
		return nil, err
	}
	var still []document.Difference
	for i, d := range kept {
		there, err := isPresent(d, replies[i])
		if err != nil {
			return nil, err
		}
		if there {
			still = append(still, d)
		}
	}
	return still, nil
}

// isPresent reports whether a reply shows that a difference still exists. The memo of a deleted document is no
// difference. A document or memo of another type is one.
func isPresent(d document.Difference, r redisdb.Reply) (bool, error) {
	switch {
	case d.Kind == document.UnknownKey:
		is, _, err := r.Text()
		return is != "none", err
	case isWrongType(r.Err()):
		return d.Kind == document.OrphanDocument || d.Kind == document.OrphanMemo, nil
	case d.Kind == document.OrphanList, d.Kind == document.OrphanEntry && !d.Entry.Index.Unique:
		n, err := r.Int()
		return n == 1, err
	case d.Kind == document.OrphanEntry:
		id, _, err := r.Text()
		return id == d.Ref.ID, err
	case d.Kind == document.OrphanMemo:
		text, _, err := r.Text()
		m, ok := parseMemo(d.Ref.Entity, text)
		return ok && !m.dead, err
	}
	_, there, err := r.Text()
	return there, err
}
