package report

import (
	"context"

	"comanda/internal/catalog"
	"comanda/internal/identity"
)

// Branches knows the branches, normally catalog.Menus.
type Branches interface {
	Branch(ctx context.Context, id int64) (catalog.Branch, error)
}

// Books is what the figures are read from, normally reportsql.
type Books interface {
	Cells(ctx context.Context, s Span) ([]Cell, error)
	Days(ctx context.Context, s Span) ([]Day, error)
	// Dishes gives what was sold, what brought in most first.
	Dishes(ctx context.Context, s Span) ([]Dish, error)
	// Quotas gives items that had a quota, by dates and items.
	Quotas(ctx context.Context, s Span) ([]Quota, error)
	Attempts(ctx context.Context, s Span) ([]Attempts, error)
	// Failures looks at the newest reports, so many at most.
	Failures(ctx context.Context, s Span, most int) ([]Failures, error)
	Refunds(ctx context.Context, s Span) ([]Refunds, error)
	Ended(ctx context.Context, s Span) ([]Ended, error)
	Tickets(ctx context.Context, s Span) ([]Ticket, error)
}

// atOnce is how many reports a process reads at a time: the others wait, because orders are to be served by the same
// database meanwhile.
const atOnce = 2

// Desk opens the books to whoever may look into them.
type Desk struct {
	Books
	branches Branches
	places   chan struct{}
}

// NewDesk makes a desk.
func NewDesk(books Books, branches Branches) *Desk {
	return &Desk{books, branches, make(chan struct{}, atOnce)}
}

// Open gives the span of a branch that the actor sees, and a place at the books. The caller closes it when it has read.
func (d *Desk) Open(
	ctx context.Context, by identity.Actor, branch int64, from, to string,
) (s Span, closed func(), err error) {
	if !by.Sees(branch) {
		return s, nil, catalog.ErrBranch
	}
	b, err := d.branches.Branch(ctx, branch)
	if err != nil {
		return s, nil, err
	}
	if s, err = NewSpan(b, from, to); err != nil {
		return s, nil, err
	}
	select {
	case d.places <- struct{}{}:
		return s, func() { <-d.places }, nil
	case <-ctx.Done():
		return s, nil, ctx.Err()
	}
}
