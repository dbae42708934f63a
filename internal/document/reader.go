package document

import (
	"context"
	"slices"
	"strings"

	"comanda/internal/fault"
)

const (
	// mostMembers is the largest set that is read to answer a question; beyond it SQL finds a page faster.
	maxSetMembers = 10_000
)

// Reader reads documents from Redis where they are whole, and from SQL otherwise. What Redis misses or shows wrongly is
// taken from SQL and healed. It may be some hundred milliseconds behind a change.
type Reader struct {
	Source Source
	Cache  Cache
	State  CacheState        // normally Plane
	Repair func(refs ...Ref) // has documents projected again, normally Projector.Touch
}

// Standing is how far Redis may be relied on.
type CacheState interface {
	Epoch() string // the epoch that marks must show; empty: ask SQL
	Damaged() bool // sets may lack members: ask SQL for lists
}

// Get gives a document; found is false when there is none.
func (r *Reader) Get(ctx context.Context, e *Entity, id string) (d Document, found bool, err error) {
	docs, err := r.GetMany(ctx, e, []string{id})
	if err != nil || len(docs) == 0 {
		return Document{}, false, err
	}
	return docs[0], true, nil
}

// GetMany gives documents in the order of their ids; those that are not there are left out.
func (r *Reader) GetMany(ctx context.Context, e *Entity, ids []string) ([]Document, error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !e.Keys.Key(id).Valid() })
	if len(ids) == 0 {
		return nil, nil
	}
	if r.State.Epoch() == "" {
		return r.readSource(ctx, e, ids)
	}
	bodies, err := r.Cache.Bodies(ctx, e, ids)
	if err != nil {
		return r.readSource(ctx, e, ids) // SQL knows as well
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

// complete fills gaps from SQL and heals them.
func (r *Reader) fillFromSource(ctx context.Context, e *Entity, docs []Document, missing []string) ([]Document, error) {
	found, err := r.readSource(ctx, e, missing)
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

// read reads from SQL, in the order of ids.
func (r *Reader) readSource(ctx context.Context, e *Entity, ids []string) ([]Document, error) {
	docs, err := r.Source.Read(ctx, e, ids)
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

// By gives the document that has a unique value. The document is looked at: what the index says is a hint.
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

func errIndex(e *Entity, index string) error {
	return fault.Newf(fault.Internal, "no_index", "%s has no such index as %q.", e.Name, index)
}

// Page is a part of a list: from the first on, at most Limit documents.
type Page struct{ Offset, Limit int }

// Filter is values that documents must have, by the names of set indexes.
type Filter map[string]string

// Find gives a page of the documents that have all values, in the order of their ids, and the number of all of them.
// Without values it lists everything. Each document is looked at; what does not belong there is left out and healed.
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
	if err != nil || !known || len(ids) == 0 { // an evicted set looks like an empty one
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

// check leaves out documents that do not have the values, and heals whatever was wrong.
func (r *Reader) dropMismatches(e *Entity, docs []Document, ids []string, entries []IndexEntry) []Document {
	there := make(map[string]bool, len(docs))
	docs = slices.DeleteFunc(docs, func(d Document) bool {
		there[d.ID] = true
		wrong := slices.ContainsFunc(entries, func(e IndexEntry) bool { return !HasEntry(d.JSON, e) })
		if wrong {
			r.Repair(d.Ref())
		}
		return wrong
	})
	for _, id := range ids {
		if !there[id] { // the row is gone
			r.Repair(Ref{e, id})
		}
	}
	return docs
}

// find asks SQL which, and reads them there: Redis may be behind what SQL has just said, and show a document that does not
// have the values yet.
func (r *Reader) findSource(ctx context.Context, e *Entity, where []Where, p Page) ([]Document, int, error) {
	ids, total, err := r.Source.Find(ctx, e, where, p.Offset, p.Limit)
	if err != nil {
		return nil, 0, err
	}
	if len(ids) == 0 {
		return nil, total, nil
	}
	docs, err := r.readSource(ctx, e, ids)
	return docs, total, err
}

// filter turns values by name into what SQL and Redis are asked for. indexed is false when a value is in no set.
func (e *Entity) filter(f Filter) (where []Where, entries []IndexEntry, indexed bool, err error) {
	known := 0
	indexed = true
	for _, x := range e.Sets() {
		value, asked := f[x.Name]
		if !asked {
			continue
		}
		known++
		where = append(where, Where{x, value})
		encoded, ok := x.Encode(value)
		indexed = indexed && ok
		entries = append(entries, IndexEntry{x, encoded})
	}
	if known < len(f) {
		return nil, nil, false, fault.Newf(fault.Internal, "no_index", "%s cannot be found by all of %v.", e.Name, f)
	}
	return where, entries, indexed, nil
}
