package menufile

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// maxElements limits the XML elements of an XLSX file. The library holds each in memory; a full sheet of MaxRows rows and
// MaxColumns columns needs fewer.
const maxElements = 1_000_000

// maxSheetRow is the last row that a sheet may have. The library makes a row for every number up to it.
const maxSheetRow = MaxRows + headerSearch

// readXLSX reads the first sheet of an XLSX file.
func readXLSX(raw []byte, r *report) (rows []sheetRow) {
	formulas := checkParts(raw, r)
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
	if rows, err = readCells(book, book.GetSheetName(0), formulas, r); err != nil {
		r.filef(Damaged, sayDamaged)
		return nil
	}
	return rows
}

// readCells returns the rows of a sheet that are not blank.
func readCells(book *excelize.File, sheet string, formulas bool, r *report) (rows []sheetRow, err error) {
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
	all, err := book.GetRows(sheet)
	if err != nil {
		return nil, err //nolint:wrapcheck // as above
	}
	for i, texts := range all {
		row := sheetRow{number: i + 1, cells: make([]cell, len(texts))}
		for j, text := range texts {
			if row.cells[j], err = readCell(book, sheet, i+1, j+1, text, formulas); err != nil {
				return nil, err
			}
		}
		if !row.blank() {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// readCell reads the type of a cell besides its text: the same text means different amounts as a number and as text. It
// looks for formulas only if the sheet has any, because each look-up searches the sheet.
func readCell(book *excelize.File, sheet string, row, column int, text string, formulas bool) (c cell, err error) {
	c.text = text
	if text == "" && !formulas {
		return c, nil
	}
	at, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		return c, err //nolint:wrapcheck // only reported as damaged
	}
	kind, err := book.GetCellType(sheet, at)
	if err != nil {
		return c, err //nolint:wrapcheck // as above
	}
	c.number = kind == excelize.CellTypeNumber || kind == excelize.CellTypeUnset
	if formulas {
		formula, err := book.GetCellFormula(sheet, at)
		if err != nil {
			return c, err //nolint:wrapcheck // as above
		}
		c.formula = formula != ""
	}
	return c, nil
}

// checkParts unpacks all parts of a workbook within limits, before the library does it without. It reports whether a
// sheet has formulas.
func checkParts(raw []byte, r *report) (formulas bool) {
	a := &archive{r, MaxUnpacked}
	elements := 0
	for _, f := range a.open(raw) {
		s := scan{report: r, elements: elements}
		// Every part may be a sheet: its name does not matter.
		if !a.stream(f, MaxUnpacked, s.part) {
			return false
		}
		elements, formulas = s.elements, formulas || s.formulas
	}
	return formulas
}

// scan checks one XML part of a workbook.
type scan struct {
	report      *report
	elements    int
	row, column int
	formulas    bool
}

// part reads a part up to its end or the first problem. A part that is not XML, such as a picture, ends the scan
// without a problem; the library refuses it if it is not allowed there.
func (s *scan) part(content io.Reader) error {
	d := xml.NewDecoder(content)
	d.Strict = false
	for s.report.ok() {
		t, err := d.RawToken()
		if err != nil {
			return nil //nolint:nilerr // the rest of the part is only counted
		}
		if e, ok := t.(xml.StartElement); ok {
			s.element(e)
		}
	}
	return nil
}

// element counts an element and follows the position of rows and cells. Sheets may omit positions; a row or cell without
// one comes after the one before.
func (s *scan) element(e xml.StartElement) {
	if s.elements++; s.elements > maxElements {
		s.report.filef(ZipBomb, sayBomb)
		return
	}
	switch e.Name.Local {
	case "f":
		s.formulas = true
	case "row":
		s.row, s.column = s.row+1, 0
		if n, err := strconv.Atoi(attribute(e, "r")); err == nil {
			s.row = n
		}
	case "c":
		s.column++
		if column, row, err := excelize.CellNameToCoordinates(attribute(e, "r")); err == nil {
			s.column, s.row = column, row
		}
	default:
		return
	}
	switch {
	case s.row > maxSheetRow:
		s.report.filef(TooManyRows,
			"A sheet can have at most %d dishes. Delete the rows below the menu, also empty ones.", MaxRows)
	case s.column > MaxColumns:
		s.report.addf(s.row, "", TooWide, "A sheet can have at most %d columns. Delete the columns beside the menu.", MaxColumns)
	}
}

// attribute returns an attribute of an element; names may have a prefix.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if strings.EqualFold(a.Name.Local, name) && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}
