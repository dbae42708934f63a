package httpapi

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// checkURL refuses what no route wants: long URLs, and text that is no UTF-8 or contains NUL, which a database would
// refuse later and as a failure of ours.
func checkURL(r *http.Request, limit int) *Problem {
	if len(r.RequestURI) > limit {
		return newProblem(http.StatusRequestURITooLong, "uri_too_long", "The URL is too long.")
	}
	query := r.URL.RawQuery
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

func storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// plain reports whether a body is what its Content-Encoding leaves of it: nothing here unpacks one (RFC 9110, section 8.4).
func plain(encodings []string) bool {
	for _, e := range encodings {
		if e != "" && !strings.EqualFold(e, "identity") {
			return false
		}
	}
	return true
}

// isJSON tells whether a Content-Type names JSON. UTF-8 is its only charset (RFC 8259, section 8.1).
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && media == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}
