package document

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"comanda/internal/queue"
)

const (
	claimBatch       = 50               // outbox rows in one claim; one row may stand for hundreds of documents
	claimDuration    = 10 * time.Second // then another process may claim the rows; far longer than runBudget
	runBudget        = 2 * time.Second  // after that RunOnce ends, so that a shutdown waits briefly; the next run continues
	maxTouchedPerRun = 2000             // touched documents in one run
	batchSize        = 500              // documents that share round trips
	maxProjectRounds = 4                // how often a document is projected again at once, before it waits for the next run
	maxTouched       = 100_000          // documents waiting in memory; they are hints, and more are dropped

	// While the process is busy, a run claims a few rows, and rests for nine times as long as it took: it has at most a tenth
	// of a core. maxBusyRest bounds the rest if SQL or Redis was slow.
	busyClaim   = 4
	busyRest    = 9
	maxBusyRest = 3 * time.Second
)

// Projector copies changed documents to Redis. Any number of processes may run one. Its methods are safe for concurrent
// use; two projections of one document at the same time are settled by Writer.Apply.
type Projector struct {
	Source  Source
	Outbox  Outbox
	Writer  Writer
	Now     func() time.Time
	Observe func(projected int) // may be nil

	// Changed is called with documents of changed rows after they were written, and before the rows leave the outbox. After an
	// error they are projected again. It may be nil.
	Changed func(ctx context.Context, docs []Document) error

	// Forgotten is called with the documents of ApplyResult.Forgotten, except in a repair or rebuild. It may be nil.
	Forgotten func(refs []Ref)

	// Busy reports whether the process has more urgent work than these documents; nil for documents that must not wait.
	Busy func() bool

	mu      sync.Mutex
	touched map[Ref]struct{}
	restEnd time.Time
}

// Touch queues documents for the next run, in addition to those in the outbox. It never blocks. A full queue drops
// further documents; the sampler finds those that stay wrong.
func (p *Projector) Touch(refs ...Ref) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.touched == nil {
		p.touched = map[Ref]struct{}{}
	}
	for _, r := range refs {
		if len(p.touched) < maxTouched {
			p.touched[r] = struct{}{}
		}
	}
}

// takeTouched removes and returns up to maxTouchedPerRun touched documents.
func (p *Projector) takeTouched() []Ref {
	p.mu.Lock()
	defer p.mu.Unlock()
	refs := make([]Ref, 0, min(len(p.touched), maxTouchedPerRun))
	for r := range p.touched {
		if len(refs) == maxTouchedPerRun {
			break
		}
		refs = append(refs, r)
		delete(p.touched, r)
	}
	return refs
}

// RunOnce projects due documents for up to two seconds. Without that limit, a run could go on as long as changes
// arrive, until the loop's deadline interrupts it in the middle of a call and counts it as failed. While Redis is down
// RunOnce does nothing: the rows stay. A busy process projects little at a time and rests in between.
func (p *Projector) RunOnce(ctx context.Context) error {
	if !p.Writer.Up() {
		return nil
	}
	begun, busy := p.Now(), p.Busy != nil && p.Busy()
	if busy && p.resting(begun) {
		return nil
	}
	// Touched documents come first, because a reader has just missed them in Redis.
	touched := p.takeTouched()
	if err := p.project(ctx, projection{refs: touched, forgotten: p.Forgotten}); err != nil {
		// Touched documents are in no table, so they are queued again after a failure.
		p.Touch(touched...)
		return err
	}
	if busy {
		_, err := p.projectClaimed(ctx, begun, busyClaim)
		p.rest(begun)
		return err
	}
	for p.withinBudget(begun) {
		n, err := p.projectClaimed(ctx, begun, claimBatch)
		if err != nil || n < claimBatch {
			return err
		}
	}
	return nil
}

// rest starts the pause after a run that began at an instant.
func (p *Projector) rest(begun time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.Now()
	p.restEnd = now.Add(min(busyRest*max(now.Sub(begun), 0), maxBusyRest))
}

// resting reports whether the pause after the last run continues. A clock that is set back ends it.
func (p *Projector) resting(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.restEnd.Sub(now)
	return left > 0 && left <= maxBusyRest
}

// withinBudget reports whether a run that began at an instant may go on. It may not if the clock was set back.
func (p *Projector) withinBudget(begun time.Time) bool {
	took := p.Now().Sub(begun)
	return took >= 0 && took < runBudget
}

// projectClaimed projects rows of the outbox batch by batch. It releases rows for which no time is left, well before
// the claim ends. Otherwise two processes could project the same rows under load, and both would be late.
func (p *Projector) projectClaimed(ctx context.Context, begun time.Time, most int) (int, error) {
	now := p.Now()
	claimed, err := p.Outbox.Claim(ctx, now, now.Add(claimDuration), most)
	if err != nil || len(claimed) == 0 {
		return 0, err
	}
	// Claims return rows in no order. By id, older changes are projected before newer ones.
	slices.SortFunc(claimed, func(a, b Claimed) int { return strings.Compare(a.ID, b.ID) })
	for rest := claimed; len(rest) > 0; {
		n := batchRows(rest)
		w := newProjection(rest[:n])
		w.changed, w.forgotten = p.Changed, p.Forgotten
		err := p.project(ctx, w)
		if err == nil {
			err = p.Outbox.DeleteQueued(ctx, projectableRows(rest[:n]))
		}
		if err != nil {
			p.release(ctx, rest)
			return 0, err
		}
		if rest = rest[n:]; len(rest) > 0 && !p.withinBudget(begun) {
			p.release(ctx, rest)
			break
		}
	}
	return len(claimed), nil
}

// batchRows returns how many rows are projected together: those with up to batchSize documents, but at least one row.
func batchRows(rows []Claimed) int {
	docs := 0
	for i, c := range rows {
		if docs += len(c.IDs); docs > batchSize && i > 0 {
			return i
		}
	}
	return len(rows)
}

// projectableRows returns the ids of the rows that this release can project.
func projectableRows(claimed []Claimed) []string {
	var rows []string
	for _, c := range claimed {
		if c.Entity != nil {
			rows = append(rows, c.ID)
		}
	}
	return rows
}

// release ends the claims of rows that were not projected, without counting an attempt. It has its own time limit,
// because ctx may have ended.
func (p *Projector) release(ctx context.Context, claimed []Claimed) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	now := p.Now()
	var released []queue.Failure
	for _, c := range claimed {
		if c.Entity != nil {
			released = append(released, queue.Released(c.ID, c.Attempts, now))
		}
	}
	_ = p.Outbox.RecordFailures(ctx, now, released...) // on failure they become free when the claim ends
}

// Project writes documents in their current state. dead contains the known versions of deletions. A document without a
// row and without a known version is deleted at the version after the one in Redis, and again when the outbox row of
// its deletion arrives.
func (p *Projector) Project(ctx context.Context, refs []Ref, dead map[Ref]int64) error {
	return p.project(ctx, projection{refs: refs, deletedVersions: dead})
}

// projection is a set of documents to project.
type projection struct {
	refs            []Ref         // to be read from SQL
	deletedVersions map[Ref]int64 // known versions of deletions
	deleted         []Document    // deletions whose rows are not read

	changed   func(ctx context.Context, docs []Document) error // Projector.Changed; nil for repairs and rebuilds
	forgotten func(refs []Ref)                                 // Projector.Forgotten; likewise
}

// newProjection collects the documents of outbox rows. A change after a deletion has its own outbox row and a higher
// version.
func newProjection(claimed []Claimed) projection {
	w := projection{deletedVersions: map[Ref]int64{}}
	for _, c := range claimed {
		for _, id := range c.IDs {
			if _, dead := c.Deleted[id]; !dead {
				w.refs = append(w.refs, Ref{c.Entity, id})
			}
		}
		for id, version := range c.Deleted {
			ref := Ref{c.Entity, id}
			w.deletedVersions[ref] = max(w.deletedVersions[ref], version)
		}
	}
	read := make(map[Ref]struct{}, len(w.refs))
	for _, r := range w.refs {
		read[r] = struct{}{}
	}
	for r, version := range w.deletedVersions {
		if _, read := read[r]; !read && r.Entity.Keys.Key(r.ID).Valid() {
			w.deleted = append(w.deleted, Document{Entity: r.Entity, ID: r.ID, Version: version, Deleted: true})
		}
	}
	return w
}

// project writes documents, and again those that another writer wrote at the same time. After maxProjectRounds they
// wait for the next run, so that two busy writers cannot keep a run from ending.
func (p *Projector) project(ctx context.Context, w projection) error {
	for n := 0; len(w.refs)+len(w.deleted) > 0; n++ {
		lost, displaced, err := p.pass(ctx, w)
		if err != nil {
			return err
		}
		if n == maxProjectRounds {
			p.Touch(lost...)
			return nil
		}
		w.refs, w.deleted = lost, nil
		if n < maxProjectRounds/2 { // two rows with one unique value, which SQL forbids, would loop forever
			w.refs = append(w.refs, displaced...)
		}
	}
	return nil
}

// pass writes each document once, in batches, and returns the documents to project again. After an error it touches
// those that were not written, so that the caller need not.
func (p *Projector) pass(ctx context.Context, w projection) (lost, displaced []Ref, err error) {
	refs, docs := unique(w.refs), w.deleted // deletions are written with the first batch
	for len(refs)+len(docs) > 0 {
		n := min(batchSize, len(refs))
		read, err := p.load(ctx, refs[:n], w.deletedVersions)
		if err != nil {
			return nil, nil, err
		}
		docs = append(docs, read...)
		for batch := range slices.Chunk(docs, batchSize) {
			a, err := p.Writer.Apply(ctx, batch)
			if w.forgotten != nil && len(a.Forgotten) > 0 {
				w.forgotten(a.Forgotten)
			}
			if err != nil {
				p.Touch(a.Lost...)
				return nil, nil, err
			}
			lost, displaced = append(lost, a.Lost...), append(displaced, a.Displaced...)
		}
		if w.changed != nil {
			if err := w.changed(ctx, docs); err != nil {
				return nil, nil, err
			}
		}
		if p.Observe != nil {
			p.Observe(len(docs))
		}
		refs, docs = refs[n:], nil
	}
	return lost, displaced, nil
}

// unique returns refs without repetitions, in order: Writer.Apply accepts a document at most once per call.
func unique(refs []Ref) []Ref {
	seen := make(map[Ref]struct{}, len(refs))
	kept := refs[:0:0]
	for _, r := range refs {
		if _, again := seen[r]; !again {
			seen[r] = struct{}{}
			kept = append(kept, r)
		}
	}
	return kept
}

// load returns documents; those without a row are marked as deleted.
func (p *Projector) load(ctx context.Context, refs []Ref, dead map[Ref]int64) ([]Document, error) {
	byEntity := map[*Entity][]string{}
	for _, r := range refs {
		byEntity[r.Entity] = append(byEntity[r.Entity], r.ID)
	}
	var all []Document
	for _, e := range Entities {
		if len(byEntity[e]) == 0 {
			continue
		}
		docs, err := p.loadOne(ctx, e, byEntity[e], dead)
		if err != nil {
			return nil, err
		}
		all = append(all, docs...)
	}
	return all, nil
}

// loadOne reads documents of one entity. An id without a row is a deletion, with version 0 if the version is unknown.
func (p *Projector) loadOne(ctx context.Context, e *Entity, ids []string, dead map[Ref]int64) ([]Document, error) {
	docs, err := p.Source.Read(ctx, e, ids)
	if err != nil {
		return nil, err
	}
	have := make(map[string]bool, len(docs))
	docs = slices.DeleteFunc(docs, func(d Document) bool { // a line may be requested both by its own id and by its order's
		twice := have[d.ID]
		have[d.ID] = true
		return twice
	})
	for _, id := range ids {
		if !have[id] && e.Keys.Key(id).Valid() {
			docs = append(docs, Document{Entity: e, ID: id, Version: dead[Ref{e, id}], Deleted: true})
		}
	}
	return docs, nil
}
