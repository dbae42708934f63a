package jsonbody

import (
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// maxName is the maximum length of a client's property name in an error message. The response repeats the name; without
// a limit it could be as long as the body.
const maxName = 64

// state is the decoding of one body. Its scanning methods return false on a syntax error, which ends decoding. A schema
// violation is only recorded (fail), and decoding continues.
type state struct {
	data  []byte
	pos   int
	depth int
	path  []step // current position, for messages

	broken string // the syntax error
	fields []Field

	// State of the validator, here so that it is pooled with the state.
	reg huma.Registry
	pb  huma.PathBuffer
	res huma.ValidateResult
}

// step is a property, or an array element if index is not negative.
type step struct {
	name  string
	index int
}

// property truncates a name that the client may have chosen, since it appears in the response.
func property(name string) step {
	if len(name) > maxName {
		name = name[:maxName] + "..."
	}
	return step{name: name, index: -1}
}

// reset prepares a pooled state for a body. It keeps the capacity of the buffers and nothing else.
func (s *state) reset(data []byte, reg huma.Registry) {
	*s = state{data: data, reg: reg, path: s.path[:0], pb: s.pb, res: s.res}
}

// forget drops references to the request before the state returns to its pool.
func (s *state) forget() { s.data, s.fields = nil, nil }

// syntax records a syntax error.
func (s *state) syntax(why string) bool {
	if s.broken == "" {
		s.broken = why + " at byte " + strconv.Itoa(s.pos)
	}
	return false
}

// fail records a schema violation at the current position.
func (s *state) fail(message string) {
	if len(s.fields) < MaxErrors {
		s.fields = append(s.fields, Field{Path: s.where(), Message: message})
	}
}

// failAt records a schema violation at a property of the current object. The name may be the client's.
func (s *state) failAt(name, message string) {
	s.path = append(s.path, property(name))
	s.fail(message)
	s.path = s.path[:len(s.path)-1]
}

// where renders the path only when there is an error, so that valid bodies do not pay for messages.
func (s *state) where() string {
	b := []byte("body")
	for _, p := range s.path {
		switch {
		case p.index >= 0:
			b = append(strconv.AppendInt(append(b, '['), int64(p.index), 10), ']')
		case strings.HasPrefix(p.name, "["): // the validator's notation of an array element
			b = append(b, p.name...)
		default:
			b = append(append(b, '.'), p.name...)
		}
	}
	return string(b)
}

// validate validates one value with huma and records its errors.
func (s *state) validate(schema *huma.Schema, v any) bool {
	s.pb.Reset()
	s.res.Reset()
	huma.Validate(s.reg, schema, &s.pb, huma.ModeWriteToServer, v, &s.res)
	for _, err := range s.res.Errors {
		message := err.Error()
		if d, ok := err.(*huma.ErrorDetail); ok { //nolint:errorlint // the validator adds only this type, unwrapped
			message = d.Message
			if d.Location != "" { // inside the value of a wholeNode
				s.failAt(d.Location, message)
				continue
			}
		}
		s.fail(message)
	}
	return len(s.res.Errors) == 0
}

// enter and leave track the nesting of objects and arrays.
func (s *state) enter() bool {
	if s.depth++; s.depth > MaxDepth {
		return s.syntax("JSON nests deeper than " + strconv.Itoa(MaxDepth))
	}
	s.pos++ // the bracket
	return true
}

func (s *state) leave() bool {
	s.depth--
	s.pos++
	return true
}
