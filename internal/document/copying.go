package document

import (
	"context"
	"slices"
	"sync"
	"time"
)

// copying is a rebuild that runs: several workers write batches, and what is noted as done is what lies before the
// first batch that is not.
type copying struct {
	*Builder
	seen *Seen

	mu    sync.Mutex
	state PlaneState
	noted time.Time
	done  int
}

// entity writes all documents of an entity, from where the state says.
func (c *copying) entity(ctx context.Context, e *Entity) error {
	line := &finishing{last: map[int]string{}}
	return spreadFrom(ctx, c.Source, e, c.state.After, c.Workers, func(ctx context.Context, b batch) error {
		return c.batch(ctx, e, b, line)
	})
}

func (c *copying) batch(ctx context.Context, e *Entity, b batch, line *finishing) error {
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
	if err := c.overrule(ctx, e, a.Dropped); err != nil {
		return err
	}
	c.Sweeper.Note(docs, c.seen)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done += len(docs)
	if c.Report != nil {
		c.Report(Progress{e.Name, c.done})
	}
	if after, moved := line.finish(b.n, b.ids[len(b.ids)-1]); moved {
		return c.note(ctx, e, after)
	}
	return nil
}

// overrule writes documents of which Redis has newer versions than SQL, as after a restored backup. What Redis has was
// in SQL once: when a row that is read afterwards is older, or lives where a deletion is remembered, it was taken back.
func (c *copying) overrule(ctx context.Context, e *Entity, dropped []Ref) error {
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
	if err := c.Projector.Writer.Forget(ctx, a.Dropped); err != nil {
		return err
	}
	return c.Projector.Project(ctx, a.Dropped, nil) // reads once more: nobody's newer write may get lost by it
}

// note writes now and then how far the rebuild has come, which renews its claim too. The caller holds mu, or is alone.
func (c *copying) note(ctx context.Context, e *Entity, after string) error {
	c.state.Entity, c.state.After = e, after
	now := c.Now()
	if now.Sub(c.noted) < buildNote {
		return nil
	}
	c.noted = now
	c.state.ClaimedUntil = now.Add(buildClaim)
	ok, err := c.Store.Progress(ctx, c.state)
	if err == nil && !ok {
		err = ErrBuilding
	}
	return err
}

// finishing tells up to where everything is done, whatever the order in which batches end.
type finishing struct {
	next int
	last map[int]string // of batches that have ended out of turn
}

func (f *finishing) finish(n int, last string) (after string, moved bool) {
	f.last[n] = last
	for {
		id, ok := f.last[f.next]
		if !ok {
			return after, moved
		}
		delete(f.last, f.next)
		f.next++
		after, moved = id, true
	}
}
