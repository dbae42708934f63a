package cataloghttp

import (
	"comanda/internal/catalog"
	"comanda/internal/seq"
)

// Declared is what a dish or an option declares. It is exported because huma only reads exported embedded fields.
type Declared struct {
	Allergens *allergens     `json:"allergens" doc:"What it contains of the 14 allergens of Regulation (EU) 1169/2011; null if nothing is declared, which does not mean that it contains none."`
	Diets     []catalog.Diet `json:"diets" enum:"VEGETARIAN,VEGAN,HALAL,KOSHER" doc:"The diets that it is made for; a missing one is not promised."`
}

// allergens are GS1 codes.
type allergens struct {
	Contains   []catalog.Allergen `json:"contains" enum:"AW,AC,AE,AF,AP,AY,AM,AN,BC,BM,AS,AU,NL,UM" doc:"GS1 codes: AW gluten, AC crustaceans, AE egg, AF fish, AP peanuts, AY soya, AM milk, AN nuts, BC celery, BM mustard, AS sesame, AU sulphites, NL lupin, UM molluscs."`
	MayContain []catalog.Allergen `json:"mayContain" enum:"AW,AC,AE,AF,AP,AY,AM,AN,BC,BM,AS,AU,NL,UM" doc:"Traces are possible."`
}

func declaredOf(d catalog.Declaration) Declared {
	return Declared{allergensOf(d.Allergens), append([]catalog.Diet{}, d.Diets...)}
}

func allergensOf(a *catalog.Allergens) *allergens {
	if a == nil {
		return nil
	}
	return &allergens{append([]catalog.Allergen{}, a.Contains...), append([]catalog.Allergen{}, a.MayContain...)}
}

// DeclarationEdit is a change to a declaration. Omitted fields stay as they are.
type DeclarationEdit struct {
	Allergens *allergensEdit `json:"allergens,omitempty" doc:"Replaces the declaration about all 14 allergens."`
	Diets     *[]dietCode    `json:"diets,omitempty" text:"exact" maxItems:"20" doc:"Replaces the diets: VEGETARIAN, VEGAN, HALAL, KOSHER."`
}

// Codes have no enum, so that unknown ones are refused with a code like all wrong declarations.
type (
	allergensEdit struct {
		Declared   bool           `json:"declared" doc:"false removes the declaration; the lists are empty then."`
		Contains   []allergenCode `json:"contains" text:"exact" maxItems:"20" doc:"GS1 codes, as in responses; with both lists empty, none of the 14 are contained."`
		MayContain []allergenCode `json:"mayContain" text:"exact" maxItems:"20"`
	}
	allergenCode string
	dietCode     string
)

func (e DeclarationEdit) edit() catalog.DeclarationEdit {
	var out catalog.DeclarationEdit
	if e.Diets != nil {
		out.Diets = new(seq.Map(*e.Diets, func(c dietCode) catalog.Diet { return catalog.Diet(c) }))
	}
	if a := e.Allergens; a != nil {
		code := func(c allergenCode) catalog.Allergen { return catalog.Allergen(c) }
		out.Allergens = &catalog.AllergensEdit{
			Declared:  a.Declared,
			Allergens: catalog.Allergens{Contains: seq.Map(a.Contains, code), MayContain: seq.Map(a.MayContain, code)},
		}
	}
	return out
}
