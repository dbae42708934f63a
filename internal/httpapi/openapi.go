package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
)

// document is the contract as it is served, made once when it is first asked for.
type document struct {
	once       sync.Once
	json, page []byte
	err        error
}

// JSON renders the OpenAPI 3.1 document of all operations.
func (a *API) JSON() ([]byte, error) { return json.Marshal(a.huma.OpenAPI()) }

// YAML renders the same document as it is kept in docs/openapi.yaml. The same routes give the same bytes.
func (a *API) YAML() ([]byte, error) { return a.huma.OpenAPI().YAML() }

// Listing is one route for those who look at all of them, such as a test of policies.
type Listing struct {
	Method, Path string
	Policy       Policy
	Documented   bool // part of the OpenAPI document

	Module, Name string // of the permission that it is, see Policy
	Index        int    // its place in the list of all
}

// Routes lists every route in the order of its registration.
func (a *API) Routes() []Listing { return slices.Clone(a.routes) }

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
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(pick(d))
}
