package stock

import (
	"strings"
	"time"

	"comanda/internal/fault"
)

// Status is the state of a reservation as its owner sees it. Its values are part of the API. They are derived from
// State and a reason, see StatusOf, and not stored.
type Status string

// The statuses. REFUSED, EXPIRED, CANCELLED and RETURNED are final.
const (
	StatusReserved  Status = "RESERVED"
	StatusConfirmed Status = "CONFIRMED"
	StatusCancelled Status = "CANCELLED"
	StatusExpired   Status = "EXPIRED"
	StatusRefused   Status = "REFUSED"
	StatusReturned  Status = "RETURNED"
)

// The reasons of released holds.
const (
	ReasonCanceled = "CANCELED"
	ReasonExpired  = "EXPIRED"
	ReasonRefused  = "REFUSED"
)

// statuses maps each status of a reservation to the state and reason of its hold.
var statuses = []struct {
	status Status
	state  State
	reason string // why a hold was released
}{
	{StatusReserved, Held, ""},
	{StatusConfirmed, Confirmed, ""},
	{StatusReturned, Returned, ""},
	{StatusExpired, Released, ReasonExpired},
	{StatusRefused, Released, ReasonRefused},
	{StatusCancelled, Released, ReasonCanceled},
}

// StatusOf returns the status that the owner sees for a hold's state and reason.
func StatusOf(state State, reason string) Status {
	for _, s := range statuses {
		if s.state == state && (s.reason == "" || s.reason == reason) {
			return s.status
		}
	}
	return StatusCancelled
}

// State returns the hold state and reason that a status stands for, the inverse of StatusOf. It is empty for an
// unknown status.
func (s Status) State() (state State, reason string) {
	for _, t := range statuses {
		if t.status == s {
			return t.state, t.reason
		}
	}
	return "", ""
}

// Limits of a reservation's life.
const (
	DefaultTTL = 300 * time.Second
	MinTTL     = time.Second
	MaxTTL     = 24 * time.Hour
)

// Reservation represents the units of a branch's stock that another system has taken, under the id that the system
// chose.
type Reservation struct {
	ID        string
	Branch    int64 // 0 if the reservation was cancelled before its Try
	Status    Status
	Lines     []SKULine
	ExpiresAt time.Time // zero if the reservation never held anything
}

// SKULine is a quantity of a stock item, identified as its owner does.
type SKULine struct {
	SKU string
	Qty int64
}

// reservationPrefix distinguishes the hold ids of other systems' reservations from those of orders.
const reservationPrefix = "x-"

// HoldID returns the id of a reservation's hold.
func HoldID(reservation string) string { return reservationPrefix + reservation }

// ReservationID returns the id of a hold's reservation.
func ReservationID(hold string) string { return strings.TrimPrefix(hold, reservationPrefix) }

// Action is a requested change of a reservation.
type Action uint8

// The actions: Try, Confirm and Cancel of inventory-tcc.md, the deadline's Expire, and Return, which reverses a sale.
const (
	Try Action = iota + 1
	Confirm
	Cancel
	Expire
	Return
)

// Command is one action on one reservation. It is a value: a batch may run again after a deadlock, so deciding must not
// change it.
type Command struct {
	Action Action
	ID     string
	// Hold is the hold of a Try. Its lines are of the branch's stock.
	Hold Hold
	// RequestedAt is the time from which Hold.Until was counted. Zero: Until is not recalculated.
	RequestedAt time.Time
	// Short is the refusal of a Try by the admission cache. SQL then records the refusal without reading the stock.
	Short []SKUShortage
	// Message reports that the command came as a message. The sender does not wait for a response: results are
	// published as events, and a Confirm that arrives before its Try is remembered.
	Message bool
	// CanSee reports whether the caller works in a branch; nil allows all. Reservations of other branches are answered
	// as missing. An id without a Try belongs to no branch: ending it requires access to all branches.
	CanSee func(branch int64) bool
}

// CommandResult is the result of a command. Err is a refusal; nothing has changed then, except that a refused id stays
// refused. A refusal is a result and not a failure of the batch, so that other commands of the same transaction commit.
type CommandResult struct {
	Reservation Reservation
	Changed     bool // false for a repetition
	Err         error
}

// Faults of reservations and stock items.
var (
	ErrBranchNotFound      = fault.New(fault.NotFound, "branch_not_found", "Branch not found.")
	ErrItemNotFound        = fault.New(fault.NotFound, "item_not_found", "Stock item not found in this branch.")
	ErrInsufficientStock   = fault.New(fault.SoldOut, "insufficient_stock", "Not enough stock. Nothing was changed.")
	ErrReservationEnded    = fault.New(fault.Conflict, "terminal", "This reservation has ended. Use a new id.")
	ErrReservationNotFound = fault.New(fault.NotFound, "reservation_not_found", "Reservation not found.")
	ErrAlreadyConfirmed    = fault.New(fault.Conflict, "already_confirmed", "A confirmed reservation can only be returned.")
	ErrNotConfirmed        = fault.New(fault.Conflict, "not_confirmed", "Only a confirmed reservation can be returned.")
	ErrIDReused            = fault.New(fault.Invalid, "idempotency_mismatch", "This id belongs to a different reservation.")
)

// ErrTryAgain reports an unknown outcome. Repeating the same command returns the result.
var ErrTryAgain = &fault.Error{
	Kind: fault.Unavailable, Code: "try_again", Detail: "Temporarily unavailable. Please send the request again.",
	RetryAfter: time.Second,
}

// SKUShortage is a line that does not fit, as the caller of the API sees it.
type SKUShortage struct {
	ItemID    string `json:"itemId"`
	Requested int64  `json:"requested"`
	Available int64  `json:"available"`
}
