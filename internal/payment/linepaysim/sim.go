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

// Options say whose LINE Pay this is.
type Options struct {
	ChannelID     string
	ChannelSecret string
	Base          string                                 // where browsers find it; empty is the host that the API is called at
	Now           func() time.Time                       // nil is the process's clock
	After         func(d time.Duration) <-chan time.Time // what delays wait for; nil is time.After
	Client        *http.Client                           // opens confirm addresses as a second browser; nil is one of its own
	Keep          int                                    // payments that are remembered, the latest ones; 0 is 10,000
}

// Simulator is a LINE Pay of one merchant. It is safe for concurrent use.
type Simulator struct {
	o   Options
	mux *http.ServeMux

	mu     sync.Mutex
	pays   []*pay // from the oldest to the latest
	byID   map[int64]*pay
	byPage map[string]*pay
	nonces nonces
	busy   map[string]bool // calls that are being worked on, by their path
	faults []Fault

	done    context.Context //nolint:containedctx // the life of the simulator, which ends by Close and not with a call
	end     context.CancelFunc
	running sync.WaitGroup // browsers that were sent to a confirm address by the simulator itself
}

// New makes a simulator, which is an http.Handler. It must be closed.
func New(o Options) (*Simulator, error) {
	if o.ChannelID == "" || o.ChannelSecret == "" {
		return nil, errors.New("linepaysim: the channel has no id or no secret")
	}
	s := &Simulator{
		o: o.complete(), mux: http.NewServeMux(), byID: map[int64]*pay{}, byPage: map[string]*pay{}, busy: map[string]bool{},
	}
	s.nonces = nonces{seen: map[string]bool{}, keep: s.o.Keep}
	s.done, s.end = context.WithCancel(context.Background())
	for _, version := range []string{"/v3", "/v4"} {
		s.mux.HandleFunc("POST "+version+"/payments/request", s.answer(Request, s.request))
		s.mux.HandleFunc("GET "+version+"/payments/requests/{id}/check", s.answer(Check, s.check))
		s.mux.HandleFunc("POST "+version+"/payments/{id}/confirm", s.answer(Confirm, s.confirm))
		s.mux.HandleFunc("POST "+version+"/payments/{id}/refund", s.answer(Refund, s.refund))
		s.mux.HandleFunc("GET "+version+"/payments", s.answer(Details, s.details))
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

// Close ends what hangs and waits for what the simulator has begun by itself.
func (s *Simulator) Close() {
	s.mu.Lock()
	s.end() // within the lock, so that no visit begins after it
	s.mu.Unlock()
	s.running.Wait()
}

// visit opens an address as another browser would, in the background.
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
			_ = resp.Body.Close() // nothing of it is read
		}
	})
}
