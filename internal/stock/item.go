package stock

import (
	"cmp"
	"slices"
	"time"

	"comanda/internal/event"
	"comanda/internal/fault"
)

// Item is a stock item of a branch, counted over days. Its owner identifies it by SKU, our tables by number. Neither
// changes, and items are never deleted.
type Item struct {
	ID     int64
	Branch int64
	SKU    string // 1 to 64 of A-Z a-z 0-9 . _ -
	Name   string // may be empty
	Unit   string // such as kg or bottle; empty for pieces
	LowAt  int64  // alarm threshold: low stock is reported at this many units or fewer; NoAlarm for none
}

// NoAlarm is the LowAt of an item without an alarm.
const NoAlarm int64 = -1

// MaxExternalID is the maximum length of an id that another system chooses: of items and reservations.
const MaxExternalID = 64

// ValidateExternalID returns a fault for an id that no item or reservation may have. Such ids stand in keys, paths
// and messages, so only characters that need no escaping anywhere are accepted.
func ValidateExternalID(field, id string) error {
	ok := id != "" && len(id) <= MaxExternalID
	for i := 0; ok && i < len(id); i++ {
		c := id[i]
		ok = '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '.' || c == '_' || c == '-'
	}
	if ok {
		return nil
	}
	const rule = "%s must have 1 to %d letters, digits, dots, hyphens or underscores."
	return fault.Newf(fault.Invalid, "invalid", rule, field, MaxExternalID).With("field", field)
}

// low reports whether the alarm stands at a number of available units.
func (t Item) low(available int64) bool { return t.LowAt >= 0 && available <= t.LowAt }

// LowStockEvents returns an event, by item number, for every item that reached its alarm threshold in this batch,
// because units were taken or the threshold was raised.
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
