package orderingsql_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// listings places orders on two dates, 1 (paid), 2 (canceled) and 3 on the first, 1 and 2 (paid) on the second, and one
// in another branch.
func listings(t *testing.T, db *sqldb.DB) *orderingsql.Orders {
	t.Helper()
	r, l := restaurant(t, db, stock.Unlimited)
	other := orderingtest.Open(t, db, 2, stock.Unlimited)
	now := db.Now()
	do := func(c ordering.Command) ordering.Order {
		t.Helper()
		res := testenv.Must(l.Do(t.Context(), c))(t)
		return res.Order
	}
	place := func(date, key string) ordering.Order {
		c := r.Place(key, now, time.Hour, stock.Line{Item: 101, Qty: 2})
		scope := stock.Scope{Branch: 1, Date: date}
		c.Order.Scope, c.Hold.Scope = scope, scope
		return do(c)
	}
	do(orderingtest.Pay(place("2026-02-26", "a").ID, now))
	do(orderingtest.End(place("2026-02-26", "b").ID, ordering.UserCanceled))
	place("2026-02-26", "c")
	place("2026-02-27", "d")
	do(orderingtest.Pay(place("2026-02-27", "e").ID, now))
	do(other.Place("a", now, time.Hour, stock.Line{Item: 201, Qty: 1}))
	return orderingsql.NewOrders(db)
}

func TestOrders_Listed(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := listings(t, db)
		first := ordering.Dates{From: "2026-02-26", To: "2026-02-26"}
		for _, c := range []struct {
			name  string
			f     ordering.OrderFilter
			want  []string
			total int64
		}{
			{"all", ordering.OrderFilter{Limit: 9}, []string{"27/2", "27/1", "26/3", "26/2", "26/1"}, 5},
			{"a page", ordering.OrderFilter{Limit: 2, Offset: 1}, []string{"27/1", "26/3"}, 5},
			{"behind the last page", ordering.OrderFilter{Limit: 2, Offset: 6}, nil, 5},
			{"a date", ordering.OrderFilter{Dates: first, Limit: 9}, []string{"26/3", "26/2", "26/1"}, 3},
			{"a status", ordering.OrderFilter{Status: ordering.Canceled, Limit: 9}, []string{"26/2"}, 1},
			{"a payment status", ordering.OrderFilter{PaymentStatus: ordering.Paid, Limit: 9}, []string{"27/2", "26/1"}, 2},
			{"a number", ordering.OrderFilter{Number: ordering.NumberFilter{Whole: 2}, Limit: 9}, []string{"27/2", "26/2"}, 2},
			{"digits", ordering.OrderFilter{Number: ordering.NumberFilter{Digits: 3}, Limit: 9}, []string{"26/3"}, 1},
			{"another series", ordering.OrderFilter{Number: ordering.NumberFilter{Whole: 1001}, Limit: 9}, nil, 0},
			{"all at once", ordering.OrderFilter{
				Dates: first, Status: ordering.Placed, PaymentStatus: ordering.Paid, Number: ordering.NumberFilter{Digits: 1}, Limit: 9,
			}, []string{"26/1"}, 1},
		} {
			c.f.Branch = 1
			page, total := testenv.Must2(s.Listed(t.Context(), c.f))(t)
			var got []string
			for _, o := range page {
				got = append(got, fmt.Sprintf("%s/%d", o.Scope.Date[8:], o.Number))
				if o.Table != "T1" || len(o.Items) != 1 || o.Items[0].Qty != 2 || o.Total != 2*orderingtest.Price {
					t.Errorf("%s: order %+v, want table T1 with 2 units of one item", c.name, o)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" || total != c.total {
				t.Errorf("%s: %d in all (-want +got):\n%s", c.name, total, diff)
			}
		}
	})
}

func TestOrders_ListedAttempts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := listings(t, db)
		for _, c := range []struct {
			name  string
			f     ordering.AttemptFilter
			want  []string
			total int64
		}{
			{"all", ordering.AttemptFilter{Limit: 9}, []string{"27/2 PAID", "27/1 CREATED", "26/3 CREATED", "26/2 CANCELED", "26/1 PAID"}, 5},
			{"a page", ordering.AttemptFilter{Limit: 1, Offset: 4}, []string{"26/1 PAID"}, 5},
			{"from a date", ordering.AttemptFilter{Dates: ordering.Dates{From: "2026-02-27"}, Limit: 9}, []string{"27/2 PAID", "27/1 CREATED"}, 2},
			{"up to a date", ordering.AttemptFilter{Dates: ordering.Dates{To: "2026-02-25"}, Limit: 9}, nil, 0},
			{"a state", ordering.AttemptFilter{State: payment.Paid, Limit: 9}, []string{"27/2 PAID", "26/1 PAID"}, 2},
			{"a method", ordering.AttemptFilter{Method: payment.Counter, Limit: 9}, nil, 0},
			{"both", ordering.AttemptFilter{
				Method: payment.Sandbox, State: payment.Paid, Dates: ordering.Dates{From: "2026-02-26", To: "2026-02-26"}, Limit: 9,
			}, []string{"26/1 PAID"}, 1},
		} {
			c.f.Branch = 1
			page, total := testenv.Must2(s.ListedAttempts(t.Context(), c.f))(t)
			var got []string
			for _, a := range page {
				got = append(got, fmt.Sprintf("%s/%d %s", a.BizDate[8:], a.Number, a.State))
				if (a.State == payment.Created) != a.SettledAt.IsZero() || a.CreatedAt.IsZero() || a.Amount != 2*orderingtest.Price {
					t.Errorf("%s: attempt %+v, want settledAt unless it is open", c.name, a)
				}
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" || total != c.total {
				t.Errorf("%s: %d in all (-want +got):\n%s", c.name, total, diff)
			}
		}
	})
}

// TestOrders_DriftOf checks that DriftOf returns only the differences of the given branch. Here, these are overdue
// holds.
func TestOrders_DriftOf(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := listings(t, db)
		later := db.Now().Add(24 * time.Hour)
		for branch, want := range map[int64]int{0: 3, 1: 2, 2: 1, 3: 0} { // unpaid orders, a day later
			found, err := s.DriftOf(t.Context(), branch, "2026-01-01", later)
			if len(found) != want || err != nil {
				t.Errorf("branch %d: %v, %v", branch, found, err)
			}
		}
	})
}

// TestOrders_phones checks that each order of a visit names the phone that placed it by the rank of its first order, on
// every page.
func TestOrders_phones(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, 100)
		now := db.Now()
		for i, phone := range []string{"zoe", "an", "zoe", "binh"} {
			p := r.Place(fmt.Sprint("k", i), now.Add(time.Duration(i)*time.Second), time.Hour, stock.Line{Item: 101, Qty: 1})
			p.Order.GuestHash = phone
			testenv.Must(l.Do(t.Context(), p))(t)
		}
		s := &ordering.Service{Reader: orderingsql.NewOrders(db)}
		var got []string
		for page := range 2 {
			orders, total, err := s.Orders(t.Context(), ordering.Guest{Branch: 1, VisitID: r.Visit, Hash: "an"}, 2, 2*page)
			if err != nil || total != 4 {
				t.Fatalf("%d orders, %v", total, err)
			}
			for _, o := range orders {
				got = append(got, fmt.Sprint(o.GuestHash, " ", o.Phone, " ", o.Mine))
			}
		}
		testenv.Equal(t, []string{"binh 3 false", "zoe 1 false", "an 2 true", "zoe 1 false"}, got)
	})
}
