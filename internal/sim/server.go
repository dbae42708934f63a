// Package sim is what the simulators of payment gateways have in common: an HTTP server whose background work ends with
// it, a bounded memory of payments, the payment page, and the control route by which a tester sets faults.
//
// It knows no gateway. Signatures, message formats and rules are each simulator's own, and are written a second time
// there instead of being taken from package payment: a misreading of a gateway's manual shows only if it would have to be
// made twice (docs/decisions/0022-simulators-are-servers.md).
package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// MaxBody is the limit of a request's body in bytes. The largest true one, an order of many dishes, has a few kilobytes.
const MaxBody = 64 << 10

// DefaultKeep is the default number of payments in memory: days of demonstrations, in a few megabytes.
const DefaultKeep = 10_000

// Limits of a request that a simulator sends to the merchant. VNPay waits 30 seconds for a reply of a few bytes.
const (
	getTimeout = 30 * time.Second
	maxReply   = 4 << 10
)

// Options configure a Server. The zero value is valid. Tests set Now and After, so that hours of a gateway's retries
// take no time.
type Options struct {
	Now    func() time.Time                       // default time.Now
	After  func(d time.Duration) <-chan time.Time // what delays wait for; default time.After
	Client *http.Client                           // sends requests to the merchant; default a client of its own
}

// Server serves a simulator's routes and runs its background work. It is safe for concurrent use.
type Server struct {
	now    func() time.Time
	after  func(d time.Duration) <-chan time.Time
	client http.Client
	mux    http.ServeMux

	done    context.Context //nolint:containedctx // ends with Close and not with a request
	end     context.CancelFunc
	mu      sync.Mutex // orders Go and Close
	running sync.WaitGroup
}

// NewServer returns a server without routes. It must be closed.
func NewServer(o Options) *Server {
	s := &Server{now: o.Now, after: o.After}
	if s.now == nil {
		s.now = time.Now
	}
	if s.after == nil {
		s.after = time.After
	}
	if o.Client == nil {
		// An idle connection would outlive Close.
		o.Client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	}
	s.client = *o.Client
	// Gateways do not follow redirects, and a merchant must not rely on it.
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.done, s.end = context.WithCancel(context.Background())
	return s
}

// Now returns the simulator's time.
func (s *Server) Now() time.Time { return s.now() }

// Done is closed by Close.
func (s *Server) Done() <-chan struct{} { return s.done.Done() }

// HandleFunc adds a route. A pattern that conflicts with an earlier one panics.
func (s *Server) HandleFunc(pattern string, f http.HandlerFunc) { s.mux.HandleFunc(pattern, f) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.done.Err() != nil {
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Close ends waiting requests and background work, and waits for the latter. Messages that were not delivered are lost.
// It may be called more than once. Work in the background must end soon after Done is closed, or Close waits for it.
func (s *Server) Close() {
	s.mu.Lock()
	s.end() // within the lock, so that Go starts nothing that running.Wait could miss
	s.mu.Unlock()
	s.running.Wait()
}

// Go runs f in the background. It reports whether it did: after Close it does not. The work must not call Close, which
// waits for it.
func (s *Server) Go(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done.Err() != nil {
		return false
	}
	s.running.Go(f)
	return true
}

// Wait waits for a duration, and shorter if ctx ends or the server closes. It reports whether the server is still open.
// After the end of ctx it reports true as well: a caller whose merchant has disconnected goes on.
func (s *Server) Wait(ctx context.Context, d time.Duration) bool {
	if d > 0 {
		select {
		case <-s.after(d):
		case <-ctx.Done():
		case <-s.done.Done():
		}
	}
	return s.done.Err() == nil
}

// Get requests a URL as the gateway or another browser would, at most until Close. It returns the status and the first
// maxReply bytes of the body. After an error it is unknown whether the merchant has handled the request, as for a real
// gateway.
func (s *Server) Get(address string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(s.done, getTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxReply))
	return resp.StatusCode, body, err
}

// WriteJSON writes a response with status 200.
func WriteJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v) // the caller may have disconnected
}

// WithQuery appends an encoded query to a URL without touching the query that it has: the merchant may have signed it.
// A URL that cannot be parsed is returned as it is.
func WithQuery(address, query string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if u.RawQuery != "" {
		query = u.RawQuery + "&" + query
	}
	u.RawQuery = query
	return u.String()
}

// Shown is the number of payments that /control shows, newest first.
const Shown = 50

// HandleControl adds the routes by which a tester watches and disturbs a simulator: GET /control shows its state, and
// PUT /control sets the faults in {"faults": ...}.
//
// PUT requires the content type of JSON, so that a page of another site cannot set faults: a browser sends a preflight
// request first, which has no route. state is called for each request and must lock by itself. set replaces the faults
// or refuses them all. F is the type of the faults in JSON. There is no authentication, because simulators run in
// demonstrations and tests only.
func HandleControl[F any](s *Server, state func() any, set func(faults F) error) {
	show := func(w http.ResponseWriter, _ *http.Request) { WriteJSON(w, state()) }
	s.HandleFunc("GET /control", show)
	s.HandleFunc("PUT /control", func(w http.ResponseWriter, r *http.Request) {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			http.Error(w, "send JSON", http.StatusUnsupportedMediaType)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
		var c struct {
			Faults F `json:"faults"`
		}
		if err != nil || !Decode(body, &c) {
			http.Error(w, `send {"faults": ...} in the form in which GET /control shows it`, http.StatusBadRequest)
			return
		}
		if err := set(c.Faults); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		show(w, r)
	})
}

// Decode decodes exactly one JSON value without unknown fields. A field that a simulator does not know is a mistake of the
// merchant, or of the tester.
func Decode(body []byte, into any) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if d.Decode(into) != nil {
		return false
	}
	// Decode stops after the first value; the end of the body shows that nothing follows.
	_, err := d.Token()
	return err == io.EOF
}

// Recent is a map that keeps its newest entries, so that a simulator that runs for weeks has bounded memory. It is not
// safe for concurrent use. The age of an entry counts from the addition of its key; reading or adding the key again
// does not change it.
type Recent[K comparable, V any] struct {
	keep    int
	keys    []K // oldest first
	entries map[K]V
}

// NewRecent returns an empty map of at most keep entries; 0 means DefaultKeep.
func NewRecent[K comparable, V any](keep int) *Recent[K, V] {
	if keep <= 0 {
		keep = DefaultKeep
	}
	return &Recent[K, V]{keep: keep, entries: map[K]V{}}
}

// Add adds an entry and drops the oldest beyond the limit. It reports whether the key is new; an old one is unchanged.
func (r *Recent[K, V]) Add(key K, v V) bool {
	if _, found := r.entries[key]; found {
		return false
	}
	r.keys, r.entries[key] = append(r.keys, key), v
	if len(r.keys) > r.keep {
		delete(r.entries, r.keys[0])
		// A later append copies the array, so the dropped keys do not stay in memory.
		r.keys = r.keys[1:]
	}
	return true
}

// Get returns the value of a key, or the zero value.
func (r *Recent[K, V]) Get(key K) V { return r.entries[key] }

// Len returns the number of entries.
func (r *Recent[K, V]) Len() int { return len(r.entries) }

// Latest returns the values, newest first. The map must not be changed during the iteration.
func (r *Recent[K, V]) Latest() iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, key := range slices.Backward(r.keys) {
			if !yield(r.entries[key]) {
				return
			}
		}
	}
}

// Values returns at most n values in the form in which a tester sees them, newest first. It returns an empty list
// instead of nil, which is [] in JSON.
func Values[K comparable, V, P any](r *Recent[K, V], n int, form func(V) P) []P {
	all := []P{}
	for v := range r.Latest() {
		if len(all) == n {
			break
		}
		all = append(all, form(v))
	}
	return all
}
