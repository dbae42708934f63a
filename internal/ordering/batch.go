package ordering

import (
	"context"
	"errors"
	"slices"
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/cart"
	"comanda/internal/event"
	"comanda/internal/fault"
	"comanda/internal/payment"
	"comanda/internal/seq"
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
	Orders         map[string]*Order // by id, locked, with Items only where a command needs them; with the placed ones
	Attempts       map[string][]payment.Attempt
	RefundsByOrder map[string][]payment.Refund  // refunds by order
	Prior          map[IdempotencyKey]*Order    // orders that earlier transactions have placed under these keys
	Visits         map[string]bool              // open visits
	Versions       map[int64]bool               // published menu versions
	Paused         map[int64]bool               // branches that take no orders now
	Unpaid         map[string]int               // number of open unpaid orders by visit, guest hash and member
	Carts          map[int64]cart.Cart          // carts of members who check out, by user id
	SharedCarts    map[string]*cart.SharedDraft // carts of visits from which orders take lines, by visit id
	Numbers        map[stock.Scope]int64        // last order number
	OffOptions     map[OptionAt]bool            // options of new and of revived orders that are off
	VoucherOrders  map[VoucherUser][]string     // orders with a voucher that each member may use once; see voucherTaken

	Effects
	placed  map[IdempotencyKey]placement
	results []Result // of the commands decided so far
}

// Effects are the writes that a batch has decided. Maps contain the final state by id, so an order that several
// commands change is written once, with its last version.
type Effects struct {
	New             []*Order
	Changed         map[string]*Order
	Repriced        map[string]*Order // part of Changed: orders whose total changed
	NewHolds        []stock.NewHold
	Transitions     []stock.Transition
	ChangedAttempts map[string]payment.Attempt // new ones too
	Deadlines       map[string]time.Time       // new deadlines by hold id
	PaymentEvents   []payment.Event
	Mismatches      []payment.AmountMismatch
	NewRefunds      []payment.Refund
	ChangedRefunds  map[string]payment.Refund
	Steps           []StepTaken
	Marks           map[Line]time.Time // when a line was marked done; zero if the mark was removed
	Events          []event.Event
	Ops             []stock.Op
	Audit           []audit.Entry // actions of the staff
	OrderedCarts    []cart.Cart   // carts that became orders
}

// NewBatch returns an empty batch. Everything in it happens at now.
func NewBatch(now time.Time, newID func() string) *Batch {
	return &Batch{
		Now: now, NewID: newID, Balances: stock.NewBalances(), Orders: map[string]*Order{},
		Attempts: map[string][]payment.Attempt{}, RefundsByOrder: map[string][]payment.Refund{},
		Prior: map[IdempotencyKey]*Order{}, Visits: map[string]bool{}, Versions: map[int64]bool{},
		Paused: map[int64]bool{},
		Carts:  map[int64]cart.Cart{}, SharedCarts: map[string]*cart.SharedDraft{}, Unpaid: map[string]int{},
		Numbers: map[stock.Scope]int64{}, OffOptions: map[OptionAt]bool{}, VoucherOrders: map[VoucherUser][]string{},
		Effects: Effects{
			Changed: map[string]*Order{}, Repriced: map[string]*Order{},
			ChangedAttempts: map[string]payment.Attempt{}, Deadlines: map[string]time.Time{},
			ChangedRefunds: map[string]payment.Refund{}, Marks: map[Line]time.Time{},
		},
		placed: map[IdempotencyKey]placement{},
	}
}

// Decide returns one result per command, in the same order. A refused command has no effects, so the others are not
// affected.
func (b *Batch) Decide(commands []Command) []Result {
	before := len(b.results)
	b.results = slices.Grow(b.results, len(commands))
	for _, c := range commands {
		b.results = append(b.results, c.decide(b))
	}
	return b.results[before:]
}

// transition records a state transition of a hold and queues it for the admission cache. SQL changes the row only if it
// is still in state from; otherwise the whole batch fails (I4).
func (b *Batch) transition(id string, from, to stock.State, reason string) {
	b.Transitions = append(b.Transitions, stock.Transition{ID: id, From: from, To: to, Reason: reason})
	h, _ := b.Balances.Hold(id)
	kind := stock.OpConfirm
	if to == stock.Released {
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

// Command is one request to the ledger: a pointer to Place, Settle, AddAttempt, Redirect, Confirm, ExtendDeadline, End,
// SetDiscount, Refund, RecordRefundResult, Step or MarkItem. Each stands beside the rule that decides it. The set is
// closed, because decide is unexported: the rules about an order stay in this package.
type Command interface {
	// Target returns the id of the existing order that the command is about, or "" for a new one. The ledger locks it.
	Target() string
	// decide applies the command to the batch's state and adds its effects. It must not change the command: a batch that
	// fails is split, and its commands run again in new batches.
	decide(b *Batch) Result
}

// Result is the result of a command. A non-nil Err is a refusal by the batch: that command changed nothing, and the
// other commands of the batch are not affected.
type Result struct {
	Order   Order           // with Items only if the command placed it or marked a line
	Changed bool            // false: the order was in that state already
	Attempt payment.Attempt // with commands about attempts
	Refund  payment.Refund  // with commands about refunds
	Err     error
}

// Executor runs commands. A result is returned only after its commit. It is safe for concurrent use.
type Executor interface {
	// Do runs one command. If ctx ends first, the command may still commit: its outcome is unknown.
	Do(ctx context.Context, c Command) (Result, error)
	// DoAll runs commands and returns one result and one error for each. They may share a transaction or not; the failure
	// of one does not undo another.
	DoAll(ctx context.Context, cs []Command) ([]Result, []error)
	// PriorResult returns the order that was placed under an idempotency key, without its items, or nil. It reads
	// committed orders only and does not wait for requests that are running.
	PriorResult(ctx context.Context, k IdempotencyKey) (*Order, error)
}

// Errors of the ledger and the use cases. Their codes are part of the API.
var (
	ErrSoldOut       = fault.New(fault.SoldOut, "sold_out", "Some of these dishes have sold out.")
	ErrIdempotency   = fault.New(fault.Invalid, "idempotency_mismatch", "This clientTxnId was used for another order.")
	ErrVersionClosed = fault.New(fault.Conflict, "menu_version_closed", "The menu has changed. Reload it.")
	ErrVisitClosed   = fault.New(fault.Gone, "visit_closed", "This visit has ended. Please scan the code on the table again.")
	ErrUnpaid        = fault.New(fault.TooMany, "too_many_unpaid", "Pay for or cancel an open order first.")
	ErrNotFound      = fault.New(fault.NotFound, "order_not_found", "Order not found.")
	ErrNotCancelable = fault.New(fault.Conflict, "not_cancelable", "The order can no longer be cancelled.")
	ErrNotPayable    = fault.New(fault.Conflict, "not_payable", "The order can no longer be paid.")
	ErrDayOver       = fault.New(fault.Conflict, "day_over",
		"This order is from an earlier business day. Please place a new one.")
	ErrAlreadyPaid = fault.New(fault.Conflict, "already_paid", "This order has already been paid.")
	ErrTooLate     = fault.New(fault.Conflict, "too_late",
		"There is not enough time left to pay this way. Please order again.")
	ErrConfirming    = fault.New(fault.Conflict, "payment_in_progress", "A payment is in progress. Wait for its result.")
	ErrRefundNoted   = fault.New(fault.Conflict, "refund_noted", "A different amount is already recorded for this reference.")
	ErrRefundKey     = fault.New(fault.Invalid, "idempotency_mismatch", "This clientTxnId was used for another refund.")
	ErrRefundSending = fault.New(fault.Conflict, "refund_in_progress",
		"The provider is still processing this refund. Try again in a minute.")
	ErrNotRefundable = fault.New(fault.Conflict, "not_refundable", "You cannot refund more than was paid.")
)

// ErrRetry reports that the outcome is unknown. Repeating the request with the same idempotency key returns the
// actual result. It has kind Unavailable, which callers test for: a provisional hold must then stay, because the order
// may exist.
var ErrRetry = &fault.Error{
	Kind: fault.Unavailable, Code: "try_again", Detail: "Temporarily unavailable. Please send the request again.",
	RetryAfter: time.Second,
}

// SoldOut returns ErrSoldOut with the lines that exceed the available units. Available is a snapshot: it may be lower
// when the guest orders again.
func SoldOut(short []stock.Shortage) error {
	return ErrSoldOut.With("lines", seq.Map(short, func(s stock.Shortage) ShortLine {
		return ShortLine{ItemID: s.Item, Requested: s.Requested, Available: s.Available}
	}))
}

// ShortLine is an order line that exceeds the available units, as clients receive it.
type ShortLine struct {
	ItemID    int64 `json:"itemId,string"`
	OptionID  int64 `json:"optionId,string,omitempty"` // the option of the line that exceeds them; 0: the item itself
	Requested int64 `json:"requested"`
	Available int64 `json:"available"`
}

// ShortLines returns the lines of a SoldOut error, or nil for any other error.
func ShortLines(err error) []ShortLine {
	var f *fault.Error
	if !errors.As(err, &f) {
		return nil
	}
	lines, _ := f.Extra["lines"].([]ShortLine)
	return lines
}
