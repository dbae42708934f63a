package site

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/brand"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/seq"
)

// week lists the days in the order in which the pages list them.
var week = []time.Weekday{
	time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday,
}

func keyOf(d time.Weekday) catalog.Weekday { return catalog.Weekday(strings.ToLower(d.String()[:3])) }

// state returns a text that says whether a branch takes guests now.
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
	local, now := t.In(zoneOf(b)), p.Now().In(zoneOf(b))
	if local.YearDay() == now.YearDay() && local.Year() == now.Year() {
		return local.Format("15:04")
	}
	return p.t.Days[local.Weekday()] + " " + local.Format("15:04")
}

// zoneOf returns the time zone of a branch.
func zoneOf(b catalog.Branch) *time.Location {
	zone, err := time.LoadLocation(b.Timezone)
	if err != nil {
		return time.UTC // the zone was checked when the branch was stored
	}
	return zone
}

// hours lists the weekly opening hours; none for a branch that is open at all hours.
func (p page) hours(b catalog.Branch) []hoursView {
	if len(b.Hours.Weekly) == 0 {
		return nil
	}
	return seq.Map(week, func(d time.Weekday) hoursView {
		return hoursView{Day: p.t.Days[d], Times: p.times(b.Hours.Weekly[keyOf(d)])}
	})
}

// times returns the periods of a day as text.
func (p page) times(periods []catalog.Period) string {
	if len(periods) == 0 {
		return p.t.Closed
	}
	var all []string
	for _, period := range periods {
		if period.From == period.To && len(periods) == 1 {
			return p.t.AllHours
		}
		all = append(all, period.From+"–"+period.To)
	}
	return strings.Join(all, ", ")
}

// specialDays is the number of days in advance for which exceptional hours are announced, on the pages and to search
// engines.
const specialDays = 14

// special returns the dates from today on whose hours differ from those of their weekday, by date.
func (p page) special(b catalog.Branch) []catalog.HoursException {
	today := p.Now().In(zoneOf(b))
	from, until := today.Format(time.DateOnly), today.AddDate(0, 0, specialDays).Format(time.DateOnly)
	all := seq.Filter(b.Hours.Exceptions, func(e catalog.HoursException) bool { return e.Date >= from && e.Date <= until })
	slices.SortFunc(all, func(x, y catalog.HoursException) int { return strings.Compare(x.Date, y.Date) })
	return all
}

// specialHours lists the dates with other hours.
func (p page) specialHours(b catalog.Branch) []hoursView {
	return seq.Map(p.special(b), func(e catalog.HoursException) hoursView {
		return hoursView{p.date(e.Date), p.times(e.Periods), e.Note}
	})
}

// date writes a date in words: Thursday, 24 December.
func (p page) date(text string) string {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text // dates were checked when they were stored
	}
	return strings.NewReplacer("{day}", p.t.Days[d.Weekday()], "{d}", strconv.Itoa(d.Day()),
		"{m}", strconv.Itoa(int(d.Month())), "{month}", p.t.Months[d.Month()-1]).Replace(p.t.Date)
}

// restaurant describes a branch as schema.org/Restaurant.
func (p page) restaurant(b catalog.Branch, menu string) map[string]any {
	base := p.URL()
	r := map[string]any{
		"@type": "Restaurant", "@id": base + "/#/menu/" + httpapi.FormatID(b.ID), "name": b.Name, "url": base + "/",
	}
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
	var hours, special []any
	for _, d := range week {
		for _, period := range b.Hours.Weekly[keyOf(d)] {
			hours = append(hours, opening(period, "dayOfWeek", "https://schema.org/"+d.String()))
		}
	}
	for _, e := range p.special(b) {
		periods := e.Periods
		if len(periods) == 0 {
			periods = []catalog.Period{{From: "00:00", To: "00:00"}} // closed, as search engines read it
		}
		for _, period := range periods {
			one := opening(period, "validFrom", e.Date)
			one["validThrough"] = e.Date
			if len(e.Periods) == 0 {
				one["closes"] = "00:00"
			}
			special = append(special, one)
		}
	}
	if special != nil {
		r["specialOpeningHoursSpecification"] = special
	}
	if hours != nil {
		r["openingHoursSpecification"] = hours
	}
	return r
}

// opening describes a period as schema.org/OpeningHoursSpecification. Equal times mean closed there, so 24 hours end a
// minute earlier.
func opening(p catalog.Period, property, value string) map[string]any {
	closes := p.To
	if p.From == p.To {
		if t, err := time.Parse("15:04", p.To); err == nil {
			closes = t.Add(24*time.Hour - time.Minute).Format("15:04")
		}
	}
	return map[string]any{"@type": "OpeningHoursSpecification", property: value, "opens": p.From, "closes": closes}
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
			if it.CategoryID != c.ID || itemOf(m, it.DishID) != it.ID {
				continue
			}
			dish := dishView{
				it.Names.In(preferred...), it.Descriptions.In(preferred...),
				m.Branch.Currency.Localized(it.Price, p.tag), thumb(it.ImageURL),
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
		"url": p.URL() + p.path(menuPath(m.Branch)),
	}
	if sections != nil {
		data["hasMenuSection"] = sections
	}
	return v, data
}

// itemOf returns the menu item as which a page shows a dish, preferably that of guests at tables; 0 if no menu in force
// offers the dish.
func itemOf(m *catalog.Snapshot, dish int64) int64 {
	on, _ := m.OfDish(dish, catalog.DineIn)
	if !on.Offered(catalog.DineIn) {
		on, _ = m.OfDish(dish)
	}
	if !on.Active {
		return 0
	}
	return on.ID
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

// phoneDigits returns the digits of a telephone number, for a link.
func phoneDigits(phone string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '+' {
			return r
		}
		return -1
	}, phone)
}
