package catalog

import (
	"sync/atomic"
	"time"

	// A machine without zone files must still know when a branch's day begins.
	_ "time/tzdata"

	"comanda/internal/fault"
)

// dateLayout is how business dates are written everywhere, SQL and Redis included.
const dateLayout = time.DateOnly

// maxOffset is more than any zone was ever away from UTC in either direction (the record is Manila's -15:56 until 1844).
const maxOffset = 26 * time.Hour

// ErrDate says that a text is not a business date.
var ErrDate = fault.New(fault.Invalid, "invalid", "A business date is written like 2026-02-26.")

// Calendar tells a branch's business date at an instant.
//
// The boundary of a date is the earliest instant whose local time is at or after the start hour on that date, and the
// business date of an instant is the latest date whose boundary is not after it. Both daylight-saving changes are
// covered by that definition alone: an hour that is skipped moves the boundary to the end of the gap, an hour that
// comes twice counts the first time, and a date that the zone skips altogether lasts from the jump to the next
// boundary. A Calendar is safe for concurrent use.
type Calendar struct {
	zone *time.Location
	hour int
	last atomic.Pointer[Day]
}

// Day is a business date with the instants that it covers, Start included and End excluded.
type Day struct {
	Date       string
	Start, End time.Time
}

// Holds tells whether an instant belongs to the day.
func (d Day) Holds(t time.Time) bool { return !t.Before(d.Start) && t.Before(d.End) }

// NewCalendar makes the calendar of an IANA time zone and a start hour of 0 to 23.
func NewCalendar(zone string, hour int) (*Calendar, error) {
	if hour < 0 || hour > 23 {
		return nil, fault.Newf(fault.Invalid, "invalid", "A business day starts at an hour from 0 to 23, not %d.", hour)
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

// Zone is the calendar's time zone.
func (c *Calendar) Zone() *time.Location { return c.zone }

// BizDate is the business date of an instant (I14).
func (c *Calendar) BizDate(t time.Time) string { return c.At(t).Date }

// At is the business day of an instant (I14). The last answer is kept, because nearly every question is about now.
func (c *Calendar) At(t time.Time) Day {
	if d := c.last.Load(); d != nil && d.Holds(t) {
		return *d
	}
	d := c.find(t)
	c.last.Store(&d)
	return d
}

func (c *Calendar) find(t time.Time) Day {
	y, m, d := t.In(c.zone).Date()
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

// Interval is the day of a business date. It is empty (Start equals End) only for a date that the zone skipped and
// whose successor begins at the same instant.
func (c *Calendar) Interval(date string) (Day, error) {
	d, err := time.Parse(dateLayout, date)
	if err != nil {
		return Day{}, ErrDate.Because(err)
	}
	return Day{Date: date, Start: c.boundary(d), End: c.boundary(d.AddDate(0, 0, 1))}, nil
}

// boundary is the earliest instant whose local time is at or after the start hour on a date. It walks the stretches of
// constant offset from before the date on: within one, local time runs with the instant, so the first stretch that
// reaches the wanted local time holds the answer, at its beginning or inside it.
func (c *Calendar) boundary(date time.Time) time.Time {
	want := date.Add(time.Duration(c.hour) * time.Hour) // local time, written as if it were UTC
	for t := want.Add(-maxOffset).In(c.zone); ; {
		_, offset := t.Zone()
		at := want.Add(-time.Duration(offset) * time.Second)
		if at.Before(t) {
			at = t
		}
		end := stretchEnd(t)
		if end.IsZero() || at.Before(end) {
			return at.UTC()
		}
		t = end
	}
}

// stretchEnd is when the offset at t may change next, zero for never. Go counts 365 days in every year beyond a zone's
// table (from 2038 on), so on the last day of a leap year ZoneBounds names an end that is over; no zone changes then.
func stretchEnd(t time.Time) time.Time {
	_, end := t.ZoneBounds()
	if !end.IsZero() && !end.After(t) {
		return t.Add(24 * time.Hour)
	}
	return end
}
