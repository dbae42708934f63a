package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/httpapi/jsonbody"
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

// invalid returns a problem with the errors in parameters and body. Huma reports our decoder's errors as one text, so
// the body is checked again; only refused requests pay for that.
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
