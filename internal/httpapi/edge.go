package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"comanda/internal/fault"
)

// Header values that many responses share. They are never modified, only replaced.
var (
	problemHeader = []string{problemType}
	jsonHeader    = []string{"application/json"}
	noStore       = []string{"no-store"}
	nosniff       = []string{"nosniff"}
	noReferrer    = []string{"no-referrer"}
	dataCSP       = []string{"default-src 'none'; frame-ancestors 'none'"}
	hsts          = []string{"max-age=31536000; includeSubDomains"}
)

// ServeHTTP is the outermost handler of every request (H2, H4).
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The exchange is created first, because every response carries the request id and the security headers, even a
	// refusal.
	x := newExchange(w, r)
	x.client = clientOf(r, s.conf.TrustedProxies)
	s.secure(w.Header(), x.id)
	// The server is stopping; closing the connection makes the client open its next one to another instance.
	if s.ready.draining.Load() {
		w.Header().Set("Connection", "close")
	}
	s.inFlight.Add(1)
	defer s.finish(x, r)
	// The URL is checked before the mux, so that no handler receives text that cannot be stored.
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
	// Only methods that may change state wait; reads are answered meanwhile.
	if s.settle != nil && r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions {
		s.settle(r.Context())
	}
	s.mux.ServeHTTP(x, r)
	// The mux found no route. Its own text is replaced by a problem, which keeps its Allow header (H2).
	if x.muted {
		x.muted, x.status, x.route = false, 0, s.unmatched
		x.refuse(r, unrouted(x.Header().Get("Allow")))
	}
}

// operational reports whether a path is an operational route.
func operational(path string) bool {
	return path == "/livez" || path == "/readyz" || path == "/metrics"
}

// reject answers a request before any handler runs, with one of a few fixed problems.
func (s *Server) reject(x *exchange, p *Problem) {
	s.metrics.rejected.WithLabelValues(p.Code).Inc()
	x.fail(p)
}

// secure sets security headers suitable for data. Handlers of pages replace the content security policy.
func (s *Server) secure(h http.Header, id string) {
	h["X-Request-Id"] = []string{id}
	h["X-Content-Type-Options"] = nosniff
	h["Referrer-Policy"] = noReferrer
	h["Content-Security-Policy"] = dataCSP
	h["Cache-Control"] = noStore
	if s.hsts.Load() {
		h["Strict-Transport-Security"] = hsts
	}
}

// unrouted returns the problem of a request without a route. allow is the mux's Allow header, empty for an unknown
// path.
func unrouted(allow string) *Problem {
	if allow != "" {
		return newProblem(http.StatusMethodNotAllowed, "method_not_allowed", "This path supports only "+allow+".")
	}
	return newProblem(http.StatusNotFound, "not_found", "No such path.")
}

// finish completes every request: it turns a panic into an error response, counts and logs.
func (s *Server) finish(x *exchange, r *http.Request) {
	s.inFlight.Add(-1)
	// recover works only in the deferred function itself, so it cannot move into a helper.
	panicked := recover()
	abort := panicked == http.ErrAbortHandler        //nolint:errorlint // compared as net/http does
	cut := abort || panicked != nil && x.status != 0 // only closing shows that the response is incomplete
	if panicked != nil && !abort {
		s.log.Error("handler panicked", "request_id", x.id, "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
		p := newProblem(http.StatusInternalServerError, "internal", wentWrong)
		p.cause = fmt.Errorf("panic: %v", panicked)
		if cut {
			_ = x.note(p) // note returns its argument
			x.status = p.Status
		} else {
			x.fail(p)
		}
	}
	if x.route == nil {
		x.route = s.unmatched
	}
	if x.status == 0 { // nothing written, no error: net/http sends 200
		x.status = http.StatusOK
	}
	// Denied is called here and not where a request is refused, because handlers refuse requests too.
	if x.status == http.StatusForbidden && s.Denied != nil {
		s.Denied(Denial{x.actor, x.client.String(), x.code, &x.route.RouteInfo})
	}
	took := x.begun.Elapsed()
	x.route.observe(r.Method, x.status, took)
	s.record(r, x, took)
	if cut {
		// net/http closes the connection without logging this panic.
		panic(http.ErrAbortHandler)
	}
}

// record logs the request (H4). Paths are logged as patterns, so that neither query tokens nor ids in paths appear
// (H3).
func (s *Server) record(r *http.Request, x *exchange, took time.Duration) {
	// 503 is a warning, because the server refuses on purpose under load. Other 5xx are errors of the server.
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
		slog.Int("status", x.status), slog.Int64("dur_us", took.Microseconds()), // a float would be encoded by encoding/json
		slog.String("actor", x.actor))
	if x.code != "" {
		rec.AddAttrs(slog.String("code", x.code))
	}
	if x.cause != nil {
		rec.AddAttrs(slog.String("err", x.cause.Error()))
	}
	_ = s.log.Handler().Handle(ctx, rec) // bypasses the logger, which would determine the source line of each call
}

// ParseProxies parses a comma-separated list of proxy addresses and networks: 10.0.0.7, 2001:db8::/48.
func ParseProxies(list string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		p, err := netip.ParsePrefix(item)
		if err != nil {
			a, single := netip.ParseAddr(item)
			if single != nil {
				return nil, fmt.Errorf("httpapi: %q is neither an address nor a network", item)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// clientOf returns the client address of a request: that of the connection, unless it is a trusted proxy. Then it reads
// X-Forwarded-For from the right, where each proxy has appended its client, up to the first untrusted address. Entries
// further left may be forged by the client.
func clientOf(r *http.Request, trusted []netip.Prefix) netip.Addr {
	at := addressIn(r.RemoteAddr)
	if !oneOf(trusted, at) {
		return at
	}
	for _, line := range slices.Backward(r.Header["X-Forwarded-For"]) {
		for line != "" {
			var hop string
			if comma := strings.LastIndexByte(line, ','); comma >= 0 {
				line, hop = line[:comma], line[comma+1:]
			} else {
				line, hop = "", line
			}
			next := addressIn(strings.TrimSpace(hop))
			if !next.IsValid() { // trusted proxies write only addresses: the last valid one is the client
				return at
			}
			if at = next; !oneOf(trusted, at) {
				return at
			}
		}
	}
	return at
}

// addressIn parses an address with or without a port; it returns the zero Addr if s is invalid.
func addressIn(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		// An IPv4 address may arrive in IPv6 form. It must match IPv4 networks and share one rate limit with its other form.
		return ap.Addr().Unmap().WithZone("")
	}
	a, _ := netip.ParseAddr(strings.Trim(s, "[]"))
	return a.Unmap().WithZone("")
}

// oneOf reports whether a network contains the address. The invalid address is in none, so it is never trusted.
func oneOf(nets []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(nets, func(n netip.Prefix) bool { return n.Contains(a) })
}

// networkOf returns the network that counts as one client: an IPv4 address, or the /64 of an IPv6 address, since one
// client usually has a whole /64.
func networkOf(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return "unknown"
	case a.Is4():
		return a.String()
	}
	p, err := a.Prefix(64)
	if err != nil {
		return a.String()
	}
	return p.Addr().String()
}

// ClientAddress returns the client address of a request, behind trusted proxies; "" outside of a request.
func ClientAddress(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil && x.client.IsValid() {
		return x.client.String()
	}
	return ""
}

// ClientNetwork returns the network that rate limits count as one client: an IPv4 address or an IPv6 /64; "unknown"
// outside of a request.
func ClientNetwork(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return networkOf(x.client)
	}
	return networkOf(netip.Addr{})
}

// ErrPrefetch refuses a browser's prefetch of a URL whose response has side effects or leads to a page that has.
var ErrPrefetch = &fault.Error{
	Kind: fault.Unavailable, Code: "prefetch_refused", Detail: "This page is not prefetched. Open it instead.",
}

// purposes are the headers that announce a prefetch: the standard one
// (https://wicg.github.io/nav-speculation/prefetch.html#sec-purpose-header), and those of older Chromium and Firefox.
var purposes = []string{"Sec-Purpose", "Purpose", "X-Moz"}

// Prefetching reports whether the request is a prefetch; header returns a header of the request.
func Prefetching(header func(name string) string) bool {
	return slices.ContainsFunc(purposes, func(name string) bool {
		return strings.Contains(strings.ToLower(header(name)), "prefetch")
	})
}

// RefusePrefetch responds to prefetches with ErrPrefetch and passes other requests on.
func RefusePrefetch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if Prefetching(r.Header.Get) {
			Fail(w, r, ErrPrefetch)
			return
		}
		next.ServeHTTP(w, r)
	})
}
