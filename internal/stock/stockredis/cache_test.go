package stockredis

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

func TestMain(m *testing.M) {
	testenv.Sequences(testenv.Size(60, 400))
	redisdbtest.VerifyMain(m)
}

const (
	noodles  = int64(1001)
	soup     = int64(1002)
	tea      = int64(1003) // without a quota
	uncached = int64(1099) // not in the cache

	patience = 10 * time.Second // the machine is shared with other tests
)

// fixture is a cache over a Redis with one built scope.
type fixture struct {
	*testing.T
	*Cache
	scope stock.Scope
	now   time.Time
}

// each runs a test on every kind of Redis, once on the quotas of a business date and once on a branch's stock.
func each(t *testing.T, test func(f *fixture)) {
	t.Helper()
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		t.Run("quotas", func(t *testing.T) { test(newFixture(t, db)) })
		t.Run("stock", func(t *testing.T) { test(newFixtureOf(t, db, stock.StockScope(7))) })
	})
}

func newFixture(t *testing.T, db *redisdb.DB) *fixture {
	t.Helper()
	return newFixtureOf(t, db, stock.Scope{Branch: 7, Date: time.Now().UTC().Format(time.DateOnly)})
}

func newFixtureOf(t *testing.T, db *redisdb.DB, scope stock.Scope) *fixture {
	t.Helper()
	f := &fixture{T: t, scope: scope, now: time.Now().UTC().Truncate(time.Second)}
	f.Cache = New(db, Config{Now: func() time.Time { return f.now }, Timeout: patience})
	f.rebuild()
	return f
}

// image returns a snapshot with 10 noodles, 5 soups and unlimited tea, minus the units of the given holds.
func (f *fixture) image(epoch string, holds ...stock.HoldState) stock.ScopeSnapshot {
	im := stock.ScopeSnapshot{Scope: f.scope, Epoch: epoch, Ends: f.now.Add(20 * time.Hour), Holds: holds, Counts: []stock.Count{
		{Item: noodles, Cap: 10}, {Item: soup, Cap: 5}, {Item: tea, Cap: stock.Unlimited},
	}}
	for _, h := range holds {
		for _, l := range h.Hold.Lines {
			for i := range im.Counts {
				switch c := &im.Counts[i]; {
				case c.Item == l.Item && h.State == stock.Held:
					c.Held += l.Qty
				case c.Item == l.Item && h.State == stock.Confirmed:
					c.Used += l.Qty
				}
			}
		}
	}
	return im
}

func (f *fixture) begin() string {
	f.Helper()
	return testenv.Must(f.BeginRebuild(f.Context(), f.scope))(f)
}

func (f *fixture) rebuild(holds ...stock.HoldState) {
	f.Helper()
	testenv.NoError(f, f.FinishRebuild(f.Context(), f.image(f.begin(), holds...)))
}

// id returns a new hold id: for stock, the id of another system's reservation, which may have the maximum length.
func (f *fixture) id() string {
	if f.scope.IsStock() {
		return stock.HoldID("Order." + uid.New(f.now) + "_" + strings.Repeat("z", stock.MaxExternalID-33))
	}
	return uid.New(f.now)
}

func (f *fixture) hold(lines ...stock.Line) stock.Hold {
	return stock.Hold{ID: f.id(), Scope: f.scope, Lines: lines, Until: f.now.Add(15 * time.Minute)}
}

func (f *fixture) try(h stock.Hold) stock.AdmissionResult {
	f.Helper()
	return testenv.Must(f.Reserve(f.Context(), h))(f)
}

func (f *fixture) wantTry(h stock.Hold, want stock.AdmissionStatus) {
	f.Helper()
	if v := f.try(h); v.Status != want {
		f.Errorf("TRY = %s, want %s", statusNames[v.Status], statusNames[want])
	}
}

// apply applies one operation and returns its outcome with the number that apply.lua uses; 0 is an unknown scope.
func (f *fixture) apply(kind stock.OpKind, h stock.Hold) int64 {
	f.Helper()
	keys, args := f.applyArgs(f.scope, []stock.Op{{Kind: kind, Hold: h}}, []int{0})
	ns := testenv.Must(f.db.Run(f.Context(), applyScript, keys, args).Ints())(f)
	if len(ns) == 1 {
		return 0
	}
	return ns[1]
}

func (f *fixture) wantApply(kind stock.OpKind, h stock.Hold, want int64) {
	f.Helper()
	if got := f.apply(kind, h); got != want {
		f.Errorf("%s = %d, want %d", kind, got, want)
	}
}

func (f *fixture) setCap(item, limit int64) {
	f.Helper()
	f.wantApply(stock.OpCap, stock.Hold{Scope: f.scope, Lines: []stock.Line{{Item: item, Qty: limit}}}, 1)
}

func (f *fixture) count(item int64) stock.Count {
	f.Helper()
	counts, ok, err := f.Counts(f.Context(), f.scope, []int64{item})
	if err != nil || !ok || len(counts) != 1 {
		f.Fatalf("Counts = %v, %t, %v", counts, ok, err)
	}
	return counts[0]
}

func (f *fixture) wantCount(item, held, used int64) {
	f.Helper()
	if c := f.count(item); c.Held != held || c.Used != used {
		f.Errorf("item %d: held %d and used %d, want %d and %d", item, c.Held, c.Used, held, used)
	}
}

func (f *fixture) state(id string) stock.State {
	f.Helper()
	shown, ok, err := f.ReadScope(f.Context(), f.scope)
	if err != nil || !ok {
		f.Fatalf("All: %t, %v", ok, err)
	}
	states := testenv.Must(f.States(f.Context(), f.scope, shown.Epoch, []string{id}))(f)
	return states[id]
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

const (
	changed        = 1
	alreadyApplied = 2
	conflict       = 3
)

// table is the state table of the cache. A record of another epoch counts as none; a final state stays final under
// every epoch.
func table() map[string]map[stock.OpKind]cell {
	none := map[stock.OpKind]cell{
		opTry: {int64(stock.Admitted), stock.Held, 1, 0}, stock.OpHeld: {changed, stock.Held, 1, 0},
		stock.OpConfirm: {changed, stock.Confirmed, 0, 1}, stock.OpCancel: {changed, stock.Released, 0, 0},
		stock.OpReturn: {changed, stock.Returned, 0, -1}, stock.OpForget: {alreadyApplied, "", 0, 0},
	}
	refused := map[stock.OpKind]cell{opTry: {int64(stock.Ended), "", 0, 0}, opOther: {int64(stock.Ended), "", 0, 0}}
	for _, op := range []stock.OpKind{stock.OpHeld, stock.OpConfirm, stock.OpCancel, stock.OpReturn, stock.OpForget} {
		refused[op] = none[op]
	}
	ended := func(s stock.State) map[stock.OpKind]cell {
		return map[stock.OpKind]cell{
			opTry: {int64(stock.Ended), s, 0, 0}, opOther: {int64(stock.Ended), s, 0, 0},
			stock.OpHeld: {conflict, s, 0, 0}, stock.OpConfirm: {conflict, s, 0, 0},
			stock.OpCancel: {alreadyApplied, s, 0, 0}, stock.OpReturn: {alreadyApplied, s, 0, 0}, stock.OpForget: {alreadyApplied, s, 0, 0},
		}
	}
	return map[string]map[stock.OpKind]cell{
		"none": none, "held before a rebuild": none, "confirmed before a rebuild": none, "refused": refused,
		"held": {
			opTry: {int64(stock.Duplicate), stock.Held, 0, 0}, opOther: {int64(stock.Mismatched), stock.Held, 0, 0},
			stock.OpHeld: {alreadyApplied, stock.Held, 0, 0}, stock.OpConfirm: {changed, stock.Confirmed, -1, 1},
			stock.OpCancel: {changed, stock.Released, -1, 0}, stock.OpReturn: {conflict, stock.Held, 0, 0},
			stock.OpForget: {changed, "", -1, 0},
		},
		"confirmed": {
			opTry: {int64(stock.Duplicate), stock.Confirmed, 0, 0}, opOther: {int64(stock.Mismatched), stock.Confirmed, 0, 0},
			stock.OpHeld: {alreadyApplied, stock.Confirmed, 0, 0}, stock.OpConfirm: {alreadyApplied, stock.Confirmed, 0, 0},
			stock.OpCancel: {conflict, stock.Confirmed, 0, 0}, stock.OpReturn: {changed, stock.Returned, 0, -1},
			stock.OpForget: {alreadyApplied, stock.Confirmed, 0, 0},
		},
		"released": ended(stock.Released), "released before a rebuild": ended(stock.Released),
		"returned": ended(stock.Returned), "returned before a rebuild": ended(stock.Returned),
	}
}

// bring puts a hold into a state of the table, in a scope that also has the other holds.
func (f *fixture) bring(h stock.Hold, state string, others ...stock.HoldState) {
	f.Helper()
	was, rebuilt := strings.CutSuffix(state, " before a rebuild")
	switch was {
	case "none":
		return
	case "refused":
		f.setCap(noodles, 0)
		f.wantTry(h, stock.Refused)
		f.setCap(noodles, 10)
		return
	}
	f.wantTry(h, stock.Admitted)
	if was == "released" {
		f.wantApply(stock.OpCancel, h, changed)
	}
	if was == "confirmed" || was == "returned" {
		f.wantApply(stock.OpConfirm, h, changed)
	}
	if was == "returned" {
		f.wantApply(stock.OpReturn, h, changed)
	}
	if rebuilt {
		f.rebuild(others...)
	}
}

func TestCache_state_table(t *testing.T) {
	each(t, func(f *fixture) {
		others := stock.HoldState{Hold: f.hold(stock.Line{Item: noodles, Qty: 2}, stock.Line{Item: tea, Qty: 3}), State: stock.Confirmed}
		for state, row := range table() {
			for op, want := range row {
				f.rebuild(others) // used units exist, from which a return without a record is deducted
				h := f.hold(stock.Line{Item: noodles, Qty: 2}, stock.Line{Item: tea, Qty: 3})
				f.bring(h, state, others)
				before := f.count(noodles)

				var got int64
				switch op {
				case opTry:
					got = int64(f.try(h).Status)
				case opOther:
					other := h
					other.Lines = []stock.Line{{Item: noodles, Qty: 1}, {Item: tea, Qty: 3}}
					got = int64(f.try(other).Status)
				default:
					got = f.apply(op, h)
				}
				after, next := f.count(noodles), f.state(h.ID)
				if got != want.answer || next != want.next ||
					after.Held-before.Held != 2*want.held || after.Used-before.Used != 2*want.used {
					f.Errorf("%s, %s: %d, then %q, held %d -> %d, used %d -> %d; want %+v",
						state, op, got, next, before.Held, after.Held, before.Used, after.Used, want)
				}
			}
		}
	})
}

func TestCache_Reserve_all_lines_or_none(t *testing.T) {
	each(t, func(f *fixture) {
		all := []stock.Line{{Item: noodles, Qty: 11}, {Item: soup, Qty: 5}, {Item: tea, Qty: 1000}}
		v := f.try(f.hold(all...))
		ofStock := f.scope.IsStock()
		want := stock.AdmissionResult{Status: stock.Refused, Short: []stock.Shortage{
			{Item: noodles, Requested: 11, Available: 10, Stock: ofStock},
		}}
		testenv.Equal(t, want, v)
		for _, item := range []int64{noodles, soup, tea} {
			f.wantCount(item, 0, 0)
		}
		f.setCap(soup, 2) // below the next quantity, and then below the units taken
		f.wantTry(f.hold(stock.Line{Item: soup, Qty: 2}), stock.Admitted)
		f.setCap(soup, 1)
		v = f.try(f.hold(stock.Line{Item: noodles, Qty: 12}, stock.Line{Item: soup, Qty: 1}))
		want.Short = []stock.Shortage{
			{Item: noodles, Requested: 12, Available: 10, Stock: ofStock},
			{Item: soup, Requested: 1, Available: 0, Stock: ofStock},
		}
		testenv.Equal(t, want, v)
		f.setCap(noodles, stock.Unlimited)
		f.wantTry(f.hold(stock.Line{Item: noodles, Qty: 1_000_000}), stock.Admitted)
		f.wantCount(noodles, 1_000_000, 0)
	})
}

func TestCache_cap_of_a_new_item(t *testing.T) {
	each(t, func(f *fixture) {
		h := f.hold(stock.Line{Item: uncached, Qty: 2})
		f.wantTry(h, stock.Cold)
		f.wantApply(stock.OpHeld, h, changed) // SQL accepted the order; the cache still has no cap for the item
		f.wantTry(f.hold(stock.Line{Item: uncached, Qty: 1}), stock.Cold)
		f.setCap(uncached, 3)
		f.wantCount(uncached, 2, 0)
		f.wantTry(f.hold(stock.Line{Item: uncached, Qty: 2}), stock.Refused)
		f.wantTry(f.hold(stock.Line{Item: uncached, Qty: 1}), stock.Admitted)
	})
}

func TestCache_remembers_refused_ids(t *testing.T) { // I12
	each(t, func(f *fixture) {
		h := f.hold(stock.Line{Item: noodles, Qty: 11})
		f.wantTry(h, stock.Refused)
		f.setCap(noodles, 100)
		f.now = f.now.Add(keyspace.RefusedSpan)
		f.wantTry(h, stock.Ended)
		f.now = f.now.Add(keyspace.RefusedSpan) // after two spans, every request from then has timed out
		f.wantTry(h, stock.Admitted)
	})
}

func TestCache_Reserve_rejects_invalid_holds(t *testing.T) {
	each(t, func(f *fixture) {
		most := stock.MaxLines
		if f.scope.IsStock() {
			most = stock.MaxStockLines
		}
		many := make([]stock.Line, most+1)
		for i := range many {
			many[i] = stock.Line{Item: int64(i + 1), Qty: 1}
		}
		for name, lines := range map[string][]stock.Line{
			"no line": {}, "too many lines": many, "nothing": {{Item: noodles, Qty: 0}}, "no item": {{Item: 0, Qty: 1}},
			"beyond every limit": {{Item: noodles, Qty: stock.MaxLines*stock.MaxQty + 1}},
			"unsorted lines":     {{Item: soup, Qty: 1}, {Item: noodles, Qty: 1}},
		} {
			if _, err := f.Reserve(f.Context(), f.hold(lines...)); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
		for name, id := range map[string]string{"no id": "", "long id": f.id() + "0", "strange id": "{b8}"} {
			h := f.hold(stock.Line{Item: noodles, Qty: 1})
			h.ID = id
			if _, err := f.Reserve(f.Context(), h); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
		f.wantCount(noodles, 0, 0)
	})
}

func TestCache_Apply_batches(t *testing.T) {
	each(t, func(f *fixture) {
		var ops []stock.Op
		other := f.scope
		other.Branch = 8 // never built, so unknown
		old := f.scope   // with quotas, a day so old that its keys have expired
		old.Date = f.now.Add(-5 * 24 * time.Hour).Format(time.DateOnly)
		for i := range 3 * maxBatch { // the operations of each hold are applied in order, over several calls
			h := f.hold(stock.Line{Item: tea, Qty: 1})
			ops = append(ops, stock.Op{Kind: stock.OpHeld, Hold: h}, stock.Op{Kind: stock.OpConfirm, Hold: h})
			if i%2 == 0 {
				ops = append(ops, stock.Op{Kind: stock.OpReturn, Hold: h})
			}
		}
		elsewhere := stock.Hold{ID: uid.New(f.now), Scope: other, Lines: []stock.Line{{Item: tea, Qty: 1}}}
		past := stock.Hold{ID: uid.New(f.now), Scope: old, Lines: []stock.Line{{Item: tea, Qty: 1}}}
		ops = append(ops, stock.Op{Kind: stock.OpHeld, Hold: elsewhere}, stock.Op{Kind: stock.OpCancel, Hold: past},
			stock.Op{Kind: stock.OpHeld, Hold: f.hold()})
		applied, err := f.Apply(f.Context(), ops)
		if err == nil {
			t.Error("a hold without lines was accepted")
		}
		last := len(ops) - 3
		for i, ok := range applied {
			if want := i < last || i == last+1; ok != want {
				t.Errorf("operation %d of %d: applied %t", i, len(ops), ok)
			}
		}
		f.wantCount(tea, 0, 3*maxBatch/2)
	})
}

func TestCache_ExpiredProvisional(t *testing.T) {
	each(t, func(f *fixture) {
		early := f.hold(stock.Line{Item: noodles, Qty: 1}, stock.Line{Item: tea, Qty: 2})
		f.wantTry(early, stock.Admitted)
		placed := f.hold(stock.Line{Item: soup, Qty: 1})
		f.wantTry(placed, stock.Admitted)
		f.wantApply(stock.OpHeld, placed, changed+1) // HELD ends the provisional hold without a change of state
		f.now = f.now.Add(10 * time.Second)
		late := f.hold(stock.Line{Item: tea, Qty: 1})
		f.wantTry(late, stock.Admitted)

		due := func(in time.Duration, limit int) []string {
			holds := testenv.Must(f.ExpiredProvisional(context.Background(), f.scope, f.now.Add(in), limit))(t)
			var ids []string
			for _, h := range holds {
				ids = append(ids, h.ID)
				if h.ID == early.ID && (!cmp.Equal(h.Lines, early.Lines) || h.Scope != f.scope) {
					t.Errorf("Due returned %+v instead of %+v", h, early)
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
				t.Errorf("in %s: %s", c.in, d)
			}
		}

		f.wantApply(stock.OpCancel, early, changed) // as ExpireProvisional sends it
		f.wantCount(noodles, 0, 0)
		testenv.NoError(t, f.db.Do(f.Context(), "DEL", recordKey(f.scope, late.ID)).Err())
		if ids := due(time.Hour, 10); ids != nil {
			t.Errorf("due after all: %v", ids)
		}
		if n, err := f.db.Do(f.Context(), "ZCARD", provisionalKey(f.scope)).Int(); n != 0 || err != nil {
			t.Errorf("%d provisional holds are left, %v", n, err)
		}
	})
}

func TestCache_ReadScope(t *testing.T) {
	each(t, func(f *fixture) {
		held, paid := f.hold(stock.Line{Item: noodles, Qty: 2}), f.hold(stock.Line{Item: soup, Qty: 1})
		epoch := f.begin()
		if _, ok, err := f.ReadScope(f.Context(), f.scope); ok || err != nil {
			t.Errorf("a scope being rebuilt: %t, %v", ok, err)
		}
		holds := []stock.HoldState{{Hold: held, State: stock.Held}, {Hold: paid, State: stock.Confirmed}}
		testenv.NoError(t, f.FinishRebuild(f.Context(), f.image(epoch, holds...)))
		got, ok, err := f.ReadScope(f.Context(), f.scope)
		if err != nil || !ok || got.Epoch != epoch || len(epoch) != epochLen {
			t.Fatalf("epoch %q instead of %q, %t, %v", got.Epoch, epoch, ok, err)
		}
		want := []stock.Count{
			{Item: noodles, Cap: 10, Held: 2}, {Item: soup, Cap: 5, Used: 1}, {Item: tea, Cap: stock.Unlimited},
		}
		testenv.Equal(t, want, got.Counts)
		states, err := f.States(f.Context(), f.scope, epoch, []string{held.ID, paid.ID, uid.New(f.now)})
		known := map[string]stock.State{held.ID: stock.Held, paid.ID: stock.Confirmed}
		if d := cmp.Diff(known, states); d != "" || err != nil {
			t.Error(d, err)
		}
	})
}
