package linepaysim

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Window is how long a guest has to approve, and a merchant to confirm.
const Window = 20 * time.Minute

const keepDefault = 10_000

// Options configure a simulator for one merchant.
type Options struct {
	ChannelID     string
	ChannelSecret string
	Base          string                                 // URL for browsers; default the host of the API request
	Now           func() time.Time                       // default time.Now
	After         func(d time.Duration) <-chan time.Time // what delays wait for; nil is time.After
	Client        *http.Client                           // opens return URLs as a second browser; default a client of its own
	Keep          int                                    // number of latest payments in memory; default 10,000
}

// Simulator simulates LINE Pay for one merchant. It is safe for concurrent use.
type Simulator struct {
	o   Options
	mux *http.ServeMux

	mu           sync.Mutex
	transactions []*transaction // oldest first
	byID         map[int64]*transaction
	byPage       map[string]*transaction
	nonces       nonces
	busy         map[string]bool // paths of running calls
	faults       []Fault

	done    context.Context //nolint:containedctx // ends with Close and not with a request
	end     context.CancelFunc
	running sync.WaitGroup // return URLs that the simulator itself is opening
}

// New returns a simulator, which is an http.Handler. It must be closed.
func New(o Options) (*Simulator, error) {
	if o.ChannelID == "" || o.ChannelSecret == "" {
		return nil, errors.New("linepaysim: the channel id or the secret is missing")
	}
	s := &Simulator{
		o: o.complete(), mux: http.NewServeMux(), byID: map[int64]*transaction{}, byPage: map[string]*transaction{},
		busy: map[string]bool{},
	}
	s.nonces = nonces{seen: map[string]bool{}, keep: s.o.Keep}
	s.done, s.end = context.WithCancel(context.Background())
	for _, version := range []string{"/v3", "/v4"} {
		s.mux.HandleFunc("POST "+version+"/payments/request", s.handle(Request, s.request))
		s.mux.HandleFunc("GET "+version+"/payments/requests/{id}/check", s.handle(Check, s.check))
		s.mux.HandleFunc("POST "+version+"/payments/{id}/confirm", s.handle(Confirm, s.confirm))
		s.mux.HandleFunc("POST "+version+"/payments/{id}/refund", s.handle(Refund, s.refund))
		s.mux.HandleFunc("GET "+version+"/payments", s.handle(Details, s.details))
	}
	s.mux.HandleFunc("GET /pay/{page}", s.showPage)
	s.mux.HandleFunc("POST /pay/{page}", s.actOnPage)
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
		o.Client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	}
	if o.Keep <= 0 {
		o.Keep = keepDefault
	}
	client := *o.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.Client = &client
	return o
}

// ServeHTTP implements http.Handler.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.done.Err() != nil {
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Close ends hanging responses and waits for background requests.
func (s *Simulator) Close() {
	s.mu.Lock()
	s.end() // within the lock, so that no visit starts after it
	s.mu.Unlock()
	s.running.Wait()
}

// visit opens a URL in the background, like another browser.
func (s *Simulator) visit(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done.Err() != nil {
		return
	}
	s.running.Go(func() {
		r, err := http.NewRequestWithContext(s.done, http.MethodGet, address, http.NoBody)
		if err != nil {
			return
		}
		if resp, err := s.o.Client.Do(r); err == nil {
			_ = resp.Body.Close() // the body is not needed
		}
	})
}
