package httpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"

	"comanda/internal/clock"
	"comanda/internal/telemetry"
	"comanda/internal/uid"
)

// exchange is one request with its response: the ResponseWriter of handlers and the data of the log record. Only the
// goroutine of the request writes to it.
type exchange struct {
	http.ResponseWriter

	id     string
	begun  clock.Stopwatch
	client netip.Addr // client address, behind trusted proxies
	route  *route     // nil until routed
	actor  string
	status int // 0 until the response has started
	code   string
	cause  error // of an error; for the log only (H3)
	muted  bool  // discards the body of the mux's own 404 or 405
}

// exchangeOf returns the exchange of a request's context, or nil.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := telemetry.CarrierOf(ctx).(*exchange)
	return x
}

// LogAttrs adds the request id to every record that is logged with the request's context.
func (x *exchange) LogAttrs() []slog.Attr { return []slog.Attr{slog.String("request_id", x.id)} }

// RequestID returns the request id of a context, or "". It correlates log records. The client may have chosen it, so it
// must not be used for decisions.
func RequestID(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return x.id
	}
	return ""
}

// newExchange accepts the request id of a proxy or client, so that its logs and ours can be joined, and otherwise
// creates one.
func newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{ResponseWriter: w, begun: clock.Start()}
	if given := r.Header["X-Request-Id"]; len(given) == 1 && plausibleID(given[0]) {
		x.id = given[0]
	} else {
		x.id = uid.New(x.begun.Begun())
	}
	return x
}

// plausibleID reports whether a request id of a client is acceptable: ^[A-Za-z0-9-]{8,64}$.
func plausibleID(s string) bool {
	if len(s) < 8 || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-':
		default:
			return false
		}
	}
	return true
}

// Unwrap lets http.ResponseController access the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader records the status. The mux's own 404 and 405 are discarded, because a problem replaces them afterwards;
// their headers, such as Allow, are kept.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && x.route == nil && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed) {
		x.muted, x.status = true, status
		return
	}
	// Informational statuses, such as 103, may precede the final one.
	if x.status == 0 && status >= http.StatusOK {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write discards the body of the mux's own 404 or 405. Otherwise it writes through, with status 200 if none was set.
func (x *exchange) Write(p []byte) (int, error) {
	if x.muted {
		return len(p), nil
	}
	if x.status == 0 {
		x.status = http.StatusOK
	}
	return x.ResponseWriter.Write(p)
}

// note copies the fields of a problem that are logged, sets its request id, and returns it.
func (x *exchange) note(p *Problem) *Problem {
	p.RequestID = x.id
	x.code, x.cause = p.Code, p.cause
	return p
}

// fail responds with a problem; the response must not have started.
func (x *exchange) fail(p *Problem) {
	body, err := json.Marshal(x.note(p))
	if err != nil { // an extra member does not marshal: send the problem without it
		p.extra = nil
		body, _ = json.Marshal(p)
		x.cause = err
	}
	h := x.Header()
	for _, name := range []string{"Content-Length", "Content-Encoding", "Etag", "Last-Modified"} {
		h.Del(name) // headers of the abandoned response
	}
	h["Content-Type"], h["Cache-Control"] = problemHeader, noStore
	// huma does this for its own responses; here the problem is written without huma.
	maps.Copy(h, p.GetHeaders())
	x.WriteHeader(p.Status)
	_, _ = x.Write(append(body, '\n'))
}

// refuse responds with a problem to a request of a plain handler or without a route. The response must not have
// started.
func (x *exchange) refuse(r *http.Request, p *Problem) {
	if p.Status == http.StatusNotFound && wantsPage(r) {
		x.missing(r, p)
		return
	}
	x.fail(p)
}

// Fail responds with the problem of err in a plain handler. The response must not have started.
func Fail(_ http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r.Context())
	if x == nil {
		panic("httpapi: Fail outside of a server")
	}
	x.refuse(r, problemOf(r.Context(), err))
}
