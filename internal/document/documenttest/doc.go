package documenttest

import (
	"strconv"
	"testing"

	"comanda/internal/document"
	"comanda/internal/testenv"
)

// Values are fields of a document as text; missing ones are empty, or NULL where allowed.
type Values map[string]string

// Doc returns the document of a row without a database.
func Doc(t testing.TB, e *document.Entity, id string, version int64, v Values) document.Document {
	t.Helper()
	row := make([]document.Cell, len(e.Fields))
	for i, f := range e.Fields {
		text, given := v[f.Name]
		switch {
		case f.Name == "id":
			text, given = id, true
		case f.Name == "version":
			text, given = strconv.FormatInt(version, 10), true
		case f.Kind == document.Members && !given:
			text, given = "[]", true
		}
		if given {
			fill(&row[i], text)
		}
	}
	var buf []byte
	return testenv.Must(e.Document(row, &buf))(t)
}

// fill stores a value in every field of the cell, whatever the kind of column.
func fill(c *document.Cell, text string) {
	c.T, c.PT = text, &text
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		c.N, c.PN = n, &n
	}
}
