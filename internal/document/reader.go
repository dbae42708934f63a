package document

import (
	"context"
	"slices"
	"strings"

	"comanda/internal/fault"
)

const (
	// maxSetMembers is the largest set that is read for a query; beyond it SQL finds a page faster.
	maxSetMembers = 10_000
)

// Reader reads documents from Redis if they are complete there, and from SQL otherwise. Documents that are missing or
// wrong in Redis are read from SQL and repaired. Results may be a few hundred milliseconds behind a change.
type Reader struct {
	Source Source
	Cache  Cache
	State  CacheState        // normally a Generation
	Repair func(refs ...Ref) // projects documents again, normally Projector.Touch
}

// CacheState reports whether documents may be read from Redis.
type CacheState interface {
	Epoch() string // epoch that markers must have; empty: read SQL
	Damaged() bool // sets may lack members: read lists from SQL
}

// Get returns a document; found is false if there is none.
func (r *Reader) Get(ctx context.Context, e *Entity, id string) (d Document, found bool, err error) {
	docs, err := r.GetMany(ctx, e, []string{id})
	if err != nil || len(docs) == 0 {
		return Document{}, false, err
	}
	return docs[0], true, nil
}

// GetMany returns documents in the order of their ids; missing ones are left out.
func (r *Reader) GetMany(ctx context.Context, e *Entity, ids []string) ([]Document, error) {
	// Ids come from requests. An id that cannot be part of a key has no row either.
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !e.Keys.Key(id).Valid() })
	if len(ids) == 0 {
		return nil, nil
	}
	if r.State.Epoch() == "" {
		return readInOrder(ctx, r.Source, e, ids)
	}
	bodies, err := r.Cache.Bodies(ctx, e, ids)
	if err != nil {
		return readInOrder(ctx, r.Source, e, ids) // SQL has all documents
	}
	docs := make([]Document, 0, len(ids))
	var missing []string
	for i, body := range bodies {
		docs = append(docs, Document{Entity: e, ID: ids[i], JSON: body})
		if body == "" {
			missing = append(missing, ids[i])
		}
	}
	if len(missing) == 0 {
		return docs, nil
	}
	return r.fillFromSource(ctx, e, docs, missing)
}

// fillFromSource reads missing documents from SQL and repairs them in Redis. A missing key does not prove that there is
// no row: Redis may have evicted it.
func (r *Reader) fillFromSource(ctx context.Context, e *Entity, docs []Document, missing []string) ([]Document, error) {
	found, err := readInOrder(ctx, r.Source, e, missing)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]Document, len(found))
	for _, d := range found {
		byID[d.ID] = d
		r.Repair(d.Ref())
	}
	for i, d := range docs {
		if d.JSON == "" {
			docs[i] = byID[d.ID]
		}
	}
	return slices.DeleteFunc(docs, func(d Document) bool { return d.JSON == "" }), nil
}

// readInOrder reads documents from SQL in the order of ids, which Source.Read does not keep.
func readInOrder(ctx context.Context, source Source, e *Entity, ids []string) ([]Document, error) {
	docs, err := source.Read(ctx, e, ids)
	if err != nil {
		return nil, err
	}
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	slices.SortFunc(docs, func(a, b Document) int { return at[a.ID] - at[b.ID] })
	return docs, nil
}

// FindUnique returns the document with a unique value. It checks the value in the document, because the index entry
// may be outdated.
func (r *Reader) FindUnique(ctx context.Context, e *Entity, index, value string) (d Document, found bool, err error) {
	x := e.Index(index)
	if x == nil || !x.Unique {
		return d, false, errIndex(e, index)
	}
	encoded, ok := x.Encode(value)
	if ok && r.State.Epoch() != "" {
		id, body, err := r.Cache.Owner(ctx, e, x, encoded)
		if err == nil && body != "" && HasEntry(body, IndexEntry{x, encoded}) {
			return Document{Entity: e, ID: id, JSON: body}, true, nil
		}
	}
	// Empty values are NULL in SQL, which any number of rows may have.
	if strings.TrimSpace(value) == "" {
		return d, false, nil
	}
	owners, err := r.Source.Owners(ctx, e, x, []string{value})
	if err != nil || len(owners) == 0 {
		return d, false, err
	}
	docs, err := r.Source.Read(ctx, e, []string{owners[x.Lookup(value)]})
	if err != nil || len(docs) == 0 {
		return d, false, err
	}
	r.Repair(docs[0].Ref())
	return docs[0], true, nil
}

// errIndex reports a programming error: requests do not name indexes.
func errIndex(e *Entity, index string) error {
	return fault.Newf(fault.Internal, "no_index", "%s has no index %q.", e.Name, index)
}

// Page is a part of a list: at most Limit documents after Offset. Callers validate it; an offset behind the end is an
// empty page.
type Page struct{ Offset, Limit int }

// Filter contains values that documents must have, by name of a set index.
type Filter map[string]string

// Find returns a page of the documents that have all values, in the order of ids, and their total number. Without
// values it lists all documents. Each document is checked; a document that does not match is left out and repaired.
// The total may therefore exceed the number of documents on all pages.
func (r *Reader) Find(ctx context.Context, e *Entity, f Filter, p Page) (docs []Document, total int, err error) {
	where, entries, indexed, err := e.filter(f)
	if err != nil {
		return nil, 0, err
	}
	epoch := r.State.Epoch()
	if epoch == "" || !indexed || r.State.Damaged() {
		return r.findSource(ctx, e, where, p)
	}
	ids, known, err := r.Cache.Members(ctx, epoch, e, entries, maxSetMembers)
	if err != nil || !known || len(ids) == 0 { // an evicted set cannot be distinguished from an empty one
		return r.findSource(ctx, e, where, p)
	}
	total = len(ids)
	ids = ids[min(p.Offset, total):]
	ids = ids[:min(p.Limit, len(ids))]
	docs, err = r.GetMany(ctx, e, ids)
	if err != nil {
		return nil, 0, err
	}
	return r.dropMismatches(e, docs, ids, entries), total, nil
}

// dropMismatches removes documents that do not have the values, and repairs all documents that were wrong.
func (r *Reader) dropMismatches(e *Entity, docs []Document, ids []string, entries []IndexEntry) []Document {
	found := make(map[string]bool, len(docs))
	docs = slices.DeleteFunc(docs, func(d Document) bool {
		found[d.ID] = true
		wrong := slices.ContainsFunc(entries, func(e IndexEntry) bool { return !HasEntry(d.JSON, e) })
		if wrong {
			r.Repair(d.Ref())
		}
		return wrong
	})
	for _, id := range ids {
		if !found[id] { // the row is gone
			r.Repair(Ref{e, id})
		}
	}
	return docs
}

// findSource finds and reads documents in SQL. It does not read the found documents from Redis, which may have an
// older version without the values.
func (r *Reader) findSource(ctx context.Context, e *Entity, where []Where, p Page) ([]Document, int, error) {
	ids, total, err := r.Source.Find(ctx, e, where, p.Offset, p.Limit)
	if err != nil {
		return nil, 0, err
	}
	if len(ids) == 0 {
		return nil, total, nil
	}
	docs, err := readInOrder(ctx, r.Source, e, ids)
	return docs, total, err
}

// filter converts values by name into conditions for SQL and Redis. indexed is false if no set contains one of the
// values.
func (e *Entity) filter(f Filter) (where []Where, entries []IndexEntry, indexed bool, err error) {
	known := 0
	indexed = true
	for _, x := range e.Sets() {
		value, given := f[x.Name]
		if !given {
			continue
		}
		known++
		where = append(where, Where{x, value})
		encoded, ok := x.Encode(value)
		indexed = indexed && ok
		entries = append(entries, IndexEntry{x, encoded})
	}
	if known < len(f) {
		return nil, nil, false, fault.Newf(fault.Internal, "no_index", "These filters of %s cannot be combined: %v.", e.Name, f)
	}
	return where, entries, indexed, nil
}
