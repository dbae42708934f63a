package linepaysim

import (
	"errors"
	"regexp"
	"slices"
)

// Call is an API call.
type Call string

// The calls.
const (
	Request Call = "request"
	Check   Call = "check"
	Confirm Call = "confirm"
	Refund  Call = "refund"
	Details Call = "details"
)

// Spoil is a way in which a response goes wrong. Together with Fault.Moves it decides which half is lost: the request,
// or only its response.
type Spoil string

// The ways to spoil a response.
const (
	Lost     Spoil = "lost"     // the connection closes without a response
	Hangs    Spoil = "hangs"    // no response until the caller disconnects
	Garbled  Spoil = "garbled"  // a page of HTML, with status 200
	Broken   Spoil = "broken"   // status 500
	Redirect Spoil = "redirect" // status 302 to another address of the simulator
	Short    Spoil = "short"    // a confirmation captures one unit less than requested
)

// Fault applies to API calls. A call with a Code or a Spoil is not executed, unless Moves is set and only its response
// is wrong.
type Fault struct {
	Call    Call   `json:"call"`    // empty for all calls
	Times   int    `json:"times"`   // number of calls; 0 for all
	DelayMS int    `json:"delayMs"` // before anything else
	Moves   bool   `json:"moves"`
	Code    string `json:"code"`              // replaces the true code
	Message string `json:"message,omitempty"` // replaces the text of Code
	Spoil   Spoil  `json:"spoil"`
}

// Limits of faults. A delay of two minutes is three times the longest timeout that LINE Pay demands of a merchant.
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
		return errors.New("there is no such spoil")
	case f.Code != "" && !fourDigits.MatchString(f.Code):
		return errors.New("a code must have four digits")
	case f.Times < 0 || f.DelayMS < 0 || f.DelayMS > maxDelayMS:
		return errors.New("times or delay is out of range")
	}
	return nil
}

// executes reports whether the call is executed. A short confirmation is executed too: the difference is in what it
// captures.
func (f Fault) executes() bool { return f.Moves || f.Code == "" && (f.Spoil == "" || f.Spoil == Short) }

// SetFaults replaces all faults. The first that matches a call applies. If one of them is invalid, none is set, and the
// earlier ones stay.
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

// takeFault returns the fault of a call and counts it, or the zero Fault.
func (s *Simulator) takeFault(c Call) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.Call != "" && f.Call != c {
			continue
		}
		// 0 means always, so a fault with one application left is removed instead of counted down to 0.
		if f.Times == 1 {
			s.faults = slices.Delete(s.faults, i, i+1)
		} else if f.Times > 1 {
			s.faults[i].Times--
		}
		return f
	}
	return Fault{}
}
