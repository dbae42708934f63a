package jsonbody

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// space skips white space and returns the position.
func (s *state) space() int {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return s.pos
		}
	}
	return s.pos
}

// peek returns the next byte that is not white space, or 0 at the end.
func (s *state) peek() byte {
	if s.space() < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// expect consumes one required byte.
func (s *state) expect(c byte) bool {
	if s.peek() != c {
		return s.unexpected("'" + string(c) + "' is missing")
	}
	s.pos++
	return true
}

// unexpected records a syntax error. At the end of the text it records that instead, which is the more useful message.
func (s *state) unexpected(why string) bool {
	if s.pos >= len(s.data) {
		return s.syntax("the JSON text ends too early")
	}
	return s.syntax(why)
}

// nextElement is called before the first element and after each element. It reports whether another element follows
// before the closing bracket, which leave consumes.
func (s *state) nextElement(first bool, closing byte) (another, ok bool) {
	switch c := s.peek(); {
	case c == closing:
		return false, true
	case first:
		return true, true
	case c != ',':
		return false, s.unexpected("',' or a closing bracket is missing")
	}
	s.pos++
	if s.peek() == closing {
		return false, s.syntax("a value is missing after ','")
	}
	return true, true
}

// str consumes a string and returns the raw text between its quotes.
func (s *state) str() (raw []byte, escaped, ok bool) {
	if s.peek() != '"' {
		return nil, false, s.unexpected("a string is missing")
	}
	s.pos++
	begin, ascii := s.pos, true
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '"':
			raw = s.data[begin:s.pos]
			if !ascii && !utf8.Valid(raw) {
				return nil, false, s.syntax("a string is not valid UTF-8")
			}
			s.pos++
			return raw, escaped, true
		case c == '\\':
			escaped = true
			s.pos++ // an escaped byte does not end the string; unescape validates it
		case c < ' ':
			return nil, false, s.syntax("there is a control character in a string")
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, false, s.unexpected("")
}

// text consumes a string and returns its unescaped value. The result may share memory with the body.
func (s *state) text() (b []byte, ok bool) {
	raw, escaped, ok := s.str()
	if !ok || !escaped {
		return raw, ok
	}
	return s.unescape(raw)
}

// unescape resolves the escapes of RFC 8259, section 7. It refuses a lone surrogate, which represents no character and
// would be stored as something else.
func (s *state) unescape(raw []byte) ([]byte, bool) {
	// Unescaping never makes a text longer.
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		i++ // str has checked that a byte follows
		if raw[i] != 'u' {
			at := strings.IndexByte(`"\/bfnrt`, raw[i])
			if at < 0 {
				return nil, s.syntax("a string contains an unknown escape")
			}
			out = append(out, "\"\\/\b\f\n\r\t"[at])
			continue
		}
		r, n := escapedRune(raw[i+1:])
		if r < 0 {
			return nil, s.syntax("a string contains a broken \\u escape")
		}
		out = utf8.AppendRune(out, r)
		i += n
	}
	return out, true
}

// escapedRune decodes the digits behind "\u" and returns their number of bytes; the rune is -1 if they are invalid.
func escapedRune(b []byte) (rune, int) {
	r := hex4(b)
	if !utf16.IsSurrogate(r) {
		return r, 4
	}
	if len(b) < 10 || b[4] != '\\' || b[5] != 'u' {
		return -1, 0
	}
	if r = utf16.DecodeRune(r, hex4(b[6:])); r == utf8.RuneError {
		return -1, 0
	}
	return r, 10
}

// hex4 parses four hexadecimal digits; it returns -1 if they are invalid.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// number consumes a number and reports whether it is written as an integer.
func (s *state) number() (raw []byte, integer, ok bool) {
	begin := s.space()
	s.accept("-")
	// A number has no leading zeros: after 0 only a point, an exponent or the end may follow.
	if !s.accept("0") && !s.digits() {
		return nil, false, s.unexpected("a value is missing")
	}
	integer = true
	if s.accept(".") {
		integer = false
		if !s.digits() {
			return nil, false, s.unexpected("a number has no digit after its point")
		}
	}
	if s.accept("eE") {
		integer = false
		s.accept("+-")
		if !s.digits() {
			return nil, false, s.unexpected("a number has no digit in its exponent")
		}
	}
	return s.data[begin:s.pos], integer, true
}

// accept consumes one byte if it is in set.
func (s *state) accept(set string) bool {
	if s.pos < len(s.data) && strings.IndexByte(set, s.data[s.pos]) >= 0 {
		s.pos++
		return true
	}
	return false
}

// digits consumes digits and reports whether there was at least one.
func (s *state) digits() bool {
	begin := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > begin
}

// literal consumes true, false or null.
func (s *state) literal(word string) bool {
	if !bytes.HasPrefix(s.data[s.space():], []byte(word)) {
		return s.unexpected("a value is missing")
	}
	s.pos += len(word)
	return true
}

// skip consumes any value without decoding it.
func (s *state) skip() bool {
	switch s.peek() {
	case '"':
		_, ok := s.text()
		return ok
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	case '[':
		return s.skipList(']', s.skip)
	case '{':
		return s.skipList('}', func() bool {
			_, ok := s.text()
			return ok && s.expect(':') && s.skip()
		})
	}
	_, _, ok := s.number()
	return ok
}

// skipList consumes an array or object and calls element for each member. It returns false at the first syntax error.
func (s *state) skipList(closing byte, element func() bool) bool {
	if !s.enter() {
		return false
	}
	for first := true; ; first = false {
		another, ok := s.nextElement(first, closing)
		if !ok || another && !element() {
			return false
		}
		if !another {
			return s.leave()
		}
	}
}

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

	// Buffers of the validator. They are fields of state so that the pool reuses them with it.
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
		s.fields = append(s.fields, Field{Path: s.pathString(), Message: message})
	}
}

// failAt records a schema violation at a property of the current object. The name may be the client's.
func (s *state) failAt(name, message string) {
	s.path = append(s.path, property(name))
	s.fail(message)
	s.path = s.path[:len(s.path)-1]
}

// pathString renders the path only when there is an error, so that valid bodies do not pay for messages.
func (s *state) pathString() string {
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
