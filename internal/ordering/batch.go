package ordering

import (
	"time"

	"comanda/internal/cart"
	"comanda/internal/event"
	"comanda/internal/identity"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

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
