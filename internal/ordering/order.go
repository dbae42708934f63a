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
	Placed    Status = "PLACED"
	Accepted  Status = "ACCEPTED"
	Preparing Status = "PREPARING"
	Ready     Status = "READY"
	Served    Status = "SERVED"    // with DINE_IN
	Completed Status = "COMPLETED" // otherwise
	Canceled  Status = "CANCELED"
)

// Kind is how an order gets to whoever ordered it.
type Kind string

// The kinds.
const (
	DineIn   Kind = "DINE_IN"  // brought to a table
	Delivery Kind = "DELIVERY" // brought to an address
	PickUp   Kind = "PICKUP"   // fetched
)

// Receiver is to whom an order goes that is not eaten at a table.
type Receiver struct {
	Name    string `json:"n"`
	Phone   string `json:"p"`
	Address string `json:"a"` // empty with PICKUP
	Email   string `json:"e"`
	Note    string `json:"o,omitempty"` // for the courier; left out of digests when empty, as by releases before it
}

// PaymentStatus is where an order's money is.
type PaymentStatus string

// The payment statuses.
const (
	Unpaid          PaymentStatus = "UNPAID"
	Confirming      PaymentStatus = "CONFIRMING" // a gateway is taking the money at this moment
	Paid            PaymentStatus = "PAID"
	PaymentCanceled PaymentStatus = "CANCELED"
	RefundDue       PaymentStatus = "REFUND_DUE"
	Refunded        PaymentStatus = "REFUNDED"
)

// payable tells whether money that arrives now makes the order a paid one.
func (s PaymentStatus) payable() bool { return s == Unpaid || s == Confirming }

// refusal tells why nobody may begin to pay an order now; nil for one that waits for it.
func (s PaymentStatus) refusal() error {
	switch s {
	case Unpaid:
		return nil
	case Paid:
		return ErrAlreadyPaid
	case Confirming:
		return ErrConfirming
	default:
		return ErrNotPayable
	}
}

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
	Kind          Kind
	VisitID       string // with DINE_IN
	GuestHash     string // whose phone placed it, with DINE_IN
	UserID        int64  // the member who ordered it otherwise
	Receiver      Receiver
	MenuVersionID int64
	HoldID        string // what is held for it now
	ClientTxnID   string
	Number        int64 // short number within the scope, see ShortNumber
	Status        Status
	PaymentStatus PaymentStatus
	Method        payment.Method // what the guest chose last
	PaymentRef    string         // by which a gateway knows the newest attempt: its id; empty without one
	CancelReason  CancelReason   // empty unless canceled
	Total         int64
	Refunded      int64 // of Total, given back or about to be
	Currency      money.Currency
	PayBy         time.Time // what the guest sees
	ExpiresAt     time.Time // PayBy and some grace; nothing expires before (I10)
	Prolonged     int       // how often PayBy has moved, see MoreTime
	PaidAt        time.Time // zero until paid
	CanceledAt    time.Time // when it ended unpaid; it stays where late money has brought the order back
	SteppedAt     time.Time // the last step in the kitchen; zero until the first
	VoidSeen      bool      // the kitchen knows that the money went back
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
	Names  string // in the branch's languages, see NamesOf; empty with orders of before there were such names
	Price  int64
	Qty    int64
	Notes  string
	DoneAt time.Time // when the kitchen ticked it off; zero: not yet
}

// Key is what makes the request for the order the same when it comes again.
func (o *Order) Key() TxnKey {
	if o.UserID != 0 {
		return TxnKey{User: o.UserID, ClientTxnID: o.ClientTxnID}
	}
	return TxnKey{Branch: o.Scope.Branch, ClientTxnID: o.ClientTxnID}
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

// paid turns the order into a paid one, also out of an expired state when its units could be taken again. That it had
// expired stays in its timeline.
func (o *Order) paid(now time.Time) {
	o.Status, o.PaymentStatus, o.PaidAt, o.CancelReason = Placed, Paid, now, ""
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

// confirmFor is how much longer an order that a gateway is about to take money for stays than it otherwise would, and
// confirmMost how long in all: forty seconds for the answer, and some minutes to find out when none comes.
const (
	confirmFor  = 5 * time.Minute
	confirmMost = 30 * time.Minute
)

// confirming keeps the order from expiring under a gateway's hands. It tells whether its deadline moved.
func (o *Order) confirming(now time.Time) (extended bool) {
	until := now.Add(confirmFor)
	if most := o.PayBy.Add(confirmMost); until.After(most) {
		until = most
	}
	if extended = until.After(o.ExpiresAt); extended {
		o.ExpiresAt = until
	}
	o.PaymentStatus = Confirming
	o.touch(now)
	return extended
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
