package httpapi

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
	"comanda/internal/telemetry"
)

// Route is a plain handler without a JSON contract: pages, images, streams, gateway notifications. It is not part of
// the OpenAPI document.
type Route struct {
	Pattern string // http.ServeMux pattern with a method: "GET /media/{id}"
	Policy  Policy
	Handler http.Handler

	// Module and Name name the permission that a Staff, Admin or Member route requires.
	Module, Name string

	MaxBodyBytes int64 // zero means the server's
	Stream       bool  // long-lived: no deadlines, not counted in MaxInFlight; the handler limits their number
}

// route wraps every handler, plain or huma's.
type route struct {
	RouteInfo

	s       *Server
	next    http.Handler
	maxBody int64
	json    bool // has a JSON body
	stream  bool
}

var errOverloaded = fault.New(fault.Unavailable, "overloaded", "The server is busy. Please try again in a moment.")

func newTooLarge() *Problem {
	return newProblem(http.StatusRequestEntityTooLarge, "too_large", "The body of the request is too large.")
}

// ServeHTTP applies the limits and the policy of the route (H1, H5).
func (rt *route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange) //nolint:forcetypeassert // Server.ServeHTTP is the only caller
	x.route = rt
	ctx, actor := telemetry.WithCarrier(r.Context(), x), anonymousActor
	// Limits are checked before authentication: guesses at tokens must count, and a refusal must not cost a query.
	err := rt.s.limitRate(ctx, x, &rt.RouteInfo, r)
	if err == nil {
		ctx, actor, err = rt.s.auth.admit(ctx, &rt.RouteInfo, r)
	}
	x.actor = actor
	if err == nil {
		err = rt.limit(r)
	}
	if err != nil {
		rt.s.reject(x, problemOf(r.Context(), err))
		return
	}
	// Only admitted requests count in MaxInFlight, so that refusals stay cheap while the server is busy.
	if rt.counted() {
		defer rt.s.working.Add(-1)
		// A request beyond the limit is refused at once: queued, it would be answered after its client has stopped
		// waiting.
		if rt.s.working.Add(1) > rt.s.conf.MaxInFlight {
			rt.s.reject(x, problemOf(r.Context(), errOverloaded))
			return
		}
	}
	switch d := rt.s.conf.RequestTimeout; {
	case rt.stream:
		unbound(x)
	case d > 0:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	r = r.WithContext(ctx)
	if r.Body != http.NoBody { // bodies without Content-Length are limited while they are read
		r.Body = http.MaxBytesReader(x.ResponseWriter, r.Body, rt.maxBody)
	}
	rt.next.ServeHTTP(w, r)
}

// unbound removes the connection's deadlines: net/http cancels the request's context when the read deadline passes,
// even if the client is connected. A stream sets a deadline for each write.
func unbound(w http.ResponseWriter) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{})
	_ = c.SetWriteDeadline(time.Time{})
}

// counted reports whether a request counts in MaxInFlight. Probes do not: an orchestrator would kill an instance that
// is merely busy.
func (rt *route) counted() bool { return rt.Policy != Internal && !rt.stream }

// limit refuses a body by its headers, before any of it is read.
func (rt *route) limit(r *http.Request) error {
	if r.ContentLength > rt.maxBody {
		return newTooLarge()
	}
	if r.ContentLength != 0 && !plain(r.Header.Values("Content-Encoding")) {
		return newProblem(http.StatusUnsupportedMediaType, "unsupported_encoding", "The body must not be compressed.")
	}
	if rt.json && r.ContentLength != 0 {
		if !isJSON(r.Header.Get("Content-Type")) {
			return newProblem(http.StatusUnsupportedMediaType, "unsupported_media_type",
				"The body must be application/json in UTF-8.")
		}
		r.Header["Content-Type"] = jsonHeader // huma accepts this spelling only
	}
	return nil
}

// split splits a pattern into method and path.
func split(pattern string) (method, path string) {
	method, path, found := strings.Cut(pattern, " ")
	if !found || method == "" || !strings.HasPrefix(path, "/") {
		panic("httpapi: a route's pattern is METHOD /path, not " + pattern)
	}
	return method, path
}

// checkURL refuses long URLs, invalid UTF-8 and NUL bytes, which a database would otherwise refuse later as an internal
// error.
func checkURL(r *http.Request, limit int) *Problem {
	if len(r.RequestURI) > limit {
		return newProblem(http.StatusRequestURITooLong, "uri_too_long", "The URL is too long.")
	}
	query := r.URL.RawQuery
	// Without an escape the raw query is the text itself, which saves a copy for most requests.
	if strings.IndexByte(query, '%') >= 0 {
		decoded, err := url.QueryUnescape(query)
		if err != nil {
			return badURL()
		}
		query = decoded
	}
	if !storable(r.URL.Path) || !storable(query) {
		return badURL()
	}
	return nil
}

func badURL() *Problem {
	return newProblem(http.StatusBadRequest, "invalid_url", "The URL is not valid UTF-8 text.")
}

// storable reports whether PostgreSQL can store a text: valid UTF-8 without NUL.
func storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// plain reports whether the body is not compressed, since the server does not decompress (RFC 9110, section 8.4).
func plain(encodings []string) bool {
	return !slices.ContainsFunc(encodings, func(e string) bool { return e != "" && !strings.EqualFold(e, "identity") })
}

// isJSON reports whether a Content-Type is JSON. UTF-8 is the only charset (RFC 8259, section 8.1).
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && media == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}
