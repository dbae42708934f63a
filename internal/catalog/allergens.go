package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"comanda/internal/fault"
)

// Allergen is one of the 14 substances of Regulation (EU) No 1169/2011, Annex II, as a GS1 code (allergenTypeCode).
type Allergen string

// The allergens.
const (
	Gluten      Allergen = "AW"
	Crustaceans Allergen = "AC"
	Egg         Allergen = "AE"
	Fish        Allergen = "AF"
	Peanuts     Allergen = "AP"
	Soya        Allergen = "AY"
	Milk        Allergen = "AM"
	Nuts        Allergen = "AN"
	Celery      Allergen = "BC"
	Mustard     Allergen = "BM"
	Sesame      Allergen = "AS"
	Sulphites   Allergen = "AU"
	Lupin       Allergen = "NL"
	Molluscs    Allergen = "UM"
)

// allergens has the order of Annex II, which lists and files keep.
var allergens = []Allergen{
	Gluten, Crustaceans, Egg, Fish, Peanuts, Soya, Milk, Nuts, Celery, Mustard, Sesame, Sulphites, Lupin, Molluscs,
}

// Diet is a way of eating that a dish is made for.
type Diet string

// The diets. GLUTEN_FREE is not one of them: the allergen AW states it, and two facts could contradict each other.
const (
	Vegetarian Diet = "VEGETARIAN"
	Vegan      Diet = "VEGAN"
	Halal      Diet = "HALAL"
	Kosher     Diet = "KOSHER"
)

var diets = []Diet{Vegetarian, Vegan, Halal, Kosher}

// forbidden has the allergens that a dish of a diet cannot contain. Traces of them are not a contradiction.
var forbidden = map[Diet][]Allergen{
	Vegetarian: {Crustaceans, Fish, Molluscs},
	Vegan:      {Crustaceans, Egg, Fish, Milk, Molluscs},
	Kosher:     {Crustaceans, Molluscs},
}

// Allergens is a declaration about all 14 allergens: those in neither list are not in the dish. It is immutable and may be
// shared. A nil pointer means that nothing is declared, which is not the same as an empty declaration.
type Allergens struct {
	Contains   []Allergen `json:"contains,omitempty"`
	MayContain []Allergen `json:"mayContain,omitempty"` // traces, from a shared kitchen for example
}

// Declaration has the allergens and diets that a dish or an option declares.
type Declaration struct {
	Allergens *Allergens `json:"allergens,omitempty"` // nil: not declared
	Diets     []Diet     `json:"diets,omitempty"`     // a diet that is missing is not promised
}

// DeclarationEdit is a change to a declaration. Nil fields stay as they are.
type DeclarationEdit struct {
	Allergens *AllergensEdit
	Diets     *[]Diet
}

// AllergensEdit replaces a declaration about allergens.
type AllergensEdit struct {
	Declared bool // false: removes it; the lists are empty
	Allergens
}

// apply returns the changed declaration in canonical form: without repetitions, in the order of Annex II. It adds every
// wrong field to wrong.
func (e DeclarationEdit) apply(d Declaration, wrong *fault.Problems) Declaration {
	if e == (DeclarationEdit{}) {
		return d // old facts that a later rule would refuse must not block other changes
	}
	set(&d.Diets, e.Diets)
	if a := e.Allergens; a != nil {
		d.Allergens = &a.Allergens
		if !a.Declared {
			if d.Allergens = nil; len(a.Contains)+len(a.MayContain) > 0 {
				wrong.Addf(fieldAllergens+".declared", codeNotDeclared, "must be true for a list of allergens")
			}
		}
	}
	return d.canonical(wrong)
}

// The codes of wrong declarations.
const (
	codeAllergenUnknown = "allergen_unknown"
	codeAllergenTwice   = "allergen_twice" // in both lists
	codeNotDeclared     = "allergens_undeclared"
	codeDietUnknown     = "diet_unknown"
	codeDietConflict    = "diet_conflict"    // the dish contains what the diet excludes
	codeOfDish          = "declared_by_dish" // an option of a combo has the declaration of its dish
	fieldAllergens      = "allergens"
	fieldDiets          = "diets"
)

// canonical returns a declaration in the fixed order of allergens and diets, without repetitions, so that equal
// declarations are stored as equal texts. It reports a diet that the allergens contradict.
func (d Declaration) canonical(wrong *fault.Problems) Declaration {
	for _, diet := range d.Diets {
		if !slices.Contains(diets, diet) {
			wrong.Addf(fieldDiets, codeDietUnknown, "has an unknown diet %q", diet)
		}
	}
	var promised []Diet
	for _, diet := range diets {
		if d.Has(diet) {
			promised = append(promised, diet)
		}
	}
	d.Diets = promised
	if d.Allergens == nil {
		return d
	}
	a := *d.Allergens
	checkKnown(wrong, ".contains", a.Contains)
	checkKnown(wrong, ".mayContain", a.MayContain)
	for _, code := range a.MayContain {
		if slices.Contains(a.Contains, code) {
			wrong.Addf(fieldAllergens+".mayContain", codeAllergenTwice, "repeats %s, which the dish contains", code)
		}
	}
	d.Allergens = &Allergens{Contains: inOrder(a.Contains), MayContain: inOrder(a.MayContain)}
	for _, diet := range d.Diets {
		if found := d.Allergens.excluded(diet); len(found) > 0 {
			wrong.Addf(fieldDiets, codeDietConflict, "has %s, but the dish contains %s", diet, join(found))
		}
	}
	return d
}

func checkKnown(wrong *fault.Problems, list string, codes []Allergen) {
	for _, code := range codes {
		if !slices.Contains(allergens, code) {
			wrong.Addf(fieldAllergens+list, codeAllergenUnknown, "has an unknown allergen %q", code)
		}
	}
}

// Has reports whether a diet is promised. What is vegan is vegetarian too.
func (d Declaration) Has(diet Diet) bool {
	return slices.Contains(d.Diets, diet) || diet == Vegetarian && slices.Contains(d.Diets, Vegan)
}

// excluded returns the contained allergens that a diet excludes.
func (a *Allergens) excluded(diet Diet) []Allergen {
	return slices.DeleteFunc(slices.Clone(forbidden[diet]), func(code Allergen) bool {
		return !slices.Contains(a.Contains, code)
	})
}

// inOrder returns codes in the order of Annex II, each once; nil for none, like a decoded column.
func inOrder(list []Allergen) (ordered []Allergen) {
	for _, code := range allergens {
		if slices.Contains(list, code) {
			ordered = append(ordered, code)
		}
	}
	return ordered
}

func join(list []Allergen) string {
	return strings.Trim(fmt.Sprint(list), "[]")
}

func (d Declaration) equal(o Declaration) bool {
	a, diets := d.Encode()
	b, others := o.Encode()
	return a == b && diets == others
}

// and returns the declaration of two things together. It is nothing if one of them declares nothing: unknown is not free.
func (d Declaration) and(o Declaration) Declaration {
	both := Declaration{Diets: slices.DeleteFunc(slices.Clone(d.Diets), func(diet Diet) bool { return !o.Has(diet) })}
	if d.Allergens == nil || o.Allergens == nil {
		return both
	}
	contains := inOrder(append(slices.Clone(d.Allergens.Contains), o.Allergens.Contains...))
	traces := inOrder(append(slices.Clone(d.Allergens.MayContain), o.Allergens.MayContain...))
	traces = slices.DeleteFunc(traces, func(code Allergen) bool { return slices.Contains(contains, code) })
	both.Allergens = &Allergens{Contains: contains, MayContain: traces}
	return both
}

// Declared returns what a guest should know before choosing options: the item's declaration, or that of all parts that a
// guest may choose if it is a combo. The item's own declaration counts for a combo as far as there is one.
func (it *Item) Declared() Declaration {
	parts := make([]Declaration, 0, len(it.Groups))
	for _, g := range it.Groups {
		if g.Kind != ComboGroup {
			continue
		}
		for _, o := range g.Options {
			parts = append(parts, o.Declaration)
		}
	}
	if it.Allergens != nil || len(parts) == 0 {
		parts = append(parts, it.Declaration)
	}
	all := parts[0]
	for _, p := range parts[1:] {
		all = all.and(p)
	}
	return all
}

// IsCombo reports whether the item has parts that stand for dishes.
func (it *Item) IsCombo() bool {
	return slices.ContainsFunc(it.Groups, func(g OptionGroup) bool { return g.Kind == ComboGroup })
}

// DeclarationIn returns the declaration of an option in a group of an item. A size is more or less of the same dish, so it
// has the dish's unless it has its own.
func (o MenuOption) DeclarationIn(kind GroupKind, of Declaration) Declaration {
	if kind == SizeGroup && o.Allergens == nil {
		return Declaration{&Allergens{}, of.Diets}
	}
	return o.Declaration
}

// Encode returns a declaration as the texts of its columns.
func (d Declaration) Encode() (allergens, diets string) {
	if d.Allergens != nil {
		allergens = jsonOf(d.Allergens)
	}
	list := make([]string, len(d.Diets))
	for i, diet := range d.Diets {
		list[i] = string(diet)
	}
	return allergens, strings.Join(list, " ")
}

// DecodeDeclaration is the reverse of Encode. A text that was edited by hand and cannot be read counts as not declared.
func DecodeDeclaration(allergens, diets string) (d Declaration) {
	if allergens != "" {
		var a Allergens
		if json.Unmarshal([]byte(allergens), &a) == nil {
			d.Allergens = &a
		}
	}
	for diet := range strings.FieldsSeq(diets) {
		d.Diets = append(d.Diets, Diet(diet))
	}
	return d
}
