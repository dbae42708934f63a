package ordering_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// admission is an admission cache with results set by a test.
type admission struct {
	orderingtest.NoAdmission
	try     func(stock.Hold) stock.AdmissionResult
	mu      sync.Mutex
	dropped []string
}

func (g *admission) Reserve(_ context.Context, h stock.Hold) stock.AdmissionResult { return g.try(h) }

func (g *admission) DropProvisional(h stock.Hold) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dropped = append(g.dropped, h.ID)
}

func admit(stock.Hold) stock.AdmissionResult { return stock.AdmissionResult{Status: stock.Admitted} }

// service returns an ordering service on a database, with the test's admission cache.
func service(t testing.TB, db *sqldb.DB, g *admission, quotas ...int64) (*ordering.Service, *orderingtest.Restaurant, ordering.Guest) {
	t.Helper()
	r := orderingtest.Open(t, db, 1, quotas...)
	l := orderingsql.NewLedger(db, g, db.Now)
	t.Cleanup(l.Stop)
	s := &ordering.Service{
		Settings: func() ordering.Settings {
			return ordering.Settings{Config: ordering.Defaults(), Methods: payment.NewMethods(payment.Sandbox)}
		},
		Ledger: l, Admission: g, Reader: orderingsql.NewOrders(db), Catalog: r.Catalog(t), Now: db.Now,
	}
	return s, r, ordering.Guest{Branch: 1, VisitID: r.Visit, Hash: "guest"}
}

// limited sets the limits of a service.
func limited(s *ordering.Service, l ordering.Limits) {
	settings := s.Settings()
	settings.Limits = l
	s.Settings = func() ordering.Settings { return settings }
}

func request(key string, items ...ordering.RequestItem) ordering.Request {
	if items == nil {
		items = []ordering.RequestItem{{ItemID: 101, Qty: 1}}
	}
	return ordering.Request{Items: items, Method: payment.Sandbox, ClientTxnID: key, MenuVersionID: 1}
}

func TestService_Place_refusesBadRequests(t *testing.T) {
	g := &admission{try: func(stock.Hold) stock.AdmissionResult { t.Error("the gate was asked"); return stock.AdmissionResult{} }}
	s, r, guest := service(t, sqldbtest.SQLite(t), g, 10)
	many := make([]ordering.RequestItem, ordering.MaxLines+1)
	for i := range many {
		many[i] = ordering.RequestItem{ItemID: 101, Qty: 1}
	}
	total := int64(1)
	long := string(make([]byte, ordering.MaxNotes+1))
	for name, c := range map[string]struct {
		change func(*ordering.Request)
		code   string
	}{
		"no lines":        {func(r *ordering.Request) { r.Items = nil }, "invalid"},
		"51 lines":        {func(r *ordering.Request) { r.Items = many }, "invalid"},
		"quantity 0":      {func(r *ordering.Request) { r.Items[0].Qty = 0 }, "invalid"},
		"quantity -1":     {func(r *ordering.Request) { r.Items[0].Qty = -1 }, "invalid"},
		"quantity 21":     {func(r *ordering.Request) { r.Items[0].Qty = ordering.MaxQty + 1 }, "invalid"},
		"quantity 10^18":  {func(r *ordering.Request) { r.Items[0].Qty = 1e18 }, "invalid"},
		"101 units":       {func(r *ordering.Request) { r.Items = many[:6]; setQty(r.Items, 20) }, "invalid"},
		"long notes":      {func(r *ordering.Request) { r.Items[0].Notes = long }, "invalid"},
		"no key":          {func(r *ordering.Request) { r.ClientTxnID = "" }, "invalid"},
		"a member's key":  {func(r *ordering.Request) { r.ClientTxnID = "user:7:a" }, "invalid"},
		"unknown item":    {func(r *ordering.Request) { r.Items[0].ItemID = 999 }, "item_unknown"},
		"unknown version": {func(r *ordering.Request) { r.MenuVersionID = 9 }, "menu_version_closed"},
		"another visit":   {func(r *ordering.Request) { r.VisitID = "other" }, "visit_mismatch"},
		"another total":   {func(r *ordering.Request) { r.ExpectedTotal = &total }, "price_changed"},
		"unknown method":  {func(r *ordering.Request) { r.Method = "GOLD" }, "payment_method_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			req := request("k", ordering.RequestItem{ItemID: 101, Qty: 1})
			c.change(&req)
			_, err := s.Place(t.Context(), guest, req)
			var f *fault.Error
			if !errors.As(err, &f) || f.PublicCode() != c.code {
				t.Errorf("got %v, want %s", err, c.code)
			}
		})
	}
	if counts := r.Counts(t); len(counts) != 0 {
		t.Errorf("a refusal left %v", counts)
	}
}

func setQty(items []ordering.RequestItem, qty int64) {
	for i := range items {
		items[i].Qty = qty
	}
}

// I11: equal concurrent requests share one execution, so they never compete with each other for the last unit.
func TestService_Place_atOnce(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var taken atomic.Int64 // the cache admits a single unit
		g := &admission{try: func(stock.Hold) stock.AdmissionResult {
			if taken.Add(1) > 1 {
				return stock.AdmissionResult{Status: stock.Refused, Short: []stock.Shortage{{Item: 101, Requested: 1}}}
			}
			return stock.AdmissionResult{Status: stock.Admitted}
		}}
		s, _, guest := service(t, db, g, 1)
		var made atomic.Int64
		ids := sync.Map{}
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				got, err := s.Place(t.Context(), guest, request("same"))
				if err != nil {
					t.Error(err)
				}
				if got.New {
					made.Add(1)
				}
				ids.Store(got.Order.ID, true)
			})
		}
		wg.Wait()
		n := 0
		ids.Range(func(any, any) bool { n++; return true })
		if n != 1 || made.Load() != 1 {
			t.Errorf("%d orders, made %d times", n, made.Load())
		}
		// The cache refuses now, but a repetition still returns the confirmed order (I5).
		if got, err := s.Place(t.Context(), guest, request("same")); err != nil || got.New {
			t.Errorf("repeated when sold out: %+v, %v", got, err)
		}
		if _, err := s.Place(t.Context(), guest, request("same", ordering.RequestItem{ItemID: 101, Qty: 2})); !errors.Is(err, ordering.ErrIdempotency) {
			t.Errorf("another body when sold out: error %v, want ErrIdempotency", err)
		}
		if _, err := s.Place(t.Context(), guest, request("other")); !errors.Is(err, ordering.ErrSoldOut) {
			t.Errorf("another request: error %v, want ErrSoldOut", err)
		}
	})
}

// A provisional hold is released if the ledger has refused its order, and only then.
func TestService_Place_drops_provisional_holds(t *testing.T) {
	g := &admission{try: admit}
	s, r, guest := service(t, sqldbtest.SQLite(t), g, 1)
	first, err := s.Place(t.Context(), guest, request("a"))
	if err != nil || len(g.dropped) != 0 {
		t.Fatalf("%v, abandoned %v", err, g.dropped)
	}
	if _, err := s.Place(t.Context(), guest, request("b")); !errors.Is(err, ordering.ErrSoldOut) || len(g.dropped) != 1 {
		t.Errorf("over-admitted by the gate: %v, abandoned %v", err, g.dropped)
	}
	if again, err := s.Place(t.Context(), guest, request("a")); err != nil || again.Order.ID != first.Order.ID || len(g.dropped) != 2 {
		t.Errorf("repeated: %v, abandoned %v", err, g.dropped)
	}
	r.NextVisit(t)
	if _, err := s.Place(t.Context(), guest, request("c")); !errors.Is(err, ordering.ErrVisitClosed) || len(g.dropped) != 3 {
		t.Errorf("closed visit: %v, abandoned %v", err, g.dropped)
	}
}

func TestService_unpaidOrdersAreLimited(t *testing.T) {
	s, _, guest := service(t, sqldbtest.SQLite(t), &admission{try: admit}, 100)
	limited(s, ordering.Limits{UnpaidPerGuest: 2, UnpaidPerVisit: 3})
	place := func(hash, key string) error {
		g := guest
		g.Hash = hash
		_, err := s.Place(t.Context(), g, request(key))
		return err
	}
	for i, c := range []struct {
		hash string
		want error
	}{{"one", nil}, {"one", nil}, {"one", ordering.ErrUnpaid}, {"two", nil}, {"two", ordering.ErrUnpaid}} {
		if err := place(c.hash, fmt.Sprint(i)); !errors.Is(err, c.want) {
			t.Errorf("order %d of %s: %v, want %v", i, c.hash, err, c.want)
		}
	}
}

// The whole party sees an order, but only the phone that placed it may cancel it. Other guests do not see it.
func TestService_ownership(t *testing.T) {
	s, _, guest := service(t, sqldbtest.SQLite(t), &admission{try: admit}, 10)
	placed := testenv.Must(s.Place(t.Context(), guest, request("a")))(t)
	id, friend, stranger := placed.Order.ID, guest, guest
	friend.Hash, stranger.VisitID = "friend", "another visit"
	if _, err := s.Order(t.Context(), friend, id); err != nil {
		t.Errorf("a friend looks: %v", err)
	}
	var f *fault.Error
	if _, err := s.Cancel(t.Context(), friend, id); !errors.As(err, &f) || f.Kind != fault.Forbidden {
		t.Errorf("a friend cancels: %v", err)
	}
	if _, err := s.ExtendDeadline(t.Context(), friend, id, placed.Order.PayBy); !errors.As(err, &f) || f.Kind != fault.Forbidden {
		t.Errorf("a friend asks for time: %v", err)
	}
	for name, err := range map[string]error{
		"look":        second(s.Order(t.Context(), stranger, id)),
		"more time":   second(s.ExtendDeadline(t.Context(), stranger, id, placed.Order.PayBy)),
		"cancel":      second(s.Cancel(t.Context(), stranger, id)),
		"pay":         third(s.Pay(t.Context(), stranger, id, payment.Counter, ordering.Client{})),
		"no such id":  second(s.Order(t.Context(), guest, "06gvr4e1p1o037h61gjti47ea8")),
		"no id":       second(s.Order(t.Context(), guest, "' OR 1=1 --")),
		"staff, none": second(s.Cancel(t.Context(), ordering.Staff(authz.System()), "*")),
	} {
		if !errors.Is(err, ordering.ErrNotFound) {
			t.Errorf("%s: error %v, want ErrNotFound", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

func TestConfig_Validate(t *testing.T) {
	testenv.NoError(t, ordering.Defaults().Validate())
	for _, c := range []ordering.Config{{}, {PaymentWindow: 25 * time.Hour}, {PaymentWindow: time.Minute, ExpiryGrace: -1}} {
		if c.Validate() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

const someID = "06gvr4e1p1o037h61gjti47ea8"

type owners struct{ ordering.Payments }

func (owners) Owner(context.Context, string) (string, int64, bool, error) {
	return someID, 1, true, nil
}

type unreachableReader struct{ ordering.Reader }

var errAway = errors.New("the database is away")

func (unreachableReader) Order(context.Context, string) (ordering.Detail, bool, error) {
	return ordering.Detail{}, false, errAway
}

// A database error must not be reported as an unknown attempt: the gateway has to retry.
func TestService_Attempt_without_database(t *testing.T) {
	s := &ordering.Service{Payments: owners{}, Reader: unreachableReader{}}
	_, _, err := s.Attempt(t.Context(), someID)
	if !errors.Is(err, errAway) || errors.Is(err, payment.ErrAttempt) {
		t.Errorf("answered %v", err)
	}
}
