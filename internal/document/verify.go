package document

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"comanda/internal/keyspace"
)

// The kinds of differences between SQL and Redis.
const (
	Missing        = "document_missing"
	Stale          = "document_stale"
	Differs        = "document_differs"
	MemoWrong      = "memo_wrong"
	EntryMissing   = "index_entry_missing"
	ListMissing    = "list_entry_missing"
	CounterLow     = "counter_low"
	OrphanDocument = "document_orphan"
	OrphanMemo     = "memo_orphan"
	OrphanEntry    = "index_entry_orphan"
	OrphanList     = "list_entry_orphan"
	UnknownKey     = "key_strange" // a key of the family has an unreadable name or value
)

// Difference is one deviation of Redis from what SQL implies.
type Difference struct {
	Kind  string
	Ref   Ref
	Key   string     // the Redis key
	Entry IndexEntry // for differences in indexes; of a relation, the member
}

// String returns a description for logs and reports.
func (d Difference) String() string { return fmt.Sprintf("%s: %s (%s)", d.Kind, d.Ref, d.Key) }

// Walker reads everything in Redis.
type Walker interface {
	// Walk passes, in batches, keys and members that are in Redis but not in the set of keys. It may also pass some
	// that are.
	Walk(ctx context.Context, seen *KeySet, found func(context.Context, []Difference) error) error
	// StillPresent returns the differences that still exist in Redis.
	StillPresent(ctx context.Context, found []Difference) ([]Difference, error)
}

// Mirror compares documents with Redis; documentredis.Store implements it.
type Mirror interface {
	Walker
	// Compare returns all differences of documents and adds their keys to seen, which may be nil.
	Compare(ctx context.Context, docs []Document, seen *KeySet) ([]Difference, error)
	// Counter returns the value of an entity's counter.
	Counter(ctx context.Context, e *Entity) (int64, error)
	// Sizes returns the number of members of each set; 0 for a missing key or another type.
	Sizes(ctx context.Context, sets []keyspace.Key) ([]int64, error)
}

// Verifier compares all documents in both directions: from SQL to Redis, and from Redis to SQL.
type Verifier struct {
	Source Source
	Mirror Mirror
	Pause  func(ctx context.Context) error // between two checks of a difference
	Report func(Progress)                  // may be nil

	// Pace is called after each batch and may wait; nil compares at full speed, with several workers.
	Pace func(ctx context.Context) error
}

const (
	verifyAttempts    = 4      // a difference counts if every check finds it; a change takes one run of the projector
	maxRechecked      = 50_000 // differences that are checked again; with more, they are not transient
	maxSamplesPerKind = 10     // enough to see a pattern; Found has the number
)

// Verification is the result of a comparison.
type Verification struct {
	Clean     bool                `json:"clean"`
	Documents map[string]int      `json:"documents"` // compared, by entity
	Found     map[string]int      `json:"found"`     // differences by kind
	Samples   map[string][]string `json:"samples"`
	Note      string              `json:"note,omitempty"`
}

// Verify compares SQL with Redis. Differences are checked again before they count, because changes may be on their
// way.
func (v *Verifier) Verify(ctx context.Context) (Verification, error) {
	c := &verifyRun{
		Verifier: v, seen: NewKeySet(maxKeys), counts: map[*Entity]int{}, highest: map[*Entity]int64{}, more: map[string]int{},
	}
	for _, e := range Entities {
		if err := c.entity(ctx, e); err != nil {
			return Verification{}, err
		}
	}
	if err := c.counters(ctx); err != nil {
		return Verification{}, err
	}
	err := v.Mirror.Walk(ctx, c.seen, func(ctx context.Context, found []Difference) error {
		orphans, err := confirmOrphans(ctx, v.Source, v.Mirror, found)
		c.add(orphans)
		return err
	})
	if err != nil {
		return Verification{}, err
	}
	for look := 1; look < verifyAttempts && len(c.found) > 0 && len(c.more) == 0; look++ {
		if err := v.Pause(ctx); err != nil {
			return Verification{}, err
		}
		if c.found, err = v.recheck(ctx, c.found); err != nil {
			return Verification{}, err
		}
	}
	return c.result(), nil
}

// verifyRun is a verification in progress. Workers add to it under mu; after the last worker it is used by one
// goroutine.
type verifyRun struct {
	*Verifier
	seen *KeySet

	mu      sync.Mutex
	counts  map[*Entity]int
	highest map[*Entity]int64
	total   int
	found   []Difference
	more    map[string]int // beyond maxRechecked, by kind
}

func (c *verifyRun) add(found []Difference) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range found {
		if len(c.found) < maxRechecked {
			c.found = append(c.found, d)
		} else {
			c.more[d.Kind]++
		}
	}
}

// entity compares all documents of an entity, from SQL to Redis.
func (c *verifyRun) entity(ctx context.Context, e *Entity) error {
	workers := defaultWorkers
	if c.Pace != nil {
		workers = 1
	}
	return forEachBatch(ctx, c.Source, e, "", workers, func(ctx context.Context, b batch) error {
		docs, err := c.Source.Read(ctx, e, b.ids)
		if err != nil {
			return err
		}
		found, err := c.Mirror.Compare(ctx, docs, c.seen)
		if err != nil {
			return err
		}
		c.add(found)
		c.count(e, b.ids)
		if c.Pace != nil {
			return c.Pace(ctx)
		}
		return nil
	})
}

func (c *verifyRun) count(e *Entity, ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[e] += len(ids)
	c.total += len(ids)
	if e.Numeric {
		n, _ := strconv.ParseInt(ids[len(ids)-1], 10, 64) // ids come in their order
		c.highest[e] = max(c.highest[e], n)
	}
	if c.Report != nil {
		c.Report(Progress{e.Name, c.total})
	}
}

// counters checks that no counter is below the highest id of its documents: a program that takes its next number from
// such a counter would use an id twice.
func (c *verifyRun) counters(ctx context.Context) error {
	for _, e := range Entities {
		n, err := c.Mirror.Counter(ctx, e)
		if err != nil {
			return err
		}
		least := c.highest[e]
		if !e.Numeric {
			least = int64(c.counts[e])
		}
		if n < least {
			c.add([]Difference{{Kind: CounterLow, Ref: Ref{e, strconv.FormatInt(least, 10)}, Key: e.Keys.Counter().String()}})
		}
	}
	return nil
}

// result counts the differences that remain. Differences beyond maxRechecked were never checked again and count as
// found.
func (c *verifyRun) result() Verification {
	v := Verification{
		Clean: len(c.found) == 0, Documents: map[string]int{}, Found: map[string]int{}, Samples: map[string][]string{},
	}
	for e, n := range c.counts {
		v.Documents[e.Name] = n
	}
	for _, d := range c.found {
		if v.Found[d.Kind]++; v.Found[d.Kind] <= maxSamplesPerKind {
			v.Samples[d.Kind] = append(v.Samples[d.Kind], d.String())
		}
	}
	for kind, n := range c.more {
		v.Found[kind] += n
	}
	return v
}

// recheck checks differences again and returns those that still exist.
func (v *Verifier) recheck(ctx context.Context, found []Difference) ([]Difference, error) {
	var kept []Difference
	for batch := range slices.Chunk(found, batchSize) {
		fromSQL, fromRedis, counters := splitByOrigin(batch)
		still, err := v.compareAgain(ctx, fromSQL)
		if err != nil {
			return nil, err
		}
		orphans, err := confirmOrphans(ctx, v.Source, v.Mirror, fromRedis)
		if err != nil {
			return nil, err
		}
		kept = append(append(append(kept, still...), orphans...), counters...)
	}
	return slices.DeleteFunc(kept, func(d Difference) bool {
		if d.Kind != CounterLow {
			return false
		}
		n, err := v.Mirror.Counter(ctx, d.Ref.Entity)
		least, _ := strconv.ParseInt(d.Ref.ID, 10, 64)
		return err == nil && n >= least
	}), nil
}

// splitByOrigin separates differences found from SQL, those found from Redis, and counters.
func splitByOrigin(found []Difference) (fromSQL, fromRedis, counters []Difference) {
	for _, d := range found {
		switch d.Kind {
		case OrphanDocument, OrphanMemo, OrphanEntry, OrphanList, UnknownKey:
			fromRedis = append(fromRedis, d)
		case CounterLow:
			counters = append(counters, d)
		default:
			fromSQL = append(fromSQL, d)
		}
	}
	return fromSQL, fromRedis, counters
}

// compareAgain compares the documents of differences once more and keeps those that differ in the same way.
func (v *Verifier) compareAgain(ctx context.Context, found []Difference) ([]Difference, error) {
	docs, err := readRefs(ctx, v.Source, found)
	if err != nil {
		return nil, err
	}
	now, err := v.Mirror.Compare(ctx, slices.Collect(maps.Values(docs)), nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(d Difference) bool { return !slices.Contains(now, d) }), nil
}

// confirmOrphans removes differences that SQL implies by now, or that Redis no longer has.
func confirmOrphans(ctx context.Context, source Source, w Walker, found []Difference) ([]Difference, error) {
	if len(found) == 0 {
		return nil, nil
	}
	docs, err := readRefs(ctx, source, found)
	if err != nil {
		return nil, err
	}
	orphans := slices.DeleteFunc(slices.Clone(found), func(d Difference) bool {
		doc, ok := docs[d.Ref]
		return ok && (d.Kind != OrphanEntry || slices.Contains(doc.IndexEntries, d.Entry))
	})
	return w.StillPresent(ctx, orphans)
}

// readRefs returns the documents of differences. Each document is read once, whatever the number of its differences.
func readRefs(ctx context.Context, source Source, found []Difference) (map[Ref]Document, error) {
	ids := map[*Entity][]string{}
	seen := map[Ref]bool{}
	for _, d := range found {
		if !seen[d.Ref] {
			seen[d.Ref] = true
			ids[d.Ref.Entity] = append(ids[d.Ref.Entity], d.Ref.ID)
		}
	}
	docs := map[Ref]Document{}
	for e, entityIDs := range ids {
		read, err := source.Read(ctx, e, entityIDs)
		if err != nil {
			return nil, err
		}
		for _, d := range read {
			docs[d.Ref()] = d
		}
	}
	return docs, nil
}

// Verified is the result of the last complete comparison of Redis with SQL.
type Verified struct {
	At    time.Time      `json:"at"`
	Found map[string]int `json:"found"` // differences by kind
}

// Differences returns the number of differences of all kinds.
func (v Verified) Differences() (total int) {
	for _, n := range v.Found {
		total += n
	}
	return total
}

// VerifiedStore stores the last result beside the documents, and decides which process compares them;
// documentredis.Store implements it. The result is lost with the documents that it is about.
type VerifiedStore interface {
	// LastVerified returns the last result; ok is false if there is none.
	LastVerified(ctx context.Context) (v Verified, ok bool, err error)
	SaveVerified(ctx context.Context, v Verified) error
	// ClaimVerification reports whether this process may compare. The claim ends by itself after claimLife.
	ClaimVerification(ctx context.Context, claimLife time.Duration) (ok bool, err error)
	ReleaseVerification(ctx context.Context) error
}

// DailyVerifier compares all documents once per business day, at its start: the restaurant is closed then. If no process
// ran at that time, the first one that runs afterwards compares. The comparison is paced by its Verify.
//
// The sampler finds most losses within seconds. The daily comparison also finds what samples do not look for: entries
// without a document, documents that another program has changed, and a defect in an index.
type DailyVerifier struct {
	Store  VerifiedStore
	Verify func(ctx context.Context) (Verification, error)
	Epoch  func() string // of Generation: "" while the documents are not complete
	Start  func(ctx context.Context, now time.Time) (time.Time, error)
	Now    func() time.Time
}

// claimLife is longer than a comparison of millions of documents. A process that is killed delays the comparison by it.
const claimLife = 3 * time.Hour

// releaseTimeout limits the release of a claim after the end of a round's context.
const releaseTimeout = time.Second

// RunOnce compares if the last comparison was before this business day.
func (d *DailyVerifier) RunOnce(ctx context.Context) error {
	epoch := d.Epoch()
	if epoch == "" {
		return nil // a rebuild follows, or Redis is down
	}
	now := d.Now()
	start, err := d.Start(ctx, now)
	if err != nil {
		return err
	}
	last, ok, err := d.Store.LastVerified(ctx)
	// A result from the future was saved before the clock was set back.
	if err != nil || ok && !last.At.Before(start) && !last.At.After(now) {
		return err
	}
	if claimed, err := d.Store.ClaimVerification(ctx, claimLife); err != nil || !claimed {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		_ = d.Store.ReleaseVerification(ctx) // otherwise the claim ends by itself
	}()
	v, err := d.Verify(ctx)
	// During a rebuild documents are missing, and that is not drift. The next round compares again.
	if err != nil || d.Epoch() != epoch {
		return err
	}
	return d.Store.SaveVerified(ctx, Verified{At: d.Now(), Found: v.Found})
}
