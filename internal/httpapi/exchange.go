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

// exchange is one request and its answer: the writer that handlers get, and what the record of the request will say.
// Only the goroutine of the request writes to it.
type exchange struct {
	http.ResponseWriter

	id     string
	begun  clock.Stopwatch
	client netip.Addr // where the request comes from; a trusted proxy is seen through
	route  *route     // nil until a route has taken the request
	actor  string
	status int // 0 until the answer has begun
	code   string
	cause  error // of a failure; for the log only (H3)
	muted  bool  // the mux's own 404 or 405 is being swallowed
}

// exchangeOf finds the exchange of a request's context; nil outside of one.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := telemetry.CarrierOf(ctx).(*exchange)
	return x
}

// LogAttrs makes every record that is logged with the request's context carry its id.
func (x *exchange) LogAttrs() []slog.Attr { return []slog.Attr{slog.String("request_id", x.id)} }

// RequestID is the id of the request that a context belongs to, or "" outside of one. It correlates records and must
// not decide anything: the client may have chosen it.
func RequestID(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return x.id
	}
	return ""
}

func newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{ResponseWriter: w, begun: clock.Start()}
	if given := r.Header["X-Request-Id"]; len(given) == 1 && plausibleID(given[0]) {
		x.id = given[0]
	} else {
		x.id = uid.New(x.begun.Begun())
	}
	return x
}

// plausibleID tells whether an inbound id may stand in our log: ^[A-Za-z0-9-]{8,64}$.
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

// Unwrap lets http.ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader remembers the status. What the mux answers to a request without a route is swallowed, to be answered as
// a problem once it has returned; its headers, such as Allow, stay.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && x.route == nil && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed) {
		x.muted, x.status = true, status
		return
	}
	if x.status == 0 && status >= http.StatusOK {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

func (x *exchange) Write(p []byte) (int, error) {
	if x.muted {
		return len(p), nil
	}
	if x.status == 0 {
		x.status = http.StatusOK
	}
	return x.ResponseWriter.Write(p)
}

// note keeps of a problem what the record will say, and completes it.
func (x *exchange) note(p *Problem) *Problem {
	p.RequestID = x.id
	x.code, x.cause = p.Code, p.cause
	return p
}

// fail answers with a problem; the answer must not have begun.
func (x *exchange) fail(p *Problem) {
	body, err := json.Marshal(x.note(p))
	if err != nil { // a room gave a member that is no JSON: answer without it
		p.extra = nil
		body, _ = json.Marshal(p)
		x.cause = err
	}
	h := x.Header()
	for _, name := range []string{"Content-Length", "Content-Encoding", "Etag", "Last-Modified"} {
		h.Del(name) // of the answer that was not given
	}
	h["Content-Type"], h["Cache-Control"] = problemHeader, noStore
	maps.Copy(h, p.GetHeaders())
	x.WriteHeader(p.Status)
	_, _ = x.Write(append(body, '\n'))
}

// refuse answers a request of a plain handler, or one that no route takes. The answer must not have begun.
func (x *exchange) refuse(r *http.Request, p *Problem) {
	if p.Status == http.StatusNotFound && wantsPage(r) {
		x.missing(r, p)
		return
	}
	x.fail(p)
}

// Fail answers a request of a plain handler with the problem that belongs to err. The answer must not have begun.
func Fail(_ http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r.Context())
	if x == nil {
		panic("httpapi: Fail outside of a server")
	}
	x.refuse(r, problemOf(r.Context(), err))
}
