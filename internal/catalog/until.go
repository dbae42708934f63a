package catalog

import "time"

// How an end can be named besides by its instant.
const (
	UntilRestored = "RESTORED"   // when somebody says so
	UntilDayEnd   = "END_OF_DAY" // with the branch's business day
)

// Until is an end as the staff name it: an instant, the end of the business day, or none.
type Until struct {
	At     time.Time // zero: as DayEnd says
	DayEnd bool      // with the business day; otherwise a zero At is no end at all
}

// ParseUntil reads an end: one of the two words, or an instant (RFC 3339).
func ParseUntil(s string) (Until, error) {
	switch s {
	case UntilRestored:
		return Until{}, nil
	case UntilDayEnd:
		return Until{DayEnd: true}, nil
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil || at.IsZero() {
		return Until{}, invalid("An end is %s, %s, or an instant like 2026-02-26T12:30:00Z.", UntilRestored, UntilDayEnd)
	}
	return Until{At: at.UTC().Truncate(time.Millisecond)}, nil
}

// In gives the instant by a branch's calendar; zero for no end.
func (u Until) In(c *Calendar, now time.Time) (time.Time, error) {
	if u.DayEnd {
		return c.At(now).End, nil
	}
	return u.At, checkUntil(u.At, now)
}
