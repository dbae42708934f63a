package httpapi

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/httpapi/jsonbody"
	"comanda/internal/text"
)

// typedQuery is a query parameter with text that people type, such as a search term. It is cleaned like texts in
// bodies, so that a search finds what was stored (J6 of package jsonbody).
type typedQuery struct {
	name  string
	index []int
}

// typedQueries returns the typed parameters of an input. Every parameter of free text needs the tag text; it panics if
// one has none.
func typedQueries(input reflect.Type) []typedQuery {
	var found []typedQuery
	for _, f := range reflect.VisibleFields(input) {
		name, _, _ := strings.Cut(f.Tag.Get("query"), ",")
		t := f.Type
		if t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if name == "" || t.Kind() != reflect.String {
			continue
		}
		switch tag, tagged := f.Tag.Lookup(jsonbody.KindTag); {
		case text.KindOf(tag) == text.Line && f.Type == t:
			found = append(found, typedQuery{name, f.Index})
		case tagged && text.KindOf(tag) != text.Exact:
			panic(fmt.Sprintf("httpapi: %s.%s: a parameter is exact, or one line, not %q", input, f.Name, tag))
		case !tagged && f.Tag.Get("pattern") == "" && f.Tag.Get("enum") == "" && f.Tag.Get("format") == "":
			panic(fmt.Sprintf("httpapi: %s.%s needs the tag %s: exact or line", input, f.Name, jsonbody.KindTag))
		}
	}
	return found
}

// cleanQuery cleans the parameters of an input, or returns a problem with those that cannot be cleaned.
func cleanQuery(params []typedQuery, input reflect.Value) error {
	var mistakes []FieldError
	for _, q := range params {
		v := input.FieldByIndex(q.index)
		clean, err := text.Line.Clean(v.String())
		if err != nil {
			// All parameters are checked, so that one response names every mistake.
			mistakes = append(mistakes, FieldError{Field: "query." + q.name, Message: err.Error()})
		}
		v.SetString(clean)
	}
	if mistakes == nil {
		return nil
	}
	p := newInvalid()
	p.Errors = mistakes
	return p
}

// newInvalid returns the problem of a request that does not fit its schema; the caller adds the fields.
func newInvalid() *Problem {
	return newProblem(http.StatusUnprocessableEntity, "invalid", "The request does not fit its contract.")
}

// showTyped marks the typed parameters in the OpenAPI document.
func (a *API) showTyped(op *huma.Operation, params []typedQuery) {
	item := a.huma.OpenAPI().Paths[op.Path]
	if item == nil || op.Hidden {
		return
	}
	for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
		if o == nil || o.Method != op.Method {
			continue
		}
		for _, p := range o.Parameters {
			for _, q := range params {
				if p.In == "query" && p.Name == q.name {
					p.Schema.Extensions = withMember(p.Schema.Extensions, jsonbody.KindExtension, text.Line.String())
				}
			}
		}
	}
}
