package fault

import (
	"errors"
	"fmt"
)

// Problems collects errors about the fields of an input, so that one response names all of them. The zero value has none.
type Problems []error

// Addf adds an error about a field. Its text completes a sentence that begins with the field: "must be a date".
func (p *Problems) Addf(field, code, format string, args ...any) {
	*p = append(*p, InField(field, code, fmt.Errorf(format, args...))) //nolint:err113 // read by people, compared by code
}

// Err returns an Invalid fault that names every wrong field, or nil if there is none. Its detail is about the first one.
func (p *Problems) Err() error {
	err := errors.Join(*p...)
	fields := FieldsOf(err)
	if len(fields) == 0 {
		return nil
	}
	return Newf(Invalid, "invalid", "%s %s.", fields[0].Field, PublicText(fields[0])).Because(err).WithFields(err)
}
