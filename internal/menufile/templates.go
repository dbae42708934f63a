package menufile

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"comanda/internal/money"
	"comanda/internal/seq"
)

//go:embed templates/*.csv templates/options.json
var templates embed.FS

// TemplateLocales are the languages of the embedded templates.
var TemplateLocales = []string{fallback, "vi", "zh-TW", "ja"}

// fallback is the language that is used if a template lacks a language.
const fallback = "en"

// TemplateNames returns the names of the embedded templates: menus that a restaurant can start with.
func TemplateNames() []string {
	files, _ := fs.Glob(templates, "templates/*.csv") // fails for a wrong pattern only
	return seq.Map(files, func(f string) string { return strings.TrimSuffix(strings.TrimPrefix(f, "templates/"), ".csv") })
}

// templateGroup is an option group of a template, for the dishes that it names or those of categories by their English
// names. A cell of options has the prices of one currency, so groups are stored apart from the dishes.
type templateGroup struct {
	Kind       string            `json:"kind"`
	Names      map[string]string `json:"names"`
	Min        int64             `json:"min"`
	Max        *int64            `json:"max"`
	Each       int64             `json:"each"`
	Categories []string          `json:"categories"`
	Dishes     []string          `json:"dishes"`
	Options    []struct {
		Names map[string]string `json:"names"`
		// Extra is added to the price of the dish, in minor units; empty for nothing.
		Extra   map[money.Currency]int64 `json:"extra"`
		Default bool                     `json:"default"`
	} `json:"options"`
}

// of reports whether a dish has the group.
func (g *templateGroup) of(r DishRow) bool {
	return slices.Contains(g.Dishes, r.Key) || slices.Contains(g.Categories, r.Category[fallback])
}

// cell returns the group of a dish in a branch's currency and languages. Options with a price in other currencies only
// are left out, like dishes.
func (g *templateGroup) cell(o Options, price int64) OptionGroupCell {
	c := OptionGroupCell{Kind: g.Kind, Min: g.Min, Max: g.Max, MaxEach: max(1, g.Each)}
	c.Name, c.Names = o.firstOf(g.Names)
	for _, option := range g.Options {
		extra, sold := option.Extra[o.Currency]
		if len(option.Extra) > 0 && !sold {
			continue
		}
		if g.Kind == kindSize {
			extra += price // the price of a size replaces that of the dish
		}
		cell := OptionCell{Price: extra, Default: option.Default}
		cell.Name, cell.Names = o.firstOf(option.Names)
		c.Options = append(c.Options, cell)
	}
	return c
}

// firstOf returns a text in the branch's first language, and in the further ones.
func (o Options) firstOf(texts map[string]string) (first string, further map[string]string) {
	further = o.Choose(texts)
	first = further[o.Locales[0]]
	delete(further, o.Locales[0])
	return first, further
}

// templateGroups returns the option groups of an embedded template.
func templateGroups(name string) ([]templateGroup, error) {
	raw, err := templates.ReadFile("templates/options.json")
	if err != nil {
		return nil, fmt.Errorf("menufile: %w", err)
	}
	all := map[string][]templateGroup{}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("menufile: options of templates: %w", err)
	}
	return all[name], nil
}

// TemplateRows returns the dishes of an embedded template in a branch's currency and languages. Dishes without a price
// in the currency are left out, because countries with this currency do not sell them, such as wine in Saudi Arabia.
func TemplateRows(name string, o Options) ([]DishRow, error) {
	raw, err := templates.ReadFile("templates/" + name + ".csv")
	if err != nil {
		return nil, fmt.Errorf("menufile: %w", err)
	}
	file, problems := Read(raw, Options{o.Currency, TemplateLocales})
	unsold := map[int]bool{}
	for _, p := range problems {
		if p.Code != PriceMissing {
			return nil, fmt.Errorf("menufile: template %s, row %d: %s", name, p.Row, p.Message)
		}
		unsold[p.Row] = true
	}
	groups, err := templateGroups(name)
	if err != nil {
		return nil, err
	}
	rows := slices.DeleteFunc(file.Rows, func(r DishRow) bool { return unsold[r.Number] })
	for i, r := range rows {
		for _, g := range groups {
			if g.of(r) {
				rows[i].Options.Given = true
				rows[i].Options.Groups = append(rows[i].Options.Groups, g.cell(o, r.Price))
			}
		}
		rows[i].Category, rows[i].Name, rows[i].Description = o.Choose(r.Category), o.Choose(r.Name), o.Choose(r.Description)
	}
	return rows, nil
}

// Choose returns texts in the branch's languages. If the first language lacks a text, the English one is used.
func (o Options) Choose(texts map[string]string) map[string]string {
	out := map[string]string{}
	for i, l := range o.Locales {
		s := texts[l]
		if s == "" && i == 0 {
			s = texts[fallback]
		}
		if s != "" {
			out[l] = s
		}
	}
	return out
}
