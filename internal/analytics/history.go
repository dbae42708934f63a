package analytics

import (
	"cmp"
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// Seen is a dish that a member has looked at.
type Seen struct {
	Dish int64
	At   time.Time
}

// ByTime compares dishes by descending instant, and those of one instant by dish.
func ByTime(a, b Seen) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Dish, b.Dish)) }

// Usual is a dish that a member orders often.
type Usual struct{ Dish, Orders int64 }

// MaxSeen is the number of dishes in a list of seen dishes.
const MaxSeen = 30

const (
	maxUsual   = 8
	minOrders  = 2 // orders that make a dish a usual one
	usualYears = 1
)

// Histories stores the dishes that members have seen. A lost list is read from SQL.
type Histories interface {
	// Seen returns up to MaxSeen dishes of a member, newest first; ok is false if the list is missing or empty.
	Seen(ctx context.Context, user int64) (all []Seen, ok bool, err error)
	// SetSeen stores a member's dishes. Add then adds the member's views to the list.
	SetSeen(ctx context.Context, user int64, all []Seen) error
	// DropSeen removes a member's list.
	DropSeen(ctx context.Context, user int64) error
}

// DishHistory is the dishes of one member.
type DishHistory struct {
	Seen  []Seen  // newest first
	Usual []Usual // most orders first
}

// errAccount refuses callers without an account, such as the service token.
var errAccount = fault.New(fault.Forbidden, "account_needed", "This requires an account.")

// HistoryOf returns the caller's own history (AN6).
func (s *Service) HistoryOf(ctx context.Context, by authz.Actor) (h DishHistory, err error) {
	if by.Kind != authz.Account {
		return h, errAccount
	}
	seen, ok, err := s.Cache.Seen(ctx, by.UserID)
	if err != nil || !ok {
		if seen, err = s.history(ctx, by.UserID); err != nil {
			return h, err
		}
	}
	usual, err := s.Store.Usual(ctx, by.UserID, s.Now().AddDate(-usualYears, 0, 0), maxUsual)
	for _, u := range usual {
		if u.Orders >= minOrders {
			h.Usual = append(h.Usual, u)
		}
	}
	h.Seen = seen
	return h, err
}

// history reads a member's list from SQL and stores it. The counters are flushed first, because they have the newest
// views. If that fails, the list lacks them until it expires.
func (s *Service) history(ctx context.Context, user int64) ([]Seen, error) {
	_ = s.Flush(ctx)
	seen, err := s.Store.Seen(ctx, user, MaxSeen)
	if err != nil {
		return nil, err
	}
	_ = s.Cache.SetSeen(ctx, user, seen)
	return seen, nil
}

// ClearHistory deletes the caller's own history: rows, keys, and the views that are still in counters (AN6).
func (s *Service) ClearHistory(ctx context.Context, by authz.Actor) error {
	if by.Kind != authz.Account {
		return errAccount
	}
	if err := s.Store.ClearHistory(ctx, by.UserID); err != nil {
		return err
	}
	// If Redis is unreachable, the list expires after a few minutes; until then the member could still see it.
	return s.Cache.DropSeen(ctx, by.UserID)
}
