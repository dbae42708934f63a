package documentredis

import (
	"context"
	"strings"

	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

// Walk implements document.Walker. It reads on connections of its own: the names of all keys, the sizes of sets that
// SQL knows, and the contents of lists and indexes that it does not.
func (s *Store) Walk(
	ctx context.Context, seen *document.KeySet, found func(context.Context, []document.Difference) error,
) error {
	return s.walk(ctx, seen, found, context.Context.Err)
}

// walk is Walk with a pause after each page. pace returns an error to stop.
func (s *Store) walk(
	ctx context.Context, seen *document.KeySet, found func(context.Context, []document.Difference) error,
	pace func(ctx context.Context) error,
) error {
	w := &walk{seen: seen, found: found}
	err := s.db.Walk(ctx, "", w.lookup, func(m *redisdb.Master, page []redisdb.KeyInfo) error {
		for i := range page {
			if err := w.examine(ctx, m, &page[i]); err != nil {
				return err
			}
		}
		if err := w.report(ctx, maxSuspects); err != nil {
			return err
		}
		return pace(ctx)
	})
	if err != nil {
		return err
	}
	return w.report(ctx, 0)
}

// maxSuspects is the number of suspects that are collected before they are looked up in SQL. Few pages contain any, and
// one statement for hundreds of suspects costs little more than for one.
const maxSuspects = 500

// walk is a walk in progress.
type walk struct {
	seen     *document.KeySet
	found    func(context.Context, []document.Difference) error
	suspects []document.Difference
}

// indexKey is a key of an index, or of a list if the index is nil.
type indexKey struct {
	key    string
	entity *document.Entity
	index  *document.Index
	own    bool   // the text is the document's id, the members are values
	text   string // the variable part of the key
}

// entities and owners map key families to the entity and the index of their keys.
var entities, owners = families()

// families returns both maps, built once from the declarations.
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

// implied reports whether SQL implies a key, and the number of members if the key is a set. A document and its memo
// have one entry in the set of keys.
func (w *walk) implied(key string) (members int, ok bool) {
	if body, ok := strings.CutPrefix(key, memoHead); ok {
		key = strings.TrimSuffix(body, memoTail)
	}
	return w.seen.Has(key)
}

// lookup selects the data to read about a key. Most keys are implied by SQL and are not sets; they were compared
// already.
func (w *walk) lookup(key string) redisdb.Lookup {
	members, known := w.implied(key)
	if known && members == 0 {
		return redisdb.LookupName
	}
	k, ok := keyspace.ParseDocument(key)
	switch {
	case !ok:
	case known:
		return redisdb.LookupSize
	case k.Part == keyspace.DocumentList:
		return redisdb.LookupMembers
	case k.Part == keyspace.DocumentEntry && owners[k.Index].index.Unique:
		return redisdb.LookupText
	case k.Part == keyspace.DocumentEntry:
		return redisdb.LookupMembers
	}
	return redisdb.LookupName
}

// examine collects data of a key that SQL may not imply. A comparison has found all members that SQL implies, so a set
// of the implied size has no others.
func (w *walk) examine(ctx context.Context, m *redisdb.Master, info *redisdb.KeyInfo) error {
	members, known := w.implied(info.Key)
	k, ok := keyspace.ParseDocument(info.Key)
	if !ok || known && (members == 0 || info.Type == keyspace.Set && info.Size == int64(members)) {
		return nil
	}
	switch k.Part {
	case keyspace.DocumentBody:
		w.addOrphan(document.OrphanDocument, k, info.Key)
	case keyspace.DocumentMemo:
		w.addOrphan(document.OrphanMemo, k, info.Key)
	case keyspace.DocumentList:
		return w.addMembers(ctx, m, indexKey{key: info.Key, entity: entities[k.Family]}, info)
	case keyspace.DocumentEntry:
		x := owners[k.Index]
		x.key, x.text = info.Key, k.Text
		if x.index.OnlyValue != "" {
			x.text = x.index.OnlyValue
		}
		return w.addMembers(ctx, m, x, info)
	case keyspace.DocumentCounter:
	}
	return nil
}

// addOrphan adds a document or memo that SQL may not imply.
func (w *walk) addOrphan(kind string, k keyspace.DocumentKey, key string) {
	ref := document.Ref{Entity: entities[k.Family], ID: k.Text}
	w.suspects = append(w.suspects, document.Difference{Kind: kind, Ref: ref, Key: key})
}

// addMembers adds the members of an index or a list. Large sets are read in pages.
func (w *walk) addMembers(ctx context.Context, m *redisdb.Master, x indexKey, info *redisdb.KeyInfo) error {
	unique := x.index != nil && x.index.Unique
	switch {
	case info.Gone():
	case unique && info.Type == keyspace.String && info.Text != "":
		w.addSuspect(x, info.Text)
	case unique || info.Type != keyspace.Set:
		ref := document.Ref{Entity: x.entity}
		w.suspects = append(w.suspects, document.Difference{Kind: document.UnknownKey, Ref: ref, Key: x.key})
	case info.Members == nil || info.More:
		return m.Members(ctx, info.Key, func(members []string) error { return w.addPage(ctx, x, members) })
	default:
		return w.addPage(ctx, x, info.Members)
	}
	return nil
}

// addPage adds the members of one page; full batches are passed on at once, so a large set is never in memory.
func (w *walk) addPage(ctx context.Context, x indexKey, members []string) error {
	for _, member := range members {
		w.addSuspect(x, member)
	}
	return w.report(ctx, maxSuspects)
}

// report passes the suspects on if there are more than least.
func (w *walk) report(ctx context.Context, least int) error {
	suspects := w.suspects
	if len(suspects) <= least {
		return nil
	}
	w.suspects = nil
	return w.found(ctx, suspects)
}

// addSuspect adds a member of an index or list that SQL may not imply.
func (w *walk) addSuspect(x indexKey, member string) {
	d := document.Difference{Kind: document.OrphanList, Ref: document.Ref{Entity: x.entity, ID: member}, Key: x.key}
	if x.index != nil {
		d.Kind, d.Entry = document.OrphanEntry, document.IndexEntry{Index: x.index, Value: x.text}
		if x.own {
			d.Ref.ID, d.Entry.Value = x.text, member
		}
	}
	w.suspects = append(w.suspects, d)
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
		present, err := isPresent(d, replies[i])
		if err != nil {
			return nil, err
		}
		if present {
			still = append(still, d)
		}
	}
	return still, nil
}

// isPresent reports whether a reply shows that a difference still exists. The memo of a deleted document is not a
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
	_, present, err := r.Text()
	return present, err
}
