package ordering

import (
	"context"

	"comanda/internal/identity"
	"comanda/internal/payment"
)

// Pay starts another payment attempt on an unpaid order of the guest's visit. It returns the order and the payment
// page, "" for methods without one.
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

// TakeAtCounter records a payment taken by the staff. amount must equal the order's total, so that a cashier who has
// opened the wrong order notices. With late, an expired order is revived if it could be placed now; otherwise the
// payment is refused, because the dishes would not be cooked.
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

// MockResult is a result that the sandbox reports.
type MockResult string

// Results of the sandbox, with the values of the reference (qr-ordering.md, section 3).
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

// settle runs a Settle command with the branch's current business date, which the ledger does not know.
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
