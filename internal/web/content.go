package web

import (
	"bytes"
	"compress/gzip"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"comanda/internal/httpapi"
)

// How long browsers keep what they are given.
const (
	forGood  = "public, max-age=31536000, immutable" // the name changes with the content
	askAgain = "no-cache"                            // kept, but asked about each time
)

// content is one file as it is served.
type content struct {
	mediaType string
	cache     string
	csp       string // empty keeps the server's, which allows nothing
	plain     []byte
	coded     map[string][]byte // by content coding; only what is smaller
	gzipped   func() []byte     // like coded, once somebody asks; nil where the file comes compressed or not at all
	etag      string
}

// newContent makes a file ready. The media type follows the ending of the name.
func newContent(name, cache string, plain []byte) *content {
	mediaType := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) { // not left to what the machine has installed
	case ".js":
		mediaType = "text/javascript; charset=utf-8"
	case ".svg":
		mediaType = "image/svg+xml"
	case ".webmanifest":
		mediaType = "application/manifest+json"
	}
	return &content{
		mediaType: mediaType, cache: cache, plain: plain, coded: map[string][]byte{}, etag: httpapi.ETag(plain),
	}
}

// zip has the content compressed at the first request that takes it so. It is for what is only known when the server
// starts, whose start does not wait for it.
func (c *content) zip() {
	c.gzipped = sync.OnceValue(func() []byte {
		var out bytes.Buffer
		w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
		_, _ = w.Write(c.plain)                                 // a buffer takes everything
		_ = w.Close()
		if out.Len() >= len(c.plain) {
			return nil
		}
		return out.Bytes()
	})
}

// in returns the content in a coding, or nil where that is no gain.
func (c *content) in(coding string) []byte {
	if coding == "gzip" && c.gzipped != nil {
		return c.gzipped()
	}
	return c.coded[coding]
}

// ServeHTTP answers with the content in the best coding that the browser takes, or with 304.
func (c *content) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", c.cache)
	h.Set("ETag", c.etag)
	h.Set("Vary", "Accept-Encoding")
	if c.csp != "" {
		h.Set("Content-Security-Policy", c.csp)
	}
	if httpapi.Fresh(r.Header.Get("If-None-Match"), c.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := c.plain
	for _, coding := range []string{"br", "gzip"} {
		if !accepts(r.Header.Get("Accept-Encoding"), coding) {
			continue
		}
		if b := c.in(coding); b != nil {
			h.Set("Content-Encoding", coding)
			body = b
			break
		}
	}
	h.Set("Content-Type", c.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a browser that has gone needs no answer
}

// accepts reads an Accept-Encoding header (RFC 9110, section 12.5.3): the coding itself, not refused by a weight of zero.
func accepts(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, weight, weighted := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			return !weighted || strings.Trim(strings.TrimPrefix(strings.TrimSpace(weight), "q="), "0.") != ""
		}
	}
	return false
}
