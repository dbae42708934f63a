package ordering

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/price"
	"comanda/internal/stock"
)

// Voucher is a code that takes one of the branch's discounts off an order. Its uses are counted like the units of a stock
// item: an order holds one, a payment uses it, and an order that expires or is cancelled returns it. So a voucher for the
// first 50 orders is used 50 times and never more. The code itself is not stored.
type Voucher struct {
	ID            int64 // the number of its counter among the stock items of the branch
	Branch        int64
	Hint          string // the first two characters of the code
	Discount      string // code of a DiscountKind of the branch with a value
	OncePerMember bool   // each member may use it once; guests without an account may not use it

	VoucherTerms

	CreatedAt time.Time
	Left      int64 // uses that are left; meaningless without a limit
	Held      int64 // by unpaid orders
	Used      int64 // by paid orders
}

// VoucherTerms are the conditions of a voucher that can change. A change applies to orders placed after it.
type VoucherTerms struct {
	MaxUses  int64  // 0: no limit
	MinGoods int64  // the least sum of an order's dishes, in minor units
	From     string // first business date, 2006-01-02; empty: from its creation on
	Until    string // last business date; empty: no end
}

// Limits of vouchers.
const (
	MaxVouchers    = 200 // of a branch at a time
	MaxVoucherUses = 1_000_000
)

// unlimitedUses is the number of uses of a voucher without a limit. No restaurant reaches it.
const unlimitedUses = stock.MaxAvailable

// Uses returns how many orders may use the voucher in all.
func (t VoucherTerms) Uses() int64 { return cmp.Or(t.MaxUses, unlimitedUses) }

// The refusals of vouchers.
var (
	ErrVoucher = fault.New(fault.Invalid, "voucher_unknown", "This voucher code is not valid here.").
			With("field", "voucher")
	ErrVoucherNotYet   = fault.New(fault.Conflict, "voucher_not_yet", "This voucher is not valid yet.")
	ErrVoucherExpired  = fault.New(fault.Conflict, "voucher_expired", "This voucher has expired.")
	ErrVoucherUsedUp   = fault.New(fault.Conflict, "voucher_used_up", "This voucher has been used up.")
	ErrVoucherTaken    = fault.New(fault.Conflict, "voucher_taken", "You have used this voucher already.")
	ErrVoucherMembers  = fault.New(fault.Forbidden, "voucher_members_only", "Log in to use this voucher.")
	errVoucherMinimum  = fault.New(fault.Conflict, "voucher_minimum", "The order is too small for this voucher.")
	ErrVoucherExists   = fault.New(fault.Conflict, "voucher_exists", "The branch already has a voucher with this code.")
	ErrVoucherMissing  = fault.New(fault.NotFound, "voucher_not_found", "Voucher not found.")
	ErrVoucherLimit    = fault.Newf(fault.Conflict, "voucher_limit", "A branch has at most %d vouchers.", MaxVouchers)
	ErrVoucherUses     = fault.New(fault.Conflict, "voucher_uses", "More orders than that already use this voucher.")
	errVoucherDiscount = fault.New(fault.Invalid, "discount_unknown",
		"Choose a discount of this branch with a fixed percentage or amount.").With("field", "discount")
	errVoucherPast = fault.New(fault.Invalid, "voucher_until_past", "The last day of a voucher must not be in the past.").
			With("field", "until")
)

// VoucherStore stores vouchers; orderingsql.Vouchers implements it. A hash is that of voucherHash.
type VoucherStore interface {
	// Find returns the voucher with a code, unless it has ended; false if there is none.
	Find(ctx context.Context, branch int64, hash string) (Voucher, bool, error)
	// UsedBy reports whether a member has an order with the voucher that is not cancelled.
	UsedBy(ctx context.Context, voucher, member int64) (bool, error)
	// List returns the vouchers of a branch that have not ended, newest first.
	List(ctx context.Context, branch int64) ([]Voucher, error)
	// Create returns ErrVoucherExists for a code that the branch has, and ErrVoucherLimit.
	Create(ctx context.Context, by authz.Actor, v Voucher, hash string) (Voucher, error)
	// Change returns ErrVoucherMissing, or ErrVoucherUses if more orders use the voucher than the new limit.
	Change(ctx context.Context, by authz.Actor, branch, id int64, t VoucherTerms) (Voucher, error)
	// End ends a voucher: its code is free again, and orders that use it keep it. It returns ErrVoucherMissing.
	End(ctx context.Context, by authz.Actor, branch, id int64) error
}

// Vouchers applies vouchers to orders and manages them for the staff. A nil Vouchers knows no code.
type Vouchers struct {
	Store   VoucherStore
	Catalog Catalog
	Now     func() time.Time
	// Changed is called after a voucher was created or has ended, because menus tell phones whether to ask for a code.
	Changed func(ctx context.Context, branch int64)
}

// voucherCode is the form of a code: 4 to 20 letters, digits and hyphens.
var voucherCode = regexp.MustCompile(`^[A-Z0-9-]{4,20}$`)

// normalCode returns a code as it is compared: guests type small letters and spaces.
func normalCode(code string) (string, bool) {
	code = strings.ToUpper(strings.Join(strings.Fields(code), ""))
	return code, voucherCode.MatchString(code)
}

// voucherHash returns what is stored of a code. A copy of the database does not show the codes; short ones can be found by
// trying, so valuable vouchers need long ones.
func voucherHash(branch int64, code string) string {
	sum := sha256.Sum256([]byte(strconv.FormatInt(branch, 10) + "\n" + code))
	return hex.EncodeToString(sum[:])
}

// appliedVoucher is a voucher that an order is priced with.
type appliedVoucher struct {
	Voucher

	kind  catalog.DiscountKind
	value price.Discount
}

// apply returns the voucher of a code, or the reason why an order cannot use it; nil for no code. The ledger decides again
// whether a use is left.
func (s *Vouchers) apply(ctx context.Context, b catalog.Branch, code string, member int64) (*appliedVoucher, error) {
	if code == "" {
		return nil, nil //nolint:nilnil // no code, no voucher
	}
	code, ok := normalCode(code)
	if !ok || s == nil {
		return nil, ErrVoucher
	}
	v, found, err := s.Store.Find(ctx, b.ID, voucherHash(b.ID, code))
	if err != nil {
		return nil, err
	}
	today := b.Calendar().BizDate(s.Now())
	kind, value, hasValue := voucherDiscount(b.Pricing, v.Discount)
	switch {
	case !found || !hasValue: // the branch may have dropped the discount
		return nil, ErrVoucher
	case today < v.From:
		return nil, ErrVoucherNotYet.With("from", v.From)
	case v.Until != "" && today > v.Until:
		return nil, ErrVoucherExpired
	case v.OncePerMember && member == 0:
		return nil, ErrVoucherMembers
	case v.Left == 0:
		return nil, ErrVoucherUsedUp
	}
	if v.OncePerMember {
		used, err := s.Store.UsedBy(ctx, v.ID, member)
		if err != nil {
			return nil, err
		}
		if used {
			return nil, ErrVoucherTaken
		}
	}
	return &appliedVoucher{v, kind, value}, nil
}

// voucherDiscount returns a discount of a branch and what it takes off; ok is false if it has no value of its own.
func voucherDiscount(p catalog.Pricing, code string) (kind catalog.DiscountKind, value price.Discount, ok bool) {
	i := slices.IndexFunc(p.Discounts, func(k catalog.DiscountKind) bool { return k.Code == code })
	if i < 0 {
		return kind, value, false
	}
	value, err := DiscountRequest{}.value(p.Discounts[i])
	return p.Discounts[i], value, err == nil
}

// withVoucher returns a hold with a use of the order's voucher.
func (o *Order) withVoucher(h stock.Hold) stock.Hold {
	if o.Voucher == 0 {
		return h
	}
	h.Stock = append(slices.Clone(h.Stock), stock.Line{Item: o.Voucher, Qty: 1})
	slices.SortFunc(h.Stock, func(a, b stock.Line) int { return cmp.Compare(a.Item, b.Item) })
	return h
}

// usedUp reports whether an order lacks nothing but a use of its voucher. If dishes are short as well, the guest learns of
// the dishes first.
func (o *Order) usedUp(short []stock.Shortage) bool {
	return o.Voucher != 0 && len(short) == 1 && short[0].Stock && short[0].Item == o.Voucher
}

// VoucherUser is a member who uses a voucher.
type VoucherUser struct {
	Voucher, User int64
}

// VoucherUser returns the member and the voucher of an order with a voucher.
func (o *Order) VoucherUser() VoucherUser { return VoucherUser{o.Voucher, o.UserID} }

// voucherTaken reports whether the member of an order has another order with the same voucher, which each member may use
// once. VoucherOrders has no entry for a voucher without that condition.
func (b *Batch) voucherTaken(o *Order) bool {
	if o.Voucher == 0 {
		return false
	}
	known, once := b.VoucherOrders[o.VoucherUser()]
	if !once {
		return false
	}
	for _, id := range known { // orders of the batch are looked at below, in their state by now
		if id != "" && id != o.ID && b.Orders[id] == nil {
			return true
		}
	}
	for _, other := range b.Orders {
		if other.ID != o.ID && other.VoucherUser() == o.VoucherUser() && other.Status != Canceled {
			return true
		}
	}
	return false
}

// NewVoucher is a request to create a voucher.
type NewVoucher struct {
	Code          string
	Discount      string
	OncePerMember bool
	VoucherTerms
}

// Create creates a voucher of a branch that the actor sees.
func (s *Vouchers) Create(ctx context.Context, by authz.Actor, branch int64, n NewVoucher) (Voucher, error) {
	b, err := s.branch(ctx, by, branch)
	if err != nil {
		return Voucher{}, err
	}
	code, ok := normalCode(n.Code)
	if !ok {
		return Voucher{}, invalidField("voucher", "A code has 4 to 20 letters, digits and hyphens.")
	}
	if _, _, ok := voucherDiscount(b.Pricing, n.Discount); !ok {
		return Voucher{}, errVoucherDiscount
	}
	if err := n.check(b.Calendar().BizDate(s.Now())); err != nil {
		return Voucher{}, err
	}
	v, err := s.Store.Create(ctx, by, Voucher{
		Branch: branch, Hint: code[:2], Discount: n.Discount, OncePerMember: n.OncePerMember, VoucherTerms: n.VoucherTerms,
	}, voucherHash(branch, code))
	if err == nil {
		s.Changed(ctx, branch)
	}
	return v, err
}

// Change replaces the terms of a voucher.
func (s *Vouchers) Change(ctx context.Context, by authz.Actor, branch, id int64, t VoucherTerms) (Voucher, error) {
	b, err := s.branch(ctx, by, branch)
	if err == nil {
		err = t.check(b.Calendar().BizDate(s.Now()))
	}
	if err != nil {
		return Voucher{}, err
	}
	return s.Store.Change(ctx, by, branch, id, t)
}

// End ends a voucher.
func (s *Vouchers) End(ctx context.Context, by authz.Actor, branch, id int64) error {
	if _, err := s.branch(ctx, by, branch); err != nil {
		return err
	}
	err := s.Store.End(ctx, by, branch, id)
	if err == nil {
		s.Changed(ctx, branch)
	}
	return err
}

// List returns the vouchers of a branch that have not ended, newest first.
func (s *Vouchers) List(ctx context.Context, by authz.Actor, branch int64) ([]Voucher, error) {
	if _, err := s.branch(ctx, by, branch); err != nil {
		return nil, err
	}
	return s.Store.List(ctx, branch)
}

// branch returns a branch that the actor sees.
func (s *Vouchers) branch(ctx context.Context, by authz.Actor, id int64) (catalog.Branch, error) {
	if !by.Sees(id) {
		return catalog.Branch{}, catalog.ErrBranch
	}
	return s.Catalog.Branch(ctx, id)
}

// check refuses terms that no order could fulfil from a business date on. Dates have a fixed length, so comparing their
// texts orders them.
func (t VoucherTerms) check(today string) error {
	date := func(s string) bool {
		_, err := time.Parse(time.DateOnly, s)
		return s == "" || err == nil
	}
	switch {
	case t.MaxUses < 0 || t.MaxUses > MaxVoucherUses:
		return fault.Newf(fault.Invalid, "invalid", "A voucher has 1 to %d uses, or no limit.", MaxVoucherUses).
			With("field", "maxUses")
	case t.MinGoods < 0 || t.MinGoods > catalog.MaxPrice:
		return invalidField("minGoods", "The least sum is not a valid amount.")
	case !date(t.From):
		return invalidField("from", "A date looks like 2026-12-31.")
	case !date(t.Until) || t.Until != "" && t.Until < t.From:
		return invalidField("until", "The last date is a date such as 2026-12-31, and not before the first.")
	case t.Until != "" && t.Until < today:
		return errVoucherPast
	}
	return nil
}
