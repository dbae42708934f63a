package ordering

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"comanda/internal/catalog"
)

// MaxTickets bounds each list of a board: the oldest of what is to be done, and the newest of what is done. A kitchen that
// has more waiting sees those once it has served some.
const MaxTickets = 300

// What boards show beside the business date's own orders: for carriedOver those of the day before that were paid within as
// long, so that a kitchen that works over the end of its day loses none.
const carriedOver = 4 * time.Hour

// Board is what the screens of a branch's kitchen show. It is immutable and may be shared.
type Board struct {
	ID       string // of what it says: another board has another
	Branch   int64
	Date     string    // business date
	At       time.Time // when it was looked at, which ID does not depend on
	Tickets  []Ticket  // to be done, by when they were paid
	Served   []Ticket  // done lately, the last one first
	Awaiting []Ticket  // to be paid at the counter, the first one first
	Stations []Station
	More     bool             // some list has more than MaxTickets
	Locales  []catalog.Locale // the branch's; the first one is the kitchen's

	stations map[int64]int64 // by dish
}

// Ticket is an order as the kitchen sees it.
type Ticket struct {
	Order
	Table string // its label; empty unless DINE_IN
}

// Station is a part of a kitchen: it cooks the dishes of one category.
type Station struct {
	Category int64
	Names    catalog.Texts
}

// BoardRows is what a board is made of.
type BoardRows struct {
	Tickets, Served, Awaiting []Ticket
	Stations                  []Station
	Categories                map[int64]int64 // by dish
}

// BoardQuery says what to read for a board.
type BoardQuery struct {
	Branch      int64
	Date        string
	DateBefore  string    // empty when it is over for good
	PaidSince   time.Time // of DateBefore's orders
	ServedSince time.Time
	Limit       int // of each list
}

// boardQuery is what a branch's screens show at an instant.
func boardQuery(b catalog.Branch, now time.Time) BoardQuery {
	today := b.Calendar().At(now)
	q := BoardQuery{
		Branch: b.ID, Date: today.Date, PaidSince: now.Add(-carriedOver), ServedSince: now.Add(-shownServed),
		Limit: MaxTickets + 1,
	}
	if now.Sub(today.Start) <= carriedOver {
		q.DateBefore = b.Calendar().BizDate(today.Start.Add(-time.Nanosecond))
	}
	return q
}

// newBoard makes a board of what was read.
func newBoard(of catalog.Branch, q BoardQuery, now time.Time, r BoardRows) *Board {
	b := &Board{
		Branch: q.Branch, Date: q.Date, At: now, Tickets: r.Tickets, Served: r.Served, Awaiting: r.Awaiting,
		Stations: r.Stations, Locales: of.Locales, stations: r.Categories,
	}
	slices.SortFunc(b.Tickets, func(s, t Ticket) int { return cmp.Or(s.PaidAt.Compare(t.PaidAt), cmp.Compare(s.ID, t.ID)) })
	slices.SortFunc(b.Served, func(s, t Ticket) int {
		return cmp.Or(t.SteppedAt.Compare(s.SteppedAt), cmp.Compare(t.ID, s.ID))
	})
	slices.SortFunc(b.Awaiting, func(s, t Ticket) int {
		return cmp.Or(s.CreatedAt.Compare(t.CreatedAt), cmp.Compare(s.ID, t.ID))
	})
	for _, list := range []*[]Ticket{&b.Tickets, &b.Served, &b.Awaiting} {
		if len(*list) > MaxTickets {
			*list, b.More = (*list)[:MaxTickets], true
		}
	}
	b.ID = b.sum()
	return b
}

// sum names what a board says. A ticket's version stands for everything in it but for what other rooms may change.
func (b *Board) sum() string {
	h := sha256.New()
	fmt.Fprint(h, b.Branch, b.Date, b.More, b.Locales)
	for _, list := range [][]Ticket{b.Tickets, b.Served, b.Awaiting} {
		fmt.Fprint(h, "|", len(list))
		for i := range list {
			t := &list[i]
			fmt.Fprintf(h, " %s %d %q", t.ID, t.Version, t.Table)
		}
	}
	for _, s := range b.Stations {
		fmt.Fprintf(h, " %d %v", s.Category, s.Names) // a map is printed in the order of its keys
	}
	for _, dish := range slices.Sorted(maps.Keys(b.stations)) {
		fmt.Fprint(h, " ", dish, b.stations[dish])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// CategoryOf gives the category of a dish, which is its station; 0 of one that is not on the board.
func (b *Board) CategoryOf(dish int64) int64 { return b.stations[dish] }

// DishCount is how much of a dish is still to be cooked.
type DishCount struct {
	DishID   int64
	Category int64
	Name     string
	Qty      int64
}

// AllDay sums what is still to be cooked, by dish: lines that are neither ticked off nor voided, of tickets that are not
// ready. The first dish is the one that the first ticket wants. station narrows it to a category; 0 does not.
func (b *Board) AllDay(station int64) []DishCount {
	var all []DishCount
	place := map[int64]int{}
	for i := range b.Tickets {
		t := &b.Tickets[i]
		if t.Voided() || t.Status == Ready {
			continue
		}
		for _, it := range t.Items {
			category := b.stations[it.DishID]
			if !it.DoneAt.IsZero() || station != 0 && category != station {
				continue
			}
			n, seen := place[it.DishID]
			if !seen {
				n = len(all)
				place[it.DishID] = n
				all = append(all, DishCount{DishID: it.DishID, Category: category, Name: it.Name})
			}
			all[n].Qty += it.Qty
		}
	}
	return all
}
