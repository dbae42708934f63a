package menufile

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// The limits of what an XLSX file may contain. A file of some kilobytes can otherwise take gigabytes or hours.
const (
	// The library holds each XML element in memory; a full sheet of MaxRows rows and MaxColumns columns needs fewer.
	maxElements = 1_000_000
	// The library makes a row for every number up to the last row of a sheet.
	maxSheetRow = MaxRows + headerSearch
	// maxText limits a text that cells share, in bytes: spreadsheet programs allow 32,767 characters. A row's cells are
	// copied before readTexts counts them.
	maxText = 4 * 32_767
	// maxToken limits the bytes of one XML token. An element may have millions of attributes.
	maxToken = 4 << 20
	// The library compares each sheet with each relationship, and each merged cell with each other.
	maxSheets        = 100
	maxRelationships = 20_000
	maxMerged        = 1000
)

// readXLSX reads the first sheet of an XLSX file.
func readXLSX(raw []byte, r *report) (rows []sheetRow) {
	parts := checkParts(raw, r)
	if !r.ok() {
		return nil
	}
	// The library expects files of spreadsheet programs. A file that makes it panic must not end the server.
	defer func() {
		if recover() != nil {
			rows = nil
			r.filef(Damaged, sayDamaged)
		}
	}()
	book, err := excelize.OpenReader(bytes.NewReader(raw), excelize.Options{
		UnzipSizeLimit: MaxUnpacked, UnzipXMLSizeLimit: MaxUnpacked, RawCellValue: true, // equal: no temporary files
	})
	if err != nil {
		r.filef(Damaged, sayDamaged)
		return nil
	}
	defer func() { _ = book.Close() }()
	// A workbook without sheets has no first sheet name, so no cells are found.
	if rows, err = readCells(book, book.GetSheetName(0), parts, r); err != nil {
		r.filef(Damaged, sayDamaged)
		return nil
	}
	return rows
}

// readCells returns the rows of a sheet that are not blank.
func readCells(book *excelize.File, sheet string, parts map[string]positions, r *report) (rows []sheetRow, err error) {
	merged, err := book.GetMergeCells(sheet, true)
	if err != nil {
		return nil, err //nolint:wrapcheck // only reported as damaged
	}
	for _, m := range merged {
		_, row, _ := excelize.CellNameToCoordinates(m.GetStartAxis())
		r.addf(row, m.GetStartAxis(), Merged, "The cells %s to %s are merged. Split them and fill every cell.",
			m.GetStartAxis(), m.GetEndAxis())
	}
	if len(merged) > 0 {
		return nil, nil
	}
	all, err := readTexts(book, sheet, r)
	if err != nil {
		return nil, err
	}
	formulas := formulasOf(book, parts)
	for i, texts := range all {
		row := sheetRow{number: i + 1, cells: make([]cell, len(texts))}
		for j, text := range texts {
			row.cells[j] = cell{text: text, formula: formulas[position{i + 1, j + 1}]}
			if row.cells[j].number, err = isNumber(book, sheet, i+1, j+1, text); err != nil {
				return nil, err
			}
		}
		if !row.blank() {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// readTexts returns the texts of a sheet's cells. Many cells may refer to one shared text, and the library makes a copy for
// each, so the sum of all texts is limited.
func readTexts(book *excelize.File, sheet string, r *report) (all [][]string, err error) {
	rows, err := book.Rows(sheet)
	if err != nil {
		return nil, err //nolint:wrapcheck // only reported as damaged
	}
	defer func() { _ = rows.Close() }()
	for left := MaxUnpacked; rows.Next(); {
		texts, err := rows.Columns()
		if err != nil {
			return nil, err //nolint:wrapcheck // as above
		}
		for _, text := range texts {
			if left -= len(text); left < 0 {
				r.filef(ZipBomb, sayBomb)
				return nil, nil
			}
		}
		all = append(all, texts)
	}
	return all, rows.Error() //nolint:wrapcheck // as above
}

// formulasOf returns the cells with formulas of the sheet that the library has loaded, which is the first one. The library
// could look them up too, but it searches the sheet and reads the formula again for each cell.
func formulasOf(book *excelize.File, parts map[string]positions) (formulas positions) {
	book.Sheet.Range(func(name, _ any) bool {
		part, _ := name.(string)
		formulas = parts[part]
		return false
	})
	return formulas
}

// partName returns a part's name as the library spells it.
func partName(name string) string { return strings.ReplaceAll(name, `\`, "/") }

// isNumber reports whether a cell has a number: the same text means different amounts as a number and as text.
func isNumber(book *excelize.File, sheet string, row, column int, text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	at, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		return false, err //nolint:wrapcheck // only reported as damaged
	}
	kind, err := book.GetCellType(sheet, at)
	return kind == excelize.CellTypeNumber || kind == excelize.CellTypeUnset, err //nolint:wrapcheck // as above
}

// position is the place of a cell in a sheet, and positions are those of cells with formulas.
type (
	position  struct{ row, column int }
	positions map[position]bool
)

// checkParts unpacks all parts of a workbook within limits, before the library does it without. It returns the cells with
// formulas of each part.
func checkParts(raw []byte, r *report) map[string]positions {
	a := &archive{r, MaxUnpacked}
	elements := 0
	formulas := map[string]positions{}
	for _, f := range a.open(raw) {
		s := scan{report: r, elements: elements, formulas: positions{}}
		// Every part may be a sheet: its name does not matter.
		if !a.stream(f, MaxUnpacked, s.part) {
			return nil
		}
		elements = s.elements
		formulas[partName(f.Name)] = s.formulas
	}
	return formulas
}

// scan checks one XML part of a workbook.
type scan struct {
	report                        *report
	elements                      int
	root                          string // name of the first element
	row, column                   int
	rows, cells                   int  // elements so far: rows, and cells of the last one
	numbered                      bool // the last row has a number
	inCell, inFormula             bool
	formulas                      positions
	shared                        int // depth of shared texts
	text                          int // bytes of the shared text so far
	sheets, merged, relationships int
}

var errToken = errors.New("an XML token is too long")

// tokens limits the bytes that the decoder reads for one token.
type tokens struct {
	from io.Reader
	left int
}

func (t *tokens) Read(b []byte) (int, error) {
	if t.left <= 0 {
		return 0, errToken
	}
	n, err := t.from.Read(b)
	t.left -= n
	return n, err //nolint:wrapcheck // passed on
}

// part reads a part up to its end or the first problem. A part that is not XML, such as a picture, ends the scan
// without a problem; the library refuses it if it is not allowed there. So does a part in UTF-16, which some programs write
// beside the sheets.
func (s *scan) part(content io.Reader) error {
	from := &tokens{from: content}
	d := xml.NewDecoder(from)
	d.Strict = false
	// The library reads the encodings of old systems, too. Without this, a part that declares one would end the scan.
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) {
		s.report.filef(Damaged, sayDamaged)
		return nil, io.ErrUnexpectedEOF
	}
	for s.report.ok() {
		from.left = maxToken
		t, err := d.RawToken()
		if errors.Is(err, errToken) {
			s.report.filef(ZipBomb, sayBomb)
		}
		if err != nil {
			return nil //nolint:nilerr // the rest of the part is only counted
		}
		switch t := t.(type) {
		case xml.StartElement:
			s.element(t)
		case xml.EndElement:
			s.end(t)
		case xml.CharData:
			s.chars(len(t))
		}
	}
	return nil
}

// element counts an element and checks those that cost the library more than their size.
func (s *scan) element(e xml.StartElement) {
	s.elements++
	s.limit(s.elements, maxElements)
	if s.root == "" {
		s.root = e.Name.Local
	}
	switch e.Name.Local {
	case "si":
		if s.shared++; s.shared == 1 {
			s.text = 0
		}
	case "sheet":
		s.sheets++
		s.limit(s.sheets, maxSheets)
	case "Relationship":
		s.relationships++
		s.limit(s.relationships, maxRelationships)
	}
	// The library reads only such a part as a sheet. Drawings and references to other files have rows, too.
	if s.root == "worksheet" {
		s.sheetElement(e)
	}
}

// sheetElement follows the position of rows and cells as the library does. Sheets may omit positions; a row or cell without
// one comes after the one before.
func (s *scan) sheetElement(e xml.StartElement) {
	switch e.Name.Local {
	case "row":
		s.startRow(e)
	case "c":
		s.startCell(e)
	case "f":
		// Only the first cell of a shared formula has its text.
		if s.inFormula = s.inCell; s.inCell && s.attribute(e, "t") == "shared" {
			s.formulas[position{s.row, s.column}] = true
		}
	case "mergeCell":
		if s.merged++; s.merged > maxMerged {
			s.report.filef(Merged, "A sheet has more than %d merged cells. Split them and fill every cell.", maxMerged)
		}
	}
}

// limit reports a part that has more of something than any menu.
func (s *scan) limit(n, limit int) {
	if n > limit {
		s.report.filef(ZipBomb, sayBomb)
	}
}

func (s *scan) end(e xml.EndElement) {
	switch e.Name.Local {
	case "c":
		s.inCell = false
	case "f":
		s.inFormula = false
	case "si":
		s.shared = max(0, s.shared-1)
	}
}

func (s *scan) chars(n int) {
	if s.inFormula {
		s.formulas[position{s.row, s.column}] = true
	}
	if s.text += n; s.shared > 0 {
		s.limit(s.text, maxText)
	}
}

// startRow follows the number of rows. Numbers that do not rise are refused: the library joins the cells of rows with equal
// numbers before readTexts counts them, and removes such rows one by one.
func (s *scan) startRow(e xml.StartElement) {
	before := s.row
	s.rows, s.row, s.column, s.cells = s.rows+1, s.row+1, 0, 0
	at := s.attribute(e, "r")
	if s.numbered = at != ""; s.numbered {
		n, err := strconv.Atoi(at)
		if err != nil || n <= before {
			s.report.filef(Damaged, sayDamaged)
			return
		}
		s.row = n
	}
	s.checkRow(max(s.row, s.rows))
}

// startCell follows the column of cells. Cells may repeat a column, so they are counted too.
func (s *scan) startCell(e xml.StartElement) {
	s.column, s.cells, s.inCell = s.column+1, s.cells+1, true
	if at := s.attribute(e, "r"); at != "" {
		column, row, err := excelize.CellNameToCoordinates(at)
		if err != nil {
			return // the library refuses it in a sheet
		}
		if s.column = column; !s.numbered {
			s.row = max(s.row, row)
		}
		s.checkRow(row)
	}
	if s.column > MaxColumns || s.cells > MaxColumns {
		s.report.addf(s.row, "", TooWide, "A sheet can have at most %d columns. Delete the columns beside the menu.", MaxColumns)
	}
}

func (s *scan) checkRow(row int) {
	if row > maxSheetRow {
		s.report.filef(TooManyRows,
			"A sheet can have at most %d dishes. Delete the rows below the menu, also empty ones.", MaxRows)
	}
}

// attribute returns an attribute of an element; names may have a prefix. Two of a name are refused, because the library
// could read the other one.
func (s *scan) attribute(e xml.StartElement, name string) (value string) {
	found := false
	for _, a := range e.Attr {
		if !strings.EqualFold(a.Name.Local, name) {
			continue
		}
		if found {
			s.report.filef(Damaged, sayDamaged)
		}
		value, found = a.Value, true
	}
	return value
}
