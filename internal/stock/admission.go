package stock

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Unlimited is the cap of an item without a quota.
const Unlimited int64 = -1

// Answer is what the gate says to a TRY.
type AdmissionStatus uint8

// The answers. Only Admitted and Duplicate let an order go on with a lease; Cold lets it go on without one.
const (
	Cold       AdmissionStatus = iota // the gate knows nothing (missing, rebuilt, stale, down): ask the ledger
	Admitted                          // a lease is taken
	Duplicate                         // the same hold was admitted or confirmed before
	Refused                           // at least one line does not fit; nothing is taken
	Mismatched                        // the id is in use with other lines
	Ended                             // the id was refused, released or returned before and never holds again (I12)
)

// Verdict is the gate's reply to one TRY.
type AdmissionResult struct {
	Status  AdmissionStatus
	Short   []Shortage // with Refused: every line that does not fit
	Missing bool       // with Cold: the gate has replied and does not know the scope or an item, which a rebuild mends
}

// OpKind is what SQL has decided and the gate must learn.
type OpKind string

// The operations that follow a commit, each idempotent by hold.
const (
	OpHeld    OpKind = "HELD"    // the hold is in SQL: the lease becomes a hold
	OpConfirm OpKind = "CONFIRM" // paid: held units are used
	OpCancel  OpKind = "CANCEL"  // released: units are free; an unknown id leaves a tombstone
	OpReturn  OpKind = "RETURN"  // used units are free again
	OpForget  OpKind = "FORGET"  // the lease never became a hold: as if it had never been
	OpCap     OpKind = "CAP"     // an item's cap has changed; Lines holds one line of (item, new cap or Unlimited)
)

// Op is one operation for the gate. It carries its lines, because the gate may have forgotten the hold.
type Op struct {
	Kind OpKind
	Hold Hold
}

// frees reports whether the operation may make something available.
func (o Op) frees() bool { return o.Kind != OpHeld && o.Kind != OpConfirm }

// Count is one item's counter as the gate or the ledger sees it.
type Count struct {
	Item int64
	Cap  int64 // Unlimited where there is no quota
	Held int64
	Used int64
}

// Left is how many can still be sold: never negative, Unlimited without a quota. A cap may be below what is taken.
func (c Count) Left() int64 {
	if c.Cap == Unlimited {
		return Unlimited
	}
	return max(0, c.Cap-c.Held-c.Used)
}

// Image is what the gate is rebuilt from: a scope's counters, and all or some of its holds that are not forgotten yet.
type ScopeSnapshot struct {
	Scope  Scope
	Epoch  string
	Ends   time.Time // the end of the business day, from which keys' lives are counted; of stock, see stockLife
	Counts []Count
	Holds  []HoldState
}

// Shown is a scope as the gate shows it, all of one instant.
type CachedScope struct {
	Epoch     string
	ExpiresAt time.Time // when the records of its holds end
	Counts    []Count
}

// HoldState is a hold with the state that SQL gives it.
type HoldState struct {
	Hold  Hold
	State State
}

// Entry is what one transaction decided for one scope, as redis_outbox keeps it until Redis has taken it in.
type OutboxEntry struct {
	ID    string
	Scope Scope
	Ops   []Op
	At    time.Time

	Attempts  int   // how often the gate has refused it
	DecodeErr error // why Ops could not be read back; nil but for a row that somebody has changed
}

// Setback is what becomes of an entry that the gate has refused once more.
type FailedEntry struct {
	OutboxEntry
	Cause error
	Due   time.Time // when it is tried again
	Dead  bool      // it is not tried any more
}

// RejectedError says which operations of a call the gate does not take as they are, by their places in the call. Telling
// them again is of no use before somebody has mended something; their neighbours are not touched by it.
type RejectedError struct{ Ops map[int]error }

// Error names the first of them.
func (r *RejectedError) Error() string {
	if len(r.Ops) == 0 {
		return "the gate refused nothing"
	}
	first := slices.Min(slices.Collect(maps.Keys(r.Ops)))
	return fmt.Sprintf("the gate refused %d operations, the first: %v", len(r.Ops), r.Ops[first])
}

// Unwrap gives what was refused, for errors.Is.
func (r *RejectedError) Unwrap() []error { return slices.Collect(maps.Values(r.Ops)) }
