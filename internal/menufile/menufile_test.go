package menufile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"comanda/internal/money"
	"comanda/internal/testenv"
)

var vietnam = Options{money.VND, []string{"vi", "en"}}

const head = "key,category,name,description,price,quota,image\n"

// The files have the same content in different formats.
func TestRead_forms(t *testing.T) {
	units := int64(20)
	want := []DishRow{
		{
			Number: 2, Key: "pho-bo", Category: map[string]string{"vi": "Phở", "en": "Pho"},
			Name:        map[string]string{"vi": "Phở bò", "en": "Beef pho"},
			Description: map[string]string{"vi": "Bánh phở,\nthịt bò"}, Price: 65_000, Quota: QuotaCell{true, &units},
		},
		{
			Number: 3, Key: "trà-đá", Category: map[string]string{"vi": "Đồ uống", "en": "Drinks"},
			Name: map[string]string{"vi": "Trà đá", "en": "Iced tea"}, Description: map[string]string{}, Price: 5_000,
		},
	}
	commas := "key,category,name,description,price,quota,image,category:en,name:en,description:en\n" +
		"pho-bo,Phở,Phở bò,\"Bánh phở,\nthịt bò\",65.000,20,,Pho,Beef pho,\n" +
		",Đồ uống,Trà đá,,5k,,,Drinks,Iced tea,\n"
	semicolons := "\xef\xbb\xbfKEY; Category ;name;description;price;quota;image;category:EN;name:en;description:en\r\n" +
		"pho-bo;Phở;Phở bò;\"Bánh phở,\r\nthịt bò\";65,000 ₫;20;;Pho;Beef pho;\r\n" +
		"'';Đồ uống;Trà đá;;5000;;;Drinks;Iced tea;\r\n"
	semicolons = strings.Replace(semicolons, "'';", ";", 1)
	other := "price,name:vi,name:en,category,category:en,description,quota,key\n" +
		"65 000,Phở bò,Beef pho,Phở,Pho,\"Bánh phở,\nthịt bò\",20,pho-bo\n5000,Trà đá,Iced tea,Đồ uống,Drinks,,,\n"
	book := workbook(t, func(b *excelize.File) {
		rows(t, b, []any{"key", "category", "name", "description", "price", "quota", "image", "category:en", "name:en", "description:en"},
			[]any{"pho-bo", "Phở", "Phở bò", "Bánh phở,\nthịt bò", 65000, 20, nil, "Pho", "Beef pho"},
			[]any{nil, "Đồ uống", "Trà đá", nil, "5.000đ", nil, nil, "Drinks", "Iced tea"})
	})
	// Rows end with carriage returns, lines inside a cell with line feeds.
	returns := strings.ReplaceAll(strings.ReplaceAll(commas, "\n", "\r"), "Bánh phở,\r", "Bánh phở,\n")
	for name, raw := range map[string][]byte{
		"commas": []byte(commas), "returns": []byte(returns), "semicolons": []byte(semicolons), "other order": []byte(other), "workbook": book,
		"archive": archiveOf(t, "menu.csv", commas), "workbook in an archive": archiveOf(t, "a/menu.xlsx", string(book)),
	} {
		got, problems := Read(raw, vietnam)
		if len(problems) > 0 {
			t.Errorf("problems of %s = %v, want none", name, problems)
		}
		if d := cmp.Diff(want, got.Rows); d != "" {
			t.Errorf("rows of %s (-want +got):\n%s", name, d)
		}
	}
}

func TestRead_numbers_rows_as_spreadsheets_do(t *testing.T) {
	file := head + ",Phở,Một,\"a\nb\nc\",1000,,\n\n,,,,,,\n,Phở,Hai,,x,,\n"
	_, problems := Read([]byte(file), vietnam)
	if len(problems) != 1 || problems[0].Row != 5 || problems[0].Column != "price" {
		t.Errorf("problems = %v, want one in the price of row 5", problems)
	}
}

func TestRead_keeps_and_clears(t *testing.T) {
	file := head + "a,Phở,Một,-,1000,-,-\nb,Phở,Hai,'-,1000,,\n"
	got, problems := Read([]byte(file), vietnam)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	a, b := got.Rows[0], got.Rows[1]
	if s, ok := a.Description["vi"]; !ok || s != "" || !a.Quota.Given || a.Quota.Units != nil || a.Image != Clear {
		t.Errorf("a dash does not clear: %+v", a)
	}
	if b.Description["vi"] != "-" || b.Quota.Given || b.Image != "" {
		t.Errorf("an empty cell does not keep: %+v", b)
	}
}

func TestRead_pictures(t *testing.T) {
	file := head + "a,Phở,Một,,1000,,pics/a.jpg\nb,Phở,Hai,,1000,,/media/0123-960.jpg\n"
	raw := zipOf(t, entry{"menu.csv", file}, entry{"pics/a.jpg", "A"}, entry{"unused.png", "B"}, entry{"__MACOSX/menu.csv", "x"})
	got, problems := Read(raw, vietnam)
	if len(problems) > 0 || len(got.Pictures) != 1 || string(got.Pictures["a.jpg"]) != "A" || got.Rows[0].Image != "a.jpg" {
		t.Errorf("pictures = %v, rows %v, problems %v, want only a.jpg", got.Pictures, got.Rows, problems)
	}
}

func TestRead_exports_of_other_systems(t *testing.T) {
	type line struct {
		number      int
		key         string
		name        string
		category    string
		description string
		price       int64
	}
	for file, want := range map[string][]line{
		"square.csv": {
			{2, "6F4K2BVNE7PQ3LDTCW5JX2AY", "Pho with beef", "Noodles", "Rice noodles, tender beef", 1_250},
			{3, "7GB5M3WQFX2R8NKDTL4PHZ6C", "Iced coffee Small", "Drinks", "Robusta with condensed milk", 350},
			{4, "5TZK7QJXW4NDM2BPC8LFRG3H", "Iced coffee Large", "Drinks", "Robusta with condensed milk", 450},
		},
		"square_2026.csv": {
			{2, "UXYZ3JQ5L7K2MPDW4NTA6BRE", "Bánh mì", "Sandwiches", "With pâté and pickles", 895},
			{3, "VW2KQJ7M5XNTR4PDLC3GBHZ6", "Bánh mì Chay", "Sandwiches", "With pâté and pickles", 795},
		},
		"loyverse.csv": {
			{2, "beef-pho", "Beef pho", "Noodles", "Rice noodles, tender beef", 1_250},
			{3, "iced-coffee:small-sweet", "Iced coffee Small / Sweet", "Drinks", "", 350},
			{4, "iced-coffee:large-sweet", "Iced coffee Large / Sweet", "Drinks", "", 450},
			{5, "lunch-set", "Lunch set", "Sets", "", 1_500},
		},
	} {
		raw := testenv.Must(os.ReadFile("testdata/" + file))(t)
		got, problems := Read(raw, Options{money.USD, []string{"en", "vi"}})
		if len(problems) > 0 {
			t.Errorf("problems of %s = %v, want none", file, problems)
		}
		lines := make([]line, len(got.Rows))
		for i, r := range got.Rows {
			lines[i] = line{r.Number, r.Key, r.Name["en"], r.Category["en"], r.Description["en"], r.Price}
		}
		if d := cmp.Diff(want, lines, cmp.AllowUnexported(line{})); d != "" {
			t.Errorf("rows of %s (-want +got):\n%s", file, d)
		}
	}
}

// at returns a problem without its message: row, column and code.
func at(row int, column string, code ProblemCode) string {
	return fmt.Sprintf("%d/%s/%s", row, column, code)
}

func whole(code ProblemCode) []string { return []string{at(0, "", code)} }

// bad are files with their exact reports.
var bad = []struct {
	name string
	file func(t *testing.T) []byte
	want []string
}{
	{"empty", plainText(""), whole(Empty)},
	{"only white space", plainText(" \r\n\n"), whole(Empty)},
	{"only a byte order mark", plainText("\xef\xbb\xbf"), whole(Empty)},
	{"only separators", plainText(",,,\n,,\n"), whole(Empty)},
	{"only a header", plainText(head), whole(NoRows)},
	{"no header", plainText("pho,Phở,Phở bò,,65000,,\n"), []string{
		at(1, "pho", UnknownColumn), at(1, "phở", UnknownColumn), at(1, "phở bò", UnknownColumn), at(1, "65000", UnknownColumn),
		at(1, "category", ColumnMissing), at(1, "name", ColumnMissing), at(1, "price", ColumnMissing),
	}},
	{"UTF-16 little endian", func(*testing.T) []byte { return utf16le("\ufeff" + head + ",Phở,Phở bò,,65000,,\n") }, whole(Encoding)},
	{"UTF-16 big endian", func(*testing.T) []byte { return utf16be("\ufeff" + head + ",Phở,Phở bò,,65000,,\n") }, whole(Encoding)},
	{"UTF-16 without a mark", func(*testing.T) []byte { return utf16le(head + ",Pho,Pho bo,,65000,,\n") }, whole(Encoding)},
	{"Latin-1", plainText(head + ",Caf\xe9,Caf\xe9 au lait,,65000,,\n"), []string{at(2, "", Encoding)}},
	{"Windows-1258 in row 3", plainText(head + ",Pho,Pho,,65000,,\n,Pho,Tr\xe0 \xf0\xe1,,5000,,\n"), []string{at(3, "", Encoding)}},
	{"Shift JIS", plainText(head + ",\x83\x89\x81\x5b\x83\x81\x83\x93,x,,800,,\n"), []string{at(2, "", Encoding)}},
	{"letters that were lost", plainText(head + ",Phở,Ph\uFFFD b\uFFFD,,65000,,\n"), []string{at(2, "name", Encoding)}},
	{"a picture", plainText("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), whole(FileType)},
	{"a PDF", plainText("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"), whole(FileType)},
	{"an old Excel file", plainText("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600)), whole(FileType)},
	{"too large", func(*testing.T) []byte { return bytes.Repeat([]byte("x"), MaxFile+1) }, whole(TooLarge)},
	{"100,000 rows", func(*testing.T) []byte {
		return []byte(head + strings.Repeat(",Phở,Phở bò,,65000,,\n", 100_000))
	}, whole(TooManyRows)},
	{"one row too many", func(*testing.T) []byte {
		var b strings.Builder
		b.WriteString(head)
		for i := range MaxRows + 1 {
			fmt.Fprintf(&b, "k%d,Phở,Phở %d,,65000,,\n", i, i)
		}
		return []byte(b.String())
	}, whole(TooManyRows)},
	{"a quote that is not closed", plainText(head + ",Phở,\"Phở bò,,65000,,\n"), []string{at(2, "", Quotes)}},
	{"a quote inside a cell", plainText(head + ",Pizza,Pizza 12\" large,,65000,,\n"), []string{at(2, "", Quotes)}},
	{"a text with a comma", plainText(head + ",Phở,Phở, bò,,65000,20,bo\n"), []string{
		at(2, "H", TooWide), at(2, "price", PriceMissing), at(2, "image", ImageMissing),
	}},
	{"101 columns", plainText(head + strings.Repeat("x,", MaxColumns+1) + "\n"), []string{at(2, "", TooWide)}},
	{"an unknown column", plainText("category,name,price,colour\nPhở,Phở bò,65000,red\n"), []string{at(1, "colour", UnknownColumn)}},
	{"a column without a name", plainText("category,name,price,\nPhở,Phở bò,65000,red\n"), []string{at(1, "D", UnknownColumn)}},
	{"a language that the branch lacks", plainText("category,name,price,name:ja\nPhở,Phở bò,65000,フォー\n"), []string{at(1, "name:ja", NotOffered)}},
	{"a price in a language", plainText("category,name,price,price:en\nPhở,Phở bò,65000,1\n"), []string{at(1, "price:en", UnknownColumn)}},
	{"two equal headers", plainText("category,name,price,Name\nPhở,Phở bò,65000,x\n"), []string{at(1, "name", DuplicateColumn)}},
	{"a header twice, once with its language", plainText("category,name,price,name:vi\nPhở,Phở bò,65000,x\n"), []string{at(1, "name", DuplicateColumn)}},
	{"no price column", plainText("category,name\nPhở,Phở bò\n"), []string{at(1, "price", ColumnMissing)}},
	{"no category column", plainText("name,price\nPhở bò,65000\n"), []string{at(1, "category", ColumnMissing)}},
	{"an unreadable price", plainText(head + ",Phở,Phở bò,,cheap,,\n"), []string{at(2, "price", PriceUnreadable)}},
	{"decimals in a currency without", plainText(head + ",Phở,Phở bò,,\"1,234.50\",,\n"), []string{at(2, "price", PriceUnreadable)}},
	{"an ambiguous price", plainText(head + ",Phở,Phở bò,,65.00,,\n"), []string{at(2, "price", PriceAmbiguous)}},
	{"a negative price", plainText(head + ",Phở,Phở bò,,-65000,,\n"), []string{at(2, "price", PriceNegative)}},
	{"a price in another currency", plainText(head + ",Phở,Phở bò,,$2.50,,\n"), []string{at(2, "price", PriceCurrency)}},
	{"a price that is too high", plainText(head + ",Phở,Phở bò,,65000000000,,\n"), []string{at(2, "price", PriceTooLarge)}},
	{"no price", plainText(head + ",Phở,Phở bò,,,,\n"), []string{at(2, "price", PriceMissing)}},
	{"no name", plainText(head + "a,Phở,,,65000,,\n"), []string{at(2, "name", NameMissing)}},
	{"no category", plainText(head + ",Phở,Phở bò,,65000,,\n,,Phở gà,,60000,,\n"), []string{at(3, "category", CategoryMissing)}},
	{"a cleared name", plainText(head + "a,Phở,-,,65000,,\n"), []string{at(2, "name", NameMissing)}},
	{"a category with two translations", plainText("category,category:en,name,price\nPhở,Pho,Một,1000\nPhở,,Hai,1000\nphở,Noodles,Ba,1000\n"),
		[]string{at(4, "category:en", CategoryConflict)}},
	{"equal keys", plainText(head + "a,Phở,Một,,1000,,\nb,Phở,Hai,,1000,,\na,Phở,Ba,,1000,,\n"), []string{at(4, "key", DuplicateKey)}},
	{"equal names without keys", plainText(head + ",Phở,Phở bò,,1000,,\n,Khác,phở  BÒ,,1000,,\n"), []string{at(3, "key", DuplicateKey)}},
	{"a key equal to a made one", plainText(head + ",Phở,Phở bò,,1000,,\nphở-bò,Khác,Khác,,1000,,\n"), []string{at(3, "key", DuplicateKey)}},
	{"a quota in words", plainText(head + ",Phở,Phở bò,,65000,twenty,\n"), []string{at(2, "quota", QuotaUnreadable)}},
	{"a negative quota", plainText(head + ",Phở,Phở bò,,65000,-1,\n"), []string{at(2, "quota", QuotaUnreadable)}},
	{"a quota that is too high", plainText(head + ",Phở,Phở bò,,65000,1000001,\n"), []string{at(2, "quota", QuotaUnreadable)}},
	{"a picture without an archive", plainText(head + ",Phở,Phở bò,,65000,,bo.jpg\n"), []string{at(2, "image", ImageMissing)}},
	{"a control character", plainText(head + ",Phở,Phở\x07 bò,,65000,,\n"), []string{at(2, "name", Control)}},
	{"an override of direction", plainText(head + ",Phở,Phở \u202ebò,,65000,,\n"), []string{at(2, "name", Direction)}},
	{"an invisible name", plainText(head + "a,Phở,\u200b,,65000,,\n"), []string{at(2, "name", Invisible)}},
	{"a name of two lines", plainText(head + ",Phở,\"Phở\nbò\",,65000,,\n"), []string{at(2, "name", LineBreak)}},
	{"a long name", plainText(head + "a,Phở," + strings.Repeat("ở", MaxName+1) + ",,65000,,\n"), []string{at(2, "name", CellTooLong)}},
	{"a very long description", plainText(head + "a,Phở,Phở," + strings.Repeat("x", 100_000) + ",65000,,\n"), []string{at(2, "description", CellTooLong)}},
	{"a long key", plainText(head + strings.Repeat("k", MaxKey+1) + ",Phở,Phở bò,,65000,,\n"), []string{at(2, "key", CellTooLong)}},
	{"several problems", plainText(head + ",Phở,Một,,x,y,\n,,Hai,,1000,,\n"), []string{
		at(2, "price", PriceUnreadable), at(2, "quota", QuotaUnreadable), at(3, "category", CategoryMissing),
	}},
	{"merged cells", func(t *testing.T) []byte {
		return workbook(t, func(b *excelize.File) {
			rows(t, b, []any{"category", "name", "price"}, []any{"Phở", "Một", 1000}, []any{nil, "Hai", 1000})
			testenv.NoError(t, b.MergeCell("Sheet1", "A2", "A3"))
		})
	}, []string{at(2, "A2", Merged)}},
	{"a formula", func(t *testing.T) []byte {
		return workbook(t, func(b *excelize.File) {
			rows(t, b, []any{"category", "name", "price"}, []any{"Phở", "Một", 1000}, []any{"Phở", "Hai", 1100})
			testenv.NoError(t, b.SetCellFormula("Sheet1", "C3", "C2*1.1"))
		})
	}, []string{at(3, "price", Formula)}},
	{"formulas as text", plainText(head + ",Phở,=1+1,,=60000+5000,,\n"), []string{at(2, "name", Formula), at(2, "price", Formula)}},
	{"an error value", func(t *testing.T) []byte {
		return workbook(t, func(b *excelize.File) {
			rows(t, b, []any{"category", "name", "price"}, []any{"Phở", "Một", "#REF!"})
		})
	}, []string{at(2, "price", PriceUnreadable)}},
	{"a fraction as a number", func(t *testing.T) []byte {
		return workbook(t, func(b *excelize.File) { rows(t, b, []any{"category", "name", "price"}, []any{"Phở", "Một", 65.5}) })
	}, []string{at(2, "price", PriceUnreadable)}},
	{"a workbook without cells", func(t *testing.T) []byte { return workbook(t, func(*excelize.File) {}) }, whole(Empty)},
	{"a workbook with a far row", func(t *testing.T) []byte {
		return workbook(t, func(b *excelize.File) {
			rows(t, b, []any{"category", "name", "price"}, []any{"Phở", "Một", 1000})
			testenv.NoError(t, b.SetCellValue("Sheet1", "A1048576", "x"))
		})
	}, whole(TooManyRows)},
	{"a workbook with a far column", func(t *testing.T) []byte {
		return workbook(t, func(b *excelize.File) { testenv.NoError(t, b.SetCellValue("Sheet1", "XFD1", "x")) })
	}, []string{at(1, "", TooWide)}},
	{"a workbook of 100,000 rows", func(t *testing.T) []byte {
		return rawWorkbook(t, strings.Repeat(`<row><c t="inlineStr"><is><t>Phở</t></is></c></row>`, 100_000))
	}, whole(TooManyRows)},
	{"a workbook cut off", func(t *testing.T) []byte {
		raw := workbook(t, func(b *excelize.File) { rows(t, b, []any{"category", "name", "price"}) })
		return raw[:len(raw)/2]
	}, whole(Damaged)},
	{"a workbook without its sheet", func(t *testing.T) []byte { return zipOf(t, entry{"[Content_Types].xml", "<Types/>"}) }, whole(Damaged)},
	{"a workbook that is a ZIP bomb", func(t *testing.T) []byte {
		return rawWorkbook(t, strings.Repeat(" ", 20<<20))
	}, whole(ZipBomb)},
	{"a workbook with a million elements", func(t *testing.T) []byte {
		return rawWorkbook(t, `<row r="1">`+strings.Repeat(`<x/>`, maxElements)+`</row>`)
	}, whole(ZipBomb)},
	{"a ZIP bomb", func(t *testing.T) []byte {
		return zipOf(t, entry{"menu.csv", head + ",Phở,Phở bò,,65000,,\n"}, entry{"bo.jpg", strings.Repeat("\x00", MaxPicture)})
	}, whole(ZipBomb)},
	{"an archive with a huge file", func(t *testing.T) []byte {
		return zipOf(t, entry{"menu.csv", head}, entry{"bo.jpg", strings.Repeat("\x00", MaxPicture+1)})
	}, whole(ZipBomb)},
	{"an archive whose directory lies", falseSizeArchive, whole(Damaged)},
	{"an archive that leaves its folder", func(t *testing.T) []byte {
		return zipOf(t, entry{"menu.csv", head}, entry{"../../etc/passwd", "x"})
	}, whole(ZipName)},
	{"an archive with an absolute name", func(t *testing.T) []byte {
		return zipOf(t, entry{"menu.csv", head}, entry{`C:\menu.jpg`, "x"})
	}, whole(ZipName)},
	{"an archive without a menu", func(t *testing.T) []byte { return zipOf(t, entry{"bo.jpg", "x"}) }, whole(ZipContent)},
	{"an archive with two menus", func(t *testing.T) []byte {
		return zipOf(t, entry{"a.csv", head}, entry{"b.xlsx", "x"})
	}, whole(ZipContent)},
	{"an archive with two equal names", func(t *testing.T) []byte {
		return zipOf(t, entry{"a.csv", head}, entry{"a/bo.jpg", "x"}, entry{"b/bo.jpg", "y"})
	}, whole(ZipContent)},
	{"an archive with too many files", func(t *testing.T) []byte {
		entries := []entry{{"menu.csv", head}}
		for i := range maxParts {
			entries = append(entries, entry{fmt.Sprintf("%d.jpg", i), "x"})
		}
		return zipOf(t, entries...)
	}, whole(ZipContent)},
	{"an archive without the picture", func(t *testing.T) []byte {
		return zipOf(t, entry{"menu.csv", head + ",Phở,Phở bò,,65000,,bo.jpg\n"}, entry{"ga.jpg", "x"})
	}, []string{at(2, "image", ImageMissing)}},
	{"an archive in an archive", func(t *testing.T) []byte {
		return zipOf(t, entry{"menu.xlsx", string(archiveOf(t, "menu.csv", head))})
	}, whole(Damaged)},
	{"an archive cut off", func(t *testing.T) []byte {
		raw := archiveOf(t, "menu.csv", head)
		return raw[:len(raw)-10]
	}, whole(Damaged)},
	{"Square with a variable price", plainText("Token,Item Name,Variation Name,Category,Price\nT1,Tip,Regular,Other,variable\n"),
		[]string{at(2, "Price", PriceVariable)}},
	{"Square without a category", plainText("Token,Item Name,Variation Name,Category,Price\nT1,Tea,Regular,,30000\n"),
		[]string{at(2, "Category", CategoryMissing)}},
	{"Loyverse with an unreadable price", plainText("Handle,Name,Category,Price [Main]\ntea,Tea,Drinks,cheap\n"),
		[]string{at(2, "Price [Main]", PriceUnreadable)}},
}

func TestRead_reports(t *testing.T) {
	t.Parallel()
	if len(bad) < 40 {
		t.Errorf("%d files", len(bad))
	}
	for _, c := range bad {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, problems := Read(c.file(t), vietnam)
			var got []string
			for _, p := range problems {
				got = append(got, at(p.Row, p.Column, p.Code))
				if p.Message == "" || strings.Contains(p.Message, "%!") {
					t.Errorf("message %q", p.Message)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("reports %q, want %q", got, c.want)
			}
		})
	}
}

func TestRead_limits_its_report(t *testing.T) {
	_, problems := Read([]byte(head+strings.Repeat(",,,,x,y,\n", MaxRows)), vietnam)
	if len(problems) != MaxProblems+1 || problems[MaxProblems].Code != MoreFound {
		t.Errorf("%d problems, the last is %v", len(problems), problems[len(problems)-1])
	}
}

func plainText(s string) func(*testing.T) []byte { return func(*testing.T) []byte { return []byte(s) } }

func utf16le(s string) (out []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}

func utf16be(s string) (out []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.BigEndian.AppendUint16(out, u)
	}
	return out
}

// workbook returns an XLSX file.
func workbook(t *testing.T, fill func(*excelize.File)) []byte {
	t.Helper()
	b := excelize.NewFile()
	fill(b)
	var out bytes.Buffer
	testenv.NoError(t, b.Write(&out))
	testenv.NoError(t, b.Close())
	return out.Bytes()
}

func rows(t *testing.T, b *excelize.File, all ...[]any) {
	t.Helper()
	for i, row := range all {
		testenv.NoError(t, b.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row))
	}
}

const ns = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`

// rawWorkbook returns an XLSX file whose sheet has the given content.
func rawWorkbook(t *testing.T, sheetData string, more ...entry) []byte {
	t.Helper()
	return rawParts(t, `<worksheet `+ns+`><sheetData>`+sheetData+`</sheetData></worksheet>`, more...)
}

// rawParts returns an XLSX file with the given sheet and further parts.
func rawParts(t *testing.T, sheet string, more ...entry) []byte {
	t.Helper()
	const rel = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
	return zipOf(t, append([]entry{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`},
		{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="r1" Type="` + rel + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"xl/workbook.xml", `<workbook ` + ns + ` xmlns:r="` + rel + `"><sheets><sheet name="Menu" sheetId="1" r:id="r1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="r1" Type="` + rel + `/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`},
		{"xl/worksheets/sheet1.xml", sheet},
	}, more...)...)
}

type entry struct{ name, content string }

func zipOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range entries {
		w := testenv.Must(z.Create(e.name))(t)
		testenv.Must(w.Write([]byte(e.content)))(t)
	}
	testenv.NoError(t, z.Close())
	return out.Bytes()
}

func archiveOf(t *testing.T, name, content string) []byte { return zipOf(t, entry{name, content}) }

// falseSizeArchive returns an archive whose directory states a size of one byte for a part of 9 MB.
func falseSizeArchive(t *testing.T) []byte {
	raw := zipOf(t, entry{"menu.csv", head}, entry{"bo.jpg", strings.Repeat("\x00", 9<<20)})
	size := binary.LittleEndian.AppendUint32(nil, 9<<20)
	if !bytes.Contains(raw, size) {
		t.Fatal("the size was not found")
	}
	return bytes.ReplaceAll(raw, size, []byte{1, 0, 0, 0})
}
