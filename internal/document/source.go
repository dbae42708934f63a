package document

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"comanda/internal/queue"
)

// Where is a value that documents must have, by a set index.
type Where struct {
	Index *Index
	Value string
}

// Source reads documents from SQL; documentsql.Store implements it. Its methods may be called concurrently, but not
// those of a snapshot.
type Source interface {
	// Read returns the documents of ids in their current state, in no particular order; ids without a row are left
	// out. The id of an order selects all of its lines.
	Read(ctx context.Context, e *Entity, ids []string) ([]Document, error)
	// IDs returns up to limit ids that follow after, in order; "" precedes all ids.
	IDs(ctx context.Context, e *Entity, after string, limit int) ([]string, error)
	// Owners returns the ids of the rows that have unique values, by Lookup of the value.
	Owners(ctx context.Context, e *Entity, x *Index, values []string) (map[string]string, error)
	// Find returns a page of the ids of rows that have all values, in their order, and their total number.
	Find(ctx context.Context, e *Entity, where []Where, offset, limit int) (ids []string, total int, err error)
}

// SnapshotSource reads at one moment; documentsql.Store implements it.
type SnapshotSource interface {
	// Snapshot runs fn with a source that reads one snapshot, whatever is written meanwhile.
	Snapshot(ctx context.Context, fn func(ctx context.Context, at Source) error) error
}

// Claimed is an outbox row that this process projects.
type Claimed struct {
	ID       string
	Entity   *Entity // nil if unknown to this release; another release projects it
	IDs      []string
	Deleted  map[string]int64 // versions of the deleted ones
	Attempts int              // including this claim
}

// Outbox is the queue of changed documents; documentsql.Store implements it.
type Outbox interface {
	// Claim reserves the oldest unclaimed rows, up to limit, until an instant. They are in no particular order.
	Claim(ctx context.Context, now, until time.Time, limit int) ([]Claimed, error)
	// DeleteQueued deletes projected rows.
	DeleteQueued(ctx context.Context, ids []string) error
	// RecordFailures ends claims. A row that another process has claimed since is left alone.
	RecordFailures(ctx context.Context, now time.Time, failures ...queue.Failure) error
}

// Size is the number of rows with a value of a set index, or of all rows of an entity.
type Size struct {
	Value string // as SQL compares it, see Index.Lookup; "" for all rows of an entity
	N     int64
}

// Tally is a number of rows of an entity.
type Tally struct {
	N    int64
	Last string // of an entity whose rows are kept: the rows with greater ids are not counted yet
}

// Counts counts rows and pending changes in SQL; documentsql.Store implements it. Each method reads a moment of its
// own; the sampler allows for that.
type Counts interface {
	// Total returns the number of rows of an entity. If they are kept, it counts those behind an earlier tally only, and
	// misses rows that were committed later with smaller ids.
	Total(ctx context.Context, e *Entity, earlier Tally) (Tally, error)
	// Sizes returns up to limit values that follow after, in order, with the number of rows of each.
	Sizes(ctx context.Context, e *Entity, x *Index, after string, limit int) ([]Size, error)
	// Position returns the time of the oldest pending transaction; the zero time if none is pending.
	Position(ctx context.Context) (time.Time, error)
	// Pending returns the pending documents. An order stands for its lines. ok is false if more than limit
	// transactions are pending.
	Pending(ctx context.Context, limit int) (waiting map[Ref]struct{}, ok bool, err error)
}

// Writer writes documents to Redis; documentredis.Store implements it. Its methods are safe for concurrent use by any
// number of processes, and may be repeated after an error.
type Writer interface {
	// Up reports whether Redis is likely to answer.
	Up() bool
	// Apply writes documents, each at most once per call: the document, its memo, its index entries. It drops a
	// document that is older than the one in Redis, and completely rewrites one of the same version. The ApplyResult
	// is valid also with an error.
	Apply(ctx context.Context, docs []Document) (ApplyResult, error)
	// ResetVersions makes the remembered versions lower than every version, so that the next write wins.
	ResetVersions(ctx context.Context, refs []Ref) error
}

// ApplyResult lists the documents that the caller of Apply must process further.
type ApplyResult struct {
	Lost      []Ref // a newer version was written at the same time: project again
	Displaced []Ref // another document has taken their unique value: project again
	Dropped   []Ref // Redis has a newer version

	// Redis has lost what it knew about these documents before they were written. Index entries of earlier versions may
	// remain, and only a rebuild finds them.
	Forgotten []Ref
}

// Cache reads documents from Redis; documentredis.Store implements it. A missing key never proves that a document is
// missing.
type Cache interface {
	// Bodies returns documents as JSON, "" for missing ones.
	Bodies(ctx context.Context, e *Entity, ids []string) ([]string, error)
	// Owner returns the id stored under a unique value, and the document with this id; "" for missing ones.
	Owner(ctx context.Context, e *Entity, x *Index, encoded string) (id, body string, err error)
	// Members returns the ids of documents in all sets, in their order; without sets, all ids. known is false if the
	// documents in Redis are not of the epoch, or if more than most ids would have to be read.
	Members(ctx context.Context, epoch string, e *Entity, sets []IndexEntry, most int) (ids []string, known bool, err error)
}

// batch is a numbered batch of ids in their order.
type batch struct {
	n   int
	ids []string
}

// defaultWorkers keeps SQL and Redis busy while other workers encode; more would take connections from requests.
const defaultWorkers = 8

// forEachBatch runs several workers on the ids of an entity that follow after, in batches. It ends with the first
// error. Batches are numbered in order, and end in any order. Ids are read at most one batch ahead of the workers.
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
	// After one worker has failed, the errors of the others and of IDs are only that the context has ended.
	if failed := group.Wait(); failed != nil {
		return failed
	}
	return err
}
