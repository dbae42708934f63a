package stock

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
	"comanda/internal/identity"
)

// Shelves is the stock that is counted, normally stocksql.Reservations. What changes something is one transaction, which
// also says so in the audit log.
type ItemStore interface {
	// Level is exact; one without an id is not there.
	Level(ctx context.Context, branch int64, sku string) (Level, error)
	Adjust(ctx context.Context, by identity.Actor, a Adjustment) (Level, error)
	// Add makes a thing with nothing of it; ErrTaken when its branch has one of this name.
	Add(ctx context.Context, by identity.Actor, t Item) error
	// Describe changes the name, the unit and the mark of the thing with t's number.
	Update(ctx context.Context, by identity.Actor, t Item) error
}

// Lists is the stock as a console lists it, normally stocksql.Ledger. Each page comes with the total.
type ItemQueries interface {
	// Thing finds a thing by its number; one without an id is not there.
	Item(ctx context.Context, id int64) (Item, error)
	Levels(ctx context.Context, f LevelFilter) ([]Level, int64, error)
	Adjustments(ctx context.Context, item int64, limit, offset int) ([]AdjustmentRecord, int64, error)
	Reservations(ctx context.Context, f ReservationFilter) ([]ReservationRecord, int64, error)
}

// LevelFilter chooses stock items of a branch.
type LevelFilter struct {
	Branch int64
	Query  string // a part of the id or the name; empty for all
	Low    bool   // only those for which an alarm stands
	Limit  int
	Offset int
}

// ReservationFilter chooses reservations of a branch, the one that changed last first.
type ReservationFilter struct {
	Branch int64
	Status Status // empty for all
	Limit  int
	Offset int
}

// Adjusted is an adjustment that was made.
type AdjustmentRecord struct {
	ID        string
	Kind      AdjustmentKind
	Units     int64 // negative where there were fewer afterwards
	Available int64 // afterwards
	Note      string
	Actor     string
	At        time.Time
}

// Listed is a reservation with its times.
type ReservationRecord struct {
	Reservation

	CreatedAt time.Time
	UpdatedAt time.Time
}

// Storekeeper is the use cases of those who keep the stock. What belongs to a branch that the actor does not see is
// answered as if it did not exist.
type ItemService struct {
	Store    ItemStore
	Queries  ItemQueries
	Branches func(ctx context.Context) ([]int64, error) // all of the house
}

// The faults of keeping the stock.
var (
	ErrItemExists     = fault.New(fault.Conflict, "item_exists", "There is a stock item of this name in the branch.")
	ErrLevelTooHigh   = fault.New(fault.Conflict, "level_too_high", "There would be more of it than can be counted.")
	ErrKeyReused      = fault.New(fault.Invalid, "idempotency_mismatch", "This clientTxnId was used for another adjustment.")
	errBranchRequired = fault.New(fault.Invalid, "invalid", "There are several; branchId says which.").With("field", "branchId")
	errUnknownStatus  = fault.New(fault.Invalid, "invalid", "This is no status of a reservation.").With("field", "status")
)

// maxText bounds the name and the unit of a stock item, in characters.
const maxText = 100

// Check refuses what no thing is called.
func (t Item) Validate() error {
	switch {
	case utf8.RuneCountInString(t.Name) > maxText || !utf8.ValidString(t.Name):
		return fault.Newf(fault.Invalid, "invalid", "A name has at most %d characters.", maxText).With("field", "name")
	case utf8.RuneCountInString(t.Unit) > maxText || !utf8.ValidString(t.Unit):
		return fault.Newf(fault.Invalid, "invalid", "A unit has at most %d characters.", maxText).With("field", "unit")
	case t.LowAt != NoAlarm && (t.LowAt < 0 || t.LowAt > MaxAvailable):
		return fault.Newf(fault.Invalid, "invalid", "lowAt is 0 to %d.", int64(MaxAvailable)).With("field", "lowAt")
	}
	return ValidateExternalID("itemId", t.SKU)
}

// Branch is the one that a request is about: the named one, or where none is named the only one that the actor sees.
func (k *ItemService) ResolveBranch(ctx context.Context, who identity.Actor, named int64) (int64, error) {
	if named != 0 {
		return named, nil
	}
	all, err := k.Branches(ctx)
	all = slices.DeleteFunc(all, func(b int64) bool { return !who.Sees(b) })
	if err == nil && len(all) != 1 {
		err = errBranchRequired
	}
	if err != nil {
		return 0, err
	}
	return all[0], nil
}

// Level tells how many units of an item there are, exactly.
func (k *ItemService) Level(ctx context.Context, who identity.Actor, branch int64, sku string) (Level, error) {
	if err := ValidateExternalID("itemId", sku); err != nil {
		return Level{}, err
	}
	branch, err := k.ResolveBranch(ctx, who, branch)
	if err != nil {
		return Level{}, err
	}
	if !who.Sees(branch) {
		return Level{}, ErrItemNotFound
	}
	l, err := k.Store.Level(ctx, branch, sku)
	if err == nil && l.ID == 0 {
		err = ErrItemNotFound
	}
	return l, err
}

// Set says how many units of an item are available, and makes the item where it is missing.
func (k *ItemService) SetAvailable(ctx context.Context, who identity.Actor, branch int64, sku string, units int64) (Level, error) {
	return k.adjust(ctx, who, Adjustment{Branch: branch, SKU: sku, Kind: Counted, Units: units, Create: true})
}

func (k *ItemService) adjust(ctx context.Context, who identity.Actor, a Adjustment) (Level, error) {
	if err := a.Validate(); err != nil {
		return Level{}, err
	}
	if !who.Sees(a.Branch) {
		return Level{}, ErrItemNotFound
	}
	return k.Store.Adjust(ctx, who, a)
}

// thing finds a thing of a branch that the actor sees.
func (k *ItemService) item(ctx context.Context, who identity.Actor, id int64) (Item, error) {
	t, err := k.Queries.Item(ctx, id)
	if err == nil && (t.ID == 0 || !who.Sees(t.Branch)) {
		err = ErrItemNotFound
	}
	return t, err
}

// Adjust changes how many units of the item with a number are available. The adjustment's item and branch are the item's.
func (k *ItemService) Adjust(ctx context.Context, who identity.Actor, id int64, a Adjustment) (Level, error) {
	t, err := k.item(ctx, who, id)
	if err != nil {
		return Level{}, err
	}
	a.Branch, a.SKU = t.Branch, t.SKU
	return k.adjust(ctx, who, a)
}

// Adjustments lists how an item's units came and went, the newest first.
func (k *ItemService) Adjustments(
	ctx context.Context, who identity.Actor, id int64, limit, offset int,
) ([]AdjustmentRecord, int64, error) {
	if _, err := k.item(ctx, who, id); err != nil {
		return nil, 0, err
	}
	return k.Queries.Adjustments(ctx, id, limit, offset)
}

// Add makes an item, with nothing of it.
func (k *ItemService) Add(ctx context.Context, who identity.Actor, t Item) (Level, error) {
	if err := t.Validate(); err != nil {
		return Level{}, err
	}
	if !who.Sees(t.Branch) {
		return Level{}, ErrBranchNotFound
	}
	if err := k.Store.Add(ctx, who, t); err != nil {
		return Level{}, err
	}
	return k.Store.Level(ctx, t.Branch, t.SKU)
}

// Describe says how the item with a number is called, in what it is counted, and when an alarm is raised.
func (k *ItemService) Update(ctx context.Context, who identity.Actor, t Item) (Level, error) {
	known, err := k.item(ctx, who, t.ID)
	if err != nil {
		return Level{}, err
	}
	t.Branch, t.SKU = known.Branch, known.SKU
	if err := t.Validate(); err != nil {
		return Level{}, err
	}
	if err := k.Store.Update(ctx, who, t); err != nil {
		return Level{}, err
	}
	return k.Store.Level(ctx, t.Branch, t.SKU)
}

// Levels lists the items of a branch.
func (k *ItemService) Levels(ctx context.Context, who identity.Actor, f LevelFilter) ([]Level, int64, error) {
	if !who.Sees(f.Branch) {
		return nil, 0, ErrBranchNotFound
	}
	return k.Queries.Levels(ctx, f)
}

// Reservations lists what other systems have reserved in a branch.
func (k *ItemService) Reservations(ctx context.Context, who identity.Actor, f ReservationFilter) ([]ReservationRecord, int64, error) {
	if !who.Sees(f.Branch) {
		return nil, 0, ErrBranchNotFound
	}
	if state, _ := f.Status.State(); state == "" && f.Status != "" {
		return nil, 0, errUnknownStatus
	}
	return k.Queries.Reservations(ctx, f)
}

// State is the state of a hold, and the reason for it, that its owner is told of by this status: the way back of
// StatusOf. It is empty for no status.
func (s Status) State() (state State, reason string) {
	switch s {
	case StatusReserved:
		return Held, ""
	case StatusConfirmed:
		return Confirmed, ""
	case StatusReturned:
		return Returned, ""
	case StatusCancelled:
		return Released, ReasonCanceled
	case StatusExpired:
		return Released, ReasonExpired
	case StatusRefused:
		return Released, ReasonRefused
	}
	return "", ""
}
