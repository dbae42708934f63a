// Package vnpaysim simulates VNPay 2.1.0 for demonstrations and tests: the payment page, the notices to the merchant's
// server (IPN) and through the browser (Return URL), the commands querydr and refund, and the faults of all of them. No
// money moves.
//
// It shares no code with package vnpay, so that a misreading of the manual is not on both sides. It keeps the latest
// payments in memory.
package vnpaysim

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"comanda/internal/sim"
)

// The paths of VNPay's sandbox.
const (
	PayPath = "/paymentv2/vpcpay.html"
	APIPath = "/merchant_webapi/api/transaction"
)

// VNPay's own schedule: it sends a notice up to ten times, five minutes apart.
const (
	triesDefault = 10
	retryDefault = 5 * time.Minute
	lateDefault  = 2 * time.Minute
)

// Options configure a simulator for one merchant.
type Options struct {
	TmnCode    string
	HashSecret string
	IPN        string                                 // URL for notices; empty sends none
	RetryEvery time.Duration                          // between two attempts of a notice; default 5 minutes
	Tries      int                                    // maximum attempts of a notice; default 10
	LateBy     time.Duration                          // how long after the window a late guest pays; default 2 minutes
	Now        func() time.Time                       // default time.Now
	After      func(d time.Duration) <-chan time.Time // default time.After
	Client     *http.Client                           // sends notices; default a client of its own
	Keep       int                                    // number of latest payments in memory; default sim.DefaultKeep
}

// Simulator simulates VNPay for one merchant. It is safe for concurrent use. mu is held for single steps only, never
// while it waits or calls the merchant.
type Simulator struct {
	*sim.Server

	o Options

	mu           sync.Mutex
	transactions *sim.Recent[string, *transaction] // by key
	requests     *sim.Recent[string, struct{}]     // keys of the API's requests
	number       int64                             // the last vnp_TransactionNo
	faults       Faults
	answers      map[string]int // number of notices by reply code
}

// New returns a simulator, which is an http.Handler. It must be closed.
func New(o Options) (*Simulator, error) {
	if o.TmnCode == "" || o.HashSecret == "" {
		return nil, errors.New("vnpaysim: the site code or the secret is missing")
	}
	if u, err := url.Parse(o.IPN); err != nil || o.IPN != "" && u.Host == "" {
		return nil, errors.New("vnpaysim: the IPN URL is not valid")
	}
	o.RetryEvery = orDefault(o.RetryEvery, retryDefault)
	o.LateBy = orDefault(o.LateBy, lateDefault)
	o.Tries = orDefault(o.Tries, triesDefault)
	s := &Simulator{
		Server: sim.NewServer(sim.Options{Now: o.Now, After: o.After, Client: o.Client}), o: o,
		transactions: sim.NewRecent[string, *transaction](o.Keep), requests: sim.NewRecent[string, struct{}](o.Keep),
		number: 14_000_000, answers: map[string]int{},
	}
	s.HandleFunc("GET "+PayPath, s.showPage)
	s.HandleFunc("POST "+PayPath, s.actOnPage)
	s.HandleFunc("POST "+APIPath, s.answerAPI)
	sim.HandleControl(s.Server, s.control, s.SetFaults)
	return s, nil
}

// orDefault returns otherwise unless n is positive.
func orDefault[N int | time.Duration](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}

// Payment is a payment as tests and /control see it. Amounts are in dong.
type Payment struct {
	TxnRef        string `json:"txnRef"`
	State         string `json:"state"` // WAITING, ENDED, FAILED, PAID
	ResponseCode  string `json:"responseCode"`
	TransactionNo int64  `json:"transactionNo"` // 0 when no money has moved
	Amount        int64  `json:"amount"`
	Refunded      int64  `json:"refunded"`
	Refunds       int    `json:"refunds"`
}

// Payments returns the payments in memory, newest first.
func (s *Simulator) Payments() []Payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest(s.transactions.Len())
}

// latest returns the n newest payments. The caller holds the lock.
func (s *Simulator) latest(n int) []Payment {
	now := s.Now()
	return sim.Values(s.transactions, n, func(p *transaction) Payment {
		return Payment{
			TxnRef: p.ref, State: string(p.stateAt(now)), ResponseCode: p.last.response, TransactionNo: p.last.number,
			Amount: p.amount / 100, Refunded: p.refunded / 100, Refunds: len(p.refunds),
		}
	})
}

// Answers returns how many notices got each reply code. NONE counts those without a valid reply.
func (s *Simulator) Answers() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.answers)
}

// control returns the data that /control shows.
func (s *Simulator) control() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return struct {
		Faults   Faults         `json:"faults"`
		Answers  map[string]int `json:"answers"`
		Payments []Payment      `json:"payments"`
	}{s.faults, maps.Clone(s.answers), s.latest(sim.Shown)}
}

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

// SetFaults replaces all faults, including those of notices that wait for their next attempt.
func (s *Simulator) SetFaults(f Faults) error {
	if err := f.validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
	return nil
}
