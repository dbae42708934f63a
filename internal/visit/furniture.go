package visit

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/text"
)

// Limits of a table.
const (
	MaxLabel = 16 // characters; a label is printed large
	MaxSeats = 100
)

// Furniture is what keeping tables needs of the store, normally visitsql. What the actor changes is in the audit log with
// it; a table of a branch that they do not see is answered as if there were none.
type Furniture interface {
	// AddTable makes a table with a code, or gives ErrLabelTaken.
	AddTable(ctx context.Context, by identity.Actor, t Table, now time.Time) (Table, error)
	// EditTable gives ErrTableTaken for a table that is to be out of use while somebody sits there.
	EditTable(ctx context.Context, by identity.Actor, id int64, e TableEdit, now time.Time) (Table, error)
	// Printed notes that the codes of tables were printed.
	Printed(ctx context.Context, by identity.Actor, branch int64, tables []int64, now time.Time) error
}

// TableEdit says what of a table is to be otherwise; nil leaves it.
type TableEdit struct {
	Label  *string
	Seats  *int
	Active *bool
}

// To gives the table as it is to be, checked.
func (e TableEdit) To(t Table) (Table, error) {
	if e.Label != nil {
		var err error
		if t.Label, err = normalLabel(*e.Label); err != nil {
			return t, err
		}
	}
	if e.Seats != nil {
		t.Seats = *e.Seats
	}
	if e.Active != nil {
		t.Active = *e.Active
	}
	return t, t.check()
}

func (t Table) check() error {
	if t.Seats < 1 || t.Seats > MaxSeats {
		return fault.Newf(fault.Invalid, "invalid", "A table has 1 to %d seats.", MaxSeats)
	}
	return nil
}

// normalLabel returns a new label as it is kept: two that look alike must not be two tables. A label that was stored
// before there was a rule for texts stays until somebody changes it.
func normalLabel(label string) (string, error) {
	label, err := text.Line.Clean(label)
	if n := utf8.RuneCountInString(label); err != nil || n == 0 || n > MaxLabel {
		return "", fault.Newf(fault.Invalid, "invalid", "A table has a label of 1 to %d characters that can be printed.", MaxLabel)
	}
	return label, nil
}

// AddTable makes a table with a code of its own.
func (f *Floor) AddTable(ctx context.Context, by identity.Actor, t Table) (Table, error) {
	if !by.Sees(t.BranchID) {
		return Table{}, catalog.ErrBranch
	}
	if _, err := f.Guests.branches.Branch(ctx, t.BranchID); err != nil {
		return Table{}, err
	}
	var err error
	if t.Label, err = normalLabel(t.Label); err != nil {
		return Table{}, err
	}
	if err := t.check(); err != nil {
		return Table{}, err
	}
	t.QR, t.Active = NewQRToken(), true
	t, err = f.Furniture.AddTable(ctx, by, t, f.Now())
	if err == nil {
		f.told(t.BranchID)
	}
	return t, err
}

// EditTable changes a table. One that is out of use lets nobody in; nobody may sit there when it is put out of use.
func (f *Floor) EditTable(ctx context.Context, by identity.Actor, id int64, e TableEdit) (Table, error) {
	t, err := f.Furniture.EditTable(ctx, by, id, e, f.Now())
	if err == nil {
		f.told(t.BranchID)
	}
	return t, err
}

// Codes gives a branch and those of its tables whose codes are to be printed, and notes that they were. Without ids it is
// all that are in use and have a code.
func (f *Floor) Codes(ctx context.Context, by identity.Actor, branch int64, ids []int64) (catalog.Branch, []Table, error) {
	if !by.Sees(branch) {
		return catalog.Branch{}, nil, catalog.ErrBranch
	}
	b, err := f.Guests.branches.Branch(ctx, branch)
	if err != nil {
		return catalog.Branch{}, nil, err
	}
	all, err := f.Plan.Tables(ctx, branch)
	if err != nil {
		return catalog.Branch{}, nil, err
	}
	chosen, err := choose(all, ids)
	if err != nil {
		return catalog.Branch{}, nil, err
	}
	named := make([]int64, len(chosen))
	for i, t := range chosen {
		named[i] = t.ID
	}
	return b, chosen, f.Furniture.Printed(ctx, by, branch, named, f.Now())
}

// Code is Codes for one table, whichever branch it stands in.
func (f *Floor) Code(ctx context.Context, by identity.Actor, table int64) (Table, error) {
	branch, err := f.Plan.TableBranch(ctx, table)
	if err != nil {
		return Table{}, err
	}
	if branch == 0 || !by.Sees(branch) {
		return Table{}, ErrTable
	}
	_, chosen, err := f.Codes(ctx, by, branch, []int64{table})
	if err != nil {
		return Table{}, err
	}
	return chosen[0], nil
}

func choose(all []Table, ids []int64) ([]Table, error) {
	if len(ids) == 0 {
		all = slices.DeleteFunc(all, func(t Table) bool { return !t.Active || t.QR == "" })
		if len(all) == 0 {
			return nil, ErrTable
		}
		return all, nil
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(t Table) bool { return !slices.Contains(ids, t.ID) })
	for _, id := range ids {
		if !slices.ContainsFunc(chosen, func(t Table) bool { return t.ID == id }) {
			return nil, ErrTable
		}
	}
	if slices.ContainsFunc(chosen, func(t Table) bool { return t.QR == "" }) {
		return nil, ErrNoCode
	}
	return chosen, nil
}
