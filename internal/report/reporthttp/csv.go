package reporthttp

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strconv"

	"comanda/internal/fault"
)

const csvType = "text/csv; charset=utf-8"

// mark is the byte order mark, by which spreadsheet programs recognise UTF-8.
const mark = "\uFEFF"

// sheet is a report as a table with column names.
type sheet struct {
	columns []string
	rows    [][]string
}

// csv returns RFC 4180 CSV with CRLF line ends.
func (s sheet) csv() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(mark)
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	_ = w.Write(s.columns) // Error returns the first error
	for _, row := range s.rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = harmless(c)
		}
		_ = w.Write(cells) // likewise
	}
	w.Flush()
	return b.Bytes(), fault.Wrap("write sheet", w.Error())
}

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// harmless prevents spreadsheets from executing a text as a formula: a dish may be called =HYPERLINK(...). A number may
// begin with a minus.
func harmless(cell string) string {
	if cell == "" || number.MatchString(cell) {
		return cell
	}
	switch cell[0] {
	// The characters are those that OWASP lists for CSV injection.
	case '=', '+', '-', '@', '\t', '\r', '\n':
		return "'" + cell
	}
	return cell
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }
