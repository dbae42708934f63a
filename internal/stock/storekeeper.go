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
type Shelves interface {
	// Level is exact; one without an id is not there.
	Level(ctx context.Context, branch int64, sku string) (Level, error)
	Adjust(ctx context.Context, by identity.Actor, a Adjustment) (Level, error)
	// Add makes a thing with nothing of it; ErrTaken when its branch has one of this name.
	Add(ctx context.Context, by identity.Actor, t Thing) error
	// Describe changes the name, the unit and the mark of the thing with t's number.
	Describe(ctx context.Context, by identity.Actor, t Thing) error
}

// Lists is the stock as a console lists it, normally stocksql.Ledger. Each page comes with the total.
type Lists interface {
	// Thing finds a thing by its number; one without an id is not there.
	Thing(ctx context.Context, id int64) (Thing, error)
	Levels(ctx context.Context, f LevelFilter) ([]Level, int64, error)
	Adjustments(ctx context.Context, item int64, limit, offset int) ([]Adjusted, int64, error)
	Reservations(ctx context.Context, f ReservationFilter) ([]Listed, int64, error)
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
type Adjusted struct {
	ID        string
	Kind      AdjustmentKind
	Units     int64 // negative where there were fewer afterwards
	Available int64 // afterwards
	Note      string
	Actor     string
	At        time.Time
}

// Listed is a reservation with its times.
type Listed struct {
	Reservation

	CreatedAt time.Time
	UpdatedAt time.Time
}

// Storekeeper is the use cases of those who keep the stock. What belongs to a branch that the actor does not see is
// answered as if it did not exist.
type Storekeeper struct {
	Shelves  Shelves
	Lists    Lists
	Branches func(ctx context.Context) ([]int64, error) // all of the house
}

// The faults of keeping the stock.
var (
	ErrTaken  = fault.New(fault.Conflict, "item_exists", "There is a stock item of this name in the branch.")
	ErrFull   = fault.New(fault.Conflict, "level_too_high", "There would be more of it than can be counted.")
	ErrReused = fault.New(fault.Invalid, "idempotency_mismatch", "This clientTxnId was used for another adjustment.")
	errWhere  = fault.New(fault.Invalid, "invalid", "There are several; branchId says which.").With("field", "branchId")
	errStatus = fault.New(fault.Invalid, "invalid", "This is no status of a reservation.").With("field", "status")
)

// maxText bounds the name and the unit of a stock item, in characters.
const maxText = 100

// Check refuses what no thing is called.
func (t Thing) Check() error {
	switch {
	case utf8.RuneCountInString(t.Name) > maxText || !utf8.ValidString(t.Name):
		return fault.Newf(fault.Invalid, "invalid", "A name has at most %d characters.", maxText).With("field", "name")
	case utf8.RuneCountInString(t.Unit) > maxText || !utf8.ValidString(t.Unit):
		return fault.Newf(fault.Invalid, "invalid", "A unit has at most %d characters.", maxText).With("field", "unit")
	case t.LowAt != NoAlarm && (t.LowAt < 0 || t.LowAt > MaxAvailable):
		return fault.Newf(fault.Invalid, "invalid", "lowAt is 0 to %d.", int64(MaxAvailable)).With("field", "lowAt")
	}
	return CheckName("itemId", t.SKU)
}

// Branch is the one that a request is about: the named one, or where none is named the only one that the actor sees.
func (k *Storekeeper) Branch(ctx context.Context, who identity.Actor, named int64) (int64, error) {
	if named != 0 {
		return named, nil
	}
	all, err := k.Branches(ctx)
	all = slices.DeleteFunc(all, func(b int64) bool { return !who.Sees(b) })
	if err == nil && len(all) != 1 {
		err = errWhere
	}
	if err != nil {
		return 0, err
	}
	return all[0], nil
}

// Level tells how many units of an item there are, exactly.
func (k *Storekeeper) Level(ctx context.Context, who identity.Actor, branch int64, sku string) (Level, error) {
	if err := CheckName("itemId", sku); err != nil {
		return Level{}, err
	}
	branch, err := k.Branch(ctx, who, branch)
	if err != nil {
		return Level{}, err
	}
	if !who.Sees(branch) {
		return Level{}, ErrItem
	}
	l, err := k.Shelves.Level(ctx, branch, sku)
	if err == nil && l.ID == 0 {
		err = ErrItem
	}
	return l, err
}

// Set says how many units of an item are available, and makes the item where it is missing.
func (k *Storekeeper) Set(ctx context.Context, who identity.Actor, branch int64, sku string, units int64) (Level, error) {
	return k.adjust(ctx, who, Adjustment{Branch: branch, SKU: sku, Kind: Counted, Units: units, Make: true})
}

func (k *Storekeeper) adjust(ctx context.Context, who identity.Actor, a Adjustment) (Level, error) {
	if err := a.Check(); err != nil {
		return Level{}, err
	}
	if !who.Sees(a.Branch) {
		return Level{}, ErrItem
	}
	return k.Shelves.Adjust(ctx, who, a)
}

// thing finds a thing of a branch that the actor sees.
func (k *Storekeeper) thing(ctx context.Context, who identity.Actor, id int64) (Thing, error) {
	t, err := k.Lists.Thing(ctx, id)
	if err == nil && (t.ID == 0 || !who.Sees(t.Branch)) {
		err = ErrItem
	}
	return t, err
}

// Adjust changes how many units of the item with a number are available. The adjustment's item and branch are the item's.
func (k *Storekeeper) Adjust(ctx context.Context, who identity.Actor, id int64, a Adjustment) (Level, error) {
	t, err := k.thing(ctx, who, id)
	if err != nil {
		return Level{}, err
	}
	a.Branch, a.SKU = t.Branch, t.SKU
	return k.adjust(ctx, who, a)
}

// Adjustments lists how an item's units came and went, the newest first.
func (k *Storekeeper) Adjustments(
	ctx context.Context, who identity.Actor, id int64, limit, offset int,
) ([]Adjusted, int64, error) {
	if _, err := k.thing(ctx, who, id); err != nil {
		return nil, 0, err
	}
	return k.Lists.Adjustments(ctx, id, limit, offset)
}

// Add makes an item, with nothing of it.
func (k *Storekeeper) Add(ctx context.Context, who identity.Actor, t Thing) (Level, error) {
	if err := t.Check(); err != nil {
		return Level{}, err
	}
	if !who.Sees(t.Branch) {
		return Level{}, ErrBranch
	}
	if err := k.Shelves.Add(ctx, who, t); err != nil {
		return Level{}, err
	}
	return k.Shelves.Level(ctx, t.Branch, t.SKU)
}

// Describe says how the item with a number is called, in what it is counted, and when an alarm is raised.
func (k *Storekeeper) Describe(ctx context.Context, who identity.Actor, t Thing) (Level, error) {
	known, err := k.thing(ctx, who, t.ID)
	if err != nil {
		return Level{}, err
	}
	t.Branch, t.SKU = known.Branch, known.SKU
	if err := t.Check(); err != nil {
		return Level{}, err
	}
	if err := k.Shelves.Describe(ctx, who, t); err != nil {
		return Level{}, err
	}
	return k.Shelves.Level(ctx, t.Branch, t.SKU)
}

// Levels lists the items of a branch.
func (k *Storekeeper) Levels(ctx context.Context, who identity.Actor, f LevelFilter) ([]Level, int64, error) {
	if !who.Sees(f.Branch) {
		return nil, 0, ErrBranch
	}
	return k.Lists.Levels(ctx, f)
}

// Reservations lists what other systems have reserved in a branch.
func (k *Storekeeper) Reservations(ctx context.Context, who identity.Actor, f ReservationFilter) ([]Listed, int64, error) {
	if !who.Sees(f.Branch) {
		return nil, 0, ErrBranch
	}
	if state, _ := f.Status.State(); state == "" && f.Status != "" {
		return nil, 0, errStatus
	}
	return k.Lists.Reservations(ctx, f)
}

// State is the state of a hold, and the reason for it, that its owner is told of by this status: the way back of
// StatusOf. It is empty for no status.
func (s Status) State() (state State, reason string) {
	switch s {
	case Reserved:
		return Held, ""
	case Sold:
		return Confirmed, ""
	case GivenBack:
		return Returned, ""
	case Cancelled:
		return Released, ReasonCanceled
	case Expired:
		return Released, ReasonExpired
	case RefusedForGood:
		return Released, ReasonRefused
	}
	return "", ""
}
