package menufile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

const saveAsUTF8 = "Save it as \"CSV UTF-8\" or as .xlsx."

var bom = []byte("\xef\xbb\xbf")

// readCSV reads a file that is separated by commas or semicolons.
func readCSV(raw []byte, r *report) []sheetRow {
	if !checkEncoding(raw, r) {
		return nil
	}
	raw = bytes.TrimPrefix(raw, bom)
	if endsRowsWithReturns(raw) {
		raw = bytes.ReplaceAll(raw, []byte("\r"), []byte("\n"))
	}
	if line := wideAt(raw, separator(raw)); line > 0 {
		r.addf(line, "", TooWide, "A row can have at most %d cells.", MaxColumns)
		return nil
	}
	from := csv.NewReader(bytes.NewReader(raw))
	from.Comma, from.FieldsPerRecord = separator(raw), -1
	var rows []sheetRow
	inside := 0 // line feeds inside cells so far: spreadsheet programs do not count them as rows
	for {
		record, err := from.Read()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			number := 0
			if at, ok := errors.AsType[*csv.ParseError](err); ok {
				number = at.StartLine - inside
			}
			r.addf(number, "", Quotes, "A quotation mark is not closed, or is inside a cell. Write it twice, as in \"\"\".")
			return nil
		}
		line, _ := from.FieldPos(0)
		row := sheetRow{number: line - inside, cells: make([]cell, len(record))}
		for i, text := range record {
			// Spreadsheet programs execute such a cell, so the owner does not see its text. Write puts an apostrophe
			// before such texts.
			row.cells[i] = cell{text: text, formula: strings.HasPrefix(text, "=")}
			inside += strings.Count(text, "\n")
		}
		if row.blank() {
			continue
		}
		if len(rows) > MaxRows+headerSearch {
			r.filef(TooManyRows, "A file can have at most %d dishes.", MaxRows)
			return nil
		}
		if len(record) > MaxColumns {
			r.addf(row.number, "", TooWide, "A row can have at most %d cells.", MaxColumns)
			return nil
		}
		rows = append(rows, row)
	}
}

// endsRowsWithReturns reports whether carriage returns without line feeds end the rows, as in "CSV (Macintosh)" of Excel.
// Such a file may have line feeds inside quotes.
func endsRowsWithReturns(raw []byte) (returns bool) {
	quoted := false
	for _, b := range raw {
		switch {
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '\n':
			return false
		case b == '\r':
			returns = true
		}
	}
	return returns
}

// maxSeparators limits the cells of a row before it is read. Programs may write many empty cells behind the columns; each
// takes fifty bytes of memory.
const maxSeparators = 100_000

// wideAt returns the row with more than maxSeparators separators, or 0. Line feeds inside quotes do not end a row.
func wideAt(raw []byte, separator rune) int {
	row, separators, quoted := 1, 0, false
	for _, b := range raw {
		switch {
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '\n':
			row, separators = row+1, 0
		case rune(b) == separator:
			if separators++; separators > maxSeparators {
				return row
			}
		}
	}
	return 0
}

// checkEncoding reports whether a text file is in UTF-8. Files of spreadsheet programs often are not, and their accents
// would be lost.
func checkEncoding(raw []byte, r *report) bool {
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")), bytes.HasPrefix(raw, []byte("\xfe\xff")):
		r.filef(Encoding, "The file is in UTF-16. "+saveAsUTF8)
	case looksUTF16(raw):
		r.filef(Encoding, "The file seems to be in UTF-16. "+saveAsUTF8)
	case bytes.IndexByte(raw, 0) >= 0:
		r.filef(FileType, "This is not a spreadsheet. Send a .csv, .xlsx or .zip file.")
	case !utf8.Valid(raw):
		if hasControls(raw) {
			r.filef(FileType, "This is not a spreadsheet. Send a .csv, .xlsx or .zip file.")
			break
		}
		at := invalidAt(raw)
		r.addf(bytes.Count(raw[:at], []byte("\n"))+1, "", Encoding, "This row has letters that are not in UTF-8. "+saveAsUTF8)
	default:
		return true
	}
	return false
}

// looksUTF16 reports whether every second byte of the beginning is zero, as Latin letters have it in UTF-16.
func looksUTF16(raw []byte) bool {
	raw = raw[:min(len(raw), 64)&^1]
	var zeros [2]int
	for i, b := range raw {
		if b == 0 {
			zeros[i%2]++
		}
	}
	half := len(raw) / 2
	return half >= 4 && (zeros[0]*4 >= half*3 && zeros[1] == 0 || zeros[1]*4 >= half*3 && zeros[0] == 0)
}

// hasControls reports whether the beginning has control characters that no text has, such as those of PDF files and
// pictures.
func hasControls(raw []byte) bool {
	return bytes.HasPrefix(raw, []byte("%PDF")) || bytes.ContainsFunc(raw[:min(len(raw), 512)], func(c rune) bool {
		return c < ' ' && c != '\t' && c != '\n' && c != '\r'
	})
}

// invalidAt returns the offset of the first byte that is not valid in UTF-8.
func invalidAt(raw []byte) (at int) {
	for at < len(raw) {
		r, n := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return at
}

// separator returns the separator of the first line that has cells: a semicolon where spreadsheet programs use the comma
// for decimals.
func separator(raw []byte) rune {
	for line := range bytes.Lines(raw) {
		commas, semicolons, quoted := 0, 0, false
		for _, b := range line {
			switch {
			case b == '"':
				quoted = !quoted
			case quoted:
			case b == ',':
				commas++
			case b == ';':
				semicolons++
			}
		}
		if semicolons > commas {
			return ';'
		}
		if commas > 0 {
			break
		}
	}
	return ','
}
