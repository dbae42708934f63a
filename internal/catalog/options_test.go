package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

func option(id, price int64) MenuOption {
	return MenuOption{ID: id, Price: price, Names: Texts{English: fmt.Sprint("Option ", id), Vietnamese: fmt.Sprint("Món ", id)}}
}

func byDefault(o MenuOption) MenuOption {
	o.Default = true
	return o
}

// anyNumber returns a group without limits.
func anyNumber(id int64, options ...MenuOption) OptionGroup {
	return OptionGroup{ID: id, Kind: ChoiceGroup, MaxEach: MaxOptionQty, DefaultsCharge: true, Options: options}
}

func choose(ids ...int64) (chosen []ChosenOption) {
	for _, id := range ids {
		chosen = append(chosen, ChosenOption{OptionID: id, Qty: 1})
	}
	return chosen
}

const (
	cheese, bacon      = 1, 2
	chicken, salmon    = 3, 4
	avocado, tofu      = 5, 6
	small, large       = 7, 8
	pearls, warm, iced = 9, 10, 11
)

// The examples that Toast and Square publish, and those of the design.
func TestItem_Configure_published_examples(t *testing.T) {
	charging := anyNumber(1, byDefault(option(cheese, 1)), option(bacon, 3))
	waiving := charging
	waiving.DefaultsCharge = false
	substituting := anyNumber(2, byDefault(option(chicken, 7)), option(salmon, 9))
	substituting.Credit = true
	toppings := anyNumber(3, option(avocado, 100), option(tofu, 100))
	twoFree := anyNumber(3, option(avocado, 100), option(tofu, 100))
	twoFree.Free = 2
	sizes := OptionGroup{ID: 4, Kind: SizeGroup, Min: 1, Max: new(int64(1)), MaxEach: 1, Options: []MenuOption{
		byDefault(option(small, 30000)), option(large, 40000),
	}}
	freeDefault := sizes
	freeDefault.DefaultsCharge = false
	heated := option(pearls, 5000)
	heated.Groups = []OptionGroup{anyNumber(5, option(warm, 500), option(iced, 0))}
	for name, c := range map[string]struct {
		price  int64
		groups []OptionGroup
		chosen []ChosenOption
		want   int64
	}{
		"burger whose default is free":              {8, []OptionGroup{waiving}, choose(cheese), 8},
		"burger whose default costs":                {8, []OptionGroup{charging}, choose(cheese), 9},
		"burger without cheese":                     {8, []OptionGroup{charging}, nil, 8},
		"burger with bacon instead of cheese":       {8, []OptionGroup{charging}, choose(bacon), 11},
		"burger with a second cheese":               {8, []OptionGroup{waiving}, []ChosenOption{{OptionID: cheese, Qty: 2}}, 9},
		"salad with its chicken":                    {10, []OptionGroup{substituting}, choose(chicken), 10},
		"salad with salmon":                         {10, []OptionGroup{substituting}, choose(salmon), 12},
		"salad without its chicken":                 {10, []OptionGroup{substituting}, nil, 10},
		"salad with both":                           {10, []OptionGroup{substituting}, choose(chicken, salmon), 19},
		"Caesar with avocado and tofu":              {1200, []OptionGroup{toppings}, choose(avocado, tofu), 1400},
		"Greek with two avocados":                   {1000, []OptionGroup{toppings}, []ChosenOption{{OptionID: avocado, Qty: 2}}, 1200},
		"two toppings are free":                     {1000, []OptionGroup{twoFree}, choose(avocado, tofu), 1000},
		"the third topping costs":                   {1000, []OptionGroup{twoFree}, []ChosenOption{{OptionID: avocado, Qty: 3}}, 1100},
		"a size replaces the price":                 {25000, []OptionGroup{sizes}, choose(large), 40000},
		"a default size":                            {25000, []OptionGroup{freeDefault}, choose(small), 30000},
		"a size and a topping":                      {25000, []OptionGroup{sizes, toppings}, choose(large, tofu), 40100},
		"the second level adds for each unit":       {25000, []OptionGroup{anyNumber(6, heated)}, []ChosenOption{{pearls, 2, choose(warm)}}, 36000},
		"free options have a second level to pay":   {25000, []OptionGroup{{ID: 6, Kind: ChoiceGroup, Free: 1, MaxEach: 2, Options: []MenuOption{heated}}}, []ChosenOption{{pearls, 1, choose(warm)}}, 25500},
		"one option with different second levels":   {0, []OptionGroup{anyNumber(6, heated)}, []ChosenOption{{pearls, 1, choose(warm)}, {pearls, 1, choose(iced)}}, 10500},
		"an item without groups and without a wish": {65000, nil, nil, 65000},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := (&Item{ID: 11, Price: c.price, Groups: c.groups}).Configure(c.chosen, nil)
			if err != nil || got.Price != c.want {
				t.Errorf("Configure = price %d, %v, want %d", got.Price, err, c.want)
			}
		})
	}
}

func TestItem_Configure_keeps_names_in_menu_order(t *testing.T) {
	size := OptionGroup{ID: 9, Kind: SizeGroup, Max: new(int64(1)), MaxEach: 1, Options: []MenuOption{option(large, 40000)}}
	size.Options[0].ShortName = "L"
	combo := OptionGroup{ID: 2, Kind: ComboGroup, MaxEach: 2, Options: []MenuOption{option(avocado, 0)}}
	combo.Options[0].DishID, combo.Options[0].Component, combo.Options[0].TaxClass = 5, 12, "ALCOHOL"
	it := Item{ID: 11, Price: 1, Groups: []OptionGroup{size, combo}}
	got := testenv.Must(it.Configure(choose(avocado, large), []Locale{Vietnamese, Japanese}))(t)
	want := Configured{Price: 40000, Options: []OptionLine{
		{GroupID: 9, OptionID: large, Kind: SizeGroup, Name: "Món 8", Names: Texts{Vietnamese: "Món 8"}, ShortName: "L", Qty: 1, Price: 40000,
			Charge: 40000},
		{GroupID: 2, OptionID: avocado, Kind: ComboGroup, Name: "Món 5", Names: Texts{Vietnamese: "Món 5"}, Qty: 1, DishID: 5,
			Component: 12, TaxClass: "ALCOHOL"},
	}}
	testenv.Equal(t, want, got)
	want.Options[0].Charge = 0 // not stored
	if d := cmp.Diff(want.Options, DecodeOptionLines(EncodeOptionLines(got.Options))); d != "" {
		t.Errorf("options stored and read again (-want +got):\n%s", d)
	}
}

// The stored text of options is that of encoding/json for every field, so that a new field is not forgotten.
func TestEncodeOptionLines(t *testing.T) {
	// Second-level options have none of their own, and the charge is not stored.
	of := func(below *rapid.Generator[[]OptionLine]) *rapid.Generator[OptionLine] {
		return rapid.MakeCustom[OptionLine](rapid.MakeConfig{Fields: map[reflect.Type]map[string]*rapid.Generator[any]{
			reflect.TypeFor[OptionLine](): {"Options": below.AsAny(), "Charge": rapid.Just[int64](0).AsAny()},
		}})
	}
	lines := rapid.SliceOfN(of(rapid.SliceOfN(of(rapid.Just[[]OptionLine](nil)), 0, 2)), 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		all := lines.Draw(t, "lines")
		var want, got any
		if err := errors.Join(json.Unmarshal([]byte(jsonOf(all)), &want), json.Unmarshal([]byte(EncodeOptionLines(all)), &got)); err != nil {
			t.Fatalf("%v in %s", err, EncodeOptionLines(all))
		}
		testenv.Equal(t, want, got)
	})
	testenv.Equal(t, "", EncodeOptionLines(nil))
}

func TestItem_Configure_refuses(t *testing.T) {
	required := OptionGroup{ID: 1, Kind: ChoiceGroup, Min: 1, Max: new(int64(2)), MaxEach: 1, Options: []MenuOption{
		option(cheese, 1), option(bacon, 3), option(tofu, 1),
	}}
	nested := option(pearls, 5000)
	nested.Groups = []OptionGroup{{ID: 5, Kind: ChoiceGroup, Min: 1, MaxEach: 1, Options: []MenuOption{option(warm, 0)}}}
	it := Item{ID: 11, Price: 8, Groups: []OptionGroup{required, anyNumber(2, nested)}}
	third := []ChosenOption{{pearls, 1, []ChosenOption{{warm, 1, choose(iced)}}}}
	var many []ChosenOption
	for id := range int64(MaxChosen + 1) {
		many = append(many, ChosenOption{OptionID: 100 + id, Qty: 1})
	}
	limits := func(group string, least int64, most any, got int64) map[string]any {
		return map[string]any{"itemId": "11", "groupId": group, "min": least, "max": most, "got": got}
	}
	each := limits("1", 1, int64(1), 2)
	each["optionId"] = "1"
	for name, c := range map[string]struct {
		chosen []ChosenOption
		code   string
		extra  map[string]any
	}{
		"none of a required group": {nil, "options_invalid", limits("1", 1, new(int64(2)), 0)},
		"more than the maximum":    {choose(cheese, bacon, tofu), "options_invalid", limits("1", 1, new(int64(2)), 3)},
		"more than one of each":    {[]ChosenOption{{OptionID: cheese, Qty: 2}}, "options_invalid", each},
		"one split in two":         {choose(cheese, cheese), "options_invalid", each},
		"an unknown option":        {choose(cheese, 99), "option_unknown", map[string]any{"itemId": "11", "optionId": "99"}},
		"an option of another group's second level": {
			choose(cheese, warm), "option_unknown", map[string]any{"itemId": "11", "optionId": "10"},
		},
		"a second level of an option without one": {
			[]ChosenOption{{cheese, 1, choose(warm)}}, "option_unknown", map[string]any{"itemId": "11", "optionId": "10"},
		},
		"none of a required group of the second level": {
			choose(cheese, pearls), "options_invalid", limits("5", 1, (*int64)(nil), 0),
		},
		"too many of one, with and without its second level": {
			append(choose(cheese), ChosenOption{pearls, MaxOptionQty, choose(warm)}, ChosenOption{OptionID: pearls, Qty: 1}), "options_invalid",
			map[string]any{
				"itemId": "11", "groupId": "2", "min": int64(0), "max": int64(MaxOptionQty), "got": int64(MaxOptionQty + 1), "optionId": "9",
			},
		},
		"a third level":     {third, "invalid", nil},
		"quantity 0":        {[]ChosenOption{{OptionID: cheese}}, "invalid", nil},
		"negative quantity": {[]ChosenOption{{OptionID: cheese, Qty: -1}}, "invalid", nil},
		"quantity 21":       {[]ChosenOption{{OptionID: cheese, Qty: MaxOptionQty + 1}}, "invalid", nil},
		"sum 21":            {[]ChosenOption{{OptionID: cheese, Qty: MaxOptionQty}, {OptionID: cheese, Qty: 1}}, "invalid", nil},
		"31 options":        {many, "invalid", nil},
		"no id":             {[]ChosenOption{{Qty: 1}}, "invalid", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := it.Configure(c.chosen, nil)
			var f *fault.Error
			if !errors.As(err, &f) || f.PublicCode() != c.code || f.Kind != fault.Invalid {
				t.Fatalf("Configure: error %v, want %s", err, c.code)
			}
			testenv.Equal(t, c.extra, f.Extra)
		})
	}
	plain := Item{ID: 12, Price: 8}
	if _, err := plain.Configure(choose(cheese), nil); !errors.Is(err, ErrOption) {
		t.Errorf("an option of a dish without groups: error %v, want option_unknown", err)
	}
}

func TestEncodeOptions(t *testing.T) {
	chosen := []ChosenOption{{pearls, 2, choose(warm)}, {OptionID: 12, Qty: 1}}
	const text = `[{"o":9,"q":2,"c":[{"o":10,"q":1}]},{"o":12,"q":1}]`
	testenv.Equal(t, text, EncodeOptions(chosen))
	testenv.Equal(t, chosen, DecodeOptions(text))
	for _, nothing := range []string{"", "no JSON"} {
		if got := DecodeOptions(nothing); got != nil {
			t.Errorf("DecodeOptions(%q) = %v, want nothing", nothing, got)
		}
	}
	if got := EncodeOptions(nil); got != "" {
		t.Errorf("no options are encoded as %q, want an empty text", got)
	}
}

// drawGroup returns a group of three options, with a second level if inner is given.
func drawGroup(t *rapid.T, id int64, inner ...OptionGroup) OptionGroup {
	g := OptionGroup{ID: id, Kind: ChoiceGroup, MaxEach: MaxOptionQty, Credit: rapid.Bool().Draw(t, "credit"),
		DefaultsCharge: rapid.Bool().Draw(t, "defaults charge")}
	price := rapid.Int64Range(0, 100_000).Draw(t, "price")
	if !g.Credit {
		g.Free = rapid.Int64Range(0, 3).Draw(t, "free")
	}
	for n := range int64(3) {
		if g.Free == 0 { // publishing demands one price for options that may be free
			price = rapid.Int64Range(0, 100_000).Draw(t, "price")
		}
		o := option(id*10+n, price)
		o.Default, o.Groups = rapid.Bool().Draw(t, "default"), inner
		g.Options = append(g.Options, o)
	}
	return g
}

func drawItem(t *rapid.T) Item {
	it := Item{ID: 11, Price: rapid.Int64Range(0, 100_000).Draw(t, "base"), Groups: []OptionGroup{
		drawGroup(t, 1, drawGroup(t, 5)), drawGroup(t, 2),
	}}
	if rapid.Bool().Draw(t, "sized") {
		size := drawGroup(t, 3)
		size.Kind, size.Max, size.MaxEach, size.Free, size.Credit = SizeGroup, new(int64(1)), 1, 0, false
		size.DefaultsCharge = true
		it.Groups = append(it.Groups, size)
	}
	return it
}

// drawChosen returns a valid choice whose equal options are in one place.
func drawChosen(t *rapid.T, groups []OptionGroup) (chosen []ChosenOption) {
	for _, g := range groups {
		if g.Kind == SizeGroup {
			if rapid.Bool().Draw(t, "size") {
				chosen = append(chosen, ChosenOption{OptionID: rapid.SampledFrom(g.Options).Draw(t, "size").ID, Qty: 1})
			}
			continue
		}
		for _, o := range g.Options {
			if n := rapid.Int64Range(0, 3).Draw(t, "qty"); n > 0 {
				chosen = append(chosen, ChosenOption{o.ID, n, drawChosen(t, o.Groups)})
			}
		}
	}
	return chosen
}

// split returns the same wish with its options one by one, in another order on both levels.
func split(t *rapid.T, chosen []ChosenOption) (one []ChosenOption) {
	for _, c := range chosen {
		for range c.Qty {
			one = append(one, ChosenOption{c.OptionID, 1, split(t, c.Options)})
		}
	}
	if len(one) < 2 {
		return one
	}
	return rapid.Permutation(one).Draw(t, "order")
}

func TestItem_Configure_is_independent_of_the_form(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		it := drawItem(t)
		chosen := drawChosen(t, it.Groups)
		want, err := it.Configure(chosen, []Locale{English})
		if err != nil {
			t.Fatalf("a valid choice is refused: %v", err)
		}
		if want.Price < 0 {
			t.Fatalf("the price is %d, want none below 0", want.Price)
		}
		// The charges of the options add up to what they add to the price. That of a size contains the dish's.
		sum, sized := int64(0), false
		for l := range All(want.Options) {
			sum, sized = sum+l.Charge, sized || l.Kind == SizeGroup
		}
		if !sized {
			sum += it.Price
		}
		if sum != want.Price {
			t.Fatalf("the charges of %+v add up to %d, want the price %d", want.Options, sum, want.Price)
		}
		got, err := it.Configure(split(t, chosen), []Locale{English})
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Fatalf("the same wish in another form: error %v, (-want +got):\n%s", err, d)
		}
		if again := mustCanonical(t, mustCanonical(t, split(t, chosen))); EncodeOptions(again) != EncodeOptions(mustCanonical(t, chosen)) {
			t.Fatalf("canonical forms %s and %s of one wish differ", EncodeOptions(again), EncodeOptions(mustCanonical(t, chosen)))
		}
		// What the order keeps is the same wish.
		if kept := wishOf(want.Options); EncodeOptions(mustCanonical(t, kept)) != EncodeOptions(mustCanonical(t, chosen)) {
			t.Fatalf("the order keeps %s of the wish %s", EncodeOptions(kept), EncodeOptions(chosen))
		}
	})
}

// mustCanonical returns a canonical form that must exist.
func mustCanonical(t *rapid.T, chosen []ChosenOption) []ChosenOption {
	c, err := CanonicalOptions(chosen)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wishOf(lines []OptionLine) (chosen []ChosenOption) {
	for _, l := range lines {
		chosen = append(chosen, ChosenOption{l.OptionID, l.Qty, wishOf(l.Options)})
	}
	return chosen
}

func TestCanonicalOptions_leaves_its_argument(t *testing.T) {
	chosen := []ChosenOption{{pearls, 1, choose(iced, warm)}, {OptionID: cheese, Qty: 1}}
	before := EncodeOptions(chosen)
	testenv.Must(CanonicalOptions(chosen))(t)
	testenv.Equal(t, before, EncodeOptions(chosen))
}

func TestAll_multiplies_quantities(t *testing.T) {
	lines := []OptionLine{{OptionID: pearls, Qty: 2, Options: []OptionLine{{OptionID: warm, Qty: 3}}}, {OptionID: tofu, Qty: 1}}
	var got []string
	for l, qty := range All(lines) {
		got = append(got, fmt.Sprint(qty, "x", l.OptionID))
	}
	if want := []string{"2x9", "6x10", "1x6"}; !slices.Equal(got, want) {
		t.Errorf("options %v, want %v", got, want)
	}
}
