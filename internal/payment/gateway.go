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
	// Refund gives money back, and tells DONE or REFUSED with the gateway's own code. After an error it is sent again, a
	// minute later at the earliest, and is not paid twice. Refunds of one attempt are sent one after the other.
	Refund(ctx context.Context, r Repayment) (to RefundState, code string, err error)
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
	Earlier int64     // what this gateway gave back of the attempt before; not what was given by hand
}

// ErrGateway says that a gateway could not be asked, or did not understand. Nothing has happened, except that of a refund
// it is not known.
var ErrGateway = &fault.Error{
	Kind: fault.Unavailable, Code: "gateway_unavailable", RetryAfter: 5 * time.Second,
	Detail: "The payment service cannot be reached; try again or pay at the counter.",
}

// ErrUnsuitable refuses what a gateway does not do: an amount outside its limits, a currency that it does not take.
var ErrUnsuitable = fault.New(fault.Invalid, "payment_method_unsuitable", "This order cannot be paid in this way.")
