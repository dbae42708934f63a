package report

import (
	"time"

	"comanda/internal/catalog"
)

// Cell is what was ordered in one hour of one day of the week. Amounts here and below are minor units of the branch's
// currency.
type Cell struct {
	Weekday int // 1 is Monday, 7 is Sunday
	Hour    int // of the branch's clock, 0 to 23
	Placed  int64
	Sales   int64 // those of Placed that were paid
	Gross   int64 // their prices
}

// Hours adds up the days of the week: 24 cells, whose Weekday is 0.
func Hours(cells []Cell) []Cell {
	hours := make([]Cell, 24)
	for i := range hours {
		hours[i].Hour = i
	}
	for _, c := range cells {
		h := &hours[c.Hour]
		h.Placed, h.Sales, h.Gross = h.Placed+c.Placed, h.Sales+c.Sales, h.Gross+c.Gross
	}
	return hours
}

// Day is the orders of one business date (R1).
type Day struct {
	Date     string
	Placed   int64
	Sales    int64
	Canceled int64 // ended unpaid, for whatever reason
	Open     int64 // neither paid nor ended yet
	Gross    int64
	Refunded int64 // of Gross, gone back or on its way
}

// Net is what the house keeps.
func (d Day) Net() int64 { return d.Gross - d.Refunded }

// Total adds days up, under no date.
func Total(days []Day) (sum Day) {
	for _, d := range days {
		sum.Placed += d.Placed
		sum.Sales += d.Sales
		sum.Canceled += d.Canceled
		sum.Open += d.Open
		sum.Gross += d.Gross
		sum.Refunded += d.Refunded
	}
	return sum
}

// Dish is how a dish has sold.
type Dish struct {
	ID    int64
	Names catalog.Texts // empty for one that is not there any more
	Qty   int64
	Gross int64
}

// Share is a part of a whole, from 0 to 1; of nothing it is 0.
func Share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Quota is a menu item's quota on one business date.
type Quota struct {
	Date     string
	ItemID   int64
	Names    catalog.Texts
	Cap      int64 // as it was last; it may have been lowered below what was sold
	Held     int64 // by orders that are not paid yet
	Sold     int64
	LastUnit time.Time // when the newest order was placed that has or had units of it; zero for none
}

// SoldOut tells whether nothing is left.
func (q Quota) SoldOut() bool { return q.Held+q.Sold >= q.Cap }

// SoldOutAt is when the last unit was ordered of what is sold out; zero otherwise. An item that was taken off the day, or
// whose quota was lowered, has sold out for that reason and not with an order, but no later than with its last one.
func (q Quota) SoldOutAt() time.Time {
	if !q.SoldOut() {
		return time.Time{}
	}
	return q.LastUnit
}
