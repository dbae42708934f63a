package event

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Exchange is the topic exchange of everything that happens to orders.
const Exchange = "order.events"

// Type describes one registered type of event.
type Type struct {
	Name       string
	Aggregate  string
	Exchange   string
	RoutingKey string
	Purpose    string
	payload    reflect.Type
}

// The types. Each is published only by the transaction that made its fact true.
var (
	OrderPlaced = define[Placed]("order.placed", "order",
		"An order was accepted and its quantities are held until it is paid, cancelled or expired.")
	OrderPaid = define[Paid]("order.paid", "order",
		"An order was paid in full; its quantities are used for good.")
	OrderCanceled = define[Canceled]("order.canceled", "order",
		"An unpaid order ended, by its guest, by staff or by its deadline; its quantities are free again.")
	OrderRefundDue = define[RefundDue]("order.refund_due", "order",
		"Money arrived that could not be turned into an order and must be given back. Raises an alarm.")
	OrderRefunded = define[RefundDue]("order.refunded", "order",
		"Money of an order has gone back to whoever paid it.")
)

// registry is the whole list, in the order of the documentation. A type that is not in it cannot be looked up, and so
// can neither be consumed nor published.
var registry = []Type{OrderPlaced.Type, OrderPaid.Type, OrderCanceled.Type, OrderRefundDue.Type, OrderRefunded.Type}

// define fills in what all types share: the routing key is the name.
func define[P any](name, aggregate, purpose string) Kind[P] {
	return Kind[P]{Type{
		Name: name, Aggregate: aggregate, Exchange: Exchange, RoutingKey: name, Purpose: purpose,
		payload: reflect.TypeFor[P](),
	}}
}

// Types lists every registered type.
func Types() []Type { return slices.Clone(registry) }

// Lookup finds a registered type by its name.
func Lookup(name string) (Type, bool) {
	i := slices.IndexFunc(registry, func(t Type) bool { return t.Name == name })
	if i < 0 {
		return Type{}, false
	}
	return registry[i], true
}

// Markdown documents the registry. docs/events.md is made of it and of the broker's half, rabbit.Markdown.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Events\n\n")
	b.WriteString("Every event is stored in the transaction of its fact, published at least once, and applied once by ")
	b.WriteString("each consumer.\nThe order within one aggregate is that of its sequence number, which a message ")
	b.WriteString("carries beside the payload.\n\n")
	b.WriteString("| Type | Aggregate | Exchange | Routing key | Purpose |\n|---|---|---|---|---|\n")
	for _, t := range registry {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | `%s` | %s |\n", t.Name, t.Aggregate, t.Exchange, t.RoutingKey, t.Purpose)
	}
	b.WriteString("\n## Payloads\n\nAmounts are integers in the currency's smallest unit; ids are strings; ")
	b.WriteString("times are RFC 3339 in UTC; a business date is `2006-01-02`.\n\n")
	b.WriteString("| Type | Field | JSON |\n|---|---|---|\n")
	for _, t := range registry {
		for f := range fields(t.payload) {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", t.Name, f.name, f.json)
		}
	}
	return b.String()
}

type field struct{ name, json string }

// fields tells the payload's JSON members as encoding/json will write them.
func fields(t reflect.Type) func(yield func(field) bool) {
	return func(yield func(field) bool) {
		for field0 := range t.Fields() {
			name, opts, _ := strings.Cut(field0.Tag.Get("json"), ",")
			kind := "string"
			if field0.Type.Kind() == reflect.Int64 && opts != "string" {
				kind = "integer"
			}
			if !yield(field{name, kind}) {
				return
			}
		}
	}
}
