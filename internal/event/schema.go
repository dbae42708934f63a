package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"comanda/internal/money"
)

// schema is as much of JSON Schema (draft 2020-12) as payloads need. Members that a schema does not name are allowed,
// because newer producers may add them.
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

// wholeText is an integer in a string, as which ids of ours are written.
const wholeText = "^-?[0-9]+$"

// Schema is the JSON Schema of a type's payload, made from the structure that is written and read.
func (t Type) Schema() string {
	s := schemaOf(t.payload)
	s.Dialect, s.Title, s.Description = "https://json-schema.org/draft/2020-12/schema", t.Name, t.Purpose
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("event: the schema of %s does not marshal: %v", t.Name, err))
	}
	return string(text)
}

func schemaOf(t reflect.Type) *schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[Number]():
		return &schema{Type: []string{"string", "integer"}, Pattern: wholeText}
	case reflect.TypeFor[money.Currency]():
		return &schema{Type: "string", Pattern: "^[A-Z]{3}$"}
	}
	switch t.Kind() { //nolint:exhaustive // payloads are made of these; another one is a defect of the program
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
	panic(fmt.Sprintf("event: a payload has no room for a %s", t))
}

// members describes a structure by its fields, as encoding/json will write them.
func members(t reflect.Type) *schema {
	s := &schema{Type: "object", Properties: map[string]*schema{}}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		one := schemaOf(f.Type)
		if options == "string" {
			one = &schema{Type: "string", Pattern: wholeText}
		}
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
	if t == reflect.TypeFor[Wanted]() {
		s.AnyOf = []*schema{{Required: []string{"items"}}, {Required: []string{"itemId", "quantity"}}}
	}
	return s
}
