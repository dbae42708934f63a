// Package fault defines the closed list of request failures. All packages return them, and package httpapi maps them to
// HTTP in one table. A fault separates what the client may see (Code, Detail, Extra) from what only the log may contain
// (Op, Err).
package fault

import (
	"errors"
	"fmt"
	"maps"
	"time"
)

// Kind groups codes with the same HTTP status. The list is closed; new kinds are only appended. Package httpapi has one
// status for each of them.
type Kind uint8

// The kinds.
const (
	Internal        Kind = iota // programming error or unknown failure: logged with its cause, which clients never see
	Invalid                     // the request contradicts its contract
	Unauthenticated             // no valid credential
	Forbidden                   // the credential is valid but lacks the permission
	NotFound                    // does not exist, or the caller may not know that it exists
	Conflict                    // the current state does not allow it
	SoldOut                     // not enough left of a counted resource
	Gone                        // existed and has ended
	TooMany                     // the caller must slow down
	Unavailable                 // a required dependency is unavailable; the caller may retry later
)

var kindNames = [...]string{
	"internal", "invalid", "unauthenticated", "forbidden", "not_found", "conflict", "sold_out", "expired", "too_many",
	"unavailable",
}

func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		k = Internal
	}
	return kindNames[k]
}

// Error is a failure with a public and a private part. The zero Kind is Internal, so a forgotten field hides more,
// never less. Faults of packages are shared variables: With and Because copy them, and no other code changes one.
type Error struct {
	Kind       Kind
	Code       string         // stable code for programs, such as "sold_out"; empty means the kind's name
	Detail     string         // one sentence for the user
	Extra      map[string]any // additional public members of the response, such as the lines that are sold out
	Op         string         // the failed operation, for the log
	Err        error          // the cause, for the log only
	RetryAfter time.Duration  // earliest useful retry; zero means unspecified
}

// New returns a fault of a kind with a stable code and a sentence for the user. The code never changes, because it is
// part of the API: clients compare it.
func New(kind Kind, code, detail string) *Error {
	return &Error{Kind: kind, Code: code, Detail: detail}
}

// Newf is New with a formatted sentence. Its arguments become public.
func Newf(kind Kind, code, format string, args ...any) *Error {
	return New(kind, code, fmt.Sprintf(format, args...))
}

// Wrap returns an unexpected error as an internal fault of op. If err is a fault already, its kind and code are kept.
// Wrap returns nil for nil. The text of err is for the log only; a client receives the sentence of the fault, or that
// of an internal error.
func Wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return fmt.Errorf("%s: %w", op, err)
	}
	return &Error{Kind: Internal, Op: op, Err: err}
}

// With returns a copy with one more public member. A later member of the same name replaces the earlier one. value is
// encoded as JSON, so it must not be changed afterwards.
func (e *Error) With(name string, value any) *Error {
	c := *e
	c.Extra = make(map[string]any, len(e.Extra)+1)
	maps.Copy(c.Extra, e.Extra)
	c.Extra[name] = value
	return &c
}

// Because returns a copy with a cause for the log. The cause never reaches a client. errors.Is finds both the fault and
// its cause.
func (e *Error) Because(err error) *Error {
	c := *e
	c.Err = err
	return &c
}

// PublicCode returns the stable code for the client.
func (e *Error) PublicCode() string {
	if e.Code != "" {
		return e.Code
	}
	return e.Kind.String()
}

// Error returns the text for the log, including the cause.
func (e *Error) Error() string {
	s := e.PublicCode()
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is a fault with the same code, so that package-level faults work as sentinels even after
// With.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Kind == e.Kind && t.PublicCode() == e.PublicCode()
}

// KindOf returns the kind of any error; Internal if it is not a fault. It also finds a fault that other errors wrap.
// For nil it returns Internal too, so callers check the error first.
func KindOf(err error) Kind {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Kind
	}
	return Internal
}

// InputError is an error about one field of an input. Its text is that of its cause, so wrapping changes no message.
type InputError struct {
	Field string
	Code  string // stable, like that of an Error
	Err   error
}

func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// Sentence returns a sentence about the field, for errors whose text completes one that begins with the field.
func (e *InputError) Sentence() string { return e.Field + " " + PublicText(e) + "." }

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

// Problems collects errors about the fields of an input, so that one response names all of them. The zero value has none.
type Problems []error

// Addf adds an error about a field. Its text completes a sentence that begins with the field: "must be a date".
func (p *Problems) Addf(field, code, format string, args ...any) {
	*p = append(*p, InField(field, code, fmt.Errorf(format, args...))) //nolint:err113 // read by people, compared by code
}

// Err returns an Invalid fault that names every wrong field, or nil if there is none. Its detail is about the first one.
func (p *Problems) Err() error {
	err := errors.Join(*p...)
	fields := FieldsOf(err)
	if len(fields) == 0 {
		return nil
	}
	return New(Invalid, "invalid", fields[0].Sentence()).Because(err).WithFields(err)
}
