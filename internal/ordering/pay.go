package ordering

import (
	"context"

	"comanda/internal/identity"
	"comanda/internal/payment"
)

// Pay starts another payment attempt on an unpaid order of the guest's visit. It gives the page on which to pay, empty
// for methods without one.
func (s *Service) Pay(ctx context.Context, g Guest, id string, m payment.Method, c Client) (Order, string, error) {
	if err := s.Methods.Check(m); err != nil {
		return Order{}, "", err
	}
	d, err := s.visible(ctx, g, id)
	if err != nil {
		return Order{}, "", err
	}
	return s.try(ctx, d.Order, m, c)
}

func (s *Service) try(ctx context.Context, o Order, m payment.Method, c Client) (Order, string, error) {
	if err := m.CheckAmount(o.Total, o.Currency); err != nil {
		return Order{}, "", err
	}
	if m.Remote() && o.PaymentStatus == Unpaid && !s.Now().Before(gatewayEnds(&o)) {
		return Order{}, "", ErrTooLate
	}
	r, err := s.Ledger.Do(ctx, Command{Try: &TryToPay{
		OrderID: o.ID, Attempt: payment.Attempt{ID: s.newID(), OrderID: o.ID, Method: m}, Window: s.Config.window(m),
	}})
	if err != nil {
		return Order{}, "", err
	}
	page, err := s.page(ctx, r.Order, r.Attempt, c)
	return r.Order, page, err
}

// TakeAtCounter records money that staff has taken. The amount must be what the order costs; it is asked for so that a
// cashier who looks at the wrong order finds out. With late, an order that has expired is made again if it could be placed
// now; otherwise it is refused, because its dishes would not be cooked.
func (s *Service) TakeAtCounter(ctx context.Context, by identity.Actor, id string, amount int64, late bool) (Order, error) {
	d, err := s.StaffOrder(ctx, by, id)
	if err != nil {
		return Order{}, err
	}
	c := Settle{
		OrderID: id, Method: payment.Counter, State: payment.Paid, Amount: amount, Source: SourceStaff,
		By: by, Raw: `{"method":"COUNTER"}`,
	}
	if late {
		recipes, err := s.recipes(ctx, d.Scope.Branch)
		if err != nil {
			return Order{}, err
		}
		c.Late, c.Raw = &Late{recipes}, `{"method":"COUNTER","late":true}`
	}
	r, err := s.settle(ctx, d.Scope.Branch, c)
	return r.Order, err
}

// MockResult is what the sandbox is told to report.
type MockResult string

// The results, as the reference names them (qr-ordering.md, section 3).
const (
	MockSuccess MockResult = "SUCCESS"
	MockCancel  MockResult = "CANCEL"
	MockFail    MockResult = "FAIL"
)

// MockCallback plays a gateway's report. A success pays the order, a cancellation ends it, a failure leaves it to be
// tried again. The caller has checked that the sandbox is enabled.
func (s *Service) MockCallback(
	ctx context.Context, id string, m payment.Method, result MockResult, raw string,
) (Order, error) {
	if err := s.Methods.Check(m); err != nil {
		return Order{}, err
	}
	d, err := s.order(ctx, id)
	if err != nil {
		return Order{}, err
	}
	if result == MockCancel {
		if o, err := s.end(ctx, End{OrderID: id, Reason: UserCanceled}); err != nil {
			return o, err
		}
	}
	state := map[MockResult]payment.State{
		MockSuccess: payment.Paid, MockCancel: payment.Canceled, MockFail: payment.Failed,
	}[result]
	r, err := s.settle(ctx, d.Scope.Branch, Settle{OrderID: id, Method: m, State: state, Source: SourceCallback, Raw: raw})
	return r.Order, err
}

// settle adds what the ledger needs to know and cannot: the branch's business date now.
func (s *Service) settle(ctx context.Context, branch int64, c Settle) (Result, error) {
	at, err := s.Catalog.Branch(ctx, branch)
	if err != nil {
		return Result{}, err
	}
	c.NewID, c.Today = s.newID(), at.Calendar().BizDate(s.Now())
	r, err := s.Ledger.Do(ctx, Command{Settle: &c})
	s.Metrics.reported(c, r, err)
	return r, err
}
