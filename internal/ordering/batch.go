package ordering

import (
	"time"

	"comanda/internal/cart"
	"comanda/internal/catalog"
	"comanda/internal/event"
	"comanda/internal/identity"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

// TxnKey is what makes a request to place an order the same request when it comes again: a guest's within a branch, a
// member's wherever it goes.
type TxnKey struct {
	Branch      int64
	User        int64 // 0 for a guest
	ClientTxnID string
}

// Known is a key that an earlier transaction has used.
type Known struct {
	Digest  string
	OrderID string
}

// Batch decides commands in their order of arrival against what the ledger has loaded and locked. It does no I/O, and
// commands of one batch see one another. After the last command its effects are written in the same transaction.
type Batch struct {
	Now   time.Time
	NewID func() string
	Book  *stock.Balances

	// What was loaded.
	Orders   map[string]*Order // by id, locked; those placed in this batch are entered too
	Attempts map[string][]payment.Attempt
	Owed     map[string][]payment.Refund // refunds by order
	Known    map[TxnKey]Known            // used by earlier transactions
	Visits   map[string]bool             // those that are open
	Versions map[int64]bool              // those that are published
	Paused   map[int64]bool              // branches that take no orders now
	Unpaid   map[string]int              // open unpaid orders by visit, by guest hash and by member
	Carts    map[int64]cart.Cart         // of members who check out
	Numbers  map[stock.Scope]int64

	Effects
	placed map[TxnKey]placement
}

// Effects are what a batch has decided, to be written.
type Effects struct {
	New         []*Order
	Changed     map[string]*Order
	NewHolds    []HoldEffect
	Moves       []MoveEffect
	NewAttempts []payment.Attempt
	Settled     map[string]payment.Attempt
	Extended    map[string]time.Time // deadlines of holds that have moved
	Reports     []payment.Event
	Mismatches  []payment.AmountMismatch
	Refunds     []payment.Refund
	Finished    map[string]payment.Refund
	Steps       []StepTaken
	Marks       map[Line]time.Time // lines that were ticked off, and when; zero: on again
	Events      []event.Event
	Ops         []stock.Op
	Audit       []identity.AuditEntry // what the staff have done
	Taken       []cart.Cart           // carts that were ordered from
	Refused     []TxnKey              // keys that were entered for orders which were refused after all
}

// HoldEffect is a new hold in the state in which it begins.
type HoldEffect struct {
	Hold  stock.Hold
	State stock.State
}

// MoveEffect is a hold's step to another state.
type MoveEffect struct {
	ID       string
	Was, Now stock.State
	Reason   string
}

// placement remembers how a key of this very batch was answered.
type placement struct {
	digest string
	result Result
}

// NewBatch makes a batch into which nothing is loaded yet. Everything in it happens at one instant.
func NewBatch(now time.Time, newID func() string) *Batch {
	return &Batch{
		Now: now, NewID: newID, Book: stock.NewBalances(), Orders: map[string]*Order{},
		Attempts: map[string][]payment.Attempt{}, Owed: map[string][]payment.Refund{},
		Known: map[TxnKey]Known{}, Visits: map[string]bool{}, Versions: map[int64]bool{},
		Paused: map[int64]bool{},
		Carts:  map[int64]cart.Cart{}, Unpaid: map[string]int{}, Numbers: map[stock.Scope]int64{},
		Effects: Effects{
			Changed: map[string]*Order{}, Settled: map[string]payment.Attempt{}, Extended: map[string]time.Time{},
			Finished: map[string]payment.Refund{}, Marks: map[Line]time.Time{},
		},
		placed: map[TxnKey]placement{},
	}
}

// Decide gives one result for each command.
func (b *Batch) Decide(commands []Command) []Result {
	results := make([]Result, len(commands))
	for i, c := range commands {
		switch {
		case c.Place != nil:
			results[i] = b.place(c.Place)
		case c.Settle != nil:
			results[i] = b.settle(c.Settle)
		case c.Try != nil:
			results[i] = b.try(c.Try)
		case c.Redirect != nil:
			results[i] = b.redirect(c.Redirect)
		case c.Confirm != nil:
			results[i] = b.confirm(c.Confirm)
		case c.Refund != nil:
			results[i] = b.refund(c.Refund)
		case c.Finish != nil:
			results[i] = b.finish(c.Finish)
		case c.Step != nil:
			results[i] = b.step(c.Step)
		case c.Mark != nil:
			results[i] = b.mark(c.Mark)
		case c.Prolong != nil:
			results[i] = b.prolong(c.Prolong)
		case c.End != nil:
			results[i] = b.end(c.End)
		}
	}
	return results
}

// place answers a repetition as the first time (I11), and enters a new order if everything about it still holds.
func (b *Batch) place(p *Place) Result {
	key := p.Order.Key()
	if first, ok := b.placed[key]; ok {
		if first.digest != p.Digest {
			return Result{Err: ErrIdempotency}
		}
		first.result.Changed = false
		return first.result
	}
	if known, ok := b.Known[key]; ok {
		if known.Digest != p.Digest {
			return Result{Err: ErrIdempotency}
		}
		if o := b.Orders[known.OrderID]; o != nil {
			return Result{Order: *o}
		}
		return Result{Err: ErrRetry}
	}
	r := b.enter(p)
	if r.Err != nil {
		b.Refused = append(b.Refused, key)
	}
	b.placed[key] = placement{p.Digest, r}
	return r
}

func (b *Batch) enter(p *Place) Result {
	p = p.at(b.Now)
	o := p.Order
	switch {
	case o.Kind == DineIn && !b.Visits[o.VisitID]:
		return Result{Err: ErrVisitClosed}
	case b.Paused[o.Scope.Branch]:
		return Result{Err: catalog.ErrPaused}
	case !b.Versions[o.MenuVersionID]:
		return Result{Err: ErrVersionClosed}
	case over(b.Unpaid[o.payer()], p.Limits.UnpaidPerGuest),
		o.Kind == DineIn && over(b.Unpaid[o.VisitID], p.Limits.UnpaidPerVisit):
		return Result{Err: ErrUnpaid}
	case p.Cart != nil && !b.same(*p.Cart):
		return Result{Err: cart.ErrChanged}
	}
	switch outcome, short := b.Book.Reserve(p.Hold, stock.Held); outcome {
	case stock.Applied:
	case stock.Insufficient:
		return Result{Err: SoldOut(stock.DishShortages(short, p.Hold.Lines, p.Recipes))}
	default: // an id that is dead already, or an item that has left the menus between two looks
		return Result{Err: ErrRetry}
	}
	b.Numbers[o.Scope]++
	o.Number = b.Numbers[o.Scope]
	b.Unpaid[o.payer()]++
	b.Unpaid[o.VisitID]++
	if p.Cart != nil {
		b.Taken = append(b.Taken, b.Carts[p.Cart.UserID])
		delete(b.Carts, p.Cart.UserID)
	}

	b.Orders[o.ID] = &o
	b.Attempts[o.ID] = []payment.Attempt{p.Attempt}
	b.New = append(b.New, &o)
	b.NewHolds = append(b.NewHolds, HoldEffect{p.Hold, stock.Held})
	b.NewAttempts = append(b.NewAttempts, p.Attempt)
	b.tell(stock.OpHeld, p.Hold)
	b.publish(event.OrderPlaced.New(b.Now, o.ID, o.Version, o.Scope.Branch, event.Placed{
		OrderID: o.ID, BranchID: o.Scope.Branch, BizDate: o.Scope.Date, TotalAmount: o.Total, Currency: o.Currency,
		PayBy: o.PayBy,
	}))
	return Result{Order: o, Changed: true, Attempt: p.Attempt}
}

// at returns the order as one that was placed at an instant: its window begins when the ledger decides. Between the pricing
// and the decision the clock may have been set, and deadlines of the time before would be wrong by the step.
func (p *Place) at(now time.Time) *Place {
	if p.Priced.IsZero() {
		return p
	}
	late, q := now.Sub(p.Priced), *p
	for _, t := range []*time.Time{
		&q.Order.CreatedAt, &q.Order.UpdatedAt, &q.Order.PayBy, &q.Order.ExpiresAt, &q.Hold.Until, &q.Attempt.CreatedAt,
	} {
		*t = t.Add(late)
	}
	return &q
}

// same tells whether a cart is still as it was when the order was made from it.
func (b *Batch) same(c cart.Cart) bool {
	now, ok := b.Carts[c.UserID]
	return ok && now.Equal(c)
}

// payer is who must not leave too much unpaid.
func (o *Order) payer() string {
	if o.UserID != 0 {
		return MemberKey(o.UserID)
	}
	return o.GuestHash
}

const memberPrefix = "user:"

// MemberKey names a member among those who have unpaid orders, and begins the keys of a member's orders.
func MemberKey(user int64) string { return memberPrefix + formatID(user) }

func over(n, limit int) bool { return limit > 0 && n >= limit }

// end cancels or expires an unpaid order; whoever comes after another end is told how it is (I4).
func (b *Batch) end(e *End) Result {
	o := b.Orders[e.OrderID]
	switch {
	case o == nil:
		return Result{Err: ErrNotFound}
	case o.Status == Canceled:
		return Result{Order: *o}
	case o.PaymentStatus == Confirming && e.Reason != Expired:
		return Result{Order: *o, Err: ErrConfirming}
	case !o.PaymentStatus.payable() || o.Status != Placed:
		return Result{Order: *o, Err: ErrNotCancelable}
	case e.Reason == Expired && b.Now.Before(o.ExpiresAt): // I10
		return Result{Order: *o}
	}
	if b.Book.Release(o.HoldID) != stock.Applied {
		return Result{Order: *o, Err: ErrRetry}
	}
	b.move(o.HoldID, stock.Held, stock.Released, string(e.Reason))
	o.canceled(e.Reason, b.Now)
	b.change(o)
	b.publish(event.OrderCanceled.New(b.Now, o.ID, o.Version, o.Scope.Branch, event.Canceled{
		OrderID: o.ID, BranchID: o.Scope.Branch, BizDate: o.Scope.Date, TotalAmount: o.Total, Currency: o.Currency,
		Reason: string(e.Reason),
	}))
	if e.Reason == StaffCanceled {
		b.audit(e.By, identity.ActionOrderCanceled, o)
	}
	return Result{Order: *o, Changed: true}
}

// move records a hold's step and tells the gate about it.
func (b *Batch) move(id string, was, now stock.State, reason string) {
	b.Moves = append(b.Moves, MoveEffect{id, was, now, reason})
	h, _ := b.Book.Hold(id)
	kind := stock.OpConfirm
	if now == stock.Released {
		kind = stock.OpCancel
	}
	b.tell(kind, h)
}

// tell has the gate told about every part of a hold.
func (b *Batch) tell(kind stock.OpKind, h stock.Hold) {
	for _, part := range h.Parts() {
		b.Ops = append(b.Ops, stock.Op{Kind: kind, Hold: part})
	}
}

// audit records what the staff have done with an order.
func (b *Batch) audit(by identity.Actor, action string, o *Order) {
	b.Audit = append(b.Audit, by.AuditEntry(b.Now, action, "order", o.ID, o.Scope.Branch).WithAfter(map[string]any{
		"status": o.Status, "paymentStatus": o.PaymentStatus, "totalPrice": o.Total, "currency": o.Currency,
	}))
}

func (b *Batch) publish(e event.Event) { b.Events = append(b.Events, e) }

// change marks an order to be written; one that was placed in this batch is written anyway.
func (b *Batch) change(o *Order) { b.Changed[o.ID] = o }
