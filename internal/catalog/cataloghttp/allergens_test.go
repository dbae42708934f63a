package cataloghttp

import (
	"strings"
	"testing"

	"comanda/internal/testenv"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
)

// Allergens and diets of a dish and of an option are read and written, and guests see them at once.
func TestConsole_allergens(t *testing.T) {
	s := newConsole(t)
	guests := func() string {
		s.expireMenus()
		return s.ask(t, "POST", "/cis/menu/active?locale=en", `{"branchId":"1"}`).Body.String()
	}
	const unknown = `"allergens":null,"diets":[]`
	if menu := guests(); !strings.Contains(menu, `"remaining":null,`+unknown+`}]}`) {
		t.Errorf("guests see %s, want dish 10 without a declaration", menu)
	}
	listed := func() int64 {
		return decode[httpapi.Listed[dish]](t, s.asService(t, "GET", "/api/dishes?undeclared=true", ""), 200).Total
	}
	before := listed()
	none := decode[dish](t, s.asService(t, "PATCH", "/api/dishes/10", `{"allergens":{"declared":true,"contains":[],"mayContain":[]}}`), 200)
	if none.Allergens == nil || len(none.Allergens.Contains) != 0 || none.Diets == nil {
		t.Errorf("declared as %+v, want none of the 14", none.Declared)
	}
	if after := listed(); before < 2 || after != before-1 {
		t.Errorf("%d dishes without a declaration became %d, want one less", before, after)
	}
	both := decode[dish](t, s.asService(t, "PATCH", "/api/dishes/10",
		`{"allergens":{"declared":true,"contains":["BM","AW"],"mayContain":["AE"]},"diets":["HALAL"]}`), 200)
	want := Declared{&allergens{[]catalog.Allergen{"AW", "BM"}, []catalog.Allergen{"AE"}}, []catalog.Diet{"HALAL"}}
	testenv.Equal(t, want, both.Declared)
	const shown = `"allergens":{"contains":["AW","BM"],"mayContain":["AE"]},"diets":["HALAL"]`
	if menu := guests(); !strings.Contains(menu, shown) {
		t.Errorf("guests see %s, want %s", menu, shown)
	}
	same := decode[dish](t, s.asService(t, "PATCH", "/api/dishes/10", `{"names":{"en":"Rice"}}`), 200)
	removed := decode[dish](t, s.asService(t, "PATCH", "/api/dishes/10", `{"allergens":{"declared":false,"contains":[],"mayContain":[]},"diets":[]}`), 200)
	if d := cmp.Diff(want, same.Declared); d != "" || removed.Allergens != nil || len(removed.Diets) != 0 {
		t.Errorf("removed %+v; after another change (-want +got):\n%s", removed.Declared, d)
	}
	added := decode[dish](t, s.asService(t, "POST", "/api/dishes",
		`{"categoryId":"1","names":{"en":"Tofu"},"allergens":{"declared":true,"contains":["AY"],"mayContain":[]},"diets":["VEGAN"]}`), 201)
	testenv.Equal(t, []catalog.Diet{"VEGETARIAN", "VEGAN"}, added.Diets)

	option := decode[optionInfo](t, s.asService(t, "POST", "/api/option-groups/3/options",
		`{"names":{"en":"Nuts"},"allergens":{"declared":true,"contains":["AN"],"mayContain":[]}}`), 201)
	edited := decode[optionInfo](t, s.asService(t, "PATCH", "/api/options/"+option.ID, `{"diets":["VEGAN"]}`), 200)
	if len(option.Allergens.Contains) != 1 || len(edited.Allergens.Contains) != 1 || len(edited.Diets) != 2 {
		t.Errorf("option %+v became %+v, want nuts and vegan", option.Declared, edited.Declared)
	}
	menu := guests()
	for what, want := range map[string]string{
		"a size":    `"name":"Medium","price":35000,"isDefault":true,"isAvailable":true,"allergens":{"contains":[],"mayContain":[]},"diets":["VEGETARIAN"]`,
		"a topping": `"name":"Egg pudding","price":10000,"isDefault":false,"isAvailable":true,"allergens":{"contains":["AE","AM"],"mayContain":[]},"diets":["VEGETARIAN"]`,
		"a part":    `"name":"Bun cha","price":5000,"isDefault":false,"isAvailable":true,"allergens":{"contains":["AF"],"mayContain":["AP"]},"diets":[]`,
		"a set":     `"name":"Lunch set","description":"One main dish and one drink of your choice.","imageUrl":"/media/30","price":95000,"isActive":true,"isSoldOut":false,"remaining":null,"allergens":{"contains":["AE","AF","AM"],"mayContain":["AP","AY"]},"diets":[]`,
	} {
		if !strings.Contains(menu, want) {
			t.Errorf("guests see %s, want %s as %s", menu, what, want)
		}
	}
}

// Bad declarations are refused by field and code, and change nothing.
func TestConsole_allergens_refused(t *testing.T) {
	s := newConsole(t)
	before := s.asService(t, "GET", "/api/dishes?size=100", "").Body.String()
	list := func(contains, traces string) string {
		return `"allergens":{"declared":true,"contains":[` + contains + `],"mayContain":[` + traces + `]}`
	}
	for _, c := range []struct{ path, body, field, code string }{
		{"/api/dishes/4", list(`"XX"`, ``), "allergens.contains", "allergen_unknown"},
		{"/api/dishes/4", list(``, `"aw"`), "allergens.mayContain", "allergen_unknown"},
		{"/api/dishes/4", list(`"AE"`, `"AE"`), "allergens.mayContain", "allergen_twice"},
		{"/api/dishes/4", `"allergens":{"declared":false,"contains":["AE"],"mayContain":[]}`, "allergens.declared", "allergens_undeclared"},
		{"/api/dishes/4", `"diets":["PALEO"]`, "diets", "diet_unknown"},
		{"/api/dishes/4", `"names":{"en":"x"},"diets":["VEGAN"]`, "diets", "diet_conflict"},
		{"/api/dishes/11", list(`"UM"`, ``), "diets", "diet_conflict"}, // it is vegan
		{"/api/options/7", `"diets":["VEGAN"]`, "diets", "diet_conflict"},
		{"/api/options/9", list(``, ``), "allergens", "declared_by_dish"},
	} {
		p := decode[httpapi.Problem](t, s.asService(t, "PATCH", c.path, "{"+c.body+"}"), 422)
		if len(p.Errors) == 0 || p.Errors[0].Field != c.field || p.Errors[0].Code != c.code {
			t.Errorf("%s %s: errors %+v, want %s in %s", c.path, c.body, p.Errors, c.code, c.field)
		}
	}
	for _, body := range []string{`{"allergens":{}}`, `{"allergens":{"declared":true,"contains":"AW","mayContain":[]}}`, `{"diets":"VEGAN"}`} {
		wantStatus(t, s.asService(t, "PATCH", "/api/dishes/4", body), 422, "invalid")
	}
	if after := s.asService(t, "GET", "/api/dishes?size=100", "").Body.String(); after != before {
		t.Errorf("refused changes make the dishes %s, want %s", after, before)
	}
}
