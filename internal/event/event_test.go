package event_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/event"
	"comanda/internal/money"
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
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

// The members are those of the reference (qr-ordering.md, section 3), and int64 ids are strings as everywhere in JSON.
func TestPayload_wire_form(t *testing.T) {
	t.Parallel()
	e := event.OrderCanceled.New(noon, "o", 3, 9, event.Canceled{
		OrderID: "o", BranchID: 9, BizDate: "2026-02-26", TotalAmount: 130000, Currency: money.VND, Reason: "EXPIRED",
	})
	want := `{"orderId":"o","branchId":"9","bizDate":"2026-02-26","totalAmount":130000,"currency":"VND","reason":"EXPIRED"}`
	if diff := cmp.Diff(want, string(e.Payload)); diff != "" {
		t.Errorf("payload (-want +got):\n%s", diff)
	}
}

func TestDecode_returns_what_New_was_given(t *testing.T) {
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
		out, err := event.OrderPlaced.Decode(event.OrderPlaced.New(noon, "o", 1, in.BranchID, in))
		if err != nil {
			t.Fatal(err)
		}
		// JSON text is Unicode: bytes that are not are replaced on the way out, so compare what can be written.
		in.OrderID = strings.ToValidUTF8(in.OrderID, "\ufffd")
		if diff := cmp.Diff(in, out); diff != "" {
			t.Fatalf("payload (-want +got):\n%s", diff)
		}
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
	seen := map[string]bool{}
	for _, typ := range event.Types() {
		if seen[typ.Name] {
			t.Errorf("%s is registered twice", typ.Name)
		}
		seen[typ.Name] = true
		got, ok := event.Lookup(typ.Name)
		if !ok || got.RoutingKey != typ.Name || got.Exchange != "order.events" {
			t.Errorf("Lookup(%s) = %+v, %v", typ.Name, got, ok)
		}
		if !strings.Contains(event.Markdown(), "| `"+typ.Name+"` | order |") {
			t.Errorf("%s is not documented", typ.Name)
		}
	}
	for _, name := range []string{"order.placed", "order.paid", "order.canceled", "order.refund_due"} {
		if !seen[name] {
			t.Errorf("%s is not registered", name)
		}
	}
	if _, ok := event.Lookup("order.expired"); ok {
		t.Error("a timer is registered as a fact")
	}
}
