package cart

import (
	"cmp"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
)

// The limits of a shared cart, in addition to those of every cart. They apply to all guests of the table together,
// because one order may contain all lines.
const (
	MaxNotes = 200 // characters of a note, as in an order

	// maxAdded bounds the number of lines ever added during a visit, because removed and ordered lines stay as
	// tombstones. No party reaches it.
	maxAdded = 2000
)

// Shared is the cart that the guests of one visit fill together. With version 0 it never had a line.
type Shared struct {
	VisitID string
	Version int64 // increases with every transaction that changes the cart
	Added   int64 // number of lines that were ever added
	Lines   []SharedLine
}

// SharedLine is one line of a shared cart. Its id comes from the phone that added it and identifies it in its visit, so
// that a repeated request has one effect. Two lines may be of the same dish: each belongs to the guest who added it.
type SharedLine struct {
	ID        string
	GuestHash string // of the phone that added it, see visit.Guest.ShortHash
	ItemID    int64
	DishID    int64
	Quantity  int64
	Notes     string
	Options   string // see catalog.EncodeOptions; empty: none
	CreatedAt time.Time
}

// sees reports whether a line in an order equals the current line.
func (l SharedLine) sees(o SharedLine) bool {
	return l.ID == o.ID && l.ItemID == o.ItemID && l.Quantity == o.Quantity && l.Notes == o.Notes &&
		l.Options == o.Options
}

// SharedChange sets a line of a visit's cart. Quantity 0 removes it.
type SharedChange struct {
	VisitID string
	Line    SharedLine
}

// The faults of shared carts.
var (
	ErrNotShared = fault.New(fault.Conflict, "cart_not_shared", "This table has no shared cart.")
	ErrMaxAdded  = fault.Newf(fault.Conflict, "cart_lines_exhausted",
		"A table can add at most %d dishes to its cart. Please order with the staff.", maxAdded)
	ErrNotes = fault.Newf(fault.Invalid, "invalid", "A note can have at most %d characters.", MaxNotes)
)

// SharedDraft applies changes and orders to a locked shared cart in memory. It does no I/O.
type SharedDraft struct {
	Shared

	loaded  int64           // version before the transaction
	gone    map[string]bool // those tombstones whose ids the transaction names
	changed map[string]SharedLine
}

// NewSharedDraft returns a draft of a cart with its lines. Add tombstones with AddTombstone.
func NewSharedDraft(c Shared) *SharedDraft {
	d := &SharedDraft{Shared: c, loaded: c.Version, gone: map[string]bool{}, changed: map[string]SharedLine{}}
	d.Lines = slices.Clone(c.Lines)
	return d
}

// AddTombstone records that a line was removed or ordered by an earlier transaction.
func (d *SharedDraft) AddTombstone(id string) { d.gone[id] = true }

// Changes returns the lines to write. Those with quantity 0 become tombstones.
func (d *SharedDraft) Changes() []SharedLine {
	return slices.SortedFunc(maps.Values(d.changed), func(a, b SharedLine) int { return cmp.Compare(a.ID, b.ID) })
}

// Apply adds, changes or removes a line. A change that fails leaves the cart unchanged. A line that another guest has
// removed or ordered is not added again: its phone may repeat a request whose response was lost. If the removal of a
// line arrives before the request that adds it, the line is not added either.
func (d *SharedDraft) Apply(l SharedLine, now time.Time) error {
	i := d.find(l.ID)
	switch {
	case l.Quantity == 0:
		switch {
		case i >= 0:
			d.remove(i)
		case !d.gone[l.ID] && d.Added < maxAdded:
			d.Added++ // tombstones count, because their number must be bounded
			d.gone[l.ID] = true
			l.CreatedAt = now
			d.touch(l)
		}
		return nil
	case d.gone[l.ID] || i >= 0 && d.Lines[i].ItemID != l.ItemID:
		return ErrChanged
	case i >= 0:
		return d.set(i, l)
	}
	return d.add(l, now)
}

// add appends a new line, or refuses without a change.
func (d *SharedDraft) add(l SharedLine, now time.Time) error {
	if err := checkTotal(l.Quantity, 0, d.units()); err != nil {
		return err
	}
	switch {
	case len(d.Lines) >= MaxLines:
		return ErrFull
	case d.Added >= maxAdded:
		return ErrMaxAdded
	}
	l.CreatedAt = now
	d.Lines = append(d.Lines, l)
	d.Added++
	d.touch(l)
	return nil
}

// set changes the quantity, the note and the options of a line. The line still belongs to the guest who added it.
func (d *SharedDraft) set(i int, l SharedLine) error {
	current := &d.Lines[i]
	if err := checkTotal(l.Quantity, current.Quantity, d.units()); err != nil {
		return err
	}
	if current.Quantity == l.Quantity && current.Notes == l.Notes && current.Options == l.Options {
		return nil
	}
	current.Quantity, current.Notes, current.Options = l.Quantity, l.Notes, l.Options
	d.touch(*current)
	return nil
}

// Has reports whether all lines of an order are in the cart as the guest saw them. If not, the order is refused with
// ErrChanged: a guest never orders a line that another guest has changed, and no line is ordered twice.
func (d *SharedDraft) Has(lines []SharedLine) bool {
	for n, l := range lines {
		i := d.find(l.ID)
		named := slices.ContainsFunc(lines[:n], func(o SharedLine) bool { return o.ID == l.ID })
		if named || i < 0 || !d.Lines[i].sees(l) {
			return false
		}
	}
	return true
}

// Take removes lines that became an order. Has must have returned true for them.
func (d *SharedDraft) Take(lines []SharedLine) {
	for _, l := range lines {
		d.remove(d.find(l.ID))
	}
}

// remove turns a line into a tombstone.
func (d *SharedDraft) remove(i int) {
	l := d.Lines[i]
	l.Quantity = 0
	d.gone[l.ID] = true
	d.Lines = slices.Delete(d.Lines, i, i+1)
	d.touch(l)
}

func (d *SharedDraft) touch(l SharedLine) {
	d.changed[l.ID] = l
	d.Version = d.loaded + 1 // one step per transaction, whatever the number of its changes
}

func (d *SharedDraft) find(id string) int {
	return slices.IndexFunc(d.Lines, func(l SharedLine) bool { return l.ID == id })
}

func (d *SharedDraft) units() (sum int64) {
	for _, l := range d.Lines {
		sum += l.Quantity
	}
	return sum
}

func checkNotes(notes string) error {
	if utf8.RuneCountInString(notes) > MaxNotes {
		return ErrNotes
	}
	return nil
}
