package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/text"
)

// parse returns the record of a line.
func (e *Entity) parse(l exportLine) (Record, error) {
	r := Record{ID: l.ID, Row: make([]Cell, len(e.Fields)), Members: map[string][]string{}}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(l.Document, &values); err != nil || values == nil {
		return r, errors.New("the document is not an object")
	}
	if len(l.Relations) > 0 {
		if json.Unmarshal(l.Relations, &r.Members) != nil {
			return r, errors.New("relations: it is not an object of lists of ids")
		}
	}
	for i, f := range e.Fields {
		if f.Hidden {
			if err := checkIDs(r.Members[f.Name]); err != nil {
				return r, fmt.Errorf("%s: %w", f.Name, err)
			}
			continue
		}
		raw, given := values[f.Name]
		delete(values, f.Name)
		if err := e.parseValue(&r, i, raw, given); err != nil {
			return r, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	for name := range values {
		return r, fmt.Errorf("%s has no %s", e.Name, name)
	}
	for name := range r.Members {
		if !slices.ContainsFunc(e.Fields, func(f Field) bool { return f.Hidden && f.Name == name }) {
			return r, fmt.Errorf("%s has no %s", e.Name, name)
		}
	}
	if id, _ := r.Row[0].lookupValue(e.Fields[0]); id != l.ID {
		return r, fmt.Errorf("the id of the document is %s", id)
	}
	return r, nil
}

// parseValue parses one value. A derived value is validated and then ignored.
func (e *Entity) parseValue(r *Record, i int, raw json.RawMessage, given bool) error {
	f, c := e.Fields[i], &r.Row[i]
	if f.Derived {
		if !given || string(raw) == null {
			return nil
		}
		f.Null = false
		return new(Cell).parse(f, raw)
	}
	switch {
	case !given && !f.Optional:
		return errors.New("it is missing")
	case !given, f.Null && string(raw) == null:
		if f.Kind == Object {
			c.T = "{}"
		}
		c.N = f.Default
		return nil
	case f.Kind == Instant && string(raw) == null:
		return nil
	}
	if err := c.parse(f, raw); err != nil {
		return err
	}
	for _, x := range e.Indexes { // compared as in SQL
		if x.field == i && f.Kind == Text && x.Unique {
			return c.setUnique(f, x.Lookup(c.T))
		}
	}
	return nil
}

// set stores a text in a cell.
func (c *Cell) set(f Field, text string) {
	if c.T = text; f.Null {
		c.PT = &c.T
	}
}

// setUnique stores a unique text. Programs write an empty text for a value that is missing; stored as it is, only one row
// could have it.
func (c *Cell) setUnique(f Field, text string) error {
	switch {
	case text != "":
		c.set(f, text)
	case f.Null:
		*c = Cell{}
	default:
		return errors.New("it is empty")
	}
	return nil
}

// parse parses a JSON value of the field's kind. The result is in T or N, even if the field is nullable.
func (c *Cell) parse(f Field, raw json.RawMessage) (err error) {
	switch f.Kind {
	case Text, Localised:
		var s string
		if err := json.Unmarshal(raw, &s); err != nil || string(raw) == null {
			return errors.New("it is not a text")
		}
		if strings.ContainsRune(s, 0) {
			return errNUL
		}
		if len(f.OneOf) > 0 && !slices.Contains(f.OneOf, s) {
			return fmt.Errorf("%q is none of %s", s, strings.Join(f.OneOf, ", "))
		}
		if s, err = f.Typed.Clean(strings.TrimSpace(s)); err != nil {
			return err
		}
		c.set(f, s)
		return nil
	case Object:
		return c.parseObject(f, raw)
	case ID:
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return errors.New("it is not an id")
		}
		c.N, err = parseID(s)
	case Number:
		c.N, err = strconv.ParseInt(string(raw), 10, 64)
		switch least, most := f.Between[0], f.Between[1]; {
		case err != nil:
			err = errors.New("it is not a whole number")
		case least < most && (c.N < least || c.N > most):
			err = fmt.Errorf("%d is not between %d and %d", c.N, least, most)
		}
	case Flag:
		var flag bool
		if json.Unmarshal(raw, &flag) != nil || string(raw) == null {
			return errors.New("it is neither true nor false")
		}
		if flag {
			c.N = 1
		}
	case Instant:
		var at time.Time
		if json.Unmarshal(raw, &at) != nil {
			return errors.New("it is not an instant")
		}
		c.N = at.UnixMilli()
	case Members:
	}
	if f.Null {
		c.PN = &c.N
	}
	return err
}

// parseObject parses an object and stores it without white space, in the form in which documents contain it.
func (c *Cell) parseObject(f Field, raw json.RawMessage) error {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || object == nil {
		return errors.New("it is not an object")
	}
	if text.EscapesNUL(raw) {
		return errNUL
	}
	if f.Typed != 0 {
		var err error
		if raw, err = cleanTexts(f.Typed, raw, object); err != nil {
			return err
		}
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return err
	}
	c.T = compact.String()
	return nil
}

// cleanTexts returns an object of texts by locale with normalized texts. An object that is normalized already stays
// byte for byte the same, so that exporting an import reproduces the file.
func cleanTexts(k text.Kind, raw json.RawMessage, object map[string]json.RawMessage) (json.RawMessage, error) {
	clean, changed := map[string]string{}, false
	for locale, value := range object {
		var given string
		if json.Unmarshal(value, &given) != nil {
			return nil, fmt.Errorf("%s: it is not a text", locale)
		}
		kept, err := k.Clean(given)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", locale, err)
		}
		clean[locale], changed = kept, changed || kept != given
	}
	if !changed {
		return raw, nil
	}
	var b bytes.Buffer
	encode := json.NewEncoder(&b)
	encode.SetEscapeHTML(false)
	err := encode.Encode(clean)
	return b.Bytes(), err
}

// errNUL refuses text that PostgreSQL cannot store.
var errNUL = errors.New("it has a character of code 0")

// parseID accepts the canonical form only. The largest integer is refused, because the next generated id would
// overflow.
func parseID(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n == math.MaxInt64 || strconv.FormatInt(n, 10) != text {
		return 0, fmt.Errorf("%q is not an id", text)
	}
	return n, nil
}

// checkIDs validates the members of a relation.
func checkIDs(ids []string) error {
	for _, id := range ids {
		if _, err := parseID(id); err != nil {
			return err
		}
	}
	return nil
}
