package jsonbody

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/seq"
	"comanda/internal/text"
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
	return strings.Join(seq.Map(e.Fields, func(f Field) string { return f.Path + ": " + f.Message }), "; ")
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
	// forget is deferred after Put, so it runs before Put. The returned error keeps its own reference to the fields.
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

// maxInteger is the largest integer that every JSON reader represents exactly (J3).
const maxInteger = 1<<53 - 1

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	logValuer       = reflect.TypeFor[slog.LogValuer]()
)

// compiler compiles a type and its schema to nodes. done terminates the recursion of recursive types.
type compiler struct {
	reg  huma.Registry
	done map[reflect.Type]node
}

// resolve follows references to the schema itself.
func (c *compiler) resolve(s *huma.Schema) *huma.Schema {
	for s.Ref != "" {
		s = c.reg.SchemaFromRef(s.Ref)
	}
	return s
}

// compile returns the node of a type. kind is the kind of its texts, from the tag of their field (J6).
func (c *compiler) compile(t reflect.Type, ref *huma.Schema, kind text.Kind) node {
	s := c.resolve(ref)
	if p := reflect.PointerTo(t); p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler) || !plain(s) {
		return newWholeNode(s, kind)
	}
	switch k := t.Kind(); {
	case k == reflect.Pointer:
		return &pointerNode{elem: c.compile(t.Elem(), ref, kind)}
	case k == reflect.String && s.Type == huma.TypeString && s.ContentEncoding == "":
		return newStringNode(s, kind)
	case k == reflect.Bool && s.Type == huma.TypeBoolean:
		return &boolNode{schema: s}
	case isInt(k) && s.Type == huma.TypeInteger:
		return newIntNode(s)
	case (k == reflect.Float64 || k == reflect.Float32) && s.Type == huma.TypeNumber:
		return &floatNode{schema: s}
	case k == reflect.Slice && s.Type == huma.TypeArray:
		return &sliceNode{elem: c.compile(t.Elem(), s.Items, kind), nullable: c.nullable(s.Items), schema: s}
	case k == reflect.Map && t.Key().Kind() == reflect.String && s.Type == huma.TypeObject:
		if elem, ok := s.AdditionalProperties.(*huma.Schema); ok {
			return &mapNode{elem: c.compile(t.Elem(), elem, kind), nullable: c.nullable(elem)}
		}
	case k == reflect.Struct && s.Type == huma.TypeObject && s.AdditionalProperties == false:
		return c.compileStruct(t, s)
	}
	return newWholeNode(s, kind)
}

// plain reports whether the schema contains only constraints that the nodes check themselves.
func plain(s *huma.Schema) bool {
	return s.OneOf == nil && s.AnyOf == nil && s.AllOf == nil && s.Not == nil && s.Discriminator == nil &&
		!s.UniqueItems && len(s.DependentRequired) == 0 && s.MinProperties == nil && s.MaxProperties == nil &&
		(len(s.Enum) == 0 || s.Type != huma.TypeArray && s.Type != huma.TypeObject)
}

func (c *compiler) nullable(s *huma.Schema) bool { return s.Nullable || c.resolve(s).Nullable }

// isInt reports whether a kind is an integer, signed or not; the constants of package reflect are in that order.
func isInt(k reflect.Kind) bool {
	return reflect.Int <= k && k <= reflect.Uint64
}

// compileStruct returns the node of a struct. It panics on what J1 could not keep, such as embedded pointers.
func (c *compiler) compileStruct(t reflect.Type, s *huma.Schema) node {
	if n, ok := c.done[t]; ok {
		return n
	}
	// The node is registered before its fields are compiled, so that a type that contains itself finds it.
	n := &structNode{byName: map[string]int{}}
	c.done[t] = n
	required := seq.Set(s.Required)
	// The names and rules are those of encoding/json, so that J1 holds.
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			if f.Type.Kind() == reflect.Pointer {
				panic(fmt.Sprintf("jsonbody: %s embeds a pointer", t))
			}
			continue // its fields are promoted
		}
		name = cmp.Or(name, f.Name)
		fs := s.Properties[name]
		if !f.IsExported() || name == "-" || fs == nil {
			continue
		}
		if _, twice := n.byName[name]; twice || options == "string" {
			panic(fmt.Sprintf("jsonbody: %s.%s: two fields of one name, or the option string", t, name))
		}
		kind := c.kindOf(t, f, fs)
		n.byName[name] = len(n.fields)
		n.fields = append(n.fields, field{
			name: name, index: f.Index, node: c.compile(f.Type, fs, kind), required: required[name],
			nullable: c.nullable(fs) || !required[name], // null means "not given" for an optional field
		})
	}
	if len(n.fields) > maxFields {
		panic(fmt.Sprintf("jsonbody: %s has more than %d fields", t, maxFields))
	}
	return n
}

// KindTag is the struct tag that names the kind of a field's texts, see package text.
const KindTag = "text"

// KindExtension is the extension of the OpenAPI document that shows the kind of a typed text.
const KindExtension = "x-text"

// kindOf returns the kind of the texts in a field and records it in the schema (J6).
func (c *compiler) kindOf(t reflect.Type, f reflect.StructField, s *huma.Schema) text.Kind {
	tag, tagged := f.Tag.Lookup(KindTag)
	kind := text.KindOf(tag)
	if tagged && kind == 0 {
		panic(fmt.Sprintf("jsonbody: %s.%s: the tag %s is exact, line or lines, not %q", t, f.Name, KindTag, tag))
	}
	if !tagged && c.free(f.Type, s) {
		panic(fmt.Sprintf("jsonbody: %s.%s needs the tag %s: exact, line or lines", t, f.Name, KindTag))
	}
	if kind == text.Line || kind == text.Lines {
		if s.Extensions == nil {
			s.Extensions = map[string]any{}
		}
		s.Extensions[KindExtension] = kind.String()
	}
	return kind
}

// free reports whether a field can hold arbitrary text that is not secret. Fields of an object have their own tags.
func (c *compiler) free(t reflect.Type, ref *huma.Schema) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Implements(logValuer) { // hidden in logs, so a secret
		return false
	}
	s := c.resolve(ref)
	switch s.Type {
	case huma.TypeString:
		return s.Pattern == "" && s.Format == "" && len(s.Enum) == 0 && s.ContentEncoding == ""
	case huma.TypeArray:
		return t.Kind() == reflect.Slice && c.free(t.Elem(), s.Items)
	case huma.TypeObject:
		elem, isMap := s.AdditionalProperties.(*huma.Schema)
		return isMap && t.Kind() == reflect.Map && c.free(t.Elem(), elem)
	case "":
		return true
	}
	return false
}

// newWholeNode panics for typed text, because encoding/json decodes such a value and would store it uncleaned (J6).
func newWholeNode(s *huma.Schema, kind text.Kind) *wholeNode {
	if kind == text.Line || kind == text.Lines {
		panic("jsonbody: the texts in a value that is handed over whole cannot be cleaned")
	}
	return &wholeNode{schema: s}
}

// newStringNode copies the lengths out of the schema, so that most texts are checked without the validator.
func newStringNode(s *huma.Schema, kind text.Kind) *stringNode {
	n := &stringNode{
		schema: s, kind: kind, maxLen: math.MaxInt,
		constrained: s.Pattern != "" || s.Format != "" || len(s.Enum) > 0,
	}
	if s.MinLength != nil {
		n.minLen = *s.MinLength
	}
	if s.MaxLength != nil {
		n.maxLen = *s.MaxLength
	}
	return n
}

// newIntNode intersects the schema's inclusive limits with those of J3. Limits are floats in the schema, so they are
// rounded inwards.
func newIntNode(s *huma.Schema) *intNode {
	n := &intNode{
		schema: s, lo: -maxInteger, hi: maxInteger,
		constrained: s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.MultipleOf != nil || len(s.Enum) > 0,
	}
	if s.Minimum != nil {
		n.lo = int64(math.Ceil(max(*s.Minimum, -maxInteger)))
	}
	if s.Maximum != nil {
		n.hi = int64(math.Floor(min(*s.Maximum, maxInteger)))
	}
	return n
}
