package catalog

import (
	"sync/atomic"
	"time"

	// The zone files are embedded, because a machine may have none, and branches need them to compute business dates.
	_ "time/tzdata"

	"comanda/internal/fault"
)

// dateLayout is the format of business dates everywhere, in SQL and Redis too.
const dateLayout = time.DateOnly

// maxOffset exceeds every UTC offset in the time zone database, in either direction (the largest is Manila's -15:56
// until 1844).
const maxOffset = 26 * time.Hour

// ErrDate refuses a text that is not a business date.
var ErrDate = fault.New(fault.Invalid, "invalid", "A business date is written like 2026-02-26.")

// Calendar computes a branch's business dates.
//
// The boundary of a date is the earliest instant whose local time is at or after the start hour on that date. The
// business date of an instant is the latest date whose boundary is not after it. This definition covers daylight saving
// changes: a skipped hour moves the boundary to the end of the gap, a repeated hour counts the first time, and a date
// that the zone skips lasts from the jump to the next boundary. A Calendar is safe for concurrent use.
type Calendar struct {
	zone *time.Location
	hour int
	// Concurrent callers may overwrite the cached result of each other; every result is correct in itself.
	last atomic.Pointer[Day]
}

// Day is a business date and its interval, from Start inclusive to End exclusive.
type Day struct {
	Date       string
	Start, End time.Time
}

// Contains reports whether an instant is within the day.
func (d Day) Contains(t time.Time) bool { return !t.Before(d.Start) && t.Before(d.End) }

// NewCalendar returns the calendar of an IANA time zone and a start hour from 0 to 23.
func NewCalendar(zone string, hour int) (*Calendar, error) {
	if hour < 0 || hour > 23 {
		return nil, fault.Newf(fault.Invalid, "invalid", "A business day must start at an hour from 0 to 23, not %d.", hour)
	}
	// The empty name and "Local" are accepted by time.LoadLocation, but mean this machine, not the branch.
	if zone == "" || zone == "Local" {
		return nil, fault.New(fault.Invalid, "invalid", "A branch needs an IANA time zone such as Asia/Taipei.")
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fault.Newf(fault.Invalid, "invalid", "%q is not an IANA time zone.", zone).Because(err)
	}
	return &Calendar{zone: loc, hour: hour}, nil
}

// Zone returns the calendar's time zone.
func (c *Calendar) Zone() *time.Location { return c.zone }

// BizDate returns the business date of an instant (I14).
func (c *Calendar) BizDate(t time.Time) string { return c.At(t).Date }

// At returns the business day of an instant (I14). It caches the last result, because most calls are about the present.
func (c *Calendar) At(t time.Time) Day {
	if d := c.last.Load(); d != nil && d.Contains(t) {
		return *d
	}
	d := c.find(t)
	c.last.Store(&d)
	return d
}

// find computes the business day of an instant.
func (c *Calendar) find(t time.Time) Day {
	y, m, d := t.In(c.zone).Date()
	// A date is a count of days here; UTC has no gaps that would shift it.
	date := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	// Local dates may run behind business dates where a clock is set back over midnight, never more than one ahead.
	for c.boundary(date).After(t) {
		date = date.AddDate(0, 0, -1)
	}
	next := date.AddDate(0, 0, 1)
	for !c.boundary(next).After(t) {
		date, next = next, next.AddDate(0, 0, 1)
	}
	return Day{Date: date.Format(dateLayout), Start: c.boundary(date), End: c.boundary(next)}
}

// Interval returns the day of a business date. It is empty (Start equals End) only for a date that the zone skipped and
// whose successor starts at the same instant.
func (c *Calendar) Interval(date string) (Day, error) {
	d, err := time.Parse(dateLayout, date)
	if err != nil {
		return Day{}, ErrDate.Because(err)
	}
	return Day{Date: date, Start: c.boundary(d), End: c.boundary(d.AddDate(0, 0, 1))}, nil
}

// boundary returns the earliest instant whose local time is at or after the start hour on a date.
func (c *Calendar) boundary(date time.Time) time.Time {
	return c.instant(date.Add(time.Duration(c.hour) * time.Hour))
}

// instant returns the earliest instant whose local time is at or after want, which is a local time written as if it
// were UTC. It iterates over the periods of constant offset, starting before the date. Within one period local time
// advances with the instant, so the first period that reaches the requested local time contains the result, at its
// start or inside it.
func (c *Calendar) instant(want time.Time) time.Time {
	for t := want.Add(-maxOffset).In(c.zone); ; {
		_, offset := t.Zone()
		at := want.Add(-time.Duration(offset) * time.Second)
		// The wanted local time was skipped by the change at t, so the boundary is the end of the gap.
		if at.Before(t) {
			at = t
		}
		end := periodEnd(t)
		if end.IsZero() || at.Before(end) {
			return at.UTC()
		}
		t = end
	}
}

// periodEnd returns when the offset at t may change next, or the zero time for never. Go's time package counts 365 days
// in every year beyond a zone's table (from 2038 on), so on the last day of a leap year ZoneBounds returns an end in
// the past. No zone changes on that day, so periodEnd returns the next day.
func periodEnd(t time.Time) time.Time {
	_, end := t.ZoneBounds()
	if !end.IsZero() && !end.After(t) {
		return t.Add(24 * time.Hour)
	}
	return end
}
