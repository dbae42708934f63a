package stockredis_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"comanda/internal/authz"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// stockFixture is a syncer between a real SQL store and a real cache, for a branch with 10 units of rice.
type stockFixture struct {
	*syncerFixture
	reservations *stocksql.Reservations
	rice         int64
	of           stock.Scope
}

func newStockFixture(t *testing.T, redis *redisdb.DB) *stockFixture {
	t.Helper()
	p := &stockFixture{syncerFixture: newSyncerFixture(t, redis, 10), of: stock.StockScope(1)}
	p.reservations = stocksql.NewReservations(p.db, p.syncer, time.Now)
	ctx, cancel := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	t.Cleanup(func() {
		p.reservations.Stop()
		cancel()
		loop.Wait()
	})
	level, err := p.reservations.Adjust(t.Context(), authz.Actor{Kind: authz.Console, AllBranches: true}, stock.Adjustment{
		Branch: 1, SKU: "rice", Kind: stock.Received, Units: 10, Create: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.rice = level.ID
	testenv.NoError(t, p.syncer.Rebuild(t.Context(), p.of))
	loop.Go(func() { _ = p.syncer.Apply(ctx) })
	return p
}

func (p *stockFixture) reservation(id string, qty int64) stock.Hold {
	return stock.Hold{
		ID: stock.HoldID(id), Scope: p.of, Lines: []stock.Line{{Item: p.rice, Qty: qty}}, Until: time.Now().Add(time.Hour),
	}
}

// wantStock waits until the cache has applied everything.
func (p *stockFixture) wantStock(t *testing.T, held, used int64) {
	t.Helper()
	var got []stock.Count
	defer func() {
		if t.Failed() {
			t.Logf("the cache has %v, want held %d and used %d", got, held, used)
		}
	}()
	testenv.Eventually(t, 10*time.Second, func() bool {
		counts, ok, err := p.gate.Counts(t.Context(), p.of, []int64{p.rice})
		got = counts
		return err == nil && ok && len(counts) == 1 && counts[0].Held == held && counts[0].Used == used
	})
}

func (p *stockFixture) wantTry(t *testing.T, h stock.Hold, want stock.AdmissionStatus) stock.AdmissionResult {
	t.Helper()
	v := p.syncer.Reserve(t.Context(), h)
	if v.Status != want {
		t.Errorf("TRY = %+v, want %d", v, want)
	}
	return v
}

func (p *stockFixture) do(t *testing.T, d stock.Command) {
	t.Helper()
	if r, err := p.reservations.Do(t.Context(), d); err != nil || r.Err != nil {
		t.Fatal(r.Err, err)
	}
}

// A process dies between TRY and its reservation: the provisional hold is removed without a tombstone, because the
// caller may send the id again. A commit that arrives later counts once.
func TestSyncer_forgets_provisional_reservations(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, redis *redisdb.DB) {
		p := newStockFixture(t, redis)
		lost, made := p.reservation("lost", 4), p.reservation("made", 3)
		p.wantTry(t, lost, stock.Admitted)
		p.wantTry(t, made, stock.Admitted)
		p.do(t, stock.Command{Action: stock.Try, ID: "made", Hold: made})
		p.jump(time.Minute)
		for range 2 {
			testenv.NoError(t, p.syncer.ExpireProvisional(t.Context()))
			p.wantStock(t, 3, 0)
		}
		testenv.Equal(t, 0, testenv.Must(redis.Do(t.Context(), "EXISTS", keyspace.Reservation(1, lost.ID)).Int())(t))
		if states, err := stocksql.Holds(t.Context(), p.db, []string{lost.ID}); len(states) != 0 || err != nil {
			t.Errorf("it was buried: %v, %v", states, err)
		}
		p.wantTry(t, lost, stock.Admitted)
		p.do(t, stock.Command{Action: stock.Try, ID: "lost", Hold: lost})
		p.wantStock(t, 7, 0)
		p.do(t, stock.Command{Action: stock.Confirm, ID: "lost"})
		p.wantStock(t, 3, 4)
	})
}

// A provisional hold of an order has two parts, and both end if the order never commits.
func TestSyncer_expires_both_parts(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, redis *redisdb.DB) {
		p := newStockFixture(t, redis)
		h := p.hold(2)
		h.Stock = []stock.Line{{Item: p.rice, Qty: 6}}
		p.wantTry(t, h, stock.Admitted)
		p.wantStock(t, 6, 0)
		p.jump(time.Minute)
		testenv.NoError(t, p.syncer.ExpireProvisional(t.Context()))
		p.wantStock(t, 0, 0)
		testenv.Equal(t, 0, p.held(t))
	})
}

// A hold of two parts is taken as a whole or not at all. A refusal drops only what this request has taken.
func TestSyncer_parts_all_or_nothing(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, redis *redisdb.DB) {
		p := newStockFixture(t, redis)
		quota := func(held int64) {
			t.Helper()
			testenv.Eventually(t, 10*time.Second, func() bool { return p.held(t) == held })
		}
		both := p.hold(2)
		both.Stock = []stock.Line{{Item: p.rice, Qty: 11}}
		v := p.wantTry(t, both, stock.Refused)
		want := []stock.Shortage{{Item: p.rice, Requested: 11, Available: 10, Stock: true}}
		testenv.Equal(t, want, v.Short)
		quota(0) // the second part is refused, so the first is released
		p.wantStock(t, 0, 0)

		both = p.hold(2)
		both.Stock = []stock.Line{{Item: p.rice, Qty: 6}}
		p.wantTry(t, both, stock.Admitted)
		p.wantStock(t, 6, 0)
		quota(2)
		p.wantTry(t, both, stock.Duplicate)
		p.syncer.DropProvisional(both)
		p.wantStock(t, 0, 0)
		quota(0)

		ownHold := p.hold(3)
		p.wantTry(t, ownHold, stock.Admitted)
		ownHold.Stock = []stock.Line{{Item: p.rice, Qty: 11}} // the same id, for more than is left besides its own units
		p.wantTry(t, ownHold, stock.Refused)
		p.wantTry(t, p.reservation("r", 1), stock.Admitted)
		p.wantStock(t, 1, 0)
		quota(3)

		p.syncer.EnqueueCommitted(p.commit(t, p.hold(4)))
		quota(7)
		p.jump(time.Second) // refusals may reuse a reading of the counters for a moment
		greedy := p.hold(8)
		greedy.Stock = []stock.Line{{Item: p.rice, Qty: 1}}
		p.wantTry(t, greedy, stock.Refused)
		p.wantStock(t, 1, 0)
	})
}

// The cache's records of stock holds expire after a day and a half, but the holds do not. The scope is rebuilt long
// before.
func TestSyncer_renews_stock_scope(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, redis *redisdb.DB) {
		p := newStockFixture(t, redis)
		p.do(t, stock.Command{Action: stock.Try, ID: "r", Hold: p.reservation("r", 3)})
		p.wantStock(t, 3, 0)
		shown := func() stock.CachedScope {
			t.Helper()
			s, ok, err := p.gate.ReadScope(t.Context(), p.of)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			return s
		}
		built := shown()
		if left := time.Until(built.ExpiresAt); left < 35*time.Hour || left > 37*time.Hour {
			t.Errorf("the records live %s", left)
		}
		p.jump(17*time.Hour + 50*time.Minute)
		testenv.NoError(t, p.syncer.Reconcile(t.Context()))
		if shown().Epoch != built.Epoch {
			t.Error("built anew too early")
		}
		p.jump(20 * time.Minute)
		testenv.NoError(t, p.syncer.Reconcile(t.Context()))
		var now stock.CachedScope
		testenv.Eventually(t, 10*time.Second, func() bool {
			s, ok, err := p.gate.ReadScope(t.Context(), p.of)
			now = s
			return err == nil && ok && s.Epoch != built.Epoch
		})
		if later := now.ExpiresAt.Sub(built.ExpiresAt); later < 18*time.Hour {
			t.Errorf("it ends %s later", later)
		}
		p.wantStock(t, 3, 0)
		p.do(t, stock.Command{Action: stock.Confirm, ID: "r"})
		p.wantStock(t, 0, 3)
	})
}

// A sale whose record has expired can still be returned, once.
func TestSyncer_returns_old_sale(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, redis *redisdb.DB) {
		p := newStockFixture(t, redis)
		p.do(t, stock.Command{Action: stock.Try, ID: "r", Hold: p.reservation("r", 3)})
		p.do(t, stock.Command{Action: stock.Confirm, ID: "r"})
		p.wantStock(t, 0, 3)
		p.jump(time.Hour)
		testenv.NoError(t, p.syncer.Rebuild(t.Context(), p.of))
		p.do(t, stock.Command{Action: stock.Return, ID: "r"})
		p.do(t, stock.Command{Action: stock.Return, ID: "r"})
		p.wantStock(t, 0, 0)
	})
}

// The cache refuses an order that exceeds the stock, and a reservation sees the units that orders have taken.
func TestSyncer_orders_and_reservations_share_stock(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, redis *redisdb.DB) {
		p := newStockFixture(t, redis)
		order := p.hold(1)
		order.ID, order.Stock = uid.New(time.Now()), []stock.Line{{Item: p.rice, Qty: 8}}
		p.wantTry(t, order, stock.Admitted)
		p.syncer.EnqueueCommitted(p.commit(t, order)) // only its quotas; its stock is still a provisional hold
		if v := p.wantTry(t, p.reservation("r", 3), stock.Refused); len(v.Short) != 1 || v.Short[0].Available != 2 {
			t.Errorf("Reserve = %+v, want a shortage with 2 available", v)
		}
	})
}
