package menufile

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"comanda/internal/seq"
)

// Format is a format that Write writes.
type Format string

// The formats.
const (
	CSV  Format = "csv"
	XLSX Format = "xlsx"
)

// ContentType returns the media type of a format.
func (f Format) ContentType() string {
	if f == XLSX {
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	}
	return "text/csv; charset=utf-8"
}

// dangerous are the first characters of texts that spreadsheet programs execute as a formula, including full-width
// forms (OWASP, CSV injection). Clear begins with one of them, so a text that equals Clear is escaped and not taken for
// Clear.
const dangerous = "=+-@\t\r\n＝＋－＠"

// escape returns a text with a leading apostrophe if a spreadsheet program would execute it. unescape is the inverse.
func escape(s string) string {
	if s != "" && (strings.ContainsRune(dangerous, []rune(s)[0]) || unescape(s) != s) {
		return "'" + s
	}
	return s
}

// unescape removes the apostrophe that escape has added. Any other leading apostrophe stays.
func unescape(s string) string {
	rest, ok := strings.CutPrefix(s, "'")
	if !ok || rest == "" {
		return s
	}
	if first := []rune(rest)[0]; strings.ContainsRune(dangerous, first) || first == '\'' && unescape(rest) != rest {
		return rest
	}
	return s
}

// Write returns dishes as a file of the template.
func Write(f Format, o Options, rows []DishRow) ([]byte, error) {
	cells := seq.Map(rows, func(row DishRow) []string { return cellsOf(row, o) })
	table := slices.Insert(cells, 0, columns(o))
	if f == XLSX {
		return writeXLSX(table)
	}
	return writeCSV(table)
}

// Template returns a file with two examples.
func Template(f Format, o Options) ([]byte, error) {
	price := int64(65_000)
	if o.Currency.Decimals() > 0 {
		price = 1250
	} else if o.Currency != "VND" {
		price = 650
	}
	quota := int64(20)
	texts := func(en, vi, zh, ja, th, de string) map[string]string {
		known := map[string]string{"en": en, "vi": vi, "zh-TW": zh, "ja": ja, "th": th, "de": de}
		out := map[string]string{}
		for _, l := range o.Locales {
			out[l] = known[l]
		}
		return out
	}
	size := texts("Size", "Cỡ", "份量", "サイズ", "ขนาด", "Größe")
	small := texts("Regular", "Vừa", "一般", "並", "ธรรมดา", "Normal")
	large := texts("Large", "Lớn", "大份", "大盛", "พิเศษ", "Groß")
	sizes := []OptionCell{{Price: price, Default: true}, {Price: price * 5 / 4}}
	sizes[0].Name, sizes[0].Names = o.firstOf(small)
	sizes[1].Name, sizes[1].Names = o.firstOf(large)
	group := OptionGroupCell{Kind: kindSize, Min: 1, Max: new(int64(1)), MaxEach: 1, Options: sizes}
	group.Name, group.Names = o.firstOf(size)
	noodles := texts("Noodles", "Phở", "麵食", "麺類", "ก๋วยเตี๋ยว", "Nudeln")
	return Write(f, o, []DishRow{
		{
			Key: "beef-pho", Category: noodles, Name: texts("Beef pho", "Phở bò", "牛肉河粉", "牛肉のフォー", "เฝอเนื้อ", "Rindfleisch-Pho"),
			Description: texts(
				"Rice noodles, tender beef", "Bánh phở, thịt bò chín", "河粉、軟嫩牛肉", "米麺と牛肉", "เส้นก๋วยเตี๋ยว เนื้อเปื่อย",
				"Reisnudeln, zartes Rindfleisch"),
			Price: price, Quota: QuotaCell{true, &quota}, TaxClass: "FOOD",
			Allergens: AllergensCell{true, true, []string{"AF"}, []string{"AY"}},
		},
		{
			Key: "chicken-pho", Category: noodles, Name: texts("Chicken pho", "Phở gà", "雞肉河粉", "鶏肉のフォー", "เฝอไก่", "Hühner-Pho"),
			Price: price, TaxClass: "FOOD", Allergens: AllergensCell{true, true, []string{"AF"}, nil},
			Options: OptionsCell{true, []OptionGroupCell{group}},
		},
	})
}

// columns returns the header.
func columns(o Options) []string {
	head := slices.Clone(fields)
	for _, locale := range o.Locales[1:] {
		for _, field := range translated {
			head = append(head, field+":"+locale)
		}
	}
	return head
}

// cellsOf returns the cells of a dish in the order of columns.
func cellsOf(row DishRow, o Options) []string {
	quota := ""
	if row.Quota.Units != nil {
		quota = strconv.FormatInt(*row.Quota.Units, 10)
	}
	base := o.Locales[0]
	contains, traces := row.Allergens.cells()
	cells := []string{
		escape(row.Key), escape(row.Category[base]), escape(row.Name[base]), escape(row.Description[base]),
		o.Currency.Format(row.Price), quota, escape(row.Image),
		escape(row.TaxClass), contains, traces, wordsOf(dietWords, row.Diets.Codes),
		escape(row.Options.Text(o)),
	}
	for _, locale := range o.Locales[1:] {
		cells = append(cells, escape(row.Category[locale]), escape(row.Name[locale]), escape(row.Description[locale]),
			escape(row.Options.names(locale)))
	}
	return cells
}

// writeCSV writes a table with a byte order mark, without which Excel reads another encoding.
func writeCSV(table [][]string) ([]byte, error) {
	b := bytes.NewBuffer(slices.Clone(bom))
	w := csv.NewWriter(b)
	w.UseCRLF = true
	if err := w.WriteAll(table); err != nil {
		return nil, fmt.Errorf("menufile: %w", err)
	}
	return b.Bytes(), nil
}

// sheetName is the sheet's name in files that are written; files that are read may have any.
const sheetName = "Menu"

// writeXLSX writes a table as a workbook. Prices and quotas are numbers, so that people can calculate with them.
func writeXLSX(table [][]string) ([]byte, error) {
	book := excelize.NewFile()
	defer func() { _ = book.Close() }()
	if err := fillSheet(book, table); err != nil {
		return nil, fmt.Errorf("menufile: %w", err)
	}
	var b bytes.Buffer
	if err := book.Write(&b); err != nil {
		return nil, fmt.Errorf("menufile: %w", err)
	}
	return b.Bytes(), nil
}

// fillSheet writes a table with a fixed first row. Prices and quotas are numbers, so that spreadsheet programs can compute
// with them; everything else is text, or programs would turn names such as "7-1" into dates.
func fillSheet(book *excelize.File, table [][]string) error {
	if err := book.SetSheetName(book.GetSheetName(0), sheetName); err != nil {
		return err //nolint:wrapcheck // wrapped by the caller
	}
	w, err := book.NewStreamWriter(sheetName)
	if err != nil {
		return err //nolint:wrapcheck // as above
	}
	if err := w.SetColWidth(1, len(table[0]), 24); err != nil {
		return err //nolint:wrapcheck // as above
	}
	if err := w.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return err //nolint:wrapcheck // as above
	}
	price, quota := slices.Index(fields, "price"), slices.Index(fields, "quota")
	for i, texts := range table {
		cells := make([]any, len(texts))
		for j, s := range texts {
			cells[j] = s
			if i == 0 || s == "" || j != price && j != quota {
				continue
			}
			if n, err := strconv.ParseFloat(s, 64); err == nil {
				cells[j] = n
			}
		}
		if err := w.SetRow("A"+strconv.Itoa(i+1), cells); err != nil {
			return err //nolint:wrapcheck // as above
		}
	}
	return w.Flush() //nolint:wrapcheck // as above
}
