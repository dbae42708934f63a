package ordering

import (
	"context"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/money"
	"comanda/internal/payment"
)

// Limits of one round of gateway requests. A request may take 40 s to fail, so the requests of a round run side by side;
// more at a time would burden a gateway that is slow already.
const (
	gatewayBatch       = 64 // requests per round
	gatewayConcurrency = 8  // concurrent requests
)

// CheckPayments checks attempts for which no report has arrived: the report was lost, the browser was closed, or the
// process ended while it waited. Any number of processes may run it. A capture that it starts continues after ctx
// ends.
func (s *Service) CheckPayments(ctx context.Context) error {
	due, err := s.Payments.ClaimChecks(ctx, s.Now(), gatewayBatch)
	if err != nil {
		return err
	}
	s.parallel(ctx, len(due), func(i int) {
		a := due[i]
		// A failed check must not prevent the other checks: the error is logged, and the claim has scheduled the next
		// check.
		err := s.check(ctx, a, true)
		s.logGatewayError(ctx, "the gateway could not be asked", a, err)
	})
	return nil
}

// parallel calls do for 0 to n-1, at most gatewayConcurrency at a time, and waits for all calls.
func (s *Service) parallel(ctx context.Context, n int, do func(i int)) {
	var calls errgroup.Group
	calls.SetLimit(gatewayConcurrency)
	for i := range n {
		calls.Go(func() error {
			s.recoverPanic(ctx, func() { do(i) })
			return nil
		})
	}
	_ = calls.Wait() // do handles its errors
}

// recoverPanic logs a panic of do, so that a defect in one gateway client does not end the process. The payment is
// checked again later.
func (s *Service) recoverPanic(ctx context.Context, do func()) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.ErrorContext(ctx, "a call to a gateway panicked", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	do()
}

// check checks one attempt with its gateway and applies the result. A payment that the guest has approved is captured
// if the order can still be paid; the capture may continue after ctx ends. An attempt in CONFIRMING is captured again
// only if the caller has claimed it, because a claim succeeds only after the previous capture must have ended.
func (s *Service) check(ctx context.Context, a payment.Attempt, claimed bool) error {
	gateway := s.Settings().Gateways[a.Method]
	if gateway == nil {
		return s.checkRemoved(ctx, a)
	}
	r, err := gateway.Check(ctx, a)
	if err != nil {
		return err
	}
	if r.State != payment.Approved {
		_, err = s.Report(ctx, a.ID, a.Method, r, SourceCheck)
		return err
	}
	// Another capture may still be running.
	if a.State == payment.Confirming && !claimed {
		return nil
	}
	d, _, err := s.Attempt(ctx, a.ID)
	if err != nil {
		return err
	}
	// An approval for an order that has ended is not captured. Reporting it lets the attempt end, see payment.GiveUp.
	if !d.PaymentStatus.payable() {
		_, err = s.Report(ctx, a.ID, a.Method, r, SourceCheck)
		return err
	}
	s.awaitCapture(ctx, d, a, a.State, "")
	return nil
}

// checkRemoved checks an attempt whose gateway was removed from the settings. It returns payment.ErrMethod, unless the
// attempt ends: no gateway can be asked for its result, so it counts as one without (payment.GiveUp). An attempt whose
// capture was requested is left to the staff.
func (s *Service) checkRemoved(ctx context.Context, a payment.Attempt) error {
	_, branch, err := s.owner(ctx, a.ID)
	if err != nil {
		return err
	}
	r, err := s.settle(ctx, branch, Settle{
		OrderID: a.OrderID, AttemptID: a.ID, Method: a.Method, State: payment.Redirected, From: payment.Redirected,
		Source: SourceCheck, Raw: payment.ErrMethod.Error(),
	})
	if err == nil && !r.Changed {
		err = payment.ErrMethod
	}
	return err
}

// Exceptions are the payments of a branch that the staff must look at: attempts whose outcome is unknown, refunds
// that are not done, and captures of an amount other than requested.
type Exceptions struct {
	Attempts   []Exception
	Refunds    []Exception
	Mismatches []Exception // their ids are those of the attempts
}

// Exception is one payment that the staff must look at. Amounts are in minor units.
type Exception struct {
	ID       string
	OrderID  string
	Number   int64 // order number
	BizDate  string
	Method   payment.Method
	Amount   int64
	Currency money.Currency
	State    string
	Reason   string // why the money is refunded
	Ref      string // the gateway's reference or its last response
	At       time.Time

	Captured   int64 // captured amount of a mismatch, as the gateway reports it; Amount is the requested one
	CapturedIn money.Currency
}

// maxExceptions is the maximum length of each list. A branch with more exceptions has a problem that no list solves.
const maxExceptions = 200

// Exceptions returns what the staff must look at in a branch that the actor may see, oldest first. For other branches
// it returns catalog.ErrBranch.
func (s *Service) Exceptions(ctx context.Context, by authz.Actor, branch int64) (Exceptions, error) {
	if !by.Sees(branch) {
		return Exceptions{}, catalog.ErrBranch
	}
	return s.Reader.Exceptions(ctx, branch, maxExceptions)
}

// CheckNow checks an attempt with its gateway and returns the order afterwards. The order is CONFIRMING if the capture
// of an approved payment takes longer than ctx lasts. It claims nothing, so it never repeats a capture that may still
// be running.
func (s *Service) CheckNow(ctx context.Context, by authz.Actor, order, attempt string) (Detail, error) {
	_, a, err := s.staffAttempt(ctx, by, order, attempt)
	if err != nil {
		return Detail{}, err
	}
	if err := s.check(ctx, a, false); err != nil {
		return Detail{}, err
	}
	return s.orderAfterWait(ctx, order)
}

// RecordOutcome records the state of an attempt that the staff have looked up in the gateway's console. PAID counts
// like a gateway's report: money for an ended order revives it or becomes a refund (I6).
func (s *Service) RecordOutcome(
	ctx context.Context, by authz.Actor, order, attempt string, state payment.State, note string,
) (Order, error) {
	if err := checkNote(note); err != nil {
		return Order{}, err
	}
	d, a, err := s.staffAttempt(ctx, by, order, attempt)
	if err != nil {
		return Order{}, err
	}
	r, err := s.settle(ctx, d.Scope.Branch, Settle{
		OrderID: order, AttemptID: a.ID, Method: a.Method, State: state, Source: SourceStaff, By: by, Raw: note,
	})
	return r.Order, err
}

// ClearMismatch records that the staff have resolved the amount mismatches of an attempt, with a note. It moves no
// money and changes no order.
func (s *Service) ClearMismatch(ctx context.Context, by authz.Actor, order, attempt, note string) (Detail, error) {
	if err := checkNote(note); err != nil {
		return Detail{}, err
	}
	d, a, err := s.staffAttempt(ctx, by, order, attempt)
	if err != nil {
		return Detail{}, err
	}
	e := audit.NewEntry(by, s.Now(), audit.ActionMismatchCleared, "order", order, d.Scope.Branch)
	e = e.WithAfter(map[string]any{
		"number": ShortNumber(d.Number), "paymentId": a.ID, "amount": a.Amount, "currency": a.Currency, "note": note,
	})
	return d, s.Payments.ClearMismatches(ctx, a.ID, e)
}

// staffAttempt returns an attempt with a remote gateway, and its order, which the actor may see. For attempts without a
// gateway it returns payment.ErrAttempt: there is nothing to look up.
func (s *Service) staffAttempt(ctx context.Context, by authz.Actor, order, attempt string) (Detail, payment.Attempt, error) {
	d, err := s.Order(ctx, Staff(by), order)
	if err != nil {
		return d, payment.Attempt{}, err
	}
	a, err := d.attempt(attempt)
	if err == nil && !a.Method.Remote() {
		err = payment.ErrAttempt
	}
	return d, a, err
}
