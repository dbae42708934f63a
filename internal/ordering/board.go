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

// MaxTickets is the maximum length of each list of a board. Open tickets are the oldest ones, served tickets the
// newest: a kitchen with more open tickets sees the rest after it has served some.
const MaxTickets = 300

// carriedOver is how long after the start of a business date a board also shows the previous date's orders, and how
// recently those must have been paid. Otherwise a kitchen that works past the end of its day would lose its open
// tickets.
const carriedOver = 4 * time.Hour

// Board is the state that the screens of a branch's kitchen show. It is immutable and may be shared.
type Board struct {
	ID       string // hash of the content
	Branch   int64
	Date     string    // business date
	At       time.Time // when it was read; not part of ID
	Tickets  []Ticket  // open, by time of payment
	Served   []Ticket  // served lately, newest first
	Awaiting []Ticket  // to be paid at the counter, oldest first
	Stations []Station
	More     bool             // a list was cut at MaxTickets
	Locales  []catalog.Locale // the branch's; the kitchen uses the first

	stations map[int64]int64 // category by dish
}

// Ticket is an order on a kitchen's board.
type Ticket struct {
	Order
	Table string // label; empty unless DINE_IN
}

// Station is the part of a kitchen that cooks the dishes of one category.
type Station struct {
	Category int64
	Names    catalog.Texts
}

// BoardRows are the rows that a BoardReader reads for a board, unsorted.
type BoardRows struct {
	Tickets, Served, Awaiting []Ticket
	Stations                  []Station
	Categories                map[int64]int64 // by dish
}

// BoardQuery selects the rows of a board.
type BoardQuery struct {
	Branch      int64
	Date        string
	DateBefore  string    // previous business date; empty once carriedOver has passed
	PaidSince   time.Time // applies to DateBefore's orders
	ServedSince time.Time
	Limit       int // of each list
}

// boardQuery returns the query for a branch's board at now.
func boardQuery(b catalog.Branch, now time.Time) BoardQuery {
	today := b.Calendar().At(now)
	q := BoardQuery{
		Branch: b.ID, Date: today.Date, PaidSince: now.Add(-carriedOver), ServedSince: now.Add(-shownServed),
		// One more than the maximum, to detect that a list was cut.
		Limit: MaxTickets + 1,
	}
	if now.Sub(today.Start) <= carriedOver {
		q.DateBefore = b.Calendar().BizDate(today.Start.Add(-time.Nanosecond))
	}
	return q
}

// newBoard sorts rows, cuts each list at MaxTickets and returns the board.
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

// sum returns a hash of the content. A ticket's version covers its order; its table's label changes independently of
// the version, so the hash includes it.
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
		fmt.Fprintf(h, " %d %v", s.Category, s.Names) // fmt prints maps sorted by key
	}
	for _, dish := range slices.Sorted(maps.Keys(b.stations)) {
		fmt.Fprint(h, " ", dish, b.stations[dish])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// CategoryOf returns the category of a dish, which is its station, or 0 if the dish has none on this board.
func (b *Board) CategoryOf(dish int64) int64 { return b.stations[dish] }

// DishCount is the quantity of a dish that is still to be cooked.
type DishCount struct {
	DishID   int64
	Category int64
	Name     string
	Qty      int64
}

// AllDay returns the quantities still to be cooked, by dish. It counts lines that are not marked done, of tickets
// that are neither ready nor voided. Dishes are in order of their first ticket. A station other than 0 limits the
// result to that category.
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
