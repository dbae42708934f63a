package event

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Topic exchanges: of everything that happens to orders, and of the stock, which other systems share. An installation may
// call the second one otherwise.
const (
	Exchange      = "order.events"
	StockExchange = "lmall.events"
)

// Type describes one registered type of event.
type Type struct {
	Name       string
	Aggregate  string
	Exchange   string
	RoutingKey string
	Purpose    string
	Foreign    bool // published by other systems; we only hear it
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
	OrderProgressed = define[Progressed]("order.progressed", "order",
		"The kitchen took an order a step on, or recalled it.")
)

// The types of the inventory (inventory-tcc.md). The first three come from other systems and ask for something.
var (
	StockWanted = foreign[Wanted]("order.created",
		"Another system's order wants stock: Try. Answered by inventory.reserved or inventory.refused.")
	StockConfirmed = foreign[Decided]("order.confirmed",
		"Another system's order stands: Confirm. Answered by inventory.sold or inventory.refused; one that comes before "+
			"its order.created is remembered.")
	StockUnwanted = foreign[Decided]("order.cancel.requested",
		"Another system's order is off, also before it came: Cancel. Answered by inventory.released or inventory.refused.")
	InventoryReserved = defineStock[Reserved]("inventory.reserved", "reservation",
		"Units of stock are reserved, all that was asked for, until they are sold, released or their time is over.")
	InventoryRefused = defineStock[Refused]("inventory.refused", "reservation",
		"A demand that came as a message was refused, once for each message; nothing was changed by it. Where the reason is "+
			"insufficient_stock, the id holds nothing any more. A sequence number of 0 says that the reservation took no step.")
	InventoryReleased = defineStock[Released]("inventory.released", "reservation",
		"A reservation ended, by its owner or by its deadline; its units are available again.")
	InventorySold = defineStock[Sold]("inventory.sold", "reservation",
		"A reservation was confirmed; its units are sold.")
	InventoryReturned = defineStock[Released]("inventory.returned", "reservation",
		"Units that had been sold came back and are available again.")
	InventoryLow = defineStock[Low]("inventory.low", "stock_item",
		"No more than its threshold is left of a stock item, because units went or the threshold was raised. Told once, when it "+
			"happens.")
)

// registry is the whole list, in the order of the documentation. A type that is not in it cannot be looked up, and so
// can neither be consumed nor published.
var registry = []Type{
	OrderPlaced.Type, OrderPaid.Type, OrderCanceled.Type, OrderRefundDue.Type, OrderRefunded.Type, OrderProgressed.Type,
	StockWanted.Type, StockConfirmed.Type, StockUnwanted.Type, InventoryReserved.Type, InventoryRefused.Type,
	InventoryReleased.Type, InventorySold.Type, InventoryReturned.Type, InventoryLow.Type,
}

func defineStock[P any](name, aggregate, purpose string) Kind[P] {
	k := define[P](name, aggregate, purpose)
	k.Exchange = StockExchange
	return k
}

func foreign[P any](name, purpose string) Kind[P] {
	k := defineStock[P](name, "reservation", purpose)
	k.Foreign = true
	return k
}

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
	b.WriteString("| Type | Aggregate | Exchange | Routing key | Published by | Purpose |\n|---|---|---|---|---|---|\n")
	for _, t := range registry {
		by := "Comanda"
		if t.Foreign {
			by = "others"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | `%s` | %s | %s |\n", t.Name, t.Aggregate, t.Exchange, t.RoutingKey, by, t.Purpose)
	}
	b.WriteString("\nEvery payload follows as a JSON Schema (draft 2020-12). Amounts are integers, ids are strings, times ")
	b.WriteString("are RFC 3339 in UTC.\nMembers are only ever added; whoever reads a payload ignores those that it does ")
	b.WriteString("not know.\n")
	for _, t := range registry {
		fmt.Fprintf(&b, "\n## %s\n\n```json\n%s\n```\n", t.Name, t.Schema())
	}
	return b.String()
}
