package orderingsql_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"comanda/internal/cart"
	"comanda/internal/cart/cartsql"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
	"comanda/internal/visit"
)

// tableCart is a restaurant with a ledger and the store of the cart that its table shares.
type tableCart struct {
	*orderingtest.Restaurant

	t      *testing.T
	ledger *orderingsql.Ledger
	carts  *cartsql.Store
}

func openTableCart(t *testing.T, db *sqldb.DB, quotas ...int64) *tableCart {
	t.Helper()
	r, l := restaurant(t, db, quotas...)
	carts := cartsql.New(db, db.Now)
	t.Cleanup(carts.Stop)
	return &tableCart{r, t, l, carts}
}

// add puts a line of one unit into the cart.
func (c *tableCart) add(guest string, n int) cart.SharedLine {
	c.t.Helper()
	l := cart.SharedLine{ID: fmt.Sprint(guest, "-", n), GuestHash: guest, ItemID: 101, DishID: 101, Quantity: 1}
	if _, err := c.carts.ChangeShared(c.t.Context(), cart.SharedChange{VisitID: c.Visit, Line: l}); err != nil {
		c.t.Error(err)
	}
	return l
}

// order orders lines of the cart.
func (c *tableCart) order(l *orderingsql.Ledger, key string, lines ...cart.SharedLine) (ordering.Result, error) {
	c.t.Helper()
	units := make([]stock.Line, len(lines))
	for i, line := range lines {
		units[i] = stock.Line{Item: line.ItemID, Qty: line.Quantity}
	}
	p := c.Place(key, c.DB.Now(), time.Hour, units...)
	p.SharedLines = lines
	return l.Do(c.t.Context(), p)
}

func (c *tableCart) wantLines(want ...string) {
	c.t.Helper()
	got := testenv.Must(c.carts.Shared(c.t.Context(), c.Visit))(c.t)
	var ids []string
	for _, l := range got.Lines {
		ids = append(ids, l.ID)
	}
	testenv.Equal(c.t, want, ids)
}

// An order takes its lines with it, or is refused and takes none. A repetition returns the order although its lines are
// gone (I11).
func TestLedger_takes_lines_of_the_shared_cart(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := openTableCart(t, db, 5)
		an, binh := c.add("an", 1), c.add("binh", 1)
		more := c.add("binh", 2)
		changed := binh
		changed.Quantity = 2
		for name, lines := range map[string][]cart.SharedLine{
			"as another guest has changed it":  {an, changed},
			"never there":                      {an, {ID: "an-9", ItemID: 101, Quantity: 1}},
			"a line twice":                     {an, an},
			"of a visit that never had a cart": nil,
		} {
			visit := c.Visit
			if lines == nil {
				c.NextVisit(t)
				lines = []cart.SharedLine{an}
			}
			if _, err := c.order(c.ledger, name, lines...); !errors.Is(err, cart.ErrChanged) {
				t.Errorf("%s: error %v, want ErrChanged", name, err)
			}
			if visit != c.Visit {
				c.Reopen(t, visit)
			}
		}
		c.wantLines("an-1", "binh-1", "binh-2")
		first := testenv.Must(c.order(c.ledger, "both", an, binh))(t)
		c.wantLines("binh-2")
		again, err := c.order(c.ledger, "both", an, binh)
		if err != nil || again.Order.ID != first.Order.ID || again.Changed {
			t.Errorf("repeated: %+v, %v", again, err)
		}
		testenv.ErrorIs(t, cart.ErrChanged, testenv.Err(c.order(c.ledger, "another", binh, more)), "ordered before")
		c.wantLines("binh-2")
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: 5, Held: 2}}, c.Counts(t))
		// A sold-out item stays in the cart.
		c.SetQuota(t, 101, 2, first.Order.Scope.Date, db.Now())
		testenv.ErrorIs(t, ordering.ErrSoldOut, testenv.Err(c.order(c.ledger, "sold out", more)), "sold out")
		c.wantLines("binh-2")
	})
}

// A phone repeats its order in another process while the first one commits, right after the business date has changed. The
// repetition returns the order, although its lines are gone (I11).
func TestLedger_same_key_on_two_dates(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const rounds = 30
		c := openTableCart(t, db, 2*rounds)
		second := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now) // like another process
		defer second.Stop()
		c.SetQuota(t, 101, 2*rounds, "2026-02-27", db.Now())
		for i := range rounds {
			an := c.add("an", i)
			var all sync.WaitGroup
			ids := make([]string, 2)
			for j, date := range []string{"2026-02-26", "2026-02-27"} {
				all.Go(func() {
					p := c.Place(fmt.Sprint("repeated", i), db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1})
					p.Order.Scope.Date, p.Hold.Scope.Date, p.SharedLines = date, date, []cart.SharedLine{an}
					placed, err := []*orderingsql.Ledger{c.ledger, second}[j].Do(t.Context(), p)
					if err != nil {
						t.Errorf("round %d, %s: %v", i, date, err)
					}
					ids[j] = placed.Order.ID
				})
			}
			all.Wait()
			if ids[0] != ids[1] {
				t.Errorf("round %d: two orders, %v", i, ids)
			}
		}
		c.wantLines()
	})
}

// Eight phones order at the same moment: one order has the lines, and the other phones are refused.
func TestLedger_shared_cart_in_one_batch(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := openTableCart(t, db, 100)
		if _, err := c.order(c.ledger, "first", c.add("an", 0)); err != nil { // creates the day's counters, which DoAll does not
			t.Fatal(err)
		}
		an, binh := c.add("an", 1), c.add("binh", 1)
		commands := make([]ordering.Command, 8)
		for i := range commands {
			p := c.Place(fmt.Sprint("all", i), db.Now(), time.Hour, stock.Line{Item: 101, Qty: 2})
			p.SharedLines = []cart.SharedLine{an, binh}
			commands[i] = p
		}
		_, failures := c.ledger.DoAll(t.Context(), commands)
		won := 0
		for _, err := range failures {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, cart.ErrChanged):
				t.Error(err)
			}
		}
		testenv.Equal(t, 1, won)
		c.wantLines()
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: 100, Held: 3}}, c.Counts(t))
	})
}

// C6: guests of two processes concurrently add, change and remove lines and order the lines that they see. Each line is
// in at most one order, and no other line is lost.
func TestLedger_shared_cart_race(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := openTableCart(t, db, stock.Unlimited)
		second := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		defer second.Stop()
		ledgers := []*orderingsql.Ledger{c.ledger, second}
		var mu sync.Mutex
		ordered, removed, added := map[string]int{}, map[string]bool{}, map[string]bool{}
		var wg sync.WaitGroup
		for g := range 6 {
			random := rand.New(rand.NewPCG(1, uint64(g)))
			wg.Go(func() {
				guest := fmt.Sprint("guest", g)
				for n := range 12 {
					l := c.add(guest, n)
					mu.Lock()
					added[l.ID] = true
					mu.Unlock()
					seen, err := c.carts.Shared(t.Context(), c.Visit)
					if err != nil {
						t.Error(err)
						return
					}
					switch lines := seen.Lines; {
					case len(lines) == 0:
					case random.IntN(3) == 0:
						out := lines[random.IntN(len(lines))]
						out.Quantity = 0
						after, err := c.carts.ChangeShared(t.Context(), cart.SharedChange{VisitID: c.Visit, Line: out})
						if err != nil {
							t.Error(err)
						}
						mu.Lock()
						removed[out.ID] = true // or ordered a moment before
						mu.Unlock()
						for _, l := range after.Lines {
							if l.ID == out.ID {
								t.Errorf("%s is still there", l.ID)
							}
						}
					default:
						_, err := c.order(ledgers[g%2], fmt.Sprint(guest, " ", n), lines...)
						if err != nil && !errors.Is(err, cart.ErrChanged) {
							t.Error(err)
						}
						if err == nil {
							mu.Lock()
							for _, l := range lines {
								ordered[l.ID]++
							}
							mu.Unlock()
						}
					}
				}
			})
		}
		wg.Wait()
		left := testenv.Must(c.carts.Shared(t.Context(), c.Visit))(t)
		found := map[string]bool{}
		for _, l := range left.Lines {
			found[l.ID] = true
		}
		units := int64(0)
		for id := range added {
			units += int64(ordered[id])
			if n := ordered[id]; n > 1 || found[id] && (n > 0 || removed[id]) || !found[id] && n == 0 && !removed[id] {
				t.Errorf("%s: in %d orders, removed %t, still there %t", id, n, removed[id], found[id])
			}
		}
		if got := c.Counts(t); len(got) != 1 || got[0].Held != units {
			t.Errorf("held %+v, want %d", got, units)
		}
	})
}

// A phone keeps its guest number from the cart to the bill. Numbers follow each phone's first line or order, even if
// that line is gone.
func TestOrders_phones_of_the_shared_cart(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := openTableCart(t, db, 10)
		c.add("zoe", 1)
		removed := cart.SharedLine{ID: "zoe-1"}
		testenv.Must(c.carts.ChangeShared(t.Context(), cart.SharedChange{VisitID: c.Visit, Line: removed}))(t)
		for i, phone := range []string{"an", "zoe"} {
			p := c.Place(fmt.Sprint("k", i), db.Now().Add(time.Duration(i+1)*time.Second), time.Hour, stock.Line{Item: 101, Qty: 1})
			p.Order.GuestHash = phone
			testenv.Must(c.ledger.Do(t.Context(), p))(t)
		}
		testenv.Equal(t, []string{"zoe", "an"}, testenv.Must(orderingsql.NewOrders(db).Phones(t.Context(), c.Visit))(t))
	})
}

// Releases before migration 58 stored 64 digits of a phone's hash. The phone is the same afterwards: its number, its orders
// and the limit of its unpaid orders.
func TestOrders_phones_stored_with_the_whole_hash(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := openTableCart(t, db, 10)
		short := visit.Guest{TokenHash: visit.HashToken("phone")}.ShortHash()
		place := func(key, phone string) error {
			p := c.Place(key, db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1})
			p.Order.GuestHash, p.Limits = phone, ordering.Limits{UnpaidPerGuest: 2}
			_, err := c.ledger.Do(t.Context(), p)
			return err
		}
		l := cart.SharedLine{ID: "before", GuestHash: visit.HashToken("phone"), ItemID: 101, DishID: 101, Quantity: 1}
		testenv.Must(c.carts.ChangeShared(t.Context(), cart.SharedChange{VisitID: c.Visit, Line: l}))(t)
		testenv.NoError(t, place("before", visit.HashToken("phone")))
		testenv.NoError(t, place("after", short))

		orders := orderingsql.NewOrders(db)
		testenv.Equal(t, []string{short}, testenv.Must(orders.Phones(t.Context(), c.Visit))(t))
		testenv.Equal(t, short, testenv.Must(c.carts.Shared(t.Context(), c.Visit))(t).Lines[0].GuestHash)
		placed, _, err := orders.OfVisit(t.Context(), c.Visit, 10, 0)
		if err != nil || len(placed) != 2 || placed[0].GuestHash != short || placed[1].GuestHash != short {
			t.Errorf("orders: %+v, %v", placed, err)
		}
		testenv.ErrorIs(t, ordering.ErrUnpaid, place("third", short), "a third unpaid order")
	})
}
