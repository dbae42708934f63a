package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"comanda/internal/fault"
	"comanda/internal/strictjson"
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

// inFile adds the name of the read file to the sentence of a refusal. Other errors, such as those of the database, are not
// about the file.
func inFile(name string, err error) error {
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok || refusal.Kind != fault.Invalid && refusal.Kind != fault.Conflict {
		return err
	}
	named := *refusal
	named.Detail = name + ": " + refusal.Detail
	return &named
}

// decodeJSON decodes one JSON value of at most limit bytes strictly. Errors begin with the name of the input; command is the
// one whose help shows the form.
func decodeJSON(raw []byte, limit int, name, command string, into any) error {
	if len(raw) > limit {
		return fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	if err := strictjson.Decode(raw, into); err != nil {
		return fmt.Errorf("%s: %w; %s --help shows the form", name, err, command)
	}
	return nil
}
