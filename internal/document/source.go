package document

import (
	"context"
	"time"
)

// Where is a value that documents must have, by an index that is a set.
type Where struct {
	Index *Index
	Value string
}

// Source is what SQL says, normally documentsql.
type Source interface {
	// Read gives the documents of ids as their rows are now, in no certain order; what has no row is left out. The id of
	// an order stands for all of its lines.
	Read(ctx context.Context, e *Entity, ids []string) ([]Document, error)
	// IDs gives up to limit ids behind one, in their order; "" is before all.
	IDs(ctx context.Context, e *Entity, after string, limit int) ([]string, error)
	// Owners gives the ids of the rows that have unique values, by Lookup of the value.
	Owners(ctx context.Context, e *Entity, x *Index, values []string) (map[string]string, error)
	// Find gives a page of the ids of rows that have all values, in their order, and the number of all of them.
	Find(ctx context.Context, e *Entity, where []Where, offset, limit int) (ids []string, total int, err error)
}

// Snapshots is a Source at one moment, normally documentsql.
type SnapshotSource interface {
	// Snapshot runs fn with a source whose answers are all of the same moment, whatever is written meanwhile.
	Snapshot(ctx context.Context, fn func(ctx context.Context, at Source) error) error
}

// Claimed is a row of the outbox that this process projects.
type Claimed struct {
	ID      string
	Entity  *Entity // nil: unknown to this release, to be left to another
	IDs     []string
	Deleted map[string]int64 // versions of those of them that were deleted
}

// Outbox is the list of what has changed, normally documentsql.
type Outbox interface {
	// Claim takes up to limit rows that nobody else has, the oldest first, until an instant.
	Claim(ctx context.Context, now, until time.Time, limit int) ([]Claimed, error)
	// Settle crosses rows off; Release gives them back.
	Delete(ctx context.Context, rows []string) error
	Release(ctx context.Context, rows []string) error
}

// Size is how many rows share a value of a set index, or how many rows an entity has.
type Size struct {
	Value string // as SQL compares it, see Index.Lookup; "" for all rows of an entity
	N     int64
}

// Counts is what SQL holds and what of it waits for the projector, normally documentsql.
type Counts interface {
	// Total returns the number of all rows of an entity.
	Total(ctx context.Context, e *Entity) (int64, error)
	// Sizes returns up to limit values behind one, in their order, with the number of rows of each.
	Sizes(ctx context.Context, e *Entity, x *Index, after string, limit int) ([]Size, error)
	// Position returns when the oldest transaction was made whose documents wait for the projector; the zero time: none
	// waits.
	Position(ctx context.Context) (time.Time, error)
	// Pending returns the documents that wait. An order stands for its lines. ok is false where more than limit
	// transactions wait.
	Pending(ctx context.Context, limit int) (waiting map[Ref]struct{}, ok bool, err error)
}

// Writer writes documents to Redis, normally documentredis.
type Writer interface {
	// Up tells whether Redis is being asked. It is a hint.
	Up() bool
	// Apply writes documents, each at most once in a call: the document, its memo, its index entries. One that is older
	// than what is there is dropped; of one that is there already everything is written again.
	// Applied tells what is to be done after it, also with an error.
	Apply(ctx context.Context, docs []Document) (ApplyResult, error)
	// Forget makes what is there of documents older than every version, so that whatever is written next stays.
	ResetVersions(ctx context.Context, refs []Ref) error
}

// Applied is what Apply has noticed.
type ApplyResult struct {
	Lost      []Ref // a newer version was written at the same time: to be projected anew
	Displaced []Ref // another document has taken their unique value: to be projected anew
	Dropped   []Ref // something newer was there before
}

// Cache reads documents from Redis, normally documentredis. Nothing found never means that there is nothing.
type Cache interface {
	// Bodies gives documents as JSON, "" where there is none.
	Bodies(ctx context.Context, e *Entity, ids []string) ([]string, error)
	// Owner gives the id under a unique value, and that document, "" where there is none.
	Owner(ctx context.Context, e *Entity, x *Index, encoded string) (id, body string, err error)
	// Members gives the ids of documents that are in all sets, in their order; without sets, all ids. known is false when
	// the documents in Redis are not those of the epoch, or more than most ids would have to be looked at.
	Members(ctx context.Context, epoch string, e *Entity, sets []IndexEntry, most int) (ids []string, known bool, err error)
}
