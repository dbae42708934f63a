package cataloghttp

import (
	"encoding/json"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/money"
)

// menu is the response of POST /cis/menu/active.
type menu struct {
	MenuVersionID string         `json:"menuVersionId"`
	BizDate       string         `json:"bizDate" doc:"The branch's business date."`
	Currency      money.Currency `json:"currency"`
	Paused        *paused        `json:"paused" doc:"Reason and end of a pause; null while ordering is possible."`
	Closed        *closed        `json:"closed" doc:"State of a branch that is closed by its hours; null while it accepts orders."`
	HoursChange   *time.Time     `json:"hoursChange" doc:"When closed changes next by the opening hours; null if not within a year."`
	Categories    []category     `json:"categories"`
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
}

// render renders a live menu in a locale. A missing text falls back to the branch's locales in their order.
func render(b *catalog.LiveMenu, l catalog.Locale) ([]byte, error) {
	preferred := append([]catalog.Locale{l}, b.Branch.Locales...)
	m := menu{
		MenuVersionID: httpapi.FormatID(b.VersionID), BizDate: b.Date, Currency: b.Branch.Currency,
		Paused: guestPause(b.Pause, preferred), Categories: make([]category, len(b.Categories)),
		Closed: guestClosure(b.Closure), HoursChange: httpapi.TimeOrNull(b.HoursChange),
	}
	place := make(map[int64]int, len(b.Categories))
	for i, c := range b.Categories {
		place[c.ID] = i
		m.Categories[i] = category{ID: httpapi.FormatID(c.ID), Name: c.Names.In(preferred...), Items: []item{}}
	}
	for i := range b.Items {
		it := &b.Items[i]
		into := &m.Categories[place[it.CategoryID]].Items
		*into = append(*into, itemOf(b, it, preferred))
	}
	return json.Marshal(m)
}

func itemOf(b *catalog.LiveMenu, it *catalog.Item, preferred []catalog.Locale) item {
	shown := item{
		ItemID: httpapi.FormatID(it.ID), DishID: httpapi.FormatID(it.DishID), Price: it.Price, IsActive: it.Active,
		Name: it.Names.In(preferred...), Description: it.Descriptions.In(preferred...), ImageURL: httpapi.OrNull(it.ImageURL),
	}
	if left, limited := b.Left(it.ID); limited {
		shown.Remaining, shown.IsSoldOut = &left, left == 0
	}
	return shown
}
