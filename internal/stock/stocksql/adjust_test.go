package stocksql_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// An adjustment changes only the available units, once, with an audit row, and the cache receives the change.
func TestReservations_Adjust(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.awaitBuilt()
		s.mustReserve("sold", rice(2))
		s.must(s.stores.Confirm(t.Context(), syncer, "sold"))
		s.mustReserve("held", rice(3))
		for _, c := range []struct {
			kind  stock.AdjustmentKind
			units int64
			want  int64 // available afterwards
			err   string
		}{
			{stock.Received, 4, 9, ""}, {stock.Wasted, 2, 7, ""}, {stock.Wasted, 8, 7, "insufficient_stock"},
			{stock.Counted, 3, 3, ""}, {stock.Counted, 3, 3, ""}, {stock.Counted, 0, 0, ""},
			{stock.Wasted, 1, 0, "insufficient_stock"}, {stock.Received, 5, 5, ""},
			{stock.Received, stock.MaxAvailable - 4, 5, "level_too_high"},
			{stock.Received, stock.MaxAvailable - 5, stock.MaxAvailable, ""},
			{stock.Received, 1, stock.MaxAvailable, "level_too_high"}, {stock.Counted, 5, 5, ""},
		} {
			a := stock.Adjustment{Branch: s.branch, SKU: "rice", Kind: c.kind, Units: c.units, Note: "as the test says"}
			level, err := s.second.reservations.Adjust(t.Context(), syncer, a)
			if code(err) != c.err || level.Available != c.want || level.Reserved != 3 || level.Sold != 2 {
				t.Errorf("Adjust by %s %d = %+v, %v, want %d available, code %q", c.kind, c.units, level, err, c.want, c.err)
			}
			s.wantLevel(item, c.want, 3, 2)
		}
		_, err := s.reservations.Adjust(t.Context(), syncer, stock.Adjustment{Branch: 1, SKU: "tea", Kind: stock.Received, Units: 1})
		s.wantRefused("item_not_found", err)
	})
}

// A new item without units reaches the cache, so that Reconcile finds no difference.
func TestReservations_new_item_is_cached(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		s.receive("rice", 10)
		s.awaitBuilt()
		testenv.NoError(t, s.reservations.Add(t.Context(), syncer, stock.Item{Branch: s.branch, SKU: "tea", LowAt: stock.NoAlarm}))
		testenv.Must(s.second.reservations.Adjust(t.Context(), syncer, stock.Adjustment{
			Branch: s.branch, SKU: "eggs", Kind: stock.Counted, Create: true,
		}))(t)
		built := s.epoch()
		s.wantCacheEqual()
		testenv.Equal(t, s.epoch(), built)
	})
}

// Concurrent adjustments and reservations lose no units.
func TestReservations_Adjust_races(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 1)
		s.awaitBuilt()
		var held atomic.Int64
		s.inParallel(80, func(i int, p *process) {
			if i%4 < 2 {
				a := stock.Adjustment{Branch: s.branch, SKU: "rice", Kind: stock.Received, Units: 3}
				if _, err := p.reservations.Adjust(context.Background(), syncer, a); err != nil {
					t.Error(err)
				}
				return
			}
			_, _, err := p.stores.Reserve(context.Background(), syncer, request(name(i), rice(2)))
			switch {
			case err == nil:
				held.Add(2)
			case !errors.Is(err, stock.ErrInsufficientStock):
				t.Error(err)
			}
		})
		s.wantCacheEqual(s.syncer.Reconcile) // two processes' adjustments may reach Redis in reverse order
		s.wantLevel(item, 121-held.Load(), held.Load(), 0)
	})
}

// keyed returns an adjustment with an idempotency key.
func (s *fixture) keyed(p *process, key, sku string, kind stock.AdjustmentKind, units int64) (stock.Level, error) {
	return p.reservations.Adjust(context.Background(), syncer, stock.Adjustment{
		Branch: s.branch, SKU: sku, Kind: kind, Units: units, ClientTxnID: key,
	})
}

// I11: an adjustment under one key is made once. A repetition returns the first result, whatever has happened since. A
// different one under the key is refused. Refusals are not stored.
func TestReservations_Adjust_same_key(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.receive("eggs", 1)
		s.awaitBuilt()
		s.mustReserve("held", rice(3))
		first, err := s.keyed(s.process, "k1", "rice", stock.Received, 5)
		if err != nil || first.Available != 12 {
			t.Fatalf("Adjust = %+v, %v, want 12 available", first, err)
		}
		s.must(s.stores.Confirm(t.Context(), syncer, "held"))
		s.mustReserve("more", rice(4))
		again, err := s.keyed(s.second, "k1", "rice", stock.Received, 5)
		if diff := cmp.Diff(first, again); diff != "" || err != nil {
			t.Errorf("repeated Adjust: error %v, (-first +again):\n%s", err, diff)
		}
		for name, c := range map[string]struct {
			sku   string
			kind  stock.AdjustmentKind
			units int64
		}{
			"other units": {"rice", stock.Received, 6}, "other kind": {"rice", stock.Wasted, 5}, "other item": {"eggs", stock.Received, 5},
		} {
			if _, err := s.keyed(s.second, "k1", c.sku, c.kind, c.units); !errors.Is(err, stock.ErrKeyReused) {
				t.Errorf("key reused with %s: error %v, want ErrKeyReused", name, err)
			}
		}
		s.wantLevel(item, 8, 4, 3)

		// A count that changes nothing is stored as well; otherwise its repetition would undo later changes.
		for range 2 {
			testenv.Equal(t, 8, testenv.Must(s.keyed(s.process, "k2", "rice", stock.Counted, 8))(t).Available)
			s.receive("rice", 2)
		}
		s.wantLevel(item, 12, 4, 3)

		_, err = s.keyed(s.process, "k3", "rice", stock.Wasted, 13)
		s.wantRefused("insufficient_stock", err)
		s.receive("rice", 1)
		testenv.Equal(t, 0, testenv.Must(s.keyed(s.second, "k3", "rice", stock.Wasted, 13))(t).Available)
		// Rows: the receipt of 10, k1, k2, 2, 2, 1, k3. Refusals and repetitions write none.
		if _, total, err := s.ledger.Adjustments(t.Context(), item, 10, 0); total != 7 || err != nil {
			t.Errorf("%d adjustments, %v", total, err)
		}
	})
}

// I11: concurrent equal adjustments are one. Of different ones under one key, of one item or of two, one is made and
// the others are refused.
func TestReservations_Adjust_same_key_concurrently(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		items := []int64{s.receive("rice", 1), s.receive("eggs", 1)}
		s.awaitBuilt()
		made := make([]int64, len(items))
		for round := range 12 {
			key, other := name(round), rand.IntN(2) == 0 // another item, or another quantity
			var won [2]atomic.Int64
			s.inParallel(16, func(i int, p *process) {
				sku, units := "rice", int64(2)
				if i%4 >= 2 && other {
					sku = "eggs"
				} else if i%4 >= 2 {
					units = 3
				}
				l, err := s.keyed(p, key, sku, stock.Received, units)
				switch {
				case err == nil && l.SKU == sku:
					won[i%4/2].Store(units)
				case !errors.Is(err, stock.ErrKeyReused):
					t.Errorf("Adjust = %+v, %v, want success or ErrKeyReused", l, err)
				}
			})
			a, b := won[0].Load(), won[1].Load()
			if (a == 0) == (b == 0) {
				t.Fatalf("both or neither: %d and %d", a, b)
			}
			if other {
				made[0], made[1] = made[0]+a, made[1]+b
			} else {
				made[0] += a + b
			}
		}
		s.wantCacheEqual(s.syncer.Reconcile)
		for i, item := range items {
			s.wantLevel(item, 1+made[i], 0, 0)
		}
	})
}

// The alarm is raised once when an item reaches its threshold, and again after it was above.
func TestReservations_low(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.awaitBuilt()
		testenv.NoError(t, s.reservations.Update(t.Context(), syncer,
			stock.Item{ID: item, Branch: s.branch, SKU: "rice", Name: "Rice", LowAt: 3}))
		var alarms []int64
		for i, qty := range []int64{6, 1, 1} { // 4, 3 and 2 are left
			s.mustReserve(name(i), rice(qty))
			alarms = append(alarms, s.events("inventory.low"))
		}
		s.must(s.stores.Cancel(t.Context(), syncer, name(0))) // 8 are left
		s.mustReserve("again", rice(8))                       // none left
		if alarms = append(alarms, s.events("inventory.low")); !slices.Equal(alarms, []int64{0, 1, 1, 2}) {
			t.Errorf("alarms published = %v, want 0, 1, 1, 2", alarms)
		}
	})
}

// Raising the threshold above the level raises the alarm once, and may do so again after the level was above it. A
// threshold that is raised while units are taken is reported exactly once too.
func TestReservations_low_by_raised_threshold(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.awaitBuilt()
		mark := func(p *process, lowAt int64) {
			err := p.reservations.Update(context.Background(), syncer, stock.Item{ID: item, Branch: s.branch, SKU: "rice", LowAt: lowAt})
			if err != nil {
				t.Error(err)
			}
		}
		var alarms []int64
		for _, lowAt := range []int64{9, 10, 10, 12, stock.NoAlarm, 3, 11} {
			mark(s.second, lowAt)
			alarms = append(alarms, s.events("inventory.low"))
		}
		if want := []int64{0, 1, 1, 1, 1, 1, 2}; !slices.Equal(alarms, want) {
			t.Errorf("alarms published = %v, want %v", alarms, want)
		}
		for round := range int64(20) {
			mark(s.process, stock.NoAlarm)
			before := s.events("inventory.low")
			s.inParallel(2, func(i int, p *process) {
				if i == 0 {
					mark(p, 9-round%5)
				} else if _, err := s.keyed(p, "", "rice", stock.Counted, round%5); err != nil {
					t.Error(err)
				}
			})
			if n := s.events("inventory.low") - before; n != 1 {
				t.Fatalf("round %d: %d alarms published, want 1", round, n)
			}
			s.receive("rice", 10-round%5)
		}
	})
}

// The schema allows one row per key, and any number without a key.
func TestAdjustment_keys_are_unique(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		s.receive("rice", 1)
		s.receive("rice", 1)
		testenv.Must(s.keyed(s.process, "k", "rice", stock.Received, 1))(t)
		err := s.db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			_, err := tx.Exec(ctx, sameKey)
			return err
		})
		testenv.ErrorIs(t, sqldb.ErrUnique, err, "a second row with the key")
	})
}

var sameKey = sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(`INSERT INTO stock_adjustment
	(id, branch_id, item_id, kind, units, available, actor, created_at, client_txn_id)
	SELECT 'another', branch_id, item_id, kind, units, available, actor, created_at, client_txn_id
	FROM stock_adjustment WHERE client_txn_id = 'k'`)}}).Must("it")
