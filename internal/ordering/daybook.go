package ordering

import (
	"cmp"
	"maps"
	"slices"

	"comanda/internal/event"
	"comanda/internal/seq"
	"comanda/internal/stock"
)

// DaybookConsumer is the name of the consumer that maintains the daybook.
const DaybookConsumer = "daybook"

// DaybookTypes returns the event types that the daybook consumes. Refund events are not included, because Revenue is
// the amount paid and not the amount kept.
func DaybookTypes() []string {
	return []string{event.OrderPlaced.Name, event.OrderPaid.Name, event.OrderCanceled.Name}
}

// Day contains the totals of a business date, or the increments that events add to them. Increments may be negative,
// and events may arrive in any order; the sums are right after all events have arrived.
type Day struct {
	Scope    stock.Scope
	Placed   int64
	Paid     int64
	Canceled int64
	Revenue  int64 // paid, in minor units
}

// Tally returns the increments of each day, sorted by branch and date. That is the order in which the days' rows are
// locked.
func Tally(events []event.Event) ([]Day, error) {
	days := map[stock.Scope]*Day{}
	of := func(branch int64, date string) *Day {
		s := stock.Scope{Branch: branch, Date: date}
		if days[s] == nil {
			days[s] = &Day{Scope: s}
		}
		return days[s]
	}
	for _, e := range events {
		switch e.Type {
		case event.OrderPlaced.Name:
			p, err := event.OrderPlaced.Decode(e)
			if err != nil {
				return nil, err
			}
			of(p.BranchID, p.BizDate).Placed++
		case event.OrderPaid.Name:
			p, err := event.OrderPaid.Decode(e)
			if err != nil {
				return nil, err
			}
			d := of(p.BranchID, p.BizDate)
			d.Paid++
			d.Revenue += p.TotalAmount
			if p.Revived { // its cancellation is counted, before or after this event
				d.Canceled--
			}
		case event.OrderCanceled.Name:
			p, err := event.OrderCanceled.Decode(e)
			if err != nil {
				return nil, err
			}
			of(p.BranchID, p.BizDate).Canceled++
		}
	}
	return sortedDays(days), nil
}

func sortedDays(days map[stock.Scope]*Day) []Day {
	sorted := slices.SortedFunc(maps.Values(days), func(a, b *Day) int {
		return cmp.Or(cmp.Compare(a.Scope.Branch, b.Scope.Branch), cmp.Compare(a.Scope.Date, b.Scope.Date))
	})
	return seq.Map(sorted, func(d *Day) Day { return *d })
}

// HistoryDays returns the increments of imported orders, which publish no events.
func HistoryDays(orders []*Order) []Day {
	days := map[stock.Scope]*Day{}
	for _, o := range orders {
		d := days[o.Scope]
		if d == nil {
			d = &Day{Scope: o.Scope}
			days[o.Scope] = d
		}
		d.Placed++
		if o.Status == Canceled {
			d.Canceled++
		} else {
			d.Paid, d.Revenue = d.Paid+1, d.Revenue+o.Total
		}
	}
	return sortedDays(days)
}
