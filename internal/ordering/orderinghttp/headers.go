package orderinghttp

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"comanda/internal/httpapi"
)

// Limits of the recorded headers of one request.
const (
	maxHeaderLine  = 256 // bytes of one line, including the header's name
	maxHeaderLines = 16
)

// headersOf returns the headers that identify the sender of a gateway's message, one per line: the client address, the
// usual client headers and those specific to LINE Pay. It omits credentials such as cookies and signatures, so that the
// record cannot be replayed.
func headersOf(r *http.Request) string {
	lines := []string{headerLine("Remote-Address", httpapi.ClientAddress(r.Context()))}
	for _, name := range append([]string{"User-Agent", "Content-Type", "X-Forwarded-For"}, ofLINEPay(r.Header)...) {
		if values := r.Header.Values(name); len(values) > 0 && len(lines) < maxHeaderLines {
			lines = append(lines, headerLine(name, strings.Join(values, ", ")))
		}
	}
	return strings.Join(lines, "\n")
}

// ofLINEPay returns the names of LINE Pay's own headers in sorted order, without its signature.
func ofLINEPay(h http.Header) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(h)), func(name string) bool {
		return !strings.HasPrefix(name, "X-Line-") || name == "X-Line-Authorization"
	})
}

// headerLine returns one header as valid UTF-8, at most maxHeaderLine bytes, because PostgreSQL rejects invalid UTF-8.
// It contains no line break: net/http rejects such headers.
func headerLine(name, value string) string {
	line := name + ": " + value
	return strings.ToValidUTF8(line[:min(len(line), maxHeaderLine)], "?")
}
