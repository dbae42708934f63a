package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/clock"
	"comanda/internal/limit"
	"comanda/internal/telemetry"
)

// Server is the HTTP server of the process. Create it, register routes with API, then start it.
type Server struct {
	begun     clock.Stopwatch
	conf      Config
	log       *slog.Logger
	metrics   *metrics
	auth      authorizer
	limits    *limit.Limiter // nil limits nothing
	settle    func(context.Context)
	refuse    func() error // see RefuseWhen
	hsts      atomic.Bool  // see SetPublicURL
	mux       *http.ServeMux
	api       *API
	ready     *readiness
	unmatched *route

	// Notified reports whether streams are notified of all changes, so that they poll seldom. Set it before Start; it must
	// not block; nil means no. When it becomes false, the streams must be notified.
	Notified func() bool
	// Denied is called for every request that got 403. Set it before Start; it must not block; may be nil.
	Denied func(Denial)

	streams streams
	ending  atomic.Pointer[ending]
	house   atomic.Pointer[House] // see SetHouse

	inFlight atomic.Int64 // all requests
	working  atomic.Int64 // requests that count in MaxInFlight

	life    sync.Mutex    // held by Start and Stop
	http    *http.Server  // nil while stopped
	serving chan struct{} // closed when Serve returns
	addr    atomic.Pointer[net.Addr]
	failed  chan error
}

// Denial is an authenticated or well-formed request that got 403.
type Denial struct {
	Actor  string // as in the log record
	Client string // client address
	Code   string // problem code
	Route  *RouteInfo
}

// New returns a server with the operational routes: /livez, /readyz, /metrics, /openapi.json and /docs.
func New(c Config, log *slog.Logger, reg *prometheus.Registry) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	g, err := newAuthorizer(c)
	if err != nil {
		return nil, err
	}
	s := &Server{
		begun: clock.Start(), conf: c, log: log, auth: g, mux: http.NewServeMux(), ready: newReadiness(log),
		failed: make(chan error, 1),
	}
	s.hsts.Store(c.HSTS)
	s.streams = streams{max: c.MaxStreams, maxPerKey: c.MaxStreamsPerKey, byKey: map[string]int{}}
	s.ending.Store(newEnding())
	s.metrics = newMetrics(reg, &s.inFlight, s.streams.count)
	s.unmatched = &route{s: s, RouteInfo: RouteInfo{Path: "unmatched", Policy: Public}}
	s.api = newAPI(s)
	for pattern, h := range map[string]http.Handler{
		"GET /livez":   http.HandlerFunc(live),
		"GET /readyz":  s.ready,
		"GET /metrics": telemetry.MetricsHandler(reg),
	} {
		s.api.Handle(Route{Pattern: pattern, Policy: Internal, Handler: h})
	}
	s.api.Handle(Route{Pattern: "GET /openapi.json", Policy: Public, Handler: http.HandlerFunc(s.api.serveJSON)})
	s.api.Handle(Route{Pattern: "GET /docs", Policy: Public, Handler: http.HandlerFunc(s.api.serveDocs)})
	return s, nil
}

// API returns the API for registering routes, before Start.
func (s *Server) API() *API { return s.api }

// Check adds a check to /readyz, before Start. If a critical check fails the instance responds 503 there and gets no
// traffic from a load balancer; otherwise it is only degraded.
func (s *Server) Check(name string, critical bool, probe func(ctx context.Context) error) {
	s.ready.add(name, critical, probe)
}

// RefuseWhen sets a function, before Start, that runs before every request except probes and metrics. If it returns an
// error, the request is refused with that error.
func (s *Server) RefuseWhen(why func() error) { s.refuse = why }

// BeforeChanges sets a function, before Start, that runs ahead of every request that may change state.
func (s *Server) BeforeChanges(settle func(ctx context.Context)) { s.settle = settle }

// SetPublicURL makes a URL the only origin that may send state-changing requests beside the server's own, and sends
// Strict-Transport-Security if it is https. It may be called while the server runs.
func (s *Server) SetPublicURL(u string) error {
	p, err := Config{TrustedOrigins: []string{u}}.crossOrigin()
	if err != nil {
		return err
	}
	s.auth.crossSite.Store(p)
	s.hsts.Store(strings.HasPrefix(u, "https://"))
	return nil
}

// Addr returns the listen address; nil before Start.
func (s *Server) Addr() net.Addr {
	if a := s.addr.Load(); a != nil {
		return *a
	}
	return nil
}

// Failed returns a channel that receives the error when a started server stops unexpectedly.
func (s *Server) Failed() <-chan error { return s.failed }

// Start listens and serves. ctx applies to the start only.
func (s *Server) Start(ctx context.Context) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.http != nil {
		return errors.New("httpapi: the server is already running")
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.conf.Listen)
	if err != nil {
		return fmt.Errorf("httpapi: %w", err)
	}
	// From here on routes are read without locks.
	s.api.sealed = true
	s.ready.drain(false)
	s.ending.Store(newEnding())
	server := &http.Server{
		Handler: s, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ReadHeaderTimeout: s.conf.ReadHeaderTimeout, ReadTimeout: s.conf.ReadTimeout, WriteTimeout: s.conf.WriteTimeout,
		IdleTimeout: s.conf.IdleTimeout, MaxHeaderBytes: s.conf.MaxHeaderBytes,
	}
	// The values are captured in variables, because a later Stop clears the fields while the goroutine still runs.
	addr, serving := l.Addr(), make(chan struct{})
	s.http, s.serving = server, serving
	s.addr.Store(&addr)
	go func() {
		defer close(serving)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			select {
			case s.failed <- fmt.Errorf("httpapi: serve: %w", err):
			default: // an error is already pending
			}
		}
	}()
	return nil
}

// Stop fails readiness, waits DrainDelay, closes the listener and waits for the requests in flight. Until the listener
// is closed every connection is served, also idle ones, and each response closes its connection, so that clients
// connect to another instance. When ctx ends first, Stop closes the remaining connections and returns the error of ctx.
// Stopping a stopped server does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.http == nil {
		return nil
	}
	s.ready.drain(true) // SetKeepAlivesEnabled would close idle connections on which a request may be arriving
	select {
	case <-time.After(s.conf.DrainDelay):
	case <-ctx.Done():
	}
	s.ending.Load().end() // streams would not end before their clients disconnect
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("httpapi: %d requests were cut off: %w", s.inFlight.Load(), err)
		_ = s.http.Close()
	}
	// Serve's goroutine has ended when Stop returns, so the next Start begins afresh.
	<-s.serving
	s.http = nil
	return err
}

// ending signals the end of one run of the server to streams.
type ending struct {
	ctx context.Context //nolint:containedctx // lives as long as the run, not a request
	end context.CancelFunc
}

func newEnding() *ending {
	ctx, end := context.WithCancel(context.Background())
	return &ending{ctx, end}
}

// stopping returns a context that ends when the server stops.
func (s *Server) stopping() context.Context { return s.ending.Load().ctx }
