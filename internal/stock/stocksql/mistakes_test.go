package stocksql_test

import (
	"errors"
	"testing"
	"time"

	"comanda/internal/fault"
	"comanda/internal/keyspace"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// Each test below covers a mistake in the reference documents' reserve, confirm and cancel, through the whole path:
// cache, SQL, and the syncer between them.

func code(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Code
	}
	return ""
}

func TestMistake_cancel_twice(t *testing.T) { // turned 10 units into 13
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.awaitBuilt()
		s.mustReserve("r", rice(3))
		for _, p := range []*process{s.process, s.second, s.process} {
			s.must(p.stores.Cancel(s.Context(), syncer, "r"))
		}
		s.wantLevel(item, 10, 0, 0)
		testenv.Equal(t, 1, s.events("inventory.released"))
	})
}

func TestMistake_cancel_after_confirm(t *testing.T) { // ended with 3 sold and 10 available
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.awaitBuilt()
		s.mustReserve("r", rice(3))
		s.must(s.stores.Confirm(s.Context(), syncer, "r"))
		_, err := s.second.stores.Cancel(s.Context(), syncer, "r")
		s.wantRefused("already_confirmed", err)
		s.wantLevel(item, 7, 0, 3)
	})
}

func TestMistake_try_after_cancel(t *testing.T) { // the cancelled order was held again
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.awaitBuilt()
		s.must(s.stores.Cancel(s.Context(), syncer, "before"))
		s.mustReserve("after", rice(3))
		s.must(s.stores.Cancel(s.Context(), syncer, "after"))
		for _, id := range []string{"before", "after"} {
			_, err := s.reserve(id, rice(3))
			s.wantRefused("terminal", err)
			_, err = s.stores.Confirm(s.Context(), syncer, id)
			s.wantRefused("terminal", err)
		}
		s.wantLevel(item, 10, 0, 0)
	})
}

func TestMistake_retried_reserve(t *testing.T) { // took twice
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.awaitBuilt()
		made := 0
		for _, p := range []*process{s.process, s.second, s.process} {
			res, created, err := p.stores.Reserve(t.Context(), syncer, request("r", rice(6)))
			if err != nil || res.Status != stock.StatusReserved {
				t.Fatalf("Reserve = %+v, %v, want RESERVED", res, err)
			}
			if created {
				made++
			}
		}
		_, err := s.reserve("r", rice(5))
		s.wantRefused("idempotency_mismatch", err)
		s.wantLevel(item, 4, 6, 0)
		if n := s.events("inventory.reserved"); n != 1 || made != 1 {
			t.Errorf("made %d times, published %d times", made, n)
		}
	})
}

func TestMistake_negative_quantity(t *testing.T) { // created stock
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.awaitBuilt()
		for name, items := range map[string][]stock.SKULine{
			"minus five": {rice(-5)}, "nothing": {rice(0)}, "more than allowed": {rice(stock.MaxQty + 1)},
			"two lines that would be none": {rice(6), rice(-6)}, "a good one before it": {eggs(1), rice(-1)},
		} {
			if _, err := s.reserve("r", items...); fault.KindOf(err) != fault.Invalid {
				t.Errorf("Reserve of %s: error %v, want Invalid", name, err)
			}
		}
		_, err := s.reserve("twice", rice(6), rice(6)) // lines of one item are summed before they are compared
		s.wantRefused("insufficient_stock", err)
		s.wantLevel(item, 10, 0, 0)
	})
}

func TestMistake_confirm_with_foreign_quantity(t *testing.T) { // confirming 5 on a hold of 3 took another's units
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.awaitBuilt()
		s.mustReserve("mine", rice(3))
		s.mustReserve("another", rice(4))
		claim := stock.Hold{Scope: stock.StockScope(s.branch), Lines: []stock.Line{{Item: item, Qty: 5}}}
		settle := func(act stock.Action) {
			t.Helper()
			if r, err := s.reservations.Do(s.Context(), stock.Command{Action: act, ID: "mine", Hold: claim}); err != nil || !r.Changed {
				t.Fatalf("command = %+v, %v, want a change", r, err)
			}
		}
		settle(stock.Confirm)
		s.wantLevel(item, 3, 4, 3)
		settle(stock.Return)
		s.wantLevel(item, 6, 4, 0)
	})
}

func TestMistake_record_expires_before_its_effect(t *testing.T) { // every order that timed out leaked its units
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.awaitBuilt()
		s.mustReserve("r", rice(3))
		s.mustReserve("s", rice(2))
		s.must(s.stores.Confirm(s.Context(), syncer, "s"))
		key := keyspace.Reservation(s.branch, stock.HoldID("r"))
		ms, err := s.redis.Do(s.Context(), "PTTL", key).Int()
		if life := time.Duration(ms) * time.Millisecond; err != nil || life < stock.MaxTTL {
			t.Errorf("the record lives %s, a reservation up to %s; %v", life, stock.MaxTTL, err)
		}
		testenv.NoError(t, s.stores.ExpireOverdue(s.Context()))
		s.wantLevel(item, 5, 3, 2) // the deadline has not passed yet
		s.clock.jump(time.Minute)
		testenv.NoError(t, s.stores.ExpireOverdue(s.Context()))
		s.wantLevel(item, 8, 0, 2)
		_, err = s.stores.Confirm(s.Context(), syncer, "r")
		s.wantRefused("terminal", err)
		testenv.Equal(t, stock.StatusExpired, testenv.Must(s.stores.Find(s.Context(), syncer, "r"))(t).Status)
		s.mustReserve("t", rice(8)) // I3: all remaining units can be reserved
		s.wantLevel(item, 0, 8, 2)
	})
}

func TestMistake_missing_counts_as_zero(t *testing.T) { // missing keys in Redis counted as no stock, or as an empty hold
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.awaitBuilt()
		s.mustReserve("r", rice(3))
		s.wantLevel(item, 7, 3, 0)
		for i, key := range []keyspace.Key{
			keyspace.StockCap(s.branch), keyspace.StockReserved(s.branch), keyspace.StockSold(s.branch),
			keyspace.Reservation(s.branch, stock.HoldID("r")),
		} {
			s.awaitBuilt()
			testenv.NoError(t, s.redis.Do(s.Context(), "DEL", key).Err())
			s.clock.jump(time.Second)
			_, err := s.reserve("big"+name(i), rice(8)) // 7 are left, although Redis has lost that
			s.wantRefused("insufficient_stock", err)
			s.mustReserve("all"+name(i), rice(7))
			s.must(s.stores.Cancel(s.Context(), syncer, "all"+name(i)))
			s.awaitBuilt()
			s.wantLevel(item, 7, 3, 0)
		}
		s.must(s.stores.Confirm(s.Context(), syncer, "r"))
		s.wantLevel(item, 7, 0, 3)
	})
}
