package site

import (
	"fmt"
	"strings"
	"time"

	"comanda/internal/brand"
	"comanda/internal/catalog"
	"comanda/internal/money"
)

// week is the days in the order in which the pages list them.
var week = []time.Weekday{
	time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday,
}

func keyOf(d time.Weekday) catalog.Weekday { return catalog.Weekday(strings.ToLower(d.String()[:3])) }

// state says whether a branch takes guests now.
func (p page) state(b catalog.Branch) string {
	now := p.Now()
	switch {
	case !b.Open || b.Paused(now) != nil:
		return p.t.Paused
	case b.Hours.Empty():
		return p.t.OpenNow
	}
	at := b.HoursChange(now)
	switch {
	case b.OpenAt(now) && at.IsZero():
		return p.t.OpenNow
	case b.OpenAt(now):
		return fmt.Sprintf(p.t.Until, p.moment(b, at))
	case at.IsZero():
		return p.t.Closed
	}
	return p.t.Closed + " · " + fmt.Sprintf(p.t.Opens, p.moment(b, at))
}

// moment returns the local time of an instant, with the weekday if that is not today's.
func (p page) moment(b catalog.Branch, t time.Time) string {
	zone, err := time.LoadLocation(b.Timezone)
	if err != nil {
		zone = time.UTC // the zone was checked when the branch was stored
	}
	local, now := t.In(zone), p.Now().In(zone)
	if local.YearDay() == now.YearDay() && local.Year() == now.Year() {
		return local.Format("15:04")
	}
	return p.t.Days[local.Weekday()] + " " + local.Format("15:04")
}

// hours lists the weekly opening hours; none for a branch that is open at all hours.
func (p page) hours(b catalog.Branch) []hoursView {
	if len(b.Hours.Weekly) == 0 {
		return nil
	}
	var all []hoursView
	for _, d := range week {
		var times []string
		for _, period := range b.Hours.Weekly[keyOf(d)] {
			times = append(times, period.From+"–"+period.To)
		}
		if times == nil {
			times = []string{p.t.Closed}
		}
		all = append(all, hoursView{p.t.Days[d], strings.Join(times, ", ")})
	}
	return all
}

// restaurant describes a branch as schema.org/Restaurant.
func (p page) restaurant(b catalog.Branch, menu string) map[string]any {
	base := p.URL()
	r := map[string]any{"@type": "Restaurant", "@id": base + "/#" + menuPath(b.ID), "name": b.Name, "url": base + "/"}
	set := func(property, value string) {
		if value != "" {
			r[property] = value
		}
	}
	if p.brand.Name != "" && p.brand.Name != b.Name {
		r["parentOrganization"] = map[string]any{"@type": "Organization", "name": p.brand.Name}
	}
	// The brand has one address and telephone number. Of several branches they would be wrong for all but one.
	if len(p.all) == 1 {
		set("address", p.brand.Address)
		set("telephone", p.brand.Phone)
	}
	if p.brand.Cover != nil {
		set("image", base+p.brand.Cover.URL(brand.CoverLarge))
	}
	if p.brand.Logo != nil {
		set("logo", base+p.brand.Logo.URL(brand.IconLarge))
	}
	set("currenciesAccepted", string(b.Currency))
	if menu != "" {
		r["hasMenu"] = base + menu
	}
	var hours []any
	for _, d := range week {
		for _, period := range b.Hours.Weekly[keyOf(d)] {
			hours = append(hours, map[string]any{
				"@type": "OpeningHoursSpecification", "dayOfWeek": "https://schema.org/" + d.String(),
				"opens": period.From, "closes": period.To,
			})
		}
	}
	if hours != nil {
		r["openingHoursSpecification"] = hours
	}
	return r
}

type menuView struct {
	Name, State string
	Categories  []categoryView
}

type categoryView struct {
	Name   string
	Dishes []dishView
}

type dishView struct{ Name, Description, Price, Image string }

// menuOf returns a published menu for people, and as schema.org/Menu.
func (p page) menuOf(m *catalog.Snapshot) (menuView, map[string]any) {
	preferred := append([]catalog.Locale{p.locale}, m.Branch.Locales...)
	v := menuView{Name: m.Branch.Name, State: p.state(m.Branch)}
	var sections []any
	for _, c := range m.Categories {
		shown := categoryView{Name: c.Names.In(preferred...)}
		var items []any
		for i := range m.Items {
			it := &m.Items[i]
			if it.CategoryID != c.ID || !it.Active {
				continue
			}
			dish := dishView{
				it.Names.In(preferred...), it.Descriptions.In(preferred...), p.price(m.Branch.Currency, it.Price), thumb(it.ImageURL),
			}
			shown.Dishes = append(shown.Dishes, dish)
			items = append(items, p.item(dish, m.Branch.Currency, it))
		}
		if items == nil {
			continue
		}
		v.Categories = append(v.Categories, shown)
		sections = append(sections, map[string]any{"@type": "MenuSection", "name": shown.Name, "hasMenuItem": items})
	}
	data := map[string]any{
		"@context": "https://schema.org", "@type": "Menu", "name": p.t.Menu + " · " + m.Branch.Name, "inLanguage": p.tag,
		"url": p.URL() + p.path(menuPath(m.Branch.ID)),
	}
	if sections != nil {
		data["hasMenuSection"] = sections
	}
	return v, data
}

// item describes a dish as schema.org/MenuItem.
func (p page) item(d dishView, c money.Currency, it *catalog.Item) map[string]any {
	item := map[string]any{
		"@type": "MenuItem", "name": d.Name,
		"offers": map[string]any{"@type": "Offer", "price": c.Format(it.Price), "priceCurrency": string(c)},
	}
	if d.Description != "" {
		item["description"] = d.Description
	}
	if strings.HasPrefix(it.ImageURL, "/") {
		item["image"] = p.URL() + it.ImageURL
	}
	return item
}

// thumb returns the small size of an uploaded picture. Drawings have one size, and the policy of the pages admits no
// pictures of other servers.
func thumb(url string) string {
	if !strings.HasPrefix(url, "/") {
		return ""
	}
	if id := catalog.ImageIDOf(url); id != "" {
		return fmt.Sprintf("/media/%s-%d.jpg", id, catalog.Thumb)
	}
	return url
}

// symbols are those of currencies that have one; before says that it precedes the amount.
var symbols = map[money.Currency]struct {
	text   string
	before bool
}{"VND": {"₫", false}, "TWD": {"NT$", true}, "USD": {"$", true}, "EUR": {"€", false}, "THB": {"฿", true}, "JPY": {"¥", true}}

// price formats an amount for people: 65.000 ₫ in Vietnamese, NT$1,200 elsewhere.
func (p page) price(c money.Currency, minor int64) string {
	whole, cents, _ := strings.Cut(c.Format(minor), ".")
	comma, point := ",", "."
	if p.tag == "vi" {
		comma, point = ".", ","
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + comma + whole[i:]
	}
	if cents != "" {
		whole += point + cents
	}
	s, ok := symbols[c]
	switch {
	case !ok:
		return whole + "\u00a0" + string(c)
	case s.before:
		return s.text + whole
	}
	return whole + "\u00a0" + s.text
}

// dial returns the digits of a telephone number, for a link.
func dial(phone string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '+' {
			return r
		}
		return -1
	}, phone)
}
