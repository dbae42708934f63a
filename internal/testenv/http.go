package testenv

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Serve sends a request to a handler and returns the response. headers are pairs of a name and a value; a pair whose
// value is empty is left out. A body is JSON, unless a header says otherwise.
func Serve(t testing.TB, h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
