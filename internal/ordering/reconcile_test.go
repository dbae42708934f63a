package ordering_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"comanda/internal/authz"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

const transaction = "2026022612345678901"

// slowGateway captures when a test closes taken. It reports an unknown outcome if the capture is cancelled.
type slowGateway struct {
	payment.Gateway

	started, taken chan struct{}
}

func (slowGateway) Start(context.Context, payment.Purchase) (payment.Page, error) {
	return payment.Page{URL: "https://pay.example/1", Ref: transaction}, nil
}

func (slowGateway) Check(context.Context, payment.Attempt) (payment.Report, error) {
	return payment.Report{State: payment.Approved, Ref: transaction}, nil
}

func (g slowGateway) Confirm(ctx context.Context, a payment.Attempt) (payment.Report, error) {
	close(g.started)
	select {
	case <-g.taken:
		return payment.Report{State: payment.Paid, Ref: transaction, Amount: a.Amount, Currency: a.Currency}, nil
	case <-ctx.Done():
		return payment.Report{State: payment.Unknown}, nil
	}
}

// openWithSlowGateway returns a service with one order, whose guest was redirected to the gateway two minutes ago.
func openWithSlowGateway(t *testing.T, db *sqldb.DB, g slowGateway) (*ordering.Service, ordering.Detail) {
	t.Helper()
	r := orderingtest.Open(t, db, 1, 10)
	r.Currency = money.TWD
	now := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	ledger := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, clock)
	t.Cleanup(ledger.Stop)
	s := &ordering.Service{
		Settings: func() ordering.Settings {
			return ordering.Settings{Config: ordering.Defaults(), Methods: payment.NewMethods(payment.LINEPay), Gateways: map[payment.Method]payment.Gateway{payment.LINEPay: g}}
		},
		Ledger: ledger, Admission: &admission{try: admit}, Reader: orderingsql.NewOrders(db), Catalog: r.Catalog(t), Payments: ledger, Log: slog.New(slog.DiscardHandler), Now: clock,
	}
	req := request("k")
	req.Method = payment.LINEPay
	placed := testenv.Must(s.Place(t.Context(), ordering.Guest{Branch: 1, VisitID: r.Visit, Hash: "guest"}, req))(t)
	testenv.Must(s.PageOf(t.Context(), placed.Order.ID, ordering.Client{}))(t)
	now = now.Add(2 * time.Minute)
	return s, orderOf(t, s, placed.Order.ID)
}

func orderOf(t *testing.T, s *ordering.Service, id string) ordering.Detail {
	t.Helper()
	return testenv.Must(s.Order(t.Context(), ordering.Staff(authz.System()), id))(t)
}

// A capture continues after its caller has stopped waiting, and Close waits for it.
func TestService_confirmsToTheEnd(t *testing.T) {
	type asking func(context.Context, *ordering.Service, ordering.Detail) (ordering.Order, error)
	for name, ask := range map[string]asking{
		"the guest comes back": func(ctx context.Context, s *ordering.Service, d ordering.Detail) (ordering.Order, error) {
			return s.ConfirmApproved(ctx, d.Attempts[0].ID, transaction, "")
		},
		"the staff ask": func(ctx context.Context, s *ordering.Service, d ordering.Detail) (ordering.Order, error) {
			now, err := s.CheckNow(ctx, authz.System(), d.ID, d.Attempts[0].ID)
			return now.Order, err
		},
		"a round": func(ctx context.Context, s *ordering.Service, d ordering.Detail) (ordering.Order, error) {
			err := s.CheckPayments(ctx)
			return orderOf(t, s, d.ID).Order, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				g := slowGateway{started: make(chan struct{}), taken: make(chan struct{})}
				s, d := openWithSlowGateway(t, db, g)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() {
					select {
					case <-g.started:
						cancel()
					case <-ctx.Done():
					}
				}()
				o, err := ask(ctx, s, d)
				if err != nil || o.PaymentStatus != ordering.Confirming {
					t.Errorf("while the gateway confirms, the order is %q, %v", o.PaymentStatus, err)
				}
				close(g.taken)
				s.Close(t.Context())
				if d := orderOf(t, s, d.ID); d.PaymentStatus != ordering.Paid || d.Attempts[0].State != payment.Paid {
					t.Errorf("the gateway has taken the money, and the order is %s, its attempt %s", d.PaymentStatus, d.Attempts[0].State)
				}
			})
		})
	}
}
