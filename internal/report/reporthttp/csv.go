package reporthttp

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strconv"

	"comanda/internal/fault"
)

const csvType = "text/csv; charset=utf-8"

// mark tells the programs that would otherwise take it for something else that the text is UTF-8.
const mark = "\uFEFF"

// sheet is a report as rows of cells under their names.
type sheet struct {
	columns []string
	rows    [][]string
}

// csv writes RFC 4180, which ends lines like HTTP does.
func (s sheet) csv() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(mark)
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	_ = w.Write(s.columns) // the writer keeps its first error
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

// harmless keeps spreadsheets from running a text: a dish may be called =HYPERLINK(...). A number may begin with a minus.
func harmless(cell string) string {
	if cell == "" || number.MatchString(cell) {
		return cell
	}
	switch cell[0] {
	case '=', '+', '-', '@', '\t', '\r', '\n':
		return "'" + cell
	}
	return cell
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }
