package ordering

import (
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/cart"
	"comanda/internal/event"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

// Batch decides commands in order of arrival against the state that the ledger has loaded and locked. It does no I/O.
// Each command sees the effects of the commands before it. The ledger writes all effects in the transaction that
// loaded the state. A Batch is not safe for concurrent use. Time and ids come from outside, so that a test can replay a
// history exactly.
type Batch struct {
	Now      time.Time
	NewID    func() string
	Balances *stock.Balances

	// State that the ledger has loaded.
	Orders         map[string]*Order // by id, locked; includes the orders placed in this batch
	Attempts       map[string][]payment.Attempt
	RefundsByOrder map[string][]payment.Refund  // refunds by order
	StoredKeys     map[IdempotencyKey]StoredKey // keys used by earlier transactions
	Visits         map[string]bool              // open visits
	Versions       map[int64]bool               // published menu versions
	Paused         map[int64]bool               // branches that take no orders now
	Unpaid         map[string]int               // number of open unpaid orders by visit, guest hash and member
	Carts          map[int64]cart.Cart          // of members who check out, by user id
	Numbers        map[stock.Scope]int64        // last order number

	Effects
	placed map[IdempotencyKey]placement
}

// Effects are the writes that a batch has decided. Maps contain the final state by id, so an order that several
// commands change is written once, with its last version.
type Effects struct {
	New             []*Order
	Changed         map[string]*Order
	NewHolds        []stock.NewHold
	Transitions     []stock.Transition
	NewAttempts     []payment.Attempt
	ChangedAttempts map[string]payment.Attempt
	Deadlines       map[string]time.Time // new deadlines by hold id
	PaymentEvents   []payment.Event
	Mismatches      []payment.AmountMismatch
	NewRefunds      []payment.Refund
	ChangedRefunds  map[string]payment.Refund
	Steps           []StepTaken
	Marks           map[Line]time.Time // when a line was marked done; zero if the mark was removed
	Events          []event.Event
	Ops             []stock.Op
	Audit           []audit.Entry    // actions of the staff
	OrderedCarts    []cart.Cart      // carts that became orders
	RefusedKeys     []IdempotencyKey // inserted keys whose orders were refused; to be deleted
}

// NewBatch returns an empty batch. Everything in it happens at now.
func NewBatch(now time.Time, newID func() string) *Batch {
	return &Batch{
		Now: now, NewID: newID, Balances: stock.NewBalances(), Orders: map[string]*Order{},
		Attempts: map[string][]payment.Attempt{}, RefundsByOrder: map[string][]payment.Refund{},
		StoredKeys: map[IdempotencyKey]StoredKey{}, Visits: map[string]bool{}, Versions: map[int64]bool{},
		Paused: map[int64]bool{},
		Carts:  map[int64]cart.Cart{}, Unpaid: map[string]int{}, Numbers: map[stock.Scope]int64{},
		Effects: Effects{
			Changed: map[string]*Order{}, ChangedAttempts: map[string]payment.Attempt{}, Deadlines: map[string]time.Time{},
			ChangedRefunds: map[string]payment.Refund{}, Marks: map[Line]time.Time{},
		},
		placed: map[IdempotencyKey]placement{},
	}
}

// Decide returns one result per command, in the same order. A refused command has no effects, so the others are not
// affected.
func (b *Batch) Decide(commands []Command) []Result {
	results := make([]Result, len(commands))
	for i, c := range commands {
		results[i] = c.decide(b)
	}
	return results
}

// transition records a state transition of a hold and queues it for the admission cache. SQL changes the row only if it
// is still in state was; otherwise the whole batch fails (I4).
func (b *Batch) transition(id string, was, now stock.State, reason string) {
	b.Transitions = append(b.Transitions, stock.Transition{ID: id, From: was, To: now, Reason: reason})
	h, _ := b.Balances.Hold(id)
	kind := stock.OpConfirm
	if now == stock.Released {
		kind = stock.OpCancel
	}
	b.queueOps(kind, h)
}

// queueOps queues one admission cache operation for each part of a hold. Quotas and stock are parts of their own, under
// keys of different scopes.
func (b *Batch) queueOps(kind stock.OpKind, h stock.Hold) {
	for _, part := range h.Parts() {
		b.Ops = append(b.Ops, stock.Op{Kind: kind, Hold: part})
	}
}

// recordAudit records an action of the staff on an order. The entry commits with the action, and shows the order after
// it.
func (b *Batch) recordAudit(by authz.Actor, action string, o *Order) {
	b.Audit = append(b.Audit, audit.NewEntry(by, b.Now, action, "order", o.ID, o.Scope.Branch).WithAfter(map[string]any{
		"number": ShortNumber(o.Number), "status": o.Status, "paymentStatus": o.PaymentStatus, "totalPrice": o.Total,
		"currency": o.Currency,
	}))
}

// publish adds an event to the transaction, so that it exists exactly if its fact does (I7).
func (b *Batch) publish(e event.Event) { b.Events = append(b.Events, e) }

// changed marks an order to be written. An order placed in this batch is written in any case.
func (b *Batch) changed(o *Order) { b.Changed[o.ID] = o }
