package event_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/event"
	"comanda/internal/event/eventtest"
	"comanda/internal/money"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

var noon = time.Date(2026, 2, 26, 12, 0, 0, 123_456_789, time.FixedZone("ICT", 7*3600))

func TestNew_fills_the_envelope_from_the_registry(t *testing.T) {
	t.Parallel()
	e := event.OrderPaid.New(noon, "order1", 2, 7, event.Paid{OrderID: "order1", BranchID: 7})

	if !uid.Valid(e.ID) {
		t.Errorf("ID %q is not a uid", e.ID)
	}
	want := event.Event{
		ID: e.ID, Type: "order.paid", Aggregate: "order", AggregateID: "order1", Seq: 2, BranchID: 7,
		At: time.Date(2026, 2, 26, 5, 0, 0, 123_000_000, time.UTC), Payload: e.Payload,
	}
	testenv.Equal(t, want, e)
}

// The JSON members are those of qr-ordering.md, section 3. Ids of int64 are strings.
func TestPayload_wire_form(t *testing.T) {
	t.Parallel()
	e := event.OrderCanceled.New(noon, "o", 3, 9, event.Canceled{
		OrderID: "o", BranchID: 9, BizDate: "2026-02-26", TotalAmount: 130000, Currency: money.VND, Reason: "EXPIRED",
	})
	want := `{"orderId":"o","branchId":"9","bizDate":"2026-02-26","totalAmount":130000,"currency":"VND","reason":"EXPIRED"}`
	testenv.Equal(t, want, string(e.Payload))
}

func TestDecode_returns_the_argument_of_New(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := event.Placed{
			OrderID:     rapid.String().Draw(t, "order"),
			BranchID:    rapid.Int64().Draw(t, "branch"),
			BizDate:     "2026-02-26",
			TotalAmount: rapid.Int64Range(0, money.Max).Draw(t, "total"),
			Currency:    money.TWD,
			PayBy:       time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "payBy")).UTC(),
		}
		out := testenv.Must(event.OrderPlaced.Decode(event.OrderPlaced.New(noon, "o", 1, in.BranchID, in)))(t)
		// JSON replaces bytes that are not Unicode, so the expected text has the replacements.
		in.OrderID = strings.ToValidUTF8(in.OrderID, "\ufffd")
		testenv.Equal(t, in, out)
	})
}

func TestDecode_refuses(t *testing.T) {
	t.Parallel()
	paid := event.OrderPaid.New(noon, "o", 1, 1, event.Paid{})
	if _, err := event.OrderPlaced.Decode(paid); err == nil {
		t.Error("an event of another type was decoded")
	}
	paid.Payload = json.RawMessage(`{"totalAmount":"many"}`)
	if _, err := event.OrderPaid.Decode(paid); err == nil {
		t.Error("a malformed payload was decoded")
	}
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	exchanges := map[string]string{"order": "order.events", "visit": "order.events", "reservation": "lmall.events", "stock_item": "lmall.events"}
	seen := map[string]bool{}
	for _, typ := range event.Types() {
		if seen[typ.Name] {
			t.Errorf("%s is registered twice", typ.Name)
		}
		seen[typ.Name] = true
		got, ok := event.Lookup(typ.Name)
		if !ok || got.RoutingKey != typ.Name || got.Exchange != exchanges[typ.Aggregate] {
			t.Errorf("Lookup(%s) = %+v, %v", typ.Name, got, ok)
		}
		if !strings.Contains(event.Markdown(), "| `"+typ.Name+"` | "+typ.Aggregate+" |") ||
			!strings.Contains(event.Markdown(), "\n## "+typ.Name+"\n") {
			t.Errorf("%s is not documented", typ.Name)
		}
		if external := typ.Aggregate == "reservation" && strings.HasPrefix(typ.Name, "order."); typ.External != external {
			t.Errorf("External of %s = %t, want %t", typ.Name, typ.External, external)
		}
	}
	for _, name := range []string{
		"order.placed", "order.paid", "order.canceled", "order.refund_due", "inventory.reserved", "inventory.refused",
		"inventory.released", "inventory.sold", "order.created", "order.confirmed", "order.cancel.requested",
	} {
		if !seen[name] {
			t.Errorf("%s is not registered", name)
		}
	}
	if _, ok := event.Lookup("order.expired"); ok {
		t.Error("a timer is registered as a fact")
	}
}

// Ids are strings; other systems may send the branch as a number.
func TestStockRequest_branch(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]event.LenientID{
		`{"branchId":7}`: 7, `{"branchId":"7"}`: 7, `{"branchId":"9007199254740993"}`: 9007199254740993, `{}`: 0,
	} {
		got, err := event.ExternalOrderCreated.Decode(event.Event{Type: "order.created", Payload: json.RawMessage(body)})
		if err != nil || got.BranchID != want {
			t.Errorf("%s: branch %d, %v", body, got.BranchID, err)
		}
	}
	for _, body := range []string{`{"branchId":7.5}`, `{"branchId":""}`, `{"branchId":null}`, `{"branchId":"Hà Nội"}`, `{"branchId":{}}`} {
		if got, err := event.ExternalOrderCreated.Decode(event.Event{Type: "order.created", Payload: json.RawMessage(body)}); err == nil {
			t.Errorf("%s: branch %d", body, got.BranchID)
		}
	}
	e := event.ExternalOrderCreated.New(noon, "o", 0, 7, event.StockRequest{OrderID: "o", BranchID: 7, ItemID: "rice", Quantity: 2})
	want := `{"orderId":"o","branchId":"7","itemId":"rice","quantity":2}`
	testenv.Equal(t, want, string(e.Payload))
}

// Every payload that Kind.New writes conforms to its documented schema.
func TestSchema_every_payload_conforms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id, branch := rapid.StringMatching(`[A-Za-z0-9._-]{1,64}`).Draw(t, "order"), rapid.Int64().Draw(t, "branch")
		at := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "at")).UTC()
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event.ItemQuantity {
			return event.ItemQuantity{ItemID: rapid.String().Draw(t, "item"), Quantity: rapid.Int64().Draw(t, "quantity")}
		}), 1, 3).Draw(t, "items")
		date, total := at.Format(time.DateOnly), rapid.Int64Range(0, money.Max).Draw(t, "total")
		due := event.RefundDue{OrderID: id, BranchID: branch, BizDate: date, Amount: total, Currency: money.TWD}
		events := []event.Event{
			event.OrderPlaced.New(at, id, 1, branch, event.Placed{
				OrderID: id, BranchID: branch, BizDate: date, TotalAmount: total, Currency: money.VND, PayBy: at,
			}),
			event.OrderPaid.New(at, id, 2, branch, event.Paid{OrderID: id, BizDate: date, Currency: money.VND}),
			event.OrderCanceled.New(at, id, 2, branch, event.Canceled{OrderID: id, Currency: money.VND, Reason: "EXPIRED"}),
			event.OrderRefundDue.New(at, id, 3, branch, due),
			event.OrderRefunded.New(at, id, 4, branch, due),
			event.OrderProgressed.New(at, id, 5, branch, event.Progressed{OrderID: id, BizDate: date, From: "READY", To: "SERVED"}),
			event.OrderAmountMismatch.New(at, id, 2, branch, event.Mismatched{
				OrderID: id, BranchID: branch, BizDate: date, AttemptID: id, Requested: total, Reported: 1, Currency: money.VND,
			}),
			event.VisitCalled.New(at, id, 0, branch, event.Called{VisitID: id, BranchID: branch, TableID: 3, Table: "A1", Reason: "BILL"}),
			event.ExternalOrderCreated.New(at, id, 0, branch, event.StockRequest{OrderID: id, BranchID: event.LenientID(branch), Items: items}),
			event.ExternalOrderCreated.New(at, id, 0, branch, event.StockRequest{OrderID: id, ItemID: "rice", Quantity: 1, TTLSeconds: 5}),
			event.ExternalOrderConfirmed.New(at, id, 0, branch, event.ReservationRef{OrderID: id}),
			event.ExternalOrderCancelRequested.New(at, id, 0, branch, event.ReservationRef{OrderID: id}),
			event.InventoryReserved.New(at, id, 1, branch, event.Reserved{OrderID: id, Items: items, ExpiresAt: at}),
			event.InventoryRefused.New(at, id, 1, branch, event.Refused{
				OrderID: id, Demand: "order.created", Items: []event.Shortage{{ItemID: "rice", Requested: 2, Available: 1}},
			}),
			event.InventoryReleased.New(at, id, 2, branch, event.Released{OrderID: id, Items: items, Reason: "EXPIRED"}),
			event.InventorySold.New(at, id, 2, branch, event.Sold{OrderID: id, BranchID: branch, Items: items}),
			event.InventoryReturned.New(at, id, 3, branch, event.Released{OrderID: id, Items: items, Reason: "RETURNED"}),
			event.InventoryLow.New(at, "rice", 0, branch, event.Low{ItemID: "rice", Available: 1, Threshold: 2}),
		}
		eventtest.Conform(t, events...)
		created := map[string]bool{}
		for _, e := range events {
			created[e.Type] = true
		}
		if len(created) != len(event.Types()) {
			t.Fatalf("%d of %d types were created", len(created), len(event.Types()))
		}
	})
}

// The schemas refuse invalid payloads.
func TestSchema_refuses(t *testing.T) {
	t.Parallel()
	const good = `{"orderId":"o","branchId":7,"itemId":"rice","quantity":2,"more":true}`
	if err := eventtest.Check("order.created", []byte(good)); err != nil {
		t.Errorf("Check of the form of the reference documents = %v", err)
	}
	for name, bodies := range map[string][]string{
		"order.created": {
			`[]`, `{"branchId":"7","items":[]}`, `{"items":[],"branchId":1}`, `{"orderId":"o","branchId":"7"}`,
			`{"orderId":"o/p","branchId":"7","items":[]}`, `{"orderId":"o","branchId":"x","items":[]}`,
			`{"orderId":"o","branchId":7,"itemId":"rice"}`, `{"orderId":"o","branchId":7,"items":[{"itemId":"rice"}]}`,
			`{"orderId":"o","branchId":7,"itemId":"rice","quantity":"2"}`,
		},
		"order.confirmed": {`{}`, `{"orderId":7}`},
		"order.paid":      {`{"orderId":"o","branchId":7,"bizDate":"2026-02-26","totalAmount":1,"currency":"VND"}`},
		"inventory.reserved": {
			`{"orderId":"o","branchId":"7","items":null,"expiresAt":"2026-02-26T12:00:00Z"}`,
			`{"orderId":"o","branchId":"7","items":[],"expiresAt":"noon"}`,
		},
		"inventory.released": {`{"orderId":"o","branchId":"7","items":[],"reason":"LOST"}`},
	} {
		for _, body := range bodies {
			if eventtest.Check(name, []byte(body)) == nil {
				t.Errorf("%s: %s is accepted", name, body)
			}
		}
	}
}
