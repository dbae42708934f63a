package catalog

import (
	"slices"
	"time"

	"comanda/internal/fault"
)

// PauseCode is a reason for a pause that guests' phones say in their own words.
type PauseCode string

// The codes of pauses.
const (
	PauseBusy      PauseCode = "BUSY"      // the kitchen cannot keep up
	PauseStaff     PauseCode = "STAFF"     // too few people
	PauseTechnical PauseCode = "TECHNICAL" // power, water, a printer
	PauseEvent     PauseCode = "EVENT"     // a closed party
)

// PauseCodes are all of them.
var PauseCodes = []PauseCode{PauseBusy, PauseStaff, PauseTechnical, PauseEvent}

// MaxAhead is how far in the future a pause or the absence of an item may end.
const MaxAhead = 31 * 24 * time.Hour

// maxReason bounds what a pause says, in characters.
const maxReason = 200

// Pause is a time in which a branch takes no orders: guests may look, and are told why and how long. It ends by itself.
type Pause struct {
	Code  PauseCode // empty where Texts say it
	Texts Texts
	Since time.Time
	Until time.Time // zero: until somebody resumes
	By    string    // the actor, as the audit log names them
}

// ErrPaused refuses an order while its branch is paused.
var ErrPaused = fault.New(fault.Conflict, "outlet_paused", "The restaurant takes no orders for the moment.")

// Refusal is ErrPaused with the reason and the end.
func (p Pause) Refusal() error {
	err := ErrPaused.With("reasonCode", nullable(string(p.Code))).With("reasons", p.Texts).With("until", nil)
	if !p.Until.IsZero() {
		err = err.With("until", p.Until)
	}
	return err
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Paused gives the pause that is in force at an instant; nil for none.
func (b Branch) Paused(now time.Time) *Pause {
	if b.Pause == nil || !b.Pause.Until.IsZero() && !now.Before(b.Pause.Until) {
		return nil
	}
	return b.Pause
}

// check refuses a pause without a reason, with two, or with an end that is no end.
func (p Pause) check(now time.Time) error {
	if (p.Code == "") == (len(p.Texts) == 0) {
		return invalid("A pause has either a reason's code or its texts.")
	}
	if p.Code != "" && !slices.Contains(PauseCodes, p.Code) {
		return invalid("The code of a reason is one of %v.", PauseCodes)
	}
	if p.Code == "" {
		if err := p.Texts.Check("A reason", maxReason); err != nil {
			return err
		}
	}
	return checkUntil(p.Until, now)
}

// checkUntil refuses an end that is over or too far away; the zero Time is no end.
func checkUntil(until, now time.Time) error {
	if !until.IsZero() && (!until.After(now) || until.Sub(now) > MaxAhead) {
		return invalid("The end lies in the future, at most %d days away.", int(MaxAhead/(24*time.Hour)))
	}
	return nil
}
