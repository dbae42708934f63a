package stock

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/authz"
	"comanda/internal/event"
	"comanda/internal/fault"
	"comanda/internal/seq"
)

// Item is a stock item of a branch, counted over days. Its owner identifies it by SKU, Comanda's tables by number.
// Neither changes, and items are never deleted.
type Item struct {
	ID     int64
	Branch int64
	SKU    string // 1 to 64 of A-Z a-z 0-9 . _ -
	Name   string // may be empty
	Unit   string // such as kg or bottle; empty for pieces
	LowAt  int64  // alarm threshold: low stock is reported at this many units or fewer; NoAlarm for none
}

// NoAlarm is the LowAt of an item without an alarm.
const NoAlarm int64 = -1

// MaxExternalID is the maximum length of an id that another system chooses: of items and reservations.
const MaxExternalID = 64

// ValidateExternalID returns a fault for an id that no item or reservation may have. External ids are part of keys,
// paths and messages, so only characters that need no escaping anywhere are accepted. "." and ".." are refused: clients
// and servers remove such segments from paths, so no request could name the item or reservation.
func ValidateExternalID(field, id string) error {
	ok := id != "" && id != "." && id != ".." && len(id) <= MaxExternalID
	for i := 0; ok && i < len(id); i++ {
		c := id[i]
		ok = '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '.' || c == '_' || c == '-'
	}
	if ok {
		return nil
	}
	const rule = "%s must have 1 to %d letters, digits, dots, hyphens or underscores, and not be . or .. alone."
	return fault.Newf(fault.Invalid, "invalid", rule, field, MaxExternalID).With("field", field)
}

// low reports whether a number of available units is at or below the alarm threshold.
func (t Item) low(available int64) bool { return t.LowAt >= 0 && available <= t.LowAt }

// LowStockEvents returns an event, by item number, for every item that reached its alarm threshold in this batch,
// because units were taken or the threshold was raised.
func (b *Balances) LowStockEvents(now time.Time) []event.Event {
	var low []*Counter
	for _, c := range b.counters {
		if c.item.ID != 0 && !c.low && c.item.low(c.Left()) {
			low = append(low, c)
		}
	}
	slices.SortFunc(low, func(a, b *Counter) int { return cmp.Compare(a.Item, b.Item) })
	return seq.Map(low, func(c *Counter) event.Event {
		return event.InventoryLow.New(now, c.item.SKU, 0, c.item.Branch, event.Low{
			ItemID: c.item.SKU, BranchID: c.item.Branch, Available: c.Left(), Threshold: c.item.LowAt,
		})
	})
}

// ItemStore changes and reads stock levels; stocksql.Reservations implements it. Each change is one transaction that
// also writes an audit row.
type ItemStore interface {
	// Level returns the exact level of an item. The level's item has no id if the item does not exist.
	Level(ctx context.Context, branch int64, sku string) (Level, error)
	Adjust(ctx context.Context, by authz.Actor, a Adjustment) (Level, error)
	// Add creates an item without units. It returns ErrItemExists if the branch has the SKU.
	Add(ctx context.Context, by authz.Actor, t Item) error
	// Update changes the name, the unit and the alarm threshold of the item with t's number.
	Update(ctx context.Context, by authz.Actor, t Item) error
}

// ItemQueries lists stock for the console; stocksql.Store implements it. Each page comes with the total.
type ItemQueries interface {
	// Item returns an item by number. The returned item has no id if it does not exist.
	Item(ctx context.Context, id int64) (Item, error)
	Levels(ctx context.Context, f LevelFilter) ([]Level, int64, error)
	Adjustments(ctx context.Context, item int64, limit, offset int) ([]AdjustmentRecord, int64, error)
	Reservations(ctx context.Context, f ReservationFilter) ([]ReservationRecord, int64, error)
}

// LevelFilter selects stock items of a branch.
type LevelFilter struct {
	Branch int64
	Query  string // a part of the id or the name; empty for all
	Low    bool   // only items at or below their alarm threshold
	Limit  int
	Offset int
}

// ReservationFilter selects reservations of a branch, the most recently changed first.
type ReservationFilter struct {
	Branch int64
	Status Status // empty for all
	Limit  int
	Offset int
}

// AdjustmentRecord is an adjustment that was made.
type AdjustmentRecord struct {
	ID        string
	Kind      AdjustmentKind
	Units     int64 // the difference; negative for a decrease
	Available int64 // afterwards
	Note      string
	Actor     string
	At        time.Time
}

// ReservationRecord is a reservation with its times.
type ReservationRecord struct {
	Reservation

	CreatedAt time.Time
	UpdatedAt time.Time
}

// ItemService manages stock items and their levels. Items of branches that the actor may not see are reported as
// missing. It checks branches only; the route has checked the permission before. It is safe for concurrent use.
type ItemService struct {
	Store    ItemStore
	Queries  ItemQueries
	Branches func(ctx context.Context) ([]int64, error) // all branches
}

// Faults of item management.
var (
	ErrItemExists     = fault.New(fault.Conflict, "item_exists", "The branch already has a stock item with this id.")
	ErrLevelTooHigh   = fault.New(fault.Conflict, "level_too_high", "The quantity would exceed the maximum.")
	ErrKeyReused      = fault.New(fault.Invalid, "idempotency_mismatch", "This clientTxnId belongs to a different adjustment.")
	errBranchRequired = fault.New(fault.Invalid, "invalid", "branchId is required: there are several branches.").
				With("field", "branchId")
	errUnknownStatus = fault.New(fault.Invalid, "invalid", "Unknown reservation status.").With("field", "status")
)

// maxText bounds the name and the unit of a stock item, in characters.
const maxText = 100

// Validate returns a fault for an item that breaks a limit.
func (t Item) Validate() error {
	switch {
	case utf8.RuneCountInString(t.Name) > maxText || !utf8.ValidString(t.Name):
		return fault.Newf(fault.Invalid, "invalid", "A name can have at most %d characters.", maxText).With("field", "name")
	case utf8.RuneCountInString(t.Unit) > maxText || !utf8.ValidString(t.Unit):
		return fault.Newf(fault.Invalid, "invalid", "A unit can have at most %d characters.", maxText).With("field", "unit")
	case t.LowAt != NoAlarm && (t.LowAt < 0 || t.LowAt > MaxAvailable):
		return fault.Newf(fault.Invalid, "invalid", "lowAt must be between 0 and %d.", int64(MaxAvailable)).With("field", "lowAt")
	}
	return ValidateExternalID("itemId", t.SKU)
}

// ResolveBranch returns the named branch or, without a name, the only branch that the actor sees. A named branch is
// returned unchecked: the caller compares it with what the actor sees.
func (s *ItemService) ResolveBranch(ctx context.Context, actor authz.Actor, named int64) (int64, error) {
	if named != 0 {
		return named, nil
	}
	all, err := s.Branches(ctx)
	all = slices.DeleteFunc(all, func(b int64) bool { return !actor.Sees(b) })
	if err == nil && len(all) != 1 {
		err = errBranchRequired
	}
	if err != nil {
		return 0, err
	}
	return all[0], nil
}

// Level returns the exact level of an item.
func (s *ItemService) Level(ctx context.Context, actor authz.Actor, branch int64, sku string) (Level, error) {
	if err := ValidateExternalID("itemId", sku); err != nil {
		return Level{}, err
	}
	branch, err := s.ResolveBranch(ctx, actor, branch)
	if err != nil {
		return Level{}, err
	}
	if !actor.Sees(branch) {
		return Level{}, ErrItemNotFound
	}
	l, err := s.Store.Level(ctx, branch, sku)
	if err == nil && l.ID == 0 {
		err = ErrItemNotFound
	}
	return l, err
}

// SetAvailable sets the available units of an item and creates the item if it is missing. It needs no idempotency key:
// setting the same number twice changes nothing.
func (s *ItemService) SetAvailable(
	ctx context.Context, actor authz.Actor, branch int64, sku string, units int64,
) (Level, error) {
	return s.adjust(ctx, actor, Adjustment{Branch: branch, SKU: sku, Kind: Counted, Units: units, Create: true})
}

func (s *ItemService) adjust(ctx context.Context, actor authz.Actor, a Adjustment) (Level, error) {
	if err := a.Validate(); err != nil {
		return Level{}, err
	}
	if !actor.Sees(a.Branch) {
		return Level{}, ErrItemNotFound
	}
	return s.Store.Adjust(ctx, actor, a)
}

// item returns an item of a branch that the actor sees.
func (s *ItemService) item(ctx context.Context, actor authz.Actor, id int64) (Item, error) {
	t, err := s.Queries.Item(ctx, id)
	if err == nil && (t.ID == 0 || !actor.Sees(t.Branch)) {
		err = ErrItemNotFound
	}
	return t, err
}

// Adjust changes the available units of an item by number. It overwrites the branch and the SKU of the adjustment.
func (s *ItemService) Adjust(ctx context.Context, actor authz.Actor, id int64, a Adjustment) (Level, error) {
	t, err := s.item(ctx, actor, id)
	if err != nil {
		return Level{}, err
	}
	a.Branch, a.SKU = t.Branch, t.SKU
	return s.adjust(ctx, actor, a)
}

// Adjustments returns the adjustments of an item, newest first.
func (s *ItemService) Adjustments(
	ctx context.Context, actor authz.Actor, id int64, limit, offset int,
) ([]AdjustmentRecord, int64, error) {
	if _, err := s.item(ctx, actor, id); err != nil {
		return nil, 0, err
	}
	return s.Queries.Adjustments(ctx, id, limit, offset)
}

// Add creates an item without units.
func (s *ItemService) Add(ctx context.Context, actor authz.Actor, t Item) (Level, error) {
	if err := t.Validate(); err != nil {
		return Level{}, err
	}
	if !actor.Sees(t.Branch) {
		return Level{}, ErrBranchNotFound
	}
	if err := s.Store.Add(ctx, actor, t); err != nil {
		return Level{}, err
	}
	return s.Store.Level(ctx, t.Branch, t.SKU)
}

// Update changes the name, unit and alarm threshold of an item. The SKU and the branch cannot change: other systems,
// recipes and holds refer to them.
func (s *ItemService) Update(ctx context.Context, actor authz.Actor, t Item) (Level, error) {
	known, err := s.item(ctx, actor, t.ID)
	if err != nil {
		return Level{}, err
	}
	t.Branch, t.SKU = known.Branch, known.SKU
	if err := t.Validate(); err != nil {
		return Level{}, err
	}
	if err := s.Store.Update(ctx, actor, t); err != nil {
		return Level{}, err
	}
	return s.Store.Level(ctx, t.Branch, t.SKU)
}

// Levels returns the items of a branch with their levels.
func (s *ItemService) Levels(ctx context.Context, actor authz.Actor, f LevelFilter) ([]Level, int64, error) {
	if !actor.Sees(f.Branch) {
		return nil, 0, ErrBranchNotFound
	}
	return s.Queries.Levels(ctx, f)
}

// Reservations returns the reservations of other systems in a branch.
func (s *ItemService) Reservations(
	ctx context.Context, actor authz.Actor, f ReservationFilter,
) ([]ReservationRecord, int64, error) {
	if !actor.Sees(f.Branch) {
		return nil, 0, ErrBranchNotFound
	}
	if state, _ := f.Status.State(); state == "" && f.Status != "" {
		return nil, 0, errUnknownStatus
	}
	return s.Queries.Reservations(ctx, f)
}

// AdjustmentKind is the reason for a change of stock that no hold caused.
type AdjustmentKind string

// The kinds of adjustments.
const (
	Received AdjustmentKind = "RECEIVE" // a delivery adds units
	Counted  AdjustmentKind = "COUNT"   // a stock count sets the available units
	Wasted   AdjustmentKind = "WASTE"   // broken, spoiled or stolen units are subtracted
)

// Limits of an adjustment.
const (
	MaxAvailable = 1_000_000_000 // units of one item after an adjustment
	MaxNote      = 200           // characters
	MaxClientID  = 64            // characters of a clientTxnId
)

// Adjustment changes the available units of a stock item. Held and sold units are never adjusted: they follow from
// holds alone (I1).
type Adjustment struct {
	Branch int64
	SKU    string
	Kind   AdjustmentKind
	Units  int64 // Received, Wasted: the difference, at least 1; Counted: the available units, at least 0
	Note   string
	Create bool // creates a missing item

	// ClientTxnID is an idempotency key, unique per branch; empty for none. A repeated adjustment under the same key
	// is made once and answered as the first time.
	ClientTxnID string
}

// Digest identifies the content of the adjustment. A repetition has the same digest; another adjustment under the same
// key is refused with ErrKeyReused. Branch and ClientTxnID are not part of it, because they find the earlier
// adjustment.
func (a Adjustment) Digest() string {
	text, _ := json.Marshal(struct {
		SKU   string         `json:"s"`
		Kind  AdjustmentKind `json:"k"`
		Units int64          `json:"u"`
		Note  string         `json:"n"`
	}{a.SKU, a.Kind, a.Units, a.Note}) // strings and integers always marshal
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// Change returns the arguments of Balances.Adjust: the difference, or with set the new number of available units.
func (a Adjustment) Change() (units int64, set bool) {
	if a.Kind == Wasted {
		return -a.Units, false
	}
	return a.Units, a.Kind == Counted
}

// Validate returns a fault of kind Invalid for an adjustment that breaks a limit.
func (a Adjustment) Validate() error {
	least := int64(1)
	if a.Kind == Counted {
		least = 0
	}
	switch {
	case a.Kind != Received && a.Kind != Counted && a.Kind != Wasted:
		return fault.New(fault.Invalid, "invalid", "kind must be RECEIVE, COUNT or WASTE.").With("field", "kind")
	case a.Units < least || a.Units > MaxAvailable:
		return fault.Newf(fault.Invalid, "invalid", "The quantity must be between %d and %d.", least, int64(MaxAvailable)).
			With("field", "quantity")
	case utf8.RuneCountInString(a.ClientTxnID) > MaxClientID || !utf8.ValidString(a.ClientTxnID):
		return fault.Newf(fault.Invalid, "invalid", "clientTxnId must have 1 to %d characters.", MaxClientID).
			With("field", "clientTxnId")
	case utf8.RuneCountInString(a.Note) > MaxNote || !utf8.ValidString(a.Note):
		return fault.Newf(fault.Invalid, "invalid", "A note can have at most %d characters.", MaxNote).With("field", "note")
	}
	return ValidateExternalID("itemId", a.SKU)
}

// Level has the numbers of available, reserved and sold units of a stock item.
type Level struct {
	Item
	Available int64
	Reserved  int64
	Sold      int64
}

// Low reports whether the available units are at or below the item's alarm threshold.
func (l Level) Low() bool { return l.low(l.Available) }
