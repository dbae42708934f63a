package visit

import (
	"context"
	"time"

	"comanda/internal/authz"
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
	ErrVisit  = fault.New(fault.NotFound, "visit_not_found", "Visit not found.")
	ErrTable  = fault.New(fault.NotFound, "table_not_found", "Table not found.")

	ErrTableTaken    = fault.New(fault.Conflict, "table_taken", "This table is taken.")
	ErrTableInactive = fault.New(fault.Conflict, "table_inactive", "This table is not open. Please ask for another one.")
	ErrLabelTaken    = fault.New(fault.Conflict, "table_label_taken", "There is already a table with this name in this branch.")
	ErrNoCode        = fault.New(fault.Conflict, "table_without_code", "This table has no code yet. Create one first.")
)

// CloseReason is the reason for closing a visit.
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
	Section  string    // section of the floor, such as Terrace; empty for none
	Place    *PlanCell // on the plan of its section; nil for none
	Shape    Shape
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
	Currency money.Currency // the branch's currency
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
	LastSeenAt time.Time   // a few seconds late while open, see Guests.FlushSeen
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
	ClosedAt  time.Time   // zero while the visit is open
	Reason    CloseReason // empty while the visit is open
}

// shortHashLength is in hexadecimal digits. 80 bits tell the phones of a visit apart, and each order and line of a shared
// cart stores them. Statements cut the hashes of earlier releases, which are whole, to the same length.
const shortHashLength = 20

// ShortHash returns the beginning of TokenHash. Orders and lines of shared carts store it to identify the phone within its
// visit.
func (g Guest) ShortHash() string { return g.TokenHash[:min(shortHashLength, len(g.TokenHash))] }

// Branches returns branches; catalog.MenuCache implements it.
type Branches interface {
	Branch(ctx context.Context, id int64) (catalog.Branch, error)
}

// Store stores tables, visits and guests; visitsql implements it. A change by an actor includes its audit log entry in
// the same transaction. Methods with an actor report a table or visit of a branch that the actor may not see as not
// found.
type Store interface {
	TableStore
	SeatingStore
	GuestStore
}

// TableStore stores tables and their QR tokens.
type TableStore interface {
	Tables(ctx context.Context, branch int64) ([]Table, error)
	// TableBranch returns the branch of a table, or 0 for an unknown table.
	TableBranch(ctx context.Context, table int64) (branch int64, err error)
	// AddTable creates a table with its QR token. It fails with ErrLabelTaken for a label in use.
	AddTable(ctx context.Context, by authz.Actor, t Table, now time.Time) (Table, error)
	// AddTables creates tables of one branch, all or none. It fails with ErrLabelTaken if a label is in use, or if
	// refused is not empty; the error names the labels in use and those in refused.
	AddTables(ctx context.Context, by authz.Actor, tables []Table, refused []string, now time.Time) ([]Table, error)
	// EditTable changes a table. It fails with ErrTableTaken for taking a table with an open visit out of use.
	EditTable(ctx context.Context, by authz.Actor, id int64, e TableEdit, now time.Time) (Table, error)
	// SavePlan sets the places and shapes of tables of a branch, all or none, see ApplyPlan. Concurrent calls for one
	// branch run one after the other, so that two tables never get the same cell.
	SavePlan(ctx context.Context, by authz.Actor, branch int64, edits []PlanEdit, now time.Time) error
	// RecordPrinted records in the audit log that the codes of tables were printed.
	RecordPrinted(ctx context.Context, by authz.Actor, branch int64, printed Printed, now time.Time) error
	// RotateQR revokes a table's QR token, adds a new one and closes the open visit, in one transaction.
	RotateQR(ctx context.Context, by authz.Actor, table int64, qr string, now time.Time) (
		t Table, closed []string, err error,
	)
}

// SeatingStore stores visits. Closing a visit also records that Redis may still hold keys of it, see StaleKeys.
type SeatingStore interface {
	Visits(ctx context.Context, f Filter) (page []Visit, total int, err error)
	// Seat opens a visit at a table. It fails with ErrTableTaken if the table has an open visit.
	Seat(ctx context.Context, by authz.Actor, r OpenRequest) (Visit, error)
	// Move moves a visit to another table of its branch. moved is false if it is at that table already.
	Move(ctx context.Context, by authz.Actor, id string, table int64, now time.Time) (v Visit, moved bool, err error)
	// Close closes a visit. For a closed visit it does nothing.
	Close(ctx context.Context, by authz.Actor, id string, why CloseReason, now time.Time) (Visit, error)
	// Call stores a call. added is false if the visit has that call already. It fails with ErrClosed for a closed visit.
	Call(ctx context.Context, id string, reason CallReason, now time.Time) (v Visit, added bool, err error)
	Answer(ctx context.Context, by authz.Actor, id string, reason CallReason) (Visit, error)
	// CloseIdle closes up to limit visits that were last seen longer ago than their branch's AutoClose plus slack and
	// have nothing unpaid. It returns their ids by branch.
	CloseIdle(ctx context.Context, now time.Time, slack time.Duration, limit int) (closed map[int64][]string, err error)
	// StaleKeys returns closed visits that Redis may still hold keys of.
	StaleKeys(ctx context.Context, limit int) ([]string, error)
	// ClearStaleKeys removes visits from StaleKeys if they were closed before an instant.
	ClearStaleKeys(ctx context.Context, visits []string, closedBefore time.Time) error
}

// GuestStore stores guests. Guests uses this part of the Store alone.
type GuestStore interface {
	// QRTarget returns the table of a QR token, or ErrQRUnknown.
	QRTarget(ctx context.Context, qr string) (QRTarget, error)
	Guest(ctx context.Context, tokenHash string) (g Guest, found bool, err error)
	// OpenOrJoin joins the table's open visit or opens one (V1), and adds the guest, in one transaction. It fails with
	// ErrQRRevoked or ErrTableInactive if the token was revoked or the table taken out of use meanwhile.
	OpenOrJoin(ctx context.Context, r OpenRequest) (visitID string, err error)
	// UpdateLastSeen stores when open visits were last seen.
	UpdateLastSeen(ctx context.Context, at map[string]time.Time) error
}
