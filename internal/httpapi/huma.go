package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/httpapi/jsonbody"
	"comanda/internal/text"
)

// huma keeps these settings in package variables. They are the same for every server of the process, and all of huma's
// responses use them (H2).
func init() { //nolint:gochecknoinits // huma has only package variables for them
	huma.DefaultArrayNullable = false // an array is [] or absent, never null
	huma.ValidateStrictCasing = true  // like jsonbody, match names exactly
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return fromHuma(nil, status, message, errs)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		p := fromHuma(ctx, status, message, errs)
		if x := exchangeOf(ctx.Context()); x != nil {
			_ = x.note(p) // note returns its argument
		}
		return p
	}
}

// fromHuma returns the problem for an error of huma before or after a handler.
func fromHuma(ctx huma.Context, status int, message string, errs []error) *Problem {
	var tooLarge *http.MaxBytesError
	cause := errors.Join(errs...)
	switch {
	case status == http.StatusUnprocessableEntity:
		return invalid(ctx, errs)
	case errors.As(cause, &tooLarge):
		return newTooLarge()
	case status == http.StatusBadRequest:
		return newProblem(status, "invalid_json", sentence(message))
	// The server's ReadTimeout has passed while the body was read.
	case status == http.StatusRequestTimeout:
		return newProblem(status, "timeout", "The body did not arrive in time.")
	case message == unreadable: // the client disconnected, or sent invalid chunked encoding
		p := newProblem(http.StatusBadRequest, "unreadable_body", "The body could not be read.")
		p.cause = cause
		return p
	}
	// An error of huma that no case above expects. Its text is logged and not sent (H3).
	p := newProblem(status, code(status), "")
	p.cause = errors.Join(append([]error{errors.New("huma: " + message)}, errs...)...)
	return p
}

// unreadable is huma's message for a body that could not be read.
const unreadable = "cannot read request body"

// invalid returns a problem with the errors in parameters and body. Huma reports the errors of package jsonbody as one
// text, so the body is checked again; only refused requests cost this.
func invalid(ctx huma.Context, errs []error) *Problem {
	p := newInvalid()
	for _, err := range errs {
		var d *huma.ErrorDetail
		if !errors.As(err, &d) {
			p.Errors = append(p.Errors, FieldError{Message: err.Error()})
			continue
		}
		broken, fields := bodyMistakes(ctx, d)
		if broken != "" {
			return newProblem(http.StatusBadRequest, "invalid_json", sentence(broken))
		}
		if fields == nil {
			fields = []FieldError{{Field: d.Location, Message: d.Message}}
		}
		p.Errors = append(p.Errors, fields...)
	}
	return p
}

// bodyMistakes returns the errors that the operation's decoder finds in a refused body; nothing if d is not about the
// body.
func bodyMistakes(ctx huma.Context, d *huma.ErrorDetail) (broken string, fields []FieldError) {
	body, isText := d.Value.(string)
	if ctx == nil || d.Location != "body" || !isText {
		return "", nil
	}
	o := operationOf(ctx.Operation())
	var e *jsonbody.Error
	if o == nil || o.decoder == nil || !errors.As(o.decoder.Check([]byte(body)), &e) {
		return "", nil
	}
	for _, f := range e.Fields {
		fields = append(fields, FieldError{Field: f.Path, Message: f.Message})
	}
	return e.Syntax, fields
}

// code returns the problem code of a status that has none, such as not_acceptable for 406.
func code(status int) string {
	if status == http.StatusInternalServerError {
		return "internal"
	}
	return strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_")
}

// sentence turns an error message into a sentence.
func sentence(s string) string {
	if s == "" || slices.Contains([]byte(".!?"), s[len(s)-1]) {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

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
	return newProblem(http.StatusUnprocessableEntity, "invalid", "The request is not valid.")
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
