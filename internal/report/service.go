package report

import (
	"context"
	"math"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/tagcache"
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
	// Options returns how often guests chose each option of a dish, see OptionSales.
	Options(ctx context.Context, s Span) ([]OptionSale, error)
	// Quotas returns items with a quota, by date and item.
	Quotas(ctx context.Context, s Span) ([]Quota, error)
	Attempts(ctx context.Context, s Span) ([]Attempts, error)
	// Failures evaluates the newest reports, up to limit.
	Failures(ctx context.Context, s Span, limit int) ([]Failures, error)
	Refunds(ctx context.Context, s Span) ([]Refunds, error)
	Ended(ctx context.Context, s Span) ([]Ended, error)
	Tickets(ctx context.Context, s Span) ([]Ticket, error)
	Taxes(ctx context.Context, s Span) (*TaxBook, error)
}

// InterestStore reads what guests looked at and left in carts. It is separate from Store, whose reports are of orders.
type InterestStore interface {
	// Interest returns the dishes that were viewed, added to a cart or ordered, most views first.
	Interest(ctx context.Context, s Span) ([]DishInterest, error)
	// Pages returns how often each page of the guest app was opened, by name.
	Pages(ctx context.Context, s Span) (map[string]int64, error)
	// Carts returns the visits in which a dish was added to a cart, by date.
	Carts(ctx context.Context, s Span) ([]CartDay, error)
	// MemberCarts returns the carts of members that have dishes and have not changed for a time.
	MemberCarts(ctx context.Context, s Span, unchanged time.Duration) ([]MemberCart, error)
	// Searches returns the texts that guests searched for, most searches first, at most limit.
	Searches(ctx context.Context, s Span, limit int) ([]Searched, error)
}

// maxConcurrent is the number of reports that a process reads concurrently. Further reports wait, because orders use
// the same database.
const maxConcurrent = 2

// Service provides reports.
type Service struct {
	Store
	InterestStore
	Members MemberFigures    // set before the first request
	Cache   *tagcache.Cache  // shared with other processes; nil computes every report
	Now     func() time.Time // set together with Cache

	branches Branches
	slots    chan struct{}
}

// AllStore reads every figure.
type AllStore interface {
	Store
	InterestStore
}

// NewService returns a Service.
func NewService(store AllStore, branches Branches) *Service {
	return &Service{Store: store, InterestStore: store, branches: branches, slots: make(chan struct{}, maxConcurrent)}
}

// Span checks that the actor may see the branch and returns the span.
func (r *Service) Span(ctx context.Context, by authz.Actor, branch int64, from, to string) (Span, error) {
	if !by.Sees(branch) {
		return Span{}, catalog.ErrBranch
	}
	b, err := r.branches.Branch(ctx, branch)
	if err != nil {
		return Span{}, err
	}
	return NewSpan(b, from, to)
}

// Slot waits for a free slot, in which a report is read. The caller must call release after reading.
func (r *Service) Slot(ctx context.Context) (release func(), err error) {
	select {
	// The wait ends with the request's deadline, so a queue of reports cannot grow without bound.
	case r.slots <- struct{}{}:
		return func() { <-r.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// currentLife is the life of a cached report with the current business date. Each order changes it, so it is not
// invalidated: however many orders there are, it is computed once in this time.
const currentLife = 2 * time.Second

// Cached returns a report from the cache, or computes it. parts identify the report among those of the span. A report of
// past dates is invalidated by a changed order of these dates. One with the current date is at most currentLife old, plus
// the time that it takes to compute.
func (r *Service) Cached(
	ctx context.Context, s Span, compute func(context.Context) ([]byte, error), parts ...string,
) ([]byte, error) {
	if r.Cache == nil {
		return compute(ctx)
	}
	dates, life := tagcache.DateRange{From: s.From, To: s.To}, tagcache.ListLife
	if s.To >= s.Branch.Calendar().BizDate(r.Now()) {
		dates, life = tagcache.OnlyExpires, currentLife
	}
	e := tagcache.NewEntry(tagcache.Reports, tagcache.List, s.Branch.ID, dates, append(parts, s.From, s.To)...)
	return r.Cache.Load(ctx, e, life, compute)
}

// MaxDays is the maximum number of business dates of a report: a leap year.
const MaxDays = 366

// ErrSpan refuses invalid, reversed and too long spans.
var ErrSpan = fault.Newf(fault.Invalid, "invalid_span",
	"Choose 1 to %d business dates, the first before the last, written like 2026-02-26.", MaxDays)

// Span is a range of business dates of a branch, both ends included.
type Span struct {
	Branch   catalog.Branch
	From, To string
}

// NewSpan parses and validates the dates.
func NewSpan(b catalog.Branch, from, to string) (Span, error) {
	first, err := time.Parse(time.DateOnly, from)
	if err != nil {
		return Span{}, ErrSpan.Because(err)
	}
	last, err := time.Parse(time.DateOnly, to)
	if err != nil {
		return Span{}, ErrSpan.Because(err)
	}
	// Dates are parsed as UTC, whose days all have 24 hours.
	if last.Before(first) || last.Sub(first) >= MaxDays*24*time.Hour {
		return Span{}, ErrSpan
	}
	return Span{b, from, to}, nil
}

// Ends returns the first and the last business day of the span.
func (s Span) Ends() (first, last catalog.Day, err error) {
	calendar := s.Branch.Calendar()
	if first, err = calendar.Interval(s.From); err != nil {
		return first, last, err
	}
	last, err = calendar.Interval(s.To)
	return first, last, err
}

// OffsetPeriod is a period during which the branch's time zone has one UTC offset. Local time, in milliseconds as if it
// were UTC, is an instant plus Shift (R5).
type OffsetPeriod struct {
	Start, End int64 // unix milliseconds, Start included and End excluded
	Shift      int64 // milliseconds
}

// OffsetPeriods returns the periods of the span in order. The first and the last extend beyond the span, so that every
// order falls into a period.
func (s Span) OffsetPeriods() ([]OffsetPeriod, error) {
	first, last, err := s.Ends()
	if err != nil {
		return nil, err
	}
	all := []OffsetPeriod{}
	for t := first.Start.In(s.Branch.Calendar().Zone()); ; {
		_, offset := t.Zone()
		_, end := t.ZoneBounds()
		st := OffsetPeriod{Start: t.UnixMilli(), End: end.UnixMilli(), Shift: int64(offset) * 1000}
		if !end.IsZero() && !end.After(t) { // beyond the zone's table the offset no longer changes
			end = t.Add(24 * time.Hour)
			st.End = end.UnixMilli()
		}
		all = append(all, st)
		if end.IsZero() || !end.Before(last.End) {
			break
		}
		t = end
	}
	// If the start hour of the day was changed, orders of a date may lie outside the date's current interval.
	all[0].Start, all[len(all)-1].End = 0, math.MaxInt64
	return all, nil
}
