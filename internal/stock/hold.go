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

// Limits of one hold. They bound the cost of a gate script and keep every sum far below 2^53.
const (
	MaxLines = 50
	MaxQty   = 1_000_000
)

// Line is a quantity of one menu item.
type Line struct {
	Item int64 // menu item
	Qty  int64 // 1..MaxQty
}

// Scope is what shares one set of counters: a branch on one of its business dates.
type Scope struct {
	Branch int64
	Date   string // business date, 2006-01-02
}

// Hold is what one order takes from its scope's counters.
type Hold struct {
	ID    string
	Scope Scope
	Lines []Line    // merged and sorted by item, see MergeLines
	Until time.Time // the instant from which it may be expired
}

// State is where a hold is in its life: HELD, then exactly one of the others; CONFIRMED may still become RETURNED.
type State string

// The states of a hold.
const (
	Held      State = "HELD"
	Confirmed State = "CONFIRMED"
	Released  State = "RELEASED"
	Returned  State = "RETURNED"
)

// ErrLines says that the lines cannot be held by anybody.
var ErrLines = fault.New(fault.Invalid, "invalid", "An order has 1 to 50 lines of positive whole quantities.")

// MergeLines sums lines of the same item and sorts by item, which is also the order in which counters are locked.
// Lines checked one by one could each fit where their sum does not.
func MergeLines(lines []Line) ([]Line, error) {
	if len(lines) == 0 || len(lines) > MaxLines {
		return nil, ErrLines
	}
	merged := slices.Clone(lines)
	slices.SortFunc(merged, func(a, b Line) int { return cmp.Compare(a.Item, b.Item) })
	n := 0
	for i, l := range merged {
		if l.Qty < 1 || l.Qty > MaxQty {
			return nil, ErrLines
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

// Digest names the content of a hold: two holds of one id with different digests are a conflict, not a repetition.
// Lines must be merged.
func Digest(scope Scope, lines []Line) string {
	b := make([]byte, 0, 24+16*len(lines))
	b = strconv.AppendInt(b, scope.Branch, 10)
	b = append(b, '|')
	b = append(b, scope.Date...)
	for _, l := range lines {
		b = append(b, '|')
		b = strconv.AppendInt(b, l.Item, 10)
		b = append(b, '=')
		b = strconv.AppendInt(b, l.Qty, 10)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

// Shortage is a line that does not fit: asked for Requested, Available could be had.
type Shortage struct {
	Item      int64
	Requested int64
	Available int64 // never negative
}
