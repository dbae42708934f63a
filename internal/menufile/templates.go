package menufile

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"comanda/internal/seq"
)

//go:embed templates/*.csv
var templates embed.FS

// TemplateLocales are the languages of the embedded templates.
var TemplateLocales = []string{fallback, "vi", "zh-TW", "ja"}

// fallback is the language that is used if a template lacks a language.
const fallback = "en"

// TemplateNames returns the names of the embedded templates: menus that a restaurant can start with.
func TemplateNames() []string {
	entries, _ := templates.ReadDir("templates") // fails for an unknown name only
	return seq.Map(entries, func(e fs.DirEntry) string { return strings.TrimSuffix(e.Name(), ".csv") })
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
	rows := slices.DeleteFunc(file.Rows, func(r DishRow) bool { return unsold[r.Number] })
	for i, r := range rows {
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
