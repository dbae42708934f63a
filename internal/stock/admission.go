package stock

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Unlimited is the cap of an item without a quota.
const Unlimited int64 = -1

// AdmissionStatus is the answer of the admission cache to a request for a provisional hold. Its numbers are those of
// try.lua, so their order must not change.
type AdmissionStatus uint8

// The statuses. An order goes on after Cold, Admitted and Duplicate; Cold means that there is no provisional hold.
const (
	Cold       AdmissionStatus = iota // the cache cannot answer (missing, rebuilding, stale, down): SQL decides
	Admitted                          // a provisional hold was taken
	Duplicate                         // the same hold was admitted or confirmed before
	Refused                           // at least one line does not fit; nothing was taken
	Mismatched                        // the id is in use with other lines
	Ended                             // the id was refused, released or returned before and never holds again (I12)
)

// String returns the name of the status in metrics.
func (s AdmissionStatus) String() string {
	return [...]string{"cold", "admitted", "duplicate", "refused", "conflict", "terminal"}[s]
}

// AdmissionResult is the admission cache's reply to one reservation. A hold of two scopes has one result per part;
// Syncer.Reserve combines them.
type AdmissionResult struct {
	Status  AdmissionStatus
	Short   []Shortage // with Refused: every line that does not fit
	Missing bool       // with Cold: Redis has answered and lacks the scope or an item; a rebuild fixes it
}

// OpKind is a change that SQL has committed and that the admission cache must apply. Its values are stored in
// redis_outbox and in dead letters, so a renamed one would make rows of an earlier release unreadable.
type OpKind string

// The operations that follow a commit, each idempotent by hold.
const (
	OpHeld    OpKind = "HELD"    // the hold is in SQL: the provisional hold becomes a hold
	OpConfirm OpKind = "CONFIRM" // paid: held units are used
	OpCancel  OpKind = "CANCEL"  // released: units are free; an unknown id leaves a tombstone
	OpReturn  OpKind = "RETURN"  // used units are free again
	OpForget  OpKind = "FORGET"  // the provisional hold never became a hold and is removed without a trace
	OpCap     OpKind = "CAP"     // an item's cap has changed; Lines holds one line of (item, new cap or Unlimited)
)

// Op is one operation for the admission cache. It carries its lines because the cache may have lost the hold. A cap has
// no hold: its Hold has a scope and one line only.
type Op struct {
	Kind OpKind
	Hold Hold
}

// Effect is the effect of an operation in the admission cache. Its numbers are those of apply.lua.
type Effect uint8

// The effects of operations.
const (
	Changed  Effect = iota + 1
	Same            // the operation was applied before
	Opposite        // the hold has ended in another state: cache and SQL disagree
)

// String returns the name of the effect in metrics.
func (e Effect) String() string { return [...]string{"", "changed", "same", "opposite"}[e] }

// Validate returns ErrInvalidLines or an error of ValidatePart for an operation that no cache may apply. One of them
// would fail a call that contains other operations too.
func (o Op) Validate() error {
	h := o.Hold
	switch o.Kind {
	case OpHeld, OpConfirm, OpReturn:
	case OpCancel, OpForget: // the units are released by the hold's record, which has the lines
		h.Lines = []Line{{Item: 1, Qty: 1}}
	case OpCap:
		if len(h.Lines) != 1 || h.Lines[0].Item < 1 || h.Lines[0].Qty < 0 && h.Lines[0].Qty != Unlimited {
			return ErrInvalidLines
		}
		return nil
	default:
		return fmt.Errorf("stock: %q is not an operation", o.Kind)
	}
	return h.ValidatePart()
}

// errPart reports a defect of the caller: hold ids are created by this program and never chosen by a client.
var errPart = errors.New("stock: a call of the admission cache needs a hold of one scope with an id")

// ValidatePart returns an error unless the hold is a part (see Parts) with lines that may be counted: 1 to MaxLines
// quantities of different items, sorted by item, or up to MaxStockLines of stock items.
func (h Hold) ValidatePart() error {
	if h.ID == "" || len(h.Stock) > 0 {
		return errPart
	}
	most := MaxLines
	if h.Scope.IsStock() {
		most = MaxStockLines
	}
	if len(h.Lines) == 0 || len(h.Lines) > most {
		return ErrInvalidLines
	}
	for i, l := range h.Lines {
		if l.Qty < 1 || l.Qty > MaxUnits || l.Item < 1 || i > 0 && l.Item <= h.Lines[i-1].Item {
			return ErrInvalidLines
		}
	}
	return nil
}

// Times of the admission cache, from qr-ordering.md.
const (
	ProvisionalTTL = 30 * time.Second // lifetime of a provisional hold without a commit
	RecordTTL      = 12 * time.Hour   // lifetime of holds after the end of the business day
	MinCacheTTL    = time.Hour        // lifetime of a scope that is rebuilt after its day, for a late refund

	// A business date ends at most 60 hours after its midnight in UTC (23 hours of start hour, 24 of day, 12 of time zone,
	// with one to spare) and its records 12 hours later.
	scopeExpiry = 72 * time.Hour
)

// RecordsExpire returns when the records of holds expire in the admission cache, for a business day that ends at an
// instant.
func RecordsExpire(ends, now time.Time) time.Time {
	if expires := ends.Add(RecordTTL); expires.After(now.Add(MinCacheTTL)) {
		return expires
	}
	return now.Add(MinCacheTTL)
}

// CacheExpired reports whether everything that the admission cache had of a scope has expired, in every time zone.
func (s Scope) CacheExpired(now time.Time) bool {
	midnight, err := time.Parse(time.DateOnly, s.Date)
	return err == nil && now.Sub(midnight) > scopeExpiry
}

// frees reports whether the operation may make units available. An operation that may free units ends the short memory
// of refusals. OpCap counts as one, because a cap may have been raised.
func (o Op) frees() bool { return o.Kind != OpHeld && o.Kind != OpConfirm }

// Count is the counter of one item, in the admission cache or in SQL.
type Count struct {
	Item int64
	Cap  int64 // Unlimited where there is no quota
	Held int64
	Used int64
}

// Left returns how many units can still be sold: at least 0, or Unlimited without a quota. A cap may be lower than the
// units already taken. Callers must test for Unlimited before they compare, because it is negative.
func (c Count) Left() int64 {
	if c.Cap == Unlimited {
		return Unlimited
	}
	return max(0, c.Cap-c.Held-c.Used)
}

// ScopeSnapshot is the content from which a scope of the admission cache is rebuilt: its counters, and all or some of
// its holds.
type ScopeSnapshot struct {
	Scope  Scope
	Epoch  string
	Ends   time.Time // end of the business day, the base of key TTLs; for stock see stockScopeTTL
	Counts []Count
	Holds  []HoldState
}

// CachedScope is the state of a scope in the admission cache at one instant. An epoch that differs from the one in SQL
// means that a rebuild did not end, or that Redis has lost newer data.
type CachedScope struct {
	Epoch     string
	ExpiresAt time.Time // when the records of its holds expire
	Counts    []Count
}

// ErrSuperseded reports that another rebuild of the scope has begun. Data of the superseded rebuild never becomes visible.
var ErrSuperseded = errors.New("stock: another rebuild of the scope has begun")

// HoldState is a hold with its state in SQL.
type HoldState struct {
	Hold  Hold
	State State
}

// OutboxEntry contains the committed changes of one transaction to one scope. Table redis_outbox stores it until Redis
// has applied it. An entry without an id is in no table: it drops a provisional hold after a refusal. If it gets lost,
// ExpireProvisional releases the hold later.
type OutboxEntry struct {
	ID    string
	Scope Scope
	Ops   []Op
	At    time.Time

	Attempts  int   // how often the cache has rejected it
	DecodeErr error // why Ops could not be decoded; nil unless the row was edited by hand
}

// RejectedError contains the operations of a call that the admission cache rejected, by their index in the call.
// Repeating them fails until the cause is fixed; the other operations of the call are not affected.
type RejectedError struct{ Ops map[int]error }

// Error returns the number of rejected operations and the first cause.
func (r *RejectedError) Error() string {
	if len(r.Ops) == 0 {
		return "the admission cache rejected no operations"
	}
	first := slices.Min(slices.Collect(maps.Keys(r.Ops)))
	return fmt.Sprintf("the admission cache rejected %d operations, first: %v", len(r.Ops), r.Ops[first])
}

// Unwrap returns the causes, for errors.Is.
func (r *RejectedError) Unwrap() []error { return slices.Collect(maps.Values(r.Ops)) }
