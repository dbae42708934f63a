package cataloghttp

import (
	"encoding/json"
	"slices"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/price"
	"comanda/internal/seq"
)

// menu is the response of POST /cis/menu/active.
type menu struct {
	MenuVersionID string         `json:"menuVersionId"`
	BizDate       string         `json:"bizDate" doc:"The branch's business date."`
	Currency      money.Currency `json:"currency"`
	Paused        *paused        `json:"paused" doc:"Reason and end of a pause; null while ordering is possible."`
	Closed        *closed        `json:"closed" doc:"State of a branch that is closed by its hours; null while it accepts orders."`
	HoursChange   *time.Time     `json:"hoursChange" doc:"When closed changes next by the opening hours; null if not within a year."`
	MenuChange    *time.Time     `json:"menuChange,omitempty" doc:"When the menu changes next by the schedules of menus; absent if never."`
	Pricing       *pricingInfo   `json:"pricing,omitempty" doc:"What orders cost besides their items; absent if nothing."`
	Vouchers      bool           `json:"vouchers,omitempty" doc:"Whether the branch has vouchers, whose codes guests may enter."`
	Categories    []category     `json:"categories"`
}

// pricingInfo has the rules of the price that guests must know before they order. POST /cis/order/quote returns the
// exact total.
type pricingInfo struct {
	PriceMode      price.Mode          `json:"priceMode" enum:"INCLUSIVE,EXCLUSIVE" doc:"EXCLUSIVE: taxes are added to the prices of this menu."`
	ServiceCharges []serviceChargeInfo `json:"serviceCharges"`
}

type serviceChargeInfo struct {
	Name    string              `json:"name"`
	Percent price.Percent       `json:"percent,omitempty"`
	Amount  *int64              `json:"amount,omitempty"`
	Kinds   []catalog.OrderKind `json:"kinds" doc:"Kinds of orders that it is added to; empty for all."`
}

func guestPricing(p *catalog.Pricing, preferred []catalog.Locale) *pricingInfo {
	if p.Plain() {
		return nil
	}
	filled := p.Filled()
	return &pricingInfo{filled.PriceMode, seq.Map(filled.ServiceCharges, func(c catalog.ChargeRule) serviceChargeInfo {
		return serviceChargeInfo{c.Names.In(preferred...), c.Percent, c.Amount, c.Kinds}
	})}
}

// closed is a closure as guests see it.
type closed struct {
	OpensAt *time.Time `json:"opensAt" doc:"null if unknown."`
}

func guestClosure(c *catalog.Closure) *closed {
	if c == nil {
		return nil
	}
	return &closed{httpapi.TimeOrNull(c.OpensAt)}
}

// paused is the reason why a branch takes no orders, as guests see it.
type paused struct {
	ReasonCode *string    `json:"reasonCode" enum:"BUSY,STAFF,TECHNICAL,EVENT" doc:"null if the reason is a text."`
	Reason     *string    `json:"reason" doc:"In the language of the response; null if there is a code."`
	Until      *time.Time `json:"until" doc:"null if not known yet."`
}

func guestPause(p *catalog.Pause, preferred []catalog.Locale) *paused {
	if p == nil {
		return nil
	}
	out := &paused{Until: httpapi.TimeOrNull(p.Until)}
	if p.Code != "" {
		out.ReasonCode = new(string(p.Code))
	} else {
		out.Reason = new(p.Texts.In(preferred...))
	}
	return out
}

type category struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Items []item `json:"items"`
}

type item struct {
	ItemID      string  `json:"itemId"`
	DishID      string  `json:"dishId"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	ImageURL    *string `json:"imageUrl"`
	Price       int64   `json:"price" doc:"In minor units of the currency."`
	IsActive    bool    `json:"isActive"`
	IsSoldOut   bool    `json:"isSoldOut"`
	Remaining   *int64  `json:"remaining" doc:"Units that can still be ordered today; null if there is no limit."`

	Offer *offer `json:"offer,omitempty" doc:"Why the dish costs less now, as during a happy hour; absent at its regular price."`

	Declared
	OwnAllergens *allergens `json:"ownAllergens,omitempty" doc:"Only of a combo: what it contains whatever is chosen. allergens has that and all of its parts that may be chosen."`

	Groups []optionGroup `json:"groups,omitempty" doc:"Options; absent for a dish without any."`
}

// offer is a price of a menu with hours.
type offer struct {
	RegularPrice int64      `json:"regularPrice" doc:"Price at other hours, in minor units."`
	Until        *time.Time `json:"until" doc:"When the menu ends by its hours; null if it has none."`
}

func offerOf(b *catalog.LiveMenu, it *catalog.Item) *offer {
	if it.Regular == 0 {
		return nil
	}
	return &offer{it.Regular, httpapi.TimeOrNull(b.Ends(*it))}
}

// The kinds of orders that guests at a table and members make.
var (
	atTable    = []catalog.OrderKind{catalog.DineIn}
	toTakeAway = []catalog.OrderKind{catalog.Delivery, catalog.PickUp}
)

// render renders a live menu for kinds of orders in a locale. A missing text falls back to the branch's locales in their
// order.
func render(b *catalog.LiveMenu, l catalog.Locale, kinds []catalog.OrderKind) ([]byte, error) {
	preferred := append([]catalog.Locale{l}, b.Branch.Locales...)
	m := menu{
		MenuVersionID: httpapi.FormatID(b.VersionID), BizDate: b.Date, Currency: b.Branch.Currency,
		Paused: guestPause(b.Pause, preferred), Categories: make([]category, len(b.Categories)),
		Pricing:    guestPricing(&b.Branch.Pricing, preferred),
		Vouchers:   b.Branch.Vouchers,
		MenuChange: httpapi.TimeOrNull(b.MenusChange),
		Closed:     guestClosure(b.Closure), HoursChange: httpapi.TimeOrNull(b.HoursChange),
	}
	place := make(map[int64]int, len(b.Categories))
	for i, c := range b.Categories {
		place[c.ID] = i
		m.Categories[i] = category{ID: httpapi.FormatID(c.ID), Name: c.Names.In(preferred...), Items: []item{}}
	}
	for i := range b.Items {
		it := &b.Items[i]
		// Menus for delivery and for pick-up may both have a dish. It is shown as the cart has it.
		if on, _ := b.OfDish(it.DishID, kinds...); on.ID != it.ID || !it.Shown(kinds...) {
			continue
		}
		into := &m.Categories[place[it.CategoryID]].Items
		*into = append(*into, itemOf(b, it, preferred))
	}
	m.Categories = slices.DeleteFunc(m.Categories, func(c category) bool { return len(c.Items) == 0 })
	return json.Marshal(m)
}

func itemOf(b *catalog.LiveMenu, it *catalog.Item, preferred []catalog.Locale) item {
	shown := item{
		ItemID: httpapi.FormatID(it.ID), DishID: httpapi.FormatID(it.DishID), Price: it.Price, IsActive: it.Active,
		Name: it.Names.In(preferred...), Description: it.Descriptions.In(preferred...), ImageURL: httpapi.OrNull(it.ImageURL),
		Groups: groupsOf(b, it, preferred), Offer: offerOf(b, it), Declared: declaredOf(it.Declared()),
	}
	if it.IsCombo() {
		shown.OwnAllergens = allergensOf(it.Allergens)
	}
	if left, limited := b.Left(it.ID); limited {
		shown.Remaining, shown.IsSoldOut = &left, left == 0
	}
	return shown
}

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
