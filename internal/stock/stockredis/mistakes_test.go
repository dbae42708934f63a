package stockredis

import (
	"strings"
	"testing"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocktest"
	"comanda/internal/testenv"
)

// Each test below covers a mistake in the reference documents' scripts.

func TestMistake_cancel_twice(t *testing.T) { // turned 10 units into 13
	each(t, func(f *fixture) {
		h := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 3})
		f.WantTry(h, stock.Admitted)
		f.WantApply(stock.OpCancel, h, stock.Changed)
		f.WantApply(stock.OpCancel, h, stock.Same)
		f.WantCount(stocktest.Noodles, 0, 0)
		f.WantTry(f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 11}), stock.Refused)
		f.WantTry(f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 10}), stock.Admitted)
	})
}

func TestMistake_negative_quantity(t *testing.T) { // created stock
	each(t, func(f *fixture) {
		for _, qty := range []int64{-5, 0} {
			h := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: qty})
			if v, err := f.Reserve(f.Context(), h); err == nil {
				t.Errorf("a quantity of %d: %+v", qty, v)
			}
			if _, err := f.Apply(f.Context(), []stock.Op{{Kind: stock.OpHeld, Hold: h}}); err == nil {
				t.Errorf("HELD with a quantity of %d was accepted", qty)
			}
		}
		// The scripts also validate their arguments before the first write.
		good, bad := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1}), f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: -5})
		for _, text := range []string{"-5", "0", "1.5", "x"} {
			keys, args := f.reserveArgs(f.Scope, []*waiter{wait(good), wait(bad)})
			args[len(args)-1] = text
			if err := f.db.Run(f.Context(), tryScript, keys, args).Err(); err == nil {
				t.Errorf("try.lua accepts the quantity %s", text)
			}
			ops := []stock.Op{{Kind: stock.OpHeld, Hold: good}, {Kind: stock.OpConfirm, Hold: bad}}
			keys, args = f.applyArgs(f.Scope, ops, []int{0, 1})
			args[len(args)-1] = text
			if err := f.db.Run(f.Context(), applyScript, keys, args).Err(); err == nil {
				t.Errorf("apply.lua accepts the quantity %s", text)
			}
		}
		f.WantCount(stocktest.Noodles, 0, 0)
		if s := f.StateOf(good.ID); s != "" {
			t.Errorf("a call that was refused has left a hold in %s", s)
		}
	})
}

func wait(h stock.Hold) *waiter {
	return &waiter{hold: h, record: recordKey(h.Scope, h.ID)}
}

func TestMistake_record_expires_before_its_effect(t *testing.T) { // every order that timed out leaked its quota
	each(t, func(f *fixture) {
		tried, held := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1}), f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1})
		f.WantTry(tried, stock.Admitted)
		f.WantApply(stock.OpHeld, held, stock.Changed)
		life := func(key keyspace.Key) int64 {
			return testenv.Must(f.db.Do(f.Context(), "PTTL", key).Int())(t)
		}
		counted := life(counterKeys(f.Scope, 0)[1])
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
		for _, ahead := range []time.Duration{-48 * time.Hour, 48 * time.Hour} { // how far the deciding clock is ahead of Redis's
			f.Now = time.Now().Add(ahead)
			f.Rebuild()
			tried, held := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1}), f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1})
			f.WantTry(tried, stock.Admitted)
			f.WantApply(stock.OpHeld, held, stock.Changed)
			f.WantTry(f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 11}), stock.Refused)
			f.WantCount(stocktest.Noodles, 2, 0)
			span := f.Now.UnixMilli() / keyspace.RefusedSpan.Milliseconds()
			for key, most := range map[keyspace.Key]time.Duration{
				recordKey(f.Scope, tried.ID): 20*time.Hour + 12*time.Hour, recordKey(f.Scope, held.ID): 20*time.Hour + 12*time.Hour,
				counterKeys(f.Scope, 0)[1]: 20*time.Hour + 12*time.Hour, counterKeys(f.Scope, 0)[2]: 20*time.Hour + counterTTL,
				keyspace.RefusedIDs(f.Scope.Branch, span): 2 * keyspace.RefusedSpan,
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
		s, keys := f.Scope, counterKeys(f.Scope, 0)
		for name, lose := range map[string]redisdb.Cmd{
			"q:cap":           redisdb.Command("DEL", keys[0]),
			"q:rsv":           redisdb.Command("DEL", keys[1]),
			"q:paid":          redisdb.Command("DEL", keys[2]),
			"epoch of q:rsv":  redisdb.Command("HSET", keys[1], "ep", "another"),
			"epoch of q:paid": redisdb.Command("HDEL", keys[2], "ep"),
			"cap of noodles":  redisdb.Command("HDEL", keys[0], decimal(stocktest.Noodles)),
			"held noodles":    redisdb.Command("HDEL", keys[1], decimal(stocktest.Noodles)),
			"used noodles":    redisdb.Command("HDEL", keys[2], decimal(stocktest.Noodles)),
		} {
			f.Rebuild()
			h := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1})
			testenv.Must(f.db.DoMulti(f.Context(), lose))(t)
			f.WantTry(h, stock.Cold)
			if n, err := f.db.Do(f.Context(), "EXISTS", recordKey(s, h.ID)).Int(); n != 0 || err != nil {
				t.Errorf("without %s a hold was written: %v", name, err)
			}
			if !strings.HasSuffix(name, "noodles") {
				f.WantApply(stock.OpHeld, h, 0)
				if _, ok, err := f.ReadScope(f.Context(), s); ok || err != nil {
					t.Errorf("without %s there are counters, %v", name, err)
				}
			}
			if counts, ok, err := f.Counts(f.Context(), s, []int64{stocktest.Noodles}); ok && len(counts) > 0 || err != nil {
				t.Errorf("without %s the counter is %v, %v", name, counts, err)
			}
		}
	})
}

func TestMistake_counter_below_zero(t *testing.T) { // I1: the scope becomes unknown instead
	each(t, func(f *fixture) {
		h := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 3})
		f.WantTry(h, stock.Admitted)
		held := counterKeys(f.Scope, 0)[1]
		testenv.NoError(t, f.db.Do(f.Context(), "HSET", held, decimal(stocktest.Noodles), "2").Err())
		f.WantApply(stock.OpCancel, h, 0)
		f.WantTry(f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1}), stock.Cold)
		f.Rebuild(stock.HoldState{Hold: h, State: stock.Held})
		f.WantApply(stock.OpCancel, h, stock.Changed)
		f.WantCount(stocktest.Noodles, 0, 0)
	})
}
