package document

import (
	"context"
	"slices"
	"sync"
	"time"
)

// copying is a rebuild that runs: several workers write batches, and what is noted as done is what lies before the
// first batch that is not.
type rebuildRun struct {
	*Builder
	seen *KeySet

	mu           sync.Mutex
	state        GenerationState
	lastProgress time.Time
	done         int
}

// entity writes all documents of an entity, from where the state says.
func (c *rebuildRun) entity(ctx context.Context, e *Entity) error {
	line := &watermark{finished: map[int]string{}}
	return forEachBatchFrom(ctx, c.Source, e, c.state.After, c.Workers, func(ctx context.Context, b batch) error {
		return c.batch(ctx, e, b, line)
	})
}

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

// overrule writes documents of which Redis has newer versions than SQL, as after a restored backup. What Redis has was
// in SQL once: when a row that is read afterwards is older, or lives where a deletion is remembered, it was taken back.
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
	return c.Projector.Project(ctx, a.Dropped, nil) // reads once more: nobody's newer write may get lost by it
}

// note writes now and then how far the rebuild has come, which renews its claim too. The caller holds mu, or is alone.
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

// finishing tells up to where everything is done, whatever the order in which batches end.
type watermark struct {
	next     int
	finished map[int]string // of batches that have ended out of turn
}

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
