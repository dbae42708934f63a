package stock_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/stock"
	"comanda/internal/testenv"
)

var scope = stock.Scope{Branch: 7, Date: "2026-02-26"}

func hold(id string, lines ...stock.Line) stock.Hold {
	return stock.Hold{ID: id, Scope: scope, Lines: lines, Until: time.UnixMilli(1)}
}

func balances(counts ...stock.Count) *stock.Balances {
	b := stock.NewBalances()
	for _, c := range counts {
		b.LoadCount(scope, c)
	}
	return b
}

func TestMergeLines(t *testing.T) {
	for name, c := range map[string]struct {
		lines, want []stock.Line
		refused     bool
	}{
		"sorted by item":        {lines: []stock.Line{{2, 1}, {1, 1}}, want: []stock.Line{{1, 1}, {2, 1}}},
		"same item summed":      {lines: []stock.Line{{1, 2}, {2, 1}, {1, 3}}, want: []stock.Line{{1, 5}, {2, 1}}},
		"nothing":               {refused: true},
		"zero":                  {lines: []stock.Line{{1, 0}}, refused: true},
		"negative":              {lines: []stock.Line{{1, -5}}, refused: true}, // it would create stock
		"beyond any dish":       {lines: []stock.Line{{1, stock.MaxQty + 1}}, refused: true},
		"more than fifty":       {lines: make([]stock.Line, stock.MaxLines+1), refused: true},
		"bad line among others": {lines: []stock.Line{{1, 1}, {1, -1}}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := stock.MergeLines(c.lines)
			if (err != nil) != c.refused {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(c.want, got); !c.refused && diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The whole state table: every operation on a hold in every state.
func TestBalances_state_table(t *testing.T) {
	steps := map[string]func(*stock.Balances) stock.Outcome{
		"take": func(b *stock.Balances) stock.Outcome {
			o, _ := b.Reserve(hold("h", stock.Line{1, 2}), stock.Held)
			return o
		},
		"other": func(b *stock.Balances) stock.Outcome {
			o, _ := b.Reserve(hold("h", stock.Line{1, 1}), stock.Held)
			return o
		},
		"confirm": func(b *stock.Balances) stock.Outcome { return b.Confirm("h") },
		"release": func(b *stock.Balances) stock.Outcome { return b.Release("h") },
		"return":  func(b *stock.Balances) stock.Outcome { return b.Return("h") },
	}
	const none = stock.State("")
	for _, c := range []struct {
		state      stock.State
		op         string
		want       stock.Outcome
		held, used int64 // counters afterwards, from 2 units in each state
	}{
		{none, "take", stock.Applied, 2, 0}, {none, "confirm", stock.NotFound, 0, 0}, {none, "release", stock.NotFound, 0, 0},
		{none, "return", stock.NotFound, 0, 0},
		{stock.Held, "take", stock.AlreadyApplied, 2, 0}, {stock.Held, "other", stock.Conflict, 2, 0},
		{stock.Held, "confirm", stock.Applied, 0, 2}, {stock.Held, "release", stock.Applied, 0, 0},
		{stock.Held, "return", stock.Conflict, 2, 0},
		{stock.Confirmed, "take", stock.AlreadyApplied, 0, 2}, {stock.Confirmed, "confirm", stock.AlreadyApplied, 0, 2},
		{stock.Confirmed, "release", stock.Conflict, 0, 2}, {stock.Confirmed, "return", stock.Applied, 0, 0},
		{stock.Released, "take", stock.Conflict, 0, 0}, {stock.Released, "confirm", stock.Conflict, 0, 0},
		{stock.Released, "release", stock.AlreadyApplied, 0, 0}, {stock.Released, "return", stock.Conflict, 0, 0},
		{stock.Returned, "take", stock.Conflict, 0, 0}, {stock.Returned, "confirm", stock.Conflict, 0, 0},
		{stock.Returned, "release", stock.Conflict, 0, 0}, {stock.Returned, "return", stock.AlreadyApplied, 0, 0},
	} {
		t.Run(fmt.Sprintf("%s of %q", c.op, c.state), func(t *testing.T) {
			count := stock.Count{Item: 1, Cap: 2}
			switch c.state {
			case stock.Held:
				count.Held = 2
			case stock.Confirmed:
				count.Used = 2
			}
			b := balances(count)
			if c.state != none {
				b.LoadHold(hold("h", stock.Line{1, 2}), c.state)
			}
			testenv.Equal(t, c.want, steps[c.op](b))
			got := count
			b.Deltas(func(_ stock.Key, c stock.Counter) { got = c.Count })
			if got.Held != c.held || got.Used != c.used {
				t.Errorf("held %d used %d, want %d and %d", got.Held, got.Used, c.held, c.used)
			}
		})
	}
}

// I2: all lines fit or none is taken, and a refusal names every line that does not.
func TestBalances_Reserve_all_or_nothing(t *testing.T) {
	b := balances(stock.Count{Item: 1, Cap: 5, Held: 1, Used: 1}, stock.Count{Item: 2, Cap: 1}, stock.Count{Item: 3, Cap: stock.Unlimited})
	outcome, short := b.Reserve(hold("a", stock.Line{1, 4}, stock.Line{2, 2}, stock.Line{3, 1000}), stock.Held)
	testenv.Equal(t, stock.Insufficient, outcome)
	testenv.Equal(t, []stock.Shortage{{Item: 1, Requested: 4, Available: 3}, {Item: 2, Requested: 2, Available: 1}}, short)
	b.Deltas(func(k stock.Key, _ stock.Counter) { t.Errorf("item %d was touched", k.Item) })
	if outcome, _ := b.Reserve(hold("b", stock.Line{9, 1}), stock.Held); outcome != stock.NotFound {
		t.Errorf("a missing counter counts as %d, not as unknown", outcome) // missing never means zero
	}
}

// A cap below the taken units only prevents new holds.
func TestBalances_cap_below_taken(t *testing.T) {
	b := balances(stock.Count{Item: 1, Cap: 1, Held: 3, Used: 2})
	b.LoadHold(hold("h", stock.Line{1, 3}), stock.Held)
	if outcome, short := b.Reserve(hold("n", stock.Line{1, 1}), stock.Held); outcome != stock.Insufficient || short[0].Available != 0 {
		t.Errorf("Reserve = %d, short of %v, want Insufficient with 0 available", outcome, short)
	}
	if b.Confirm("h") != stock.Applied {
		t.Error("what was held before can no longer be paid")
	}
}

// I1, I2, I4, I12: random sequences against sums over the holds.
func TestBalances_model(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 10
		b := balances(stock.Count{Item: 1, Cap: limit}, stock.Count{Item: 2, Cap: stock.Unlimited})
		states, holds := map[string]stock.State{}, map[string]stock.Hold{}
		sum := func(state stock.State, item int64) (n int64) {
			for id, s := range states {
				for _, l := range holds[id].Lines {
					if s == state && l.Item == item {
						n += l.Qty
					}
				}
			}
			return n
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			id := fmt.Sprint(rapid.IntRange(0, 8).Draw(t, "hold"))
			before, known := states[id]
			switch rapid.SampledFrom([]string{"take", "confirm", "release", "return"}).Draw(t, "op") {
			case "take":
				h := hold(id, stock.Line{1, rapid.Int64Range(1, 6).Draw(t, "qty")}, stock.Line{2, 1})
				free := limit - sum(stock.Held, 1) - sum(stock.Confirmed, 1)
				outcome, _ := b.Reserve(h, stock.Held)
				if want := !known && h.Lines[0].Qty <= free; (outcome == stock.Applied) != want {
					t.Fatalf("take of %d with %d free: %d", h.Lines[0].Qty, free, outcome)
				}
				if outcome == stock.Applied {
					states[id], holds[id] = stock.Held, h
				}
			case "confirm":
				if changed := b.Confirm(id) == stock.Applied; changed != (before == stock.Held) {
					t.Fatalf("confirm of %q: %v", before, changed)
				} else if changed {
					states[id] = stock.Confirmed
				}
			case "release":
				if changed := b.Release(id) == stock.Applied; changed != (before == stock.Held) {
					t.Fatalf("release of %q: %v", before, changed)
				} else if changed {
					states[id] = stock.Released
				}
			case "return":
				if changed := b.Return(id) == stock.Applied; changed != (before == stock.Confirmed) {
					t.Fatalf("return of %q: %v", before, changed)
				} else if changed {
					states[id] = stock.Returned
				}
			}
			b.Deltas(func(k stock.Key, c stock.Counter) {
				if c.Held != sum(stock.Held, k.Item) || c.Used != sum(stock.Confirmed, k.Item) {
					t.Fatalf("item %d: held %d used %d, the holds say %d and %d", k.Item, c.Held, c.Used,
						sum(stock.Held, k.Item), sum(stock.Confirmed, k.Item))
				}
			})
		}
	})
}

func TestHold_Digest(t *testing.T) {
	digest := func(s stock.Scope, lines ...stock.Line) string { return stock.Hold{Scope: s, Lines: lines}.Digest() }
	a := digest(scope, stock.Line{1, 2}, stock.Line{3, 4})
	both := stock.Hold{Scope: scope, Lines: []stock.Line{{1, 2}}, Stock: []stock.Line{{3, 4}}}
	for name, other := range map[string]string{
		"other quantity": digest(scope, stock.Line{1, 2}, stock.Line{3, 5}),
		"other item":     digest(scope, stock.Line{1, 2}, stock.Line{4, 4}),
		"other date":     digest(stock.Scope{Branch: 7, Date: "2026-02-27"}, stock.Line{1, 2}, stock.Line{3, 4}),
		"shifted digits": digest(scope, stock.Line{12, 3}, stock.Line{3, 4}),
		"of the stock":   digest(stock.StockScope(scope.Branch), stock.Line{1, 2}, stock.Line{3, 4}),
		"quota and item": both.Digest(),
	} {
		if other == a {
			t.Errorf("%s has the same digest", name)
		}
	}
}
