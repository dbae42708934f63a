package analyticstest

import (
	"strconv"
	"testing"

	"comanda/internal/analytics"
	"comanda/internal/testenv"
)

// reader reads a log of searches from its begin.
type reader struct {
	t        *testing.T
	c        analytics.Cache
	date     string
	position string
}

// next returns the following searches, and moves the position behind them.
func (r *reader) next(limit int) []analytics.SearchEvent {
	r.t.Helper()
	all, next, err := r.c.SearchesAfter(r.t.Context(), r.date, r.position, limit)
	testenv.NoError(r.t, err)
	if (next == "") != (len(all) == 0) {
		r.t.Errorf("%d searches end at %q", len(all), next)
	}
	if next != "" {
		r.position = next
	}
	return all
}

// Searches are read in their order from any position, and stay for other readers.
func searches(t *testing.T, c analytics.Cache) {
	const date, nextDate = "2026-02-26", "2026-02-27"
	if c.LogID() == "" {
		t.Error("the log has no name")
	}
	all := []analytics.SearchEvent{
		{Branch: 1, Text: "pho bo", Found: true, Visitor: 7}, {Branch: 2, Text: "牛肉", Visitor: 1023}, {Branch: 1, Text: "\"a\" b's", Found: true},
	}
	r := &reader{t: t, c: c, date: date}
	if got := r.next(9); len(got) > 0 {
		t.Errorf("an empty log has %v", got)
	}
	testenv.NoError(t, c.AppendSearches(t.Context(), date, all[:2]), c.AppendSearches(t.Context(), date, all[2:]),
		c.AppendSearches(t.Context(), nextDate, all[1:2]))
	testenv.Equal(t, all[:1], r.next(1))
	testenv.Equal(t, all[1:], r.next(9))
	if got := r.next(9); len(got) > 0 {
		t.Errorf("after the last search there are %v", got)
	}
	testenv.NoError(t, c.AppendSearches(t.Context(), date, all[:1]))
	testenv.Equal(t, all[:1], r.next(9))
	testenv.Equal(t, append(all, all[0]), (&reader{t: t, c: c, date: date}).next(9))
	testenv.Equal(t, all[1:2], (&reader{t: t, c: c, date: nextDate}).next(9))
}

// A log keeps the newest 10,000 searches of a date. A reader that is behind continues with the oldest of them.
func boundedSearches(t *testing.T, c analytics.Cache) {
	const date, kept, batch = "2026-02-28", 10_000, 500
	r := &reader{t: t, c: c, date: date}
	for first := 0; first < kept+2*batch; first += batch {
		all := make([]analytics.SearchEvent, batch)
		for i := range all {
			all[i] = analytics.SearchEvent{Branch: 1, Text: strconv.Itoa(first + i)}
		}
		testenv.NoError(t, c.AppendSearches(t.Context(), date, all))
		if first == 0 {
			r.next(1)
		}
	}
	var texts []string
	for {
		all := r.next(1000)
		if len(all) == 0 {
			break
		}
		for _, e := range all {
			texts = append(texts, e.Text)
		}
	}
	if len(texts) != kept || texts[0] != "1000" || texts[kept-1] != "10999" {
		t.Errorf("%d searches are kept", len(texts))
	}
}
