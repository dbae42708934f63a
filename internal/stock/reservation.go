package stock

import (
	"strings"
	"time"

	"comanda/internal/fault"
)

// Status is where a reservation is, as its owner is told.
type Status string

// The statuses. REFUSED, EXPIRED and CANCELLED are ends, as RETURNED is.
const (
	StatusReserved  Status = "RESERVED"
	StatusConfirmed Status = "CONFIRMED"
	StatusCancelled Status = "CANCELLED"
	StatusExpired   Status = "EXPIRED"
	StatusRefused   Status = "REFUSED"
	StatusReturned  Status = "RETURNED"
)

// Why a reservation was released, as the hold's reason says.
const (
	ReasonCanceled = "CANCELED"
	ReasonExpired  = "EXPIRED"
	ReasonRefused  = "REFUSED"
)

// Limits of a reservation's life.
const (
	DefaultTTL = 300 * time.Second
	MinTTL     = time.Second
	MaxTTL     = 24 * time.Hour
)

// Reservation is what another system has of a branch's stock, under the id by which that system calls it.
type Reservation struct {
	ID        string
	Branch    int64 // 0 of one that was cancelled before it came
	Status    Status
	Lines     []SKULine
	ExpiresAt time.Time // zero of one that never held anything
}

// Taken is a quantity of a stock item, called as its owner does.
type SKULine struct {
	SKU string
	Qty int64
}

// foreignPrefix keeps the ids of other systems apart from those of our own orders.
const reservationPrefix = "x-"

// HoldOf is the id of a reservation's hold, and ReservationOf the way back.
func HoldID(reservation string) string { return reservationPrefix + reservation }

// ReservationOf is the id of a hold's reservation.
func ReservationID(hold string) string { return strings.TrimPrefix(hold, reservationPrefix) }

// Act is what is to happen to a reservation.
type Action uint8

// The acts: Try, Confirm and Cancel of the reference, what a deadline does, and what undoes a sale.
const (
	Try Action = iota + 1
	Confirm
	Cancel
	Expire
	Return
)

// Demand is one act on one reservation.
type Command struct {
	Action Action
	ID     string
	// Hold is what Try takes. Its lines are of the branch's stock.
	Hold Hold
	// RequestedAt is the time from which Hold.Until was counted. Zero: Until stands as it is.
	RequestedAt time.Time
	// Short says that the gate has refused a Try, and why: the ledger enters the refusal without looking at the stock.
	Short []SKUShortage
	// Message says that the demand came as a message: nobody waits for the answer, so that it is told as an event, and a
	// Confirm that overtakes its Try is remembered.
	Message bool
	// Sees tells in which branches the caller works; nil is all of them. What a caller does not see is answered as if it
	// were not there. An id that has not come belongs to no branch: to end it takes somebody who sees every one.
	CanSee func(branch int64) bool
}

// Result is what became of a demand. Err is a refusal; then nothing was changed, but that a refused id stays refused.
type CommandResult struct {
	Reservation Reservation
	Changed     bool // false: it had been so before
	Err         error
}

// The faults of the inventory.
var (
	ErrBranchNotFound      = fault.New(fault.NotFound, "branch_not_found", "There is no such branch.")
	ErrItemNotFound        = fault.New(fault.NotFound, "item_not_found", "There is no such stock item in this branch.")
	ErrInsufficientStock   = fault.New(fault.SoldOut, "insufficient_stock", "There is not enough of something; nothing was reserved.")
	ErrReservationEnded    = fault.New(fault.Conflict, "terminal", "This reservation has ended; its id holds nothing any more.")
	ErrReservationNotFound = fault.New(fault.NotFound, "reservation_not_found", "There is no such reservation.")
	ErrAlreadyConfirmed    = fault.New(fault.Conflict, "already_confirmed", "It is confirmed; what is sold can only be returned.")
	ErrNotConfirmed        = fault.New(fault.Conflict, "not_confirmed", "Only what was sold can be returned.")
	ErrIDReused            = fault.New(fault.Invalid, "idempotency_mismatch", "This id was used for another reservation.")
)

// ErrAgain says that nothing is known to have happened; the same demand tells what did.
var ErrTryAgain = &fault.Error{
	Kind: fault.Unavailable, Code: "try_again", Detail: "That could not be done just now; send it again.",
	RetryAfter: time.Second,
}

// ShortLine is a line of which there is not enough, as the caller sees it.
type SKUShortage struct {
	ItemID    string `json:"itemId"`
	Requested int64  `json:"requested"`
	Available int64  `json:"available"`
}
