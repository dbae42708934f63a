package account

import (
	"cmp"
	"context"
	"slices"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/uid"
)

// FlagKind is the reason of a fraud flag.
type FlagKind string

// The kinds of flags. Only expired orders are found by the product: no gateway reports a chargeback, and only staff see
// who did not come.
const (
	FlagExpiredOrder FlagKind = "EXPIRED_ORDER" // an order expired before it was paid
	FlagNoShow       FlagKind = "NO_SHOW"       // an order was not picked up
	FlagChargeback   FlagKind = "CHARGEBACK"    // the payer had a payment returned by the bank
)

// FullTrust is the trust score of an account without flags.
const FullTrust = 100

// Errors of flags.
var (
	ErrFlag       = fault.New(fault.NotFound, "flag_not_found", "Flag not found.")
	ErrFlagExists = fault.New(fault.Conflict, "flag_exists", "The account has this flag for the order already.")
	ErrFlagOrder  = fault.New(fault.Invalid, "flag_order", "The account has no order with this id.").With("field", "orderId")
	ErrFlagStaff  = fault.New(fault.Invalid, "flag_staff", "Only members have flags.")
)

// Flag is a mark on a member's account.
type Flag struct {
	ID        string
	User      int64
	Kind      FlagKind
	OrderID   string // empty for none
	Note      string
	CreatedAt time.Time
	CreatedBy string
}

// TrustRules are the restaurant's rules for trust scores.
type TrustRules struct {
	ExpiredOrder, NoShow, Chargeback int // points that a flag takes from the score, 0 to FullTrust

	Period time.Duration // for which a flag counts; then it is deleted
	// PrepayBelow is the score below which a member may have one unpaid order at a time; 0 for no such rule.
	PrepayBelow int
}

// points returns what a flag takes from the score.
func (r TrustRules) points(k FlagKind) int {
	switch k {
	case FlagExpiredOrder:
		return r.ExpiredOrder
	case FlagNoShow:
		return r.NoShow
	case FlagChargeback:
		return r.Chargeback
	}
	return 0
}

// Cutoff returns the instant before which flags no longer count.
func (r TrustRules) Cutoff(now time.Time) time.Time { return now.Add(-r.Period) }

// Score returns the trust score of an account with these flags, from 0 to FullTrust, and their kinds in order, each once.
func (r TrustRules) Score(flags []FlagKind) (score int, kinds []FlagKind) {
	score = FullTrust
	for _, k := range flags {
		score -= r.points(k)
	}
	kinds = slices.Clone(flags)
	slices.SortFunc(kinds, cmp.Compare[FlagKind])
	return max(score, 0), slices.Compact(kinds)
}

// FlagStore stores flags, normally accountsql. Every change computes the score of the account in the same transaction.
type FlagStore interface {
	// Flags returns a page of the flags of an account, newest first, and the total.
	Flags(ctx context.Context, user int64, limit, offset int) ([]Flag, int64, error)
	// AddFlag stores a flag of a member whom the actor may change. It returns ErrFlagExists for a second one of the
	// same kind and order, ErrFlagOrder for an order of someone else, and ErrFlagStaff for a staff account.
	AddFlag(ctx context.Context, by authz.Actor, f Flag, r TrustRules) error
	// RemoveFlag deletes a flag, or returns ErrFlag.
	RemoveFlag(ctx context.Context, by authz.Actor, user int64, id string, r TrustRules, now time.Time) error
}

// Trust manages the flags of accounts.
type Trust struct {
	Store    FlagStore
	Accounts *Administration
	Rules    func() TrustRules
	Now      func() time.Time
}

// Flags returns a page of the flags of an account that the actor may see, newest first, and the total.
func (t *Trust) Flags(ctx context.Context, by authz.Actor, user int64, limit, offset int) ([]Flag, int64, error) {
	if _, err := t.Accounts.User(ctx, by, user); err != nil {
		return nil, 0, err
	}
	return t.Store.Flags(ctx, user, limit, offset)
}

// AddFlag marks a member's account and returns the flag. It is written to the audit log.
func (t *Trust) AddFlag(ctx context.Context, by authz.Actor, f Flag) (Flag, error) {
	now := t.Now()
	f.ID, f.CreatedAt, f.CreatedBy = uid.New(now), now, by.String()
	return f, t.Store.AddFlag(ctx, by, f, t.Rules())
}

// RemoveFlag removes a flag, for example one that was set by mistake. It is written to the audit log.
func (t *Trust) RemoveFlag(ctx context.Context, by authz.Actor, user int64, id string) error {
	return t.Store.RemoveFlag(ctx, by, user, id, t.Rules(), t.Now())
}
