package stock_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/event"
	"comanda/internal/event/eventtest"
	"comanda/internal/fault"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

func message(typ, body string) event.Event {
	return event.Event{ID: "m", Type: typ, Payload: json.RawMessage(body)}
}

func TestParseMessage_try(t *testing.T) {
	t.Parallel()
	want := stock.ReservationRequest{ID: "o-1", Branch: 7, Items: []stock.SKULine{{SKU: "rice", Qty: 2}}}
	longer := want
	longer.TTL = time.Minute
	for body, want := range map[string]stock.ReservationRequest{
		`{"orderId":"o-1","branchId":"7","items":[{"itemId":"rice","quantity":2}]}`:                                            want,
		`{"orderId":"o-1","branchId":7,"itemId":"rice","quantity":2}`:                                                          want,
		`{"orderId":"o-1","branchId":7,"items":[],"itemId":"rice","quantity":2}`:                                               want,
		`{"branchId":7,"quantity":2,"itemId":"rice","orderId":"o-1","who":["x"]}`:                                              want,
		`{"orderId":"o-1","branchId":7,"items":[{"itemId":"rice","quantity":2}],"ttlSeconds":60,"itemId":"salt","quantity":1}`: longer,
	} {
		h, err := stock.ParseMessage(message("order.created", body))
		if err != nil || h.Err != nil || h.Action != stock.Try || h.ID != "o-1" || !h.Message {
			t.Errorf("ParseMessage(%s) = %+v, %v, want a try of o-1", body, h, err)
		}
		if diff := cmp.Diff(want, h.Request); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

func TestParseMessage_confirm_and_cancel(t *testing.T) {
	t.Parallel()
	for typ, act := range map[string]stock.Action{"order.confirmed": stock.Confirm, "order.cancel.requested": stock.Cancel} {
		h, err := stock.ParseMessage(message(typ, `{"orderId":"o-1","total":12.5}`))
		if err != nil || h.Err != nil || h.Action != act || h.ID != "o-1" || !h.Message {
			t.Errorf("ParseMessage of %s = %+v, %v, want action %v of o-1", typ, h, err, act)
		}
	}
}

// Every message with a sender that can be answered is answered; any other is an error.
func TestParseMessage_rejects(t *testing.T) {
	t.Parallel()
	const items = `"items":[{"itemId":"rice","quantity":2}]`
	for name, body := range map[string]string{
		"no items":          `{"orderId":"o-1","branchId":7}`,
		"a negative branch": `{"orderId":"o-1","branchId":-7,` + items + `}`,
		"branch of letters": `{"branchId":"north","orderId":"o-1",` + items + `}`,
		"items no list":     `{"orderId":"o-1","branchId":7,"items":{}}`,
		"item no object":    `{"orderId":"o-1","branchId":7,"items":["rice"]}`,
		"item of no name":   `{"orderId":"o-1","branchId":7,"items":[{"itemId":"ri ce","quantity":2}]}`,
		"quantity of text":  `{"orderId":"o-1","branchId":7,"itemId":"rice","quantity":"2"}`,
		"half a unit":       `{"orderId":"o-1","branchId":7,"itemId":"rice","quantity":0.5}`,
		"no unit":           `{"orderId":"o-1","branchId":7,"itemId":"rice"}`,
		"fewer than none":   `{"orderId":"o-1","branchId":7,"itemId":"rice","quantity":-5}`,
		"far too many":      `{"orderId":"o-1","branchId":7,"itemId":"rice","quantity":1000001}`,
		"no time":           `{"orderId":"o-1","branchId":7,"ttlSeconds":-1,` + items + `}`,
		"time without end":  `{"orderId":"o-1","branchId":7,"ttlSeconds":9223372036854775807,` + items + `}`,
		"time that wraps":   `{"orderId":"o-1","branchId":7,"ttlSeconds":-9223372036854775808,` + items + `}`,
	} {
		h, err := stock.ParseMessage(message("order.created", body))
		if err != nil || fault.KindOf(h.Err) != fault.Invalid || h.ID != "o-1" {
			t.Errorf("ParseMessage with %s = %+v, %v, want Invalid", name, h, err)
			continue
		}
		e := h.Refusal(evening)
		eventtest.Conform(t, e)
		if p, err := event.InventoryRefused.Decode(e); err != nil || p.Reason != "invalid" || p.OrderID != "o-1" || e.Seq != 0 {
			t.Errorf("refusal of %s = %+v, %v, want reason invalid of o-1", name, p, err)
		}
	}
	for name, body := range map[string]string{
		"no JSON":              `{"orderId":"o-1"`,
		"no object":            `["o-1"]`,
		"nothing":              ``,
		"null":                 `null`,
		"no order":             `{"branchId":7,` + items + `}`,
		"an order of no name":  `{"orderId":"o 1","branchId":7,` + items + `}`,
		"an order of a number": `{"orderId":1,"branchId":7,` + items + `}`,
	} {
		for _, typ := range []string{"order.created", "order.confirmed", "order.cancel.requested"} {
			if h, err := stock.ParseMessage(message(typ, body)); err == nil {
				t.Errorf("%s, %s: read as %+v", typ, name, h)
			}
		}
	}
	if h, err := stock.ParseMessage(message("order.paid", `{"orderId":"o-1"}`)); err == nil {
		t.Errorf("an event of ours was read as %+v", h)
	}
}

func TestMessageCommand_ResolveItems(t *testing.T) {
	t.Parallel()
	parse := func() stock.MessageCommand {
		h, err := stock.ParseMessage(message("order.created",
			`{"orderId":"o-1","branchId":7,"items":[{"itemId":"salt","quantity":1},{"itemId":"rice","quantity":2},{"itemId":"salt","quantity":3}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := parse()
	h.ResolveItems(map[int64]map[string]int64{7: {"rice": 3, "salt": 4}, 8: {"rice": 5, "salt": 6}}, evening)
	want := stock.Hold{
		ID: "x-o-1", Scope: stock.StockScope(7), Lines: []stock.Line{{Item: 3, Qty: 2}, {Item: 4, Qty: 4}}, Until: evening.Add(300 * time.Second),
	}
	if diff := cmp.Diff(want, h.Hold); diff != "" || h.Err != nil {
		t.Errorf("%v; hold (-want +got):\n%s", h.Err, diff)
	}
	h = parse()
	h.ResolveItems(map[int64]map[string]int64{7: {"rice": 3}, 8: {"salt": 4}}, evening)
	if fault.KindOf(h.Err) != fault.NotFound {
		t.Errorf("an item that is not there: %v", h.Err)
	}
}

// A message without a branch belongs to the only branch that has all of its items.
func TestMessageCommand_ResolveItems_without_branch(t *testing.T) {
	t.Parallel()
	north, south := map[string]int64{"rice": 3, "salt": 4}, map[string]int64{"rice": 5}
	both := map[string]int64{"rice": 6, "salt": 7}
	for name, c := range map[string]struct {
		ids    map[int64]map[string]int64
		branch int64
		kind   fault.Kind
	}{
		"one has all":  {map[int64]map[string]int64{7: north, 8: south}, 7, fault.Internal},
		"none has all": {map[int64]map[string]int64{8: south}, 0, fault.NotFound},
		"two have all": {map[int64]map[string]int64{7: north, 9: both}, 0, fault.Invalid},
	} {
		h := testenv.Must(stock.ParseMessage(message("order.created",
			`{"orderId":"o-1","items":[{"itemId":"salt","quantity":1},{"itemId":"rice","quantity":2}]}`)))(t)
		h.ResolveItems(c.ids, evening)
		if h.Hold.Scope.Branch != c.branch || c.branch == 0 && fault.KindOf(h.Err) != c.kind || c.branch != 0 && h.Err != nil {
			t.Errorf("%s: branch %d, %v", name, h.Hold.Scope.Branch, h.Err)
		}
	}
}

var evening = time.Date(2026, 2, 26, 19, 0, 0, 0, time.UTC)
