package stocktest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/keyspace"
	"comanda/internal/stock"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// AdmissionCache is the conformance suite of stock.AdmissionCache.
func AdmissionCache(t *testing.T, create NewCache) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(f *CacheFixture)
	}{
		{"state table", stateTable},
		{"Reserve all lines or none", reserveAllLinesOrNone},
		{"cap of a new item", capOfANewItem},
		{"remembers refused ids", remembersRefusedIDs},
		{"Reserve rejects invalid holds", reserveRejectsInvalidHolds},
		{"Apply batches", applyBatches},
		{"ExpiredProvisional", expiredProvisional},
		{"ReadScope", readScope},
		{"cancel twice", cancelTwice},
		{"cancel after confirm", cancelAfterConfirm},
		{"try after cancel", tryAfterCancel},
		{"retried reserve", retriedReserve},
		{"negative quantity", negativeQuantity},
		{"confirm with foreign quantity", confirmWithForeignQuantity},
		{"lines of one item checked one by one", linesOfOneItemCheckedOneByOne},
		{"cold during rebuild", coldDuringRebuild},
		{"rebuild states", rebuildStates},
		{"rebuild drops provisional holds", rebuildDropsProvisionalHolds},
		{"rebuilds never mix", rebuildsNeverMix},
		{"exactly n winners", exactlyNWinners},
		{"storm releases everything", stormReleasesEverything},
		{"against model", againstModel},
	} {
		t.Run(c.name, func(t *testing.T) { EachScope(t, create, c.test) })
	}
}

// The operations of the table, with a TRY of the same lines and one of other lines.
const (
	opTry   stock.OpKind = "TRY"
	opOther stock.OpKind = "TRY with other lines"
)

// cell is the effect of an operation: its result (an Answer for a TRY, an outcome otherwise), the state after it, and
// the change of the counters per unit.
type cell struct {
	answer     int64
	next       stock.State
	held, used int64
}

// The effects of operations, as answers of the table.
const (
	changed  = int64(stock.Changed)
	same     = int64(stock.Same)
	opposite = int64(stock.Opposite)
)

// manyHolds is more than fit into one script call.
const manyHolds = 400

// table is the state table of the cache. A record of another epoch counts as none; a final state stays final under
// every epoch.
func table() map[string]map[stock.OpKind]cell {
	none := map[stock.OpKind]cell{
		opTry: {int64(stock.Admitted), stock.Held, 1, 0}, stock.OpHeld: {changed, stock.Held, 1, 0},
		stock.OpConfirm: {changed, stock.Confirmed, 0, 1}, stock.OpCancel: {changed, stock.Released, 0, 0},
		stock.OpReturn: {changed, stock.Returned, 0, -1}, stock.OpForget: {same, "", 0, 0},
	}
	refused := map[stock.OpKind]cell{opTry: {int64(stock.Ended), "", 0, 0}, opOther: {int64(stock.Ended), "", 0, 0}}
	for _, op := range []stock.OpKind{stock.OpHeld, stock.OpConfirm, stock.OpCancel, stock.OpReturn, stock.OpForget} {
		refused[op] = none[op]
	}
	ended := func(s stock.State) map[stock.OpKind]cell {
		return map[stock.OpKind]cell{
			opTry: {int64(stock.Ended), s, 0, 0}, opOther: {int64(stock.Ended), s, 0, 0},
			stock.OpHeld: {opposite, s, 0, 0}, stock.OpConfirm: {opposite, s, 0, 0},
			stock.OpCancel: {same, s, 0, 0}, stock.OpReturn: {same, s, 0, 0}, stock.OpForget: {same, s, 0, 0},
		}
	}
	return map[string]map[stock.OpKind]cell{
		"none": none, "held before a rebuild": none, "confirmed before a rebuild": none, "refused": refused,
		"held": {
			opTry: {int64(stock.Duplicate), stock.Held, 0, 0}, opOther: {int64(stock.Mismatched), stock.Held, 0, 0},
			stock.OpHeld: {same, stock.Held, 0, 0}, stock.OpConfirm: {changed, stock.Confirmed, -1, 1},
			stock.OpCancel: {changed, stock.Released, -1, 0}, stock.OpReturn: {opposite, stock.Held, 0, 0},
			stock.OpForget: {changed, "", -1, 0},
		},
		"confirmed": {
			opTry: {int64(stock.Duplicate), stock.Confirmed, 0, 0}, opOther: {int64(stock.Mismatched), stock.Confirmed, 0, 0},
			stock.OpHeld: {same, stock.Confirmed, 0, 0}, stock.OpConfirm: {same, stock.Confirmed, 0, 0},
			stock.OpCancel: {opposite, stock.Confirmed, 0, 0}, stock.OpReturn: {changed, stock.Returned, 0, -1},
			stock.OpForget: {same, stock.Confirmed, 0, 0},
		},
		"released": ended(stock.Released), "released before a rebuild": ended(stock.Released),
		"returned": ended(stock.Returned), "returned before a rebuild": ended(stock.Returned),
	}
}

// bringToState puts a hold into a state of the table, in a scope that also has the other holds.
func (f *CacheFixture) bringToState(h stock.Hold, state string, others ...stock.HoldState) {
	f.Helper()
	state, rebuilt := strings.CutSuffix(state, " before a rebuild")
	switch state {
	case "none":
		return
	case "refused":
		f.SetCap(Noodles, 0)
		f.WantTry(h, stock.Refused)
		f.SetCap(Noodles, 10)
		return
	}
	f.WantTry(h, stock.Admitted)
	if state == "released" {
		f.WantApply(stock.OpCancel, h, stock.Changed)
	}
	if state == "confirmed" || state == "returned" {
		f.WantApply(stock.OpConfirm, h, stock.Changed)
	}
	if state == "returned" {
		f.WantApply(stock.OpReturn, h, stock.Changed)
	}
	if rebuilt {
		f.Rebuild(others...)
	}
}

func stateTable(f *CacheFixture) {
	others := stock.HoldState{Hold: f.NewHold(stock.Line{Item: Noodles, Qty: 2}, stock.Line{Item: Tea, Qty: 3}), State: stock.Confirmed}
	for state, row := range table() {
		for op, want := range row {
			f.Rebuild(others) // used units exist, from which a return without a record is deducted
			h := f.NewHold(stock.Line{Item: Noodles, Qty: 2}, stock.Line{Item: Tea, Qty: 3})
			f.bringToState(h, state, others)
			before := f.Count(Noodles)

			var got int64
			switch op {
			case opTry:
				got = int64(f.Try(h).Status)
			case opOther:
				other := h
				other.Lines = []stock.Line{{Item: Noodles, Qty: 1}, {Item: Tea, Qty: 3}}
				got = int64(f.Try(other).Status)
			default:
				got = int64(f.ApplyOne(op, h))
			}
			after, next := f.Count(Noodles), f.StateOf(h.ID)
			if got != want.answer || next != want.next ||
				after.Held-before.Held != 2*want.held || after.Used-before.Used != 2*want.used {
				f.Errorf("%s, %s: %d, then %q, held %d -> %d, used %d -> %d; want %+v",
					state, op, got, next, before.Held, after.Held, before.Used, after.Used, want)
			}
		}
	}
}

func reserveAllLinesOrNone(f *CacheFixture) {
	all := []stock.Line{{Item: Noodles, Qty: 11}, {Item: Soup, Qty: 5}, {Item: Tea, Qty: 1000}}
	v := f.Try(f.NewHold(all...))
	ofStock := f.Scope.IsStock()
	want := stock.AdmissionResult{Status: stock.Refused, Short: []stock.Shortage{
		{Item: Noodles, Requested: 11, Available: 10, Stock: ofStock},
	}}
	testenv.Equal(f, want, v)
	for _, item := range []int64{Noodles, Soup, Tea} {
		f.WantCount(item, 0, 0)
	}
	f.SetCap(Soup, 2) // below the next quantity, and then below the units taken
	f.WantTry(f.NewHold(stock.Line{Item: Soup, Qty: 2}), stock.Admitted)
	f.SetCap(Soup, 1)
	v = f.Try(f.NewHold(stock.Line{Item: Noodles, Qty: 12}, stock.Line{Item: Soup, Qty: 1}))
	want.Short = []stock.Shortage{
		{Item: Noodles, Requested: 12, Available: 10, Stock: ofStock},
		{Item: Soup, Requested: 1, Available: 0, Stock: ofStock},
	}
	testenv.Equal(f, want, v)
	f.SetCap(Noodles, stock.Unlimited)
	f.WantTry(f.NewHold(stock.Line{Item: Noodles, Qty: 1_000_000}), stock.Admitted)
	f.WantCount(Noodles, 1_000_000, 0)
}

func capOfANewItem(f *CacheFixture) {
	h := f.NewHold(stock.Line{Item: Uncached, Qty: 2})
	f.WantTry(h, stock.Cold)
	f.WantApply(stock.OpHeld, h, stock.Changed) // SQL accepted the order; the cache still has no cap for the item
	f.WantTry(f.NewHold(stock.Line{Item: Uncached, Qty: 1}), stock.Cold)
	f.SetCap(Uncached, 3)
	f.WantCount(Uncached, 2, 0)
	f.WantTry(f.NewHold(stock.Line{Item: Uncached, Qty: 2}), stock.Refused)
	f.WantTry(f.NewHold(stock.Line{Item: Uncached, Qty: 1}), stock.Admitted)
}

func remembersRefusedIDs(f *CacheFixture) { // I12
	h := f.NewHold(stock.Line{Item: Noodles, Qty: 11})
	f.WantTry(h, stock.Refused)
	f.SetCap(Noodles, 100)
	f.Now = f.Now.Add(keyspace.RefusedSpan)
	f.WantTry(h, stock.Ended)
	f.Now = f.Now.Add(keyspace.RefusedSpan) // after two spans, every request from then has timed out
	f.WantTry(h, stock.Admitted)
}

func reserveRejectsInvalidHolds(f *CacheFixture) {
	most := stock.MaxLines
	if f.Scope.IsStock() {
		most = stock.MaxStockLines
	}
	many := make([]stock.Line, most+1)
	for i := range many {
		many[i] = stock.Line{Item: int64(i + 1), Qty: 1}
	}
	for name, lines := range map[string][]stock.Line{
		"no line": {}, "too many lines": many, "nothing": {{Item: Noodles, Qty: 0}}, "no item": {{Item: 0, Qty: 1}},
		"beyond every limit": {{Item: Noodles, Qty: stock.MaxLines*stock.MaxQty + 1}},
		"unsorted lines":     {{Item: Soup, Qty: 1}, {Item: Noodles, Qty: 1}},
	} {
		if _, err := f.Reserve(f.Context(), f.NewHold(lines...)); err == nil {
			f.Errorf("%s: accepted", name)
		}
	}
	nameless := f.NewHold(stock.Line{Item: Noodles, Qty: 1})
	nameless.ID = ""
	if _, err := f.Reserve(f.Context(), nameless); err == nil {
		f.Error("a hold without an id is accepted")
	}
	f.WantCount(Noodles, 0, 0)
}

func applyBatches(f *CacheFixture) {
	var ops []stock.Op
	other := f.Scope
	other.Branch = f.Scope.Branch * 100_000 // never built, so unknown
	old := f.Scope                          // a scope with quotas, on a date whose keys have expired
	old.Date = f.Now.Add(-5 * 24 * time.Hour).Format(time.DateOnly)
	for i := range manyHolds { // the operations of each hold are applied in order, over several calls
		h := f.NewHold(stock.Line{Item: Tea, Qty: 1})
		ops = append(ops, stock.Op{Kind: stock.OpHeld, Hold: h}, stock.Op{Kind: stock.OpConfirm, Hold: h})
		if i%2 == 0 {
			ops = append(ops, stock.Op{Kind: stock.OpReturn, Hold: h})
		}
	}
	otherScope := stock.Hold{ID: uid.New(f.Now), Scope: other, Lines: []stock.Line{{Item: Tea, Qty: 1}}}
	past := stock.Hold{ID: uid.New(f.Now), Scope: old, Lines: []stock.Line{{Item: Tea, Qty: 1}}}
	ops = append(ops, stock.Op{Kind: stock.OpHeld, Hold: otherScope}, stock.Op{Kind: stock.OpCancel, Hold: past},
		stock.Op{Kind: stock.OpHeld, Hold: f.NewHold()})
	applied, err := f.Apply(f.Context(), ops)
	if err == nil {
		f.Error("a hold without lines was accepted")
	}
	last := len(ops) - 3
	for i, ok := range applied {
		if want := i < last || i == last+1; ok != want {
			f.Errorf("operation %d of %d: applied %t", i, len(ops), ok)
		}
	}
	f.WantCount(Tea, 0, manyHolds/2)
}

func expiredProvisional(f *CacheFixture) {
	early := f.NewHold(stock.Line{Item: Noodles, Qty: 1}, stock.Line{Item: Tea, Qty: 2})
	f.WantTry(early, stock.Admitted)
	placed := f.NewHold(stock.Line{Item: Soup, Qty: 1})
	f.WantTry(placed, stock.Admitted)
	f.WantApply(stock.OpHeld, placed, stock.Same) // HELD ends the provisional hold without a change of state
	f.Now = f.Now.Add(10 * time.Second)
	late := f.NewHold(stock.Line{Item: Tea, Qty: 1})
	f.WantTry(late, stock.Admitted)

	due := func(in time.Duration, limit int) []string {
		holds := testenv.Must(f.ExpiredProvisional(context.Background(), f.Scope, f.Now.Add(in), limit))(f)
		var ids []string
		for _, h := range holds {
			ids = append(ids, h.ID)
			if h.ID == early.ID && (!cmp.Equal(h.Lines, early.Lines) || h.Scope != f.Scope) {
				f.Errorf("Due returned %+v instead of %+v", h, early)
			}
		}
		return ids
	}
	for _, c := range []struct {
		in    time.Duration
		limit int
		want  []string
	}{
		{19 * time.Second, 10, nil},
		{20 * time.Second, 10, []string{early.ID}},
		{30 * time.Second, 1, []string{early.ID}},
		{30 * time.Second, 10, []string{early.ID, late.ID}},
	} {
		if d := cmp.Diff(c.want, due(c.in, c.limit)); d != "" {
			f.Errorf("in %s (-want +got):\n%s", c.in, d)
		}
	}

	f.WantApply(stock.OpCancel, early, stock.Changed) // as ExpireProvisional sends it
	f.WantCount(Noodles, 0, 0)
	f.WantApply(stock.OpForget, late, stock.Changed)
	if ids := due(time.Hour, 10); ids != nil {
		f.Errorf("due after all: %v", ids)
	}
}

func readScope(f *CacheFixture) {
	held, paid := f.NewHold(stock.Line{Item: Noodles, Qty: 2}), f.NewHold(stock.Line{Item: Soup, Qty: 1})
	epoch := f.Begin()
	if _, ok, err := f.ReadScope(f.Context(), f.Scope); ok || err != nil {
		f.Errorf("a scope being rebuilt: %t, %v", ok, err)
	}
	holds := []stock.HoldState{{Hold: held, State: stock.Held}, {Hold: paid, State: stock.Confirmed}}
	testenv.NoError(f, f.FinishRebuild(f.Context(), f.Snapshot(epoch, holds...)))
	got, ok, err := f.ReadScope(f.Context(), f.Scope)
	if err != nil || !ok || got.Epoch != epoch {
		f.Fatalf("epoch %q instead of %q, %t, %v", got.Epoch, epoch, ok, err)
	}
	want := []stock.Count{
		{Item: Noodles, Cap: 10, Held: 2}, {Item: Soup, Cap: 5, Used: 1}, {Item: Tea, Cap: stock.Unlimited},
	}
	testenv.Equal(f, want, got.Counts)
	known := map[string]stock.State{held.ID: stock.Held, paid.ID: stock.Confirmed}
	testenv.Equal(f, known, f.states(f.Scope, epoch, []string{held.ID, paid.ID, uid.New(f.Now)}))
}

// Each test below covers a mistake in the reference documents' scripts. The comment beside its name states the effect
// that the mistake had.
func cancelTwice(f *CacheFixture) { // turned 10 units into 13
	h := f.NewHold(stock.Line{Item: Noodles, Qty: 3})
	f.WantTry(h, stock.Admitted)
	f.WantApply(stock.OpCancel, h, stock.Changed)
	f.WantApply(stock.OpCancel, h, stock.Same)
	f.WantCount(Noodles, 0, 0)
	f.WantTry(f.NewHold(stock.Line{Item: Noodles, Qty: 11}), stock.Refused)
	f.WantTry(f.NewHold(stock.Line{Item: Noodles, Qty: 10}), stock.Admitted)
}

func cancelAfterConfirm(f *CacheFixture) { // ended with 3 sold and 10 available
	h := f.NewHold(stock.Line{Item: Noodles, Qty: 3})
	f.WantTry(h, stock.Admitted)
	f.WantApply(stock.OpConfirm, h, stock.Changed)
	f.WantApply(stock.OpCancel, h, stock.Opposite)
	f.WantCount(Noodles, 0, 3)
	f.WantTry(f.NewHold(stock.Line{Item: Noodles, Qty: 8}), stock.Refused)
}

func tryAfterCancel(f *CacheFixture) { // the cancelled order was held again
	h := f.NewHold(stock.Line{Item: Noodles, Qty: 3})
	f.WantApply(stock.OpCancel, h, stock.Changed)
	f.WantTry(h, stock.Ended)
	f.WantApply(stock.OpHeld, h, stock.Opposite)
	f.WantCount(Noodles, 0, 0)
}

func retriedReserve(f *CacheFixture) { // took twice
	h := f.NewHold(stock.Line{Item: Noodles, Qty: 6})
	f.WantTry(h, stock.Admitted)
	f.WantTry(h, stock.Duplicate)
	f.WantCount(Noodles, 6, 0)
}

func negativeQuantity(f *CacheFixture) { // created stock
	for _, qty := range []int64{-5, 0} {
		h := f.NewHold(stock.Line{Item: Noodles, Qty: qty})
		if v, err := f.Reserve(f.Context(), h); err == nil {
			f.Errorf("a quantity of %d: %+v", qty, v)
		}
		if _, err := f.Apply(f.Context(), []stock.Op{{Kind: stock.OpHeld, Hold: h}}); err == nil {
			f.Errorf("HELD with a quantity of %d was accepted", qty)
		}
	}
	f.WantCount(Noodles, 0, 0)
}

func confirmWithForeignQuantity(f *CacheFixture) { // confirming 5 on a hold of 3 took another order's units
	hold, other := f.NewHold(stock.Line{Item: Noodles, Qty: 3}), f.NewHold(stock.Line{Item: Noodles, Qty: 4})
	f.WantTry(hold, stock.Admitted)
	f.WantTry(other, stock.Admitted)
	claim := hold
	claim.Lines = []stock.Line{{Item: Noodles, Qty: 5}, {Item: Soup, Qty: 1}}
	f.WantApply(stock.OpConfirm, claim, stock.Changed)
	f.WantCount(Noodles, 4, 3)
	f.WantCount(Soup, 0, 0)
	f.WantApply(stock.OpReturn, claim, stock.Changed)
	f.WantCount(Noodles, 4, 0)
}

func linesOfOneItemCheckedOneByOne(f *CacheFixture) {
	twice := f.NewHold(stock.Line{Item: Noodles, Qty: 6}, stock.Line{Item: Noodles, Qty: 6})
	if v, err := f.Reserve(f.Context(), twice); err == nil {
		f.Errorf("6 and 6 of 10: %+v", v)
	}
	twice.Lines = testenv.Must(stock.MergeLines(twice.Lines))(f)
	f.WantTry(twice, stock.Refused)
}
