package document

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"
)

// batch is a numbered batch of ids in their order.
type batch struct {
	n   int
	ids []string
}

// defaultWorkers keeps SQL and Redis busy while other workers encode; more would take connections from requests.
const defaultWorkers = 8

// forEachBatch runs several workers on the ids of an entity after one, in batches. It ends with the first error.
// Batches are numbered in order, and end in any order. Ids are read at most one batch ahead of the workers.
func forEachBatch(
	ctx context.Context, source Source, e *Entity, after string, workers int, run func(context.Context, batch) error,
) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(workers, defaultWorkers))
	err := context.Cause(ctx)
	for n := 0; err == nil; n++ {
		var ids []string
		if ids, err = source.IDs(ctx, e, after, batchSize); err != nil || len(ids) == 0 {
			break
		}
		group.Go(func() error { return run(ctx, batch{n, ids}) })
		after, err = ids[len(ids)-1], context.Cause(ctx)
	}
	// After the failure of a worker, the others and IDs only report that the context has ended.
	if failed := group.Wait(); failed != nil {
		return failed
	}
	return err
}
