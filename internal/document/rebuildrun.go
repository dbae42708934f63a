package document

import (
	"context"
	"slices"
	"sync"
	"time"
)

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

// batch writes one batch and, under mu, advances the saved position. It writes directly and not through the projector,
// because documents that Redis has in a newer version need a decision.
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

// overwriteNewer writes documents that are newer in Redis than in SQL, as after a restored backup. Redis only has
// what SQL had once. If a row read afterwards is older, or exists although Redis remembers its deletion, SQL was
// rolled back.
func (c *rebuildRun) overwriteNewer(ctx context.Context, e *Entity, dropped []Ref) error {
	if len(dropped) == 0 {
		return nil
	}
	ids := make([]string, len(dropped))
	for i, r := range dropped {
		ids[i] = r.ID
	}
	docs, err := c.Source.Read(ctx, e, ids)
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
