package menufile

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"comanda/internal/money"
)

// The limits of a menu file. A menu of a restaurant has a few hundred dishes; its file is far below all of them.
const (
	MaxRows        = 2000
	MaxColumns     = 100
	MaxFile        = 8 << 20  // bytes of a CSV or XLSX file
	MaxUnpacked    = 32 << 20 // bytes of all parts of an XLSX file
	MaxArchive     = 64 << 20 // bytes of a ZIP archive with pictures, packed or unpacked
	MaxPicture     = 8 << 20  // bytes of one picture
	MaxPictures    = 300
	MaxKey         = 64   // characters
	MaxName        = 120  // characters of a name of a dish or category
	MaxDescription = 1000 // characters
	MaxImage       = 200  // characters of a picture's name
	MaxPrice       = 1_000_000_000
	MaxQuota       = 1_000_000
	MaxProblems    = 200 // reported; the rest of the file is not checked
)

// Options describe the branch that a file is read or written for.
type Options struct {
	Currency money.Currency
	Locales  []string // locales of the branch's menu; the first one is that of columns without a language
}

// DishRow is one dish of a file.
type DishRow struct {
	Number int    // row number as a spreadsheet program shows it
	Key    string // identifies the dish in later files
	// Texts by locale. A locale that is missing was empty in the file. An empty text means that it is to be removed.
	Category, Name, Description map[string]string
	Price                       int64 // in minor units
	Quota                       QuotaCell
	Image                       string // file name in the archive or URL; empty leaves the picture; Clear removes it
	TaxClass                    string // code; empty leaves it; Clear removes it
	Allergens                   AllergensCell
	Diets                       DietsCell
	Options                     OptionsCell
}

// QuotaCell is the cell of a daily quota.
type QuotaCell struct {
	Given bool   // false: the cell was empty
	Units *int64 // nil: unlimited
}

// Clear is the content of a cell that removes what is stored. An empty cell keeps it, so that a file without pictures or
// translations removes none.
const Clear = "-"

// File is a menu file without problems.
type File struct {
	Rows     []DishRow
	Pictures map[string][]byte // the pictures that rows name, by name
}

// Shapes of files by their first bytes.
var (
	magicZIP = []byte("PK\x03\x04")
	magicOLE = []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
)

// Read reads a menu file of any accepted format. Rows are complete only if there are no problems.
func Read(raw []byte, o Options) (File, []CellProblem) {
	r := &report{}
	if len(raw) > MaxArchive {
		r.filef(TooLarge, "A file can have at most %d MB.", MaxArchive>>20)
		return File{}, r.problems
	}
	var pictures map[string][]byte
	if bytes.HasPrefix(raw, magicZIP) && !isWorkbook(raw) {
		raw, pictures = unpack(raw, r)
	}
	var sheet []sheetRow
	if r.ok() {
		sheet = readSheet(raw, r)
	}
	if !r.ok() {
		return File{}, r.problems
	}
	rows := interpret(sheet, o, pictures, r)
	used := map[string][]byte{}
	for _, row := range rows {
		if b, ok := pictures[row.Image]; ok {
			used[row.Image] = b
		}
	}
	return File{rows, used}, r.problems
}

// readSheet returns the cells of a CSV or XLSX file.
func readSheet(raw []byte, r *report) []sheetRow {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		r.filef(Empty, "The file is empty.")
	case len(raw) > MaxFile:
		r.filef(TooLarge, "A spreadsheet can have at most %d MB.", MaxFile>>20)
	case bytes.HasPrefix(raw, magicZIP):
		return readXLSX(raw, r)
	case bytes.HasPrefix(raw, magicOLE):
		r.filef(FileType, "This is an old or password-protected Excel file. Save it without a password as .xlsx or .csv.")
	default:
		return readCSV(raw, r)
	}
	return nil
}

// sheetRow is a row of a spreadsheet.
type sheetRow struct {
	number int
	cells  []cell
}

// cell is a cell of a spreadsheet. A number has no separators that depend on a language, only a decimal point.
type cell struct {
	text    string
	number  bool
	formula bool
}

// at returns a cell; rows may be shorter than the header.
func (s sheetRow) at(i int) cell {
	if i < 0 || i >= len(s.cells) {
		return cell{}
	}
	return s.cells[i]
}

// blank reports whether all cells are empty.
func (s sheetRow) blank() bool {
	return !slices.ContainsFunc(s.cells, func(c cell) bool { return c.formula || trimSpace(c.text) != "" })
}

// KeyOf returns the key of a dish without one: its name in lower case, with a dash for everything between words. Accents
// stay, because they distinguish dishes: bún bò and bún bơ.
func KeyOf(name string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(norm.NFKC.String(name)) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			dash = b.Len() > 0
			continue
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteRune(r)
	}
	key := norm.NFC.String(b.String())
	if key == "" {
		key = trimSpace(name) // only signs, such as an emoji
	}
	if runes := []rune(key); len(runes) > MaxKey {
		key = strings.TrimRight(string(runes[:MaxKey]), "-")
	}
	return key
}

func trimSpace(s string) string { return strings.TrimFunc(s, unicode.IsSpace) }
