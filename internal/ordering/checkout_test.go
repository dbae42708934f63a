package ordering_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"comanda/internal/authz"
	"comanda/internal/cart"
	"comanda/internal/cart/carttest"
	"comanda/internal/document/documenttest"
	"comanda/internal/fault"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

// shop is the ordering service with carts, as one process runs it.
type shop struct {
	*ordering.Service

	fixture   *carttest.Fixture
	admission *admission
}

func newShop(t testing.TB, h *carttest.Fixture) *shop {
	t.Helper()
	g := &admission{try: admit}
	l := orderingsql.NewLedger(h.DB, g, h.Clock.Now)
	t.Cleanup(l.Stop)
	s := &ordering.Service{
		Settings: func() ordering.Settings {
			return ordering.Settings{Config: ordering.Defaults(), Methods: payment.NewMethods(payment.Sandbox)}
		},
		Ledger: l, Admission: g, Reader: orderingsql.NewOrders(h.DB), Catalog: h.Menus, Carts: h.Carts, Now: h.Clock.Now,
	}
	return &shop{s, h, g}
}

// otherProcess returns the service of another process on the same stores.
func (s *shop) otherProcess(t testing.TB) *shop {
	t.Helper()
	return newShop(t, carttest.OpenProcess(t, s.fixture.Restaurant, s.fixture.Clock))
}

// eachShop runs a test on each database engine.
func eachShop(t *testing.T, test func(t *testing.T, s *shop), quotas ...int64) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(t, newShop(t, carttest.Open(t, db, quotas...))) })
}

func (s *shop) drift(t testing.TB) {
	t.Helper()
	found := testenv.Must(orderingsql.NewOrders(s.fixture.DB).Drift(t.Context(), "2026-01-01", s.fixture.Clock.Now()))(t)
	counters := testenv.Must(stocksql.New(s.fixture.DB).Drift(t.Context(), "2026-01-01"))(t)
	for _, d := range append(found, counters...) {
		t.Error(d)
	}
}

var lan = ordering.Receiver{
	Name: "Lan", Phone: "0912345678", Address: "12 Hàng Bạc, Hà Nội", Email: "lan@example.com", Note: "Cổng 2\nTầng 3",
}

func checkout(key string) ordering.Checkout {
	return ordering.Checkout{Kind: ordering.Delivery, Receiver: lan, Method: payment.Sandbox, ClientTxnID: key}
}

// A checkout turns all lines of the cart into an order and deletes the cart.
func TestService_CheckOut(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		member := s.fixture.Member(t, 7)
		s.fixture.AddDishes(t, member, 2, 101, 102)
		total := int64(4 * orderingtest.Price)
		c := checkout("a")
		c.ExpectedTotal, c.Receiver.Phone = &total, " 0912-345-678"
		got, err := s.CheckOut(t.Context(), member, c)
		if err != nil || !got.New {
			t.Fatal(got.New, err)
		}
		o := got.Order
		if o.Kind != ordering.Delivery || o.UserID != 7 || o.Receiver != lan || o.VisitID != "" || o.GuestHash != "" || o.Total != total ||
			o.Number != 1 || o.Scope != (stock.Scope{Branch: 1, Date: "2026-02-26"}) || o.PaymentStatus != ordering.Unpaid {
			t.Errorf("order = %+v, want an unpaid delivery to lan, number 1 of the day, for %d", o, total)
		}
		want := []ordering.Item{
			{ItemID: 101, DishID: 101, Name: "Dish", Names: `{"en":"Dish"}`, Price: orderingtest.Price, Qty: 2},
			{ItemID: 102, DishID: 102, Name: "Dish", Names: `{"en":"Dish"}`, Price: orderingtest.Price, Qty: 2},
		}
		d, err := s.Order(t.Context(), ordering.Member(member), o.ID)
		if diff := cmp.Diff(want, d.Items, cmpopts.IgnoreFields(ordering.Item{}, "NameID")); diff != "" || err != nil || d.Receiver != lan || d.Kind != o.Kind || len(d.Attempts) != 1 {
			t.Error(diff, err, d.Receiver)
		}
		if rows := s.fixture.Rows(t); rows != (carttest.Rows{Orders: 1, Holds: 1}) {
			t.Errorf("rows = %+v, want one order, one hold and no cart", rows)
		}
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: 10, Held: 2}, {Item: 102, Cap: -1, Held: 2}}, s.fixture.Counts(t))
		s.drift(t)
	}, 10, stock.Unlimited)
}

// A checkout is decided by the menu item of its kind only: a dish that is sold out for delivery can be picked up, and the
// other way round. That holds for the cached cart and for the stored one.
func TestService_CheckOut_of_a_kind(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		items := s.fixture.SplitMenus(t, 900, 2, 101)
		member := s.fixture.Member(t, 7)
		place := func(p *shop, key string, kind ordering.Kind, want string) {
			t.Helper()
			s.fixture.AddDishes(t, member, 1, 101)
			c := checkout(key)
			c.Kind = kind
			got, err := p.CheckOut(t.Context(), member, c)
			f, _ := errors.AsType[*fault.Error](err)
			if (err == nil) != (want == "") || f != nil && f.PublicCode() != want {
				t.Fatalf("checkout %s: %v, want code %q", key, err, want)
			}
			price := map[ordering.Kind]int64{ordering.Delivery: orderingtest.Price, ordering.PickUp: 900}[kind]
			if err == nil && got.Order.Total != price {
				t.Errorf("checkout %s costs %d, want %d", key, got.Order.Total, price)
			}
			testenv.Must(s.fixture.Carts.Empty(t.Context(), member))(t)
		}
		other := s.otherProcess(t) // has no cached cart
		place(s, "a", ordering.Delivery, "")
		place(s, "b", ordering.Delivery, "sold_out")
		place(other, "c", ordering.Delivery, "sold_out")
		place(s, "d", ordering.PickUp, "")
		place(other, "e", ordering.PickUp, "")
		place(s, "f", ordering.PickUp, "sold_out")
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: 1, Held: 1}, {Item: items[0], Cap: 2, Held: 2}}, s.fixture.Counts(t))
		s.drift(t)
	}, 1)
}

// A refused checkout leaves the cart unchanged and writes nothing.
func TestService_CheckOut_refuses(t *testing.T) {
	less := int64(1)
	for name, c := range map[string]struct {
		before func(t *testing.T, s *shop)
		change func(*ordering.Checkout)
		code   string
		extra  map[string]any
	}{
		"another total":    {nil, func(c *ordering.Checkout) { c.ExpectedTotal = &less }, "price_changed", map[string]any{"currentTotal": int64(4000)}},
		"an unknown way":   {nil, func(c *ordering.Checkout) { c.Method = "GOLD" }, "payment_method_unavailable", nil},
		"no receiver":      {nil, func(c *ordering.Checkout) { c.Receiver = ordering.Receiver{} }, "invalid", map[string]any{"field": "receiverName"}},
		"at a table":       {nil, func(c *ordering.Checkout) { c.Kind = ordering.DineIn }, "invalid", map[string]any{"field": "kind"}},
		"an unknown place": {nil, func(c *ordering.Checkout) { c.Branch = 99 }, "branch_not_found", nil},
		"a dish of the other branch": {
			func(t *testing.T, s *shop) { t.Helper(); orderingtest.Open(t, s.fixture.DB, 2, 5) },
			func(c *ordering.Checkout) { c.Branch = 2 }, "dish_unavailable", nil,
		},
		"closed": {func(t *testing.T, s *shop) { t.Helper(); s.fixture.SetOpen(t, 1, false) }, nil, "branch_closed", nil},
		"closed by its hours": {func(t *testing.T, s *shop) {
			t.Helper()
			s.fixture.SetHours(t, 1, `{"weekly":{},"exceptions":[{"date":"2026-02-26","periods":[]}]}`)
		}, nil, "branch_closed", map[string]any{"opensAt": time.Date(2026, 2, 26, 17, 0, 0, 0, time.UTC)}},
		"a dish has left the menu": {
			func(t *testing.T, s *shop) { t.Helper(); s.fixture.Drop(t, 102) }, nil, "dish_unavailable",
			map[string]any{"cartDetailIds": []string{"2"}},
		},
		"the gate refuses": {func(t *testing.T, s *shop) {
			t.Helper()
			s.admission.try = func(stock.Hold) stock.AdmissionResult {
				return stock.AdmissionResult{Status: stock.Refused, Short: []stock.Shortage{{Item: 101, Requested: 2, Available: 1}}}
			}
		}, nil, "sold_out", map[string]any{"lines": []ordering.ShortLine{{ItemID: 101, Requested: 2, Available: 1}}}},
		"the ledger refuses": {func(t *testing.T, s *shop) {
			t.Helper()
			s.fixture.SetQuota(t, 101, 1, "2026-02-26", s.fixture.Clock.Now())
		}, nil, "sold_out", map[string]any{"lines": []ordering.ShortLine{{ItemID: 101, Requested: 2, Available: 1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			eachShop(t, func(t *testing.T, s *shop) {
				member := s.fixture.Member(t, 7)
				s.fixture.AddDishes(t, member, 2, 101, 102)
				if c.before != nil {
					c.before(t, s)
				}
				before, rows := s.fixture.Get(t, member).Cart, s.fixture.Rows(t)
				in := checkout("a")
				if c.change != nil {
					c.change(&in)
				}
				_, err := s.CheckOut(t.Context(), member, in)
				var f *fault.Error
				if !errors.As(err, &f) || f.PublicCode() != c.code {
					t.Fatalf("%v, want %s", err, c.code)
				}
				for field, want := range c.extra {
					if diff := cmp.Diff(want, f.Extra[field]); diff != "" {
						t.Errorf("field %s (-want +got):\n%s", field, diff)
					}
				}
				if diff := cmp.Diff(before, s.fixture.Get(t, member).Cart); diff != "" || s.fixture.Rows(t) != rows {
					t.Errorf("rows %+v, want %+v; cart (-before +after):\n%s", s.fixture.Rows(t), rows, diff)
				}
				s.drift(t)
			}, 10, stock.Unlimited)
		})
	}
}

func TestService_CheckOut_empty(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		member := s.fixture.Member(t, 7)
		if _, err := s.CheckOut(t.Context(), member, checkout("a")); !errors.Is(err, cart.ErrEmpty) {
			t.Errorf("CheckOut without a cart: error %v, want ErrEmpty", err)
		}
		s.fixture.AddDishes(t, member, 1, 101)
		testenv.Must(s.fixture.Carts.Empty(t.Context(), member))(t)
		if _, err := s.CheckOut(t.Context(), member, checkout("a")); !errors.Is(err, cart.ErrEmpty) {
			t.Errorf("CheckOut of an empty cart: error %v, want ErrEmpty", err)
		}
	}, 10)
}

// C5: a process tries its cached cart first. If another process has changed the cart, that change still decides which
// lines are ordered and whether the order is refused.
func TestService_CheckOut_remembered(t *testing.T) {
	for name, c := range map[string]struct {
		local, remote int64 // quantities of dish 101 that each process adds, one after the other
		after         func(t *testing.T, other *shop, member authz.Actor)
		want          int64 // quantity of dish 101 in the order; 0: none
		err           error
	}{
		"as it was":         {local: 2, want: 2},
		"more":              {local: 2, remote: 1, want: 3},
		"too much":          {local: 2, remote: 9, err: ordering.ErrSoldOut},
		"less":              {local: 11, after: takeAway(t, 10), want: 1},
		"empty":             {local: 2, after: takeAway(t, 0), err: cart.ErrEmpty},
		"empty, and less":   {local: 11, remote: 1, after: takeAway(t, 0), err: cart.ErrEmpty},
		"another cart":      {local: 2, after: orderAndPut(3), want: 3},
		"imported":          {local: 2, after: importLine(5), want: 5},
		"ordered elsewhere": {local: 2, after: orderAndPut(0), err: cart.ErrEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			eachShop(t, func(t *testing.T, s *shop) {
				other, member := s.otherProcess(t), s.fixture.Member(t, 7)
				s.fixture.AddDishes(t, member, c.local, 101)
				if c.remote > 0 {
					other.fixture.AddDishes(t, member, c.remote, 101)
				}
				if c.after != nil {
					c.after(t, other, member)
				}
				before := s.fixture.Rows(t)
				got, err := s.CheckOut(t.Context(), member, checkout("here"))
				if !errors.Is(err, c.err) || got.New != (c.err == nil) {
					t.Fatalf("%v, %v; want %v", got.New, err, c.err)
				}
				if c.err != nil {
					if s.fixture.Rows(t) != before {
						t.Errorf("rows after the refusal = %+v, want %+v", s.fixture.Rows(t), before)
					}
				} else if len(got.Order.Items) != 1 || got.Order.Items[0].Qty != c.want {
					t.Errorf("ordered %+v, want %d", got.Order.Items, c.want)
				}
				s.drift(t)
			}, 10)
		})
	}
}

// takeAway removes n of dish 101 from the cart, or everything if n is 0.
func takeAway(t *testing.T, n int64) func(*testing.T, *shop, authz.Actor) {
	t.Helper()
	return func(t *testing.T, other *shop, member authz.Actor) {
		t.Helper()
		line := other.fixture.Get(t, member).Items[0]
		var err error
		if n == 0 {
			_, err = other.fixture.Carts.Empty(t.Context(), member)
		} else {
			_, _, err = other.fixture.Carts.SetQuantity(t.Context(), member, line.ID, line.Quantity-n)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// importLine sets the quantity of dish 101 to n as an import does: the line's version rises, the cart's does not.
func importLine(n int64) func(*testing.T, *shop, authz.Actor) {
	return func(t *testing.T, other *shop, member authz.Actor) {
		t.Helper()
		before := other.fixture.Get(t, member)
		fixture := documenttest.Writer{DB: other.fixture.DB}
		testenv.NoError(t, fixture.PutDetail(t.Context(), before.Items[0].ID, before.ID, before.Items[0].DishID, n))
		if now := other.fixture.Get(t, member); now.Version != before.Version || now.Items[0].Quantity != n {
			t.Fatalf("imported cart = %+v, want a newer version of %+v", now.Cart, before.Cart)
		}
	}
}

// orderAndPut orders the cart, and starts another one with n of dish 101.
func orderAndPut(n int64) func(*testing.T, *shop, authz.Actor) {
	return func(t *testing.T, other *shop, member authz.Actor) {
		t.Helper()
		testenv.Must(other.CheckOut(t.Context(), member, checkout("there")))(t)
		if n > 0 {
			other.fixture.AddDishes(t, member, n, 101)
		}
	}
}

// The branch is the chosen one, or else the cart's, or else the first open one.
func TestService_CheckOut_branch(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		second := orderingtest.Open(t, s.fixture.DB, 2, stock.Unlimited)
		member, other := s.fixture.Member(t, 7), s.fixture.Member(t, 8)
		of := func(member authz.Actor, c ordering.Checkout) int64 {
			t.Helper()
			got := testenv.Must(s.CheckOut(t.Context(), member, c))(t)
			return got.Order.Scope.Branch
		}
		s.fixture.AddDishes(t, member, 1, 101)
		if b := of(member, checkout("first")); b != 1 {
			t.Errorf("CheckOut without a branch: branch %d, want 1", b)
		}
		testenv.Must2(s.fixture.Carts.Add(t.Context(), member, 201, 1, 2))(t)
		if b := of(member, checkout("cart's")); b != 2 {
			t.Errorf("CheckOut of a cart of branch 2: branch %d, want 2", b)
		}
		s.fixture.SetOpen(t, 1, false)
		s.fixture.AddDishes(t, other, 1, 201)
		if b := of(other, checkout("open")); b != 2 {
			t.Errorf("CheckOut while branch 1 is closed: branch %d, want 2", b)
		}
		s.fixture.SetOpen(t, 1, true)
		testenv.Must2(s.fixture.Carts.Add(t.Context(), member, 101, 1, 1))(t)
		chosen := checkout("chosen")
		chosen.Branch = 2
		if _, err := s.CheckOut(t.Context(), member, chosen); !errors.Is(err, ordering.ErrUnavailable) {
			t.Errorf("dishes of branch 1 from branch 2: error %v, want ErrUnavailable", err)
		}
		testenv.Equal(t, 1, len(second.Counts(t)))
	}, stock.Unlimited)
}

// I11: a repetition returns the same order, even if the cart is gone or filled again, or its dishes are sold out.
func TestService_CheckOut_again(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		member, other := s.fixture.Member(t, 7), s.fixture.Member(t, 8)
		s.fixture.AddDishes(t, member, 2, 101)
		first, err := s.CheckOut(t.Context(), member, checkout("a"))
		if err != nil || !first.New {
			t.Fatal(err)
		}
		again := func(why string) {
			t.Helper()
			got, err := s.CheckOut(t.Context(), member, checkout("a"))
			if err != nil || got.New || got.Order.ID != first.Order.ID || got.Order.Number != first.Order.Number {
				t.Errorf("%s: CheckOut = %+v, %v, want the first order %s", why, got, err, first.Order.ID)
			}
			changed := checkout("a")
			changed.Receiver.Name = "Minh"
			if _, err := s.CheckOut(t.Context(), member, changed); !errors.Is(err, ordering.ErrIdempotency) {
				t.Errorf("%s, another receiver: error %v, want ErrIdempotency", why, err)
			}
			changed = checkout("a")
			changed.Receiver.Note = ""
			if _, err := s.CheckOut(t.Context(), member, changed); !errors.Is(err, ordering.ErrIdempotency) {
				t.Errorf("%s, no note: error %v, want ErrIdempotency", why, err)
			}
		}
		again("the cart is gone")
		filled := s.fixture.AddDishes(t, member, 1, 101)
		again("the cart is full again")
		s.admission.try = func(stock.Hold) stock.AdmissionResult { return stock.AdmissionResult{Status: stock.Refused} }
		again("sold out")
		s.fixture.Drop(t, 101)
		again("the dish has left the menu")
		s.fixture.SetOpen(t, 1, false)
		again("closed")
		testenv.Equal(t, filled.Cart, s.fixture.Get(t, member).Cart)
		s.admission.try = admit
		if _, err := s.CheckOut(t.Context(), other, checkout("a")); !errors.Is(err, cart.ErrEmpty) {
			t.Errorf("another member's clientTxnId: error %v, want ErrEmpty", err)
		}
		if rows := s.fixture.Rows(t); rows.Orders != 1 || rows.Holds != 1 {
			t.Errorf("rows = %+v, want one order and one hold", rows)
		}
		s.drift(t)
	}, 10, 10)
}

// The same request sent to two processes at once has one effect, and so do different requests about one cart.
func TestService_CheckOut_at_once(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		shops := []*shop{s, s.otherProcess(t)}
		same, others := s.fixture.Member(t, 7), s.fixture.Member(t, 8)
		s.fixture.AddDishes(t, same, 1, 101)
		s.fixture.AddDishes(t, others, 1, 101)
		var made, won atomic.Int64
		var ids sync.Map
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				got, err := shops[i%2].CheckOut(t.Context(), same, checkout("same"))
				if err != nil {
					t.Error(err)
				}
				if ids.Store(got.Order.ID, true); got.New {
					made.Add(1)
				}
			})
			wg.Go(func() {
				switch _, err := shops[i%2].CheckOut(t.Context(), others, checkout(fmt.Sprint(i))); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, cart.ErrEmpty) && !errors.Is(err, cart.ErrChanged):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		n := 0
		ids.Range(func(any, any) bool { n++; return true })
		if n != 1 || made.Load() != 1 || won.Load() != 1 {
			t.Errorf("%d orders, made %d times, %d of one cart; want one each", n, made.Load(), won.Load())
		}
		if rows := s.fixture.Rows(t); rows != (carttest.Rows{Orders: 2, Holds: 2}) {
			t.Errorf("rows = %+v, want two orders and two holds", rows)
		}
		s.drift(t)
	}, 10)
}

// A cart that changes between reading and commit is not ordered, and keeps the change. The service reads it again
// once.
func TestService_CheckOut_changed_meanwhile(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		member := s.fixture.Member(t, 7)
		s.fixture.AddDishes(t, member, 1, 101)
		s.admission.try = func(h stock.Hold) stock.AdmissionResult {
			s.fixture.AddDishes(t, member, 1, 102) // as another phone would
			return admit(h)
		}
		if _, err := s.CheckOut(t.Context(), member, checkout("a")); !errors.Is(err, cart.ErrChanged) {
			t.Errorf("CheckOut of a changed cart: error %v, want ErrChanged", err)
		}
		if v := s.fixture.Get(t, member); len(v.Items) != 2 || len(s.admission.dropped) != 2 {
			t.Errorf("%d dishes in the cart, want 2; holds dropped: %v, want 2", len(v.Items), s.admission.dropped)
		}
		s.admission.try = admit
		testenv.Equal(t, 2, len(testenv.Must(s.CheckOut(t.Context(), member, checkout("a")))(t).Order.Items))
		s.drift(t)
	}, 10, 10)
}

// C4: if the transaction fails, the cart remains and there is no order.
func TestService_CheckOut_fails_half_way(t *testing.T) {
	stmts := sqldb.Load(fstest.MapFS{
		"spoke.sql": {Data: []byte(`CREATE TABLE spoke (cart_id BIGINT NOT NULL REFERENCES cart (id))`)},
		"put.sql":   {Data: []byte(`INSERT INTO spoke (cart_id) SELECT id FROM cart`)},
		"clear.sql": {Data: []byte(`DELETE FROM spoke`)},
	})
	eachShop(t, func(t *testing.T, s *shop) {
		run := func(name string) {
			t.Helper()
			testenv.Must(s.fixture.DB.Exec(context.Background(), stmts.Must(name)))(t)
		}
		member := s.fixture.Member(t, 7)
		before := s.fixture.AddDishes(t, member, 2, 101)
		run("spoke")
		run("put") // the cart, which the transaction deletes last, can no longer be deleted
		if _, err := s.CheckOut(t.Context(), member, checkout("a")); err == nil {
			t.Fatal("the cart was deleted after all")
		}
		testenv.Equal(t, before.Cart, s.fixture.Get(t, member).Cart)
		if rows := s.fixture.Rows(t); rows != (carttest.Rows{Carts: 1, Lines: 1}) {
			t.Errorf("rows = %+v, want only the cart with its line", rows)
		}
		run("clear")
		if got, err := s.CheckOut(t.Context(), member, checkout("a")); err != nil || !got.New {
			t.Errorf("the same request again: %v, want a new order", err)
		}
		if rows := s.fixture.Rows(t); rows != (carttest.Rows{Orders: 1, Holds: 1}) {
			t.Errorf("rows = %+v, want one order and one hold", rows)
		}
		s.drift(t)
	}, 10)
}

// 200 members check out at once against a quota of 60, in two processes ("It holds when", item 5).
func TestService_CheckOut_storm(t *testing.T) {
	const members, quota = 200, 60
	eachShop(t, func(t *testing.T, s *shop) {
		shops := []*shop{s, s.otherProcess(t)}
		member, before := make([]authz.Actor, members), make([]cart.Cart, members)
		for i := range members {
			member[i] = s.fixture.Member(t, int64(i+1))
			before[i] = s.fixture.AddDishes(t, member[i], 1, 101).Cart
		}
		var won atomic.Int64
		var wg sync.WaitGroup
		lost := make([]bool, members)
		for i := range members {
			wg.Go(func() {
				_, err := shops[i%2].CheckOut(t.Context(), member[i], checkout("storm"))
				if err == nil {
					won.Add(1)
				} else if lost[i] = errors.Is(err, ordering.ErrSoldOut); !lost[i] {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for i := range members {
			now := s.fixture.Get(t, member[i]).Cart
			if lost[i] && cmp.Diff(before[i], now) != "" || !lost[i] && now.ID != 0 {
				t.Errorf("member %d, refused %t: cart %+v, before %+v; want it kept exactly if refused", i, lost[i], now, before[i])
			}
		}
		rows := s.fixture.Rows(t)
		want := carttest.Rows{Carts: members - quota, Lines: members - quota, Orders: quota, Holds: quota}
		if won.Load() != quota || rows != want {
			t.Errorf("%d orders, rows %+v, want %d and %+v", won.Load(), rows, quota, want)
		}
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: quota, Held: quota}}, s.fixture.Counts(t))
		s.drift(t)
	}, quota)
}

// The limit on unpaid orders counts each member's orders separately.
func TestService_CheckOut_unpaid(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		limited(s.Service, ordering.Limits{UnpaidPerGuest: 2, UnpaidPerVisit: 1})
		member, other := s.fixture.Member(t, 7), s.fixture.Member(t, 8)
		out := func(member authz.Actor, key string) (ordering.Receipt, error) {
			s.fixture.AddDishes(t, member, 1, 101)
			return s.CheckOut(t.Context(), member, checkout(key))
		}
		first := testenv.Must(out(member, "a"))(t)
		if _, err := out(member, "b"); err != nil {
			t.Error(err)
		}
		testenv.ErrorIs(t, ordering.ErrUnpaid, testenv.Err(out(member, "c")), "third unpaid order")
		if _, err := out(other, "a"); err != nil {
			t.Errorf("order of another member: %v", err)
		}
		if _, err := s.Cancel(t.Context(), ordering.Member(member), first.Order.ID); err != nil {
			t.Error(err)
		}
		if _, err := s.CheckOut(t.Context(), member, checkout("c")); err != nil {
			t.Errorf("CheckOut after a cancellation: %v", err)
		}
	}, 10)
}

// Members read, cancel and pay their own orders. Other members receive the same response as for a missing order.
func TestService_member_orders(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		member, other := s.fixture.Member(t, 7), s.fixture.Member(t, 8)
		var ids []string
		for i := range 5 {
			s.fixture.AddDishes(t, member, 1, 101)
			got := testenv.Must(s.CheckOut(t.Context(), member, checkout(fmt.Sprint(i))))(t)
			ids = append([]string{got.Order.ID}, ids...)
			s.fixture.Clock.Advance(1e9)
		}
		dine := testenv.Must(s.Place(t.Context(), ordering.Guest{Branch: 1, VisitID: s.fixture.Visit, Hash: "guest"},
			request("dine-in")))(t)
		page, total, err := s.MemberOrders(t.Context(), member, 2, 1)
		if err != nil || total != 5 || len(page) != 2 || page[0].ID != ids[1] || page[1].ID != ids[2] || len(page[0].Items) != 1 {
			t.Errorf("page of %d of %d orders, %v, want the second and third of 5", len(page), total, err)
		}
		if none, total, err := s.MemberOrders(t.Context(), other, 10, 0); err != nil || total != 0 || len(none) != 0 {
			t.Errorf("another member's list: total %d, %v, want none", total, err)
		}
		otherOrders := []string{dine.Order.ID, "06gvsv4adlo01am6obvdlo01to", "nonsense", strings.Repeat("x", 64), ids[0]}
		for i, id := range otherOrders {
			member := member
			if i == len(otherOrders)-1 {
				member = other
			}
			_, get := s.Order(t.Context(), ordering.Member(member), id)
			_, end := s.Cancel(t.Context(), ordering.Member(member), id)
			_, _, pay := s.Pay(t.Context(), ordering.Member(member), id, payment.Sandbox, ordering.Client{})
			for what, err := range map[string]error{"get": get, "cancel": end, "pay": pay} {
				if !errors.Is(err, ordering.ErrNotFound) {
					t.Errorf("%s another member's order %s: error %v, want ErrNotFound", what, id, err)
				}
			}
		}
		if _, err := s.Order(t.Context(), ordering.Guest{Branch: 1, VisitID: s.fixture.Visit, Hash: "guest"}, ids[0]); !errors.Is(err, ordering.ErrNotFound) {
			t.Errorf("a guest reads a member's order: error %v, want ErrNotFound", err)
		}
		if _, err := s.Order(t.Context(), ordering.Guest{Branch: 1}, ids[0]); !errors.Is(err, ordering.ErrNotFound) {
			t.Errorf("a guest without a visit reads a member's order: error %v, want ErrNotFound", err)
		}
		canceled, err := s.Cancel(t.Context(), ordering.Member(member), ids[0])
		if err != nil || canceled.Status != ordering.Canceled || canceled.CancelReason != ordering.UserCanceled {
			t.Errorf("Cancel = %+v, %v, want CANCELED by the user", canceled, err)
		}
		testenv.Must(s.MockCallback(t.Context(), ids[1], payment.Sandbox, ordering.MockSuccess, "{}"))(t)
		if _, err := s.Cancel(t.Context(), ordering.Member(member), ids[1]); !errors.Is(err, ordering.ErrNotCancelable) {
			t.Errorf("Cancel of a paid order: error %v, want ErrNotCancelable", err)
		}
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: 10, Held: 4, Used: 1}}, s.fixture.Counts(t))
		s.drift(t)
	}, 10)
}

// Section 5.4 of restaurant-redis.md: a checkout creates the order's keys and deletes the cart's.
func TestService_CheckOut_documents(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		m := carttest.NewDocuments(s.fixture.Restaurant, redisdbtest.Embedded(t))
		member := s.fixture.Member(t, 7)
		v := s.fixture.AddDishes(t, member, 2, 101, 102)
		m.Verify(t)
		c, one, two := fmt.Sprint(v.ID), fmt.Sprint(v.Items[0].ID), fmt.Sprint(v.Items[1].ID)
		gone := []string{"cart:" + c, "cart:index:user:7", "user:7:cart", "cart:" + c + ":items", "cartDetail:index:cart:" + c,
			"cartDetail:" + one, "cartDetail:" + two, "cart:list", "cartDetail:list"}
		for _, key := range gone {
			if _, missing := m.Get(t, key); missing {
				t.Errorf("key %s is missing before the checkout", key)
			}
		}
		got := testenv.Must(s.CheckOut(t.Context(), member, checkout("a")))(t)
		m.Verify(t)
		for _, key := range gone {
			if left, missing := m.Get(t, key); !missing {
				t.Errorf("key %s after the checkout = %s, want none", key, left)
			}
		}
		id := got.Order.ID
		lines := id + "-1," + id + "-2"
		for key, want := range map[string]string{
			"order:index:user:7": id, "user:7:orders": id, "order:list": id, "order:" + id + ":details": lines,
			"orderDetail:index:order:" + id: lines, "orderDetail:list": lines,
		} {
			if held, _ := m.Get(t, key); held != want {
				t.Errorf("%s holds %q, want %q", key, held, want)
			}
		}
		doc, _ := m.Get(t, "order:"+id)
		for _, part := range []string{`"userId":"7"`, `"receiverName":"Lan"`, `"receiverPhone":"0912345678"`, `"kind":"DELIVERY"`,
			`"receiverAddress":"12 Hàng Bạc, Hà Nội"`, `"receiverEmail":"lan@example.com"`, `"receiverNote":"Cổng 2\nTầng 3"`, `"totalPrice":4000`} {
			if !strings.Contains(doc, part) {
				t.Errorf("%s is missing in order %s", part, doc)
			}
		}
	}, 10, 10)
}
