package orderinghttp

import (
	"slices"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
)

// itemsIn returns an order's items with their names in the guest's language, as the menu named them when the order was
// placed. The staff read itemsOf, in the branch's language.
func itemsIn(items []ordering.Item, l httpapi.Language) []item {
	out := itemsOf(items)
	for i, it := range items {
		out[i].Name = it.NameIn(func(have []catalog.Locale) catalog.Locale { return localeIn(l, have) })
	}
	return out
}

// localeIn returns the explicitly requested locale if it is in have, else the best match for Accept-Language. It
// returns "" without a match, which selects the branch's default.
func localeIn(l httpapi.Language, have []catalog.Locale) catalog.Locale {
	if named := catalog.Locale(l.Locale); slices.Contains(have, named) {
		return named
	}
	known := make([]string, 1, len(have)+1) // the first entry is the result without a match
	for _, h := range have {
		known = append(known, string(h))
	}
	return catalog.Locale(httpapi.Locale(l.AcceptLanguage, known...))
}

// guestDetailOf returns detailOf with the items' names in the guest's language.
func guestDetailOf(d ordering.Detail, l httpapi.Language) Detail {
	out := detailOf(d)
	out.Items = itemsIn(d.Items, l)
	return out
}
