package ordering

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"comanda/internal/cart"
	"comanda/internal/catalog"
	"comanda/internal/event"
	"comanda/internal/fault"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

// Limits of one order, the same for every installation. They catch typing errors, and they bound what one request can
// hold of a scarce dish and what it adds to a shared transaction.
const (
	MaxLines    = stock.MaxLines
	MaxQty      = 20  // per line
	MaxUnits    = 100 // all lines together
	MaxNotes    = 200 // characters
	MaxClientID = 64  // characters of a clientTxnId
)

// Request is a guest's request to place an order. The JSON form is the input of its digest.
type Request struct {
	Items         []RequestItem  `json:"i"`
	Method        payment.Method `json:"m"`
	ClientTxnID   string         `json:"-"`
	MenuVersionID int64          `json:"v"`
	VisitID       string         `json:"s"`           // empty: the guest's visit
	ExpectedTotal *int64         `json:"t"`           // total that the guest saw; nil: not checked
	Voucher       string         `json:"c,omitempty"` // code of a voucher; empty for none
}

// RequestItem is one line of a request.
type RequestItem struct {
	ItemID int64  `json:"i"`
	Qty    int64  `json:"q"`
	Notes  string `json:"n"`
	Line   string `json:"l,omitempty"` // line of the shared cart that the order takes; empty for none

	// Options are canonical. Without any, the digest is that of a release before options.
	Options []catalog.ChosenOption `json:"o,omitempty"`
}

// Receipt is the result of a request to place an order.
type Receipt struct {
	Order Order
	New   bool // false: the order is the prior result of the idempotency key
}

// Place places an order. It is idempotent: the same clientTxnId with the same content returns the same order (I11),
// and concurrent requests share one execution. After an error of kind Unavailable the outcome is unknown; a retry
// with the same clientTxnId returns it (I5).
func (s *Service) Place(ctx context.Context, g Guest, r Request) (Receipt, error) {
	r.VisitID = cmp.Or(r.VisitID, g.VisitID)
	if err := s.CheckRequest(g, r); err != nil {
		return Receipt{}, err
	}
	r.Items = canonicalItems(r.Items)
	key, asked := IdempotencyKey{Branch: g.Branch, ClientTxnID: r.ClientTxnID}, contentOf(r)
	return s.placeIdempotent(ctx, key, asked, func(ctx context.Context) (Receipt, error) {
		// The menu or the branch may have changed since the original request. A repetition still returns its order.
		receipt, err := withCurrentRates(func() (Receipt, error) {
			o, err := s.price(ctx, g, DineIn, 0, r)
			if err != nil {
				return s.priorOr(ctx, key, asked, err)
			}
			o.VisitID, o.GuestHash = g.VisitID, g.Hash
			return s.reserveAndPlace(ctx, o, source{lines: sharedLines(r.Items)}, asked)
		})
		if len(sharedLines(r.Items)) > 0 && s.CartOrdered != nil {
			s.CartOrdered(g.Branch, g.VisitID) // even if the outcome is unknown: the order may exist
		}
		return receipt, err
	})
}

// errRates refuses an order because tax rates have changed since it was priced, as at midnight before a new law.
var errRates = fault.New(fault.Conflict, "rates_changed", "The taxes have just changed. Please send the order again.")

// withCurrentRates prices and places an order, and does both again if tax rates changed in between.
func withCurrentRates(place func() (Receipt, error)) (Receipt, error) {
	receipt, err := place()
	if errors.Is(err, errRates) {
		receipt, err = place()
	}
	return receipt, err
}

// source is the cart whose lines become an order. It is empty if the cart is stored on the guest's phone.
type source struct {
	cart  *cart.Cart        // a member's cart; the order takes all of it
	lines []cart.SharedLine // lines of the shared cart of a visit
}

// sharedLines returns the lines of the shared cart among the items of a request, as the guest saw them.
func sharedLines(items []RequestItem) (lines []cart.SharedLine) {
	for _, it := range items {
		if it.Line != "" {
			lines = append(lines, cart.SharedLine{ID: it.Line, ItemID: it.ItemID, Quantity: it.Qty, Notes: it.Notes,
				Options: catalog.EncodeOptions(it.Options)})
		}
	}
	return lines
}

// pricedOrder is an order with its price, before it is placed. The price is valid until tax rates change or a menu version
// is closed. It has the decoded options of its lines, because decoding their text for each use was a tenth of the work
// of an order with options.
type pricedOrder struct {
	Order

	ratesUntil time.Time // zero: never
	versions   []int64   // menu versions of the lines, see Place
	options    lineOptions
}

// reserveAndPlace reserves a priced order's units in the admission cache and has the ledger place it while its price
// holds. The cache refuses early when the units are gone; the ledger decides.
func (s *Service) reserveAndPlace(ctx context.Context, priced pricedOrder, from source, asked *content) (Receipt, error) {
	o := priced.Order
	// The id of the first hold is the order's id. Statements that read only one of the two rows rely on this
	// (drift_orphans, order_deadline_move).
	h, err := o.holdWith(o.ID, priced.options)
	if err != nil {
		return Receipt{}, err
	}
	o.HoldID = h.ID
	recipes, err := s.recipes(ctx, o.Scope.Branch)
	if err != nil {
		return Receipt{}, err
	}
	// The stock that the dishes consume is part of the same hold, so that an order takes quota and stock, or neither.
	if h.Stock, err = stock.Consumption(recipes, o.consuming(h.Lines, priced.options, recipes)); err != nil {
		return Receipt{}, err
	}
	h = o.withVoucher(h)
	limits, err := s.limits(ctx, o.UserID)
	if err != nil {
		return Receipt{}, err
	}
	// If many guests order the last units at once, most refusals are made here and never reach the ledger.
	// They are verified against SQL (decision 12).
	verdict := s.Admission.Reserve(ctx, h)
	if verdict.Status == stock.Refused {
		return s.priorOr(ctx, o.Key(), asked, o.soldOut(verdict.Short, h.Lines, recipes))
	}
	o.Digest = asked.digest()
	if o.Method.Remote() {
		o.PaymentRef = s.newID()
	}
	result, err := s.Ledger.Do(ctx, &Place{
		Order: o, Priced: o.CreatedAt, RatesUntil: priced.ratesUntil, Versions: priced.versions, Hold: h,
		Recipes: recipes, Cart: from.cart, SharedLines: from.lines, Limits: limits, Options: priced.options.ids(),
	})
	if err != nil || result.Order.ID != o.ID {
		// The order was refused, or the key has a prior result: release the provisional hold. If the outcome is
		// unknown, the admission cache expires it later.
		if fault.KindOf(err) != fault.Unavailable && ctx.Err() == nil {
			s.Admission.DropProvisional(h)
		}
	}
	// The ledger reads only that the branch is paused or retired. The catalog also has the reason and the end of the
	// pause.
	if errors.Is(err, catalog.ErrPaused) {
		err = s.paused(ctx, o.Scope.Branch)
	}
	return Receipt{Order: result.Order, New: result.Changed}, err
}

// paused returns the refusal for a paused or retired branch. It includes the reason if this process's copy of the
// catalog has it; that copy may be older than the ledger's state.
func (s *Service) paused(ctx context.Context, branch int64) error {
	b, err := s.Catalog.Branch(ctx, branch)
	if err == nil && b.Retired() {
		return catalog.ErrRetired
	}
	if p := b.Paused(s.Now()); err == nil && p != nil {
		return p.Refusal()
	}
	return catalog.ErrPaused
}

// recipes returns the stock items that each menu item of a branch consumes. Without Recipes it returns nil: no item
// consumes stock.
func (s *Service) recipes(ctx context.Context, branch int64) (of map[int64][]stock.Line, err error) {
	if s.Recipes != nil {
		of, err = s.Recipes.ForBranch(ctx, branch)
	}
	return of, err
}

// CheckRequest validates a request without looking at the menu. It does no I/O. The transport calls it before it counts
// the request against rate limits; Place calls it in any case.
func (s *Service) CheckRequest(g Guest, r Request) error {
	if r.VisitID != "" && r.VisitID != g.VisitID {
		return fault.New(fault.Forbidden, "visit_mismatch", "This phone belongs to another visit.")
	}
	if err := checkClientTxnID(r.ClientTxnID); err != nil {
		return err
	}
	if strings.HasPrefix(r.ClientTxnID, memberPrefix) { // reserved for the keys of members and imports, which share the column
		return invalidField("clientTxnId", "clientTxnId must not begin with "+memberPrefix+".")
	}
	if err := checkItems(r.Items); err != nil {
		return err
	}
	return s.Settings().Methods.Check(r.Method)
}

// checkItems refuses lines that exceed MaxLines, MaxQty, MaxUnits or MaxNotes. Checkouts are checked too:
// their lines come from a cart and not from the request.
func checkItems(items []RequestItem) error {
	if len(items) == 0 || len(items) > MaxLines {
		return fault.Newf(fault.Invalid, "invalid", "An order must have 1 to %d lines.", MaxLines)
	}
	var units int64
	for _, it := range items {
		if it.Qty < 1 || it.Qty > MaxQty {
			return fault.Newf(fault.Invalid, "invalid", "The quantity of a line must be between 1 and %d.", MaxQty)
		}
		if utf8.RuneCountInString(it.Notes) > MaxNotes {
			return fault.Newf(fault.Invalid, "invalid", "Notes have at most %d characters.", MaxNotes)
		}
		if _, err := catalog.CanonicalOptions(it.Options); err != nil {
			return err
		}
		units += it.Qty
	}
	if units > MaxUnits {
		return fault.Newf(fault.Invalid, "invalid", "An order has at most %d units in all.", MaxUnits)
	}
	return nil
}

// price returns the order for a request, with the names and prices of the menu version it was made from (I13), and what
// must still hold when it is decided. member is 0 for a guest.
func (s *Service) price(ctx context.Context, g Guest, kind Kind, member int64, r Request) (pricedOrder, error) {
	menu, err := s.menuOf(ctx, g.Branch, r.MenuVersionID)
	if err != nil {
		return pricedOrder{}, err
	}
	branch := menu.Branch
	now := s.Now()
	if err := branch.CheckOpen(now); err != nil {
		return pricedOrder{}, err
	}
	if pause := branch.Paused(now); pause != nil {
		return pricedOrder{}, pause.Refusal()
	}
	settings := s.Settings() // once: an order gets its window and its grace from the same settings
	window := settings.window(r.Method)
	voucher, err := s.Vouchers.apply(ctx, branch, r.Voucher, member)
	if err != nil {
		return pricedOrder{}, err
	}
	p, err := priced(menu, kind, r.Items, voucher, now)
	if err != nil {
		return pricedOrder{}, err
	}
	// Prices come only from the menu version of the request. This check detects an app that shows its guest another
	// total.
	if r.ExpectedTotal != nil && *r.ExpectedTotal != p.Total {
		return pricedOrder{}, fault.New(fault.Conflict, "price_changed", "The total of the order has changed.").
			With("currentTotal", p.Total)
	}
	if err := r.Method.CheckAmount(p.Total, branch.Currency); err != nil {
		return pricedOrder{}, err
	}
	o := Order{
		// The business date is fixed here (I14): counters, number and hold keep it, even if the day ends before the commit.
		ID: s.newID(), Scope: stock.Scope{Branch: g.Branch, Date: branch.Calendar().BizDate(now)},
		Kind: kind, MenuVersionID: r.MenuVersionID, ClientTxnID: r.ClientTxnID, Status: Placed,
		PaymentStatus: Unpaid, Method: r.Method,
		PayBy: now.Add(window), ExpiresAt: now.Add(window + settings.ExpiryGrace),
		CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	if voucher != nil {
		o.Voucher = voucher.ID
	}
	p.apply(&o)
	return pricedOrder{o, p.Until, p.Versions, p.Options}, nil
}

// Place creates an order. All fields of the order except its number are set.
type Place struct {
	Order  Order
	Priced time.Time // when the order's deadlines were computed; zero: do not shift them
	// RatesUntil is when the tax rates of the order's total change; zero: never. The order must be decided before it.
	RatesUntil time.Time
	Versions   []int64 // menu versions of the lines, each once; all must be published
	Hold       stock.Hold
	Recipes    map[int64][]stock.Line // consumed stock items by menu item
	Cart       *cart.Cart             // the cart that the order was made from; nil for guests
	// SharedLines are taken from the cart that the guests of the visit share.
	SharedLines []cart.SharedLine
	Limits      Limits
	Options     []int64 // options of the order's lines, each once; the ledger reads which of them are off
}

// Limits are the maximum numbers of unpaid orders. Zero means no limit. They bound how many units one phone or one
// table can keep from other guests without paying.
type Limits struct {
	UnpaidPerGuest int
	UnpaidPerVisit int
}

// limits returns the limits on unpaid orders of a member, or with 0 of a guest.
func (s *Service) limits(ctx context.Context, member int64) (Limits, error) {
	l := s.Settings().Limits
	if member == 0 || s.UnpaidOfMember == nil || l.UnpaidPerGuest == 0 {
		return l, nil
	}
	n, err := s.UnpaidOfMember(ctx, member)
	if n > 0 {
		l.UnpaidPerGuest = min(l.UnpaidPerGuest, n)
	}
	return l, err
}

// enter places an order: it checks again what may have changed since the order was priced, reserves the units and adds
// the order with its hold, number and event. A refusal changes nothing.
func (b *Batch) enter(p *Place) Result {
	o, hold := p.at(b.Now)
	switch {
	case o.Kind == DineIn && !b.Visits[o.VisitID]:
		return Result{Err: ErrVisitClosed}
	case b.Paused[o.Scope.Branch]:
		return Result{Err: catalog.ErrPaused}
	case slices.ContainsFunc(p.Versions, func(v int64) bool { return !b.Versions[v] }):
		return Result{Err: ErrVersionClosed}
	case reached(b.Unpaid[o.payer()], p.Limits.UnpaidPerGuest),
		o.Kind == DineIn && reached(b.Unpaid[o.VisitID], p.Limits.UnpaidPerVisit):
		return Result{Err: ErrUnpaid}
	case !p.RatesUntil.IsZero() && !b.Now.Before(p.RatesUntil):
		return Result{Err: errRates}
	case p.Cart != nil && !b.cartUnchanged(*p.Cart), !b.hasLines(p):
		return Result{Err: cart.ErrChanged}
	case b.anyOff(o.Scope.Branch, p.Options):
		return Result{Err: b.offOptions(&o)}
	case b.voucherTaken(&o):
		return Result{Err: ErrVoucherTaken}
	}
	// The reservation is the last check, because it is the first change.
	switch outcome, short := b.Balances.Reserve(hold, stock.Held); outcome {
	case stock.Applied:
	case stock.Insufficient:
		return Result{Err: o.soldOut(short, hold.Lines, p.Recipes)}
	default: // a released hold id, or an item that left the menu after pricing
		return Result{Err: ErrRetry}
	}
	// Nothing after this point can fail, so a refused order leaves no gap in the numbers.
	b.Numbers[o.Scope]++
	o.Number = b.Numbers[o.Scope]
	// Later orders of this batch count against the same limits.
	b.Unpaid[o.payer()]++
	b.Unpaid[o.VisitID]++
	if p.Cart != nil {
		// A second checkout of this cart in the batch finds no cart and is refused with cart.ErrChanged.
		b.OrderedCarts = append(b.OrderedCarts, b.Carts[p.Cart.UserID])
		delete(b.Carts, p.Cart.UserID)
	}
	if len(p.SharedLines) > 0 {
		b.SharedCarts[o.VisitID].Take(p.SharedLines)
	}

	b.Orders[o.ID] = &o
	b.Attempts[o.ID] = []payment.Attempt{o.FirstAttempt()}
	b.New = append(b.New, &o)
	b.NewHolds = append(b.NewHolds, stock.NewHold{Hold: hold, State: stock.Held})
	b.queueOps(stock.OpHeld, hold)
	b.publish(event.OrderPlaced.New(b.Now, o.ID, o.Version, o.Scope.Branch, event.Placed{
		OrderID: o.ID, BranchID: o.Scope.Branch, BizDate: o.Scope.Date, TotalAmount: o.Total, Currency: o.Currency,
		PayBy: o.PayBy,
	}))
	return Result{Order: o, Changed: true, Attempt: o.FirstAttempt()}
}

// at returns the order and its hold with their timestamps shifted as if the order had been priced at now. The payment
// window starts at the decision: if the clock was set between pricing and decision, the old deadlines would be wrong by
// that step. It returns copies, because the ledger runs a command again if its transaction fails.
func (p *Place) at(now time.Time) (o Order, hold stock.Hold) {
	o, hold = p.Order, p.Hold
	if p.Priced.IsZero() {
		return o, hold
	}
	late := now.Sub(p.Priced)
	for _, t := range []*time.Time{&o.CreatedAt, &o.UpdatedAt, &o.PayBy, &o.ExpiresAt, &hold.Until} {
		*t = t.Add(late)
	}
	return o, hold
}

// cartUnchanged reports whether a member's cart is unchanged since the order was made from it.
func (b *Batch) cartUnchanged(c cart.Cart) bool {
	now, ok := b.Carts[c.UserID]
	return ok && now.Equal(c)
}

// hasLines reports whether the shared cart of the visit still has the lines that an order takes.
func (b *Batch) hasLines(p *Place) bool {
	d := b.SharedCarts[p.Order.VisitID]
	return len(p.SharedLines) == 0 || d != nil && d.Has(p.SharedLines)
}

// payer returns the key that the limit on unpaid orders counts by: the member, or else the guest's hash.
func (o *Order) payer() string {
	if o.UserID != 0 {
		return MemberKey(o.UserID)
	}
	return o.GuestHash
}

func reached(n, limit int) bool { return limit > 0 && n >= limit }
