// Package tagcachetest has the tests that every store of package tagcache passes.
package tagcachetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/tagcache"
	"comanda/internal/testenv"
)

// Branch is the scope of all values of the suite.
const Branch = 7

// report returns the name of a report of a span.
func report(name, from, to string) tagcache.Entry {
	return tagcache.NewEntry(tagcache.Reports, tagcache.List, Branch, tagcache.DateRange{From: from, To: to}, name)
}

// Store runs the suite. open returns an empty store; each subtest opens its own.
func Store(t *testing.T, open func(t *testing.T) tagcache.Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, tagcache.Store){
		"releases do not share values":              testReleases,
		"a value is computed once":                  testOnce,
		"an invalidation removes by date":           testDates,
		"an invalidation revokes a computation":     testRevoked,
		"a lease has one holder":                    testHolder,
		"a failed computation frees the lease":      testFailure,
		"a computation that panics frees it too":    testPanic,
		"a scope has a maximum of values":           testFull,
		"large values are not stored":               testLarge,
		"a value expires":                           testExpiry,
		"random sequences agree with the model":     testModel,
		"no reader sees an invalidated value":       testRace,
		"scopes and families are invalidated alone": testScopes,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// text returns a computation of a text that counts its calls.
func text(value string, calls *atomic.Int64) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) {
		calls.Add(1)
		return []byte(value), nil
	}
}

// want loads a value and checks it and the number of computations so far.
func want(t *testing.T, c *tagcache.Cache, e tagcache.Entry, compute, value string, calls *atomic.Int64, n int64) {
	t.Helper()
	got, err := c.Load(t.Context(), e, time.Minute, text(compute, calls))
	if string(got) != value || err != nil || calls.Load() != n {
		t.Errorf("Load = %q, %v after %d computations, want %q after %d", got, err, calls.Load(), value, n)
	}
}

func testOnce(t *testing.T, s tagcache.Store) {
	results := map[tagcache.Result]int{}
	c := &tagcache.Cache{Store: s, Requested: func(entity string, r tagcache.Result) {
		if entity == "report" {
			results[r]++
		}
	}}
	var calls atomic.Int64
	e := report("days", "2026-01-01", "2026-01-31")
	want(t, c, e, "1", "1", &calls, 1)
	want(t, c, e, "2", "1", &calls, 1)
	want(t, c, report("days", "2026-01-01", "2026-01-30"), "3", "3", &calls, 2)
	want(t, c, report("dishes", "2026-01-01", "2026-01-31"), "4", "4", &calls, 3)
	testenv.Equal(t, map[tagcache.Result]int{tagcache.Hit: 1, tagcache.Filled: 3}, results)
}

// Servers of two releases run beside each other during an upgrade.
func testReleases(t *testing.T, s tagcache.Store) {
	older, newer := &tagcache.Cache{Store: s, Release: "1.0"}, &tagcache.Cache{Store: s, Release: "1.1"}
	var calls atomic.Int64
	e := report("days", "", "")
	want(t, older, e, "1.0", "1.0", &calls, 1)
	want(t, newer, e, "1.1", "1.1", &calls, 2)
	want(t, older, e, "again", "1.0", &calls, 2)
	// A change that either of them makes removes the values of both.
	testenv.NoError(t, newer.Invalidate(t.Context(), tagcache.Reports, Branch, tagcache.DateRange{}))
	want(t, older, e, "changed", "changed", &calls, 3)
}

func testDates(t *testing.T, s tagcache.Store) {
	c := &tagcache.Cache{Store: s}
	for name, x := range map[string]struct {
		dates tagcache.DateRange
		gone  bool
	}{
		"before":        {tagcache.DateRange{From: "2025-12-31", To: "2025-12-31"}, false},
		"the first":     {tagcache.DateRange{From: "2026-01-01", To: "2026-01-01"}, true},
		"the last":      {tagcache.DateRange{From: "2026-01-31", To: "2026-02-02"}, true},
		"after":         {tagcache.DateRange{From: "2026-02-01", To: "2026-02-01"}, false},
		"around":        {tagcache.DateRange{From: "2025-01-01", To: "2027-01-01"}, true},
		"without dates": {tagcache.DateRange{}, true},
	} {
		var calls atomic.Int64
		e := report(name, "2026-01-01", "2026-01-31")
		want(t, c, e, "1", "1", &calls, 1)
		testenv.NoError(t, c.Invalidate(t.Context(), tagcache.Reports, Branch, x.dates))
		_ = testenv.Must(c.Load(t.Context(), e, time.Minute, text("2", &calls)))(t)
		if gone := calls.Load() == 2; gone != x.gone {
			t.Errorf("%s: removed %t, want %t", name, gone, x.gone)
		}
	}
	var calls atomic.Int64
	all := report("all", "", "")
	want(t, c, all, "1", "1", &calls, 1)
	testenv.NoError(t, c.Invalidate(t.Context(), tagcache.Reports, Branch, tagcache.DateRange{From: "2026-01-01", To: "2026-01-01"}))
	want(t, c, all, "2", "2", &calls, 2) // a value without dates depends on all
}

func testScopes(t *testing.T, s tagcache.Store) {
	c := &tagcache.Cache{Store: s}
	var calls atomic.Int64
	e := report("days", "", "")
	want(t, c, e, "1", "1", &calls, 1)
	testenv.NoError(t, c.Invalidate(t.Context(), tagcache.Reports, Branch+1, tagcache.DateRange{}))
	testenv.NoError(t, c.Invalidate(t.Context(), tagcache.Orders, Branch, tagcache.DateRange{}))
	testenv.NoError(t, c.Invalidate(t.Context(), tagcache.Dishes, 0, tagcache.DateRange{}))
	want(t, c, e, "2", "1", &calls, 1)
}

// A computation that began before an invalidation must not be stored, however late it ends.
func testRevoked(t *testing.T, s tagcache.Store) {
	c := &tagcache.Cache{Store: s}
	e := report("days", "2026-01-01", "2026-01-31")
	var calls atomic.Int64
	got, err := c.Load(t.Context(), e, time.Minute, func(ctx context.Context) ([]byte, error) {
		testenv.NoError(t, c.Invalidate(ctx, tagcache.Reports, Branch, tagcache.DateRange{From: "2026-01-07", To: "2026-01-07"}))
		// A reader that comes after the change computes for itself, and its value stays.
		want(t, c, e, "new", "new", &calls, 1)
		return []byte("old"), nil
	})
	if string(got) != "old" || err != nil {
		t.Errorf("the slow reader received %q, %v; its request is older than the change", got, err)
	}
	want(t, c, e, "newer", "new", &calls, 1)
}

func testHolder(t *testing.T, s tagcache.Store) {
	ctx, e := t.Context(), report("days", "", "")
	look := func(token string, want tagcache.Outcome) {
		t.Helper()
		if _, got, err := s.Lookup(ctx, e, token); got != want || err != nil {
			t.Errorf("Lookup(%s) = %d, %v, want %d", token, got, err, want)
		}
	}
	look("a", tagcache.Leased)
	look("b", tagcache.Busy)
	if stored, err := s.Fill(ctx, e, "b", []byte("b"), time.Minute); stored || err != nil {
		t.Errorf("a value was stored without the lease: %t, %v", stored, err)
	}
	testenv.NoError(t, s.Release(ctx, e, "b"))
	look("b", tagcache.Busy)
	if stored, err := s.Fill(ctx, e, "a", []byte("a"), time.Minute); !stored || err != nil {
		t.Errorf("the holder's value was not stored: %t, %v", stored, err)
	}
	look("b", tagcache.Found)
	if stored, err := s.Fill(ctx, e, "a", []byte("again"), time.Minute); stored || err != nil {
		t.Errorf("a lease was used twice: %t, %v", stored, err)
	}
}

func testFailure(t *testing.T, s tagcache.Store) {
	c := &tagcache.Cache{Store: s}
	broken := errors.New("broken")
	e := report("days", "", "")
	if _, err := c.Load(t.Context(), e, time.Minute, func(context.Context) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("Load: error %v, want %v", err, broken)
	}
	var calls atomic.Int64
	want(t, c, e, "1", "1", &calls, 1)
	want(t, c, e, "2", "1", &calls, 1)
}

func testPanic(t *testing.T, s tagcache.Store) {
	c := &tagcache.Cache{Store: s}
	e := report("days", "", "")
	func() {
		defer func() { _ = recover() }()
		_, _ = c.Load(t.Context(), e, time.Minute, func(context.Context) ([]byte, error) { panic("a bug") })
		t.Error("the panic was swallowed")
	}()
	if _, o, err := s.Lookup(t.Context(), e, "next"); o != tagcache.Leased || err != nil {
		t.Errorf("after a panic Lookup = %d, %v, want the lease", o, err)
	}
}

func testFull(t *testing.T, s tagcache.Store) {
	ctx := t.Context()
	for i := range tagcache.MaxEntries {
		if _, o, err := s.Lookup(ctx, report(strconv.Itoa(i), "", ""), "a"); o != tagcache.Leased || err != nil {
			t.Fatalf("Lookup %d = %d, %v", i, o, err)
		}
	}
	if _, o, err := s.Lookup(ctx, report("one more", "", ""), "a"); o != tagcache.Full || err != nil {
		t.Errorf("Lookup = %d, %v, want a full scope", o, err)
	}
	if stored, err := s.Fill(ctx, report("3", "", ""), "a", []byte("x"), time.Minute); !stored || err != nil {
		t.Errorf("a value of a full scope was not stored: %t, %v", stored, err)
	}
	var calls atomic.Int64
	c := &tagcache.Cache{Store: s}
	want(t, c, report("one more", "", ""), "1", "1", &calls, 1)
	want(t, c, report("one more", "", ""), "2", "2", &calls, 2)
	want(t, c, report("3", "", ""), "3", "x", &calls, 2)
}

func testLarge(t *testing.T, s tagcache.Store) {
	c := &tagcache.Cache{Store: s}
	var calls atomic.Int64
	large := strings.Repeat("x", tagcache.MaxValue+1)
	want(t, c, report("days", "", ""), large, large, &calls, 1)
	want(t, c, report("days", "", ""), "small", "small", &calls, 2)
}

func testExpiry(t *testing.T, s tagcache.Store) {
	ctx, e := t.Context(), report("days", "", "")
	_, _, err := s.Lookup(ctx, e, "a")
	testenv.NoError(t, err)
	stored, err := s.Fill(ctx, e, "a", []byte("x"), time.Millisecond)
	if !stored || err != nil {
		t.Fatalf("Fill = %t, %v", stored, err)
	}
	testenv.Eventually(t, 5*time.Second, func() bool {
		_, o, err := s.Lookup(ctx, e, "b")
		return err == nil && o == tagcache.Leased
	})
}

// testModel runs random sequences of lookups, fills and invalidations. The model knows for each value when its
// computation began; a value that is found must be newer than the last invalidation of its dates.
func testModel(t *testing.T, s tagcache.Store) {
	dates := []string{"2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"}
	var rounds int
	rapid.Check(t, func(t *rapid.T) {
		rounds++
		ctx := context.Background() // rapid.T has none
		type lease struct {
			token string
			begun int
		}
		var (
			entries []tagcache.Entry
			leases  = map[tagcache.Entry][]lease{}
			valid   = map[tagcache.Entry]int{} // the step of the last invalidation
			step    int
		)
		for i := range dates {
			for j := i; j < len(dates); j++ {
				entries = append(entries, report(fmt.Sprint(rounds), dates[i], dates[j]))
			}
		}
		entry := rapid.SampledFrom(entries)
		t.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { step++ },
			"lookup": func(t *rapid.T) {
				e := entry.Draw(t, "entry")
				token := fmt.Sprintf("%d-%d", rounds, step)
				value, o, err := s.Lookup(ctx, e, token)
				if err != nil {
					t.Fatal(err)
				}
				switch o {
				case tagcache.Leased:
					leases[e] = append(leases[e], lease{token, step})
				case tagcache.Found:
					if begun, _ := strconv.Atoi(string(value)); begun <= valid[e] {
						t.Fatalf("%s: a value of step %d after an invalidation in step %d", e.Member(), begun, valid[e])
					}
				}
			},
			"fill": func(t *rapid.T) {
				e := entry.Draw(t, "entry")
				if len(leases[e]) == 0 {
					t.Skip("nothing is being computed")
				}
				i := rapid.IntRange(0, len(leases[e])-1).Draw(t, "lease")
				l := leases[e][i]
				leases[e] = append(leases[e][:i:i], leases[e][i+1:]...)
				stored, err := s.Fill(ctx, e, l.token, []byte(strconv.Itoa(l.begun)), time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				// Without an invalidation since its begin, the computation is the only one.
				if stored != (l.begun > valid[e]) {
					t.Fatalf("%s: a computation of step %d was stored: %t; invalidated in step %d", e.Member(), l.begun, stored, valid[e])
				}
			},
			"invalidate": func(t *rapid.T) {
				from := rapid.IntRange(0, len(dates)-1).Draw(t, "from")
				to := rapid.IntRange(from, len(dates)-1).Draw(t, "to")
				d := tagcache.DateRange{From: dates[from], To: dates[to]}
				if err := s.Invalidate(ctx, tagcache.Reports, Branch, d); err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					if e.Dates.Overlap(d) {
						valid[e] = step
					}
				}
			},
		})
	})
}

// raceRounds is the number of times that the true value changes in testRace.
const raceRounds = 1000

// testRace changes a number and invalidates it while readers compute it slowly. Each reader knows the number of the last
// finished invalidation before its request; it must not receive an older one.
func testRace(t *testing.T, s tagcache.Store) {
	c := &tagcache.Cache{Store: s}
	e := report("days", "", "")
	var truth, finished atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for ctx.Err() == nil {
				Read(ctx, t, c, e, &truth, &finished)
			}
		})
	}
	for range raceRounds {
		n := truth.Add(1)
		if err := c.Invalidate(ctx, tagcache.Reports, Branch, tagcache.DateRange{}); err != nil {
			t.Error(err)
			break
		}
		finished.Store(n)
	}
	stop()
	readers.Wait()
}

// Read loads a number and fails the test if it is older than the last finished invalidation. The computation is slow: it
// reads the number first, and then asks the store some more before it returns.
func Read(ctx context.Context, t *testing.T, c *tagcache.Cache, e tagcache.Entry, truth, finished *atomic.Int64) {
	t.Helper()
	least := finished.Load()
	value, err := c.Load(ctx, e, time.Minute, func(ctx context.Context) ([]byte, error) {
		n := truth.Load()
		for i := range n % 4 {
			_, _, _ = c.Store.Lookup(ctx, report("other", "", ""), strconv.FormatInt(i, 10))
		}
		return []byte(strconv.FormatInt(n, 10)), nil
	})
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	if n, err := strconv.ParseInt(string(value), 10, 64); n < least || err != nil {
		t.Errorf("read %d after the invalidation of %d, %v", n, least, err)
	}
}
