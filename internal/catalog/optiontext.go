package catalog

import (
	"encoding/json"
	"strconv"

	"comanda/internal/text"
)

// EncodeOptions returns a canonical choice as text for a column of a cart's line; empty for none. Equal choices have
// equal texts.
func EncodeOptions(chosen []ChosenOption) string {
	if len(chosen) == 0 {
		return ""
	}
	return jsonOf(chosen)
}

// DecodeOptions is the reverse of EncodeOptions.
func DecodeOptions(text string) (chosen []ChosenOption) {
	if text != "" {
		_ = json.Unmarshal([]byte(text), &chosen) // a line whose text was edited by hand counts as one without options
	}
	return chosen
}

// EncodeOptionLines returns the options of an order line as text for its column; empty for none.
func EncodeOptionLines(lines []OptionLine) string {
	if len(lines) == 0 {
		return ""
	}
	return string(appendOptionLines(make([]byte, 0, 256*len(lines)), lines))
}

// appendOptionLines appends the JSON form of lines. encoding/json takes three times as long, most of it for the maps
// of names, and this is done for each line of each order.
func appendOptionLines(b []byte, lines []OptionLine) []byte {
	id := func(name string, id int64) {
		b = append(strconv.AppendInt(append(append(b, name...), '"'), id, 10), '"')
	}
	member := func(name, s string) {
		b = text.AppendJSON(append(b, name...), s)
	}
	b = append(b, '[')
	for i := range lines {
		l := &lines[i]
		if i > 0 {
			b = append(b, ',')
		}
		id(`{"groupId":`, l.GroupID)
		id(`,"optionId":`, l.OptionID)
		member(`,"kind":`, string(l.Kind))
		member(`,"name":`, l.Name)
		if len(l.Names) > 0 {
			b = l.Names.appendJSON(append(b, `,"names":`...))
		}
		if l.ShortName != "" {
			member(`,"shortName":`, l.ShortName)
		}
		b = strconv.AppendInt(append(b, `,"qty":`...), l.Qty, 10)
		b = strconv.AppendInt(append(b, `,"price":`...), l.Price, 10)
		if l.DishID != 0 {
			id(`,"dishId":`, l.DishID)
		}
		if l.Component != 0 {
			id(`,"itemId":`, l.Component)
		}
		if l.TaxClass != "" {
			member(`,"taxClass":`, l.TaxClass)
		}
		if len(l.Options) > 0 {
			b = appendOptionLines(append(b, `,"options":`...), l.Options)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// DecodeOptionLines is the reverse of EncodeOptionLines.
func DecodeOptionLines(text string) (lines []OptionLine) {
	if text != "" {
		_ = json.Unmarshal([]byte(text), &lines) // see DecodeOptions
	}
	return lines
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v) // texts and integers always marshal
	return string(b)
}
