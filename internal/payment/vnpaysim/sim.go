package vnpaysim

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Where things are, as in VNPay's sandbox.
const (
	PayPath = "/paymentv2/vpcpay.html"
	APIPath = "/merchant_webapi/api/transaction"
)

const (
	keepDefault  = 10_000
	triesDefault = 10
	retryDefault = 5 * time.Minute
	lateDefault  = 2 * time.Minute
	ipnTimeout   = 30 * time.Second // of one notice
)

// Options say whose VNPay this is.
type Options struct {
	TmnCode    string
	HashSecret string
	IPN        string                                 // where results are reported to; empty reports them to nobody
	RetryEvery time.Duration                          // between two tries to report; 0 is 5 minutes
	Tries      int                                    // to report, at most; 0 is 10
	LateBy     time.Duration                          // how long after the end of the window a late guest pays; 0 is 2 minutes
	Now        func() time.Time                       // nil is the process's clock
	After      func(d time.Duration) <-chan time.Time // what delays wait for; nil is time.After
	Client     *http.Client                           // sends notices; nil is one of its own
	Keep       int                                    // payments that are remembered, the latest ones; 0 is 10,000
}

// Simulator is a VNPay of one merchant. It is safe for concurrent use.
type Simulator struct {
	o   Options
	mux *http.ServeMux

	mu       sync.Mutex
	pays     []*pay // from the oldest to the latest
	byKey    map[string]*pay
	requests remembered // of the API
	number   int64      // the last vnp_TransactionNo
	faults   Faults
	answers  map[string]int // how often each answer was given to a notice

	done    context.Context //nolint:containedctx // the life of the simulator, which ends by Close and not with a call
	end     context.CancelFunc
	running sync.WaitGroup // notices that are being sent, and guests who will pay late
}

// New makes a simulator, which is an http.Handler. It must be closed.
func New(o Options) (*Simulator, error) {
	if o.TmnCode == "" || o.HashSecret == "" {
		return nil, errors.New("vnpaysim: the merchant has no site code or no secret")
	}
	if u, err := url.Parse(o.IPN); err != nil || o.IPN != "" && u.Host == "" {
		return nil, errors.New("vnpaysim: the IPN URL is not an address")
	}
	s := &Simulator{
		o: o.complete(), mux: http.NewServeMux(), byKey: map[string]*pay{}, answers: map[string]int{}, number: 14_000_000,
	}
	s.requests = remembered{seen: map[string]bool{}, keep: s.o.Keep}
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
	o.RetryEvery = or(o.RetryEvery, retryDefault)
	o.LateBy = or(o.LateBy, lateDefault)
	o.Tries = or(o.Tries, triesDefault)
	o.Keep = or(o.Keep, keepDefault)
	client := *o.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.Client = &client
	return o
}

func or[N int | time.Duration](n, otherwise N) N {
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

// Close ends what waits and is being sent; notices that nobody has confirmed are lost.
func (s *Simulator) Close() {
	s.mu.Lock()
	s.end() // within the lock, so that nothing begins after it
	s.mu.Unlock()
	s.running.Wait()
}

// begin runs f beside everything else, unless the simulator is closed.
func (s *Simulator) begin(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done.Err() != nil {
		return false
	}
	s.running.Go(f)
	return true
}

// wait lets time pass; it tells whether it did, or whether the simulator was closed meanwhile.
func (s *Simulator) wait(d time.Duration) bool {
	if d > 0 {
		select {
		case <-s.o.After(d):
		case <-s.done.Done():
		}
	}
	return s.done.Err() == nil
}
