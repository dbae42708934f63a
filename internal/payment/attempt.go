package payment

import (
	"time"

	"comanda/internal/fault"
	"comanda/internal/money"
)

// Method is a way to pay.
type Method string

// The methods.
const (
	Counter Method = "COUNTER" // money taken by staff
	Sandbox Method = "SANDBOX" // a gateway that believes the guest; only where it is enabled
)

// State is where an attempt is. Only PAID is final: a gateway may report a failure first and a success later.
type State string

// The states of an attempt.
const (
	Created  State = "CREATED"
	Paid     State = "PAID"
	Failed   State = "FAILED"
	Canceled State = "CANCELED"
)

// MaxAttempts is how many attempts one order may have.
const MaxAttempts = 20

// Faults of this room.
var (
	ErrMethod   = fault.New(fault.Invalid, "payment_method_unavailable", "This way to pay is not offered here.")
	ErrAmount   = fault.New(fault.Invalid, "amount_mismatch", "The amount is not what the order costs.")
	ErrAttempts = fault.New(fault.TooMany, "too_many_attempts", "This order was tried to be paid too often; ask the staff.")
)

// Attempt is one try to pay one order.
type Attempt struct {
	ID         string
	OrderID    string
	Method     Method
	Amount     int64
	Currency   money.Currency
	State      State
	GatewayRef string // what the gateway or the staff calls it; empty until known
	CreatedAt  time.Time
	SettledAt  time.Time // zero until the state was PAID, FAILED or CANCELED
}

// Settle moves the attempt to a state that a gateway reports. It tells whether anything changed: a success always wins,
// nothing undoes one, and repeating a report changes nothing.
func (a *Attempt) Settle(to State, ref string, now time.Time) bool {
	if a.State == Paid || a.State == to {
		return false
	}
	a.State, a.SettledAt = to, now
	if ref != "" {
		a.GatewayRef = ref
	}
	return true
}

// Event is a report about an attempt as it came, with what was made of it. Events are only ever added.
type Event struct {
	ID         string
	AttemptID  string
	OrderID    string
	Method     Method
	Source     string // CALLBACK or STAFF
	Raw        string
	Verdict    string
	ReceivedAt time.Time
}

// Refund is money that must be given back, because it was captured and no order could be made of it.
type Refund struct {
	ID        string
	OrderID   string
	AttemptID string
	Amount    int64
	Currency  money.Currency
	Reason    RefundReason
	CreatedAt time.Time
}

// RefundReason says why money must be given back.
type RefundReason string

// The reasons.
const (
	LateSoldOut RefundReason = "LATE_SOLD_OUT" // the order had ended and its units are gone
	LateClosed  RefundReason = "LATE_CLOSED"   // the order had ended and so has its business day
	PaidTwice   RefundReason = "PAID_TWICE"    // another attempt had paid the order already
	StillDue    RefundReason = "ORDER_REFUSED" // an earlier capture for this ended order is due already
)

// Methods are the ways to pay that this installation offers.
type Methods struct{ sandbox bool }

// NewMethods offers the counter, and the sandbox where it is enabled.
func NewMethods(sandbox bool) Methods { return Methods{sandbox} }

// Check gives a fault for a method that is not offered.
func (m Methods) Check(method Method) error {
	if method == Counter || method == Sandbox && m.sandbox {
		return nil
	}
	return ErrMethod
}

// Sandbox tells whether the sandbox gateway is enabled.
func (m Methods) Sandbox() bool { return m.sandbox }
