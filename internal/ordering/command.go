package ordering

import (
	"context"
	"errors"
	"time"

	"comanda/internal/cart"
	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

// Command is one thing to be decided by the ledger: exactly one of its fields is set.
type Command struct {
	Place    *Place
	Settle   *Settle
	Try      *TryToPay
	Redirect *Redirect
	Confirm  *Confirm
	Prolong  *Prolong
	End      *End
	Refund   *Refund
	Finish   *FinishRefund
	Step     *Step
	Mark     *MarkItem
}

// Place makes an order. Everything in the order is decided already except its number and whether it fits.
type Place struct {
	Order   Order
	Priced  time.Time // by the clock that gave the order's deadlines; zero: they stand as they are
	Hold    stock.Hold
	Recipes map[int64][]stock.Line // by which the hold takes of the stock
	Attempt payment.Attempt
	Cart    *cart.Cart // as it was when the order was made from it; nil for guests
	Digest  string     // of the request, by which a repetition is told from another request under the same key
	Limits  Limits
}

// Limits bound what one party can leave unpaid; zero means no limit.
type Limits struct {
	UnpaidPerGuest int
	UnpaidPerVisit int
}

// Settle is a gateway's or the staff's word about a payment.
type Settle struct {
	OrderID   string
	AttemptID string         // the attempt it is about; empty: the newest open one with Method, or a new one
	NewID     string         // the id of the attempt in case a new one is made
	Method    payment.Method // with an empty AttemptID
	State     payment.State  // what the gateway reports
	Amount    int64          // captured; 0 means the attempt's own amount, for a gateway that does not say
	Currency  money.Currency // of Amount; empty where the gateway knows one only
	Ref       string
	Source    string // CALLBACK, CHECK or STAFF
	Late      *Late  // the staff take money for an order that has expired; nil: they do not
	Raw       string
	Headers   string         // of the request that brought it
	By        identity.Actor // of a report from the staff
	Today     string         // the branch's business date now: late money cannot take units of a day that is over
}

// Late is what the ledger needs to make an order again that has expired.
type Late struct {
	Recipes map[int64][]stock.Line // by which dishes that are short are named
}

// TryToPay starts another attempt.
type TryToPay struct {
	OrderID string
	Attempt payment.Attempt // without amount and currency, which are the order's
	Window  time.Duration   // from the order's placing, which its deadline moves to; an earlier one moves nothing
}

// Redirect notes the page of an attempt to which the guest is sent.
type Redirect struct {
	OrderID   string
	AttemptID string
	Page      payment.Page
}

// Confirm asks for the right to tell the gateway of an attempt to take the money. One who asks gets it, as Changed.
type Confirm struct {
	OrderID   string
	AttemptID string
	Was       payment.State // in which the attempt was found; in another state somebody else is confirming it, or has
}

// Refund gives money of a paid order back, or notes that it has gone back.
type Refund struct {
	OrderID   string
	NewID     string
	Amount    int64  // 0 means all that is left
	ByHand    bool   // it was given back in the gateway's portal already: nothing is sent
	Reference string // what the portal calls it, with ByHand only
	Note      string
	By        identity.Actor

	ClientTxnID string // chosen by who asks, once for an order; the same refund under it is made once. Empty for none
}

// FinishRefund notes what has become of a refund, or that the staff wants it done.
type FinishRefund struct {
	OrderID  string
	RefundID string
	State    payment.RefundState // SENDING has it sent, the others are what came of it
	Ref      string
	Code     string
	Note     string         // of the staff
	By       identity.Actor // the zero Actor for a gateway
}

// End ends an unpaid order and gives its units back.
type End struct {
	OrderID string
	Reason  CancelReason
	By      identity.Actor // with StaffCanceled
}

// OrderID names the existing order that a command is about; empty for a new one.
func (c Command) OrderID() string {
	switch {
	case c.Settle != nil:
		return c.Settle.OrderID
	case c.Try != nil:
		return c.Try.OrderID
	case c.Redirect != nil:
		return c.Redirect.OrderID
	case c.Confirm != nil:
		return c.Confirm.OrderID
	case c.Prolong != nil:
		return c.Prolong.OrderID
	case c.Refund != nil:
		return c.Refund.OrderID
	case c.Finish != nil:
		return c.Finish.OrderID
	case c.Step != nil:
		return c.Step.OrderID
	case c.Mark != nil:
		return c.Mark.OrderID
	case c.End != nil:
		return c.End.OrderID
	}
	return ""
}

// AboutStock tells whether a command may move what an order holds. What the kitchen does never does.
func (c Command) AboutStock() bool { return c.Step == nil && c.Mark == nil }

// Result is what became of a command. Err is a refusal that the batch decided: it changed nothing, and the rest of the
// batch is not concerned.
type Result struct {
	Order   Order
	Changed bool            // false: it had been so before
	Attempt payment.Attempt // with commands about attempts
	Refund  payment.Refund  // with commands about refunds
	Err     error
}

// Ledger runs commands, each durable before its result is given.
type Ledger interface {
	Do(ctx context.Context, c Command) (Result, error)
	DoAll(ctx context.Context, cs []Command) ([]Result, []error)
	// Earlier gives the order that a key has made, with the digest of its request.
	Earlier(ctx context.Context, k TxnKey) (Earlier, error)
}

// Earlier is what an earlier request under a key has made.
type Earlier struct {
	Order  Order
	Digest string
	Found  bool
}

// The faults that the ledger and the use cases answer with.
var (
	ErrSoldOut       = fault.New(fault.SoldOut, "sold_out", "Some of it is sold out.")
	ErrIdempotency   = fault.New(fault.Invalid, "idempotency_mismatch", "This clientTxnId was used for another order.")
	ErrVersionClosed = fault.New(fault.Conflict, "menu_version_closed", "The menu has changed; load it again.")
	ErrVisitClosed   = fault.New(fault.Gone, "visit_closed", "This visit has ended; scan the table's code again.")
	ErrUnpaid        = fault.New(fault.TooMany, "too_many_unpaid", "Pay or cancel an open order first.")
	ErrNotFound      = fault.New(fault.NotFound, "order_not_found", "There is no such order.")
	ErrNotCancelable = fault.New(fault.Conflict, "not_cancelable", "The order can no longer be cancelled.")
	ErrNotPayable    = fault.New(fault.Conflict, "not_payable", "The order can no longer be paid.")
	ErrDayOver       = fault.New(fault.Conflict, "day_over", "The order is of an earlier business day. Please place a new one.")
	ErrAlreadyPaid   = fault.New(fault.Conflict, "already_paid", "The order is paid already.")
	ErrTooLate       = fault.New(fault.Conflict, "too_late", "There is not enough time left to pay in this way; order again.")
	ErrConfirming    = fault.New(fault.Conflict, "payment_in_progress", "A payment is being completed at this moment.")
	ErrRefundNoted   = fault.New(fault.Conflict, "refund_noted", "With this reference another amount was noted.")
	ErrRefundKey     = fault.New(fault.Invalid, "idempotency_mismatch", "This clientTxnId was used for another refund.")
	ErrRefundSending = fault.New(fault.Conflict, "refund_in_progress",
		"The gateway is being told of this refund. Look again when it has answered.")
	ErrNotRefundable = fault.New(fault.Conflict, "not_refundable", "There is not so much of this order's money to give back.")
)

// ErrRetry says that nothing is known to have happened; the same request tells what did.
var ErrRetry = &fault.Error{
	Kind: fault.Unavailable, Code: "try_again", Detail: "That could not be done just now; send it again.",
	RetryAfter: time.Second,
}

// SoldOut is ErrSoldOut with the lines that do not fit.
func SoldOut(short []stock.Shortage) error {
	lines := make([]ShortLine, len(short))
	for i, s := range short {
		lines[i] = ShortLine{s.Item, s.Requested, s.Available}
	}
	return ErrSoldOut.With("lines", lines)
}

// ShortLine is a line of an order that does not fit, as the caller sees it.
type ShortLine struct {
	ItemID    int64 `json:"itemId,string"`
	Requested int64 `json:"requested"`
	Available int64 `json:"available"`
}

// ShortLines gives the lines that a refusal names; nil for any other error.
func ShortLines(err error) []ShortLine {
	var f *fault.Error
	if !errors.As(err, &f) {
		return nil
	}
	lines, _ := f.Extra["lines"].([]ShortLine)
	return lines
}
