package ordering

import (
	"fmt"
	"time"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

// Status is where an order is between the guest and the kitchen.
type Status string

// The statuses that this room moves between.
const (
	Placed   Status = "PLACED"
	Canceled Status = "CANCELED"
)

// PaymentStatus is where an order's money is.
type PaymentStatus string

// The payment statuses.
const (
	Unpaid          PaymentStatus = "UNPAID"
	Paid            PaymentStatus = "PAID"
	PaymentCanceled PaymentStatus = "CANCELED"
	RefundDue       PaymentStatus = "REFUND_DUE"
)

// CancelReason says who ended an unpaid order.
type CancelReason string

// The reasons.
const (
	UserCanceled  CancelReason = "USER_CANCELED"
	StaffCanceled CancelReason = "STAFF_CANCELED"
	Expired       CancelReason = "EXPIRED"
)

// Order is what a party at a table asked for, with names and prices as they were.
type Order struct {
	ID            string
	Scope         stock.Scope // branch and business date, fixed when the order was placed (I14)
	VisitID       string
	GuestHash     string // whose phone placed it
	MenuVersionID int64
	HoldID        string // what is held for it now
	ClientTxnID   string
	Number        int64 // short number within the scope, see ShortNumber
	Status        Status
	PaymentStatus PaymentStatus
	Method        payment.Method // what the guest chose last
	CancelReason  CancelReason   // empty unless canceled
	Total         int64
	Currency      money.Currency
	PayBy         time.Time // what the guest sees
	ExpiresAt     time.Time // PayBy and some grace; nothing expires before (I10)
	PaidAt        time.Time // zero until paid
	CanceledAt    time.Time
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Version       int64
	Items         []Item
}

// Item is one line of an order.
type Item struct {
	ItemID int64
	DishID int64
	Name   string // in the branch's own language, for the kitchen
	Price  int64
	Qty    int64
	Notes  string
}

// Hold is what the order takes from its scope's counters, under an id.
func (o *Order) Hold(id string) (stock.Hold, error) {
	lines := make([]stock.Line, len(o.Items))
	for i, it := range o.Items {
		lines[i] = stock.Line{Item: it.ItemID, Qty: it.Qty}
	}
	merged, err := stock.MergeLines(lines)
	return stock.Hold{ID: id, Scope: o.Scope, Lines: merged, Until: o.ExpiresAt}, err
}

// paid turns the order into a paid one, also out of a canceled state when its units could be taken again.
func (o *Order) paid(now time.Time) {
	o.Status, o.PaymentStatus, o.PaidAt = Placed, Paid, now
	o.CancelReason, o.CanceledAt = "", time.Time{}
	o.touch(now)
}

func (o *Order) canceled(reason CancelReason, now time.Time) {
	o.Status, o.PaymentStatus, o.CancelReason, o.CanceledAt = Canceled, PaymentCanceled, reason, now
	o.touch(now)
}

func (o *Order) refundDue(now time.Time) {
	o.PaymentStatus = RefundDue
	o.touch(now)
}

func (o *Order) touch(now time.Time) {
	o.UpdatedAt = now
	o.Version++
}

// numbersPerLetter keeps a short number at three digits, which is what fits on a pager and in a cook's ear.
const numbersPerLetter = 999

// ShortNumber writes the n-th order of a scope as people call it, then B-001, after Z-999 AA-001.
func ShortNumber(n int64) string {
	series := (n - 1) / numbersPerLetter
	letters := ""
	for s := series; s >= 0; s = s/26 - 1 {
		letters = string(rune('A'+s%26)) + letters
	}
	return fmt.Sprintf("%s-%03d", letters, (n-1)%numbersPerLetter+1)
}
