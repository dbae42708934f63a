package ordering

import (
	"encoding/json"
	"strconv"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

// Status is the progress of an order in the kitchen. The values are stored, published and part of the API.
type Status string

// Statuses of an order.
const (
	Placed    Status = "PLACED"
	Accepted  Status = "ACCEPTED"
	Preparing Status = "PREPARING"
	Ready     Status = "READY"
	Served    Status = "SERVED"    // with DINE_IN
	Completed Status = "COMPLETED" // with DELIVERY and PICKUP
	Canceled  Status = "CANCELED"
)

// Kind is the way an order reaches its guest.
type Kind = catalog.OrderKind

// Kinds of orders.
const (
	DineIn   = catalog.DineIn
	Delivery = catalog.Delivery
	PickUp   = catalog.PickUp
)

// Receiver is the person who receives an order that is not eaten at a table.
type Receiver struct {
	Name    string `json:"n"`
	Phone   string `json:"p"`
	Address string `json:"a"` // empty with PICKUP
	Email   string `json:"e"`
	Note    string `json:"o,omitempty"` // for the courier; absent from digests when empty, as in older releases
}

// PaymentStatus is the state of an order's payment.
type PaymentStatus string

// Payment statuses of an order.
const (
	Unpaid          PaymentStatus = "UNPAID"
	Confirming      PaymentStatus = "CONFIRMING" // a gateway may be capturing now
	Paid            PaymentStatus = "PAID"
	PaymentCanceled PaymentStatus = "CANCELED"
	RefundDue       PaymentStatus = "REFUND_DUE"
	Refunded        PaymentStatus = "REFUNDED"
)

// payable reports whether a capture now makes the order PAID.
func (s PaymentStatus) payable() bool { return s == Unpaid || s == Confirming }

// refusal returns the error for a new payment attempt, or nil if the order is unpaid.
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

// CancelReason is the reason why an unpaid order ended.
type CancelReason string

// Reasons for cancellation.
const (
	UserCanceled  CancelReason = "USER_CANCELED"
	StaffCanceled CancelReason = "STAFF_CANCELED"
	Expired       CancelReason = "EXPIRED"
)

// Order is an order with the names and prices at the time of ordering. Amounts are in minor units of Currency.
type Order struct {
	ID            string
	Scope         stock.Scope // branch and business date, fixed when the order was placed (I14)
	Kind          Kind
	VisitID       string // empty unless DINE_IN
	GuestHash     string // of the phone that placed it, see visit.Guest.ShortHash; empty unless DINE_IN
	UserID        int64  // the member; 0 with DINE_IN
	Receiver      Receiver
	MenuVersionID int64
	HoldID        string // id of the current hold
	ClientTxnID   string
	Digest        string // digest of the request that placed it, see content
	Number        int64  // short number within the scope, see ShortNumber
	Status        Status
	PaymentStatus PaymentStatus
	Method        payment.Method // that of the newest attempt; once the order is paid, of the one that paid it
	PaymentRef    string         // id of the newest attempt at a remote gateway, used as its merchant reference; or empty
	CancelReason  CancelReason   // empty unless canceled
	Total         int64
	Refunded      int64  // part of Total that is refunded or being refunded
	Quote         string // how Total was computed, see Record; empty if it is the sum of the lines
	Discount      int64  // part of the record, as are Service and Tax
	Service       int64
	Tax           int64 // contained in Total
	Voucher       int64 // id of the voucher, a part of the hold; 0: none
	Currency      money.Currency
	PayBy         time.Time // deadline shown to the guest
	ExpiresAt     time.Time // PayBy plus a grace period; nothing expires before it (I10)
	Extensions    int       // number of extensions of PayBy, see ExtendDeadline
	PaidAt        time.Time // zero until paid
	CanceledAt    time.Time // zero until cancelled; kept if late money revives the order
	SteppedAt     time.Time // last kitchen step; zero before the first
	VoidSeen      bool      // the kitchen has acknowledged the refund
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Version       int64
	Items         []Item
}

// Item is one line of an order.
type Item struct {
	ItemID int64
	DishID int64
	Name   string // in the first locale of the branch that has one, for the kitchen
	Names  string // in all locales of the branch, see catalog.Texts.Encode; empty in orders of earlier releases
	NameID int64  // id of the stored Name and Names; 0 until the ledger has stored them
	Price  int64
	Qty    int64
	Notes  string
	DoneAt time.Time // when the kitchen marked it done; zero: not yet

	Options string // as text, see OptionLines; empty: none
}

// Hold returns a hold with the given id for the order's lines. It lasts until ExpiresAt and not PayBy: the units stay
// held during the grace period. Lines of one item are merged, and those of dishes that are part of a combo are added.
func (o *Order) Hold(id string) (stock.Hold, error) {
	return o.holdWith(id, o.lineOptions())
}

// holdWith is Hold with the options of the lines.
func (o *Order) holdWith(id string, options lineOptions) (stock.Hold, error) {
	merged, err := o.parts(options)
	return stock.Hold{ID: id, Scope: o.Scope, Lines: merged, Until: o.ExpiresAt}, err
}

// setPaid marks the order as paid. An expired order whose units were reserved again becomes PLACED; CanceledAt keeps the
// time of expiry for its timeline.
func (o *Order) setPaid(now time.Time) {
	o.Status, o.PaymentStatus, o.PaidAt, o.CancelReason = Placed, Paid, now, ""
	o.touch(now)
}

// setCanceled ends the order. The caller has released its hold in the same batch (I4).
func (o *Order) setCanceled(reason CancelReason, now time.Time) {
	o.Status, o.PaymentStatus, o.CancelReason, o.CanceledAt = Canceled, PaymentCanceled, reason, now
	o.touch(now)
}

// setRefundDue records that captured money must be refunded. Status does not change: the order had ended already.
func (o *Order) setRefundDue(now time.Time) {
	o.PaymentStatus = RefundDue
	o.touch(now)
}

// Extensions of the deadline while a gateway captures: captureExtension from each capture, at most
// maxCaptureExtension after PayBy (decision 20). A gateway responds within 40 s; the rest is time to find out the
// outcome if it does not.
const (
	captureExtension    = 5 * time.Minute
	maxCaptureExtension = 30 * time.Minute
)

// setConfirming marks the order as CONFIRMING and extends its deadline, so that it does not expire during the capture.
// It reports whether the deadline moved.
func (o *Order) setConfirming(now time.Time) (extended bool) {
	until := now.Add(captureExtension)
	if most := o.PayBy.Add(maxCaptureExtension); until.After(most) {
		until = most
	}
	if extended = until.After(o.ExpiresAt); extended {
		o.ExpiresAt = until
	}
	o.PaymentStatus = Confirming
	o.touch(now)
	return extended
}

// touch raises the version. Streams and documents detect changes by it, and order_update writes only higher versions,
// so every change of an order must call touch at least once.
func (o *Order) touch(now time.Time) {
	o.UpdatedAt = now
	o.Version++
}

// numbersPerLetter limits the digits of a short number to three, which fit on a pager and are easy to call out. The
// statements of listing.sql repeat it.
const numbersPerLetter = 999

// ShortNumber returns the short number of the n-th order of a scope, counted from 1, then B-001, and
// AA-001 after Z-999.
func ShortNumber(n int64) string {
	series := (n - 1) / numbersPerLetter
	letters := ""
	// Bijective base 26: no letter stands for zero, so AA follows Z.
	for s := series; s >= 0; s = s/26 - 1 {
		letters = string(rune('A'+s%26)) + letters
	}
	// Counting up from 1000 keeps leading zeros. fmt.Sprintf takes five times as long, and every order pays for it twice.
	return letters + "-" + strconv.FormatInt(1000+(n-1)%numbersPerLetter+1, 10)[1:]
}

// NameIn returns the dish's name at the time of the order, in the locale that choose selects from the available ones.
// If there is no such name, it returns Name.
func (it Item) NameIn(choose func(have []catalog.Locale) catalog.Locale) string {
	var names catalog.Texts
	if it.Names == "" || json.Unmarshal([]byte(it.Names), &names) != nil {
		return it.Name
	}
	if s := names[choose(names.Locales())]; s != "" {
		return s
	}
	return it.Name
}
