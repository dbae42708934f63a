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

// TxnKey is an idempotency key. It identifies one request to place an order: a guest's within a branch, a member's
// everywhere.
type TxnKey struct {
	Branch      int64
	User        int64 // 0 for a guest
	ClientTxnID string
}

// Known is the prior result of an idempotency key.
type Known struct {
	Digest  string
	OrderID string
}

// Batch decides commands in order of arrival against the state that the ledger has loaded and locked. It does no I/O.
// Each command sees the effects of the commands before it. The ledger writes all effects in the transaction that
// loaded the state. A Batch is not safe for concurrent use.
type Batch struct {
	Now   time.Time
	NewID func() string
	Book  *stock.Balances

	// State that the ledger has loaded.
	Orders   map[string]*Order // by id, locked; includes the orders placed in this batch
	Attempts map[string][]payment.Attempt
	Owed     map[string][]payment.Refund // refunds by order
	Known    map[TxnKey]Known            // keys used by earlier transactions
	Visits   map[string]bool             // open visits
	Versions map[int64]bool              // published menu versions
	Paused   map[int64]bool              // branches that take no orders now
	Unpaid   map[string]int              // number of open unpaid orders by visit, guest hash and member
	Carts    map[int64]cart.Cart         // of members who check out, by user id
	Numbers  map[stock.Scope]int64       // last order number

	Effects
	placed map[TxnKey]placement
}

// Effects are the writes that a batch has decided.
type Effects struct {
	New         []*Order
	Changed     map[string]*Order
	NewHolds    []HoldEffect
	Moves       []MoveEffect
	NewAttempts []payment.Attempt
	Settled     map[string]payment.Attempt
	Extended    map[string]time.Time // new deadlines by hold id
	Reports     []payment.Event
	Mismatches  []payment.AmountMismatch
	Refunds     []payment.Refund
	Finished    map[string]payment.Refund
	Steps       []StepTaken
	Marks       map[Line]time.Time // when a line was marked done; zero if the mark was removed
	Events      []event.Event
	Ops         []stock.Op
	Audit       []identity.AuditEntry // actions of the staff
	Taken       []cart.Cart           // carts that became orders
	Refused     []TxnKey              // inserted keys whose orders were refused; to be deleted
}

// HoldEffect is a new hold and its initial state.
type HoldEffect struct {
	Hold  stock.Hold
	State stock.State
}

// MoveEffect is a state transition of a hold.
type MoveEffect struct {
	ID       string
	Was, Now stock.State
	Reason   string
}

// placement is the result of an idempotency key first used in this batch.
type placement struct {
	digest string
	result Result
}

// NewBatch returns an empty batch. Everything in it happens at now.
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

// Decide returns one result per command, in the same order.
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

// place returns the prior result for a repeated key (I11). Otherwise it places the order if its preconditions still
// hold.
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
	default: // a released hold id, or an item that left the menu after pricing
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

// at returns p with its timestamps shifted as if the order had been priced at now. The payment window starts at the
// decision: if the clock was set between pricing and decision, the old deadlines would be wrong by that step.
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

// same reports whether a member's cart is unchanged since the order was made from it.
func (b *Batch) same(c cart.Cart) bool {
	now, ok := b.Carts[c.UserID]
	return ok && now.Equal(c)
}

// payer returns the key that the limit on unpaid orders counts by: the member, or else the guest's hash.
func (o *Order) payer() string {
	if o.UserID != 0 {
		return MemberKey(o.UserID)
	}
	return o.GuestHash
}

const memberPrefix = "user:"

// MemberKey returns the key that a member's unpaid orders are counted under. It also prefixes the ids of a member's
// requests.
func MemberKey(user int64) string { return memberPrefix + formatID(user) }

func over(n, limit int) bool { return limit > 0 && n >= limit }

// end cancels or expires an unpaid order. For an order that is already cancelled it returns the current state (I4).
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
	case e.Reason == Expired && b.Now.Before(o.ExpiresAt): // I10: not before the deadline
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

// move records a state transition of a hold and queues it for the admission cache.
func (b *Batch) move(id string, was, now stock.State, reason string) {
	b.Moves = append(b.Moves, MoveEffect{id, was, now, reason})
	h, _ := b.Book.Hold(id)
	kind := stock.OpConfirm
	if now == stock.Released {
		kind = stock.OpCancel
	}
	b.tell(kind, h)
}

// tell queues one admission cache operation for each part of a hold.
func (b *Batch) tell(kind stock.OpKind, h stock.Hold) {
	for _, part := range h.Parts() {
		b.Ops = append(b.Ops, stock.Op{Kind: kind, Hold: part})
	}
}

// audit records an action of the staff on an order.
func (b *Batch) audit(by identity.Actor, action string, o *Order) {
	b.Audit = append(b.Audit, by.AuditEntry(b.Now, action, "order", o.ID, o.Scope.Branch).WithAfter(map[string]any{
		"status": o.Status, "paymentStatus": o.PaymentStatus, "totalPrice": o.Total, "currency": o.Currency,
	}))
}

func (b *Batch) publish(e event.Event) { b.Events = append(b.Events, e) }

// change marks an order to be written. An order placed in this batch is written in any case.
func (b *Batch) change(o *Order) { b.Changed[o.ID] = o }
