package menufile

import "fmt"

// CellProblem is a reason why a file was refused.
type CellProblem struct {
	Row     int         `json:"row" doc:"As a spreadsheet program numbers it; 0 for the whole file."`
	Column  string      `json:"column" doc:"As the header names it; empty for the whole row."`
	Code    ProblemCode `json:"code"`
	Message string      `json:"message"`
}

// ProblemCode identifies a kind of problem. Clients translate codes, so they never change.
type ProblemCode string

// Problems of a whole file.
const (
	Empty       ProblemCode = "file_empty"
	TooLarge    ProblemCode = "file_too_large"
	FileType    ProblemCode = "file_type"       // neither CSV nor XLSX nor ZIP
	Damaged     ProblemCode = "file_damaged"    // cut off, or not readable as what it claims to be
	Encoding    ProblemCode = "encoding"        // not UTF-8
	Quotes      ProblemCode = "csv_quotes"      // quotes that do not match
	TooManyRows ProblemCode = "too_many_rows"   // more than MaxRows
	TooWide     ProblemCode = "too_many_cells"  // more than MaxColumns, or cells without a column
	ZipBomb     ProblemCode = "zip_bomb"        // unpacks to far more than its size
	ZipName     ProblemCode = "zip_name"        // a name that leaves the archive
	ZipContent  ProblemCode = "zip_content"     // not exactly one menu file, or too many files
	NoRows      ProblemCode = "no_rows"         // a header and no dish
	MoreFound   ProblemCode = "too_many_others" // more than MaxProblems
)

// Problems of a header.
const (
	UnknownColumn   ProblemCode = "unknown_column"
	DuplicateColumn ProblemCode = "duplicate_column"
	ColumnMissing   ProblemCode = "column_missing"
	NotOffered      ProblemCode = "language_not_offered"
)

// Problems of a cell.
const (
	PriceMissing      ProblemCode = "price_missing"
	PriceUnreadable   ProblemCode = "price_unreadable"
	PriceAmbiguous    ProblemCode = "price_ambiguous"
	PriceNegative     ProblemCode = "price_negative"
	PriceTooLarge     ProblemCode = "price_too_large"
	PriceCurrency     ProblemCode = "price_currency"
	PriceVariable     ProblemCode = "price_variable"
	QuotaUnreadable   ProblemCode = "quota_unreadable"
	NameMissing       ProblemCode = "name_missing"
	CategoryMissing   ProblemCode = "category_missing"
	CategoryConflict  ProblemCode = "category_conflict"
	DuplicateKey      ProblemCode = "duplicate_key"
	ImageMissing      ProblemCode = "image_missing"
	ImageUnreadable   ProblemCode = "image_unreadable"
	TaxClassUnknown   ProblemCode = "tax_class_unknown"
	AllergenUnknown   ProblemCode = "allergen_unknown"
	AllergenTwice     ProblemCode = "allergen_twice"    // contained, and in traces
	AllergensMissing  ProblemCode = "allergens_missing" // traces of a dish that declares nothing else
	DietUnknown       ProblemCode = "diet_unknown"
	DietConflict      ProblemCode = "diet_conflict" // the dish contains what the diet excludes
	OptionsUnreadable ProblemCode = "options_unreadable"
	OptionsWrong      ProblemCode = "options_wrong" // limits that contradict each other, or a second price for a dish
	OptionsFixed      ProblemCode = "options_fixed" // combos and options of options are edited in the console
	CellTooLong       ProblemCode = "cell_too_long"
	Formula           ProblemCode = "formula"
	Merged            ProblemCode = "merged_cells"
	Control           ProblemCode = "control_character"
	LineBreak         ProblemCode = "line_break"
	Direction         ProblemCode = "direction_character"
	Invisible         ProblemCode = "invisible_text"
	Shared            ProblemCode = "shared_with_others" // found by the import: a branch of others has the dish too
)

// report collects problems.
type report struct {
	problems []CellProblem
	full     bool
}

func (r *report) ok() bool { return len(r.problems) == 0 }

// addf reports a problem of a cell. args complete the message. After MaxProblems it only records that there are more.
func (r *report) addf(row int, column string, code ProblemCode, format string, args ...any) {
	switch {
	case r.full:
	case len(r.problems) == MaxProblems:
		r.full = true
		r.problems = append(r.problems, CellProblem{
			Code: MoreFound, Message: fmt.Sprintf("There are more problems. Correct these %d and try again.", MaxProblems),
		})
	default:
		r.problems = append(r.problems, CellProblem{row, column, code, fmt.Sprintf(format, args...)})
	}
}

// filef reports a problem of the whole file.
func (r *report) filef(code ProblemCode, format string, args ...any) {
	r.addf(0, "", code, format, args...)
}
