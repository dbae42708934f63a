package document

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"comanda/internal/fault"
	"comanda/internal/seq"
)

// ErrRebuildRunning reports that another process is rebuilding.
var ErrRebuildRunning = fault.New(fault.Conflict, "rebuild_running", "A rebuild of the documents is already running.")

// ErrKeysLost reports that Redis has lost keys since the rebuild began. The next rebuild starts from the beginning.
var ErrKeysLost = errors.New("document: redis has lost keys during the rebuild")

// Progress is the progress of work on all documents.
type Progress struct {
	Entity string `json:"entity"`
	Done   int    `json:"done"` // documents, over all entities
}

// Sweeper finds keys in Redis that no row implies, and removes index entries; documentredis.Store implements it.
type Sweeper interface {
	Walker
	// RecordKeys adds the keys of documents to a set.
	RecordKeys(docs []Document, seen *KeySet)
	Remove(ctx context.Context, found []Difference) error
}

// Builder rebuilds all documents while others read and write them. It may run in several processes: a claim in SQL
// admits one of them.
type Builder struct {
	Source    Source
	Projector *Projector
	Sweeper   Sweeper
	Store     GenerationStore
	Markers   Markers
	Now       func() time.Time
	NewID     func(time.Time) string
	Report    func(Progress) // may be nil
	Workers   int            // batches at the same time; 0 means 8
}

const (
	buildClaimDuration = claimDuration   // a builder without progress for this time has died: five missed intervals
	progressInterval   = 2 * time.Second // time between saved positions
)

// Build rebuilds everything. It resumes an interrupted rebuild if Redis has lost nothing since. It returns
// ErrRebuildRunning if another process is rebuilding.
func (b *Builder) Build(ctx context.Context) error {
	state, err := b.claim(ctx)
	if err != nil {
		return err
	}
	err = b.run(ctx, state)
	if err != nil && !errors.Is(err, ErrRebuildRunning) { // so that the next builder need not wait
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		b.release(ctx, state.Building)
	}
	return err
}

// claim begins a rebuild or takes over one whose builder has died. The claim in SQL is conditional on the state that
// was read, so only one of two processes succeeds. The markers are set after the claim and before the first document
// is written.
func (b *Builder) claim(ctx context.Context) (GenerationState, error) {
	seen, err := b.Store.Generation(ctx)
	if err != nil {
		return seen, err
	}
	now := b.Now()
	if seen.ClaimedUntil.After(now) {
		return seen, ErrRebuildRunning
	}
	server, err := b.Markers.Server(ctx)
	if err != nil {
		return seen, err
	}
	next := seen
	resume, err := b.canResume(ctx, seen, server)
	if err != nil {
		return seen, err
	}
	if !resume {
		next.Building, next.BuildingServer, next.Entity, next.After = b.NewID(now), server, Entities[0], ""
	}
	next.ClaimedUntil = now.Add(buildClaimDuration)
	if ok, err := b.Store.ClaimBuild(ctx, seen, next, now); err != nil || !ok {
		return seen, errors.Join(err, ErrRebuildRunning)
	}
	if resume {
		return next, nil
	}
	return next, b.Markers.MarkBuilding(ctx, next.Building)
}

// canResume reports whether Redis still has everything that an interrupted rebuild has written.
func (b *Builder) canResume(ctx context.Context, seen GenerationState, server string) (bool, error) {
	if seen.Building == "" || seen.BuildingServer != server || seen.Entity == nil {
		return false, nil
	}
	markers, err := b.Markers.Markers(ctx)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(markers, func(m Marker) bool { return m.Building != seen.Building }), nil
}

// release lets the next builder begin at once.
func (b *Builder) release(ctx context.Context, building string) {
	state, err := b.Store.Generation(ctx)
	if err != nil || state.Building != building {
		return
	}
	state.ClaimedUntil = time.UnixMilli(0)
	_, _ = b.Store.SaveProgress(ctx, state) // on failure the claim ends by itself
}

// run writes all documents from the saved position on, removes keys that no row implies, and makes the rebuild the
// epoch. Markers in Redis are changed before SQL: until SQL names the epoch, no reader uses it.
func (b *Builder) run(ctx context.Context, state GenerationState) error {
	c := &rebuildRun{Builder: b, state: state, lastProgress: b.Now(), seen: NewKeySet(maxKeys)}
	began := false
	for _, e := range Entities {
		began = began || e == state.Entity
		if !began {
			continue
		}
		if e != state.Entity {
			c.state.Entity, c.state.After = e, ""
		}
		if err := c.entity(ctx, e); err != nil {
			return err
		}
	}
	if err := b.sweep(ctx, c); err != nil {
		return err
	}
	server, err := b.Markers.Server(ctx)
	if err != nil {
		return err
	}
	// A server that was replaced during the rebuild lacks the documents written before.
	built := server == state.BuildingServer
	if built {
		if built, err = b.Markers.MarkBuilt(ctx, state.Building); err != nil {
			return err
		}
	}
	if !built {
		return errors.Join(ErrKeysLost, b.Store.AbandonBuild(ctx, state.Building))
	}
	if ok, err := b.Store.FinishBuild(ctx, state.Building); err != nil || !ok {
		return errors.Join(err, ErrRebuildRunning)
	}
	return nil
}

// sweep removes keys that no row implies. The walk may take long without writing documents, so it renews the claim as
// well.
func (b *Builder) sweep(ctx context.Context, c *rebuildRun) error {
	return b.Sweeper.Walk(ctx, c.seen, func(ctx context.Context, found []Difference) error {
		if err := c.saveProgress(ctx, c.state.Entity, c.state.After); err != nil {
			return err
		}
		orphans, err := confirmOrphans(ctx, b.Source, b.Sweeper, found)
		if err != nil || len(orphans) == 0 {
			return err
		}
		return b.remove(ctx, orphans)
	})
}

// remove deletes orphans from Redis. It also resets their memos: after a restored backup, ids may be assigned again.
func (b *Builder) remove(ctx context.Context, orphans []Difference) error {
	if err := b.Sweeper.Remove(ctx, orphans); err != nil {
		return err
	}
	var refs, documents []Ref
	for _, o := range orphans {
		switch o.Kind {
		case UnknownKey:
			continue
		case OrphanDocument, OrphanMemo:
			documents = append(documents, o.Ref)
		}
		refs = append(refs, o.Ref)
	}
	if err := b.Projector.Writer.ResetVersions(ctx, documents); err != nil {
		return err
	}
	// Project deletes the documents, or writes them again if their row was inserted between the check and the removal.
	return b.Projector.Project(ctx, refs, nil)
}

// rebuildRun is a rebuild in progress: several workers write batches, and the saved progress is the end of the
// batches that are complete without a gap.
type rebuildRun struct {
	*Builder
	seen *KeySet

	mu           sync.Mutex
	state        GenerationState
	lastProgress time.Time
	done         int
}

// entity writes all documents of an entity, from the saved position on.
func (c *rebuildRun) entity(ctx context.Context, e *Entity) error {
	line := &watermark{finished: map[int]string{}}
	return forEachBatch(ctx, c.Source, e, c.state.After, c.Workers, func(ctx context.Context, b batch) error {
		return c.batch(ctx, e, b, line)
	})
}

// batch writes one batch and, under mu, advances the saved position. It does not use the projector, which
// would drop documents that are newer in Redis than in SQL; overwriteNewer decides about them.
func (c *rebuildRun) batch(ctx context.Context, e *Entity, b batch, line *watermark) error {
	docs, err := c.Source.Read(ctx, e, b.ids)
	if err != nil {
		return err
	}
	a, err := c.Projector.Writer.Apply(ctx, docs)
	if err != nil {
		return err
	}
	if again := slices.Concat(a.Lost, a.Displaced); len(again) > 0 {
		if err := c.Projector.Project(ctx, again, nil); err != nil {
			return err
		}
	}
	if err := c.overwriteNewer(ctx, e, a.Dropped); err != nil {
		return err
	}
	c.Sweeper.RecordKeys(docs, c.seen)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done += len(docs)
	if c.Report != nil {
		c.Report(Progress{e.Name, c.done})
	}
	if after, moved := line.advance(b.n, b.ids[len(b.ids)-1]); moved {
		return c.saveProgress(ctx, e, after)
	}
	return nil
}

// overwriteNewer writes documents that are newer in Redis than in SQL, as after a restored backup. Redis only ever
// has rows that SQL had. So if a row read afterwards is older, or exists although Redis has its deletion, SQL was
// rolled back.
func (c *rebuildRun) overwriteNewer(ctx context.Context, e *Entity, dropped []Ref) error {
	if len(dropped) == 0 {
		return nil
	}
	docs, err := c.Source.Read(ctx, e, seq.Map(dropped, func(r Ref) string { return r.ID }))
	if err != nil {
		return err
	}
	a, err := c.Projector.Writer.Apply(ctx, docs)
	if err != nil || len(a.Dropped) == 0 {
		return err
	}
	if err := c.Projector.Writer.ResetVersions(ctx, a.Dropped); err != nil {
		return err
	}
	return c.Projector.Project(ctx, a.Dropped, nil) // reads SQL again, so that no newer write gets lost
}

// saveProgress saves the position of the rebuild from time to time, which also renews its claim. The caller holds mu,
// or is the only worker.
func (c *rebuildRun) saveProgress(ctx context.Context, e *Entity, after string) error {
	c.state.Entity, c.state.After = e, after
	now := c.Now()
	if now.Sub(c.lastProgress) < progressInterval {
		return nil
	}
	c.lastProgress = now
	c.state.ClaimedUntil = now.Add(buildClaimDuration)
	ok, err := c.Store.SaveProgress(ctx, c.state)
	if err == nil && !ok {
		err = ErrRebuildRunning
	}
	return err
}

// watermark is the position up to which all batches are complete, in whatever order they end.
type watermark struct {
	next     int
	finished map[int]string // last ids of batches that have ended out of order
}

// advance records the end of batch n and returns the position behind which nothing is missing. moved is false while an
// earlier batch is still running.
func (f *watermark) advance(n int, last string) (after string, moved bool) {
	f.finished[n] = last
	for {
		id, ok := f.finished[f.next]
		if !ok {
			return after, moved
		}
		delete(f.finished, f.next)
		f.next++
		after, moved = id, true
	}
}
