package sqldb

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"comanda/internal/fault"
)

// ErrStopped answers operations that come after Stop.
var ErrStopped = fault.New(fault.Unavailable, "shutting_down", "The server is stopping; ask again.")

// ErrOverloaded answers operations for which the queue has no place.
var ErrOverloaded = &fault.Error{
	Kind: fault.Unavailable, Code: "overloaded", Detail: "Too much is waiting to be written; ask again.",
	RetryAfter: unavailableRetry,
}

// Group lets operations that arrive while a transaction commits share the next one. One goroutine takes all that wait,
// runs them in one transaction in the order of their arrival, and answers all of them after the commit. There is no
// timer: an operation that comes alone commits alone, at once.
//
// A batch that fails is divided, so that one bad operation fails alone and its neighbours commit.
type Group[Op, Res any] struct {
	run   func(ctx context.Context, ops []Op) ([]Res, error)
	after func(ops []Op, res []Res)
	max   int

	in    chan waiting[Op, Res]
	mu    sync.RWMutex // guards stopped against sends into in
	ended bool
	done  chan struct{}
	stats groupStats
}

type waiting[Op, Res any] struct {
	ctx    context.Context //nolint:containedctx // tells only whether anybody still waits when its turn comes
	op     Op
	answer chan answer[Res]
}

type answer[Res any] struct {
	res Res
	err error
}

type groupStats struct{ batches, ops atomic.Int64 }

// GroupConfig says how a group works.
type GroupConfig[Op, Res any] struct {
	// Run executes a batch and gives one result for each operation, in order. It may be called again with the same or
	// with fewer operations after a failure, so it must not have effects outside of the transaction.
	Run func(ctx context.Context, tx Tx, ops []Op) ([]Res, error)
	// After is called once for every batch that was committed, before its operations are answered. It must not block.
	After func(ops []Op, res []Res)
	// Max is the size of the largest batch.
	Max int
	// Queue is how many operations may wait; one more is answered ErrOverloaded.
	Queue int
}

// NewGroup starts the group's goroutine; Stop ends it.
func NewGroup[Op, Res any](db *DB, c GroupConfig[Op, Res]) *Group[Op, Res] {
	return newGroup(c.Max, c.Queue, c.After, func(ctx context.Context, ops []Op) (res []Res, err error) {
		err = db.Write(ctx, func(ctx context.Context, tx Tx) error {
			res, err = c.Run(ctx, tx, ops)
			return err
		})
		return res, err
	})
}

// Questions are a group whose operations only read: they share a statement instead of a transaction.
type Questions[Op, Res any] struct{ *Group[Op, Res] }

// NewQuestions starts the goroutine that asks; Stop ends it. ask gives one result for each question, in order.
func NewQuestions[Op, Res any](most, queue int, ask func(ctx context.Context, ops []Op) ([]Res, error)) Questions[Op, Res] {
	return Questions[Op, Res]{newGroup(most, queue, nil, func(ctx context.Context, ops []Op) ([]Res, error) {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		return ask(ctx, ops)
	})}
}

func newGroup[Op, Res any](
	most, queue int, after func([]Op, []Res), run func(context.Context, []Op) ([]Res, error),
) *Group[Op, Res] {
	g := &Group[Op, Res]{
		run: run, after: after, max: most, in: make(chan waiting[Op, Res], queue), done: make(chan struct{}),
	}
	if g.after == nil {
		g.after = func([]Op, []Res) {}
	}
	go g.loop()
	return g
}

// Do runs one operation in a shared transaction and waits for its commit. When ctx ends first, the operation may still
// take effect; asking again with the same idempotency key tells.
func (g *Group[Op, Res]) Do(ctx context.Context, op Op) (Res, error) {
	w := waiting[Op, Res]{ctx, op, make(chan answer[Res], 1)}
	var none Res
	if err := g.enter(w); err != nil {
		return none, err
	}
	select {
	case a := <-w.answer:
		return a.res, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// DoAll runs many operations and waits for all. It gives one error per operation.
func (g *Group[Op, Res]) DoAll(ctx context.Context, ops []Op) ([]Res, []error) {
	results, failures := make([]Res, len(ops)), make([]error, len(ops))
	answers := make([]chan answer[Res], len(ops))
	for i, op := range ops {
		answers[i] = make(chan answer[Res], 1)
		if err := g.enter(waiting[Op, Res]{ctx, op, answers[i]}); err != nil {
			answers[i] <- answer[Res]{err: err}
		}
	}
	for i := range answers {
		select {
		case a := <-answers[i]:
			results[i], failures[i] = a.res, a.err
		case <-ctx.Done():
			failures[i] = ctx.Err()
		}
	}
	return results, failures
}

func (g *Group[Op, Res]) enter(w waiting[Op, Res]) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.ended {
		return ErrStopped
	}
	select {
	case g.in <- w:
		return nil
	default:
		return ErrOverloaded
	}
}

// Stop refuses new operations, finishes those that wait and returns when the last is answered.
func (g *Group[Op, Res]) Stop() {
	g.mu.Lock()
	if !g.ended {
		g.ended = true
		close(g.in)
	}
	g.mu.Unlock()
	<-g.done
}

// Stats tells how many batches were committed and how many operations were in them.
func (g *Group[Op, Res]) Stats() (batches, ops int64) {
	return g.stats.batches.Load(), g.stats.ops.Load()
}

// Waiting tells how many operations wait for their turn.
func (g *Group[Op, Res]) Waiting() int { return len(g.in) }

func (g *Group[Op, Res]) loop() {
	defer close(g.done)
	batch := make([]waiting[Op, Res], 0, g.max)
	for first := range g.in {
		batch = g.gather(append(batch[:0], first))
		g.commit(batch)
		clear(batch)
	}
}

// gather takes what waits already, without waiting for more. Operations that nobody waits for any more are dropped.
func (g *Group[Op, Res]) gather(batch []waiting[Op, Res]) []waiting[Op, Res] {
	for len(batch) < g.max {
		select {
		case w, ok := <-g.in:
			if !ok {
				return batch
			}
			if err := w.ctx.Err(); err != nil {
				w.answer <- answer[Res]{err: err}
				continue
			}
			batch = append(batch, w)
		default:
			return batch
		}
	}
	return batch
}

// commit runs a batch and answers it; a batch that fails for a reason of its own is halved until the culprit is alone.
func (g *Group[Op, Res]) commit(batch []waiting[Op, Res]) {
	ops := make([]Op, len(batch))
	for i := range batch {
		ops[i] = batch[i].op
	}
	res, err := g.transact(ops)
	if err == nil {
		g.stats.batches.Add(1)
		g.stats.ops.Add(int64(len(ops)))
		g.after(ops, res)
		for i, w := range batch {
			w.answer <- answer[Res]{res: res[i]}
		}
		return
	}
	if len(batch) > 1 && !IsUnavailable(err) {
		g.commit(batch[:len(batch)/2])
		g.commit(batch[len(batch)/2:])
		return
	}
	for _, w := range batch {
		w.answer <- answer[Res]{err: err}
	}
}

// transact runs a batch; a panic is a failure like any other.
func (g *Group[Op, Res]) transact(ops []Op) (res []Res, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Wrap("group commit", fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	res, err = g.run(context.Background(), ops)
	if err == nil && len(res) != len(ops) {
		err = errors.New("sqldb: a batch must give one result for each operation")
	}
	return res, err
}
