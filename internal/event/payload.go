package event

import (
	"strconv"
	"strings"
	"time"

	"comanda/internal/money"
)

// The payloads of order events carry what the reference names (orderId, branchId, bizDate, reason; qr-ordering.md
// section 3) and what a consumer would otherwise have to ask back for.

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
	Revived     bool           `json:"revived,omitempty" doc:"It had been canceled; late money has brought it back."`
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

// RefundDue is the payload of order.refund_due.
type RefundDue struct {
	OrderID  string         `json:"orderId"`
	BranchID int64          `json:"branchId,string"`
	BizDate  string         `json:"bizDate" doc:"Business date of the branch, 2006-01-02."`
	RefundID string         `json:"refundId"`
	Amount   int64          `json:"amount" doc:"In the currency's smallest unit."`
	Currency money.Currency `json:"currency"`
	Reason   string         `json:"reason"`
}

// Progressed is the payload of order.progressed.
type Progressed struct {
	OrderID  string `json:"orderId"`
	BranchID int64  `json:"branchId,string"`
	BizDate  string `json:"bizDate" doc:"Business date of the branch, 2006-01-02."`
	From     string `json:"from" enum:"PLACED,ACCEPTED,PREPARING,READY,SERVED,COMPLETED,VOIDED"`
	To       string `json:"to" enum:"PLACED,ACCEPTED,PREPARING,READY,SERVED,COMPLETED,VOIDED" doc:"VOIDED: the kitchen has seen that the money went back; the order's status stays."`
}

// The payloads of the inventory. The reference names orderId, itemId and quantity (inventory-tcc.md); a reservation has
// any number of items.

// Amount is a quantity of one stock item.
type Amount struct {
	ItemID   string `json:"itemId"`
	Quantity int64  `json:"quantity"`
}

// Reserved is the payload of inventory.reserved.
type Reserved struct {
	OrderID   string    `json:"orderId"`
	BranchID  int64     `json:"branchId,string"`
	Items     []Amount  `json:"items"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Sold is the payload of inventory.sold.
type Sold struct {
	OrderID  string   `json:"orderId"`
	BranchID int64    `json:"branchId,string"`
	Items    []Amount `json:"items"`
}

// Released is the payload of inventory.released and inventory.returned. Of a reservation that was cancelled before it came
// the branch is 0 and there are no items.
type Released struct {
	OrderID  string   `json:"orderId"`
	BranchID int64    `json:"branchId,string"`
	Items    []Amount `json:"items"`
	Reason   string   `json:"reason" enum:"CANCELED,EXPIRED,RETURNED"`
}

// Short is a stock item of which a refused reservation wanted too many.
type Short struct {
	ItemID    string `json:"itemId"`
	Requested int64  `json:"requested"`
	Available int64  `json:"available"`
}

// Refused is the payload of inventory.refused. The branch is 0 where the message named none.
type Refused struct {
	OrderID  string  `json:"orderId"`
	BranchID int64   `json:"branchId,string"`
	Demand   string  `json:"demand" doc:"Type of the message that is refused." enum:"order.created,order.confirmed,order.cancel.requested"`
	Items    []Short `json:"items" doc:"Of what there is not enough, where that is the reason."`
	Reason   string  `json:"reason" doc:"The code with which HTTP would answer, such as insufficient_stock."`
}

// Low is the payload of inventory.low.
type Low struct {
	ItemID    string `json:"itemId"`
	BranchID  int64  `json:"branchId,string"`
	Available int64  `json:"available"`
	Threshold int64  `json:"threshold"`
}

// Wanted is the payload of order.created: another system wants stock.
type Wanted struct {
	OrderID    string   `json:"orderId" doc:"Id of the reservation, chosen by who asks." pattern:"^[A-Za-z0-9._-]{1,64}$"`
	BranchID   Number   `json:"branchId,omitempty" doc:"May be left out where one branch alone has the items."`
	Items      []Amount `json:"items,omitempty" doc:"1 to 50 items, each of 1 to 1000000 units."`
	ItemID     string   `json:"itemId,omitempty" doc:"One item alone, where there are no items."`
	Quantity   int64    `json:"quantity,omitempty" doc:"Of itemId."`
	TTLSeconds int64    `json:"ttlSeconds,omitempty" doc:"For how long it is reserved, 1 to 86400; by default 300."`
}

// Amounts are the items that are wanted, in either of the two forms.
func (w Wanted) Amounts() []Amount {
	if len(w.Items) == 0 && w.ItemID != "" {
		return []Amount{{w.ItemID, w.Quantity}}
	}
	return w.Items
}

// Decided is the payload of order.confirmed and order.cancel.requested.
type Decided struct {
	OrderID string `json:"orderId" doc:"Id of the reservation." pattern:"^[A-Za-z0-9._-]{1,64}$"`
}

// Number is an id of ours in what other systems send: we write it as a string, as everywhere, and read a number too.
type Number int64

// MarshalJSON writes the id as a string.
func (n Number) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(n), 10)), nil
}

// UnmarshalJSON reads a string or a number; both must be whole.
func (n *Number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*n = Number(v)
	return err
}
