package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// The values of headers that many answers share. They are never changed, only replaced.
var (
	problemHeader = []string{problemType}
	jsonHeader    = []string{"application/json"}
	noStore       = []string{"no-store"}
	nosniff       = []string{"nosniff"}
	noReferrer    = []string{"no-referrer"}
	dataCSP       = []string{"default-src 'none'; frame-ancestors 'none'"}
	hsts          = []string{"max-age=31536000; includeSubDomains"}
)

// ServeHTTP surrounds every request (H2, H4).
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := newExchange(w, r)
	x.client = clientOf(r, s.conf.TrustedProxies)
	s.secure(w.Header(), x.id)
	if s.ready.draining.Load() {
		w.Header().Set("Connection", "close")
	}
	s.inFlight.Add(1)
	defer s.finish(x, r)
	if p := checkURL(r, s.conf.MaxURLBytes); p != nil {
		s.reject(x, p)
		return
	}
	if s.refuse != nil && !operational(r.URL.Path) {
		if err := s.refuse(); err != nil {
			s.reject(x, problemOf(r.Context(), err))
			return
		}
	}
	if s.settle != nil && r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions {
		s.settle(r.Context())
	}
	s.mux.ServeHTTP(x, r)
	if x.muted {
		x.muted, x.status, x.route = false, 0, s.unmatched
		x.refuse(r, unrouted(x.Header().Get("Allow")))
	}
}

// operational reports whether a path is for those who run the server.
func operational(path string) bool {
	return path == "/livez" || path == "/readyz" || path == "/metrics"
}

// reject answers a request that no handler has seen. The reasons are the codes of a few fixed problems.
func (s *Server) reject(x *exchange, p *Problem) {
	s.metrics.rejected.WithLabelValues(p.Code).Inc()
	x.fail(p)
}

// secure sets the headers that suit data; what serves pages replaces the policy of contents by its own.
func (s *Server) secure(h http.Header, id string) {
	h["X-Request-Id"] = []string{id}
	h["X-Content-Type-Options"] = nosniff
	h["Referrer-Policy"] = noReferrer
	h["Content-Security-Policy"] = dataCSP
	h["Cache-Control"] = noStore
	if s.conf.HSTS {
		h["Strict-Transport-Security"] = hsts
	}
}

func unrouted(allow string) *Problem {
	if allow != "" {
		return newProblem(http.StatusMethodNotAllowed, "method_not_allowed", "This path knows only "+allow+".")
	}
	return newProblem(http.StatusNotFound, "not_found", "There is nothing at this path.")
}

// finish ends every request, however it went: it turns a panic into an answer, counts and records.
func (s *Server) finish(x *exchange, r *http.Request) {
	s.inFlight.Add(-1)
	panicked := recover()
	abort := panicked == http.ErrAbortHandler        //nolint:errorlint // compared as net/http does
	cut := abort || panicked != nil && x.status != 0 // only a cut connection tells the client that half is missing
	if panicked != nil && !abort {
		s.log.Error("handler panicked", "request_id", x.id, "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
		p := newProblem(http.StatusInternalServerError, "internal", wentWrong)
		p.cause = fmt.Errorf("panic: %v", panicked)
		if cut {
			_ = x.note(p) // it gives back what it notes
			x.status = p.Status
		} else {
			x.fail(p)
		}
	}
	if x.route == nil {
		x.route = s.unmatched
	}
	if x.status == 0 { // neither written nor failed: net/http answers 200
		x.status = http.StatusOK
	}
	if x.status == http.StatusForbidden && s.Denied != nil {
		s.Denied(Denial{x.actor, x.client.String(), x.code, &x.route.Listing})
	}
	took := x.begun.Elapsed()
	x.route.observe(r.Method, x.status, took)
	s.record(r, x, took)
	if cut {
		panic(http.ErrAbortHandler)
	}
}

// record writes the one record of a request (H4). Paths stand in it as patterns, so that neither a token in a query
// nor an identifier in a path is logged (H3).
func (s *Server) record(r *http.Request, x *exchange, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case x.status >= 500 && x.status != http.StatusServiceUnavailable:
		level = slog.LevelError
	case x.status >= 500:
		level = slog.LevelWarn
	case x.route.Policy == Internal:
		level = slog.LevelDebug
	}
	if level <= slog.LevelInfo && !s.conf.AccessLog {
		return
	}
	ctx := context.Background()
	if !s.log.Enabled(ctx, level) {
		return
	}
	rec := slog.NewRecord(x.begun.Begun().Add(took), level, "request", 0)
	rec.AddAttrs(
		slog.String("request_id", x.id), slog.String("method", knownMethod(r.Method)), slog.String("route", x.route.Path),
		slog.Int("status", x.status), slog.Int64("dur_us", took.Microseconds()), // a float would go through encoding/json
		slog.String("actor", x.actor))
	if x.code != "" {
		rec.AddAttrs(slog.String("code", x.code))
	}
	if x.cause != nil {
		rec.AddAttrs(slog.String("err", x.cause.Error()))
	}
	_ = s.log.Handler().Handle(ctx, rec) // not through the logger, which would look for the caller's line each time
}
