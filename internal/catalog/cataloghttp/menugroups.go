package cataloghttp

import (
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

// optionGroup is a group of options of a dish.
type optionGroup struct {
	GroupRules
	Options []option `json:"options"`
}

// GroupRules is a group without its options. It is exported because huma only reads exported embedded fields.
type GroupRules struct {
	ID             string            `json:"id"`
	Kind           catalog.GroupKind `json:"kind" enum:"SIZE,CHOICE,COMBO" doc:"The price of the chosen SIZE replaces that of the dish."`
	Name           string            `json:"name"`
	Min            int64             `json:"min"`
	Max            *int64            `json:"max" doc:"null for no limit."`
	Free           int64             `json:"free" doc:"Units that cost nothing."`
	MaxEach        int64             `json:"maxEach" doc:"Most units of one option."`
	Credit         bool              `json:"credit" doc:"The prices of the defaults are subtracted from those of the chosen options; the result is at least 0."`
	DefaultsCharge bool              `json:"defaultsCharge" doc:"Whether a chosen default costs its price; if not, one unit of it is free."`
}

type option struct {
	PricedOption
	Groups []innerGroup `json:"groups,omitempty" doc:"The second level; there is no third."`
}

// PricedOption is an option without the groups of its own.
type PricedOption struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Price       int64  `json:"price"`
	IsDefault   bool   `json:"isDefault"`
	IsAvailable bool   `json:"isAvailable" doc:"false: sold out or taken off the menu for now."`
	Declared
}

type innerGroup struct {
	GroupRules
	Options []PricedOption `json:"options"`
}

func groupsOf(b *catalog.LiveMenu, it *catalog.Item, preferred []catalog.Locale) []optionGroup {
	if len(it.Groups) == 0 {
		return nil // the property is absent
	}
	priced := func(o *catalog.MenuOption, kind catalog.GroupKind) PricedOption {
		return PricedOption{
			httpapi.FormatID(o.ID), o.Names.In(preferred...), o.Price, o.Default, b.OptionAvailable(o),
			declaredOf(o.DeclarationIn(kind, it.Declaration)),
		}
	}
	return seq.Map(it.Groups, func(g catalog.OptionGroup) optionGroup {
		return optionGroup{rulesOf(g, preferred), seq.Map(g.Options, func(o catalog.MenuOption) option {
			out := option{PricedOption: priced(&o, g.Kind)}
			for _, inner := range o.Groups {
				out.Groups = append(out.Groups, innerGroup{
					rulesOf(inner, preferred),
					seq.Map(inner.Options, func(o catalog.MenuOption) PricedOption { return priced(&o, inner.Kind) }),
				})
			}
			return out
		})}
	})
}

func rulesOf(g catalog.OptionGroup, preferred []catalog.Locale) GroupRules {
	return GroupRules{
		httpapi.FormatID(g.ID), g.Kind, g.Names.In(preferred...), g.Min, g.Max, g.Free, g.MaxEach, g.Credit, g.DefaultsCharge,
	}
}
