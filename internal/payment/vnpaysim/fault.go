package vnpaysim

import (
	"errors"
	"slices"
)

// Corruption is a way in which a notice is not what it should be.
type Corruption string

// The ways. A merchant must take the last two for what they are, and refuse the others.
const (
	Signature   Corruption = "signature" // one digit of it is another
	Tampered    Corruption = "tampered"  // the amount was changed after it was signed
	Twin        Corruption = "twin"      // the amount stands there twice
	OtherAmount Corruption = "amount"    // VNPay itself speaks of another amount, and signs it
	OtherSite   Corruption = "site"      // and of another merchant
	Extra       Corruption = "extra"     // new parameters, signed, and a stranger's, unsigned
	UpperCase   Corruption = "upper"     // a hash in upper case
)

// Faults are what goes wrong until they are set anew. The zero value is a day on which nothing does.
type Faults struct {
	DelayMS     int        `json:"delayMs"`     // before the first try of a notice
	Repeat      int        `json:"repeat"`      // how often each notice is sent again although it was answered
	AtOnce      bool       `json:"atOnce"`      // the repetitions and the notice come together
	ReturnFirst bool       `json:"returnFirst"` // the browser is sent back before the notice is sent, and not after it
	Lose        int        `json:"lose"`        // the first tries of each result that never arrive
	Corrupt     Corruption `json:"corrupt"`
	RefundCode  string     `json:"refundCode"`  // answered to refunds, of which none is made; the sandbox says 99
	LoseAnswers int        `json:"loseAnswers"` // so many calls of the API are worked on and not answered
}

const (
	maxRepeat  = 100
	maxDelayMS = 3_600_000
)

func (f Faults) validate() error {
	all := []Corruption{"", Signature, Tampered, Twin, OtherAmount, OtherSite, Extra, UpperCase}
	switch {
	case !slices.Contains(all, f.Corrupt):
		return errors.New("vnpaysim: notices are not corrupted in that way")
	case f.DelayMS < 0 || f.DelayMS > maxDelayMS || f.Repeat < 0 || f.Repeat > maxRepeat || f.Lose < 0 || f.LoseAnswers < 0:
		return errors.New("vnpaysim: a number is out of range")
	case f.RefundCode != "" && !twoDigits.MatchString(f.RefundCode):
		return errors.New("vnpaysim: a code has two digits")
	}
	return nil
}

// Faults gives what goes wrong now.
func (s *Simulator) Faults() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

// SetFaults replaces all faults. Notices that wait for their next try suffer the new ones.
func (s *Simulator) SetFaults(f Faults) error {
	if err := f.validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
	return nil
}
