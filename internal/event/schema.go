package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"comanda/internal/money"
)

// schema is the subset of JSON Schema (draft 2020-12) that payloads need. Additional properties are allowed, because
// newer producers may add fields.
type schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        any                `json:"type,omitempty"` // one name or several
	Format      string             `json:"format,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	AnyOf       []*schema          `json:"anyOf,omitempty"`
}

// wholeText is the pattern of an integer in a string, which is how ids are written.
const wholeText = "^-?[0-9]+$"

// Schema returns the JSON Schema of the type's payload, derived from the Go struct that is marshalled.
func (t Type) Schema() string {
	s := schemaOf(t.payload)
	s.Dialect, s.Title, s.Description = "https://json-schema.org/draft/2020-12/schema", t.Name, t.Purpose
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("event: the schema of %s does not marshal: %v", t.Name, err))
	}
	return string(text)
}

// schemaOf returns the schema of a field's type. It panics on a type that it does not support, so that a new payload
// cannot be published without a schema.
func schemaOf(t reflect.Type) *schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[LenientID]():
		return &schema{Type: []string{"string", "integer"}, Pattern: wholeText}
	case reflect.TypeFor[money.Currency]():
		return &schema{Type: "string", Pattern: "^[A-Z]{3}$"}
	}
	switch t.Kind() { //nolint:exhaustive // payloads consist of these; any other kind panics below
	case reflect.String:
		return &schema{Type: "string"}
	case reflect.Int64:
		return &schema{Type: "integer"}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Slice:
		return &schema{Type: "array", Items: schemaOf(t.Elem())}
	case reflect.Struct:
		return members(t)
	}
	panic(fmt.Sprintf("event: payloads do not support fields of type %s", t))
}

// members returns the schema of a struct with the property names that encoding/json writes.
func members(t reflect.Type) *schema {
	s := &schema{Type: "object", Properties: map[string]*schema{}}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		one := schemaOf(f.Type)
		if options == "string" {
			one = &schema{Type: "string", Pattern: wholeText}
		}
		// Tags refine what the type alone does not state.
		one.Description = f.Tag.Get("doc")
		if pattern := f.Tag.Get("pattern"); pattern != "" {
			one.Pattern = pattern
		}
		if words := f.Tag.Get("enum"); words != "" {
			one.Enum = strings.Split(words, ",")
		}
		s.Properties[name] = one
		if options != "omitempty" {
			s.Required = append(s.Required, name)
		}
	}
	// Its two forms cannot be expressed by tags of single fields.
	if t == reflect.TypeFor[StockRequest]() {
		s.AnyOf = []*schema{{Required: []string{"items"}}, {Required: []string{"itemId", "quantity"}}}
	}
	return s
}
