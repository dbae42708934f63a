package httpapi

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

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
	for _, e := range encodings {
		if e != "" && !strings.EqualFold(e, "identity") {
			return false
		}
	}
	return true
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
