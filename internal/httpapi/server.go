package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/limit"
	"comanda/internal/telemetry"
)

// Server is the HTTP server of the process. It is built, then rooms register their routes with API, then it starts.
type Server struct {
	conf      Config
	log       *slog.Logger
	metrics   *metrics
	guard     guard
	limits    *limit.Limiter // nil limits nothing
	settle    func(context.Context)
	refuse    func() error // see Refuse
	mux       *http.ServeMux
	api       *API
	ready     *readiness
	unmatched *route

	// Denied receives every request that was answered with 403. It is set before Start and must not block; nil for none.
	Denied func(Denial)

	streams streams
	ending  atomic.Pointer[ending]

	inFlight atomic.Int64 // all requests
	working  atomic.Int64 // those that take one of MaxInFlight places

	life    sync.Mutex    // held by Start and Stop
	http    *http.Server  // nil while stopped
	serving chan struct{} // closed when Serve has returned
	addr    atomic.Pointer[net.Addr]
	failed  chan error
}

// Denial is a request that was refused although it could be understood.
type Denial struct {
	Actor  string // as in the record of the request
	Client string // the address
	Code   string // of the problem
	Route  *Listing
}

// New makes a server with the operational routes: /livez, /readyz, /metrics, /openapi.json and /docs.
func New(c Config, log *slog.Logger, reg *prometheus.Registry) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	g, err := newGuard(c)
	if err != nil {
		return nil, err
	}
	s := &Server{
		conf: c, log: log, guard: g, mux: http.NewServeMux(), ready: newReadiness(log), failed: make(chan error, 1),
	}
	s.streams = streams{max: c.MaxStreams, maxPerKey: c.MaxStreamsPerKey, byKey: map[string]int{}}
	s.ending.Store(newEnding())
	s.metrics = newMetrics(reg, &s.inFlight, s.streams.count)
	s.unmatched = &route{s: s, Listing: Listing{Path: "unmatched", Policy: Public}}
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

// API is where rooms register their routes, before Start.
func (s *Server) API() *API { return s.api }

// Check adds a question to /readyz, before Start. When a critical check fails the instance answers 503 there and gets
// no traffic from a balancer; otherwise it is only degraded.
func (s *Server) Check(name string, critical bool, probe func(ctx context.Context) error) {
	s.ready.add(name, critical, probe)
}

// Refuse has a function called, before Start, ahead of every request but the probes and the figures. Where it returns an
// error, that is the answer.
func (s *Server) Refuse(why func() error) { s.refuse = why }

// BeforeChanges has a function called, before Start, ahead of every request that may change something.
func (s *Server) BeforeChanges(settle func(ctx context.Context)) { s.settle = settle }

// Addr is where the server listens; nil before Start.
func (s *Server) Addr() net.Addr {
	if a := s.addr.Load(); a != nil {
		return *a
	}
	return nil
}

// Failed delivers why a started server stopped serving by itself.
func (s *Server) Failed() <-chan error { return s.failed }

// Start listens and serves. ctx bounds the start only.
func (s *Server) Start(ctx context.Context) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.http != nil {
		return errors.New("httpapi: the server is already running")
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.conf.Listen)
	if err != nil {
		return fmt.Errorf("httpapi: listen: %w", err)
	}
	s.api.sealed = true
	s.ready.drain(false)
	s.ending.Store(newEnding())
	server := &http.Server{
		Handler: s, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ReadHeaderTimeout: s.conf.ReadHeaderTimeout, ReadTimeout: s.conf.ReadTimeout, WriteTimeout: s.conf.WriteTimeout,
		IdleTimeout: s.conf.IdleTimeout, MaxHeaderBytes: s.conf.MaxHeaderBytes,
	}
	addr, serving := l.Addr(), make(chan struct{})
	s.http, s.serving = server, serving
	s.addr.Store(&addr)
	go func() {
		defer close(serving)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			select {
			case s.failed <- fmt.Errorf("httpapi: serve: %w", err):
			default: // one reason to stop is enough
			}
		}
	}()
	return nil
}

// Stop fails readiness, waits DrainDelay, closes the listener and waits for the requests in flight. Until the listener is
// closed every connection is served, an idle one too, and each answer asks its client to connect anew, elsewhere. When
// ctx ends first, the remaining connections are cut and its error is returned. Stopping a stopped server does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.http == nil {
		return nil
	}
	s.ready.drain(true) // SetKeepAlivesEnabled would close idle connections, under a request that is on its way
	select {
	case <-time.After(s.conf.DrainDelay):
	case <-ctx.Done():
	}
	s.ending.Load().end() // streams would go on for as long as their clients
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("httpapi: %d requests were cut off: %w", s.inFlight.Load(), err)
		_ = s.http.Close()
	}
	<-s.serving
	s.http = nil
	return err
}

// ending is the end of one run of the server, which streams wait for.
type ending struct {
	ctx context.Context //nolint:containedctx // it is the run's life, not a request's
	end context.CancelFunc
}

func newEnding() *ending {
	ctx, end := context.WithCancel(context.Background())
	return &ending{ctx, end}
}

// stopping ends when the server stops.
func (s *Server) stopping() context.Context { return s.ending.Load().ctx }
