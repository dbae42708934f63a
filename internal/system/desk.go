package system

import (
	"context"
	"sync"
	"time"

	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/keyspace/audit"
)

// The bounds of what is done while somebody waits for the answer.
const (
	MaxReplayed  = 200     // dead letters that one call takes up
	MaxKeys      = 100_000 // of Redis, that one audit looks at
	MaxDocuments = 100_000 // that one verification compares
)

// The faults of this room.
var (
	ErrBusy = &fault.Error{
		Kind: fault.Conflict, Code: "busy", RetryAfter: 5 * time.Second,
		Detail: "Something of this kind is being done in this process already; ask again when it has ended.",
	}
	ErrLetter      = fault.New(fault.NotFound, "dead_letter_not_found", "There is no such dead letter.")
	ErrTooManyKeys = fault.Newf(fault.Conflict, "too_many_keys",
		"There are more than %d keys; use the command comanda keys audit.", MaxKeys)
)

// Desk is where operators ask. What it is about does not belong to a branch, so only those work here who see all of them.
type Desk struct {
	works Works
	now   func() time.Time
	heavy sync.Mutex // held by whoever does what takes long
}

// NewDesk makes a desk.
func NewDesk(works Works, now func() time.Time) *Desk { return &Desk{works: works, now: now} }

// Outbox tells what waits.
func (d *Desk) Outbox(ctx context.Context) (Outbox, error) { return d.works.Outbox(ctx) }

// About tells what this process is.
func (d *Desk) About(ctx context.Context) (About, error) { return d.works.About(ctx) }

// Letters lists dead letters without the secrets that other systems may have put into them.
func (d *Desk) Letters(ctx context.Context, f LetterFilter) ([]Letter, int64, error) {
	page, total, err := d.works.Letters(ctx, f)
	for i := range page {
		page[i].Payload = Masked(page[i].Payload)
	}
	return page, total, err
}

// Replay brings one dead letter on its way again, for whoever has given it up.
func (d *Desk) Replay(ctx context.Context, by identity.Actor, id string) (Replayed, error) {
	if !d.heavy.TryLock() {
		return Replayed{}, ErrBusy
	}
	defer d.heavy.Unlock()
	sum, err := d.works.Replay(ctx, ReplayFilter{ID: id})
	if err == nil && sum.Sum() == 0 {
		return sum, ErrLetter
	}
	if err != nil {
		return sum, err
	}
	return sum, d.record(ctx, by, id, sum)
}

// ReplayAll brings the newest MaxReplayed of the selected dead letters on their way again, and tells how many are left:
// those that failed once more among them.
func (d *Desk) ReplayAll(ctx context.Context, by identity.Actor, f LetterFilter) (sum Replayed, left int64, err error) {
	if !d.heavy.TryLock() {
		return sum, 0, ErrBusy
	}
	defer d.heavy.Unlock()
	f.Limit, f.Offset = MaxReplayed, 0
	page, _, err := d.works.Letters(ctx, f)
	if err != nil {
		return sum, 0, err
	}
	for _, l := range page {
		one, err := d.works.Replay(ctx, ReplayFilter{Consumer: l.Consumer, ID: l.ID})
		sum = sum.plus(one)
		if err != nil {
			return sum, 0, err
		}
	}
	if sum.Sum() > 0 {
		err = d.record(ctx, by, "all", sum)
	}
	if err != nil {
		return sum, 0, err
	}
	f.Limit = 1
	_, left, err = d.works.Letters(ctx, f)
	return sum, left, err
}

func (d *Desk) record(ctx context.Context, by identity.Actor, id string, sum Replayed) error {
	return d.works.Record(ctx, by.AuditEntry(d.now(), identity.ActionReplayed, "deadLetter", id, 0).WithAfter(sum))
}

// AuditKeys compares what is in Redis with the declarations.
func (d *Desk) AuditKeys(ctx context.Context) (audit.Report, error) {
	if !d.heavy.TryLock() {
		return audit.Report{}, ErrBusy
	}
	defer d.heavy.Unlock()
	return d.works.AuditKeys(ctx, MaxKeys)
}

// Reconcile compares ledger, holds, orders, money and Redis, of one branch or with 0 of all. It only reads.
func (d *Desk) Reconcile(ctx context.Context, branch int64) (Reconciliation, error) {
	if !d.heavy.TryLock() {
		return Reconciliation{}, ErrBusy
	}
	defer d.heavy.Unlock()
	return d.works.Reconcile(ctx, branch)
}

// Index tells how the documents in Redis are.
func (d *Desk) Index(ctx context.Context) (Index, error) {
	if !d.heavy.TryLock() {
		return Index{}, ErrBusy
	}
	defer d.heavy.Unlock()
	return d.works.Index(ctx, MaxDocuments)
}
