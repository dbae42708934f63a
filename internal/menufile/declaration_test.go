package menufile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const factsHead = "key,category,name,price,tax_class,allergens,may_contain,diets\n"

func TestRead_declarations(t *testing.T) {
	declared := func(contains, traces []string) AllergensCell { return AllergensCell{true, true, contains, traces} }
	for cells, want := range map[string]DishRow{
		",,,":                     {},
		"food,,,":                 {TaxClass: "FOOD"},
		"-,-,,-":                  {TaxClass: Clear, Allergens: AllergensCell{Given: true}, Diets: DietsCell{Given: true}},
		",none,,":                 {Allergens: declared(nil, nil)},
		`,None,"nuts; SESAME",`:   {Allergens: declared(nil, []string{"AN", "AS"})},
		`,"Milk, AW,eggs,milk",,`: {Allergens: declared([]string{"AM", "AW", "AE"}, nil)},
		`,soy、fish,-,`:            {Allergens: declared([]string{"AY", "AF"}, nil)},
		`,,,"Vegan, halal"`:       {Diets: DietsCell{true, []string{"VEGAN", "HALAL"}}},
	} {
		got, problems := Read([]byte(factsHead+"a,Phở,Một,1000,"+cells+"\n"), vietnam)
		if len(problems) > 0 {
			t.Errorf("%s: problems %v", cells, problems)
			continue
		}
		row := got.Rows[0]
		if d := cmp.Diff(want, DishRow{TaxClass: row.TaxClass, Allergens: row.Allergens, Diets: row.Diets}); d != "" {
			t.Errorf("%s (-want +got):\n%s", cells, d)
		}
	}
}

func TestRead_declarations_refused(t *testing.T) {
	for cells, want := range map[string][2]string{
		",sand,,":                   {"allergens", "allergen_unknown"},
		",milk,sand,":               {"may_contain", "allergen_unknown"},
		",milk,milk,":               {"may_contain", "allergen_twice"},
		",,milk,":                   {"allergens", "allergens_missing"},
		",-,milk,":                  {"allergens", "allergens_missing"},
		",,none,":                   {"may_contain", "allergen_unknown"},
		",,,paleo":                  {"diets", "diet_unknown"},
		"ABCDEFGHIJKLMNOPQRSTUV,,,": {"tax_class", "cell_too_long"},
		",=1+1,,":                   {"allergens", "formula"},
	} {
		_, problems := Read([]byte(factsHead+"a,Phở,Một,1000,"+cells+"\n"), vietnam)
		if len(problems) != 1 || problems[0].Row != 2 || problems[0].Column != want[0] || string(problems[0].Code) != want[1] {
			t.Errorf("%s: problems %v, want %s in row 2, %s", cells, problems, want[1], want[0])
		}
	}
}
