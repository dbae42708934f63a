package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"comanda/internal/money"
)

// Exchange and StockExchange are the default topic exchanges for order events and for stock events. The stock exchange
// is shared with other systems, so an installation may configure another name for it.
const (
	Exchange      = "order.events"
	StockExchange = "lmall.events"
)

// Type describes one registered type of event. Names, exchanges and routing keys are part of the interface to other
// systems and never change.
type Type struct {
	Name       string
	Aggregate  string
	Exchange   string
	RoutingKey string
	Purpose    string
	External   bool // published by other systems; Comanda only consumes it
	payload    reflect.Type
}

// Order events. Only the transaction that commits the change stores the event.
var (
	OrderPlaced = define[Placed]("order.placed", "order",
		"An order was placed. Its quantities are held until it is paid, cancelled or expires.")
	OrderPaid = define[Paid]("order.paid", "order",
		"An order was paid in full. Its quantities are sold.")
	OrderCanceled = define[Canceled]("order.canceled", "order",
		"An unpaid order was cancelled by its guest or staff, or expired. Its quantities are available again.")
	OrderRefundDue = define[RefundDue]("order.refund_due", "order",
		"A payment arrived that cannot be applied to its order and must be refunded. Raises an alarm.")
	OrderRefunded = define[RefundDue]("order.refunded", "order",
		"Money of an order was refunded to the payer.")
	OrderProgressed = define[Progressed]("order.progressed", "order",
		"The kitchen advanced an order by one step, or recalled it.")
	OrderAmountMismatch = define[Mismatched]("order.amount_mismatch", "order",
		"A gateway reported another amount than was requested, and the money has moved or may have moved. Published for each "+
			"report; the order does not change.")
	VisitCalled = define[Called]("visit.called", "visit",
		"Guests of a table called staff. Published once per call, however often they repeat it before it is answered.")
)

// Inventory events (inventory-tcc.md). The first three are commands from other systems.
var (
	ExternalOrderCreated = defineExternal[StockRequest]("order.created",
		"Another system requests stock for its order (Try). Answered by inventory.reserved or inventory.refused.")
	ExternalOrderConfirmed = defineExternal[ReservationRef]("order.confirmed",
		"Another system confirms its order (Confirm). Answered by inventory.sold or inventory.refused. "+
			"A confirmation that arrives before its order.created is stored.")
	ExternalOrderCancelRequested = defineExternal[ReservationRef]("order.cancel.requested",
		"Another system cancels its order, possibly before order.created arrives (Cancel). "+
			"Answered by inventory.released or inventory.refused.")
	InventoryReserved = defineStock[Reserved]("inventory.reserved", "reservation",
		"All requested units of stock are reserved until they are sold or released, or the reservation expires.")
	InventoryRefused = defineStock[Refused]("inventory.refused", "reservation",
		"A command that arrived as a message was refused, once per message, and changed nothing. If the reason is "+
			"insufficient_stock, the id holds nothing. Sequence number 0 means that the reservation did not change.")
	InventoryReleased = defineStock[Released]("inventory.released", "reservation",
		"A reservation ended, by its owner or by its deadline; its units are available again.")
	InventorySold = defineStock[Sold]("inventory.sold", "reservation",
		"A reservation was confirmed; its units are sold.")
	InventoryReturned = defineStock[Released]("inventory.returned", "reservation",
		"Sold units were returned and are available again.")
	InventoryLow = defineStock[Low]("inventory.low", "stock_item",
		"The available quantity of a stock item fell to its threshold or below, or the threshold was raised. Published once per "+
			"crossing.")
)

// registry lists all types in the order of the documentation. A type outside of it can be neither consumed nor
// published.
var registry = []Type{
	OrderPlaced.Type, OrderPaid.Type, OrderCanceled.Type, OrderRefundDue.Type, OrderRefunded.Type, OrderProgressed.Type,
	OrderAmountMismatch.Type, VisitCalled.Type,
	ExternalOrderCreated.Type, ExternalOrderConfirmed.Type, ExternalOrderCancelRequested.Type,
	InventoryReserved.Type, InventoryRefused.Type, InventoryReleased.Type,
	InventorySold.Type, InventoryReturned.Type, InventoryLow.Type,
}

// defineStock is define on the stock exchange.
func defineStock[P any](name, aggregate, purpose string) Kind[P] {
	k := define[P](name, aggregate, purpose)
	k.Exchange = StockExchange
	return k
}

// defineExternal declares a command of other systems. The aggregate of such a message is always a reservation.
func defineExternal[P any](name, purpose string) Kind[P] {
	k := defineStock[P](name, "reservation", purpose)
	k.External = true
	return k
}

// define returns a Kind whose routing key equals its name, on the exchange of order events.
func define[P any](name, aggregate, purpose string) Kind[P] {
	return Kind[P]{Type{
		Name: name, Aggregate: aggregate, Exchange: Exchange, RoutingKey: name, Purpose: purpose,
		payload: reflect.TypeFor[P](),
	}}
}

// Types returns every registered type. The slice is a copy.
func Types() []Type { return slices.Clone(registry) }

// Lookup returns the registered type of that name. A name that is not registered comes from a newer release or from
// another system.
func Lookup(name string) (Type, bool) {
	i := slices.IndexFunc(registry, func(t Type) bool { return t.Name == name })
	if i < 0 {
		return Type{}, false
	}
	return registry[i], true
}

// Markdown returns the documentation of the registry. docs/events.md consists of it and of rabbit.Markdown.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Events\n\n")
	b.WriteString("An event is stored in the transaction that makes its fact true, published at least once, and applied once ")
	b.WriteString("by each\nconsumer. Events of one aggregate are ordered by their sequence number, which accompanies ")
	b.WriteString("the payload.\n\n")
	b.WriteString("| Type | Aggregate | Exchange | Routing key | Published by | Purpose |\n|---|---|---|---|---|---|\n")
	for _, t := range registry {
		publisher := "Comanda"
		if t.External {
			publisher = "others"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | `%s` | %s | %s |\n",
			t.Name, t.Aggregate, t.Exchange, t.RoutingKey, publisher, t.Purpose)
	}
	b.WriteString("\nPayloads are described by JSON Schemas (draft 2020-12). Amounts are integers, ids are strings, times are ")
	b.WriteString("RFC 3339 in UTC.\nFields are added and never changed or removed; consumers ignore unknown fields.\n")
	for _, t := range registry {
		fmt.Fprintf(&b, "\n## %s\n\n```json\n%s\n```\n", t.Name, t.Schema())
	}
	return b.String()
}

// schema is the subset of JSON Schema (draft 2020-12) that payloads need. Additional properties are allowed, because
// newer producers may add fields.
type schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        any                `json:"type,omitempty"` // one name or several
	Format      string             `json:"format,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	AnyOf       []*schema          `json:"anyOf,omitempty"`
}

// wholeText is the pattern of an integer in a string, which is how ids are written.
const wholeText = "^-?[0-9]+$"

// Schema returns the JSON Schema of the type's payload, derived from the Go struct that is marshalled.
func (t Type) Schema() string {
	s := schemaOf(t.payload)
	s.Dialect, s.Title, s.Description = "https://json-schema.org/draft/2020-12/schema", t.Name, t.Purpose
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("event: the schema of %s does not marshal: %v", t.Name, err))
	}
	return string(text)
}

// schemaOf returns the schema of a field's type. It panics on a type that it does not support, so that a new payload
// cannot be published without a schema.
func schemaOf(t reflect.Type) *schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[LenientID]():
		return &schema{Type: []string{"string", "integer"}, Pattern: wholeText}
	case reflect.TypeFor[money.Currency]():
		return &schema{Type: "string", Pattern: "^[A-Z]{3}$"}
	}
	switch t.Kind() { //nolint:exhaustive // payloads consist of these; any other kind panics below
	case reflect.String:
		return &schema{Type: "string"}
	case reflect.Int64:
		return &schema{Type: "integer"}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Slice:
		return &schema{Type: "array", Items: schemaOf(t.Elem())}
	case reflect.Struct:
		return members(t)
	}
	panic(fmt.Sprintf("event: payloads do not support fields of type %s", t))
}

// members returns the schema of a struct with the property names that encoding/json writes.
func members(t reflect.Type) *schema {
	s := &schema{Type: "object", Properties: map[string]*schema{}}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		one := schemaOf(f.Type)
		if options == "string" {
			one = &schema{Type: "string", Pattern: wholeText}
		}
		// Tags refine what the type alone does not state.
		one.Description = f.Tag.Get("doc")
		if pattern := f.Tag.Get("pattern"); pattern != "" {
			one.Pattern = pattern
		}
		if words := f.Tag.Get("enum"); words != "" {
			one.Enum = strings.Split(words, ",")
		}
		s.Properties[name] = one
		if options != "omitempty" {
			s.Required = append(s.Required, name)
		}
	}
	// Tags of single fields cannot express the two forms of a StockRequest.
	if t == reflect.TypeFor[StockRequest]() {
		s.AnyOf = []*schema{{Required: []string{"items"}}, {Required: []string{"itemId", "quantity"}}}
	}
	return s
}
