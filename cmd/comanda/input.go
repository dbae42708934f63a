package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// readLimited reads a file and one byte more than the limit, so that a longer file is detected.
func readLimited(file string, limit int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	return raw, nil
}

// decodeJSON decodes one JSON value of at most limit bytes. Unknown fields are refused, as over HTTP: a misspelt one would
// be lost. Errors begin with the name of the input; command is the one whose help shows the form.
func decodeJSON(raw []byte, limit int, name, command string, into any) error {
	if len(raw) > limit {
		return fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s is empty", name)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // its text names types of Go
		return fmt.Errorf("%s: %s has a value of the wrong form (%s); %s --help shows the form",
			name, cmp.Or(wrong.Field, "the whole"), wrong.Value, command)
	}
	if err != nil {
		return fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "json: ")) //nolint:err113 // for people
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s has more than one JSON value", name)
	}
	return nil
}
