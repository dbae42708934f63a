package event

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"comanda/internal/money"
	"comanda/internal/uid"
)

// Event is the stored and transmitted envelope of one committed change. It is a value: a row of the outbox, a message
// and a dead letter hold the same fields.
type Event struct {
	ID          string          // uid; consumers deduplicate by it
	Type        string          // registered name
	Aggregate   string          // kind of entity that changed
	AggregateID string          // id of that entity
	Seq         int64           // version of the entity after the change, ascending per aggregate
	BranchID    int64           // branch of the entity, 0 if none
	At          time.Time       // time of the change, UTC in whole milliseconds
	Payload     json.RawMessage // JSON object that conforms to Type.Schema
}

// Kind ties a registered type to the Go type of its payload, so that an event of that type can neither be built nor
// decoded with any other payload. Stored events have no P: Decode checks the type by its name.
type Kind[P any] struct{ Type }

// New returns an event of this kind with a new ID. It panics if the payload does not marshal; payloads are flat structs
// of this package, so that is a programming error. The caller stores the event in the transaction of the change
// (outbox.Queue); seq must be the version that this transaction writes.
func (k Kind[P]) New(at time.Time, aggregateID string, seq, branchID int64, payload P) Event {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("event: the payload of %s does not marshal: %v", k.Name, err))
	}
	return Event{
		ID:          uid.New(at),
		Type:        k.Name,
		Aggregate:   k.Aggregate,
		AggregateID: aggregateID,
		Seq:         seq,
		BranchID:    branchID,
		At:          at.UTC().Truncate(time.Millisecond),
		Payload:     raw,
	}
}

// Decode returns the payload of e, which must be of this kind. It ignores unknown fields, because a newer producer may
// add them.
func (k Kind[P]) Decode(e Event) (P, error) {
	var p P
	if e.Type != k.Name {
		return p, fmt.Errorf("event: %s %s is not a %s", e.Type, e.ID, k.Name)
	}
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return p, fmt.Errorf("event: payload of %s %s: %w", e.Type, e.ID, err)
	}
	return p, nil
}

// Payloads of order events carry what qr-ordering.md specifies in section 3 (orderId, branchId, bizDate, reason)
// and what a consumer would otherwise have to query.

// Placed is the payload of order.placed.
type Placed struct {
	OrderID     string         `json:"orderId"`
	BranchID    int64          `json:"branchId,string"`
	BizDate     string         `json:"bizDate" doc:"Business date of the branch, 2006-01-02."`
	TotalAmount int64          `json:"totalAmount" doc:"In the currency's smallest unit."`
	Currency    money.Currency `json:"currency"`
	PayBy       time.Time      `json:"payBy"`
}

// Paid is the payload of order.paid.
type Paid struct {
	OrderID     string         `json:"orderId"`
	BranchID    int64          `json:"branchId,string"`
	BizDate     string         `json:"bizDate" doc:"Business date of the branch, 2006-01-02."`
	TotalAmount int64          `json:"totalAmount" doc:"In the currency's smallest unit."`
	Currency    money.Currency `json:"currency"`
	Revived     bool           `json:"revived,omitempty" doc:"The order had been canceled; a late payment restored it."`
}

// Canceled is the payload of order.canceled.
type Canceled struct {
	OrderID     string         `json:"orderId"`
	BranchID    int64          `json:"branchId,string"`
	BizDate     string         `json:"bizDate" doc:"Business date of the branch, 2006-01-02."`
	TotalAmount int64          `json:"totalAmount" doc:"In the currency's smallest unit."`
	Currency    money.Currency `json:"currency"`
	Reason      string         `json:"reason" enum:"USER_CANCELED,EXPIRED,STAFF_CANCELED"`
}

// RefundDue is the payload of order.refund_due. The payload of order.refunded is the same, so that a consumer matches
// the two by RefundID.
type RefundDue struct {
	OrderID  string         `json:"orderId"`
	BranchID int64          `json:"branchId,string"`
	BizDate  string         `json:"bizDate" doc:"Business date of the branch, 2006-01-02."`
	RefundID string         `json:"refundId"`
	Amount   int64          `json:"amount" doc:"In the currency's smallest unit."`
	Currency money.Currency `json:"currency"`
	Reason   string         `json:"reason"`
}

// Progressed is the payload of order.progressed. A recall is a step back: To is then before From.
type Progressed struct {
	OrderID  string `json:"orderId"`
	BranchID int64  `json:"branchId,string"`
	BizDate  string `json:"bizDate" doc:"Business date of the branch, 2006-01-02."`
	From     string `json:"from" enum:"PLACED,ACCEPTED,PREPARING,READY,SERVED,COMPLETED,VOIDED"`
	To       string `json:"to" enum:"PLACED,ACCEPTED,PREPARING,READY,SERVED,COMPLETED,VOIDED" doc:"VOIDED: the kitchen acknowledged the refund; the order's status does not change."`
}

// Mismatched is the payload of order.amount_mismatch.
type Mismatched struct {
	OrderID   string         `json:"orderId"`
	BranchID  int64          `json:"branchId,string"`
	BizDate   string         `json:"bizDate" doc:"Business date of the branch, 2006-01-02."`
	AttemptID string         `json:"attemptId"`
	Requested int64          `json:"requested" doc:"In the currency's smallest unit."`
	Reported  int64          `json:"reported" doc:"In the smallest unit of the reported currency."`
	Currency  money.Currency `json:"currency" doc:"As reported."`
}

// Called is the payload of visit.called. The event has no sequence number, because visits have no version.
type Called struct {
	VisitID  string `json:"visitId"`
	BranchID int64  `json:"branchId,string"`
	TableID  int64  `json:"tableId,string"`
	Table    string `json:"table" doc:"Label of the table."`
	Reason   string `json:"reason" enum:"BILL,HELP,WATER"`
}

// Payloads of inventory events. The reference documents specify orderId, itemId and quantity (inventory-tcc.md); a
// reservation has any number of items.

// ItemQuantity is a quantity of one stock item.
type ItemQuantity struct {
	ItemID   string `json:"itemId"`
	Quantity int64  `json:"quantity"`
}

// Reserved is the payload of inventory.reserved.
type Reserved struct {
	OrderID   string         `json:"orderId"`
	BranchID  int64          `json:"branchId,string"`
	Items     []ItemQuantity `json:"items"`
	ExpiresAt time.Time      `json:"expiresAt"`
}

// Sold is the payload of inventory.sold.
type Sold struct {
	OrderID  string         `json:"orderId"`
	BranchID int64          `json:"branchId,string"`
	Items    []ItemQuantity `json:"items"`
}

// Released is the payload of inventory.released and inventory.returned. If the reservation was cancelled before its
// order.created arrived, BranchID is 0 and Items is empty.
type Released struct {
	OrderID  string         `json:"orderId"`
	BranchID int64          `json:"branchId,string"`
	Items    []ItemQuantity `json:"items"`
	Reason   string         `json:"reason" enum:"CANCELED,EXPIRED,RETURNED"`
}

// Shortage is a stock item of which a refused reservation requested more than is available.
type Shortage struct {
	ItemID    string `json:"itemId"`
	Requested int64  `json:"requested"`
	Available int64  `json:"available"`
}

// Refused is the payload of inventory.refused. BranchID is 0 if the message named no branch.
type Refused struct {
	OrderID  string     `json:"orderId"`
	BranchID int64      `json:"branchId,string"`
	Demand   string     `json:"demand" doc:"Type of the refused message." enum:"order.created,order.confirmed,order.cancel.requested"`
	Items    []Shortage `json:"items" doc:"The items that are short, if that is the reason."`
	Reason   string     `json:"reason" doc:"The problem code of the HTTP API, such as insufficient_stock."`
}

// Low is the payload of inventory.low.
type Low struct {
	ItemID    string `json:"itemId"`
	BranchID  int64  `json:"branchId,string"`
	Available int64  `json:"available"`
	Threshold int64  `json:"threshold"`
}

// StockRequest is the payload of order.created: another system requests stock for its order.
type StockRequest struct {
	OrderID    string         `json:"orderId" doc:"Id of the reservation, chosen by the sender." pattern:"^[A-Za-z0-9._-]{1,64}$"`
	BranchID   LenientID      `json:"branchId,omitempty" doc:"Optional if only one branch stocks the items."`
	Items      []ItemQuantity `json:"items,omitempty" doc:"1 to 50 items, each of 1 to 1000000 units."`
	ItemID     string         `json:"itemId,omitempty" doc:"A single item, instead of items."`
	Quantity   int64          `json:"quantity,omitempty" doc:"Quantity of itemId."`
	TTLSeconds int64          `json:"ttlSeconds,omitempty" doc:"Duration of the reservation, 1 to 86400; default 300."`
}

// Amounts returns the requested items of either form of the payload.
func (w StockRequest) Amounts() []ItemQuantity {
	if len(w.Items) == 0 && w.ItemID != "" {
		return []ItemQuantity{{w.ItemID, w.Quantity}}
	}
	return w.Items
}

// ReservationRef is the payload of order.confirmed and order.cancel.requested.
type ReservationRef struct {
	OrderID string `json:"orderId" doc:"Id of the reservation." pattern:"^[A-Za-z0-9._-]{1,64}$"`
}

// LenientID is an id in messages of other systems. It is written as a string, like every id, and read from a string or
// a number.
type LenientID int64

// MarshalJSON writes the id as a string.
func (n LenientID) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(n), 10)), nil
}

// UnmarshalJSON reads an integer from a string or a number. A fraction or a number beyond 64 bits is an error.
func (n *LenientID) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*n = LenientID(v)
	return err
}
