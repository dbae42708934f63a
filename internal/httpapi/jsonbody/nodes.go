package jsonbody

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"comanda/internal/text"
)

const (
	msgNull     = "must not be null"
	msgNUL      = "must not contain the character NUL"
	msgRange    = "integer out of range"
	msgRepeated = "property is repeated"
)

// node decodes one kind of value. decode returns false only on a syntax error. Nodes are immutable after compile and
// shared by all requests; state has the data of one body.
type node interface {
	decode(s *state, v reflect.Value) bool
}

// value decodes a value that may be null. A wholeNode handles null itself.
func (s *state) value(n node, nullable bool, v reflect.Value) bool {
	w, whole := n.(*wholeNode)
	if s.peek() != 'n' || whole && w.schema.Type == "" {
		return n.decode(s, v)
	}
	if !nullable {
		s.fail(msgNull)
	}
	return s.literal("null")
}

// mistyped reports the expected type and skips the value.
func (s *state) mistyped(expected string) bool {
	s.fail(expected)
	return s.skip()
}

type stringNode struct {
	schema         *huma.Schema
	kind           text.Kind
	minLen, maxLen int
	constrained    bool // the schema has constraints beyond lengths
}

func (n *stringNode) decode(s *state, v reflect.Value) bool {
	if s.peek() != '"' {
		return s.mistyped(validation.MsgExpectedString)
	}
	b, ok := s.text()
	if !ok {
		return false
	}
	// The text is checked after unescaping, so that both spellings of NUL are found.
	if bytes.IndexByte(b, 0) >= 0 {
		s.fail(msgNUL)
		return true
	}
	str, err := n.kind.Clean(string(b))
	if err != nil {
		s.fail(err.Error())
		return true
	}
	// The validator is called only if it will find an error, or if the schema has rules that this node does not check.
	if count := utf8.RuneCountInString(str); n.constrained || count < n.minLen || count > n.maxLen {
		s.validate(n.schema, str)
	}
	v.SetString(str)
	return true
}

type boolNode struct{ schema *huma.Schema }

func (n *boolNode) decode(s *state, v reflect.Value) bool {
	c := s.peek()
	if c != 't' && c != 'f' {
		return s.mistyped(validation.MsgExpectedBoolean)
	}
	if !s.literal(strconv.FormatBool(c == 't')) {
		return false
	}
	if len(n.schema.Enum) > 0 {
		s.validate(n.schema, c == 't')
	}
	v.SetBool(c == 't')
	return true
}

type intNode struct {
	schema      *huma.Schema
	lo, hi      int64
	constrained bool // the schema has constraints beyond inclusive limits
}

func (n *intNode) decode(s *state, v reflect.Value) bool {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		return s.mistyped(validation.MsgExpectedInteger)
	}
	raw, integer, ok := s.number()
	if !ok {
		return false
	}
	if !integer {
		s.fail(validation.MsgExpectedInteger)
		return true
	}
	i, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || i < -maxInteger || i > maxInteger {
		s.fail(msgRange)
		return true
	}
	if (n.constrained || i < n.lo || i > n.hi) && !s.validate(n.schema, float64(i)) {
		return true
	}
	switch {
	case v.CanInt() && !v.OverflowInt(i):
		v.SetInt(i)
	case v.CanUint() && i >= 0 && !v.OverflowUint(uint64(i)):
		v.SetUint(uint64(i))
	default:
		s.fail(msgRange)
	}
	return true
}

type floatNode struct{ schema *huma.Schema }

func (n *floatNode) decode(s *state, v reflect.Value) bool {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		return s.mistyped(validation.MsgExpectedNumber)
	}
	raw, _, ok := s.number()
	if !ok {
		return false
	}
	f, err := strconv.ParseFloat(string(raw), v.Type().Bits())
	if err != nil {
		s.fail("number out of range")
		return true
	}
	s.validate(n.schema, f)
	v.SetFloat(f)
	return true
}

type pointerNode struct{ elem node }

func (n *pointerNode) decode(s *state, v reflect.Value) bool {
	v.Set(reflect.New(v.Type().Elem()))
	return n.elem.decode(s, v.Elem())
}

type sliceNode struct {
	elem     node
	nullable bool // elements may be null
	schema   *huma.Schema
}

func (n *sliceNode) decode(s *state, v reflect.Value) bool {
	if s.peek() != '[' {
		return s.mistyped(validation.MsgExpectedArray)
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 4)) // an empty array must not be nil
	at, count := len(s.path), 0
	s.path = append(s.path, step{})
	ok := s.skipList(']', func() bool {
		s.path[at].index = count
		count++
		if n.schema.MaxItems != nil && count > *n.schema.MaxItems {
			return s.skip()
		}
		v.Grow(1)
		v.SetLen(count)
		return s.value(n.elem, n.nullable, v.Index(count-1))
	})
	s.path = s.path[:at]
	if n.schema.MaxItems != nil && count > *n.schema.MaxItems {
		s.fail(huma.ErrorFormatter(validation.MsgExpectedMaxItems, *n.schema.MaxItems))
	}
	if n.schema.MinItems != nil && count < *n.schema.MinItems {
		s.fail(huma.ErrorFormatter(validation.MsgExpectedMinItems, *n.schema.MinItems))
	}
	return ok
}

type mapNode struct {
	elem     node
	nullable bool // values may be null
}

func (n *mapNode) decode(s *state, v reflect.Value) bool {
	if s.peek() != '{' {
		return s.mistyped(validation.MsgExpectedObject)
	}
	v.Set(reflect.MakeMap(v.Type()))
	return s.skipList('}', func() bool {
		name, ok := s.text()
		if !ok || !s.expect(':') {
			return false
		}
		key := reflect.ValueOf(string(name)).Convert(v.Type().Key())
		s.path = append(s.path, property(string(name)))
		defer func() { s.path = s.path[:len(s.path)-1] }()
		switch {
		case bytes.IndexByte(name, 0) >= 0:
			s.fail(msgNUL)
			return s.skip()
		case v.MapIndex(key).IsValid():
			s.fail(msgRepeated)
			return s.skip()
		}
		// Elements of maps are not addressable, so each is decoded into a new value and stored afterwards.
		elem := reflect.New(v.Type().Elem()).Elem()
		ok = s.value(n.elem, n.nullable, elem)
		v.SetMapIndex(key, elem)
		return ok
	})
}

// maxFields is the size of the set in which structNode marks the properties it has read.
const maxFields = 128

type field struct {
	name     string
	index    []int
	node     node
	required bool
	nullable bool
}

type structNode struct {
	fields []field
	byName map[string]int
}

func (n *structNode) decode(s *state, v reflect.Value) bool {
	if s.peek() != '{' {
		return s.mistyped(validation.MsgExpectedObject)
	}
	var seen [maxFields / 64]uint64
	if !s.skipList('}', func() bool { return n.property(s, v, &seen) }) {
		return false
	}
	for i, f := range n.fields {
		if f.required && seen[i/64]&(1<<(i%64)) == 0 {
			s.failAt(f.name, huma.ErrorFormatter(validation.MsgExpectedRequiredProperty, f.name))
		}
	}
	return true
}

// property decodes one property. An unknown or repeated one is reported and skipped, so that further errors are found.
func (n *structNode) property(s *state, v reflect.Value, seen *[maxFields / 64]uint64) bool {
	name, ok := s.text()
	if !ok || !s.expect(':') {
		return false
	}
	i, known := n.byName[string(name)]
	if !known {
		s.failAt(string(name), validation.MsgUnexpectedProperty)
		return s.skip()
	}
	f, bit := &n.fields[i], uint64(1)<<(i%64)
	if seen[i/64]&bit != 0 {
		s.failAt(f.name, msgRepeated)
		return s.skip()
	}
	seen[i/64] |= bit
	s.path = append(s.path, step{name: f.name, index: -1})
	ok = s.value(f.node, f.nullable, v.FieldByIndex(f.index))
	s.path = s.path[:len(s.path)-1]
	return ok
}

// wholeNode passes a value to encoding/json and to huma's validator.
type wholeNode struct{ schema *huma.Schema }

func (n *wholeNode) decode(s *state, v reflect.Value) bool {
	begin := s.space()
	if !s.skip() {
		return false
	}
	raw := s.data[begin:s.pos]
	if text.EscapesNUL(raw) {
		s.fail(msgNUL)
		return true
	}
	// The value is decoded twice: huma validates the generic value, and the Go type decodes itself.
	var loose any
	if err := json.Unmarshal(raw, &loose); err != nil {
		s.fail("not readable")
		return true
	}
	if s.validate(n.schema, loose) && json.Unmarshal(raw, v.Addr().Interface()) != nil {
		s.fail("not readable")
	}
	return true
}
