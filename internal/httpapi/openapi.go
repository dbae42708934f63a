package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
)

// document is the OpenAPI document as it is served, rendered on first use.
type document struct {
	once       sync.Once
	json, page []byte
	err        error
}

// JSON returns the OpenAPI 3.1 document of all operations.
func (a *API) JSON() ([]byte, error) { return json.Marshal(a.huma.OpenAPI()) }

// YAML returns the same document as YAML, as in docs/openapi.yaml. Equal routes produce equal bytes.
func (a *API) YAML() ([]byte, error) { return a.huma.OpenAPI().YAML() }

// RouteInfo describes one route for code that inspects all routes, such as a test of policies.
type RouteInfo struct {
	Method, Path string
	Policy       Policy
	Documented   bool // part of the OpenAPI document

	Module, Name string // of the route's permission, see Policy
	Index        int    // position in the list of all routes
}

// Routes returns every route in the order of registration.
func (a *API) Routes() []RouteInfo { return slices.Clone(a.routes) }

// rendered returns the document. It is rendered once, because routes cannot change after the start.
func (a *API) rendered() *document {
	d := &a.docs
	d.once.Do(func() {
		if d.json, d.err = a.JSON(); d.err == nil {
			d.page, d.err = a.renderDocs()
		}
	})
	return d
}

func (a *API) serveJSON(w http.ResponseWriter, r *http.Request) {
	a.serve(w, r, "application/json", func(d *document) []byte { return d.json })
}

func (a *API) serve(w http.ResponseWriter, r *http.Request, contentType string, pick func(*document) []byte) {
	d := a.rendered()
	if d.err != nil {
		Fail(w, r, d.err)
		return
	}
	w.Header().Set("Content-Type", contentType)
	// The document changes with the release, so a browser must ask again after an update.
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(pick(d))
}
