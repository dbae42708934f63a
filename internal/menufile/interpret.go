package menufile

import (
	"cmp"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"comanda/internal/money"
	"comanda/internal/seq"
	"comanda/internal/text"
)

// headerSearch is the number of rows among which the header is searched. Square's spreadsheets begin with instructions.
const headerSearch = 10

// fields are the columns of the template. A column of texts exists once more for each further language, such as
// name:en.
var fields = []string{
	"key", "category", "name", "description", "price", "quota", "image", "tax_class", "allergens", "may_contain", "diets",
	"options",
}

// translated are the columns that have languages.
var translated = []string{"category", "name", "description", "options"}

// required are the columns that every file must have.
var required = []string{"category", "name", "price"}

// dish is a row of a file whose cells are assigned to the fields of the template, but not read yet.
type dish struct {
	number int
	cells  map[string]cell // by field
}

// layout assigns a file's columns to fields.
type layout struct {
	labels map[string]string // names of fields in problems: those of the file's columns
	dishes []dish
	plain  bool // not written by this package: no cell is escaped, and no cell means Clear
}

// label returns the name of a field's column in the file.
func (l layout) label(field string) string {
	return cmp.Or(l.labels[field], field)
}

// interpret finds out the shape of a spreadsheet and reads its dishes.
func interpret(rows []sheetRow, o Options, pictures map[string][]byte, r *report) []DishRow {
	if len(rows) == 0 {
		r.filef(Empty, "The file is empty.")
		return nil
	}
	at, assign := headerOf(rows)
	head, rows := rows[at], rows[at+1:]
	if len(rows) > MaxRows {
		r.filef(TooManyRows, "A file can have at most %d dishes.", MaxRows)
		return nil
	}
	l := assign(head, rows, o, r)
	if slices.ContainsFunc(r.problems, func(p CellProblem) bool { return p.Code == ColumnMissing }) {
		return nil // every row would lack the column
	}
	if len(l.dishes) == 0 && r.ok() {
		r.filef(NoRows, "The file has a header and no dishes.")
	}
	in := reader{layout: l, options: o, pictures: pictures, report: r, keys: map[string]int{}, categories: map[string]seen{}}
	return seq.Map(l.dishes, in.read)
}

// headerOf returns the index of the header row, and the function that assigns its columns. A file without a known
// header is read as a template, so that its problems are reported.
func headerOf(rows []sheetRow) (int, func(sheetRow, []sheetRow, Options, *report) layout) {
	for i, row := range rows[:min(len(rows), headerSearch)] {
		names := header(row)
		switch {
		case isSquare(names):
			return i, assignSquare
		case isLoyverse(names):
			return i, assignLoyverse
		case slices.Contains(names, "name") && slices.ContainsFunc(names, isPrice):
			return i, assignTemplate
		}
	}
	return 0, assignTemplate
}

// isPrice reports whether a column of the template has prices, in lower case: of the branch's currency, or of a named
// one, such as price:eur.
func isPrice(name string) bool { return name == "price" || strings.HasPrefix(name, "price:") }

// header returns the names of columns in lower case.
func header(row sheetRow) []string {
	return seq.Map(row.cells, func(c cell) string { return strings.ToLower(trimSpace(c.text)) })
}

// assignTemplate assigns the columns of the template.
func assignTemplate(head sheetRow, rows []sheetRow, o Options, r *report) layout {
	columns := map[string]int{}
	for i, name := range header(head) {
		field, problem := fieldOf(name, o)
		if _, twice := columns[field]; twice && problem == "" {
			problem = DuplicateColumn
		}
		switch {
		case field == otherCurrency:
		case name == "" && !slices.ContainsFunc(rows, func(row sheetRow) bool { return trimSpace(row.at(i).text) != "" }):
		case name == "":
			r.addf(head.number, columnName(i), UnknownColumn, "This column has no name.")
		case problem == UnknownColumn:
			r.addf(head.number, clip(name), problem,
				"This column is not known. Known are %s, price with a currency, such as price:EUR, and %s with a language, "+
					"such as name:en.",
				strings.Join(fields, ", "), strings.Join(translated, ", "))
		case problem == NotOffered:
			r.addf(head.number, clip(name), problem, "The branch's menu is not in this language. Its languages are %s.",
				strings.Join(o.Locales, ", "))
		case problem == DuplicateColumn:
			r.addf(head.number, field, problem, "This column exists twice.")
		default:
			columns[field] = i
		}
	}
	for _, field := range required {
		if _, ok := columns[field]; !ok {
			r.addf(head.number, field, ColumnMissing, "The column %q is missing.", field)
		}
	}
	l := layout{dishes: make([]dish, len(rows))}
	for n, row := range rows {
		d := dish{row.number, make(map[string]cell, len(columns))}
		for field, i := range columns {
			d.cells[field] = row.at(i)
		}
		for i := len(head.cells); i < len(row.cells); i++ {
			if trimSpace(row.cells[i].text) != "" {
				r.addf(row.number, columnName(i), TooWide,
					"This row has more cells than the header. A text with a separator needs quotation marks.")
				break
			}
		}
		l.dishes[n] = d
	}
	return l
}

// otherCurrency is the field of prices in a currency that is not the branch's. They are ignored, so that branches in
// several countries can share a file.
const otherCurrency = "other currency"

// fieldOf returns the field of a column. A column in the branch's first language is the field without a language.
func fieldOf(name string, o Options) (field string, problem ProblemCode) {
	base, locale, has := strings.Cut(name, ":")
	base, locale = trimSpace(base), trimSpace(locale)
	if !has {
		if !slices.Contains(fields, base) {
			return name, UnknownColumn
		}
		return base, ""
	}
	currency := money.Currency(strings.ToUpper(locale))
	switch {
	case base == "price" && currency == o.Currency:
		return base, ""
	case base == "price" && currency.Valid():
		return otherCurrency, ""
	case !slices.Contains(translated, base):
		return name, UnknownColumn
	}
	for i, offered := range o.Locales {
		switch {
		case !strings.EqualFold(offered, locale):
		case i == 0:
			return base, ""
		default:
			return base + ":" + offered, ""
		}
	}
	return name, NotOffered
}

// columnName returns the letters of a column.
func columnName(i int) string {
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

// clip shortens a text from a file for a message.
func clip(s string) string {
	s = strings.ToValidUTF8(text.Printable(s), "")
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}

// reader reads the dishes of a file.
type reader struct {
	layout
	options    Options
	pictures   map[string][]byte
	report     *report
	keys       map[string]int // row by key
	categories map[string]seen
}

// seen has the values of a category in the rows read so far.
type seen struct {
	number int // number of the first row
	names  map[string]string
}

// addf reports a problem of a dish's field.
func (in *reader) addf(d dish, field string, code ProblemCode, format string, args ...any) {
	in.report.addf(d.number, in.label(field), code, format, args...)
}

// read reads a dish.
func (in *reader) read(d dish) DishRow {
	row := DishRow{Number: d.number}
	// Fields are read in sorted order, so that equal files have equal reports.
	for _, field := range slices.Sorted(maps.Keys(d.cells)) {
		if d.cells[field].formula {
			in.addf(d, field, Formula, "This cell has a formula. Replace it by its value.")
		}
	}
	row.Category = in.texts(d, "category", text.Line, MaxName, CategoryMissing)
	row.Name = in.texts(d, "name", text.Line, MaxName, NameMissing)
	row.Description = in.texts(d, "description", text.Lines, MaxDescription, "")
	in.category(d, row)
	in.key(d, &row)
	in.price(d, &row)
	in.quota(d, &row)
	in.image(d, &row)
	in.taxClass(d, &row)
	in.declaration(d, &row)
	in.optionsCell(d, &row)
	return row
}

// refused maps the errors of package text to problem codes and messages.
var refused = []struct {
	err     error
	code    ProblemCode
	message string
}{
	{text.ErrOneLine, LineBreak, "This text must be in one line."},
	{text.ErrControl, Control, "This text has a control character. Type it again."},
	{text.ErrDirection, Direction, "This text has a character that changes the direction of text. Type it again."},
	{text.ErrInvisible, Invisible, "This text has only invisible characters."},
	{text.ErrEncoding, Encoding, "This text is not in UTF-8. " + saveAsUTF8},
}

// outcome is the result of reading a cell of text.
type outcome int

const (
	absent outcome = iota
	given
	cleared
	rejected // refused, and the problem is reported
)

// text reads a cell of text.
func (in *reader) text(d dish, field string, kind text.Kind, limit int) (string, outcome) {
	c := d.cells[field]
	if c.formula {
		return "", rejected
	}
	if tooLong(c.text, limit) {
		in.addf(d, field, CellTooLong, "This text is too long. It can have at most %d characters.", limit)
		return "", rejected
	}
	s, err := kind.Clean(unifyLines(c.text))
	for _, re := range refused {
		if errors.Is(err, re.err) {
			in.addf(d, field, re.code, "%s", re.message)
			return "", rejected
		}
	}
	if !in.plain {
		if s == Clear {
			return "", cleared
		}
		s = unescape(s)
	}
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		return "", absent
	case strings.ContainsRune(s, utf8.RuneError):
		in.addf(d, field, Encoding, "Letters of this text were lost when the file was saved. "+saveAsUTF8)
		return "", rejected
	case n > limit:
		in.addf(d, field, CellTooLong, "This text has %d characters. It can have at most %d.", n, limit)
		return "", rejected
	}
	return s, given
}

// tooLong reports whether a text is so far above a limit of characters that it is not worth cleaning.
func tooLong(s string, limit int) bool { return len(s) > 16*limit }

// unifyLines turns the line ends of old programs into line feeds.
func unifyLines(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// texts reads a text in all languages. missing is the problem of a dish without the text in the first language.
func (in *reader) texts(d dish, field string, kind text.Kind, limit int, missing ProblemCode) map[string]string {
	texts := map[string]string{}
	for i, locale := range in.options.Locales {
		column := field
		if i > 0 {
			column += ":" + locale
		}
		s, what := in.text(d, column, kind, limit)
		if what == given || what == cleared {
			texts[locale] = s
		}
		if i == 0 && s == "" && what != rejected && missing != "" {
			in.addf(d, column, missing, "Every dish needs a %s.", field)
		}
	}
	return texts
}

// category checks that a category has the same names in all rows.
func (in *reader) category(d dish, row DishRow) {
	id := Fold(row.Category[in.base()])
	if id == "" {
		return
	}
	first, known := in.categories[id]
	if !known {
		in.categories[id] = seen{d.number, maps.Clone(row.Category)}
		return
	}
	for _, locale := range in.options.Locales[1:] {
		name, has := row.Category[locale]
		known, had := first.names[locale]
		switch {
		case has && had && known != name:
			in.addf(d, "category:"+locale, CategoryConflict, "Row %d has another name for this category.", first.number)
		case has:
			first.names[locale] = name
		}
	}
}

// Fold returns a name as categories are compared: without regard to case.
func Fold(name string) string { return strings.ToLower(name) }

func (in *reader) base() string { return in.options.Locales[0] }

// key reads a key or makes one from the name.
func (in *reader) key(d dish, row *DishRow) {
	key, what := in.text(d, "key", text.Line, MaxKey)
	made := what == absent || what == cleared
	if made {
		key = KeyOf(row.Name[in.base()])
	}
	if key == "" { // refused; the problem is reported already
		return
	}
	row.Key = key
	first, twice := in.keys[key]
	switch {
	case !twice:
		in.keys[key] = d.number
	case made:
		in.addf(d, "key", DuplicateKey, "Row %d has the same key, made from the name. Every dish needs its own key.", first)
	default:
		in.addf(d, "key", DuplicateKey, "Row %d has the same key.", first)
	}
}

// price reads the price of a dish. Numbers of a spreadsheet and of exports have a point for decimals; typed text is read by
// the rules of the currency, where a point may group thousands.
func (in *reader) price(d dish, row *DishRow) {
	c := d.cells["price"]
	s := trimSpace(unescapeUnless(in.plain, c.text))
	switch {
	case c.formula:
		return
	case s == "":
		in.addf(d, "price", PriceMissing, "Every dish needs a price.")
		return
	case strings.EqualFold(s, "variable"):
		in.addf(d, "price", PriceVariable, "The price of this dish is variable. Enter a price.")
		return
	}
	parse := parsePrice
	if c.number || in.plain && isDecimal(s) {
		parse = parseNumber
	}
	n, p := parse(s, in.options.Currency)
	if p.code != "" {
		in.addf(d, "price", p.code, "%q: %s", clip(s), p.message)
	}
	row.Price = n
}

// isDecimal reports whether a text is an amount as exports have it, with a point for decimals, and nothing else.
func isDecimal(s string) bool {
	whole, fraction, point := strings.Cut(s, ".")
	if whole == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return false
	}
	return !point || len(fraction) == 1 || len(fraction) == 2
}

func unescapeUnless(plain bool, s string) string {
	if plain {
		return s
	}
	return unescape(s)
}

// quota reads the daily quota. An empty cell changes nothing; a file without quotas must not remove those of the menu.
func (in *reader) quota(d dish, row *DishRow) {
	c := d.cells["quota"]
	s := trimSpace(c.text)
	switch {
	case s == "" || c.formula:
		return
	case s == Clear:
		row.Quota.Given = true
		return
	}
	n, ok := parseQuota(c)
	if !ok {
		in.addf(d, "quota", QuotaUnreadable,
			"%q: A daily quota is a whole number from 0 to %d. Leave the cell empty for no quota.",
			clip(s), MaxQuota)
		return
	}
	row.Quota = QuotaCell{true, &n}
}

// maxTaxClass is the longest code of a tax class. Only the store knows which exist.
const maxTaxClass = 20

func (in *reader) taxClass(d dish, row *DishRow) {
	s, what := in.text(d, "tax_class", text.Line, maxTaxClass)
	if row.TaxClass = strings.ToUpper(s); what == cleared {
		row.TaxClass = Clear
	}
}

// image reads the picture of a dish: a file of the archive, by its path or only its name, or a picture that is stored.
func (in *reader) image(d dish, row *DishRow) {
	s, what := in.text(d, "image", text.Line, MaxImage)
	if what == cleared {
		row.Image = Clear
	}
	if what != given {
		return
	}
	row.Image = s
	_, whole := in.pictures[s]
	_, base := in.pictures[path.Base(s)]
	switch {
	case whole:
	case base && !strings.Contains(s, "://"):
		row.Image = path.Base(s)
	// An image that is stored already is given as a path or a URL. Only the store can verify it.
	case !strings.Contains(s, "/"):
		in.addf(d, "image", ImageMissing,
			"Picture %q not found in the archive. Send the file and its pictures in one .zip file.", clip(s))
	}
}
