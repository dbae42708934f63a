package menufile

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"comanda/internal/money"
	"comanda/internal/testenv"
)

var currencies = []money.Currency{money.VND, money.TWD, money.JPY, money.THB, money.SAR, money.USD, money.EUR}

// Each template can be imported in every accepted currency, with any language first.
func TestTemplateRows(t *testing.T) {
	names := TemplateNames()
	if want := []string{"bar", "bistro", "bubble-tea", "cafe", "pho"}; !slices.Equal(names, want) {
		t.Errorf("templates %v, want %v", names, want)
	}
	for _, name := range names {
		all, err := TemplateRows(name, Options{money.VND, TemplateLocales})
		if err != nil || len(all) < 20 || len(all) > 30 {
			t.Fatalf("%s: %d dishes, %v", name, len(all), err)
		}
		for _, row := range all {
			for what, texts := range map[string]map[string]string{"category": row.Category, "name": row.Name} {
				if len(texts) != len(TemplateLocales) {
					t.Errorf("%s, %s: %s is not translated: %v", name, row.Key, what, texts)
				}
			}
			if row.TaxClass == "" {
				t.Errorf("%s, %s has no tax class", name, row.Key)
			}
			for _, g := range row.Options.Groups {
				texts := []map[string]string{g.Names}
				for _, o := range g.Options {
					texts = append(texts, o.Names)
				}
				if slices.ContainsFunc(texts, func(t map[string]string) bool { return len(t) != len(TemplateLocales)-1 }) {
					t.Errorf("%s, %s: the options are not translated: %v", name, row.Key, texts)
				}
			}
			if n := len(row.Description); n != 0 && n != len(TemplateLocales) {
				t.Errorf("%s, %s: the description is not translated: %v", name, row.Key, slices.Collect(maps.Keys(row.Description)))
			}
		}
		for _, c := range currencies {
			for _, o := range []Options{{c, TemplateLocales}, {c, []string{"ja", "en"}}, {c, []string{"th"}}, {c, []string{"zh-TW", "vi"}}} {
				rows, err := TemplateRows(name, o)
				if err != nil || len(rows) == 0 || c != money.SAR && len(rows) != len(all) {
					t.Fatalf("%s in %v: %d of %d dishes, %v", name, o, len(rows), len(all), err)
				}
				raw := testenv.Must(Write(CSV, o, rows))(t)
				file, problems := Read(raw, o)
				if len(problems) > 0 {
					t.Fatalf("%s in %v: %+v", name, o, problems[0])
				}
				for i, r := range file.Rows {
					if d := cmp.Diff(rows[i].Options, r.Options, cmpopts.EquateEmpty()); d != "" {
						t.Fatalf("%s in %v, %s (-want +read):\n%s", name, o, r.Key, d)
					}
				}
			}
		}
	}
	if _, err := TemplateRows("pizza", Options{money.VND, TemplateLocales}); err == nil {
		t.Error("an unknown template has dishes")
	}
	bar, _ := TemplateRows("bar", Options{money.SAR, []string{"en"}})
	if slices.ContainsFunc(bar, func(r DishRow) bool { return r.Key == "bar-negroni" }) {
		t.Error("the bar sells cocktails in Saudi Arabia")
	}
}

// A branch in Japan gets a menu in Japanese, without English names or descriptions.
func TestTemplateRows_in_Japanese(t *testing.T) {
	for _, name := range TemplateNames() {
		rows := testenv.Must(TemplateRows(name, Options{money.JPY, []string{"ja", "en"}}))(t)
		for _, r := range rows {
			for what, texts := range map[string]map[string]string{"category": r.Category, "name": r.Name, "description": r.Description} {
				ja := texts["ja"]
				if ja == "" && texts["en"] == "" {
					continue // a dish without a description
				}
				if !strings.ContainsFunc(ja, func(c rune) bool { return unicode.In(c, unicode.Hiragana, unicode.Katakana, unicode.Han) }) {
					t.Errorf("%s, %s: the %s is %q", name, r.Key, what, ja)
				}
			}
		}
	}
}

// A file may have prices in several currencies. Those of the branch's currency are used.
func TestRead_prices_by_currency(t *testing.T) {
	file := "category,name,price:VND,PRICE:eur\nPhở,Phở tái,65000,12.50\n"
	for c, want := range map[money.Currency]int64{money.VND: 65000, money.EUR: 1250} {
		if got, problems := Read([]byte(file), Options{c, []string{"vi"}}); len(problems) > 0 || got.Rows[0].Price != want {
			t.Errorf("prices in %s = %+v, problems %v, want %d", c, got, problems, want)
		}
	}
	for head, want := range map[string]ProblemCode{
		"category,name,price:USD":          ColumnMissing,
		"category,name,price,price:VND":    DuplicateColumn,
		"category,name,price,price:XXX":    UnknownColumn,
		"category,name,price:VND,quota:VN": UnknownColumn,
	} {
		_, problems := Read([]byte(head+"\nPhở,Phở tái,65000,1\n"), Options{money.VND, []string{"vi"}})
		if !slices.ContainsFunc(problems, func(p CellProblem) bool { return p.Code == want }) {
			t.Errorf("%s: %+v, want %s", head, problems, want)
		}
	}
}

// A milk tea of the template has sizes whose prices replace that of the dish, and toppings in the branch's currency.
func TestTemplateRows_options(t *testing.T) {
	rows := testenv.Must(TemplateRows("bubble-tea", Options{money.TWD, []string{"zh-TW", "en"}}))(t)
	i := slices.IndexFunc(rows, func(r DishRow) bool { return r.Key == "bubble-tea-pearl-milk-tea" })
	want := "容量 (size): 中杯 = 60 *; 大杯 = 70 | 甜度 (1): 正常甜 *; 少糖; 半糖; 微糖; 無糖 | 冰塊 (1): 正常冰 *; 少冰; 去冰 | " +
		"加料 (0-3, each 2): 黑糖珍珠 = 10; 仙草凍 = 10; 椰果 = 10; 雞蛋布丁 = 15; 芝士奶蓋 = 20"
	testenv.Equal(t, want, rows[i].Options.Text(Options{money.TWD, []string{"zh-TW"}}))
	if got := rows[i].Options.names("en"); !strings.HasPrefix(got, "Size: Medium; Large | Sugar: Full sugar; ") {
		t.Errorf("the English names are %s", got)
	}
	for _, name := range TemplateNames() {
		rows := testenv.Must(TemplateRows(name, Options{money.VND, []string{"vi"}}))(t)
		if !slices.ContainsFunc(rows, func(r DishRow) bool { return len(r.Options.Groups) > 0 }) {
			t.Errorf("no dish of %s has options", name)
		}
	}
}
