package keyaudit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/seq"
)

// walk is the scan of one master. Only its own goroutine uses it; tallies are summed afterwards.
type walk struct {
	*auditor

	ctx    context.Context //nolint:containedctx // a walk lives within one call
	master *redisdb.Master
	tally  *tally
	sample []string // keys of the page whose size is measured
	of     []int    // families of sample
	facts  []fact
}

// The size of the first sampleFirst keys of a family on a master is measured with MEMORY USAGE, and then of one in
// sampleEvery: that is enough for an estimate and much cheaper than measuring all.
const (
	sampleFirst = 20
	sampleEvery = 500
)

// first processes a page of the first scan: it checks each key, and records which documents exist and which are
// referenced.
func (a *auditor) first(w *walk, page []redisdb.KeyInfo) error {
	w.sample, w.of = w.sample[:0], w.of[:0]
	for i := range page {
		if s := &page[i]; !s.Gone() {
			w.check(s)
		}
	}
	if err := w.relate(page); err != nil {
		return err
	}
	if err := w.measure(page); err != nil {
		return err
	}
	sizes, err := w.master.Memory(w.ctx, w.sample)
	for i, bytes := range sizes {
		if bytes > 0 {
			w.tally.families[w.of[i]].bytes += bytes
			w.tally.families[w.of[i]].sampled++
		}
	}
	return err
}

// measure reads the lengths of a page's keys in one round trip. It is how the largest keys are found: MEMORY USAGE of every
// key would cost the server more than the rest of the scan.
func (w *walk) measure(page []redisdb.KeyInfo) error {
	lengths, err := w.master.Lengths(w.ctx, page)
	if err != nil {
		return err
	}
	for i := range page {
		s := &page[i]
		family, known := keyspace.Find(s.Key)
		if !known {
			family = len(w.decls)
		}
		w.tally.families[family].candidate(Key{Key: s.Key, Type: string(s.Type), Length: lengths[i]})
	}
	return nil
}

// check counts a key, and adds a suspect if it contradicts its declaration.
func (w *walk) check(s *redisdb.KeyInfo) {
	family, known := keyspace.Find(s.Key)
	if !known {
		family = len(w.decls)
	}
	f := &w.tally.families[family]
	if f.keys < sampleFirst || f.keys%sampleEvery == 0 {
		w.sample, w.of = append(w.sample, s.Key), append(w.of, family)
	}
	f.keys++
	if !known {
		w.tally.suspect(suspect{kind: Unknown, key: s.Key, note: "a " + string(s.Type)})
		return
	}
	if kind, note := classify(&w.decls[family], s.State); kind != "" {
		w.tally.suspect(suspect{kind: kind, key: s.Key, note: note})
	}
}

// classify returns the most severe error of a key of a declaration, if any.
func classify(d *keyspace.Decl, s redisdb.State) (kind Kind, note string) {
	lasting := s.TTL == redisdb.Forever
	switch {
	case s.Type != d.Type.Stored():
		return WrongType, fmt.Sprintf("a %s instead of a %s", s.Type, d.Type.Stored())
	case d.TTL.Max == 0 && !lasting:
		return SuddenTTL, "goes in " + s.TTL.Round(time.Second).String()
	case d.TTL.Min > 0 && lasting:
		return MissingTTL, "may live " + d.TTL.Max.String()
	case d.TTL.Max > 0 && !lasting && s.TTL > d.TTL.Max:
		return LongTTL, fmt.Sprintf("lives %s more, at most %s are declared", s.TTL.Round(time.Second), d.TTL.Max)
	}
	return "", ""
}

// relate records the documents of a page, and the ids in indexes and lists.
func (w *walk) relate(page []redisdb.KeyInfo) error {
	w.facts = w.facts[:0]
	for i := range page {
		s := &page[i]
		h := w.holdingOf(s)
		switch {
		case h.Entity == "":
		case h.Document:
			w.facts = append(w.facts, w.relations.seen(s.Key, exists))
		default:
			is := referenced
			if h.List {
				is = listed
			}
			err := w.ids(s, func(id string) { w.facts = append(w.facts, w.relations.seen(h.DocumentOf(id), is)) })
			if err != nil {
				return err
			}
		}
	}
	w.relations.add(w.facts)
	return nil
}

func (w *walk) holdingOf(s *redisdb.KeyInfo) keyspace.Holding {
	family, ok := keyspace.Find(s.Key)
	if !ok || s.Type != w.decls[family].Type.Stored() {
		return keyspace.Holding{}
	}
	return w.holdings[family]
}

// ids passes the ids of an index or a list to each. It reads long sets completely.
func (w *walk) ids(s *redisdb.KeyInfo, each func(id string)) error {
	if s.Type == keyspace.String {
		each(s.Text)
		return nil
	}
	if !s.More {
		for _, id := range s.Members {
			each(id)
		}
		return nil
	}
	return w.master.Members(w.ctx, s.Key, func(members []string) error {
		for _, id := range members {
			each(id)
		}
		return nil
	})
}

// second processes a page of the second scan: it finds the names of documents that the first scan found inconsistent.
// It reads all keys again, because the first scan has stored hashes and no names.
func (a *auditor) second(w *walk, page []redisdb.KeyInfo) error {
	for i := range page {
		s := &page[i]
		h := w.holdingOf(s)
		switch {
		case h.Entity == "":
		case h.Document:
			if a.relations.unlisted(s.Key) {
				w.tally.suspect(suspect{kind: NotListed, key: s.Key, id: s.Key[len(h.DocumentOf("")):]})
			}
		default:
			kind := LostIndex
			if s.Type == keyspace.Set {
				kind = LostEntry
			}
			err := w.ids(s, func(id string) {
				if document := h.DocumentOf(id); a.relations.missing(document) {
					w.tally.suspect(suspect{
						kind: kind, key: s.Key, id: id, set: s.Type == keyspace.Set, note: "there is no " + document,
					})
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// recheck checks suspects again after a pause and drops those that are correct or gone (Q2).
func (a *auditor) recheck(ctx context.Context, sum *tally) error {
	if len(sum.suspects) == 0 {
		return nil
	}
	if err := a.options.wait(ctx, recheckPause); err != nil {
		return err
	}
	for kind, suspects := range sum.suspects {
		var left []suspect
		for page := range slices.Chunk(suspects, pageSize) {
			keep, err := a.recheckSuspects(ctx, kind, page)
			if err != nil {
				return err
			}
			for i, s := range page {
				if keep[i] {
					left = append(left, s)
				}
			}
		}
		sum.suspects[kind] = left
	}
	return nil
}

// pageSize is the number of suspects that are read in one round trip, as many as keys in a page of SCAN.
const pageSize = 1000

// recheckSuspects reports for each suspect of a kind whether it is still wrong. A key that was deleted is not wrong any
// more.
func (a *auditor) recheckSuspects(ctx context.Context, kind Kind, suspects []suspect) ([]bool, error) {
	switch kind {
	case LostIndex, LostEntry, NotListed:
		return a.recheckRelations(ctx, kind, suspects)
	}
	states, err := a.inspector.States(ctx, seq.Map(suspects, func(s suspect) string { return s.key }))
	if err != nil {
		return nil, err
	}
	wrong := make([]bool, len(suspects))
	for i, s := range suspects {
		if states[i].Gone() {
			continue
		}
		family, known := keyspace.Find(s.key)
		if !known {
			wrong[i] = true
			continue
		}
		now, _ := classify(&a.decls[family], states[i])
		wrong[i] = now == kind
	}
	return wrong, nil
}

// recheckRelations checks the document and the index entry: they are wrong if one exists without the other.
func (a *auditor) recheckRelations(ctx context.Context, kind Kind, suspects []suspect) ([]bool, error) {
	documents, entries := make([]string, len(suspects)), make([]redisdb.Entry, len(suspects))
	for i, s := range suspects {
		family, _ := keyspace.Find(s.key)
		h := a.holdings[family]
		documents[i] = h.DocumentOf(s.id)
		entries[i] = redisdb.Entry{Key: s.key, ID: s.id, Set: s.set}
		if kind == NotListed {
			entries[i] = redisdb.Entry{Key: h.DocumentOf("list"), ID: s.id, Set: true}
		}
	}
	states, err := a.inspector.States(ctx, documents)
	if err != nil {
		return nil, err
	}
	held, err := a.inspector.Hold(ctx, entries)
	if err != nil {
		return nil, err
	}
	wrong := make([]bool, len(suspects))
	for i := range suspects {
		wrong[i] = held[i] && states[i].Gone()
		if kind == NotListed {
			wrong[i] = !held[i] && !states[i].Gone()
		}
	}
	return wrong, nil
}
