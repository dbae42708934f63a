package jsonbody

import (
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// maxName is how much of a name that the client chose is repeated to it.
const maxName = 64

// state is one reading of one body. Its scanning methods return false when the text is broken: everything then unwinds
// at once, while a mistake against the schema is only noted (fail) and reading goes on.
type state struct {
	data  []byte
	pos   int
	depth int
	path  []step // where we are, for the messages

	broken string // why the text is no JSON
	fields []Field

	// The validator's tools; here so that they are allocated once for each pooled state.
	reg huma.Registry
	pb  huma.PathBuffer
	res huma.ValidateResult
}

// step is a property, or an element of an array when its index is not negative.
type step struct {
	name  string
	index int
}

// property shortens a name that the client may have chosen: it is repeated to the client.
func property(name string) step {
	if len(name) > maxName {
		name = name[:maxName] + "..."
	}
	return step{name: name, index: -1}
}

func (s *state) reset(data []byte, reg huma.Registry) {
	*s = state{data: data, reg: reg, path: s.path[:0], pb: s.pb, res: s.res}
}

// forget drops what belongs to the request before the state goes back to its pool.
func (s *state) forget() { s.data, s.fields = nil, nil }

// syntax ends the reading.
func (s *state) syntax(why string) bool {
	if s.broken == "" {
		s.broken = why + " at byte " + strconv.Itoa(s.pos)
	}
	return false
}

// fail notes a mistake at the current place.
func (s *state) fail(message string) {
	if len(s.fields) < MaxErrors {
		s.fields = append(s.fields, Field{Path: s.where(), Message: message})
	}
}

func (s *state) failAt(name, message string) {
	s.path = append(s.path, property(name))
	s.fail(message)
	s.path = s.path[:len(s.path)-1]
}

func (s *state) where() string {
	b := []byte("body")
	for _, p := range s.path {
		switch {
		case p.index >= 0:
			b = append(strconv.AppendInt(append(b, '['), int64(p.index), 10), ']')
		case strings.HasPrefix(p.name, "["): // the validator's own way into an array
			b = append(b, p.name...)
		default:
			b = append(append(b, '.'), p.name...)
		}
	}
	return string(b)
}

// validate asks huma about one value and notes its objections.
func (s *state) validate(schema *huma.Schema, v any) bool {
	s.pb.Reset()
	s.res.Reset()
	huma.Validate(s.reg, schema, &s.pb, huma.ModeWriteToServer, v, &s.res)
	for _, err := range s.res.Errors {
		message := err.Error()
		if d, ok := err.(*huma.ErrorDetail); ok { //nolint:errorlint // the validator adds nothing else, and unwrapped
			message = d.Message
			if d.Location != "" { // inside a value that was handed over whole
				s.failAt(d.Location, message)
				continue
			}
		}
		s.fail(message)
	}
	return len(s.res.Errors) == 0
}

// enter and leave count the nesting of objects and arrays.
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
