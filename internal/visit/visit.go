package visit

import (
	"context"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/money"
)

// The faults of this package.
var (
	ErrQRUnknown     = fault.New(fault.NotFound, "qr_unknown", "This code is not valid here.")
	ErrQRRevoked     = fault.New(fault.Gone, "qr_revoked", "This QR code has been replaced. Please scan the one on the table.")
	ErrClosedByStaff = fault.New(fault.Forbidden, "visit_closed_by_staff",
		"The staff closed your visit. Please ask them for a table.")
	ErrToken  = fault.New(fault.Unauthenticated, "customer_token_invalid", "Please scan the code on the table first.")
	ErrClosed = fault.New(fault.Gone, "visit_closed", "This visit has ended. Please scan the code on the table again.")
	ErrVisit  = fault.New(fault.NotFound, "visit_not_found", "There is no such visit.")
	ErrTable  = fault.New(fault.NotFound, "table_not_found", "There is no such table.")

	ErrTableTaken    = fault.New(fault.Conflict, "table_taken", "This table is taken.")
	ErrTableInactive = fault.New(fault.Conflict, "table_inactive", "This table is not in use. Please ask for another one.")
	ErrLabelTaken    = fault.New(fault.Conflict, "table_label_taken", "There is already a table with this name in this branch.")
	ErrNoCode        = fault.New(fault.Conflict, "table_without_code", "This table has no code yet. Create one first.")
)

// CloseReason is why a visit was closed.
type CloseReason string

// The reasons for closing a visit.
const (
	ClosedByStaff   CloseReason = "STAFF"
	ClosedIdle      CloseReason = "IDLE"
	ClosedQRRotated CloseReason = "ROTATED" // the table got a new QR token, for example after the old one leaked
)

// Table is a table of a branch with its active QR token.
type Table struct {
	ID       int64
	BranchID int64
	Label    string
	Seats    int
	Section  string // of the floor, such as Terrace; empty for none
	Active   bool   // false: its code is refused
	QR       string // empty only if the table never had one
	Party    *Party // the open visit; nil for none
}

// Party is the summary of an open visit on the floor plan.
type Party struct {
	VisitID  string
	OpenedAt time.Time
	Guests   int
	Orders   int            // not cancelled
	Unpaid   int64          // amount to pay, in minor units
	Currency money.Currency // of the branch
	Calls    Calls
}

// Visit is one party at one table.
type Visit struct {
	ID         string
	BranchID   int64
	TableID    int64
	TableLabel string
	BizDate    string // when it was opened
	Open       bool
	OpenedAt   time.Time
	LastSeenAt time.Time   // some seconds late while open, see Guests.FlushSeen
	ClosedAt   time.Time   // zero while open
	Reason     CloseReason // empty while open
	Guests     int
	Calls      Calls
}

// Guest is one phone of a visit.
type Guest struct {
	TokenHash string
	VisitID   string
	BranchID  int64
	TableID   int64
	VisitOpen bool
	ClosedAt  time.Time   // zero while open
	Reason    CloseReason // empty while open
}

// Branches returns branches; catalog.MenuCache implements it.
type Branches interface {
	Branch(ctx context.Context, id int64) (catalog.Branch, error)
}
