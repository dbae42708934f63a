package orderinghttp

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"comanda/internal/httpapi"
)

// Bounds of what is kept of a request's headers.
const (
	maxHeaderLine  = 256 // bytes of each, with its name
	maxHeaderLines = 16
)

// headersOf writes down who has brought a message, one header to a line: the address as we know it, what the client says
// of itself and of its way to us, and what LINE Pay adds. What somebody could act with, such as cookies and signatures, is
// never among it.
func headersOf(r *http.Request) string {
	lines := []string{headerLine("Remote-Address", httpapi.ClientAddress(r.Context()))}
	for _, name := range append([]string{"User-Agent", "Content-Type", "X-Forwarded-For"}, ofLINEPay(r.Header)...) {
		if values := r.Header.Values(name); len(values) > 0 && len(lines) < maxHeaderLines {
			lines = append(lines, headerLine(name, strings.Join(values, ", ")))
		}
	}
	return strings.Join(lines, "\n")
}

// ofLINEPay names the headers that LINE Pay has invented, but for its signature.
func ofLINEPay(h http.Header) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(h)), func(name string) bool {
		return !strings.HasPrefix(name, "X-Line-") || name == "X-Line-Authorization"
	})
}

// headerLine is text that a database takes, whatever bytes a stranger has sent. A server admits no line ends in it.
func headerLine(name, value string) string {
	line := name + ": " + value
	return strings.ToValidUTF8(line[:min(len(line), maxHeaderLine)], "?")
}
