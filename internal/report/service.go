package report

import (
	"context"

	"comanda/internal/authz"
	"comanda/internal/catalog"
)

// Branches returns branches, normally catalog.MenuCache.
type Branches interface {
	Branch(ctx context.Context, id int64) (catalog.Branch, error)
}

// Store reads the figures, normally package reportsql.
type Store interface {
	Cells(ctx context.Context, s Span) ([]Cell, error)
	Days(ctx context.Context, s Span) ([]Day, error)
	// Dishes returns sold dishes, highest revenue first.
	Dishes(ctx context.Context, s Span) ([]Dish, error)
	// Quotas returns items with a quota, by date and item.
	Quotas(ctx context.Context, s Span) ([]Quota, error)
	Attempts(ctx context.Context, s Span) ([]Attempts, error)
	// Failures evaluates the newest reports, up to limit.
	Failures(ctx context.Context, s Span, limit int) ([]Failures, error)
	Refunds(ctx context.Context, s Span) ([]Refunds, error)
	Ended(ctx context.Context, s Span) ([]Ended, error)
	Tickets(ctx context.Context, s Span) ([]Ticket, error)
}

// maxConcurrent is the number of reports that a process reads concurrently. Further ones wait, because orders use the
// same database.
const maxConcurrent = 2

// Service provides reports.
type Service struct {
	Store
	branches Branches
	slots    chan struct{}
}

// NewService returns a Service.
func NewService(store Store, branches Branches) *Service {
	return &Service{store, branches, make(chan struct{}, maxConcurrent)}
}

// Open checks that the actor may see the branch, waits for a free slot and returns the span. The caller must call release
// after reading.
func (r *Service) Open(
	ctx context.Context, by authz.Actor, branch int64, from, to string,
) (s Span, release func(), err error) {
	if !by.Sees(branch) {
		return s, nil, catalog.ErrBranch
	}
	b, err := r.branches.Branch(ctx, branch)
	if err != nil {
		return s, nil, err
	}
	if s, err = NewSpan(b, from, to); err != nil {
		return s, nil, err
	}
	select {
	// The wait ends with the request's deadline, so a queue of reports cannot grow without bound.
	case r.slots <- struct{}{}:
		return s, func() { <-r.slots }, nil
	case <-ctx.Done():
		return s, nil, ctx.Err()
	}
}
