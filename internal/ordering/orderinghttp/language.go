package orderinghttp

import (
	"slices"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
)

// itemsIn is itemsOf with the dishes named in the language of whoever ordered them, as the menu named them. Staff read
// the branch's own language.
func itemsIn(items []ordering.Item, l httpapi.Language) []item {
	out := itemsOf(items)
	for i, it := range items {
		out[i].Name = it.NameIn(func(have []catalog.Locale) catalog.Locale { return localeIn(l, have) })
	}
	return out
}

// localeIn returns the locale that was asked for by name if it is among have, else the one that the browser prefers;
// empty where none fits, which leaves the branch's own.
func localeIn(l httpapi.Language, have []catalog.Locale) catalog.Locale {
	if named := catalog.Locale(l.Locale); slices.Contains(have, named) {
		return named
	}
	known := make([]string, 1, len(have)+1) // the first is what nothing fits to
	for _, h := range have {
		known = append(known, string(h))
	}
	return catalog.Locale(httpapi.Locale(l.AcceptLanguage, known...))
}

// guestDetailOf is detailOf in the language of whoever ordered.
func guestDetailOf(d ordering.Detail, l httpapi.Language) Detail {
	out := detailOf(d)
	out.Items = itemsIn(d.Items, l)
	return out
}
