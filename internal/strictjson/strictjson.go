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
	"unicode/utf8"
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
	raw = bytes.TrimPrefix(raw, byteOrderMark)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return explain(raw, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) { // More would accept a closing bracket
		return errMore
	}
	return nil
}

// explain returns an error of the decoder in terms of the text.
func explain(raw []byte, err error) error {
	if errors.Is(err, io.EOF) {
		return errEmpty
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		raw = bytes.TrimRight(raw, " \t\r\n")
		return fmt.Errorf("%s: the JSON is incomplete", position(raw, len(raw)))
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return explainSyntax(raw, wrong)
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

// expected maps parts of the decoder's errors about syntax to what the position must have. The decoder has no type for them.
var expected = []struct{ part, form string }{
	{"looking for beginning of value", "a value"},
	{"looking for beginning of object key string", "a name in double quotes"},
	{"after object key:value pair", "a comma or }"},
	{"after object key", "a colon"},
	{"after array element", "a comma or ]"},
	{"in string literal", "a text without line breaks and control characters"},
	{"in string escape code", `one of "\/bfnrtu after a backslash`},
	{"hexadecimal character escape", "four hexadecimal digits after \\u"},
	{"numeric literal", "a digit"},
	{"in literal", "true, false, null or a text in double quotes"},
}

// explainSyntax names the position of an error, what must be there, and the character that is there.
func explainSyntax(raw []byte, err *json.SyntaxError) error {
	at := min(max(int(err.Offset)-1, 0), len(raw)) // the offset is behind the character
	for _, e := range expected {
		if strings.Contains(err.Error(), e.part) {
			found, _ := utf8.DecodeRune(raw[at:])
			return fmt.Errorf("%s: expected %s, found %q", position(raw, at), e.form, string(found))
		}
	}
	return fmt.Errorf("%s: %w", position(raw, at), err)
}

// position returns the place of a byte in a text as editors show it: from 1, in characters. A text of one line has no line
// number, because it may be a line of a larger file.
func position(raw []byte, at int) string {
	line := bytes.Count(raw[:at], []byte("\n")) + 1
	column := utf8.RuneCount(raw[bytes.LastIndexByte(raw[:at], '\n')+1:at]) + 1
	if bytes.IndexByte(bytes.TrimSpace(raw), '\n') < 0 {
		return fmt.Sprintf("column %d", column)
	}
	return fmt.Sprintf("line %d, column %d", line, column)
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
