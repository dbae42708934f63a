package menufile

import (
	"slices"
	"strings"
)

// The columns of exports are listed in testdata/README.md, with their sources.

// isSquare reports whether a header is that of Square's item library.
func isSquare(names []string) bool {
	return slices.Contains(names, "item name") && slices.Contains(names, "price") &&
		(slices.Contains(names, "variation name") || slices.Contains(names, "token"))
}

// isLoyverse reports whether a header is that of Loyverse's item list.
func isLoyverse(names []string) bool {
	return slices.Contains(names, "handle") && slices.Contains(names, "name") && slices.Contains(names, "category") &&
		slices.ContainsFunc(names, isLoyversePrice)
}

// isLoyversePrice reports whether a column has prices: of all stores, or of one, such as Price [Main street].
func isLoyversePrice(name string) bool {
	return name == "price" || name == "default price" || strings.HasPrefix(name, "price [")
}

// export is a file of another system. Its columns are found by name, and others are ignored.
type export struct {
	head  sheetRow
	names []string
	layout
}

func newExport(head sheetRow) *export {
	return &export{head, header(head), layout{labels: map[string]string{}, plain: true}}
}

// column returns the index of the first column that match accepts. Problems of the field name that column.
func (e *export) column(field string, match func(string) bool) int {
	i := slices.IndexFunc(e.names, match)
	if i >= 0 {
		e.labels[field] = trimSpace(e.head.cells[i].text)
	}
	return i
}

// named returns the index of the first of several column names that the header has, and reports problems of the field
// under that column.
func (e *export) named(field string, names ...string) int {
	for _, name := range names {
		if i := e.column(field, func(s string) bool { return s == name }); i >= 0 {
			return i
		}
	}
	return -1
}

// find returns the index of a column, or -1. Problems do not name the column.
func (e *export) find(name string) int { return slices.Index(e.names, name) }

// assignSquare assigns the columns of Square's item library. Square has a row for each variation of an item; here each
// is a dish of its own.
func assignSquare(head sheetRow, rows []sheetRow, _ Options, _ *report) layout {
	e := newExport(head)
	token, variation := e.named("key", "token"), e.find("variation name")
	name, item := e.find("customer-facing name"), e.named("name", "item name")
	categories := []int{e.find("reporting category"), e.named("category", "categories", "category", "reporting category")}
	description, price := e.named("description", "description"), e.named("price", "price")
	archived := e.find("archived")
	tokens := map[string]int{}
	for _, row := range rows {
		tokens[row.at(token).text]++
	}
	for _, row := range rows {
		if strings.EqualFold(trimSpace(row.at(archived).text), "y") {
			continue
		}
		d := dish{row.number, map[string]cell{
			"key": row.at(token), "name": row.at(name), "description": row.at(description), "price": row.at(price),
		}}
		if trimSpace(d.cells["name"].text) == "" {
			d.cells["name"] = row.at(item)
		}
		// Square has a category for reports, which may be empty, and a list of categories separated by commas; the
		// first is used.
		for _, i := range categories {
			if first, _, _ := strings.Cut(row.at(i).text, ","); trimSpace(d.cells["category"].text) == "" {
				d.cells["category"] = withText(row.at(i), first)
			}
		}
		option := trimSpace(row.at(variation).text)
		if option != "" && !strings.EqualFold(option, "regular") {
			d.cells["name"] = appendText(d.cells["name"], " "+option)
		}
		// Older exports have the item's token in the rows of all variations.
		if tokens[row.at(token).text] > 1 && d.cells["key"].text != "" {
			d.cells["key"] = appendText(d.cells["key"], ":"+KeyOf(option))
		}
		e.dishes = append(e.dishes, d)
	}
	return e.layout
}

// assignLoyverse assigns the columns of Loyverse's item list. The rows of an item's variants share its handle, and only
// the first has its name and category. Of several stores, the first counts.
func assignLoyverse(head sheetRow, rows []sheetRow, _ Options, _ *report) layout {
	e := newExport(head)
	handle, name, category := e.named("key", "handle"), e.named("name", "name"), e.named("category", "category")
	description, price := e.named("description", "description"), e.column("price", isLoyversePrice)
	included := e.find("sku of included item")
	sold := slices.IndexFunc(e.names, func(s string) bool { return strings.HasPrefix(s, "available for sale") })
	var options []int
	for _, n := range []string{"option 1 value", "option 2 value", "option 3 value"} {
		options = append(options, e.find(n))
	}
	variants := map[string]int{}
	first := map[string]sheetRow{}
	for _, row := range rows {
		h := row.at(handle).text
		variants[h]++
		if _, ok := first[h]; !ok {
			first[h] = row
		}
	}
	for _, row := range rows {
		h := row.at(handle).text
		lead := row
		if h != "" && trimSpace(row.at(name).text) == "" {
			lead = first[h]
		}
		var chosen []string
		for _, i := range options {
			if s := trimSpace(row.at(i).text); s != "" {
				chosen = append(chosen, s)
			}
		}
		component := lead.number != row.number && len(chosen) == 0 && trimSpace(row.at(included).text) != ""
		if component || strings.EqualFold(trimSpace(row.at(sold).text), "n") {
			continue // the row is a part of a composite item, or is not sold
		}
		d := dish{row.number, map[string]cell{
			"key": row.at(handle), "name": lead.at(name), "category": lead.at(category), "description": lead.at(description),
			"price": row.at(price),
		}}
		if option := strings.Join(chosen, " / "); option != "" {
			d.cells["name"] = appendText(d.cells["name"], " "+option)
			if variants[h] > 1 && h != "" {
				d.cells["key"] = appendText(d.cells["key"], ":"+KeyOf(option))
			}
		}
		e.dishes = append(e.dishes, d)
	}
	return e.layout
}

// withText returns a cell with another text.
func withText(c cell, s string) cell {
	c.text = s
	return c
}

// appendText returns a cell with a text appended; an empty cell stays empty, so that it is reported as missing. A text that
// is far too long stays as it is: many rows may have that of one.
func appendText(c cell, s string) cell {
	if trimSpace(c.text) == "" || tooLong(c.text, max(MaxName, MaxKey)) {
		return c
	}
	return withText(c, trimSpace(c.text)+s)
}
