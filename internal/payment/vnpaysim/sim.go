package vnpaysim

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// The paths of VNPay's sandbox.
const (
	PayPath = "/paymentv2/vpcpay.html"
	APIPath = "/merchant_webapi/api/transaction"
)

const (
	keepDefault  = 10_000
	triesDefault = 10
	retryDefault = 5 * time.Minute
	lateDefault  = 2 * time.Minute
	ipnTimeout   = 30 * time.Second // per notice
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
	Keep       int                                    // number of latest payments in memory; default 10,000
}

// Simulator simulates VNPay for one merchant. It is safe for concurrent use.
type Simulator struct {
	o   Options
	mux *http.ServeMux

	mu           sync.Mutex
	transactions []*transaction // oldest first
	byKey        map[string]*transaction
	requests     recentIDs // of the API
	number       int64     // the last vnp_TransactionNo
	faults       Faults
	answers      map[string]int // number of notices by reply code

	done    context.Context //nolint:containedctx // ends with Close and not with a request
	end     context.CancelFunc
	running sync.WaitGroup // notices being sent, and late payments
}

// New returns a simulator, which is an http.Handler. It must be closed.
func New(o Options) (*Simulator, error) {
	if o.TmnCode == "" || o.HashSecret == "" {
		return nil, errors.New("vnpaysim: the site code or the secret is missing")
	}
	if u, err := url.Parse(o.IPN); err != nil || o.IPN != "" && u.Host == "" {
		return nil, errors.New("vnpaysim: the IPN URL is not valid")
	}
	s := &Simulator{
		o: o.complete(), mux: http.NewServeMux(), byKey: map[string]*transaction{}, answers: map[string]int{}, number: 14_000_000,
	}
	s.requests = recentIDs{seen: map[string]bool{}, keep: s.o.Keep}
	s.done, s.end = context.WithCancel(context.Background())
	s.mux.HandleFunc("GET "+PayPath, s.showPage)
	s.mux.HandleFunc("POST "+PayPath, s.actOnPage)
	s.mux.HandleFunc("POST "+APIPath, s.answerAPI)
	s.mux.HandleFunc("GET /control", s.showControl)
	s.mux.HandleFunc("PUT /control", s.setControl)
	return s, nil
}

func (o Options) complete() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	if o.Client == nil {
		o.Client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	}
	o.RetryEvery = orDefault(o.RetryEvery, retryDefault)
	o.LateBy = orDefault(o.LateBy, lateDefault)
	o.Tries = orDefault(o.Tries, triesDefault)
	o.Keep = orDefault(o.Keep, keepDefault)
	client := *o.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.Client = &client
	return o
}

func orDefault[N int | time.Duration](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}

// ServeHTTP implements http.Handler.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.done.Err() != nil {
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Close stops background work and waits for it. Unconfirmed notices are lost.
func (s *Simulator) Close() {
	s.mu.Lock()
	s.end() // within the lock, so that nothing starts after it
	s.mu.Unlock()
	s.running.Wait()
}

// start runs f in the background, unless the simulator is closed.
func (s *Simulator) start(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done.Err() != nil {
		return false
	}
	s.running.Go(f)
	return true
}

// wait waits for a duration and reports whether the simulator is still open.
func (s *Simulator) wait(d time.Duration) bool {
	if d > 0 {
		select {
		case <-s.o.After(d):
		case <-s.done.Done():
		}
	}
	return s.done.Err() == nil
}
