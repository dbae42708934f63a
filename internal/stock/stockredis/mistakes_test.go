package stockredis

import (
	"strings"
	"testing"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// Each test below covers a mistake in the reference documents' scripts.

func TestMistake_cancel_twice(t *testing.T) { // turned 10 units into 13
	each(t, func(f *fixture) {
		h := f.hold(stock.Line{Item: noodles, Qty: 3})
		f.wantTry(h, stock.Admitted)
		f.wantApply(stock.OpCancel, h, changed)
		f.wantApply(stock.OpCancel, h, alreadyApplied)
		f.wantCount(noodles, 0, 0)
		f.wantTry(f.hold(stock.Line{Item: noodles, Qty: 11}), stock.Refused)
		f.wantTry(f.hold(stock.Line{Item: noodles, Qty: 10}), stock.Admitted)
	})
}

func TestMistake_cancel_after_confirm(t *testing.T) { // ended with 3 sold and 10 available
	each(t, func(f *fixture) {
		h := f.hold(stock.Line{Item: noodles, Qty: 3})
		f.wantTry(h, stock.Admitted)
		f.wantApply(stock.OpConfirm, h, changed)
		f.wantApply(stock.OpCancel, h, conflict)
		f.wantCount(noodles, 0, 3)
		f.wantTry(f.hold(stock.Line{Item: noodles, Qty: 8}), stock.Refused)
	})
}

func TestMistake_try_after_cancel(t *testing.T) { // the cancelled order was held again
	each(t, func(f *fixture) {
		h := f.hold(stock.Line{Item: noodles, Qty: 3})
		f.wantApply(stock.OpCancel, h, changed)
		f.wantTry(h, stock.Ended)
		f.wantApply(stock.OpHeld, h, conflict)
		f.wantCount(noodles, 0, 0)
	})
}

func TestMistake_retried_reserve(t *testing.T) { // took twice
	each(t, func(f *fixture) {
		h := f.hold(stock.Line{Item: noodles, Qty: 6})
		f.wantTry(h, stock.Admitted)
		f.wantTry(h, stock.Duplicate)
		f.wantCount(noodles, 6, 0)
	})
}

func TestMistake_negative_quantity(t *testing.T) { // created stock
	each(t, func(f *fixture) {
		for _, qty := range []int64{-5, 0} {
			h := f.hold(stock.Line{Item: noodles, Qty: qty})
			if v, err := f.Reserve(f.Context(), h); err == nil {
				t.Errorf("a quantity of %d: %+v", qty, v)
			}
			if _, err := f.Apply(f.Context(), []stock.Op{{Kind: stock.OpHeld, Hold: h}}); err == nil {
				t.Errorf("HELD with a quantity of %d was accepted", qty)
			}
		}
		// The scripts also validate their arguments before the first write.
		good, bad := f.hold(stock.Line{Item: noodles, Qty: 1}), f.hold(stock.Line{Item: noodles, Qty: -5})
		for _, text := range []string{"-5", "0", "1.5", "x"} {
			keys, args := f.reserveArgs(f.scope, []*waiter{wait(good), wait(bad)})
			args[len(args)-1] = text
			if err := f.db.Run(f.Context(), tryScript, keys, args).Err(); err == nil {
				t.Errorf("try.lua accepts the quantity %s", text)
			}
			ops := []stock.Op{{Kind: stock.OpHeld, Hold: good}, {Kind: stock.OpConfirm, Hold: bad}}
			keys, args = f.applyArgs(f.scope, ops, []int{0, 1})
			args[len(args)-1] = text
			if err := f.db.Run(f.Context(), applyScript, keys, args).Err(); err == nil {
				t.Errorf("apply.lua accepts the quantity %s", text)
			}
		}
		f.wantCount(noodles, 0, 0)
		if s := f.state(good.ID); s != "" {
			t.Errorf("a call that was refused has left a hold in %s", s)
		}
	})
}

func wait(h stock.Hold) *waiter {
	return &waiter{hold: h, record: recordKey(h.Scope, h.ID)}
}

func TestMistake_confirm_with_foreign_quantity(t *testing.T) { // confirming 5 on a hold of 3 took another order's units
	each(t, func(f *fixture) {
		mine, other := f.hold(stock.Line{Item: noodles, Qty: 3}), f.hold(stock.Line{Item: noodles, Qty: 4})
		f.wantTry(mine, stock.Admitted)
		f.wantTry(other, stock.Admitted)
		claim := mine
		claim.Lines = []stock.Line{{Item: noodles, Qty: 5}, {Item: soup, Qty: 1}}
		f.wantApply(stock.OpConfirm, claim, changed)
		f.wantCount(noodles, 4, 3)
		f.wantCount(soup, 0, 0)
		f.wantApply(stock.OpReturn, claim, changed)
		f.wantCount(noodles, 4, 0)
	})
}

func TestMistake_lines_of_one_item_checked_one_by_one(t *testing.T) {
	each(t, func(f *fixture) {
		twice := f.hold(stock.Line{Item: noodles, Qty: 6}, stock.Line{Item: noodles, Qty: 6})
		if v, err := f.Reserve(f.Context(), twice); err == nil {
			t.Errorf("6 and 6 of 10: %+v", v)
		}
		twice.Lines = testenv.Must(stock.MergeLines(twice.Lines))(t)
		f.wantTry(twice, stock.Refused)
	})
}

func TestMistake_record_dies_before_its_effect(t *testing.T) { // every order that timed out leaked its quota
	each(t, func(f *fixture) {
		tried, held := f.hold(stock.Line{Item: noodles, Qty: 1}), f.hold(stock.Line{Item: noodles, Qty: 1})
		f.wantTry(tried, stock.Admitted)
		f.wantApply(stock.OpHeld, held, changed)
		life := func(key keyspace.Key) int64 {
			return testenv.Must(f.db.Do(f.Context(), "PTTL", key).Int())(t)
		}
		counted := life(counterKeys(f.scope, 0)[1])
		for _, h := range []stock.Hold{tried, held} {
			record := life(recordKey(h.Scope, h.ID))
			if record < counted-1000 || record < time.Until(h.Until).Milliseconds() {
				t.Errorf("a record lives %d ms, what it counts %d ms", record, counted)
			}
		}
	})
}

func TestMistake_life_by_another_clock(t *testing.T) { // Redis expired keys by its own clock
	each(t, func(f *fixture) {
		for _, ahead := range []time.Duration{-48 * time.Hour, 48 * time.Hour} { // of the deciding clock, before Redis's
			f.now = time.Now().Add(ahead)
			f.rebuild()
			tried, held := f.hold(stock.Line{Item: noodles, Qty: 1}), f.hold(stock.Line{Item: noodles, Qty: 1})
			f.wantTry(tried, stock.Admitted)
			f.wantApply(stock.OpHeld, held, changed)
			f.wantTry(f.hold(stock.Line{Item: noodles, Qty: 11}), stock.Refused)
			f.wantCount(noodles, 2, 0)
			span := f.now.UnixMilli() / keyspace.RefusedSpan.Milliseconds()
			for key, most := range map[keyspace.Key]time.Duration{
				recordKey(f.scope, tried.ID): 20*time.Hour + recordTTL, recordKey(f.scope, held.ID): 20*time.Hour + recordTTL,
				counterKeys(f.scope, 0)[1]: 20*time.Hour + recordTTL, counterKeys(f.scope, 0)[2]: 20*time.Hour + counterTTL,
				keyspace.RefusedIDs(f.scope.Branch, span): 2 * keyspace.RefusedSpan,
			} {
				ms, err := f.db.Do(f.Context(), "PTTL", key).Int()
				life := time.Duration(ms) * time.Millisecond
				if err != nil || life > most+time.Second || life < most-time.Minute || life <= 0 {
					t.Errorf("%s lives %v instead of %v when the deciding clock is %v ahead: %v", key, life, most, ahead, err)
				}
			}
		}
	})
}

func TestMistake_missing_counts_as_zero(t *testing.T) { // G1
	each(t, func(f *fixture) {
		s, keys := f.scope, counterKeys(f.scope, 0)
		for name, lose := range map[string]redisdb.Cmd{
			"q:cap":           redisdb.Command("DEL", keys[0]),
			"q:rsv":           redisdb.Command("DEL", keys[1]),
			"q:paid":          redisdb.Command("DEL", keys[2]),
			"epoch of q:rsv":  redisdb.Command("HSET", keys[1], "ep", "another"),
			"epoch of q:paid": redisdb.Command("HDEL", keys[2], "ep"),
			"cap of noodles":  redisdb.Command("HDEL", keys[0], decimal(noodles)),
			"held noodles":    redisdb.Command("HDEL", keys[1], decimal(noodles)),
			"used noodles":    redisdb.Command("HDEL", keys[2], decimal(noodles)),
		} {
			f.rebuild()
			h := f.hold(stock.Line{Item: noodles, Qty: 1})
			testenv.Must(f.db.DoMulti(f.Context(), lose))(t)
			f.wantTry(h, stock.Cold)
			if n, err := f.db.Do(f.Context(), "EXISTS", recordKey(s, h.ID)).Int(); n != 0 || err != nil {
				t.Errorf("without %s a hold was written: %v", name, err)
			}
			if !strings.HasSuffix(name, "noodles") {
				f.wantApply(stock.OpHeld, h, 0)
				if _, ok, err := f.ReadScope(f.Context(), s); ok || err != nil {
					t.Errorf("without %s there are counters, %v", name, err)
				}
			}
			if counts, ok, err := f.Counts(f.Context(), s, []int64{noodles}); ok && len(counts) > 0 || err != nil {
				t.Errorf("without %s the counter is %v, %v", name, counts, err)
			}
		}
	})
}

func TestMistake_counter_below_zero(t *testing.T) { // I1: the scope becomes unknown instead
	each(t, func(f *fixture) {
		h := f.hold(stock.Line{Item: noodles, Qty: 3})
		f.wantTry(h, stock.Admitted)
		held := counterKeys(f.scope, 0)[1]
		testenv.NoError(t, f.db.Do(f.Context(), "HSET", held, decimal(noodles), "2").Err())
		f.wantApply(stock.OpCancel, h, 0)
		f.wantTry(f.hold(stock.Line{Item: noodles, Qty: 1}), stock.Cold)
		f.rebuild(stock.HoldState{Hold: h, State: stock.Held})
		f.wantApply(stock.OpCancel, h, changed)
		f.wantCount(noodles, 0, 0)
	})
}
