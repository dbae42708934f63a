package stock

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// A refusal is refuted when every line fits by the ledger's counters, and only then.
func TestDoubts_refuted(t *testing.T) {
	scope := Scope{Branch: 1, Date: "2026-02-26"}
	counts := []Count{{Item: 1, Cap: 10, Held: 3, Used: 4}, {Item: 2, Cap: Unlimited}, {Item: 3, Cap: 5, Held: 9}}
	var failure error
	d := doubts{
		now:  func() time.Time { return time.UnixMilli(1000) },
		read: func(context.Context, Scope) ([]Count, error) { return counts, failure },
	}
	for name, c := range map[string]struct {
		lines []Line
		want  bool
	}{
		"fits":                         {[]Line{{1, 3}}, true},
		"does not fit":                 {[]Line{{1, 4}}, false},
		"unlimited":                    {[]Line{{2, 1000}}, true},
		"not counted yet":              {[]Line{{9, 1}}, true},
		"above its cap":                {[]Line{{3, 1}}, false},
		"one of two lines":             {[]Line{{1, 1}, {3, 1}}, false},
		"all lines, counted and not":   {[]Line{{1, 1}, {2, 1}, {9, 1}}, true},
		"the last unit that is left":   {[]Line{{1, 2}, {2, 5}}, true},
		"more than all of them can be": {[]Line{{1, MaxQty}}, false},
	} {
		if got := d.refuted(t.Context(), Hold{Scope: scope, Lines: c.lines}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	failure = errors.New("no database")
	if d.refuted(t.Context(), Hold{Scope: Scope{Branch: 2, Date: scope.Date}, Lines: []Line{{1, 1}}}) {
		t.Error("what cannot be read refutes nothing")
	}
}

// A storm of refusals reads the counters once in a moment, and anew after it.
func TestDoubts_shares_a_reading(t *testing.T) {
	var mu sync.Mutex
	now, readings := time.UnixMilli(1000), 0
	d := doubts{
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
			if d.refuted(t.Context(), h) {
				t.Error("two units of one")
			}
		})
	}
	all.Wait()
	if readings != 1 {
		t.Errorf("%d readings", readings)
	}
	mu.Lock()
	now = now.Add(believedFor)
	mu.Unlock()
	if !d.refuted(t.Context(), h) || readings != 2 {
		t.Errorf("not read anew: %d readings", readings)
	}
}
