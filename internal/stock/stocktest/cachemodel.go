package stocktest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	googlecmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/keyspace"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// cacheModel is the state table in plain, slow Go. The scripts are compared with it under random sequences of operations.
type cacheModel struct {
	known   bool // whether the scope was built and not lost since
	counts  map[int64]stock.Count
	capped  map[int64]bool // items with a known cap; other items are counted but not sold
	holds   map[string]modelHold
	span    int64
	refused map[string]int64 // by refused id, the span of its refusal
}

type modelHold struct {
	state stock.State
	lines []stock.Line
}

func (h modelHold) live() bool { return h.state == stock.Held || h.state == stock.Confirmed }

func (m *cacheModel) try(h stock.Hold) stock.AdmissionResult {
	unknown := stock.AdmissionResult{Status: stock.Cold, Missing: true}
	if !m.known {
		return unknown
	}
	switch stored := m.holds[h.ID]; {
	case stored.live() && slices.Equal(stored.lines, h.Lines):
		return stock.AdmissionResult{Status: stock.Duplicate}
	case stored.live():
		return stock.AdmissionResult{Status: stock.Mismatched}
	case stored.state != "":
		return stock.AdmissionResult{Status: stock.Ended}
	}
	if span, ok := m.refused[h.ID]; ok && m.span-span < 2 {
		return stock.AdmissionResult{Status: stock.Ended}
	}
	var short []stock.Shortage
	for _, l := range h.Lines {
		if !m.capped[l.Item] {
			return unknown
		}
		if left := m.counts[l.Item].Left(); left != stock.Unlimited && left < l.Qty {
			short = append(short, stock.Shortage{Item: l.Item, Requested: l.Qty, Available: left, Stock: h.Scope.IsStock()})
		}
	}
	if short != nil {
		m.refused[h.ID] = m.span
		return stock.AdmissionResult{Status: stock.Refused, Short: short}
	}
	m.move(h.Lines, 1, 0)
	m.holds[h.ID] = modelHold{stock.Held, h.Lines}
	return stock.AdmissionResult{Status: stock.Admitted}
}

func (m *cacheModel) apply(op stock.Op) {
	h := m.holds[op.Hold.ID]
	to := func(s stock.State, lines []stock.Line, held, used int64) {
		m.move(lines, held, used)
		m.holds[op.Hold.ID] = modelHold{s, lines}
	}
	switch {
	case op.Kind == stock.OpCap:
		l := op.Hold.Lines[0]
		c := m.counts[l.Item]
		c.Item, c.Cap = l.Item, l.Qty
		m.counts[l.Item], m.capped[l.Item] = c, true
	case op.Kind == stock.OpHeld && h.state == "":
		to(stock.Held, op.Hold.Lines, 1, 0)
	case op.Kind == stock.OpConfirm && h.state == "":
		to(stock.Confirmed, op.Hold.Lines, 0, 1)
	case op.Kind == stock.OpConfirm && h.state == stock.Held:
		to(stock.Confirmed, h.lines, -1, 1)
	case op.Kind == stock.OpCancel && h.state == "":
		to(stock.Released, nil, 0, 0)
	case op.Kind == stock.OpCancel && h.state == stock.Held:
		to(stock.Released, h.lines, -1, 0)
	case op.Kind == stock.OpReturn && h.state == "":
		to(stock.Returned, op.Hold.Lines, 0, -1)
	case op.Kind == stock.OpReturn && h.state == stock.Confirmed:
		to(stock.Returned, h.lines, 0, -1)
	case op.Kind == stock.OpForget && h.state == stock.Held:
		m.move(h.lines, -1, 0)
		delete(m.holds, op.Hold.ID)
	}
}

// call applies operations that are sent to Redis together. A counter below zero proves that the scope is wrong: then no
// operation is applied, and the scope becomes unknown.
func (m *cacheModel) call(ops []stock.Op) (known bool) {
	if !m.known {
		return false
	}
	after := *m
	after.counts, after.capped, after.holds = maps.Clone(m.counts), maps.Clone(m.capped), maps.Clone(m.holds)
	for _, op := range ops {
		after.apply(op)
	}
	for _, c := range after.counts {
		if c.Held < 0 || c.Used < 0 {
			m.known = false
			return false
		}
	}
	*m = after
	return true
}

func (m *cacheModel) move(lines []stock.Line, held, used int64) {
	for _, l := range lines {
		c := m.counts[l.Item]
		c.Item, c.Held, c.Used = l.Item, c.Held+held*l.Qty, c.Used+used*l.Qty
		m.counts[l.Item] = c
	}
}

// rebuild keeps the holds in the snapshot, and the final states of other holds.
func (m *cacheModel) rebuild(im stock.ScopeSnapshot) {
	m.known = true
	m.counts, m.capped = map[int64]stock.Count{}, map[int64]bool{}
	for _, c := range im.Counts {
		m.counts[c.Item], m.capped[c.Item] = c, true
	}
	maps.DeleteFunc(m.holds, func(_ string, h modelHold) bool { return h.live() })
	for _, h := range im.Holds {
		m.holds[h.Hold.ID] = modelHold{h.State, h.Hold.Lines}
	}
}

func againstModel(f *CacheFixture) {
	branch := f.Scope.Branch * 100_000
	rapid.Check(f, func(rt *rapid.T) {
		branch++ // each sequence has its own scope
		f.Scope.Branch = branch
		s := &sequence{f: f, model: &cacheModel{holds: map[string]modelHold{}, refused: map[string]int64{}}, start: f.Now}
		defer func() { f.Now = s.start }()
		for range 6 {
			s.ids = append(s.ids, f.NewID())
		}
		rt.Repeat(map[string]func(*rapid.T){
			"":        s.compare,
			"try":     s.try,
			"apply":   s.apply,
			"rebuild": s.rebuild,
			"forget":  s.forget,
			"later":   s.later,
		})
	})
}

// sequence applies the same operations to the cache and the model.
type sequence struct {
	f     *CacheFixture
	model *cacheModel
	ids   []string
	start time.Time
}

func (s *sequence) hold(t *rapid.T) stock.Hold {
	h := stock.Hold{ID: rapid.SampledFrom(s.ids).Draw(t, "id"), Scope: s.f.Scope, Until: s.f.Now}
	for _, item := range []int64{Noodles, Soup, Tea, Uncached} {
		if qty := rapid.Int64Range(-3, 4).Draw(t, "qty"); qty > 0 && (item != Uncached || qty == 1) {
			h.Lines = append(h.Lines, stock.Line{Item: item, Qty: qty})
		}
	}
	if h.Lines == nil {
		h.Lines = []stock.Line{{Item: Noodles, Qty: 1}}
	}
	return h
}

func (s *sequence) try(t *rapid.T) {
	h := s.hold(t)
	got := testenv.Must(s.f.Reserve(context.Background(), h))(t)
	if d := googlecmp.Diff(s.model.try(h), got); d != "" {
		t.Fatalf("TRY of %+v: %s", h, d)
	}
}

func (s *sequence) apply(t *rapid.T) {
	var ops []stock.Op
	for range rapid.IntRange(1, 5).Draw(t, "operations") {
		op := stock.Op{Hold: s.hold(t)}
		op.Kind = rapid.SampledFrom([]stock.OpKind{
			stock.OpHeld, stock.OpConfirm, stock.OpCancel, stock.OpReturn, stock.OpForget, stock.OpCap,
		}).Draw(t, "kind")
		if op.Kind == stock.OpCap {
			op.Hold.Lines = []stock.Line{{
				Item: rapid.SampledFrom([]int64{Noodles, Soup, Tea, Uncached}).Draw(t, "item"),
				Qty:  rapid.Int64Range(stock.Unlimited, 12).Draw(t, "cap"),
			}}
		}
		ops = append(ops, op)
	}
	applied := testenv.Must(s.f.Apply(context.Background(), ops))(t)
	known := s.model.call(ops)
	for i, op := range ops {
		if applied[i] != known {
			t.Fatalf("%s was applied: %t, the scope is known: %t", op.Kind, applied[i], known)
		}
	}
}

// rebuild takes some of the holds as the state in SQL, independent of the cache. They are loaded in two parts; where
// both have a hold, the later part is correct.
func (s *sequence) rebuild(t *rapid.T) {
	epoch := testenv.Must(s.f.BeginRebuild(context.Background(), s.f.Scope))(t)
	first, second := s.some(t), s.some(t)
	testenv.NoError(t, s.f.Load(context.Background(), s.f.Snapshot(epoch, first...)))
	all := slices.Clone(second)
	for _, h := range first {
		if !slices.ContainsFunc(second, func(later stock.HoldState) bool { return later.Hold.ID == h.Hold.ID }) {
			all = append(all, h)
		}
	}
	im := s.f.Snapshot(epoch, all...)
	im.Holds = second
	testenv.NoError(t, s.f.FinishRebuild(context.Background(), im))
	im.Holds = all
	s.model.rebuild(im)
}

func (s *sequence) some(t *rapid.T) []stock.HoldState {
	var holds []stock.HoldState
	for _, id := range s.ids {
		if !rapid.Bool().Draw(t, "in the image") {
			continue
		}
		h := s.hold(t)
		h.ID = id
		h.Lines = slices.DeleteFunc(h.Lines, func(l stock.Line) bool { return l.Item == Uncached })
		if len(h.Lines) > 0 {
			holds = append(holds, stock.HoldState{Hold: h, State: rapid.SampledFrom([]stock.State{
				stock.Held, stock.Confirmed, stock.Released, stock.Returned,
			}).Draw(t, "state")})
		}
	}
	return holds
}

func (s *sequence) forget(t *rapid.T) {
	testenv.Must(s.f.BeginRebuild(context.Background(), s.f.Scope))(t)
	s.model.known = false
}

// later advances the cache's clock, to at most two spans ahead of Redis's own clock, which the test cannot set.
func (s *sequence) later(*rapid.T) {
	if s.f.Now.Sub(s.start) < 2*keyspace.RefusedSpan {
		s.f.Now = s.f.Now.Add(keyspace.RefusedSpan)
		s.model.span++
	}
}

func (s *sequence) compare(t *rapid.T) {
	shown, ok, err := s.f.ReadScope(context.Background(), s.f.Scope)
	if err != nil || ok != s.model.known {
		t.Fatalf("the scope is known: %t, to the model %t, %v", ok, s.model.known, err)
	}
	if !ok {
		return
	}
	found := s.f.states(s.f.Scope, shown.Epoch, s.ids)
	states := map[string]stock.State{}
	for id, h := range s.model.holds {
		states[id] = h.state
	}
	var counts []stock.Count
	for _, c := range s.model.counts {
		if s.model.capped[c.Item] {
			counts = append(counts, c)
		}
	}
	slices.SortFunc(counts, func(a, b stock.Count) int { return cmp.Compare(a.Item, b.Item) })
	if d := googlecmp.Diff(states, found) + googlecmp.Diff(counts, shown.Counts); d != "" {
		t.Fatal(d)
	}
}
