package vnpaysim

import (
	"errors"
	"slices"
)

// Corruption is a way in which a notice is malformed.
type Corruption string

// The corruptions. A merchant must accept the last two and refuse the others.
const (
	Signature   Corruption = "signature" // one digit of the signature is wrong
	Tampered    Corruption = "tampered"  // the amount was changed after it was signed
	Duplicated  Corruption = "twin"      // the amount is repeated
	OtherAmount Corruption = "amount"    // another amount, correctly signed
	OtherSite   Corruption = "site"      // another merchant, correctly signed
	Extra       Corruption = "extra"     // new signed parameters and an unsigned one of another party
	UpperCase   Corruption = "upper"     // a hash in upper case
)

// Faults are the faults in effect until they are set again. The zero value has none.
type Faults struct {
	DelayMS     int        `json:"delayMs"`     // before the first attempt of a notice
	Repeat      int        `json:"repeat"`      // number of repetitions of a notice that got a reply
	AtOnce      bool       `json:"atOnce"`      // sends the repetitions concurrently
	ReturnFirst bool       `json:"returnFirst"` // redirects the browser before the notice is sent
	Lose        int        `json:"lose"`        // number of first attempts of each notice that are lost
	Corrupt     Corruption `json:"corrupt"`
	RefundCode  string     `json:"refundCode"`  // refuses refunds with this code; the sandbox uses 99
	LoseAnswers int        `json:"loseAnswers"` // number of API requests that are executed without a response
}

// Limits of faults, so that a mistyped one cannot flood the merchant or hold a notice for days.
const (
	maxRepeat  = 100
	maxDelayMS = 3_600_000
)

func (f Faults) validate() error {
	all := []Corruption{"", Signature, Tampered, Duplicated, OtherAmount, OtherSite, Extra, UpperCase}
	switch {
	case !slices.Contains(all, f.Corrupt):
		return errors.New("vnpaysim: there is no such corruption")
	case f.DelayMS < 0 || f.DelayMS > maxDelayMS || f.Repeat < 0 || f.Repeat > maxRepeat || f.Lose < 0 || f.LoseAnswers < 0:
		return errors.New("vnpaysim: a number is out of range")
	case f.RefundCode != "" && !twoDigits.MatchString(f.RefundCode):
		return errors.New("vnpaysim: a code must have two digits")
	}
	return nil
}

// Faults returns the faults in effect. It is a copy, so the caller may keep it.
func (s *Simulator) Faults() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

// SetFaults replaces all faults, also for notices that wait for their next attempt.
func (s *Simulator) SetFaults(f Faults) error {
	if err := f.validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
	return nil
}
