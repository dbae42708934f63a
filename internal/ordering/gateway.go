package ordering

import (
	"context"
	"strings"
	"time"

	"comanda/internal/identity"
	"comanda/internal/payment"
	"comanda/internal/uid"
)

// Payments are attempts and refunds as gateways know them, in SQL.
type Payments interface {
	// Owner tells to which order of which branch an attempt belongs.
	Owner(ctx context.Context, attempt string) (order string, branch int64, found bool, err error)
	// Record keeps what a gateway seems to have said, of which nothing could be made.
	Record(ctx context.Context, e payment.Event) error
	ClaimChecks(ctx context.Context, now time.Time, most int) ([]payment.Attempt, error)
	ClaimRefunds(ctx context.Context, now time.Time, most int) ([]payment.Refund, error)
	// MarkSent notes that a refund is about to be sent for the first time, and what its gateway listed before.
	MarkSent(ctx context.Context, refund string, before []string) error
	// ClearMismatches notes that somebody has looked at all mismatches of an attempt, with an entry in the audit log. Where
	// there is none, nothing happens.
	ClearMismatches(ctx context.Context, attempt string, e identity.AuditEntry) error
}

// Client is the device that asks for a page to pay on.
type Client struct {
	Address  string // IP address
	Language string // vi, en, zh-TW
}

// gatewayEnds is when a gateway must not take money for an order any more: a minute before its guest is told that it is
// too late, or a tenth of the window where that is shorter.
func gatewayEnds(o *Order) time.Time {
	return o.PayBy.Add(-min(time.Minute, o.PayBy.Sub(o.CreatedAt)/10))
}

// PageOf gives the page on which an order's newest attempt is paid; empty where there is nothing to be paid on a page.
func (s *Service) PageOf(ctx context.Context, order string, c Client) (string, error) {
	d, err := s.order(ctx, order)
	if err != nil || len(d.Attempts) == 0 {
		return "", err
	}
	return s.page(ctx, d.Order, d.Attempts[len(d.Attempts)-1], c)
}

// page gives an attempt's page, and has the gateway make one if there is none yet.
func (s *Service) page(ctx context.Context, o Order, a payment.Attempt, c Client) (string, error) {
	gateway := s.Gateways[a.Method]
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
		Attempt: a, OrderNumber: ShortNumber(o.Number), Branch: branch.Name, ExpiresAt: gatewayEnds(&o),
		ClientIP: c.Address, Language: c.Language, ReturnBaseURL: s.ReturnTo,
	})
	if err != nil {
		return "", err
	}
	r, err := s.Ledger.Do(ctx, Command{Redirect: &Redirect{OrderID: o.ID, AttemptID: a.ID, Page: p}})
	return r.Attempt.URL, err
}

// Report brings to an attempt what its gateway says about it. The gateway's word has been verified. It gives
// payment.ErrAttempt for a reference that is not ours, and payment.ErrAmount for another amount than was asked for.
func (s *Service) Report(
	ctx context.Context, ref string, m payment.Method, r payment.Report, source string,
) (Result, error) {
	if !uid.Valid(ref) {
		return Result{}, s.unknown(ctx, m, r)
	}
	order, branch, found, err := s.Payments.Owner(ctx, ref)
	if err != nil {
		return Result{}, err
	}
	if !found {
		return Result{}, s.unknown(ctx, m, r)
	}
	return s.settle(ctx, branch, Settle{
		OrderID: order, AttemptID: ref, Method: m, State: r.State, Amount: r.Amount, Currency: r.Currency, Ref: r.Ref,
		Source: source, Raw: r.Raw, Headers: r.Headers,
	})
}

func (s *Service) unknown(ctx context.Context, m payment.Method, r payment.Report) error {
	err := s.Oddity(ctx, payment.Event{Method: m, Raw: r.Raw, Headers: r.Headers, Verdict: "UNKNOWN_REF"})
	if err != nil {
		return err
	}
	return payment.ErrAttempt
}

// Oddity keeps a message of which nothing could be made, by its method, text, headers and verdict: nothing comes of it, but
// somebody may want to look. Bytes that are no text are not kept as they are: no database would take them.
func (s *Service) Oddity(ctx context.Context, e payment.Event) error {
	s.Metrics.odd(e.Method, e.Verdict)
	e.Raw = strings.ReplaceAll(strings.ToValidUTF8(e.Raw, "?"), "\x00", "?")
	e.ID, e.Source, e.ReceivedAt = s.newID(), SourceCallback, s.Now()
	return s.Payments.Record(ctx, e)
}

// Approved has the money taken that a guest has approved on the gateway's page, once, whoever and however many tell of
// it. It waits for the gateway for as long as the context allows; the rest goes on without it. The order is as it is by
// then. The headers are those of the request that has told, to be kept.
func (s *Service) Approved(ctx context.Context, ref, transaction, headers string) (Order, error) {
	d, a, err := s.Attempt(ctx, ref)
	if err != nil {
		return Order{}, err
	}
	if a.GatewayRef != transaction {
		return Order{}, payment.ErrAttempt
	}
	s.awaitConfirm(ctx, d, a, payment.Redirected, headers)
	now, err := s.orderNow(ctx, d.ID)
	return now.Order, err
}

// awaitConfirm has a payment confirmed and waits for that until ctx ends. The rest goes on without it: a confirmation that
// is cut off may have moved the money or not, and nobody would know.
func (s *Service) awaitConfirm(ctx context.Context, d Detail, a payment.Attempt, was payment.State, headers string) {
	done := make(chan struct{})
	s.talks.Go(func() {
		defer close(done)
		s.guarded(ctx, func() { s.confirm(context.WithoutCancel(ctx), d, a, was, headers) })
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// orderNow reads an order for somebody who has waited for a gateway, perhaps until ctx has ended.
func (s *Service) orderNow(ctx context.Context, id string) (Detail, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return s.order(ctx, id)
}

// Attempt reads an attempt with its order, by the reference under which its gateway knows it.
func (s *Service) Attempt(ctx context.Context, ref string) (Detail, payment.Attempt, error) {
	if !uid.Valid(ref) {
		return Detail{}, payment.Attempt{}, payment.ErrAttempt
	}
	id, _, found, err := s.Payments.Owner(ctx, ref)
	if err != nil {
		return Detail{}, payment.Attempt{}, err
	}
	if !found {
		return Detail{}, payment.Attempt{}, payment.ErrAttempt
	}
	d, err := s.order(ctx, id)
	if err != nil {
		return d, payment.Attempt{}, err
	}
	for _, a := range d.Attempts {
		if a.ID == ref {
			return d, a, nil
		}
	}
	return d, payment.Attempt{}, payment.ErrAttempt
}

// confirmTimeout is longer than any gateway takes to confirm.
const confirmTimeout = 50 * time.Second

// confirm tells the gateway to take the money if the attempt is still in the state was, so that only one caller does, and
// the order can still be paid. It records the outcome with the headers of the request that caused it.
func (s *Service) confirm(ctx context.Context, d Detail, a payment.Attempt, was payment.State, headers string) {
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	r, err := s.Ledger.Do(ctx, Command{Confirm: &Confirm{OrderID: d.ID, AttemptID: a.ID, Was: was}})
	if err != nil || !r.Changed {
		s.complain(ctx, "a payment could not be confirmed", a, err)
		return
	}
	report, err := s.Gateways[a.Method].Confirm(ctx, r.Attempt)
	if err != nil { // nothing has happened: the guest may try again
		s.complain(ctx, "the gateway did not take a confirmation", a, err)
		report = payment.Report{State: payment.Redirected}
	}
	report.Headers = headers
	written, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, err = s.Report(written, a.ID, a.Method, report, SourceCallback)
	s.complain(written, "what the gateway said could not be written", a, err)
}

func (s *Service) complain(ctx context.Context, what string, a payment.Attempt, err error) {
	if err != nil {
		s.Log.WarnContext(ctx, "a talk with a gateway failed", "what", what, "attempt", a.ID, "method", a.Method, "err", err)
	}
}
