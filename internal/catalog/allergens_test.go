package catalog

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/testenv"
)

func declared(contains ...Allergen) *Allergens { return &Allergens{Contains: contains} }

func codes(err error) (all []string) {
	for _, f := range fault.FieldsOf(err) {
		all = append(all, f.Field+" "+f.Code)
	}
	return all
}

func TestDeclarationEdit(t *testing.T) {
	edit := func(contains, traces []Allergen, diets ...Diet) DeclarationEdit {
		return DeclarationEdit{&AllergensEdit{true, Allergens{contains, traces}}, &diets}
	}
	none := []Allergen{}
	for name, c := range map[string]struct {
		edit DeclarationEdit
		want Declaration
		code []string
	}{
		"order of the annex": {
			edit([]Allergen{Milk, Gluten, Milk}, []Allergen{Molluscs}), Declaration{Allergens: &Allergens{[]Allergen{Gluten, Milk}, []Allergen{Molluscs}}}, nil,
		},
		"none of the 14":    {edit(none, none), Declaration{Allergens: &Allergens{}}, nil},
		"vegan":             {edit(none, []Allergen{Milk}, Vegan), Declaration{&Allergens{MayContain: []Allergen{Milk}}, []Diet{Vegetarian, Vegan}}, nil},
		"removed":           {DeclarationEdit{Allergens: &AllergensEdit{}}, Declaration{Diets: []Diet{Halal}}, nil},
		"diets only":        {DeclarationEdit{Diets: &[]Diet{Kosher}}, Declaration{declared(Egg), []Diet{Kosher}}, nil},
		"no change":         {DeclarationEdit{}, Declaration{declared(Egg), []Diet{Halal}}, nil},
		"unknown allergen":  {edit([]Allergen{"XX"}, none), Declaration{}, []string{"allergens.contains allergen_unknown"}},
		"unknown trace":     {edit(none, []Allergen{"XX"}), Declaration{}, []string{"allergens.mayContain allergen_unknown"}},
		"both lists":        {edit([]Allergen{Egg}, []Allergen{Egg}), Declaration{}, []string{"allergens.mayContain allergen_twice"}},
		"unknown diet":      {edit(none, none, "PALEO"), Declaration{}, []string{"diets diet_unknown"}},
		"vegan with milk":   {edit([]Allergen{Milk}, none, Vegan), Declaration{}, []string{"diets diet_conflict"}},
		"vegan with fish":   {edit([]Allergen{Fish}, none, Vegan), Declaration{}, []string{"diets diet_conflict", "diets diet_conflict"}}, // it is vegetarian too
		"kosher with crab":  {edit([]Allergen{Crustaceans}, none, Kosher), Declaration{}, []string{"diets diet_conflict"}},
		"conflict with old": {DeclarationEdit{Diets: &[]Diet{Vegan}}, Declaration{}, []string{"diets diet_conflict"}},
		"removed with list": {DeclarationEdit{Allergens: &AllergensEdit{false, Allergens{Contains: []Allergen{Egg}}}}, Declaration{}, []string{"allergens.declared allergens_undeclared"}},
	} {
		t.Run(name, func(t *testing.T) {
			var wrong fault.Problems
			got := c.edit.apply(Declaration{declared(Egg), []Diet{Halal}}, &wrong)
			if d := cmp.Diff(c.code, codes(wrong.Err())); d != "" {
				t.Fatalf("problems (-want +got):\n%s", d)
			}
			if c.code == nil && !got.equal(c.want) {
				t.Errorf("became %v %v, want %v %v", got.Allergens, got.Diets, c.want.Allergens, c.want.Diets)
			}
		})
	}
}

// Every diet's forbidden allergens are refused, and no others.
func TestDeclarationEdit_diets(t *testing.T) {
	want := map[Diet][]Allergen{
		Vegetarian: {Crustaceans, Fish, Molluscs}, Vegan: {Crustaceans, Egg, Fish, Milk, Molluscs}, Kosher: {Crustaceans, Molluscs},
	}
	for _, diet := range diets {
		var refused []Allergen
		for _, a := range allergens {
			var wrong fault.Problems
			DeclarationEdit{&AllergensEdit{true, *declared(a)}, &[]Diet{diet}}.apply(Declaration{}, &wrong)
			if wrong.Err() != nil {
				refused = append(refused, a)
			}
		}
		if !slices.Equal(refused, want[diet]) {
			t.Errorf("%s is refused with %v, want %v", diet, refused, want[diet])
		}
	}
}

func TestOptionEdit_combo(t *testing.T) {
	combo := LibraryGroup{ID: 1, Kind: ComboGroup}
	edit := OptionEdit{Names: Texts{English: "Tea"}, DishID: 5, Declared: DeclarationEdit{Allergens: &AllergensEdit{Declared: true}}}
	_, err := edit.apply(combo, LibraryOption{})
	if d := cmp.Diff([]string{"allergens declared_by_dish"}, codes(err)); d != "" || fault.KindOf(err) != fault.Invalid {
		t.Errorf("an option of a combo with allergens: %v (-want +got):\n%s", err, d)
	}
	edit.Declared = DeclarationEdit{}
	if _, err := edit.apply(combo, LibraryOption{}); err != nil {
		t.Errorf("an option of a combo: %v", err)
	}
}

func TestDeclaration_columns(t *testing.T) {
	for _, want := range []Declaration{
		{}, {Allergens: &Allergens{}}, {Diets: []Diet{Halal}},
		{&Allergens{[]Allergen{Gluten}, []Allergen{Nuts}}, []Diet{Vegetarian, Vegan}},
	} {
		if got := DecodeDeclaration(want.Encode()); !cmp.Equal(want, got) {
			t.Errorf("%+v is read as %+v", want, got)
		}
		// The copy of the menu in Redis keeps the three states apart, too.
		raw := testenv.Must(json.Marshal(Item{Declaration: want}))(t)
		var it Item
		testenv.NoError(t, json.Unmarshal(raw, &it))
		if !cmp.Equal(want, it.Declaration) {
			t.Errorf("%s is read as %+v", raw, it.Declaration)
		}
	}
	if got := DecodeDeclaration("edited by hand", "  "); got.Allergens != nil || got.Diets != nil {
		t.Errorf("an unreadable text is read as %+v, want nothing declared", got)
	}
}

func TestItem_Declared(t *testing.T) {
	part := func(a *Allergens, diets ...Diet) MenuOption { return MenuOption{Declaration: Declaration{a, diets}} }
	combo := func(own *Allergens, parts ...MenuOption) Item {
		topping := OptionGroup{Kind: ChoiceGroup, Options: []MenuOption{part(declared(Nuts))}}
		return Item{Declaration: Declaration{Allergens: own}, Groups: []OptionGroup{topping, {Kind: ComboGroup, Options: parts}}}
	}
	for name, c := range map[string]struct {
		item Item
		want Declaration
	}{
		"a dish": {
			Item{Declaration: Declaration{declared(Egg), []Diet{Vegetarian}}, Groups: []OptionGroup{{Kind: ChoiceGroup, Options: []MenuOption{part(nil)}}}},
			Declaration{declared(Egg), []Diet{Vegetarian}},
		},
		"all parts": {
			combo(nil, part(&Allergens{[]Allergen{Fish}, []Allergen{Milk}}, Halal), part(declared(Milk, Gluten), Halal, Kosher)),
			Declaration{declared(Gluten, Fish, Milk), []Diet{Halal}},
		},
		"its own and its parts": {combo(declared(Celery), part(declared(Fish))), Declaration{Allergens: declared(Fish, Celery)}},
		"an unknown part":       {combo(declared(Celery), part(declared(Fish)), part(nil)), Declaration{}},
		"a vegan part": {
			combo(nil, part(declared(), Vegan, Vegetarian), part(declared(Milk), Vegetarian)), Declaration{declared(Milk), []Diet{Vegetarian}},
		},
	} {
		if got := c.item.Declared(); !got.equal(c.want) {
			t.Errorf("%s: %v %v, want %v %v", name, got.Allergens, got.Diets, c.want.Allergens, c.want.Diets)
		}
	}
}

func TestMenuOption_DeclarationIn(t *testing.T) {
	dish := Declaration{declared(Milk), []Diet{Vegetarian}}
	for name, c := range map[string]struct {
		option Declaration
		kind   GroupKind
		want   Declaration
	}{
		"a size":                   {Declaration{}, SizeGroup, Declaration{&Allergens{}, []Diet{Vegetarian}}},
		"a size of its own":        {Declaration{Allergens: declared(Nuts)}, SizeGroup, Declaration{Allergens: declared(Nuts)}},
		"a topping":                {Declaration{}, ChoiceGroup, Declaration{}},
		"a topping with allergens": {Declaration{declared(Egg), []Diet{Vegetarian}}, ChoiceGroup, Declaration{declared(Egg), []Diet{Vegetarian}}},
	} {
		if got := (MenuOption{Declaration: c.option}).DeclarationIn(c.kind, dish); !got.equal(c.want) {
			t.Errorf("%s: %v %v, want %v %v", name, got.Allergens, got.Diets, c.want.Allergens, c.want.Diets)
		}
	}
}

// A row of a menu keeps the tax class and the declaration of its dish, and changes them on request.
func TestPlanRows_declaration(t *testing.T) {
	state := MenuState{
		Categories: []Category{{ID: 1}}, TaxClasses: map[string]bool{"FOOD": true},
		Items: []MenuItemState{{
			ItemID: 11, DishID: 4, CategoryID: 1, Names: Texts{English: "Pho"}, Listed: true, TaxClass: "FOOD",
			Declaration: Declaration{Allergens: declared(Fish)}, Entry: Entry{Price: 5, Active: true},
		}},
	}
	row := MenuRow{DishID: 4, Names: Texts{English: "Beef pho"}, Price: 5}
	plan := func() (MenuChange, error) { return planRows(state, authz.System(), []MenuRow{row}) }
	c := testenv.Must(plan())(t)
	if d := c.Items[0].Dish; d.TaxClass != "FOOD" || !d.equal(Declaration{Allergens: declared(Fish)}) {
		t.Errorf("a new name makes the dish %+v, want its tax class and allergens unchanged", d)
	}
	row.Names, row.Declared = nil, DeclarationEdit{Diets: &[]Diet{Halal}}
	if c := testenv.Must(plan())(t); len(c.Items) != 1 || !c.Items[0].WriteDish || !c.Items[0].Dish.Has(Halal) {
		t.Errorf("a diet makes %+v, want one dish that is written", c.Items)
	}
	row.TaxClass = new("WINE")
	testenv.ErrorIs(t, ErrTaxClass, testenv.Err(plan()), "an unknown tax class")
}
