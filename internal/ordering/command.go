package ordering

import (
	"context"
	"errors"
	"time"

	"comanda/internal/fault"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

// Command is one request to the ledger: a pointer to Place, Settle, AddAttempt, Redirect, Confirm, ExtendDeadline, End,
// Refund, RecordRefundResult, Step or MarkItem. Each stands beside the rule that decides it. The set is closed, because
// decide is unexported: the rules about an order stay in this package.
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
	Order   Order
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
	// PriorResult returns the prior result of an idempotency key. It reads committed orders only and does not wait for
	// requests that are running.
	PriorResult(ctx context.Context, k IdempotencyKey) (PriorResult, error)
}

// Errors of the ledger and the use cases. Their codes are part of the API.
var (
	ErrSoldOut       = fault.New(fault.SoldOut, "sold_out", "Some of these dishes have sold out.")
	ErrIdempotency   = fault.New(fault.Invalid, "idempotency_mismatch", "This clientTxnId was used for another order.")
	ErrVersionClosed = fault.New(fault.Conflict, "menu_version_closed", "The menu has changed. Load it again.")
	ErrVisitClosed   = fault.New(fault.Gone, "visit_closed", "This visit has ended. Scan the code on the table again.")
	ErrUnpaid        = fault.New(fault.TooMany, "too_many_unpaid", "Pay for or cancel an open order first.")
	ErrNotFound      = fault.New(fault.NotFound, "order_not_found", "There is no such order.")
	ErrNotCancelable = fault.New(fault.Conflict, "not_cancelable", "The order can no longer be cancelled.")
	ErrNotPayable    = fault.New(fault.Conflict, "not_payable", "The order can no longer be paid.")
	ErrDayOver       = fault.New(fault.Conflict, "day_over", "This order is from an earlier business day. Please place a new one.")
	ErrAlreadyPaid   = fault.New(fault.Conflict, "already_paid", "This order has already been paid.")
	ErrTooLate       = fault.New(fault.Conflict, "too_late", "There is not enough time left to pay this way. Please order again.")
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
	Kind: fault.Unavailable, Code: "try_again", Detail: "That could not be done just now; send it again.",
	RetryAfter: time.Second,
}

// SoldOut returns ErrSoldOut with the lines that exceed the available units. Available is a snapshot: it may be lower
// when the guest orders again.
func SoldOut(short []stock.Shortage) error {
	lines := make([]ShortLine, len(short))
	for i, s := range short {
		lines[i] = ShortLine{s.Item, s.Requested, s.Available}
	}
	return ErrSoldOut.With("lines", lines)
}

// ShortLine is an order line that exceeds the available units, as clients receive it.
type ShortLine struct {
	ItemID    int64 `json:"itemId,string"`
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
