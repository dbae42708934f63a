package menufile

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// sheetOf returns a sheet with content around its rows.
func sheetOf(before, rows, after string) string {
	return `<worksheet ` + ns + `>` + before + `<sheetData>` + rows + `</sheetData>` + after + `</worksheet>`
}

// sharedText returns the part of shared texts with one text.
func sharedText(content string) entry {
	return entry{"xl/sharedStrings.xml", `<sst ` + ns + `><si>` + content + `</si></sst>`}
}

// textRow is a row of cells that all have the first shared text.
func textRow(attributes string, cells int) string {
	return `<row` + attributes + `>` + strings.Repeat(`<c t="s"><v>0</v></c>`, cells) + `</row>`
}

// costly are small files for which the library would take gigabytes or minutes.
var costly = []struct {
	name string
	file func(t *testing.T) []byte
	want []string
}{
	{"a shared text that is too long", func(t *testing.T) []byte {
		long := strings.Repeat("a", maxText/2)
		return rawWorkbook(t, textRow("", 1), sharedText(`<r><t>`+long+`</t></r><r><t>`+long+`</t></r><r><t>aaa</t></r>`))
	}, whole(ZipBomb)},
	{"a long shared text around another", func(t *testing.T) []byte {
		run := `<r><t>` + strings.Repeat("a", maxText/2) + `</t></r><si></si>`
		return rawWorkbook(t, textRow("", 1), sharedText(strings.Repeat(run, 3)))
	}, whole(ZipBomb)},
	{"a shared text in many cells", func(t *testing.T) []byte {
		return rawWorkbook(t, strings.Repeat(textRow("", MaxColumns), 100),
			sharedText(`<r><t>`+strings.Repeat("a", maxText/2)+`</t></r>`))
	}, whole(ZipBomb)},
	{"a shared text in many cells of a column", func(t *testing.T) []byte {
		row := `<row r="1">` + strings.Repeat(`<c r="A1" t="s"><v>0</v></c>`, 20_000) + `</row>`
		return rawWorkbook(t, row, sharedText(`<r><t>`+strings.Repeat("a", maxText)+`</t></r>`))
	}, []string{at(1, "", TooWide)}},
	{"a shared text in many rows of a number", func(t *testing.T) []byte {
		return rawWorkbook(t, strings.Repeat(textRow(` r="1"`, MaxColumns), 20),
			sharedText(`<r><t>`+strings.Repeat("a", maxText)+`</t></r>`))
	}, whole(Damaged)},
	{"rows without a valid number", func(t *testing.T) []byte {
		return rawWorkbook(t, strings.Repeat(`<row r="0"/>`, 100_000))
	}, whole(Damaged)},
	{"many rows whose cells are in the first", func(t *testing.T) []byte {
		return rawWorkbook(t, strings.Repeat(`<row><c r="A1"><v>1</v></c></row>`, maxSheetRow+1))
	}, whole(TooManyRows)},
	{"a cell far below its row", func(t *testing.T) []byte {
		return rawWorkbook(t, `<row><c r="A1048576"><v>1</v></c></row>`)
	}, whole(TooManyRows)},
	{"a far column in a second attribute", func(t *testing.T) []byte {
		return rawWorkbook(t, `<row><c r="A1" x:r="XFD1"><v>1</v></c></row>`)
	}, []string{at(0, "", Damaged), at(1, "", TooWide)}},
	{"a far column in an attribute with a prefix", func(t *testing.T) []byte {
		return rawWorkbook(t, `<row><c x:r="XFD1"><v>1</v></c></row>`)
	}, []string{at(1, "", TooWide)}},
	{"a far row in an encoding of old systems", func(t *testing.T) []byte {
		return rawParts(t, `<?xml version="1.0" encoding="ISO-8859-1"?>`+sheetOf("", `<row r="1048576"/>`, ""))
	}, whole(Damaged)},
	{"a change of the encoding in the middle", func(t *testing.T) []byte {
		return rawParts(t, sheetOf(`<?xml version="1.0" encoding="windows-1252"?>`, `<row r="1048576"/>`, ""))
	}, whole(Damaged)},
	{"an element with a million attributes", func(t *testing.T) []byte {
		return rawWorkbook(t, `<row `+strings.Repeat(`a="" `, 1<<20)+`/>`)
	}, whole(ZipBomb)},
	{"many merged cells", func(t *testing.T) []byte {
		return rawParts(t, sheetOf("", "", `<mergeCells>`+strings.Repeat(`<mergeCell ref="A1:B2"/>`, maxMerged+1)+`</mergeCells>`))
	}, whole(Merged)},
	{"many sheets", func(t *testing.T) []byte {
		sheets := `<sheets>` + strings.Repeat(`<sheet/>`, maxSheets+1) + `</sheets>`
		return rawWorkbook(t, "", entry{"xl/more.xml", sheets})
	}, whole(ZipBomb)},
	{"many relationships", func(t *testing.T) []byte {
		relationships := `<a>` + strings.Repeat(`<Relationship/>`, maxRelationships+1) + `</a>`
		return rawWorkbook(t, "", entry{"xl/more.rels", relationships})
	}, whole(ZipBomb)},
}

// TestRead_refuses_costly_workbooks also limits the memory.
func TestRead_refuses_costly_workbooks(t *testing.T) {
	for _, c := range costly {
		t.Run(c.name, func(t *testing.T) {
			raw := c.file(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, problems := Read(raw, vietnam)
			runtime.ReadMemStats(&after)
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 256 {
				t.Errorf("took %d MB, want at most 256", used)
			}
			var got []string
			for _, p := range problems {
				got = append(got, at(p.Row, p.Column, p.Code))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("reports %q, want %q", got, c.want)
			}
		})
	}
}

const menuRows = `<row r="1"><c t="inlineStr"><is><t>category</t></is></c><c t="inlineStr"><is><t>name</t></is></c>` +
	`<c t="inlineStr"><is><t>price</t></is></c></row>` +
	`<row r="2"><c t="inlineStr"><is><t>Phở</t></is></c><c t="inlineStr"><is><t>Một</t></is></c><c><v>1000</v></c></row>`

// Parts beside the sheet that spreadsheet programs write look like rows, cells and formulas, or are not in UTF-8.
func TestRead_accepts_what_spreadsheet_programs_add(t *testing.T) {
	var calls, anchors strings.Builder
	for i := range maxSheetRow + 1 {
		fmt.Fprintf(&calls, `<c r="C%d" i="2"/>`, 3000-i)
		fmt.Fprintf(&anchors, `<xdr:row>%d</xdr:row>`, i)
	}
	cache := `<sheetData><row r="1"><cell r="A1"><v>1</v></cell></row></sheetData>`
	rule := `<extLst><ext><x14:cfRule><xm:f>C2>0</xm:f></x14:cfRule></ext></extLst>`
	raw := rawParts(t, `<?xml version="1.0" encoding="utf-8"?>`+sheetOf(`<dimension ref="A1:C2"/>`, menuRows, rule),
		entry{"xl/calcChain.xml", `<calcChain ` + ns + `>` + calls.String() + `</calcChain>`},
		entry{"xl/drawings/drawing1.xml", `<xdr:wsDr>` + anchors.String() + `</xdr:wsDr>`},
		entry{"xl/externalLinks/externalLink1.xml", `<externalLink ` + ns + `>` + cache + cache + `</externalLink>`},
		entry{"customXml/item1.xml", string(utf16le("\ufeff<?xml version=\"1.0\" encoding=\"utf-16\"?><DataMashup/>"))})
	file, problems := Read(raw, vietnam)
	if len(problems) > 0 || len(file.Rows) != 1 || file.Rows[0].Price != 1000 {
		t.Errorf("rows = %v, problems %v, want one dish for 1000", file.Rows, problems)
	}
}

// A sheet in which every cell shares a formula is read once. Cells whose formula is missing are calculated all the same.
func TestRead_finds_shared_formulas(t *testing.T) {
	for name, first := range map[string]string{
		"with its text":   `<f t="shared" ref="C3:C9" si="0">C2*1.1</f>`,
		"without a text":  `<f t="shared" si="7"/>`,
		"of one cell":     `<f>C2*1.1</f>`,
		"with an address": `<f t="shared" ref="C3:C9" si="7"/>`,
	} {
		row := func(number int, price string) string {
			return fmt.Sprintf(`<row r="%d"><c t="inlineStr"><is><t>Phở</t></is></c><c t="inlineStr"><is><t>Món %[1]d</t></is></c>`+
				`<c>%s</c></row>`, number, price)
		}
		rows := menuRows + row(3, first+`<v>1100</v>`) + row(4, `<f t="shared" si="0"/><v>1210</v>`) + row(5, `<f></f><v>900</v>`)
		_, problems := Read(rawWorkbook(t, rows), vietnam)
		if _, again := Read(rawWorkbook(t, withoutNumbers(rows)), vietnam); !slices.Equal(problems, again) {
			t.Errorf("problems of rows without numbers = %v, want %v", again, problems)
		}
		var got []string
		for _, p := range problems {
			got = append(got, at(p.Row, p.Column, p.Code))
		}
		if want := []string{at(3, "price", Formula), at(4, "price", Formula)}; !slices.Equal(got, want) {
			t.Errorf("reports of a formula %s: %q, want %q", name, got, want)
		}
	}
}

// withoutNumbers moves the numbers of rows to their first cells.
func withoutNumbers(rows string) string {
	return regexp.MustCompile(`<row r="(\d+)"><c`).ReplaceAllString(rows, `<row><c r="A$1"`)
}

func TestRead_reads_many_formulas_in_little_memory(t *testing.T) {
	const first = `<row><c><f t="shared" ref="A1:CV99" si="0">`
	cells := strings.Repeat(`<c><f t="shared" si="0"/><v>1</v></c>`, MaxColumns)
	raw := rawWorkbook(t, first+strings.Repeat("A1+", 500)+`1</f></c></row>`+strings.Repeat(`<row>`+cells+`</row>`, 20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, problems := Read(raw, vietnam)
	runtime.ReadMemStats(&after)
	if objects := after.Mallocs - before.Mallocs; len(problems) == 0 || objects > 20*MaxColumns*200 {
		t.Errorf("took %d objects, %d problems, want problems and at most 200 for each cell", objects, len(problems))
	}
}
