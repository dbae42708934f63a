package document

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"comanda/internal/text"
)

// Document is the state of a row at one version.
type Document struct {
	Entity       *Entity
	ID           string
	Version      int64
	JSON         string
	IndexEntries []IndexEntry // index entries; only set for documents read from SQL
	Relations    string       // the hidden values of such documents as a JSON object, "" for none
	Deleted      bool         // the row was deleted; a version of 0 is unknown
}

// Ref returns the reference of the document.
func (d Document) Ref() Ref { return Ref{d.Entity, d.ID} }

// Cell is the scan target of one value: T for text, N for a number, PT and PN for nullable ones. One slice of cells is
// scanned again and again, so reading thousands of rows allocates only their documents.
type Cell struct {
	T  string
	N  int64
	PT *string
	PN *int64
}

// text returns a text value; ok is false for NULL.
func (c *Cell) text(f Field) (string, bool) {
	if !f.Null {
		return c.T, true
	}
	if c.PT == nil {
		return "", false
	}
	return *c.PT, true
}

// number returns a numeric value; ok is false for NULL.
func (c *Cell) number(f Field) (int64, bool) {
	if !f.Null {
		return c.N, true
	}
	if c.PN == nil {
		return 0, false
	}
	return *c.PN, true
}

// missing reports whether the value is NULL.
func (c *Cell) missing(f Field) bool { return f.Null && c.PT == nil && c.PN == nil }

// ScanTargets returns the pointers into which a row of the entity is scanned.
func (e *Entity) ScanTargets(row []Cell) []any {
	all := make([]any, len(e.Fields))
	for i, f := range e.Fields {
		c := &row[i]
		switch {
		case f.Kind.isText() && f.Null:
			all[i] = &c.PT
		case f.Kind.isText():
			all[i] = &c.T
		case f.Null:
			all[i] = &c.PN
		default:
			all[i] = &c.N
		}
	}
	return all
}

// Document returns the document of a row. buf is scratch space that calls may share. The version is the last field of
// every entity. Fields are written in the order of declaration, so that equal rows have equal text and comparisons need
// no parser.
func (e *Entity) Document(row []Cell, buf *[]byte) (Document, error) {
	d := Document{Entity: e, Version: row[len(row)-1].N}
	b := (*buf)[:0]
	b = append(b, '{')
	for i, f := range e.Fields {
		if f.Hidden || f.OmitNull && row[i].missing(f) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, f.Name...)
		b = append(b, '"', ':')
		b = row[i].appendJSON(b, f)
	}
	b = append(b, '}')
	*buf = b
	d.JSON = string(b)
	if e.Numeric {
		d.ID = strconv.FormatInt(row[0].N, 10)
	} else {
		d.ID = row[0].T
	}
	return d, e.addIndexEntries(&d, row)
}

// addIndexEntries adds the index entries of a document.
func (e *Entity) addIndexEntries(d *Document, row []Cell) error {
	for _, x := range e.Indexes {
		f := e.Fields[x.field]
		if f.Kind == Members {
			if err := addRelations(d, x, row[x.field].T); err != nil {
				return err
			}
			continue
		}
		if value, ok := row[x.field].lookupValue(f); ok {
			if v, indexed := x.Encode(value); indexed {
				d.IndexEntries = append(d.IndexEntries, IndexEntry{x, v})
			}
		}
	}
	return nil
}

// addRelations adds an index entry for each member of a relation.
func addRelations(d *Document, x *Index, list string) error {
	var ids []int64
	if err := json.Unmarshal([]byte(list), &ids); err != nil {
		return fmt.Errorf("document: %s: %s: %w", d.Ref(), x.Field, err)
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
		d.IndexEntries = append(d.IndexEntries, IndexEntry{x, texts[i]})
	}
	beside, err := json.Marshal(map[string][]string{x.Field: texts})
	d.Relations = string(beside)
	return err
}

// lookupValue returns a value in the form in which it is looked up.
func (c *Cell) lookupValue(f Field) (string, bool) {
	if f.Kind.isText() {
		return c.text(f)
	}
	n, ok := c.number(f)
	if f.Kind == Flag {
		return flagText(n == 1), ok
	}
	return strconv.FormatInt(n, 10), ok
}

// flagText returns a flag as queries and indexes write it: yes or no.
func flagText(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

const null = "null"

// appendJSON appends the value of a field. Ids are strings, because JavaScript cannot represent all 64-bit integers.
func (c *Cell) appendJSON(b []byte, f Field) []byte {
	if f.Kind.isText() {
		s, ok := c.text(f)
		switch {
		case !ok, f.Kind == Object && !json.Valid([]byte(s)):
			return append(b, null...)
		case f.Kind == Object:
			return append(b, s...)
		case f.Kind == Localised:
			return appendLocalised(b, s)
		}
		return text.AppendJSON(b, s)
	}
	n, ok := c.number(f)
	switch {
	case !ok, f.Kind == Instant && n == 0:
		return append(b, null...)
	case f.Kind == ID:
		b = append(b, '"')
		b = strconv.AppendInt(b, n, 10)
		return append(b, '"')
	case f.Kind == Flag:
		return strconv.AppendBool(b, n == 1)
	case f.Kind == Instant:
		b = append(b, '"')
		b = time.UnixMilli(n).UTC().AppendFormat(b, instantFormat)
		return append(b, '"')
	}
	return strconv.AppendInt(b, n, 10)
}

// instantFormat is RFC 3339, always with milliseconds, so that equal rows have equal documents.
const instantFormat = "2006-01-02T15:04:05.000Z07:00"

// DefaultLocale is the locale of a document's name, if the name exists in it.
const DefaultLocale = "vi"

// appendLocalised appends one of the texts: the default locale's, else the English one, else the first by locale.
func appendLocalised(b []byte, object string) []byte {
	var texts map[string]string
	if json.Unmarshal([]byte(object), &texts) != nil || len(texts) == 0 {
		return append(b, null...)
	}
	return text.AppendJSON(b, TextIn(texts, DefaultLocale))
}

// TextIn returns the text in the locale, else in the default locale, else in English, else the first by locale.
func TextIn(texts map[string]string, locale string) string {
	for _, l := range []string{locale, DefaultLocale, "en"} {
		if s := texts[l]; s != "" {
			return s
		}
	}
	first, text := "", ""
	for l, s := range texts {
		if s != "" && (first == "" || l < first) {
			first, text = l, s
		}
	}
	return text
}
