// Package strictjson decodes the JSON of files and of the standard input strictly, with errors for the people who wrote it.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
)

// exampleTime shows the form of a time in errors.
const exampleTime = "2025-11-03T11:20:00+07:00"

// byteOrderMark is what some programs write at the start of UTF-8.
var byteOrderMark = []byte("\ufeff")

var (
	errEmpty = errors.New("it is empty")
	errMore  = errors.New("there is more than one value")
	errTime  = errors.New("a time must be a text like " + exampleTime)
)

// Decode decodes one JSON value. It refuses unknown fields, because a misspelt one would be lost, and anything after the
// value. Its errors name fields and values of the text, and no types of Go. A byte order mark is skipped.
func Decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(raw, byteOrderMark)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return explain(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) { // More would accept a closing bracket
		return errMore
	}
	return nil
}

// explain returns an error of the decoder in terms of the text.
func explain(err error) error {
	if errors.Is(err, io.EOF) {
		return errEmpty
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		in := "" // the field, or a list or map with the value somewhere in it
		if wrong.Field != "" {
			in = " in " + wrong.Field
		}
		return fmt.Errorf("%s is expected%s, not %s", form(wrong.Type), in, wrong.Value)
	}
	if at, ok := errors.AsType[*time.ParseError](err); ok {
		return fmt.Errorf("%q is not a time like %s", strings.Trim(at.Value, `"`), exampleTime)
	}
	if strings.HasPrefix(err.Error(), "Time.UnmarshalJSON") { // the package has no type of error for it
		return errTime
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: ")) //nolint:err113 // for people
}

// form returns the form of the JSON values that a type of Go accepts.
func form(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	default: // struct and map
		return "an object"
	}
}
