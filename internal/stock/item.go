package stock

import (
	"cmp"
	"slices"
	"time"

	"comanda/internal/event"
	"comanda/internal/fault"
)

// Thing is a stock item of a branch: something that is counted over days. Its owner calls it by its SKU, we by its
// number. Neither ever changes, and a thing is never deleted.
type Item struct {
	ID     int64
	Branch int64
	SKU    string // 1 to 64 of A-Z a-z 0-9 . _ -
	Name   string // empty: nobody has given it one
	Unit   string // what is counted, such as kg or bottle; empty: pieces
	LowAt  int64  // an alarm is raised when no more than this are left; NoAlarm for none
}

// NoAlarm is the LowAt of a thing of which nobody wants to hear.
const NoAlarm int64 = -1

// MaxName bounds the ids that other systems give: of items, and of reservations.
const MaxExternalID = 64

// CheckName refuses an id that no item and no reservation may have. Such ids stand in keys, addresses and messages.
func ValidateExternalID(field, id string) error {
	ok := id != "" && len(id) <= MaxExternalID
	for i := 0; ok && i < len(id); i++ {
		c := id[i]
		ok = '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '.' || c == '_' || c == '-'
	}
	if ok {
		return nil
	}
	const rule = "%s has 1 to %d letters, digits, dots, hyphens and underscores."
	return fault.Newf(fault.Invalid, "invalid", rule, field, MaxExternalID).With("field", field)
}

// low tells whether an alarm stands when so many are available.
func (t Item) low(available int64) bool { return t.LowAt >= 0 && available <= t.LowAt }

// Warnings gives an event for every thing of which an alarm stands since this batch, because units went or its mark was
// raised, in the order of their numbers.
func (b *Balances) LowStockEvents(now time.Time) []event.Event {
	var low []*Counter
	for _, c := range b.counters {
		if c.item.ID != 0 && !c.low && c.item.low(c.Left()) {
			low = append(low, c)
		}
	}
	slices.SortFunc(low, func(a, b *Counter) int { return cmp.Compare(a.Item, b.Item) })
	events := make([]event.Event, len(low))
	for i, c := range low {
		events[i] = event.InventoryLow.New(now, c.item.SKU, 0, c.item.Branch, event.Low{
			ItemID: c.item.SKU, BranchID: c.item.Branch, Available: c.Left(), Threshold: c.item.LowAt,
		})
	}
	return events
}
