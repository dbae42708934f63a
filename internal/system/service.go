package system

import (
	"context"
	"sync"
	"time"

	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/keyspace/audit"
	"comanda/internal/queue"
)

// Limits of operations that run while a client waits for the response.
const (
	MaxReplayed  = 200     // dead letters per call
	MaxKeys      = 100_000 // Redis keys per audit
	MaxDocuments = 100_000 // documents per verification
)

// Faults of this package.
var (
	ErrBusy = &fault.Error{
		Kind: fault.Conflict, Code: "busy", RetryAfter: 5 * time.Second,
		Detail: "This is already running. Please try again when it has finished.",
	}
	ErrLetter      = fault.New(fault.NotFound, "dead_letter_not_found", "There is no such dead letter.")
	ErrTooManyKeys = fault.Newf(fault.Conflict, "too_many_keys",
		"There are more than %d keys. Please use the command comanda keys audit.", MaxKeys)
)

// Service provides the operators' functions. They do not belong to a branch, so only accounts with access to all
// branches may use them.
type Service struct {
	ops   Operations
	now   func() time.Time
	heavy sync.Mutex // held during long operations
}

// NewService returns a Service for an installation.
func NewService(ops Operations, now func() time.Time) *Service { return &Service{ops: ops, now: now} }

// Outbox returns the state of the queues.
func (s *Service) Outbox(ctx context.Context) (Outbox, error) { return s.ops.Outbox(ctx) }

// About returns the version and the engines of this process.
func (s *Service) About(ctx context.Context) (About, error) { return s.ops.About(ctx) }

// DeadLetters returns a page of dead letters with secrets masked, and their total number.
func (s *Service) DeadLetters(ctx context.Context, f DeadLetterFilter) ([]queue.DeadLetter, int64, error) {
	page, total, err := s.ops.DeadLetters(ctx, f)
	for i := range page {
		page[i].Payload = Masked(page[i].Payload)
	}
	return page, total, err
}

// Replay replays one dead letter for every consumer that failed on it.
func (s *Service) Replay(ctx context.Context, by identity.Actor, id string) (Replayed, error) {
	if !s.heavy.TryLock() {
		return Replayed{}, ErrBusy
	}
	defer s.heavy.Unlock()
	sum, err := s.ops.Replay(ctx, ReplayFilter{ID: id})
	if err == nil && sum.Sum() == 0 {
		return sum, ErrLetter
	}
	if err != nil {
		return sum, err
	}
	return sum, s.record(ctx, by, id, sum)
}

// ReplayAll replays the newest MaxReplayed of the selected dead letters, and returns how many are left, including those
// that failed again.
func (s *Service) ReplayAll(
	ctx context.Context, by identity.Actor, f DeadLetterFilter,
) (sum Replayed, left int64, err error) {
	if !s.heavy.TryLock() {
		return sum, 0, ErrBusy
	}
	defer s.heavy.Unlock()
	f.Limit, f.Offset = MaxReplayed, 0
	page, _, err := s.ops.DeadLetters(ctx, f)
	if err != nil {
		return sum, 0, err
	}
	for _, l := range page {
		one, err := s.ops.Replay(ctx, ReplayFilter{Consumer: l.Consumer, ID: l.ID})
		sum = sum.plus(one)
		if err != nil {
			return sum, 0, err
		}
	}
	if sum.Sum() > 0 {
		err = s.record(ctx, by, "all", sum)
	}
	if err != nil {
		return sum, 0, err
	}
	f.Limit = 1
	_, left, err = s.ops.DeadLetters(ctx, f)
	return sum, left, err
}

func (s *Service) record(ctx context.Context, by identity.Actor, id string, sum Replayed) error {
	return s.ops.Record(ctx, identity.NewAuditEntry(by, s.now(), identity.ActionReplayed, "deadLetter", id, 0).WithAfter(sum))
}

// AuditKeys verifies the keys in Redis against their declarations.
func (s *Service) AuditKeys(ctx context.Context) (audit.Report, error) {
	if !s.heavy.TryLock() {
		return audit.Report{}, ErrBusy
	}
	defer s.heavy.Unlock()
	return s.ops.AuditKeys(ctx, MaxKeys)
}

// Reconcile compares ledger, holds, orders, money and Redis, of one branch or, with 0, of all. It only reads.
func (s *Service) Reconcile(ctx context.Context, branch int64) (Reconciliation, error) {
	if !s.heavy.TryLock() {
		return Reconciliation{}, ErrBusy
	}
	defer s.heavy.Unlock()
	return s.ops.Reconcile(ctx, branch)
}

// Index returns the state of the documents in Redis.
func (s *Service) Index(ctx context.Context) (Index, error) {
	if !s.heavy.TryLock() {
		return Index{}, ErrBusy
	}
	defer s.heavy.Unlock()
	return s.ops.Index(ctx, MaxDocuments)
}
