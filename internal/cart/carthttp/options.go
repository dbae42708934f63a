package carthttp

import (
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

// chosenOption is a chosen option, with its own options for each unit of it.
type chosenOption struct {
	OptionQty
	Options []OptionQty `json:"options,omitempty" maxItems:"30"`
}

// OptionQty is a number of units of an option. It is exported because huma only reads exported embedded fields.
type OptionQty struct {
	OptionID string `json:"optionId" pattern:"^[1-9][0-9]{0,17}$"`
	Qty      int64  `json:"qty" minimum:"1" maximum:"20"`
}

func chosenOf(options []chosenOption) (chosen []catalog.ChosenOption) {
	one := func(o OptionQty) catalog.ChosenOption {
		return catalog.ChosenOption{OptionID: httpapi.IDOf(o.OptionID), Qty: o.Qty}
	}
	for _, o := range options {
		c := one(o.OptionQty)
		for _, below := range o.Options {
			c.Options = append(c.Options, one(below))
		}
		chosen = append(chosen, c)
	}
	return chosen
}

// cartOption is an option of a line.
type cartOption struct {
	ShownOption
	Options []ShownOption `json:"options,omitempty"`
}

// ShownOption is an option with its current name and price. It is exported because huma only reads exported embedded
// fields.
type ShownOption struct {
	GroupID  *string `json:"groupId" doc:"null if the menu does not offer the line's options any more."`
	OptionID string  `json:"optionId"`
	Name     string  `json:"name" doc:"Empty if the menu does not offer the line's options any more."`
	Qty      int64   `json:"qty" doc:"In one unit of the dish, or of the option above."`
	Price    int64   `json:"price" doc:"Price of one on the menu, before free units and credits."`
}

// optionsOf returns the options of a line: those of the menu, or else the stored ones without names; nil for none.
func optionsOf(configured []catalog.OptionLine, stored string, locales []catalog.Locale) []cartOption {
	if configured == nil {
		configured = stripped(catalog.DecodeOptions(stored))
	}
	if len(configured) == 0 {
		return nil
	}
	one := func(l catalog.OptionLine) ShownOption {
		return ShownOption{
			httpapi.IDOrNull(l.GroupID), httpapi.FormatID(l.OptionID), l.Names.In(locales...), l.Qty, l.Price,
		}
	}
	return seq.Map(configured, func(l catalog.OptionLine) cartOption {
		o := cartOption{ShownOption: one(l)}
		if len(l.Options) > 0 {
			o.Options = seq.Map(l.Options, one)
		}
		return o
	})
}

// stripped returns options of which only ids and quantities are known.
func stripped(chosen []catalog.ChosenOption) (lines []catalog.OptionLine) {
	for _, c := range chosen {
		lines = append(lines, catalog.OptionLine{OptionID: c.OptionID, Qty: c.Qty, Options: stripped(c.Options)})
	}
	return lines
}
