package stock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"comanda/internal/fault"
	"comanda/internal/stock"
)

var sack = stock.Key{Scope: stock.StockScope(7), Item: 1}

// riceBalances returns the balances of one stock item, of which 2 are reserved and 3 sold.
func riceBalances(available, lowAt int64) *stock.Balances {
	b := stock.NewBalances()
	b.LoadItem(stock.Item{ID: 1, Branch: 7, SKU: "rice", LowAt: lowAt}, stock.Count{
		Item: 1, Cap: available + 5, Held: 2, Used: 3,
	})
	return b
}

// The available quantity is never negative afterwards and, for a receipt, never above the maximum that can be counted.
func TestBalances_Adjust(t *testing.T) {
	const most = stock.MaxAvailable
	for name, c := range map[string]struct {
		available int64
		kind      stock.AdjustmentKind
		units     int64
		want      int64
		outcome   stock.Outcome
	}{
		"received":                 {10, stock.Received, 5, 15, stock.Applied},
		"received up to the limit": {10, stock.Received, most - 10, most, stock.Applied},
		"one more":                 {10, stock.Received, most - 9, 10, stock.ExceedsMax},
		"one on the limit":         {most, stock.Received, 1, most, stock.ExceedsMax},
		"the limit on the limit":   {most, stock.Received, most, most, stock.ExceedsMax},
		"wasted":                   {10, stock.Wasted, 10, 0, stock.Applied},
		"one more than there are":  {10, stock.Wasted, 11, 10, stock.Insufficient},
		"counted as the limit":     {10, stock.Counted, most, most, stock.Applied},
		"counted as it was":        {10, stock.Counted, 10, 10, stock.AlreadyApplied},
		"counted as nothing":       {10, stock.Counted, 0, 0, stock.Applied},
		"less of too many":         {most + 5, stock.Wasted, 2, most + 3, stock.Applied}, // too many because of returns
		"still more of too many":   {most + 5, stock.Received, 1, most + 5, stock.ExceedsMax},
	} {
		b := riceBalances(c.available, stock.NoAlarm)
		units, set := stock.Adjustment{Kind: c.kind, Units: c.units}.Change()
		got, outcome := b.Adjust(sack, units, set)
		count, _ := b.Count(sack)
		if got != c.want || outcome != c.outcome || count.Left() != c.want || count.Held != 2 || count.Used != 3 {
			t.Errorf("%s: %d, %d, %+v; want %d, %d", name, got, outcome, count, c.want, c.outcome)
		}
		changed := false
		b.Deltas(func(stock.Key, stock.Counter) { changed = true })
		if changed != (c.outcome == stock.Applied) {
			t.Errorf("%s: something is written: %t", name, changed)
		}
	}
	if _, outcome := stock.NewBalances().Adjust(sack, 1, false); outcome != stock.NotFound {
		t.Errorf("of nothing: %d", outcome)
	}
}

// A low-stock event is published when the alarm begins, because units were taken or because the threshold was raised.
func TestBalances_LowStockEvents(t *testing.T) {
	for name, c := range map[string]struct {
		available, lowAt int64
		change           func(b *stock.Balances)
		alarm            bool
	}{
		"nothing happens":             {5, 5, func(*stock.Balances) {}, false},
		"down to the mark":            {6, 5, func(b *stock.Balances) { b.Adjust(sack, -1, false) }, true},
		"not yet":                     {7, 5, func(b *stock.Balances) { b.Adjust(sack, -1, false) }, false},
		"down, and it stood":          {5, 5, func(b *stock.Balances) { b.Adjust(sack, -1, false) }, false},
		"up, and it stands":           {3, 5, func(b *stock.Balances) { b.Adjust(sack, 1, false) }, false},
		"no alarm set":                {1, stock.NoAlarm, func(b *stock.Balances) { b.Adjust(sack, -1, false) }, false},
		"raised to the level":         {6, 5, func(b *stock.Balances) { b.SetThreshold(sack, 6) }, true},
		"raised above the level":      {6, stock.NoAlarm, func(b *stock.Balances) { b.SetThreshold(sack, 9) }, true},
		"raised below the level":      {6, 2, func(b *stock.Balances) { b.SetThreshold(sack, 5) }, false},
		"raised, and it stood":        {6, 6, func(b *stock.Balances) { b.SetThreshold(sack, 9) }, false},
		"lowered, and it stands":      {3, 6, func(b *stock.Balances) { b.SetThreshold(sack, 4) }, false},
		"taken away":                  {3, 6, func(b *stock.Balances) { b.SetThreshold(sack, stock.NoAlarm) }, false},
		"nothing left and none above": {0, stock.NoAlarm, func(b *stock.Balances) { b.SetThreshold(sack, 0) }, true},
		"of what is not there":        {6, 5, func(b *stock.Balances) { b.SetThreshold(stock.Key{Scope: sack.Scope, Item: 2}, 9) }, false},
	} {
		b := riceBalances(c.available, c.lowAt)
		c.change(b)
		events := b.LowStockEvents(time.UnixMilli(1))
		if alarm := len(events) == 1; alarm != c.alarm || len(events) > 1 {
			t.Errorf("%s: %d alarms", name, len(events))
		}
	}
}

func TestAdjustment_Validate(t *testing.T) {
	good := stock.Adjustment{Branch: 1, SKU: "rice", Kind: stock.Received, Units: 1}
	for name, c := range map[string]struct {
		change func(a *stock.Adjustment)
		field  string // refused field; empty for none
	}{
		"plain":            {func(*stock.Adjustment) {}, ""},
		"with all":         {func(a *stock.Adjustment) { a.Note, a.ClientTxnID = "Thứ hai", strings.Repeat("ô", 64) }, ""},
		"a count of none":  {func(a *stock.Adjustment) { a.Kind, a.Units = stock.Counted, 0 }, ""},
		"nothing received": {func(a *stock.Adjustment) { a.Units = 0 }, "quantity"},
		"less than none":   {func(a *stock.Adjustment) { a.Kind, a.Units = stock.Counted, -1 }, "quantity"},
		"more than any":    {func(a *stock.Adjustment) { a.Units = stock.MaxAvailable + 1 }, "quantity"},
		"another kind":     {func(a *stock.Adjustment) { a.Kind = "GIFT" }, "kind"},
		"a long note":      {func(a *stock.Adjustment) { a.Note = strings.Repeat("a", stock.MaxNote+1) }, "note"},
		"a long key":       {func(a *stock.Adjustment) { a.ClientTxnID = strings.Repeat("a", stock.MaxClientID+1) }, "clientTxnId"},
		"a key not text":   {func(a *stock.Adjustment) { a.ClientTxnID = "\xff" }, "clientTxnId"},
		"no item":          {func(a *stock.Adjustment) { a.SKU = "" }, "itemId"},
	} {
		a := good
		c.change(&a)
		err := a.Validate()
		var f *fault.Error
		if refused := errors.As(err, &f); refused != (c.field != "") {
			t.Errorf("Validate with %s: error %v, want field %q", name, err, c.field)
		}
		if f != nil && (f.Kind != fault.Invalid || f.Extra["field"] != c.field) {
			t.Errorf("Validate with %s: error %v with %v, want Invalid about %s", name, err, f.Extra, c.field)
		}
	}
}

// The digest differs if any field of an adjustment differs, except the idempotency key.
func TestAdjustment_Digest(t *testing.T) {
	a := stock.Adjustment{Branch: 1, SKU: "rice", Kind: stock.Received, Units: 12, Note: "of today", ClientTxnID: "k"}
	again := a
	again.ClientTxnID = "l"
	if a.Digest() != again.Digest() {
		t.Error("the digest depends on the key")
	}
	for name, change := range map[string]func(*stock.Adjustment){
		"item": func(a *stock.Adjustment) { a.SKU = "beer" }, "kind": func(a *stock.Adjustment) { a.Kind = stock.Wasted },
		"units": func(a *stock.Adjustment) { a.Units = 1 }, "note": func(a *stock.Adjustment) { a.Note = "" },
	} {
		other := a
		change(&other)
		if other.Digest() == a.Digest() {
			t.Errorf("another %s has the same digest", name)
		}
	}
}
