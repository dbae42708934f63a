package linepaysim

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"time"
)

// Call is one of the API's calls.
type Call string

// The calls.
const (
	Request Call = "request"
	Check   Call = "check"
	Confirm Call = "confirm"
	Refund  Call = "refund"
	Details Call = "details"
)

// Spoil is a way in which an answer goes wrong.
type Spoil string

// The ways.
const (
	Lost     Spoil = "lost"     // the connection ends without an answer
	Hangs    Spoil = "hangs"    // nothing comes until the caller gives up
	Garbled  Spoil = "garbled"  // a page of HTML, with status 200
	Broken   Spoil = "broken"   // status 500
	Redirect Spoil = "redirect" // status 302 to another address of the simulator
	Short    Spoil = "short"    // one unit less than was asked for is taken; only a confirmation does that
)

// Fault strikes calls. A call that it strikes with a Code or a Spoil does nothing, unless Moves says that it does and that
// only its answer is not what it should be.
type Fault struct {
	Call    Call   `json:"call"`    // empty for every call
	Times   int    `json:"times"`   // how many calls it strikes; 0 for all
	DelayMS int    `json:"delayMs"` // before anything else
	Moves   bool   `json:"moves"`
	Code    string `json:"code"` // answered in place of the true one
	Spoil   Spoil  `json:"spoil"`
}

const (
	maxFaults  = 100
	maxDelayMS = 120_000
)

var fourDigits = regexp.MustCompile(`^[0-9]{4}$`)

func (f Fault) validate() error {
	switch {
	case f.Call != "" && !slices.Contains([]Call{Request, Check, Confirm, Refund, Details}, f.Call):
		return errors.New("there is no such call")
	case f.Spoil != "" && !slices.Contains([]Spoil{Lost, Hangs, Garbled, Broken, Redirect, Short}, f.Spoil):
		return errors.New("answers are not spoilt in that way")
	case f.Code != "" && !fourDigits.MatchString(f.Code):
		return errors.New("a code has four digits")
	case f.Times < 0 || f.DelayMS < 0 || f.DelayMS > maxDelayMS:
		return errors.New("times or delay is out of range")
	}
	return nil
}

// acts tells whether a struck call does its work.
func (f Fault) acts() bool { return f.Moves || f.Code == "" && (f.Spoil == "" || f.Spoil == Short) }

// SetFaults replaces all faults. Of several that fit a call, the first strikes.
func (s *Simulator) SetFaults(faults ...Fault) error {
	if len(faults) > maxFaults {
		return errors.New("linepaysim: too many faults")
	}
	for _, f := range faults {
		if err := f.validate(); err != nil {
			return errors.New("linepaysim: " + err.Error())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = slices.Clone(faults)
	return nil
}

// strike takes the fault that a call suffers; the zero Fault when there is none.
func (s *Simulator) strike(c Call) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.Call != "" && f.Call != c {
			continue
		}
		if f.Times == 1 {
			s.faults = slices.Delete(s.faults, i, i+1)
		} else if f.Times > 1 {
			s.faults[i].Times--
		}
		return f
	}
	return Fault{}
}

// wait lets a delay pass. It is cut short when the caller has gone or the simulator is closed, as time is for them.
func (s *Simulator) wait(ctx context.Context, ms int) {
	if ms == 0 {
		return
	}
	select {
	case <-s.o.After(time.Duration(ms) * time.Millisecond):
	case <-ctx.Done():
	case <-s.done.Done():
	}
}
