package menufile

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/money"
	"comanda/internal/testenv"
	"comanda/internal/text"
)

// words generates texts in their stored form, including some that spreadsheet programs would take for formulas.
func words(kind text.Kind) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.OneOf(
			rapid.SampledFrom([]string{
				"-", "'-", "''", "'", "=1+1", "+84 90", "-5%", "@home", "'=1", "＝1", "Phở bò", "a;b,c", `6" sub`, "1.234", "65k", "_x0041_",
				"1/2", "TRUE", "00123", "a\nb", "=HYPERLINK(\"http://x\",\"y\")", "\"", "#N/A", "2026-01-01", "&amp;", "<b>",
			}),
			rapid.StringOfN(rapid.RuneFrom([]rune("aB 1-+=@'\"\n,;ởđ漢字🍜_x")), 1, 30, -1),
			rapid.StringN(1, 30, -1),
		).Draw(t, "text")
		s, err := kind.Clean(s)
		if err != nil || s == "" || strings.ContainsRune(s, '\uFFFD') {
			return "Phở"
		}
		return s
	})
}

func rowsOf(o Options) *rapid.Generator[[]DishRow] {
	texts := func(t *rapid.T, label string, kind text.Kind, optional bool) map[string]string {
		out := map[string]string{}
		for i, l := range o.Locales {
			if (optional || i > 0) && rapid.Bool().Draw(t, label+l+" empty") {
				continue
			}
			out[l] = words(kind).Draw(t, label+l)
		}
		return out
	}
	return rapid.Custom(func(t *rapid.T) []DishRow {
		n := rapid.IntRange(1, 8).Draw(t, "rows")
		out := make([]DishRow, n)
		keys, categories := map[string]bool{}, map[string]map[string]string{}
		for i := range out {
			row := DishRow{
				Number: i + 2, Key: words(text.Line).Draw(t, "key"), Category: texts(t, "category", text.Line, false),
				Name: texts(t, "name", text.Line, false), Description: texts(t, "description", text.Lines, true),
				Price: rapid.Int64Range(0, MaxPrice).Draw(t, "price"),
				Image: rapid.SampledFrom([]string{"", "/media/1-960.jpg", "https://x/y.jpg"}).Draw(t, "image"),
			}
			for keys[row.Key] {
				row.Key += "x"
			}
			keys[row.Key] = true
			id := Fold(row.Category[o.Locales[0]])
			if known, ok := categories[id]; ok {
				row.Category = known
			}
			categories[id] = row.Category
			if rapid.Bool().Draw(t, "quota") {
				units := rapid.Int64Range(0, MaxQuota).Draw(t, "units")
				row.Quota = QuotaCell{true, &units}
			}
			row.TaxClass = rapid.SampledFrom([]string{"", "FOOD", "SOFT_DRINK"}).Draw(t, "tax class")
			if rapid.Bool().Draw(t, "declared") {
				row.Allergens = AllergensCell{Given: true, Declared: true}
				for _, w := range allergenWords {
					switch rapid.IntRange(0, 2).Draw(t, w.code) {
					case 1:
						row.Allergens.Contains = append(row.Allergens.Contains, w.code)
					case 2:
						row.Allergens.MayContain = append(row.Allergens.MayContain, w.code)
					}
				}
			}
			for _, w := range dietWords {
				if rapid.Bool().Draw(t, w.code) {
					row.Diets = DietsCell{true, append(row.Diets.Codes, w.code)}
				}
			}
			out[i] = row
		}
		return out
	})
}

// Reading a written file returns the same dishes, in all formats and currencies, and no cell of a CSV file begins like a
// formula.
func TestWrite_round_trip(t *testing.T) {
	for _, format := range []Format{CSV, XLSX} {
		t.Run(string(format), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				o := Options{
					rapid.SampledFrom([]money.Currency{money.VND, money.TWD, money.USD, money.EUR}).Draw(t, "currency"),
					rapid.SampledFrom([][]string{{"vi"}, {"vi", "en"}, {"zh-TW", "en", "ja"}}).Draw(t, "locales"),
				}
				want := rowsOf(o).Draw(t, "dishes")
				raw := testenv.Must(Write(format, o, want))(t)
				got, problems := Read(raw, o)
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				if d := cmp.Diff(want, got.Rows); d != "" {
					t.Fatal(d)
				}
				if format == CSV {
					harmless(t, raw)
				}
			})
		})
	}
}

func harmless(t *rapid.T, raw []byte) {
	records := testenv.Must(csv.NewReader(bytes.NewReader(bytes.TrimPrefix(raw, bom))).ReadAll())(t)
	for _, record := range records {
		for _, s := range record {
			if s != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", []rune(s)[0]) {
				t.Fatalf("the cell %q begins like a formula", s)
			}
		}
	}
}

func TestTemplate_is_read(t *testing.T) {
	for _, format := range []Format{CSV, XLSX} {
		for _, o := range []Options{vietnam, {money.TWD, []string{"zh-TW", "ja", "th", "en"}}, {money.EUR, []string{"en"}}, {money.EUR, []string{"de", "en"}}} {
			raw := testenv.Must(Template(format, o))(t)
			got, problems := Read(raw, o)
			if len(problems) > 0 || len(got.Rows) != 2 || got.Rows[0].Name[o.Locales[0]] == "" {
				t.Errorf("template as %s with %v: rows %v, problems %v, want two rows", format, o, got.Rows, problems)
			}
		}
	}
}

func TestKeyOf(t *testing.T) {
	for name, want := range map[string]string{
		"Phở bò": "phở-bò", "  Cà phê (đá) ": "cà-phê-đá", "擔仔麵": "擔仔麵", "が": "が", "Ｐｈｏ １": "pho-1", "🍜": "🍜", "--": "--",
		"ก๋วยเตี๋ยว": "ก๋วยเตี๋ยว", strings.Repeat("a", 100): strings.Repeat("a", MaxKey),
	} {
		if got := KeyOf(name); got != want {
			t.Errorf("%q has the key %q, want %q", name, got, want)
		}
	}
}
