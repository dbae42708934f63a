package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/httpapi/jsonbody"
)

// huma keeps these settings in variables of its package. They are the same for every server of the process, and every
// answer of huma goes through them (H2).
func init() { //nolint:gochecknoinits // huma has no other place for them
	huma.DefaultArrayNullable = false // an array is [] or absent, never null
	huma.ValidateStrictCasing = true  // jsonbody matches names exactly, so the validator must as well
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return fromHuma(nil, status, message, errs)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		p := fromHuma(ctx, status, message, errs)
		if x := exchangeOf(ctx.Context()); x != nil {
			_ = x.note(p) // it gives back what it notes
		}
		return p
	}
}

// fromHuma makes the problem for what huma refuses before a handler runs, or could not do after it.
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
	case status == http.StatusRequestTimeout:
		return newProblem(status, "timeout", "The body did not arrive in time.")
	case message == unreadable: // the client broke off, or what it sent is no chunked encoding
		p := newProblem(http.StatusBadRequest, "unreadable_body", "The body could not be read.")
		p.cause = cause
		return p
	}
	p := newProblem(status, code(status), "")
	p.cause = errors.Join(append([]error{errors.New("huma: " + message)}, errs...)...)
	return p
}

// unreadable is huma's message for a body whose reading failed.
const unreadable = "cannot read request body"

// invalid lists what is wrong with parameters and body. Huma tells of our decoder's findings by one text, so they are
// found once more; a request pays for that only when it is refused anyway.
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
			fields = []FieldError{{d.Location, d.Message}}
		}
		p.Errors = append(p.Errors, fields...)
	}
	return p
}

// bodyMistakes asks the operation's decoder about a body that it has refused; nothing when d is about something else.
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
		fields = append(fields, FieldError{f.Path, f.Message})
	}
	return e.Syntax, fields
}

// code names a status that has no code of its own, such as 406 as not_acceptable.
func code(status int) string {
	if status == http.StatusInternalServerError {
		return "internal"
	}
	return strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_")
}

// sentence makes a program's message readable.
func sentence(s string) string {
	if s == "" || slices.Contains([]byte(".!?"), s[len(s)-1]) {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
