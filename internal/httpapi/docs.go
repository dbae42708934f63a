package httpapi

import (
	"bytes"
	"cmp"
	_ "embed" // the page's template and style
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// The page at /docs is static HTML rendered from the OpenAPI document. It needs neither scripts nor other hosts, so its
// content security policy allows only its own style.

//go:embed docs.html
var docsTemplate string

//go:embed docs.css
var docsStyle string

var docsCSP = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; style-src " + SourceHash(docsStyle)

// docsSection contains the operations of one tag; docsSchema is one type of the contract.
type (
	docsSection struct {
		Name       string
		Operations []docsOperation
	}
	docsOperation struct {
		ID, Method, Path, Policy, Summary, Description string
		Fields                                         []docsField // parameters
		Body                                           string      // the name of the body's schema
		Answers                                        []docsAnswer
	}
	docsAnswer struct{ Status, Text, Schema string }
	docsSchema struct {
		Name   string
		Fields []docsField
	}
	docsField struct {
		Name, Type, Rules, Doc string
		Required               bool
	}
)

// renderDocs renders the page once per process, see document. Its output depends only on the OpenAPI document.
func (a *API) renderDocs() ([]byte, error) {
	t, err := template.New("docs").Parse(docsTemplate)
	if err != nil {
		return nil, err
	}
	doc := a.huma.OpenAPI()
	var out bytes.Buffer
	err = t.Execute(&out, map[string]any{
		"Title": doc.Info.Title, "Version": doc.Info.Version, "Style": template.CSS(docsStyle), //nolint:gosec // embedded
		"Sections": docsSections(doc), "Schemas": docsSchemas(doc),
	})
	return out.Bytes(), err
}

// docsSections groups the operations by their first tag. It sorts tags and paths, because maps have no order and the
// page should not change between starts.
func docsSections(doc *huma.OpenAPI) []docsSection {
	byTag := map[string]*docsSection{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		item := doc.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			tag := "other"
			if len(op.Tags) > 0 {
				tag = op.Tags[0]
			}
			if byTag[tag] == nil {
				byTag[tag] = &docsSection{Name: tag}
			}
			byTag[tag].Operations = append(byTag[tag].Operations, docsOperationOf(op))
		}
	}
	var sections []docsSection
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		sections = append(sections, *byTag[tag])
	}
	return sections
}

func docsOperationOf(op *huma.Operation) docsOperation {
	d := docsOperation{
		ID: op.OperationID, Method: op.Method, Path: op.Path, Policy: fmt.Sprint(op.Extensions[policyExtension]),
		Summary: op.Summary, Description: op.Description,
	}
	for _, p := range op.Parameters {
		d.Fields = append(d.Fields, docsField{
			Name: p.In + " " + p.Name, Type: docsType(p.Schema), Rules: docsRules(p.Schema), Doc: p.Description,
			Required: p.Required,
		})
	}
	if op.RequestBody != nil {
		d.Body = docsContent(op.RequestBody.Content)
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		r := op.Responses[status]
		d.Answers = append(d.Answers, docsAnswer{status, r.Description, docsContent(r.Content)})
	}
	return d
}

// docsContent returns the type of the first documented content, or "" for a response without a body.
func docsContent(content map[string]*huma.MediaType) string {
	for _, media := range slices.Sorted(maps.Keys(content)) {
		if s := content[media].Schema; s != nil {
			return docsType(s)
		}
	}
	return ""
}

func docsSchemas(doc *huma.OpenAPI) []docsSchema {
	var all []docsSchema
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s, d := schemas[name], docsSchema{Name: name}
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[field]
			d.Fields = append(d.Fields, docsField{
				Name: field, Type: docsType(p), Rules: docsRules(p), Doc: p.Description,
				Required: slices.Contains(s.Required, field),
			})
		}
		all = append(all, d)
	}
	return all
}

// docsType returns the name of a schema's type: the last part of a reference, the element type of an array.
func docsType(s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case s.Items != nil:
		return docsType(s.Items) + "[]"
	}
	t := cmp.Or(s.Type, "any")
	if s.Nullable {
		t += " or null"
	}
	return t
}

// docsRules returns the constraints of a value as a short list.
func docsRules(s *huma.Schema) string {
	var rules []string
	add := func(format string, v any) { rules = append(rules, fmt.Sprintf(format, v)) }
	if s.Format != "" {
		add("%s", s.Format)
	}
	if len(s.Enum) > 0 {
		add("one of %v", s.Enum)
	}
	if s.Pattern != "" {
		add("matches %s", s.Pattern)
	}
	for format, limit := range map[string]*float64{"≥ %v": s.Minimum, "≤ %v": s.Maximum} {
		if limit != nil {
			add(format, *limit)
		}
	}
	for format, limit := range map[string]*int{
		"length ≥ %d": s.MinLength, "length ≤ %d": s.MaxLength, "at least %d": s.MinItems, "at most %d": s.MaxItems,
	} {
		if limit != nil {
			add(format, *limit)
		}
	}
	slices.Sort(rules)
	return strings.Join(rules, ", ")
}

func (a *API) serveDocs(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", docsCSP)
	a.serve(w, r, "text/html; charset=utf-8", func(d *document) []byte { return d.page })
}

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

	Module, Name string // module and name of the route's permission, see Policy
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
