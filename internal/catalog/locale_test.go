package catalog

import (
	"maps"
	"testing"

	"comanda/internal/testenv"
)

func TestTexts_In(t *testing.T) {
	all := Texts{Vietnamese: "Phở bò", Chinese: "牛肉河粉", English: "Beef pho"}
	for _, tt := range []struct {
		texts     Texts
		preferred []Locale
		want      string
	}{
		{all, []Locale{Chinese}, "牛肉河粉"},
		{all, []Locale{Japanese, Vietnamese}, "Phở bò"},
		{all, []Locale{Japanese}, "Beef pho"},
		{Texts{Chinese: "牛肉河粉", Vietnamese: "Phở bò"}, nil, "Phở bò"},
		{Texts{Chinese: "牛肉河粉", Vietnamese: ""}, []Locale{Vietnamese}, "牛肉河粉"},
		{nil, []Locale{English}, ""},
	} {
		if got := tt.texts.In(tt.preferred...); got != tt.want {
			t.Errorf("%v in %v is %q, want %q", tt.texts, tt.preferred, got, tt.want)
		}
	}
}

// The console finds names without accents and in any locale, as phones do.
func TestDishFilter_folds(t *testing.T) {
	dish := Dish{Names: Texts{Vietnamese: "Bún chả", Chinese: "烤肉米線"}}
	for query, want := range map[string]bool{
		"bun": true, "BÚN  chả": true, "cha bun": true, "烤肉": true, "": true, "pho": false, "bun pho": false,
	} {
		if got := (DishFilter{Query: query}).matches(dish); got != want {
			t.Errorf("%q finds the dish: %t, want %t", query, got, want)
		}
	}
}

// Texts are encoded as the JSON of those in the given locales, whatever characters they have.
func TestTexts_Encode(t *testing.T) {
	names := Texts{"vi": `Phở "bò"`, "en": "Beef <pho>", "zh-TW": "牛肉河粉", "de": "Suppe"}
	for want, locales := range map[string][]Locale{
		"":                              {"fr"},
		`{"vi":"Phở \"bò\""}`:           {"vi", "fr", "vi"},
		`{"de":"Suppe","zh-TW":"牛肉河粉"}`: {"zh-TW", "de"},
		`{"en":"Beef \u003cpho\u003e"}`: {"en"},
	} {
		testenv.Equal(t, want, names.Encode(locales...))
	}
}

func TestTexts_only(t *testing.T) {
	names := Texts{Vietnamese: "Phở", English: "Pho"}
	for _, c := range []struct {
		locales []Locale
		want    Texts
	}{
		{[]Locale{English, Vietnamese, Japanese}, names},
		{[]Locale{English, English}, Texts{English: "Pho"}},
		{[]Locale{Japanese}, Texts{}},
		{nil, Texts{}},
	} {
		if got := names.only(c.locales); !maps.Equal(got, c.want) {
			t.Errorf("only(%v) = %v, want %v", c.locales, got, c.want)
		}
	}
	if len(names) != 2 {
		t.Errorf("the texts have changed to %v", names)
	}
}
