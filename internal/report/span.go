package report

import (
	"math"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/fault"
)

// MaxDays is how many business dates a report may tell of: a leap year.
const MaxDays = 366

// ErrSpan refuses dates that are none, are the wrong way round, or are too many.
var ErrSpan = fault.Newf(fault.Invalid, "invalid_span",
	"A report is about 1 to %d business dates, from the first to the last, written like 2026-02-26.", MaxDays)

// Span is the business dates of a branch that a report is about, both ends included.
type Span struct {
	Branch   catalog.Branch
	From, To string
}

// NewSpan checks the dates.
func NewSpan(b catalog.Branch, from, to string) (Span, error) {
	first, err := time.Parse(time.DateOnly, from)
	if err != nil {
		return Span{}, ErrSpan.Because(err)
	}
	last, err := time.Parse(time.DateOnly, to)
	if err != nil {
		return Span{}, ErrSpan.Because(err)
	}
	if last.Before(first) || last.Sub(first) >= MaxDays*24*time.Hour {
		return Span{}, ErrSpan
	}
	return Span{b, from, to}, nil
}

// Stretch is a time during which the branch's clock was one offset away from UTC. Local time, in milliseconds and written
// as if it were UTC, is an instant plus Shift (R5).
type Stretch struct {
	Start, End int64 // unix milliseconds, Start included and End excluded
	Shift      int64 // milliseconds
}

// Stretches are those of the span, in order. The first and the last reach beyond it, so that every order finds its hour.
func (s Span) Stretches() ([]Stretch, error) {
	calendar := s.Branch.Calendar()
	first, err := calendar.Interval(s.From)
	if err != nil {
		return nil, err
	}
	last, err := calendar.Interval(s.To)
	if err != nil {
		return nil, err
	}
	all := []Stretch{}
	for t := first.Start.In(calendar.Zone()); ; {
		_, offset := t.Zone()
		_, end := t.ZoneBounds()
		st := Stretch{Start: t.UnixMilli(), End: end.UnixMilli(), Shift: int64(offset) * 1000}
		if !end.IsZero() && !end.After(t) { // on the last day of a leap year beyond the zone's table; nothing changes then
			end = t.Add(24 * time.Hour)
			st.End = end.UnixMilli()
		}
		all = append(all, st)
		if end.IsZero() || !end.Before(last.End) {
			break
		}
		t = end
	}
	all[0].Start, all[len(all)-1].End = 0, math.MaxInt64
	return all, nil
}
