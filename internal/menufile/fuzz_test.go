package menufile

import (
	"archive/zip"
	"bytes"
	"os"
	"testing"

	"comanda/internal/money"
	"comanda/internal/testenv"
)

// FuzzRead checks that Read never panics, and that it returns usable dishes or problems.
func FuzzRead(f *testing.F) {
	f.Add([]byte(head + ",Phở,Phở bò,,65000,20,\n"))
	f.Add([]byte("\xff\xfe"))
	f.Add([]byte("Token,Item Name,Variation Name,Category,Price\nT1,Tea,Regular,,30000\n"))
	for _, name := range []string{"square.csv", "square_2026.csv", "loyverse.csv"} {
		raw := testenv.Must(os.ReadFile("testdata/" + name))(f)
		f.Add(raw)
	}
	for _, format := range []Format{CSV, XLSX} {
		raw := testenv.Must(Template(format, vietnam))(f)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) { examine(t, raw) })
}

// FuzzRead_sheet fuzzes the XML inside of a workbook, which a mutated ZIP file never reaches.
func FuzzRead_sheet(f *testing.F) {
	f.Add(`<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c><c r="B1"><v>1</v></c></row>`)
	f.Add(`<row r="2"><c r="A2" t="s"><v>99</v></c></row><row r="1"><c r="ZZ0"><f t="shared" si="0"/></c></row>`)
	f.Add(`</sheetData><mergeCells count="1"><mergeCell ref="A1:B2"/></mergeCells><sheetData>`)
	f.Fuzz(func(t *testing.T, sheet string) { examine(t, rawWorkbook(t, sheet)) })
}

func examine(t *testing.T, raw []byte) {
	t.Helper()
	o := Options{money.VND, []string{"vi", "en"}}
	file, problems := Read(raw, o)
	if len(problems) > 0 {
		return
	}
	if len(file.Rows) == 0 {
		t.Fatal("neither dishes nor problems")
	}
	for _, row := range file.Rows {
		if row.Key == "" || row.Name["vi"] == "" || row.Category["vi"] == "" || row.Price < 0 || row.Price > MaxPrice {
			t.Fatalf("row = %+v, want a key, names, and a price in the limits", row)
		}
	}
	again := testenv.Must(Write(CSV, o, file.Rows))(t)
	if _, problems := Read(again, o); len(problems) > 0 && len(file.Pictures) == 0 && !hasPictures(raw) {
		t.Fatal(problems)
	}
}

func hasPictures(raw []byte) bool {
	_, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	return err == nil
}
