package report

import (
	"math"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/fault"
)

// MaxDays is the maximum number of business dates of a report: a leap year.
const MaxDays = 366

// ErrSpan refuses invalid, reversed and too long spans.
var ErrSpan = fault.Newf(fault.Invalid, "invalid_span",
	"Choose 1 to %d business dates, the first before the last, written like 2026-02-26.", MaxDays)

// Span is a range of business dates of a branch, both ends included.
type Span struct {
	Branch   catalog.Branch
	From, To string
}

// NewSpan parses and validates the dates.
func NewSpan(b catalog.Branch, from, to string) (Span, error) {
	first, err := time.Parse(time.DateOnly, from)
	if err != nil {
		return Span{}, ErrSpan.Because(err)
	}
	last, err := time.Parse(time.DateOnly, to)
	if err != nil {
		return Span{}, ErrSpan.Because(err)
	}
	// Dates are parsed as UTC, whose days all have 24 hours.
	if last.Before(first) || last.Sub(first) >= MaxDays*24*time.Hour {
		return Span{}, ErrSpan
	}
	return Span{b, from, to}, nil
}

// OffsetPeriod is a period during which the branch's time zone has one UTC offset. Local time, in milliseconds as if it
// were UTC, is an instant plus Shift (R5).
type OffsetPeriod struct {
	Start, End int64 // unix milliseconds, Start included and End excluded
	Shift      int64 // milliseconds
}

// OffsetPeriods returns the periods of the span in order. The first and the last extend beyond the span, so that every
// order falls into a period.
func (s Span) OffsetPeriods() ([]OffsetPeriod, error) {
	calendar := s.Branch.Calendar()
	first, err := calendar.Interval(s.From)
	if err != nil {
		return nil, err
	}
	last, err := calendar.Interval(s.To)
	if err != nil {
		return nil, err
	}
	all := []OffsetPeriod{}
	for t := first.Start.In(calendar.Zone()); ; {
		_, offset := t.Zone()
		_, end := t.ZoneBounds()
		st := OffsetPeriod{Start: t.UnixMilli(), End: end.UnixMilli(), Shift: int64(offset) * 1000}
		if !end.IsZero() && !end.After(t) { // beyond the zone's table the offset no longer changes
			end = t.Add(24 * time.Hour)
			st.End = end.UnixMilli()
		}
		all = append(all, st)
		if end.IsZero() || !end.Before(last.End) {
			break
		}
		t = end
	}
	// After a change of the start hour, orders of a date may lie outside its present interval.
	all[0].Start, all[len(all)-1].End = 0, math.MaxInt64
	return all, nil
}
