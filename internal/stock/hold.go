package stock

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"comanda/internal/fault"
)

// Limits of one hold. They bound the cost of a script call and keep every sum far below 2^53, the integers of Lua.
const (
	MaxLines = 50
	MaxQty   = 1_000_000
)

// MaxUnits is the largest quantity of one item in a hold, summed over its lines: every line of a hold may be of the
// same item, and MergeLines adds them up.
const MaxUnits = MaxLines * MaxQty

// MaxStockLines bounds the stock items of one order beside its quotas. Each dish may consume several. It bounds the
// script call, like MaxLines. An order above it is refused with ErrTooManyStockItems.
const MaxStockLines = 200

// Line is a quantity of one item: of a menu item where the scope is a business date, else of a stock item.
type Line struct {
	Item int64
	Qty  int64 // 1..MaxQty
}

// Scope identifies a set of counters that are cached, locked and rebuilt together: a branch's quotas on one business
// date, or a branch's stock, which is counted over days. It is comparable and used as a map key. All keys of a scope in
// Redis share the branch's hash tag, so one script can change them.
type Scope struct {
	Branch int64
	Date   string // business date, 2006-01-02; empty for the branch's stock
}

// StockScope returns the scope of a branch's stock items.
func StockScope(branch int64) Scope { return Scope{Branch: branch} } //nolint:revive // stock.Of could be of anything

// IsStock reports whether the scope is a branch's stock.
func (s Scope) IsStock() bool { return s.Date == "" }

// Hold represents the units that one order, or one reservation of another system, takes from counters, all or none. Its
// content never changes after its creation. Only its state changes, and Until, which ExtendDeadline may move to a later
// instant.
type Hold struct {
	ID    string
	Scope Scope
	Lines []Line    // in Scope; merged and sorted by item, see MergeLines
	Stock []Line    // stock items of the branch, if the order also takes quotas; merged like Lines
	Until time.Time // the hold may expire from this instant on
}

// Parts splits a hold by scope, in the order in which counters are locked. The admission cache stores each part
// separately. A hold without stock has one part: itself. The parts keep the id and the deadline.
func (h Hold) Parts() []Hold {
	if len(h.Stock) == 0 {
		return []Hold{h}
	}
	quotas, stock := h, h
	quotas.Stock, stock.Stock = nil, nil
	stock.Scope, stock.Lines = StockScope(h.Scope.Branch), h.Stock
	return []Hold{quotas, stock}
}

// Quantities yields each counter that the hold takes units from, and the quantity. The order is that of Parts and,
// within each, of items: the order in which SQL locks the counters. It is an iterator for range.
func (h Hold) Quantities(yield func(Key, int64) bool) {
	for _, l := range h.Lines {
		if !yield(Key{h.Scope, l.Item}, l.Qty) {
			return
		}
	}
	for _, l := range h.Stock {
		if !yield(Key{StockScope(h.Scope.Branch), l.Item}, l.Qty) {
			return
		}
	}
}

// Digest identifies the content of the hold. A second hold with the same id and another digest is a conflict, not a
// repetition.
//
// The digest does not cover the deadline, because a repeated request may state another TTL. Lines must be merged and
// sorted before, or equal requests would differ. Four bytes suffice, because digests are only compared under the same
// id.
func (h Hold) Digest() string {
	b := make([]byte, 0, 24+16*(len(h.Lines)+len(h.Stock)))
	b = strconv.AppendInt(b, h.Scope.Branch, 10)
	b = append(b, '|')
	b = append(b, h.Scope.Date...)
	b = appendLines(b, h.Lines)
	if len(h.Stock) > 0 {
		b = appendLines(append(b, '|'), h.Stock)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

func appendLines(b []byte, lines []Line) []byte {
	for _, l := range lines {
		b = append(b, '|')
		b = strconv.AppendInt(b, l.Item, 10)
		b = append(b, '=')
		b = strconv.AppendInt(b, l.Qty, 10)
	}
	return b
}

// State is the state of a hold: HELD, then exactly one of the others. CONFIRMED may still become RETURNED. Its values
// are stored in SQL and in Redis.
type State string

// The states of a hold.
const (
	Held      State = "HELD"
	Confirmed State = "CONFIRMED"
	Released  State = "RELEASED"
	Returned  State = "RETURNED"
)

// ErrInvalidLines refuses lines that break a limit.
var ErrInvalidLines = fault.New(fault.Invalid, "invalid",
	"An order needs 1 to 50 lines with whole quantities of at least 1.")

// MergeLines sums the lines of each item and sorts them by item, the order in which counters are locked. Without
// merging, each of two lines of one item could fit while their sum does not. The argument is not changed. It allows
// MaxLines lines before merging, so the work is bounded before any lock is taken.
func MergeLines(lines []Line) ([]Line, error) {
	if len(lines) == 0 || len(lines) > MaxLines {
		return nil, ErrInvalidLines
	}
	merged := slices.Clone(lines)
	slices.SortFunc(merged, func(a, b Line) int { return cmp.Compare(a.Item, b.Item) })
	n := 0
	for i, l := range merged {
		if l.Qty < 1 || l.Qty > MaxQty {
			return nil, ErrInvalidLines
		}
		if i > 0 && merged[n-1].Item == l.Item {
			merged[n-1].Qty += l.Qty
			continue
		}
		merged[n] = l
		n++
	}
	return merged[:n], nil
}

// Shortage is a line that does not fit, for the response to the guest. The numbers may have changed by the time the
// guest sees them.
type Shortage struct {
	Item      int64
	Requested int64
	Available int64  // never negative
	Stock     bool   // Item is a stock item
	SKU       string // SKU of a stock item; empty if the admission cache refused
}
