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
	VNPay   Method = "VNPAY"
	LINEPay Method = "LINEPAY"
)

// State is where an attempt is. Only PAID is final: a gateway may report a failure first and a success later.
type State string

// The states of an attempt.
const (
	Created    State = "CREATED"
	Redirected State = "REDIRECTED" // the guest was sent to the gateway's page
	Approved   State = "APPROVED"   // the guest has agreed and no money has moved; only ever reported, never kept
	Confirming State = "CONFIRMING" // the gateway is being told to take the money
	Unknown    State = "UNKNOWN"    // it was told, and nobody knows what came of it
	Review     State = "REVIEW"     // the gateway wants somebody to look: money may have moved
	Paid       State = "PAID"
	Failed     State = "FAILED"
	Canceled   State = "CANCELED"
)

// MaxAttempts is how many attempts one order may have.
const MaxAttempts = 20

// Faults of this room.
var (
	ErrMethod   = fault.New(fault.Invalid, "payment_method_unavailable", "This way to pay is not offered here.")
	ErrAmount   = fault.New(fault.Invalid, "amount_mismatch", "The amount is not what the order costs.")
	ErrAttempts = fault.New(fault.TooMany, "too_many_attempts", "This order was tried to be paid too often; ask the staff.")
	ErrAttempt  = fault.New(fault.NotFound, "payment_not_found", "There is no such payment.")
	ErrRefund   = fault.New(fault.NotFound, "refund_not_found", "There is no such refund.")
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
	URL        string // the gateway's page, once there is one
	CreatedAt  time.Time
	SettledAt  time.Time // zero until the state was PAID, FAILED or CANCELED
	CheckAt    time.Time // when the gateway is to be asked; zero: not any more
	Checks     int       // how often it was asked
}

// Open tells whether money may be on its way that nobody has heard of.
func (a *Attempt) Open() bool {
	return a.State == Redirected || a.State == Confirming || a.State == Unknown
}

// Redirect notes the page to which the guest is sent, and what the gateway calls the payment.
func (a *Attempt) Redirect(p Page, now time.Time) bool {
	if a.State != Created {
		return false
	}
	a.URL, a.GatewayRef = p.URL, p.Ref
	a.enter(Redirected, now)
	return true
}

// Confirm notes that the gateway is about to be told to take the money. It reports whether the caller may tell it: only
// one may of all who have found the attempt in the same state.
func (a *Attempt) Confirm(was State, now time.Time) bool {
	if a.State != was || was != Redirected && was != Unknown && was != Confirming {
		return false
	}
	a.enter(Confirming, now)
	return true
}

// Settle moves the attempt to a state that a gateway reports. It tells whether anything changed: a success always wins,
// nothing undoes one, and repeating a report changes nothing. That nothing is decided yet undoes only our own doubt.
func (a *Attempt) Settle(to State, ref string, now time.Time) bool {
	switch {
	case a.State == Paid || a.State == to:
		return false
	case to == Unknown && a.State != Confirming:
		return false
	case to == Redirected && a.State != Confirming && a.State != Unknown:
		return false
	case to == Approved:
		return false
	}
	if ref != "" {
		a.GatewayRef = ref
	}
	a.enter(to, now)
	return true
}

func (a *Attempt) enter(to State, now time.Time) {
	a.State, a.CheckAt, a.SettledAt = to, a.Method.firstCheck(to, now), time.Time{}
	if to == Paid || to == Failed || to == Canceled {
		a.SettledAt = now
	}
}

// Event is a report about an attempt as it came, with what was made of it. Events are only ever added.
type Event struct {
	ID         string
	AttemptID  string
	OrderID    string
	Method     Method
	Source     string // CALLBACK or STAFF
	Raw        string
	Headers    string // of the request that brought it, one to a line; empty where none has
	Verdict    string
	ReceivedAt time.Time
}

// RefundState is where a refund is.
type RefundState string

// The states of a refund.
const (
	RefundDue     RefundState = "DUE"     // nobody has decided how
	RefundSending RefundState = "SENDING" // the gateway is to be told
	RefundDone    RefundState = "DONE"    // the money is back, or the gateway has taken it over
	RefundRefused RefundState = "REFUSED" // the gateway will not; somebody must do it by hand
	RefundUnknown RefundState = "UNKNOWN" // the gateway was told, and nobody knows what came of it; somebody must look there
)

// Refund is money that goes back: because it was captured and no order could be made of it, or because the staff decided
// so. It may be a part of what was captured.
type Refund struct {
	ID         string
	OrderID    string
	AttemptID  string
	Method     Method
	Amount     int64
	Currency   money.Currency
	State      RefundState
	Reason     RefundReason
	Note       string // what the staff wrote
	By         string // who decided it, as the audit log names them; empty while nobody has
	GatewayRef string
	PortalRef  string // what the gateway's portal calls it, where somebody has given it back there before it stood here
	Code       string // what the gateway answered last
	SendAt     time.Time
	Tries      int      // since it was last decided to send it
	Sent       bool     // it may have been sent
	Before     []string // what the gateway called its refunds of the attempt before this one was sent
	CreatedAt  time.Time
	DoneAt     time.Time // zero until DONE

	ClientTxnID string // under which the staff has asked for it; empty for none
}

// Decide has a refund sent to its gateway, or done at once where money is given back by hand.
func (r *Refund) Decide(by, note string, now time.Time) {
	r.By, r.Note = by, note
	if r.Method.Remote() {
		r.State, r.SendAt, r.Tries = RefundSending, now, 0
		return
	}
	r.Finish(RefundDone, "", "", now)
}

// ByHand notes that somebody has given the money back already, in the gateway's portal, which calls it ref.
func (r *Refund) ByHand(by, note, ref string, now time.Time) {
	r.By, r.Note, r.PortalRef = by, note, ref
	r.Finish(RefundDone, "", "", now)
}

// Finish notes what has become of a refund. It tells whether anything changed: what is done stays done.
func (r *Refund) Finish(to RefundState, ref, code string, now time.Time) bool {
	if r.State == RefundDone || r.State == to {
		return false
	}
	r.State, r.Code, r.SendAt = to, code, time.Time{}
	if ref != "" {
		r.GatewayRef = ref
	}
	if to == RefundDone {
		r.DoneAt = now
	}
	return true
}

// RefundReason says why money must be given back.
type RefundReason string

// The reasons.
const (
	LateCanceled    RefundReason = "LATE_CANCELED"     // a guest or the staff had cancelled the order
	LateClosed      RefundReason = "LATE_CLOSED"       // the order had expired, and its business day is over
	LateVisitClosed RefundReason = "LATE_VISIT_CLOSED" // the order had expired, and its visit is closed
	LatePaused      RefundReason = "LATE_PAUSED"       // the order had expired, and its branch takes no orders
	LateSoldOut     RefundReason = "LATE_SOLD_OUT"     // the order had expired, and its units are gone
	PaidTwice       RefundReason = "PAID_TWICE"        // another attempt had paid the order already
	StillDue        RefundReason = "ORDER_REFUSED"     // an earlier capture for this ended order is due already
	ByStaff         RefundReason = "STAFF"             // somebody decided it
)
