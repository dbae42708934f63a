package document

import (
	"cmp"
	"context"
	"sync"
)

// batch is a numbered batch of ids in their order.
type batch struct {
	n   int
	ids []string
}

// forEachBatch runs several workers on all ids of an entity, in batches. It ends with the first error.
func forEachBatch(
	ctx context.Context, source Source, e *Entity, workers int, run func(context.Context, []string) error,
) error {
	return forEachBatchFrom(ctx, source, e, "", workers, func(ctx context.Context, b batch) error { return run(ctx, b.ids) })
}

// forEachBatchFrom is forEachBatch for the ids after one. Batches are numbered in order, and end in any order.
func forEachBatchFrom(
	ctx context.Context, source Source, e *Entity, after string, workers int, run func(context.Context, batch) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Without a buffer: ids are read at most one batch ahead of the workers.
	batches := make(chan batch)
	var group sync.WaitGroup
	for range cmp.Or(workers, defaultWorkers) {
		group.Go(func() {
			for b := range batches {
				if err := run(ctx, b); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	err := sendBatches(ctx, source, e, after, batches)
	close(batches)
	group.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// defaultWorkers keeps SQL and Redis busy while other workers encode; more would take connections from requests.
const defaultWorkers = 8

// sendBatches sends the ids after one in batches. It ends early with the cause of ctx, when a worker has failed.
func sendBatches(ctx context.Context, source Source, e *Entity, after string, to chan<- batch) error {
	for n := 0; ; n++ {
		ids, err := source.IDs(ctx, e, after, batchSize)
		if err != nil || len(ids) == 0 {
			return err
		}
		select {
		case to <- batch{n, ids}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		after = ids[len(ids)-1]
	}
}
