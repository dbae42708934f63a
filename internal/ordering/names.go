package ordering

import (
	"encoding/json"

	"comanda/internal/catalog"
)

// NamesOf returns a dish's names in the locales of its branch, as JSON for an order line. Lines keep them as text,
// because placing and settling read lines often and never need the names.
func NamesOf(names catalog.Texts, locales []catalog.Locale) string {
	shown := catalog.Texts{}
	for _, l := range locales {
		if s := names[l]; s != "" {
			shown[l] = s
		}
	}
	if len(shown) == 0 {
		return ""
	}
	text, _ := json.Marshal(shown) // a map of strings cannot fail
	return string(text)
}

// NameIn returns the name of the dish at the time of the order, in the locale that choose picks from those available.
// If there is no such name, it returns Name.
func (it Item) NameIn(choose func(have []catalog.Locale) catalog.Locale) string {
	var names catalog.Texts
	if it.Names == "" || json.Unmarshal([]byte(it.Names), &names) != nil {
		return it.Name
	}
	if s := names[choose(names.Locales())]; s != "" {
		return s
	}
	return it.Name
}
