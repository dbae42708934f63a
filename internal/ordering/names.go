package ordering

import (
	"encoding/json"

	"comanda/internal/catalog"
)

// NamesOf writes the names that a menu shows in the locales of its branch, as a line of an order keeps them. They stay
// text until a guest asks for one: placing and settling orders reads lines far more often, and needs none of them.
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
	text, _ := json.Marshal(shown) // a map of strings always marshals
	return string(text)
}

// NameIn returns the line's dish as it was called when it was ordered, in the locale that choose picks from those there
// are. It is the branch's own name where choose picks none, and with orders that keep no other.
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
