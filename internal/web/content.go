package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"comanda/internal/httpapi"
)

// Values of Cache-Control.
const (
	forGood  = "public, max-age=31536000, immutable" // for names that change with the content
	askAgain = "no-cache"                            // cached, but revalidated each time
)

// content is one file with its headers and encodings. It is not changed once it is served, so requests need no lock.
type content struct {
	mediaType string
	cache     string
	csp       string // empty keeps the server's default, which allows nothing
	vary      string // empty: Accept-Encoding
	scope     string // scope of a service worker, if it is not the folder of its file
	plain     body
	coded     map[string]body // by content coding; only those smaller than plain
	gzipped   func() []byte   // compresses on first use; nil if the file is already compressed or never is
	etag      string
}

// body is a text, or a file of the build, which each request reads anew: kept in memory, the files would exist twice, in
// the binary and in seven megabytes of the heap.
type body struct {
	text  []byte
	files fs.FS // nil for a text
	name  string
	size  int
}

func textBody(text []byte) body { return body{text: text, size: len(text)} }

// writeTo writes the body. Its errors are ignored: the client may have disconnected, and a file of the binary cannot fail.
func (b body) writeTo(w io.Writer) {
	if b.files == nil {
		_, _ = w.Write(b.text)
		return
	}
	f, err := b.files.Open(b.name)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	_, _ = io.Copy(w, f)
}

// newContent returns a file ready to serve. The media type follows from the extension. The entity tag is that of the
// uncompressed content, so it is the same for all codings.
func newContent(name, cache string, plain []byte) *content {
	mediaType := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) { // independent of the machine's MIME tables
	case ".js":
		mediaType = "text/javascript; charset=utf-8"
	case ".svg":
		mediaType = "image/svg+xml"
	case ".webmanifest":
		mediaType = "application/manifest+json"
	}
	return &content{
		mediaType: mediaType, cache: cache, plain: textBody(plain), coded: map[string]body{}, etag: httpapi.ETag(plain),
	}
}

// zip sets up gzip compression on the first request that accepts it, for content that is only known when the server
// starts, so that the start does not wait for it. It uses gzip only: the build compresses with Brotli, and no library
// for that is part of the binary.
func (c *content) zip() {
	c.gzipped = sync.OnceValue(func() []byte {
		var out bytes.Buffer
		w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
		_, _ = w.Write(c.plain.text)                            // a bytes.Buffer never fails
		_ = w.Close()
		if out.Len() >= c.plain.size {
			return nil
		}
		return out.Bytes()
	})
}

// encoded returns the content in a coding; ok is false if the coding makes it no smaller.
func (c *content) encoded(coding string) (b body, ok bool) {
	if coding == "gzip" && c.gzipped != nil {
		text := c.gzipped()
		return textBody(text), text != nil
	}
	b, ok = c.coded[coding]
	return b, ok
}

// ServeHTTP serves the content in the best coding that the browser accepts, or responds with 304.
func (c *content) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", c.cache)
	h.Set("ETag", c.etag)
	// The header is also set with 304, so that a shared cache stores the codings separately.
	h.Set("Vary", cmp.Or(c.vary, "Accept-Encoding"))
	if c.csp != "" {
		h.Set("Content-Security-Policy", c.csp)
	}
	if c.scope != "" {
		h.Set("Service-Worker-Allowed", c.scope)
	}
	if httpapi.Fresh(r.Header.Get("If-None-Match"), c.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	sent := c.plain
	// Brotli first, because it is the smaller of the two. The browser's weights are not compared.
	for _, coding := range []string{"br", "gzip"} {
		if !accepts(r.Header.Get("Accept-Encoding"), coding) {
			continue
		}
		if b, ok := c.encoded(coding); ok {
			h.Set("Content-Encoding", coding)
			sent = b
			break
		}
	}
	h.Set("Content-Type", c.mediaType)
	h.Set("Content-Length", strconv.Itoa(sent.size))
	sent.writeTo(w)
}

// Rendered is a text that is rendered for each request, with the caching and compression of the apps' files.
type Rendered struct {
	MediaType string
	Policy    string // the content security policy; empty keeps the server's default, which allows nothing
	Vary      string // empty: Accept-Encoding
	Body      []byte
}

// ServeHTTP serves the document, or responds with 304.
func (d Rendered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &content{
		mediaType: d.MediaType, cache: askAgain, csp: d.Policy, vary: d.Vary, plain: textBody(d.Body), etag: httpapi.ETag(d.Body),
	}
	c.zip()
	c.ServeHTTP(w, r)
}

// accepts reports whether an Accept-Encoding header (RFC 9110, section 12.5.3) names the coding without a weight of
// zero. It does not read "*": browsers name what they accept.
func accepts(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, weight, weighted := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			return !weighted || strings.Trim(strings.TrimPrefix(strings.TrimSpace(weight), "q="), "0.") != ""
		}
	}
	return false
}

// Photos returns the file of an uploaded photo by id and width; found is false if there is none. It must be safe for
// concurrent use. An error becomes a problem response.
type Photos func(ctx context.Context, id string, width int) (file []byte, found bool, err error)

// Pictures serves dish pictures under /media: drawings by file name without extension, and photos by content hash and
// width, which browsers may cache forever.
func Pictures(api *httpapi.API, drawn fs.FS, photos Photos) error {
	all := map[string]*content{}
	names, err := fs.Glob(drawn, "*.svg")
	if err != nil {
		return fmt.Errorf("web: find pictures: %w", err)
	}
	for _, name := range names {
		plain, err := fs.ReadFile(drawn, name)
		if err != nil {
			return fmt.Errorf("web: read a picture: %w", err)
		}
		// The name of a drawing stays the same when a release changes it, so it is cached for a day and not forever.
		c := newContent(name, "public, max-age=86400", plain)
		c.zip()
		all[strings.TrimSuffix(name, ".svg")] = c
	}
	api.Handle(httpapi.Route{
		Pattern: "GET /media/{id}", Policy: httpapi.Public,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name := r.PathValue("id")
			if c, ok := all[name]; ok {
				c.ServeHTTP(w, r)
				return
			}
			photos.serve(w, r, name)
		}),
	})
	return nil
}

// photoName is the name that packages catalog and brand build: an id and one of the widths, each of which has one format.
// Nothing else reaches the store.
var photoName = regexp.MustCompile(`^([0-9a-f]{32})-(?:(320|800|960|1600)\.jpg|(160|192|512)\.png)$`)

var mediaTypes = map[string]string{".jpg": "image/jpeg", ".png": "image/png"}

// serve serves a photo. It needs no revalidation, because a name never changes its content.
func (p Photos) serve(w http.ResponseWriter, r *http.Request, name string) {
	m := photoName.FindStringSubmatch(name)
	if m == nil {
		missing(w, r)
		return
	}
	h, etag := w.Header(), `"`+strings.TrimSuffix(name, path.Ext(name))+`"`
	// The tag is compared before the store is queried, because equal names mean equal content.
	if httpapi.Fresh(r.Header.Get("If-None-Match"), etag) {
		h.Set("ETag", etag)
		h.Set("Cache-Control", forGood)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	width, _ := strconv.Atoi(m[2] + m[3]) // the pattern admits only digits, and one of both
	file, found, err := p(r.Context(), m[1], width)
	switch {
	case err != nil:
		httpapi.Fail(w, r, err)
		return
	case !found:
		missing(w, r)
		return
	}
	h.Set("ETag", etag)
	h.Set("Cache-Control", forGood)
	h.Set("Content-Type", mediaTypes[path.Ext(name)])
	h.Set("Content-Length", strconv.Itoa(len(file)))
	_, _ = w.Write(file) // the client may have disconnected
}
