package ordering

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"comanda/internal/audit"
	"comanda/internal/payment"
	"comanda/internal/uid"
)

// Payments stores attempts and refunds, and finds them by the references that gateways use.
type Payments interface {
	// Owner returns the order and the branch of an attempt. It takes no lock: attempts never change their order.
	Owner(ctx context.Context, attempt string) (order string, branch int64, found bool, err error)
	// Record stores a gateway's message that could not be applied to an attempt. It needs no ledger command, because
	// nothing else changes.
	Record(ctx context.Context, e payment.Event) error
	// ClaimChecks returns up to most attempts whose check is due, and schedules the next check of each. Two processes
	// never claim an attempt for the same check.
	ClaimChecks(ctx context.Context, now time.Time, most int) ([]payment.Attempt, error)
	// ClaimRefunds returns up to most refunds that are due to be sent, and schedules a retry of each. The retry is
	// scheduled before the first sending, because the process may be killed during it.
	ClaimRefunds(ctx context.Context, now time.Time, most int) ([]payment.Refund, error)
	// MarkSent records, before a refund is first sent, the refunds that its gateway lists already.
	MarkSent(ctx context.Context, refund string, before []string) error
	// ClearMismatches marks all amount mismatches of an attempt as resolved and writes the audit entry. Without
	// mismatches it does nothing.
	ClearMismatches(ctx context.Context, attempt string, e audit.Entry) error
}

// Client is the device that requests a payment page.
type Client struct {
	Address  string // IP address
	Language string // vi, en, zh-TW
}

// gatewayDeadline returns the time after which a gateway must not capture: one minute before PayBy, or a tenth of the
// window if that is shorter. The margin keeps a payment from completing after the guest's countdown has ended.
func gatewayDeadline(o *Order) time.Time {
	return o.PayBy.Add(-min(time.Minute, o.PayBy.Sub(o.CreatedAt)/10))
}

// PageOf returns the payment page of an order's newest attempt, or "" if its method has none. It may wait for the
// gateway. Repeated calls return the same page.
func (s *Service) PageOf(ctx context.Context, order string, c Client) (string, error) {
	d, err := s.order(ctx, order)
	if err != nil || len(d.Attempts) == 0 {
		return "", err
	}
	return s.page(ctx, d.Order, d.Attempts[len(d.Attempts)-1], c)
}

// page returns an attempt's payment page. If there is none yet, the gateway creates it. Two requests may both ask the
// gateway; the ledger keeps the first page, and both return it.
func (s *Service) page(ctx context.Context, o Order, a payment.Attempt, c Client) (string, error) {
	gateway := s.Settings().Gateways[a.Method]
	switch {
	case gateway == nil || o.PaymentStatus != Unpaid:
		return "", nil
	case a.URL != "":
		return a.URL, nil
	case a.State != payment.Created:
		return "", nil
	}
	branch, err := s.Catalog.Branch(ctx, o.Scope.Branch)
	if err != nil {
		return "", err
	}
	p, err := gateway.Start(ctx, payment.Purchase{
		Attempt: a, OrderNumber: ShortNumber(o.Number), BranchName: branch.Name, ExpiresAt: gatewayDeadline(&o),
		ClientIP: c.Address, Language: c.Language, ReturnBaseURL: s.Settings().ReturnTo,
	})
	if err != nil {
		s.recordRefusal(ctx, o, a, err)
		return "", err
	}
	r, err := s.Ledger.Do(ctx, &Redirect{OrderID: o.ID, AttemptID: a.ID, Page: p})
	return r.Attempt.URL, err
}

// recordRefusal ends an attempt if its page was refused, so that it does not count as an open payment. After another
// failure the gateway may have created a page, and the attempt stays. So does an attempt that got a page from a concurrent
// request. The refusal is written even if ctx has ended.
func (s *Service) recordRefusal(ctx context.Context, o Order, a payment.Attempt, cause error) {
	if !errors.Is(cause, payment.ErrRefused) && !errors.Is(cause, payment.ErrUnsuitable) {
		return
	}
	raw := cause.Error()
	if r, ok := errors.AsType[*payment.RefusedError](cause); ok {
		raw = r.Raw
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	_, err := s.settle(ctx, o.Scope.Branch, Settle{
		OrderID: o.ID, AttemptID: a.ID, Method: a.Method, State: payment.Failed, From: payment.Created, Source: SourceCallback,
		Raw: raw,
	})
	s.logGatewayError(ctx, "the refusal of a page could not be written", a, err)
}

// Report applies a gateway's report, which the caller has verified, to its attempt. It returns payment.ErrAttempt for
// an unknown reference and payment.ErrAmount if the amount differs from the requested one. It may be called again with
// the same report: Result.Changed is then false.
func (s *Service) Report(
	ctx context.Context, ref string, m payment.Method, r payment.Report, source string,
) (Result, error) {
	order, branch, err := s.owner(ctx, ref)
	if errors.Is(err, payment.ErrAttempt) { // the staff can look at the stored message
		e := payment.Event{Method: m, Raw: r.Raw, Headers: r.Headers, Verdict: "UNKNOWN_REF"}
		err = cmp.Or(s.RecordRejectedNotification(ctx, e), err)
	}
	if err != nil {
		return Result{}, err
	}
	return s.settle(ctx, branch, Settle{
		OrderID: order, AttemptID: ref, Method: m, State: r.State, Amount: r.Amount, Currency: r.Currency, Ref: r.Ref,
		Source: source, Raw: r.Raw, Headers: r.Headers,
	})
}

// owner returns the order and the branch of an attempt, or payment.ErrAttempt for an unknown reference.
func (s *Service) owner(ctx context.Context, ref string) (order string, branch int64, err error) {
	found := false
	if uid.Valid(ref) {
		order, branch, found, err = s.Payments.Owner(ctx, ref)
	}
	if err == nil && !found {
		err = payment.ErrAttempt
	}
	return order, branch, err
}

// RecordRejectedNotification stores a message that could not be applied, with its method, text, headers and verdict, for
// the staff to look at. It replaces invalid UTF-8 and NUL bytes, which the databases do not accept.
func (s *Service) RecordRejectedNotification(ctx context.Context, e payment.Event) error {
	s.Metrics.rejected(e.Method, e.Verdict)
	e.Raw = strings.ReplaceAll(strings.ToValidUTF8(e.Raw, "?"), "\x00", "?")
	e.ID, e.Source, e.ReceivedAt = s.newID(), SourceCallback, s.Now()
	return s.Payments.Record(ctx, e)
}

// ConfirmApproved captures a payment that the guest has approved on the gateway's page. Concurrent and repeated calls
// capture once. It waits for the gateway until ctx ends; the capture continues after that. It returns the order as it
// is then. headers are those of the request that reported the approval; they are stored with the result.
func (s *Service) ConfirmApproved(ctx context.Context, ref, transaction, headers string) (Order, error) {
	d, a, err := s.Attempt(ctx, ref)
	if err != nil {
		return Order{}, err
	}
	// The redirect carries no signature, so its transaction id is compared with the stored one.
	if a.GatewayRef != transaction {
		return Order{}, payment.ErrAttempt
	}
	s.awaitCapture(ctx, d, a, payment.Redirected, headers)
	now, err := s.orderAfterWait(ctx, d.ID)
	return now.Order, err
}

// awaitCapture starts the capture and waits for it until ctx ends. The capture itself is not cancelled with ctx: an
// interrupted one leaves the outcome unknown. Close waits for captures that outlive their requests.
func (s *Service) awaitCapture(ctx context.Context, d Detail, a payment.Attempt, from payment.State, headers string) {
	done := make(chan struct{})
	s.captures.Go(func() {
		defer close(done)
		s.recoverPanic(ctx, func() { s.capture(context.WithoutCancel(ctx), d, a, from, headers) })
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// orderAfterWait reads an order after waiting for a gateway. It uses its own deadline, because ctx may have ended during
// the wait.
func (s *Service) orderAfterWait(ctx context.Context, id string) (Detail, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return s.order(ctx, id)
}

// Attempt returns the attempt that a gateway knows by a reference, and its order. It checks no access: the reference
// itself is the permission, since it cannot be guessed (decision 19). Attempts without a gateway are not found: the id of
// an order's first one is that of the order, which the table and the staff know.
func (s *Service) Attempt(ctx context.Context, ref string) (Detail, payment.Attempt, error) {
	id, _, err := s.owner(ctx, ref)
	if err != nil {
		return Detail{}, payment.Attempt{}, err
	}
	d, err := s.order(ctx, id)
	if err != nil {
		return d, payment.Attempt{}, err
	}
	a, err := d.attempt(ref)
	if err == nil && !a.Method.Remote() {
		err = payment.ErrAttempt
	}
	return d, a, err
}

// attempt returns an attempt of the order, or payment.ErrAttempt.
func (d *Detail) attempt(id string) (payment.Attempt, error) {
	i := slices.IndexFunc(d.Attempts, func(a payment.Attempt) bool { return a.ID == id })
	if i < 0 {
		return payment.Attempt{}, payment.ErrAttempt
	}
	return d.Attempts[i], nil
}

// writeTimeout is the time limit of storing what a gateway has answered.
const writeTimeout = 5 * time.Second

// captureTimeout is the time limit of a capture. It exceeds the longest time-out of a gateway client, 40 s, so that
// the client reports the outcome first.
const captureTimeout = 50 * time.Second

// capture captures an attempt if it is still in the state was and its order can be paid, so that only one caller
// captures. It records the outcome with headers. The outcome is written even if ctx has ended by then.
func (s *Service) capture(ctx context.Context, d Detail, a payment.Attempt, from payment.State, headers string) {
	ctx, cancel := context.WithTimeout(ctx, captureTimeout)
	defer cancel()
	// The claim commits first. If the process ends during the capture, CheckPayments finds the attempt in CONFIRMING.
	r, err := s.Ledger.Do(ctx, &Confirm{OrderID: d.ID, AttemptID: a.ID, From: from})
	if err != nil || !r.Changed {
		s.logGatewayError(ctx, "a payment could not be confirmed", a, err)
		return
	}
	report, err := s.Settings().Gateways[a.Method].Confirm(ctx, r.Attempt)
	if err != nil { // nothing was captured; the guest may try again
		s.logGatewayError(ctx, "the gateway did not take a confirmation", a, err)
		report = payment.Report{State: payment.Redirected}
	}
	// A failed capture is reported too: the attempt must leave CONFIRMING, so that the guest can pay with another
	// method.
	report.Headers = headers
	written, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	_, err = s.Report(written, a.ID, a.Method, report, SourceCallback)
	s.logGatewayError(written, "what the gateway said could not be written", a, err)
}

// logGatewayError logs an error unless it is nil. It is a warning, because the attempt is checked again later.
func (s *Service) logGatewayError(ctx context.Context, what string, a payment.Attempt, err error) {
	if err != nil {
		s.Log.WarnContext(ctx, "a call to a gateway failed", "what", what, "attempt", a.ID, "method", a.Method, "err", err)
	}
}

// MockResult is a result that the sandbox reports.
type MockResult string

// Results of the sandbox, with the values of qr-ordering.md, section 3.
const (
	MockSuccess MockResult = "SUCCESS"
	MockCancel  MockResult = "CANCEL"
	MockFail    MockResult = "FAIL"
)

// MockCallback simulates a gateway's report: SUCCESS pays the order, CANCEL cancels it, FAIL leaves it unpaid. The
// caller has checked that the sandbox is enabled.
func (s *Service) MockCallback(
	ctx context.Context, id string, m payment.Method, result MockResult, raw string,
) (Order, error) {
	if err := s.Settings().Methods.Check(m); err != nil {
		return Order{}, err
	}
	d, err := s.order(ctx, id)
	if err != nil {
		return Order{}, err
	}
	state := map[MockResult]payment.State{
		MockSuccess: payment.Paid, MockCancel: payment.Canceled, MockFail: payment.Failed,
	}[result]
	c := Settle{OrderID: id, Method: m, State: state, Source: SourceCallback, Raw: raw}
	if result == MockCancel {
		// One command ends the order and its attempt: a canceled attempt alone would leave the order payable.
		c.NewID = s.newID()
		r, err := s.end(ctx, End{OrderID: id, Reason: UserCanceled, Report: &c})
		if err != nil || r.Changed {
			return r.Order, err
		}
		// The order had ended before, so this is a report about an ended order.
	}
	r, err := s.settle(ctx, d.Scope.Branch, c)
	return r.Order, err
}

// Redirect stores the payment page of an attempt.
type Redirect struct {
	OrderID   string
	AttemptID string
	Page      payment.Page
}

// Target implements Command.
func (r *Redirect) Target() string { return r.OrderID }

// decide stores the payment page of an attempt. A page that is stored already stays, because the guest may have opened
// it. Result.Attempt then contains that page.
func (r *Redirect) decide(b *Batch) Result {
	o, i := b.attempt(r.OrderID, r.AttemptID)
	if i < 0 {
		return Result{Err: payment.ErrAttempt}
	}
	a := b.Attempts[o.ID][i]
	if !a.Redirect(r.Page, b.Now) {
		return Result{Order: *o, Attempt: a}
	}
	b.Attempts[o.ID][i] = a
	b.updateAttempt(a)
	b.touch(o)
	return Result{Order: *o, Attempt: a, Changed: true}
}

// Confirm claims the capture of an approved attempt. Result.Changed is true for the one caller that may call the
// gateway.
type Confirm struct {
	OrderID   string
	AttemptID string
	From      payment.State // the state that the caller read; if it has changed, another caller has claimed the capture
}

// Target implements Command.
func (c *Confirm) Target() string { return c.OrderID }

// decide moves an attempt to CONFIRMING, so that exactly one caller captures its payment. It leaves the attempt
// unchanged if the order has ended or another attempt may be capturing: no money is captured then, and none has to
// be refunded.
func (c *Confirm) decide(b *Batch) Result {
	o, i := b.attempt(c.OrderID, c.AttemptID)
	if i < 0 {
		return Result{Err: payment.ErrAttempt}
	}
	a := b.Attempts[o.ID][i]
	if !o.PaymentStatus.payable() || !b.Now.Before(o.ExpiresAt) || b.capturing(o, a.ID) || !a.StartConfirm(c.From, b.Now) {
		return Result{Order: *o, Attempt: a}
	}
	b.Attempts[o.ID][i] = a
	b.updateAttempt(a)
	// The hold follows the order's deadline, or the sweeper would release its units during the capture (decision 20).
	if o.setConfirming(b.Now) {
		b.Deadlines[o.HoldID] = o.ExpiresAt
	}
	b.changed(o)
	return Result{Order: *o, Attempt: a, Changed: true}
}
