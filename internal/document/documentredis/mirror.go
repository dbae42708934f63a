package documentredis

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/seq"
)

// Compare implements document.Mirror: documents, memos and unique indexes are read with one command each, and each
// set is checked for all of its members with one command.
func (s *Store) Compare(
	ctx context.Context, docs []document.Document, seen *document.KeySet,
) ([]document.Difference, error) {
	c := comparison{Store: s, seen: seen}
	if err := c.bodies(ctx, docs); err != nil {
		return nil, err
	}
	if err := c.unique(ctx, docs); err != nil {
		return nil, err
	}
	err := c.members(ctx, docs)
	return c.found, err
}

// comparison collects differences. It is used by one goroutine.
type comparison struct {
	*Store
	seen  *document.KeySet
	found []document.Difference
}

// expected is an entry that a document must have; it has no index for a list.
type expected struct {
	doc   *document.Document
	entry document.IndexEntry
}

func (c *comparison) add(kind string, d *document.Document, k keyspace.Key, e document.IndexEntry) {
	c.found = append(c.found, document.Difference{Kind: kind, Ref: d.Ref(), Key: k.String(), Entry: e})
}

// bodies compares the JSON and the memo of each document.
func (c *comparison) bodies(ctx context.Context, docs []document.Document) error {
	keys := make([]keyspace.Key, 2*len(docs))
	for i, d := range docs {
		keys[i], keys[len(docs)+i] = d.Entity.Keys.Key(d.ID), d.Entity.Keys.Memo(d.ID)
	}
	recordKeys(c.seen, keys[:len(docs)])
	texts, err := c.lenientTexts(ctx, keys)
	if err != nil {
		return err
	}
	for i := range docs {
		d := &docs[i]
		if body := texts[i]; body == "" {
			c.add(document.Missing, d, keys[i], document.IndexEntry{})
		} else if body != d.JSON {
			c.add(kindOf(body, d.Version), d, keys[i], document.IndexEntry{})
		}
		if memo := texts[len(docs)+i]; !memoMatches(memo, d) {
			c.add(document.MemoWrong, d, keys[len(docs)+i], document.IndexEntry{})
		}
	}
	return nil
}

// kindOf distinguishes an older version from any other difference.
func kindOf(body string, version int64) string {
	if v, ok := document.PeekField(body, "version"); ok {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && n < version {
			return document.Stale
		}
	}
	return document.Differs
}

// memoMatches reports whether a memo is the one that a complete write of the document stores. A document that shows its
// entries may have none.
func memoMatches(memo string, d *document.Document) bool {
	entries := entriesText(d.IndexEntries)
	if memo == "" && shows(d.Entity, d.JSON, entries) {
		return true
	}
	version := strconv.FormatInt(d.Version, 10)
	if len(memo) <= len(version) || memo[:len(version)] != version || memo[len(version)] != '\n' {
		return false
	}
	return memo[len(version)+1:] == entries
}

// unique compares the indexes that lead to one document.
func (c *comparison) unique(ctx context.Context, docs []document.Document) error {
	all, keys := uniqueKeys(docs)
	recordKeys(c.seen, keys)
	texts, err := c.lenientTexts(ctx, keys)
	if err != nil {
		return err
	}
	for i, x := range all {
		if texts[i] != x.doc.ID {
			c.add(document.EntryMissing, x.doc, keys[i], x.entry)
		}
	}
	return nil
}

// uniqueKeys returns the keys of unique entries, each with the document that must be there.
func uniqueKeys(docs []document.Document) ([]expected, []keyspace.Key) {
	var all []expected
	var keys []keyspace.Key
	for i := range docs {
		for _, e := range docs[i].IndexEntries {
			if !e.Index.Unique {
				continue
			}
			for _, family := range e.Index.Keys {
				key, _ := keyAndMember(family, docs[i].ID, e.Value)
				all, keys = append(all, expected{&docs[i], e}), append(keys, key)
			}
		}
	}
	return all, keys
}

// recordKeys adds keys of strings to the set. Memos are implied by their documents.
func recordKeys(seen *document.KeySet, keys []keyspace.Key) {
	if seen == nil {
		return
	}
	seen.Add(seq.Map(keys, keyspace.Key.String), nil)
}

// recordKeys adds the keys of sets with the number of expected members, by which the walk skips complete sets.
func (m *expectedMembers) recordKeys(seen *document.KeySet) {
	if seen == nil {
		return
	}
	texts, sizes := make([]string, len(m.keys)), make([]int, len(m.keys))
	for i, k := range m.keys {
		texts[i], sizes[i] = k.String(), len(m.ids[i])
	}
	seen.Add(texts, sizes)
}

// RecordKeys implements document.Sweeper.
func (s *Store) RecordKeys(docs []document.Document, seen *document.KeySet) {
	recordKeys(seen, seq.Map(docs, func(d document.Document) keyspace.Key { return d.Entity.Keys.Key(d.ID) }))
	_, unique := uniqueKeys(docs)
	recordKeys(seen, unique)
	expectedSets(docs).recordKeys(seen)
}

// members compares the sets: the lists of all, and the indexes that lead to many documents.
func (c *comparison) members(ctx context.Context, docs []document.Document) error {
	o := expectedSets(docs)
	o.recordKeys(c.seen)
	present, err := c.membership(ctx, o.sets)
	if err != nil {
		return err
	}
	for i, flags := range present {
		for j, x := range o.wants[i] {
			if j < len(flags) && flags[j] == 1 {
				continue
			}
			kind := document.EntryMissing
			if x.entry == (document.IndexEntry{}) {
				kind = document.ListMissing
			}
			c.add(kind, x.doc, o.keys[i], x.entry)
		}
	}
	return nil
}

// expectedMembers contains the expected members of each set.
type expectedMembers struct {
	sets
	wants [][]expected
}

// expectedSets returns the sets in which documents must be, each with its members, so that one command checks all
// members of a set.
func expectedSets(docs []document.Document) *expectedMembers {
	m := &expectedMembers{sets: sets{at: map[keyspace.Key]int{}}}
	want := func(k keyspace.Key, member string, x expected) {
		i := m.put(k, member)
		if i == len(m.wants) {
			m.wants = append(m.wants, nil)
		}
		m.wants[i] = append(m.wants[i], x)
	}
	for i := range docs {
		d := &docs[i]
		want(d.Entity.Keys.List(), d.ID, expected{doc: d})
		for _, e := range d.IndexEntries {
			if e.Index.Unique {
				continue
			}
			for _, family := range e.Index.Keys {
				key, member := keyAndMember(family, d.ID, e.Value)
				want(key, member, expected{d, e})
			}
		}
	}
	return m
}

// Counter implements document.Mirror. A missing counter and one of another type count as 0.
func (s *Store) Counter(ctx context.Context, e *document.Entity) (int64, error) {
	text, found, err := s.db.Do(ctx, "GET", e.Keys.Counter()).Text()
	if isWrongType(err) {
		return 0, nil
	}
	if err != nil || !found {
		return 0, err
	}
	n, _ := strconv.ParseInt(text, 10, 64) // a value that is not a number counts as too low
	return n, nil
}

// Sizes implements document.Mirror.
func (s *Store) Sizes(ctx context.Context, sets []keyspace.Key) ([]int64, error) {
	replies, err := s.lenient(ctx, commands("SCARD", sets))
	if err != nil {
		return nil, err
	}
	sizes := make([]int64, len(sets))
	for i, r := range replies {
		sizes[i], _ = r.Int() // 0 for another type
	}
	return sizes, nil
}

// LastVerified implements document.VerifiedStore. A value that another program has written counts as missing.
func (s *Store) LastVerified(ctx context.Context) (v document.Verified, ok bool, err error) {
	text, ok, err := s.db.Do(ctx, "GET", keyspace.DocumentsVerified()).Text()
	if err != nil || !ok {
		return v, false, err
	}
	if json.Unmarshal([]byte(text), &v) != nil {
		return document.Verified{}, false, nil //nolint:nilerr // the next comparison writes it again
	}
	return v, true, nil
}

// SaveVerified implements document.VerifiedStore.
func (s *Store) SaveVerified(ctx context.Context, v document.Verified) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.db.Do(ctx, "SET", keyspace.DocumentsVerified(), string(text), "PX", millis(keyspace.VerifiedLife)).Err()
}

// ClaimVerification implements document.VerifiedStore.
func (s *Store) ClaimVerification(ctx context.Context, claimLife time.Duration) (ok bool, err error) {
	_, ok, err = s.db.Do(ctx, "SET", keyspace.DocumentsVerifying(), "1", "NX", "PX", millis(claimLife)).Text()
	return ok, err
}

// ReleaseVerification implements document.VerifiedStore.
func (s *Store) ReleaseVerification(ctx context.Context) error {
	return s.db.Do(ctx, "DEL", keyspace.DocumentsVerifying()).Err()
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// Paced returns a store whose walks call pace after each page.
func (s *Store) Paced(pace func(ctx context.Context) error) document.Mirror {
	return pacedMirror{s, pace}
}

type pacedMirror struct {
	*Store

	pace func(ctx context.Context) error
}

// Walk implements document.Walker.
func (m pacedMirror) Walk(
	ctx context.Context, seen *document.KeySet, found func(context.Context, []document.Difference) error,
) error {
	return m.walk(ctx, seen, found, m.pace)
}
