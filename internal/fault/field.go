package fault

import "errors"

// InputError is an error about one field of an input. Its text is that of its cause, so wrapping changes no message.
type InputError struct {
	Field string
	Code  string // stable, like that of an Error
	Err   error
}

func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// InField returns err as an error about a field, and nil for nil.
func InField(field, code string, err error) error {
	if err == nil {
		return nil
	}
	return &InputError{field, code, err}
}

// FieldsOf returns the errors about fields in an error, also joined ones, in their order.
func FieldsOf(err error) []*InputError {
	if f, ok := err.(*InputError); ok { //nolint:errorlint // the tree is walked here
		return []*InputError{f}
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*InputError
		for _, e := range joined.Unwrap() {
			all = append(all, FieldsOf(e)...)
		}
		return all
	}
	if inner := errors.Unwrap(err); inner != nil {
		return FieldsOf(inner)
	}
	return nil
}

// fieldMember is an entry of the public member errors.
type fieldMember struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// WithFields returns a copy with the public member errors, which has an entry for each error about a field in err.
// Without any it returns e. The texts of those errors become public.
func (e *Error) WithFields(err error) *Error {
	var members []fieldMember
	for _, f := range FieldsOf(err) {
		members = append(members, fieldMember{f.Field, f.Code, PublicText(f)})
	}
	if len(members) == 0 {
		return e
	}
	return e.With("errors", members)
}

// PublicText returns the detail of a fault, or the text of any other error.
func PublicText(err error) string {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Detail
	}
	return err.Error()
}
