package stock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

// A refusal is refuted when every line fits by SQL's counters, and only then. Lines that fit are not reported as sold
// out if the cache refused the hold because of its other lines.
func TestRefusalCheck_shortages(t *testing.T) {
	scope := Scope{Branch: 1, Date: "2026-02-26"}
	counts := []Count{{Item: 1, Cap: 10, Held: 3, Used: 4}, {Item: 2, Cap: Unlimited}, {Item: 3, Cap: 5, Held: 9}}
	var failure error
	d := refusalCheck{
		now:  func() time.Time { return time.UnixMilli(1000) },
		read: func(context.Context, Scope) ([]Count, error) { return counts, failure },
	}
	for name, c := range map[string]struct {
		lines []Line
		want  []int64 // items that are short
	}{
		"fits":                         {[]Line{{1, 3}}, nil},
		"does not fit":                 {[]Line{{1, 4}}, []int64{1}},
		"unlimited":                    {[]Line{{2, 1000}}, nil},
		"not counted yet":              {[]Line{{9, 1}}, nil},
		"above its cap":                {[]Line{{3, 1}}, []int64{3}},
		"one of two lines":             {[]Line{{1, 1}, {3, 1}}, []int64{3}},
		"all lines, counted and not":   {[]Line{{1, 1}, {2, 1}, {9, 1}}, nil},
		"the last unit that is left":   {[]Line{{1, 2}, {2, 5}}, nil},
		"more than all of them can be": {[]Line{{1, MaxQty}}, []int64{1}},
	} {
		reported := []Shortage{{Item: 1}, {Item: 2}, {Item: 3}, {Item: 9}} // shortages as the cache reports them
		var got []int64
		for _, s := range d.shortages(t.Context(), Hold{Scope: scope, Lines: c.lines}, reported) {
			got = append(got, s.Item)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: short are %v, want %v", name, got, c.want)
		}
	}
	failure = errors.New("no database")
	reported := []Shortage{{Item: 1, Requested: 1}}
	got := d.shortages(t.Context(), Hold{Scope: Scope{Branch: 2, Date: scope.Date}, Lines: []Line{{1, 1}}}, reported)
	if !slices.Equal(got, reported) {
		t.Errorf("what cannot be read refutes nothing: %v", got)
	}
}

// Many refusals at once read the counters once, and a later one reads them again.
func TestRefusalCheck_shares_one_read(t *testing.T) {
	var mu sync.Mutex
	now, readings := time.UnixMilli(1000), 0
	d := refusalCheck{
		now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		},
		read: func(context.Context, Scope) ([]Count, error) {
			mu.Lock()
			defer mu.Unlock()
			readings++
			return []Count{{Item: 1, Cap: int64(readings)}}, nil
		},
	}
	h := Hold{Scope: Scope{Branch: 1, Date: "2026-02-26"}, Lines: []Line{{1, 2}}}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if d.shortages(t.Context(), h, nil) == nil {
				t.Error("two units of one")
			}
		})
	}
	all.Wait()
	testenv.Equal(t, 1, readings)
	mu.Lock()
	now = now.Add(countsTTL)
	mu.Unlock()
	if d.shortages(t.Context(), h, nil) != nil || readings != 2 {
		t.Errorf("not read anew: %d readings", readings)
	}
}

// An operation that may release units invalidates a cached reading; an operation that takes units does not.
func TestRefusalCheck_invalidate(t *testing.T) {
	scope := Scope{Branch: 1, Date: "2026-02-26"}
	h := Hold{Scope: scope, Lines: []Line{{1, 2}}}
	for kind, anew := range map[OpKind]bool{
		OpHeld: false, OpConfirm: false, OpCancel: true, OpReturn: true, OpForget: true, OpCap: true,
	} {
		limit := int64(1)
		d := refusalCheck{
			now:  func() time.Time { return time.UnixMilli(1000) },
			read: func(context.Context, Scope) ([]Count, error) { return []Count{{Item: 1, Cap: limit}}, nil },
		}
		if d.shortages(t.Context(), h, nil) == nil {
			t.Errorf("%s: two units of one", kind)
		}
		limit = 2
		d.invalidate([]Op{{Kind: kind, Hold: Hold{Scope: Scope{Branch: 2, Date: scope.Date}}}}) // an operation of another branch
		if d.shortages(t.Context(), h, nil) == nil {
			t.Errorf("%s: another branch's operation dropped the reading", kind)
		}
		d.invalidate([]Op{{Kind: kind, Hold: Hold{Scope: scope, Lines: []Line{{1, 1}}}}})
		if got := d.shortages(t.Context(), h, nil) == nil; got != anew {
			t.Errorf("%s: read anew: %t, want %t", kind, got, anew)
		}
	}
}

// A demand that was refused a moment ago is refused again. Other demands are not: another item, no more units than are
// left, a later request, or one after units were released.
func TestRecentRefusals(t *testing.T) {
	scope, now := Scope{Branch: 1, Date: "2026-02-26"}, time.UnixMilli(1000)
	hold := func(lines ...Line) Hold { return Hold{ID: "h", Scope: scope, Lines: lines} }
	var s recentRefusals
	refused := func(h Hold, at time.Time) bool {
		_, ok := s.lookup(h, at)
		return ok
	}
	if refused(hold(Line{1, 1}), now) {
		t.Error("nothing is known yet")
	}
	s.add(scope, []Shortage{{Item: 1, Requested: 9, Available: 2}, {Item: 2, Requested: 1}}, now)
	short, ok := s.lookup(hold(Line{1, 3}, Line{2, 1}), now)
	if diff := cmp.Diff([]Shortage{{Item: 1, Requested: 3, Available: 2}, {Item: 2, Requested: 1}}, short); !ok || diff != "" {
		t.Error(diff)
	}
	for name, h := range map[string]Hold{
		"as many as are left": hold(Line{1, 2}), "one line is not known": hold(Line{1, 3}, Line{3, 1}),
		"another date": {Scope: Scope{Branch: 1, Date: "2026-02-27"}, Lines: []Line{{1, 9}}},
	} {
		if refused(h, now) {
			t.Errorf("%s: refused", name)
		}
	}
	if later := now.Add(refusalTTL); refused(hold(Line{1, 9}), later) || !refused(hold(Line{1, 9}), later) {
		t.Error("not exactly the first hold after refusalTTL went to the cache")
	}
	if refused(hold(Line{1, 9}), now.Add(2*refusalTTL)) {
		t.Error("refused for longer than twice refusalTTL without an answer of the cache")
	}
	if refused(hold(Line{1, 9}), now.Add(-time.Millisecond)) {
		t.Error("refused after the clock was set back, and so perhaps for hours")
	}
	s.invalidate([]Op{{Kind: OpHeld, Hold: hold(Line{1, 1})}})
	if !refused(hold(Line{1, 9}), now) {
		t.Error("taking more made something available")
	}
	for _, kind := range []OpKind{OpCancel, OpReturn, OpCap} {
		s.add(scope, []Shortage{{Item: 1, Requested: 9}}, now)
		s.invalidate([]Op{{Kind: kind, Hold: hold(Line{1, 1})}})
		if refused(hold(Line{1, 9}), now) {
			t.Errorf("%s released nothing", kind)
		}
	}
}

// Of many holds at the instant at which a refusal is due, exactly one goes to the cache.
func TestRecentRefusals_one_goes_to_the_cache(t *testing.T) {
	scope, now := Scope{Branch: 1, Date: "2026-02-26"}, time.UnixMilli(1000)
	var s recentRefusals
	s.add(scope, []Shortage{{Item: 1, Requested: 1}}, now)
	var all sync.WaitGroup
	var passed atomic.Int64
	for range 200 {
		all.Go(func() {
			if _, refused := s.lookup(Hold{ID: "h", Scope: scope, Lines: []Line{{1, 1}}}, now.Add(refusalTTL)); !refused {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	if n := passed.Load(); n != 1 {
		t.Errorf("%d holds went to the cache, want 1", n)
	}
}
