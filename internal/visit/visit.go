package visit

import (
	"context"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/money"
)

// The faults of this room.
var (
	ErrQRUnknown = fault.New(fault.NotFound, "qr_unknown", "This code is not one of ours.")
	ErrQRRevoked = fault.New(fault.Gone, "qr_revoked", "This code is out of date; scan the one on the table.")
	ErrShownOut  = fault.New(fault.Forbidden, "visit_closed_by_staff",
		"The staff have closed your visit; ask them for a new table.")
	ErrToken  = fault.New(fault.Unauthenticated, "customer_token_invalid", "Scan the table's code first.")
	ErrClosed = fault.New(fault.Gone, "visit_closed", "This visit has ended; scan the table's code again.")
	ErrVisit  = fault.New(fault.NotFound, "visit_not_found", "There is no such visit.")
	ErrTable  = fault.New(fault.NotFound, "table_not_found", "There is no such table.")

	ErrTableTaken    = fault.New(fault.Conflict, "table_taken", "A party sits at this table.")
	ErrTableInactive = fault.New(fault.Conflict, "table_inactive", "This table is not in use; ask for another one.")
	ErrLabelTaken    = fault.New(fault.Conflict, "table_label_taken", "Another table of this branch is called so.")
	ErrNoCode        = fault.New(fault.Conflict, "table_without_code", "This table has no code yet; give it one first.")
)

// Reason says why a visit was closed.
type Reason string

// The reasons.
const (
	ByStaff Reason = "STAFF"
	Idle    Reason = "IDLE"
	Rotated Reason = "ROTATED" // its table got a new code, as one does after a code has leaked
)

// Table is a table of a branch with the code that is valid on it now.
type Table struct {
	ID       int64
	BranchID int64
	Label    string
	Seats    int
	Active   bool   // false: its code lets nobody in
	QR       string // empty only for a table that never had one
	Party    *Party // who sits there now; nil for nobody
}

// Party is what the floor shows of an open visit.
type Party struct {
	VisitID  string
	OpenedAt time.Time
	Guests   int
	Orders   int            // that were not cancelled
	Unpaid   int64          // what they still cost, in minor units
	Currency money.Currency // of the branch
	Calls    Calls
}

// Visit is one party at one table.
type Visit struct {
	ID         string
	BranchID   int64
	TableID    int64
	TableLabel string
	BizDate    string // of its opening
	Open       bool
	OpenedAt   time.Time
	LastSeenAt time.Time // a few seconds behind while open
	ClosedAt   time.Time // zero while open
	Reason     Reason    // empty while open
	Guests     int
	Calls      Calls
}

// Guest is one phone at a visit.
type Guest struct {
	TokenHash string
	VisitID   string
	BranchID  int64
	TableID   int64
	VisitOpen bool
	ClosedAt  time.Time // zero while open
	Reason    Reason    // empty while open
}

// Branches gives branches from memory, as catalog.Menus does.
type Branches interface {
	Branch(ctx context.Context, id int64) (catalog.Branch, error)
}
