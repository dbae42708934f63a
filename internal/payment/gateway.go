package payment

import (
	"context"
	"time"

	"comanda/internal/fault"
	"comanda/internal/money"
)

// Gateway is a way to pay through somebody else's server. Money moves there, not here: what a gateway says is brought to
// an attempt as a Report. All calls are network calls or cheap; none is made inside a transaction.
type Gateway interface {
	// Start gives the page on which the guest pays. The attempt's id is the reference by which the gateway knows it.
	// It may be called again for the same attempt, and then gives a page for the same payment or ErrGateway.
	Start(ctx context.Context, p Purchase) (Page, error)
	// Check asks what has become of an attempt. It changes nothing.
	Check(ctx context.Context, a Attempt) (Report, error)
	// Confirm has the gateway take the money that the guest has approved, and tells what came of it: where that cannot be
	// known the report says UNKNOWN, never FAILED. Gateways that take the money by themselves do as with Check.
	Confirm(ctx context.Context, a Attempt) (Report, error)
	// Prepare looks before a refund is sent for the first time: it gives what the gateway calls the refunds of the attempt
	// that it has made, whoever asked for them, or an outcome for one that must not be sent. A gateway that knows our
	// requests again by their ids lists nothing. Nothing is sent yet.
	Prepare(ctx context.Context, r Repayment) (before []string, out Outcome, err error)
	// Refund gives money back, and tells what came of it. After an error it is sent again, a minute later at the earliest,
	// and is not paid twice: what cannot be told apart from another refund is UNKNOWN or REFUSED and not sent. Refunds of
	// one attempt are sent one after the other.
	Refund(ctx context.Context, r Repayment) (Outcome, error)
}

// Purchase is what a gateway needs to know of an attempt and its order.
type Purchase struct {
	Attempt  Attempt
	Number   string    // of the order, as people call it
	House    string    // name of the branch
	Ends     time.Time // the gateway must not take money afterwards, as far as it can be told so
	Address  string    // of the guest's device, an IP address
	Language string    // vi, en, zh-TW
	ReturnTo string    // base of our own addresses, without a slash at the end
}

// Page is where the guest pays.
type Page struct {
	URL string
	Ref string // what the gateway calls the payment, empty while it has not said
}

// Report is what a gateway says about an attempt.
type Report struct {
	State    State  // REDIRECTED while nothing is decided, APPROVED, PAID, FAILED, REVIEW, or UNKNOWN
	Ref      string // what the gateway calls the payment; empty when it does not say
	Amount   int64  // minor units that it speaks of; 0 when it does not say
	Currency money.Currency
	Code     string // its own code for what happened
	Raw      string // as it was received, without secrets
	Headers  string // of the request that brought it; empty where none has
}

// Repayment is a refund on its way to a gateway.
type Repayment struct {
	ID      string // of the refund; the same in every try
	Attempt Attempt
	Amount  int64
	Whole   bool   // all of the attempt's amount, in one piece
	By      string // who decided it, as the audit log names them
	Reason  string
	At      time.Time // when it was decided
	Sent    bool      // it may have been sent before, without our hearing what came of it
	Before  []string  // what Prepare listed before it was sent for the first time, which may be now
	Code    string    // of what came of it before; empty for a new one. Somebody has looked since then
	Others  []Refund  // the other refunds of the attempt
}

// Outcome is what became of a refund.
type Outcome struct {
	State RefundState // DONE; REFUSED, and nothing has gone back; or UNKNOWN: it may have, and somebody must look
	Ref   string      // what the gateway calls the refund, empty when it does not say
	Code  string      // its own code, or why it was not asked
}

// Unreachable is the code of a refund that was sent for days without an answer.
const Unreachable = "UNREACHABLE"

// ErrGateway says that a gateway could not be asked, or did not understand. Nothing has happened, except that of a refund
// it is not known.
var ErrGateway = &fault.Error{
	Kind: fault.Unavailable, Code: "gateway_unavailable", RetryAfter: 5 * time.Second,
	Detail: "The payment service cannot be reached; try again or pay at the counter.",
}

// ErrUnsuitable refuses what a gateway does not do: an amount outside its limits, a currency that it does not take.
var ErrUnsuitable = fault.New(fault.Invalid, "payment_method_unsuitable", "This order cannot be paid in this way.")
