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
