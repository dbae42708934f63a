package event

import (
	"time"

	"comanda/internal/money"
)

// The payloads of order events carry what the reference names (orderId, branchId, bizDate, reason; qr-ordering.md
// section 3) and what a consumer would otherwise have to ask back for.

// Placed is the payload of order.placed.
type Placed struct {
	OrderID     string         `json:"orderId"`
	BranchID    int64          `json:"branchId,string"`
	BizDate     string         `json:"bizDate"`
	TotalAmount int64          `json:"totalAmount"`
	Currency    money.Currency `json:"currency"`
	PayBy       time.Time      `json:"payBy"`
}

// Paid is the payload of order.paid.
type Paid struct {
	OrderID     string         `json:"orderId"`
	BranchID    int64          `json:"branchId,string"`
	BizDate     string         `json:"bizDate"`
	TotalAmount int64          `json:"totalAmount"`
	Currency    money.Currency `json:"currency"`
}

// Canceled is the payload of order.canceled.
type Canceled struct {
	OrderID     string         `json:"orderId"`
	BranchID    int64          `json:"branchId,string"`
	BizDate     string         `json:"bizDate"`
	TotalAmount int64          `json:"totalAmount"`
	Currency    money.Currency `json:"currency"`
	Reason      string         `json:"reason"` // USER_CANCELED, EXPIRED, STAFF_CANCELED
}

// RefundDue is the payload of order.refund_due.
type RefundDue struct {
	OrderID  string         `json:"orderId"`
	BranchID int64          `json:"branchId,string"`
	BizDate  string         `json:"bizDate"`
	RefundID string         `json:"refundId"`
	Amount   int64          `json:"amount"`
	Currency money.Currency `json:"currency"`
	Reason   string         `json:"reason"`
}
