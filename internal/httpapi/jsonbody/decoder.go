package jsonbody

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

const (
	// MaxDepth is the maximum nesting of objects and arrays. It bounds the recursion of decode and skip, and with it the
	// stack.
	MaxDepth = 16

	// MaxErrors is the maximum number of reported errors per body.
	MaxErrors = 20
)

// Error is the reason why a body was refused.
type Error struct {
	Syntax string  // the syntax error; empty if the syntax is valid
	Fields []Field // schema violations, in the order of the text
}

// Field is one schema violation.
type Field struct {
	Path    string // such as "body.items[0].qty"
	Message string
}

func (e *Error) Error() string {
	if e.Syntax != "" {
		return e.Syntax
	}
	parts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		parts[i] = f.Path + ": " + f.Message
	}
	return strings.Join(parts, "; ")
}

// Decoder decodes bodies of one type. It is safe for concurrent use.
type Decoder struct {
	t    reflect.Type
	root node
	reg  huma.Registry
}

// New compiles a decoder for a struct type and its schema. It panics if the type cannot be a body, which is a
// programming error that shows at the start.
func New(t reflect.Type, s *huma.Schema, reg huma.Registry) *Decoder {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("jsonbody: a body is a struct, not %s", t))
	}
	c := compiler{reg: reg, done: map[reflect.Type]node{}}
	return &Decoder{t: t, root: c.compile(t, s, 0), reg: reg}
}

// states saves the allocation of the path and of the validator's buffers for every body.
var states = sync.Pool{New: func() any { return &state{} }}

// Decode decodes data into the value that v points to, which must be zero and of the decoder's type. Its error is an
// *Error; v is then partly filled and must not be used.
func (d *Decoder) Decode(data []byte, v any) error {
	s := states.Get().(*state)
	defer states.Put(s)
	s.reset(data, d.reg)

	ok := s.value(d.root, false, reflect.ValueOf(v).Elem())
	if ok && s.space() < len(s.data) {
		s.syntax("something follows the end of the JSON value")
	}
	// Deferred after Put, so it runs before it. The returned error keeps its own reference to the fields.
	defer s.forget()
	if s.broken != "" {
		return &Error{Syntax: s.broken}
	}
	if len(s.fields) > 0 {
		return &Error{Fields: s.fields}
	}
	return nil
}

// Check returns the error of Decode.
func (d *Decoder) Check(data []byte) error { return d.Decode(data, reflect.New(d.t).Interface()) }
