// Package fault is the closed list of ways in which a request can fail, as every room says it and as one table at the
// edge translates it to HTTP. A fault carries what a stranger may read (Code, Detail, Extra) apart from what only the
// log may read (Op, Err).
package fault

import (
	"errors"
	"fmt"
	"maps"
	"time"
)

// Kind groups codes that are answered alike. The list is closed and only ever appended to.
type Kind uint8

// The kinds, from the caller's mistakes to ours.
const (
	Internal        Kind = iota // a defect or an unknown failure: logged with its cause, shown without
	Invalid                     // the request contradicts its contract
	Unauthenticated             // no valid credential
	Forbidden                   // a valid credential without the right
	NotFound                    // no such thing, or not one that the caller may know of
	Conflict                    // the state of things does not allow it
	SoldOut                     // not enough left of something counted
	Gone                        // it was there and has ended
	TooMany                     // the caller must slow down
	Unavailable                 // a part that decides is out of reach; asking again later is right
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

// Error is a failure with a public and a private half. The zero Kind is Internal, so that a forgotten field hides more,
// never less.
type Error struct {
	Kind       Kind
	Code       string         // stable machine word, such as "sold_out"; empty means the kind's own name
	Detail     string         // one sentence safe to show to the caller
	Extra      map[string]any // additional public members of the answer, such as the lines that are sold out
	Op         string         // what was being done, for the log
	Err        error          // the cause, for the log only
	RetryAfter time.Duration  // when asking again makes sense; zero means unsaid
}

// New makes a fault of a kind with a stable code and a sentence for the caller.
func New(kind Kind, code, detail string) *Error {
	return &Error{Kind: kind, Code: code, Detail: detail}
}

// Newf is New with a formatted sentence.
func Newf(kind Kind, code, format string, args ...any) *Error {
	return New(kind, code, fmt.Sprintf(format, args...))
}

// Wrap marks an unexpected cause as an internal fault of op; a cause that already is a fault keeps its kind and code.
// A nil cause gives nil.
func Wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return fmt.Errorf("%s: %w", op, err)
	}
	return &Error{Kind: Internal, Op: op, Err: err}
}

// With returns a copy that carries one more public member.
func (e *Error) With(name string, value any) *Error {
	c := *e
	c.Extra = make(map[string]any, len(e.Extra)+1)
	maps.Copy(c.Extra, e.Extra)
	c.Extra[name] = value
	return &c
}

// Because returns a copy that carries a cause for the log.
func (e *Error) Because(err error) *Error {
	c := *e
	c.Err = err
	return &c
}

// PublicCode is the stable word shown to the caller.
func (e *Error) PublicCode() string {
	if e.Code != "" {
		return e.Code
	}
	return e.Kind.String()
}

// Error is for the log: it contains the cause.
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

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, target) compare by code, so that package-level faults serve as sentinels even after With.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Kind == e.Kind && t.PublicCode() == e.PublicCode()
}

// KindOf tells the kind of any error: Internal when it is not a fault.
func KindOf(err error) Kind {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Kind
	}
	return Internal
}
