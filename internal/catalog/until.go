package catalog

import "time"

// The ends that have a name instead of an instant.
const (
	UntilRestored = "RESTORED"   // no end: until staff restore or resume
	UntilDayEnd   = "END_OF_DAY" // the end of the branch's business day
)

// Until is an end as the staff enter it: an instant, the end of the business day, or none.
type Until struct {
	At     time.Time // zero: see DayEnd
	DayEnd bool      // at the end of the business day; if false, a zero At means no end
}

// ParseUntil parses RESTORED, END_OF_DAY or an instant in RFC 3339.
func ParseUntil(s string) (Until, error) {
	switch s {
	case UntilRestored:
		return Until{}, nil
	case UntilDayEnd:
		return Until{DayEnd: true}, nil
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil || at.IsZero() {
		return Until{}, invalid("The end must be %s, %s, or an instant like 2026-02-26T12:30:00Z.", UntilRestored, UntilDayEnd)
	}
	return Until{At: at.UTC().Truncate(time.Millisecond)}, nil
}

// In returns the instant of the end by a branch's calendar, or the zero time for no end. It fails for an instant that
// is past or more than MaxAhead away.
func (u Until) In(c *Calendar, now time.Time) (time.Time, error) {
	if u.DayEnd {
		return c.At(now).End, nil
	}
	return u.At, checkUntil(u.At, now)
}
