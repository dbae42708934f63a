package catalog

import (
	"slices"
	"time"

	"comanda/internal/fault"
)

// PauseCode is a reason for a pause that phones show in the guest's language.
type PauseCode string

// The codes of pauses.
const (
	PauseBusy      PauseCode = "BUSY"      // the kitchen cannot keep up
	PauseStaff     PauseCode = "STAFF"     // too few people
	PauseTechnical PauseCode = "TECHNICAL" // power, water, a printer
	PauseEvent     PauseCode = "EVENT"     // a closed party
)

// PauseCodes lists all pause codes.
var PauseCodes = []PauseCode{PauseBusy, PauseStaff, PauseTechnical, PauseEvent}

// MaxAhead is the furthest that the end of a pause or of an OffItem may be in the future.
const MaxAhead = 31 * 24 * time.Hour

// maxReason is the maximum length of a pause's text in characters.
const maxReason = 200

// Pause is a time in which a branch takes no orders. Guests can see the menu, the reason and the end. It ends by itself
// at Until.
type Pause struct {
	Code  PauseCode // empty if Texts has the reason
	Texts Texts
	Since time.Time
	Until time.Time // zero: until staff resume
	By    string    // authz.Actor.String()
}

// ErrPaused refuses an order while its branch is paused.
var ErrPaused = fault.New(fault.Conflict, "outlet_paused", "The restaurant is not taking orders right now.")

// Refusal returns ErrPaused with the reason and the end.
func (p Pause) Refusal() error {
	err := ErrPaused.With("reasonCode", nullable(string(p.Code))).With("reasons", p.Texts).With("until", nil)
	if !p.Until.IsZero() {
		err = err.With("until", p.Until)
	}
	return err
}

// nullable returns nil for an empty text, so that JSON has null and not "".
func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Paused returns the pause in force at an instant, or nil.
func (b Branch) Paused(now time.Time) *Pause {
	if b.Pause == nil || !b.Pause.Until.IsZero() && !now.Before(b.Pause.Until) {
		return nil
	}
	return b.Pause
}

// check refuses a pause that does not have exactly one of a code and texts, or whose end is invalid.
func (p Pause) check(now time.Time) error {
	if (p.Code == "") == (len(p.Texts) == 0) {
		return invalid("A pause needs either a reason code or texts, not both.")
	}
	if p.Code != "" && !slices.Contains(PauseCodes, p.Code) {
		return invalid("The reason code must be one of %v.", PauseCodes)
	}
	// The app translates codes; the staff write texts in each locale.
	if p.Code == "" {
		if err := p.Texts.Check("A reason", maxReason); err != nil {
			return err
		}
	}
	return checkUntil(p.Until, now)
}

// checkUntil refuses an end that is past or more than MaxAhead away. The zero time means no end and is valid.
func checkUntil(until, now time.Time) error {
	if !until.IsZero() && (!until.After(now) || until.Sub(now) > MaxAhead) {
		return invalid("The end must be in the future, at most %d days away.", int(MaxAhead/(24*time.Hour)))
	}
	return nil
}

// Texts that ParseUntil accepts instead of an instant.
const (
	UntilRestored = "RESTORED"   // no end: until staff restore or resume
	UntilDayEnd   = "END_OF_DAY" // the end of the branch's business day
)

// Until is an end as the staff enter it: an instant, the end of the business day, or no end.
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

// Instant returns the instant of the end by a branch's calendar, or the zero time for no end. It fails for an instant that
// is past or more than MaxAhead away.
func (u Until) Instant(c *Calendar, now time.Time) (time.Time, error) {
	if u.DayEnd {
		return c.At(now).End, nil
	}
	return u.At, checkUntil(u.At, now)
}
