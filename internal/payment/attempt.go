package payment

import (
	"time"

	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/seq"
)

// Method is a payment method. Its values are stored with orders and are part of the API, so a value never changes its
// spelling.
type Method string

// The payment methods.
const (
	Counter Method = "COUNTER" // the staff take the money
	Sandbox Method = "SANDBOX" // a test gateway that accepts every payment; only where it is enabled
	VNPay   Method = "VNPAY"
	LINEPay Method = "LINEPAY"
)

// State is the state of an attempt. Only PAID is final: a gateway may report a failure first and a success later, also
// for an attempt that was canceled.
type State string

// The states of an attempt.
const (
	Created    State = "CREATED"
	Redirected State = "REDIRECTED" // the guest was redirected to the gateway's page
	Approved   State = "APPROVED"   // the guest approved and no money has moved; only reported, never stored
	Confirming State = "CONFIRMING" // the capture request is under way
	Unknown    State = "UNKNOWN"    // the outcome of the capture request is unknown
	Review     State = "REVIEW"     // money may have moved; staff must check with the gateway
	Paid       State = "PAID"
	Failed     State = "FAILED"
	Canceled   State = "CANCELED"
)

// MaxAttempts is the maximum number of attempts per order, without those that a discount has replaced.
const MaxAttempts = 20

// The faults of this package.
var (
	ErrMethod   = fault.New(fault.Invalid, "payment_method_unavailable", "This payment method is not available here.")
	ErrAmount   = fault.New(fault.Invalid, "amount_mismatch", "The amount does not match the order.")
	ErrAttempts = fault.New(fault.TooMany, "too_many_attempts",
		"Too many payment attempts for this order. Please ask the staff.")
	ErrAttempt = fault.New(fault.NotFound, "payment_not_found", "Payment not found.")
	ErrRefund  = fault.New(fault.NotFound, "refund_not_found", "Refund not found.")
)

// Attempt is one try to pay one order. Its id, order, method, amount and currency never change: the guest may have
// opened a page that shows them. It is kept after its order has ended, because money may still arrive (decision 7).
// Its methods do no I/O; the ledger calls them while it holds the lock of the order.
type Attempt struct {
	ID         string
	OrderID    string
	Method     Method
	Amount     int64
	Currency   money.Currency
	State      State
	GatewayRef string // the gateway's or the staff's reference; empty until known
	URL        string // the gateway's page; empty until known
	CreatedAt  time.Time
	SettledAt  time.Time // zero until the state was PAID, FAILED or CANCELED
	CheckAt    time.Time // when to check with the gateway next; zero for never
	Checks     int       // number of checks
}

// Redirect stores the gateway's page and reference. It returns false if the attempt has a page already; that page
// stays, because the guest may have opened it.
func (a *Attempt) Redirect(p Page, now time.Time) bool {
	if a.State != Created {
		return false
	}
	a.URL, a.GatewayRef = p.URL, p.Ref
	a.setState(Redirected, now)
	return true
}

// StartConfirm moves the attempt to CONFIRMING before the capture request. It reports whether the caller may send the
// request: of concurrent callers that read the attempt in state was, only the first may. The comparison with was is a
// compare-and-set: a report that was stored since the caller read the attempt makes the claim fail. UNKNOWN and
// CONFIRMING may be claimed again, because a check has shown that the money has not moved yet.
func (a *Attempt) StartConfirm(from State, now time.Time) bool {
	if a.State != from || from != Redirected && from != Unknown && from != Confirming {
		return false
	}
	a.setState(Confirming, now)
	return true
}

// Settle applies a state that a gateway reports and reports whether the attempt changed. A success always wins and is
// never undone; a repeated report changes nothing. REDIRECTED and UNKNOWN only replace states in which the outcome is
// open.
func (a *Attempt) Settle(to State, ref string, now time.Time) bool {
	switch {
	case a.State == Paid || a.State == to:
		return false
	// UNKNOWN is the outcome of a capture request that was sent from here. If another report has settled the attempt
	// before UNKNOWN is recorded, that report is certain and stays.
	case to == Unknown && a.State != Confirming:
		return false
	// The attempt returns to REDIRECTED only after a capture that moved no money. A check that finds the page still
	// open must not undo FAILED or REVIEW.
	case to == Redirected && a.State != Confirming && a.State != Unknown:
		return false
	// An approval alone changes nothing: the capture that follows it is stored as CONFIRMING.
	case to == Approved:
		return false
	}
	if ref != "" {
		a.GatewayRef = ref
	}
	a.setState(to, now)
	return true
}

// GiveUp cancels an attempt that still waits for the guest after giveUpAfter, and reports whether the attempt changed. Its
// caller has just learnt from the gateway that there is no result, and knows that the order cannot be paid any more. A
// success that is reported later still counts (Settle). CONFIRMING, UNKNOWN and REVIEW are left to the staff: money may have
// moved.
func (a *Attempt) GiveUp(now time.Time) bool {
	if a.State != Redirected || now.Sub(a.CreatedAt) <= giveUpAfter {
		return false
	}
	a.setState(Canceled, now)
	return true
}

// stuckAfter is longer than a guest takes on LINE Pay's page and the capture after it.
const stuckAfter = time.Hour

// StuckSince returns the instant before which an attempt in CONFIRMING began if staff must decide it: the process ended
// during the capture, and the gateway cannot be asked.
func StuckSince(now time.Time) time.Time { return now.Add(-stuckAfter) }

// setState sets the state and schedules the first check in it. It clears SettledAt if the attempt is open again, as
// when REVIEW follows FAILED. An attempt that fails without a page is not checked: no guest has received a page, and
// Redirect stores none from now on.
func (a *Attempt) setState(to State, now time.Time) {
	withoutPage := a.State == Created && to == Failed
	a.State, a.CheckAt, a.SettledAt = to, a.Method.firstCheckAt(to, now), time.Time{}
	if withoutPage {
		a.CheckAt = time.Time{}
	}
	if to == Paid || to == Failed || to == Canceled {
		a.SettledAt = now
	}
}

// Event is a report about an attempt as it was received, and the verdict on it. Events are append-only. Forged and
// unknown messages are stored too and change nothing; their AttemptID and OrderID are empty.
type Event struct {
	ID         string
	AttemptID  string
	OrderID    string
	Method     Method
	Source     string // CALLBACK or STAFF
	Raw        string
	Headers    string // HTTP headers of the request, one per line; empty if there was none
	Verdict    string
	ReceivedAt time.Time
}

// RefundState is the state of a refund.
type RefundState string

// The states of a refund.
const (
	RefundDue     RefundState = "DUE"     // waits for a decision by staff
	RefundSending RefundState = "SENDING" // to be sent to the gateway
	RefundDone    RefundState = "DONE"    // the money is back, or the gateway has accepted the refund
	RefundRefused RefundState = "REFUSED" // the gateway refused; staff must refund by hand
	RefundUnknown RefundState = "UNKNOWN" // the outcome is unknown; staff must check with the gateway
)

// Refund is money to return: a capture that its order cannot use, or a decision by staff. It may be a part of a
// capture. Its amount never changes: the rest of a capture is another refund.
type Refund struct {
	ID           string
	OrderID      string
	AttemptID    string
	Method       Method
	Amount       int64
	Currency     money.Currency
	State        RefundState
	Reason       RefundReason
	Note         string // written by the staff
	By           string // authz.Actor.String() of who approved it; empty until then
	GatewayRef   string
	PortalRef    string // the gateway portal's reference, for a refund that staff made there first
	Code         string // the gateway's last code
	SendAt       time.Time
	Tries        int      // attempts since it was last approved
	Sent         bool     // a request may have reached the gateway
	PriorRefunds []string // ids of the attempt's refunds that the gateway listed before this one was sent
	CreatedAt    time.Time
	DoneAt       time.Time // zero until DONE

	ClientTxnID string // the idempotency key of the staff's request; empty for none
}

// Approve queues the refund for its gateway, or completes it at once if money of its method is returned by hand. Tries
// starts again at 0, so that a refund that staff send again gets all its retries. Sent and PriorRefunds stay: an
// earlier request may have reached the gateway, and the next one must search for it first.
func (r *Refund) Approve(by, note string, now time.Time) {
	r.By, r.Note = by, note
	if r.Method.Remote() {
		r.State, r.SendAt, r.Tries = RefundSending, now, 0
		return
	}
	r.SetResult(RefundDone, "", "", now)
}

// RecordManual completes a refund that staff made in the gateway's portal, with the portal's reference. It sends
// nothing. PortalRef later identifies the refund in the gateway's list, so that it is not reported as missing here
// (decision 24).
func (r *Refund) RecordManual(by, note, ref string, now time.Time) {
	r.By, r.Note, r.PortalRef = by, note, ref
	r.SetResult(RefundDone, "", "", now)
}

// SetResult applies the outcome of a refund and reports whether the refund changed. DONE is final. SetResult clears
// SendAt, so that no process claims the refund again; Approve sets it again.
func (r *Refund) SetResult(to RefundState, ref, code string, now time.Time) bool {
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

// RefundReason is the reason for a refund.
type RefundReason string

// The reasons for a refund. LATE_ reasons are for captures after the order had ended.
const (
	LateCanceled    RefundReason = "LATE_CANCELED"     // the order had been cancelled
	LateClosed      RefundReason = "LATE_CLOSED"       // the order had expired, and its branch is closed or its day over
	LateVisitClosed RefundReason = "LATE_VISIT_CLOSED" // the order had expired, and its visit is closed
	LatePaused      RefundReason = "LATE_PAUSED"       // the order had expired, and its branch is paused or retired
	LateSoldOut     RefundReason = "LATE_SOLD_OUT"     // the order had expired, and its units are gone
	LateVoucher     RefundReason = "LATE_VOUCHER"      // the order had expired, and its voucher has been used since
	PaidTwice       RefundReason = "PAID_TWICE"        // another attempt had paid the order already
	Repriced        RefundReason = "REPRICED"          // a discount had changed the order's total since
	PriorRefundDue  RefundReason = "ORDER_REFUSED"     // an earlier capture of this ended order is due for refund
	RefundedByStaff RefundReason = "STAFF"             // requested by staff
)

// AmountMismatch is a capture that a gateway reports with another amount or currency than the attempt has. It pays no
// order and is not refunded automatically: staff must resolve it. Repeated reports are one mismatch. It is identified
// by attempt, amount and currency: another amount for the same attempt is another mismatch.
type AmountMismatch struct {
	AttemptID  string
	OrderID    string
	Amount     int64          // as reported
	Currency   money.Currency // as reported
	ReportedAt time.Time      // first report
}

// Methods is the set of payment methods that this installation offers. It is not changed after NewMethods, so it needs
// no lock. A method that is no longer offered may still occur in stored attempts.
type Methods struct{ offered map[Method]bool }

// NewMethods returns the given methods and the counter, which is always offered.
func NewMethods(others ...Method) Methods { return Methods{seq.Set(append(others, Counter))} }

// Check returns ErrMethod for a method that is not offered.
func (m Methods) Check(method Method) error {
	if m.offered[method] {
		return nil
	}
	return ErrMethod
}

// Sandbox reports whether the sandbox gateway is enabled.
func (m Methods) Sandbox() bool { return m.offered[Sandbox] }

// Remote reports whether guests pay on an external gateway's page. Only these methods have pages to redirect to and
// refunds to send.
func (m Method) Remote() bool { return m == VNPay || m == LINEPay }

// VNPay accepts at least vnpayMin and less than vnpayLimit dong (its manual: "from 5,000 to below 1 billion").
const vnpayMin, vnpayLimit = 5_000, 1_000_000_000

// CheckAmount refuses an amount that a method does not support, before an order is placed that could not be paid.
func (m Method) CheckAmount(amount int64, c money.Currency) error {
	ok := true
	switch m {
	case VNPay:
		ok = c == money.VND && amount >= vnpayMin && amount < vnpayLimit
	// LINE Pay refuses every other currency (1178).
	case LINEPay:
		ok = amount > 0 && (c == money.TWD || c == money.THB || c == money.USD)
	}
	if !ok {
		return ErrUnsuitable
	}
	return nil
}

// When and how often a gateway is checked for an attempt without a report. Most guests pay or leave within
// two minutes; a LINE Pay confirmation may take forty seconds; VNPay refuses queries more often than every five
// minutes and retries its own notifications for up to fifty.
const (
	checkRedirected = 2 * time.Minute
	checkConfirming = time.Minute
	checkUnknown    = 5 * time.Second
	checkReview     = time.Hour
	checkFailed     = time.Hour // after that, no page is open on which the guest could use another card
	askVNPay        = 5 * time.Minute
	askLINEPay      = time.Minute
	askLate         = time.Hour
	lateAfter       = 80 * time.Minute

	// giveUpAfter is longer than any gateway takes a payment and reports it. LINE Pay ends a payment after 20 minutes
	// without an approval. VNPay's page ends with the order's payment window, of at most 24 hours and two extensions of
	// five minutes, and its notifications are repeated for 50 minutes.
	giveUpAfter = 26 * time.Hour
)

// firstCheckAt returns the time of the first check in a state, or the zero time for none. CREATED has no page yet on
// which a guest could pay, and PAID is final. FAILED is checked again only where a page may still take another card.
func (m Method) firstCheckAt(s State, now time.Time) time.Time {
	switch s {
	case Failed:
		if m.Remote() {
			return now.Add(checkFailed)
		}
	case Redirected:
		return now.Add(checkRedirected)
	case Confirming:
		return now.Add(checkConfirming)
	case Unknown:
		return now.Add(checkUnknown)
	case Review:
		return now.Add(checkReview)
	}
	return time.Time{}
}

// NextCheck returns the time of the next check if this one does not settle the attempt, or the zero time to stop
// checking; the attempt is then left to the staff. The intervals of a FAILED attempt double, because its state rarely
// changes. It is checked at all because its page may have been paid with another card while this installation was
// offline. An attempt in REDIRECTED is checked until GiveUp ends it, also at doubling intervals after giveUpAfter: the
// gateway may be unreachable at the first of these checks.
func (a *Attempt) NextCheck(now time.Time) time.Time {
	age := now.Sub(a.CreatedAt)
	pause := askLINEPay
	switch {
	case age > giveUpAfter && a.State == Redirected:
		pause = age
	case age > giveUpAfter:
		return time.Time{}
	// This case precedes lateAfter, which would end the doubling. A pause equal to the attempt's age doubles the age
	// at each check.
	case a.State == Failed:
		pause = max(checkFailed, age)
	case age > lateAfter || a.State == Review:
		pause = askLate
	case a.Method == VNPay:
		pause = askVNPay
	case a.State == Unknown:
		// 5, 10, 20, 40 seconds, then a minute. The shift is bounded, so that many checks cannot overflow it.
		pause = min(checkUnknown<<min(a.Checks, 4), askLINEPay)
	}
	return now.Add(pause)
}

// refundTries is the number of times that a refund is sent to an unreachable gateway: for about three days. Its pauses
// double from one minute to two hours, so most of these tries are two hours apart.
const refundTries = 40

// RetryAt returns when to send a refund again if the current request gets no response. It always returns a time, even
// for the last try: if the process is killed, another one must find the refund. The shortest pause, a minute, is
// longer than a round of SendRefunds, so that two processes do not send one refund at the same time.
func (r *Refund) RetryAt(now time.Time) time.Time {
	return now.Add(min(time.Minute<<min(r.Tries, 7), 2*time.Hour))
}

// Exhausted reports whether a refund was sent refundTries times. It is then UNKNOWN and left to the staff.
func (r *Refund) Exhausted() bool { return r.Tries >= refundTries }
