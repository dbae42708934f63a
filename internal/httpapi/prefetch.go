package httpapi

import (
	"net/http"
	"strings"

	"comanda/internal/fault"
)

// ErrPrefetch refuses a browser's prefetch of a URL whose response has side effects or leads to a page that has.
var ErrPrefetch = &fault.Error{
	Kind: fault.Unavailable, Code: "prefetch_refused", Detail: "This page is not prefetched. Open it instead.",
}

// purposes are the headers that announce a prefetch: the standard one
// (https://wicg.github.io/nav-speculation/prefetch.html#sec-purpose-header), and those of older Chromium and Firefox.
var purposes = []string{"Sec-Purpose", "Purpose", "X-Moz"}

// Prefetching reports whether the request is a prefetch; header returns a header of the request.
func Prefetching(header func(name string) string) bool {
	for _, name := range purposes {
		if strings.Contains(strings.ToLower(header(name)), "prefetch") {
			return true
		}
	}
	return false
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
