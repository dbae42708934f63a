package web

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"

	"comanda/internal/httpapi"
)

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
