// Package linepaysim simulates LINE Pay for demonstrations and tests: its Online API under /v3 and /v4, the payment
// page, and the faults of both. No money moves.
//
// It shares no code with package linepay, so that a misreading of the manual is not on both sides. It keeps the latest
// payments in memory.
package linepaysim

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"

	"comanda/internal/sim"
)

// Window is how long a guest has to approve, and a merchant to confirm: LINE Pay's own 20 minutes, longer than Comanda holds
// an order, so that the rule against confirming late orders can be tried.
const Window = 20 * time.Minute

// Options configure a simulator for one merchant.
type Options struct {
	ChannelID     string
	ChannelSecret string
	Base          string                                 // URL for browsers; default the host of the API request
	Now           func() time.Time                       // default time.Now
	After         func(d time.Duration) <-chan time.Time // what delays wait for; nil is time.After
	Client        *http.Client                           // opens return URLs as a second browser; default a client of its own
	Keep          int                                    // number of latest payments in memory; default sim.DefaultKeep
}

// Simulator simulates LINE Pay for one merchant. It is safe for concurrent use. mu is held for single steps only, never
// while it waits or calls the merchant.
type Simulator struct {
	*sim.Server

	channelID, secret, baseURL string

	mu     sync.Mutex
	byID   *sim.Recent[int64, *transaction]
	byPage *sim.Recent[string, *transaction]
	nonces *sim.Recent[string, struct{}] // each may be used once
	busy   map[string]bool               // paths of running calls
	faults []Fault
}

// New returns a simulator, which is an http.Handler. It must be closed.
func New(o Options) (*Simulator, error) {
	if o.ChannelID == "" || o.ChannelSecret == "" {
		return nil, errors.New("linepaysim: the channel id or the secret is missing")
	}
	s := &Simulator{
		Server:    sim.NewServer(sim.Options{Now: o.Now, After: o.After, Client: o.Client}),
		channelID: o.ChannelID, secret: o.ChannelSecret, baseURL: o.Base, busy: map[string]bool{},
		byID: sim.NewRecent[int64, *transaction](o.Keep), byPage: sim.NewRecent[string, *transaction](o.Keep),
		nonces: sim.NewRecent[string, struct{}](o.Keep),
	}
	// Both versions share payments: a merchant may change the prefix while payments are open.
	for _, version := range []string{"/v3", "/v4"} {
		s.HandleFunc("POST "+version+"/payments/request", s.handle(Request, s.request))
		s.HandleFunc("GET "+version+"/payments/requests/{id}/check", s.handle(Check, s.check))
		s.HandleFunc("POST "+version+"/payments/{id}/confirm", s.handle(Confirm, s.confirm))
		s.HandleFunc("POST "+version+"/payments/{id}/refund", s.handle(Refund, s.refund))
		s.HandleFunc("GET "+version+"/payments", s.handle(Details, s.details))
	}
	s.HandleFunc("GET /pay/{page}", s.showPage)
	s.HandleFunc("POST /pay/{page}", s.actOnPage)
	sim.HandleControl(s.Server, s.state, func(f []Fault) error { return s.SetFaults(f...) })
	return s, nil
}

// Payment is a payment as tests and /control see it. Amounts are decimal numbers.
type Payment struct {
	TransactionID string `json:"transactionId"`
	OrderID       string `json:"orderId"`
	State         string `json:"state"` // WAITING, APPROVED, CANCELED, DECLINED, ENDED, PAID
	Currency      string `json:"currency"`
	Amount        string `json:"amount"`
	Refunded      string `json:"refunded"`
	Refunds       int    `json:"refunds"`
}

// Payments returns the payments in memory, newest first.
func (s *Simulator) Payments() []Payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest(s.byID.Len())
}

// latest returns the n newest payments. The caller holds the lock.
func (s *Simulator) latest(n int) []Payment {
	now := s.Now()
	return sim.Values(s.byID, n, func(p *transaction) Payment { return p.shown(now) })
}

// state returns the data that /control shows.
func (s *Simulator) state() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return struct {
		Faults   []Fault   `json:"faults"`
		Payments []Payment `json:"payments,omitempty"`
	}{append([]Fault{}, s.faults...), s.latest(sim.Shown)}
}

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

// ResponseFault is a way in which a response fails. Fault.Moves decides whether the request is executed or lost too.
type ResponseFault string

// The ways in which a response fails.
const (
	Lost     ResponseFault = "lost"     // the connection closes without a response
	Hangs    ResponseFault = "hangs"    // no response until the caller disconnects
	Garbled  ResponseFault = "garbled"  // a page of HTML, with status 200
	Broken   ResponseFault = "broken"   // status 500
	Redirect ResponseFault = "redirect" // status 302 to another address of the simulator
	Short    ResponseFault = "short"    // a confirmation captures one unit less than requested
)

// Fault applies to API calls. A call with a Code or a Response is not executed, unless Moves is set and only its
// response is wrong.
type Fault struct {
	Call     Call          `json:"call"`    // empty for all calls
	Times    int           `json:"times"`   // number of calls; 0 for all
	DelayMS  int           `json:"delayMs"` // before anything else
	Moves    bool          `json:"moves"`
	Code     string        `json:"code"`              // replaces the true code
	Message  string        `json:"message,omitempty"` // replaces the text of Code
	Response ResponseFault `json:"spoil"`
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
		return errors.New("unknown value of call")
	case f.Response != "" && !slices.Contains([]ResponseFault{Lost, Hangs, Garbled, Broken, Redirect, Short}, f.Response):
		return errors.New("unknown value of spoil")
	case f.Code != "" && !fourDigits.MatchString(f.Code):
		return errors.New("a code must have four digits")
	case f.Times < 0 || f.DelayMS < 0 || f.DelayMS > maxDelayMS:
		return errors.New("times or delay is out of range")
	}
	return nil
}

// executes reports whether the call is executed. A short confirmation is executed too: the difference is in what it
// captures.
func (f Fault) executes() bool {
	return f.Moves || f.Code == "" && (f.Response == "" || f.Response == Short)
}

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
