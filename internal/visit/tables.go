package visit

import (
	"context"
	"slices"
	"strconv"
	"unicode/utf8"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/seq"
	"comanda/internal/text"
)

// The limits of a table.
const (
	MaxLabel   = 16 // characters; labels are printed large
	MaxSeats   = 100
	MaxSection = 32 // characters
)

// TableEdit is a change to a table. Nil fields stay as they are.
type TableEdit struct {
	Label   *string
	Seats   *int
	Section *string // empty: none
	Active  *bool
}

// Apply returns the changed table, or an error if it is not valid. A table that changes its section loses its place on
// the plan.
func (e TableEdit) Apply(t Table) (Table, error) {
	if e.Label != nil {
		var err error
		if t.Label, err = normalLabel(*e.Label); err != nil {
			return t, err
		}
	}
	if e.Seats != nil {
		t.Seats = *e.Seats
	}
	if e.Section != nil {
		section, err := normalSection(*e.Section)
		if err != nil {
			return t, err
		}
		if section != t.Section {
			t.Section, t.Place = section, nil // a place belongs to the plan of one section
		}
	}
	if e.Active != nil {
		t.Active = *e.Active
	}
	return t, t.check()
}

// check validates the properties that staff may set freely; normalLabel normalizes labels.
func (t Table) check() error {
	if t.Seats < 1 || t.Seats > MaxSeats {
		return fault.Newf(fault.Invalid, "invalid", "A table needs 1 to %d seats.", MaxSeats)
	}
	return nil
}

// normalLabel returns the stored form of a new label, so that two labels that look the same are equal. Labels that
// were stored before normalization stay until they are edited.
func normalLabel(label string) (string, error) {
	label, err := text.Line.Clean(label)
	if n := utf8.RuneCountInString(label); err != nil || n == 0 || n > MaxLabel {
		return "", fault.Newf(fault.Invalid, "invalid", "A table needs a label of 1 to %d printable characters.", MaxLabel)
	}
	return label, nil
}

// normalSection returns the stored form of the name of a section. Tables with the same name are in the same section.
func normalSection(name string) (string, error) {
	name, err := text.Line.Clean(name)
	if err != nil || utf8.RuneCountInString(name) > MaxSection {
		return "", fault.Newf(fault.Invalid, "invalid", "A section has at most %d printable characters.", MaxSection).
			With("field", "section")
	}
	return name, nil
}

// AddTable creates a table with its own QR token.
func (f *Floor) AddTable(ctx context.Context, by authz.Actor, t Table) (Table, error) {
	if !by.Sees(t.BranchID) {
		return Table{}, catalog.ErrBranch
	}
	// An actor of all branches sees every id, even one that does not exist, so the branch is read.
	if _, err := f.Guests.branches.Branch(ctx, t.BranchID); err != nil {
		return Table{}, err
	}
	t, err := TableEdit{Label: &t.Label, Section: &t.Section}.Apply(t)
	if err != nil {
		return Table{}, err
	}
	t.QR, t.Active = NewQRToken(), true
	t, err = f.Store.AddTable(ctx, by, t, f.Now())
	if err == nil {
		f.notify(t.BranchID)
	}
	return t, err
}

// EditTable changes a table. The QR code of an inactive table is refused. A table with an open visit cannot be made
// inactive.
func (f *Floor) EditTable(ctx context.Context, by authz.Actor, id int64, e TableEdit) (Table, error) {
	t, err := f.Store.EditTable(ctx, by, id, e, f.Now())
	if err == nil {
		f.notify(t.BranchID)
	}
	return t, err
}

// Printed is the tables whose codes are printed.
type Printed struct {
	Tables []int64
	All    bool // all tables of the branch that have a code, even if it is only one
}

// Codes returns a branch and its tables with the given ids, to show their codes. Without ids it returns all active
// tables that have a code.
func (f *Floor) Codes(ctx context.Context, by authz.Actor, branch int64, ids []int64) (catalog.Branch, []Table, error) {
	if !by.Sees(branch) {
		return catalog.Branch{}, nil, catalog.ErrBranch
	}
	b, err := f.Guests.branches.Branch(ctx, branch)
	if err != nil {
		return catalog.Branch{}, nil, err
	}
	all, err := f.Store.Tables(ctx, branch)
	if err != nil {
		return catalog.Branch{}, nil, err
	}
	chosen, err := choose(all, ids)
	return b, chosen, err
}

// PrintCodes is Codes for printing or downloading, which it records in the audit log.
func (f *Floor) PrintCodes(
	ctx context.Context, by authz.Actor, branch int64, ids []int64,
) (catalog.Branch, []Table, error) {
	b, chosen, err := f.Codes(ctx, by, branch, ids)
	if err != nil {
		return catalog.Branch{}, nil, err
	}
	printed := Printed{Tables: seq.Map(chosen, func(t Table) int64 { return t.ID }), All: len(ids) == 0}
	return b, chosen, f.Store.RecordPrinted(ctx, by, branch, printed, f.Now())
}

// Code is Codes for one table of any branch that the actor may see.
func (f *Floor) Code(ctx context.Context, by authz.Actor, table int64) (Table, error) {
	return f.oneCode(ctx, by, table, f.Codes)
}

// PrintCode is PrintCodes for one table of any branch that the actor may see.
func (f *Floor) PrintCode(ctx context.Context, by authz.Actor, table int64) (Table, error) {
	return f.oneCode(ctx, by, table, f.PrintCodes)
}

func (f *Floor) oneCode(
	ctx context.Context, by authz.Actor, table int64,
	codes func(context.Context, authz.Actor, int64, []int64) (catalog.Branch, []Table, error),
) (Table, error) {
	branch, err := f.Store.TableBranch(ctx, table)
	if err != nil {
		return Table{}, err
	}
	if branch == 0 || !by.Sees(branch) {
		return Table{}, ErrTable
	}
	_, chosen, err := codes(ctx, by, branch, []int64{table})
	if err != nil {
		return Table{}, err
	}
	return chosen[0], nil
}

// choose returns the tables with the given ids. It fails with ErrTable for an unknown id and ErrNoCode for a table
// without a code.
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

// The plan of a section is a grid. Its columns and rows are numbered from 0.
const (
	PlanColumns  = 30
	PlanRows     = 20
	MaxPlanEdits = 600 // tables of one request
)

// The faults of floor plans.
var (
	ErrPlace = fault.Newf(fault.Invalid, "plan_place_invalid",
		"column must be less than %d and row less than %d; a wide table also covers the next column.", PlanColumns, PlanRows)
	ErrPlaceTaken = fault.New(fault.Conflict, "plan_place_taken", "Another table of this section is in this place.")
	ErrPlanTwice  = fault.New(fault.Invalid, "plan_table_twice", "This table is listed twice.")
)

// Shape is the shape of a table on the plan.
type Shape string

// The shapes. A wide table covers two cells: its own and the next one in its row.
const (
	ShapeSquare Shape = "SQUARE"
	ShapeRound  Shape = "ROUND"
	ShapeWide   Shape = "WIDE"
)

// PlanCell is a cell on the plan of a section.
type PlanCell struct{ Column, Row int }

// cells returns the cells that a table covers on the plan of its section.
func (t Table) cells() []PlanCell {
	switch {
	case t.Place == nil:
		return nil
	case t.Shape == ShapeWide:
		return []PlanCell{*t.Place, {t.Place.Column + 1, t.Place.Row}}
	}
	return []PlanCell{*t.Place}
}

func (p PlanCell) inPlan() bool {
	return p.Column >= 0 && p.Column < PlanColumns && p.Row >= 0 && p.Row < PlanRows
}

// PlanEdit sets the place and the shape of a table.
type PlanEdit struct {
	TableID int64
	Place   *PlanCell // nil: not on the plan
	Shape   Shape
}

// PlanChange is a table before and after a PlanEdit.
type PlanChange struct{ Was, Is Table }

// ApplyPlan returns the changes that edits make to the tables of one branch; edits without effect make none. It fails
// with ErrTable for a table of another branch, ErrPlace for a place outside of the plan, ErrPlanTwice for a table with
// two edits, and ErrPlaceTaken if two tables would cover the same cell. The last three have the member "tableId", and
// ErrPlaceTaken the label of the other table as "label".
func ApplyPlan(tables []Table, edits []PlanEdit) ([]PlanChange, error) {
	byID := make(map[int64]Table, len(tables))
	for _, t := range tables {
		byID[t.ID] = t
	}
	edited := make(map[int64]Table, len(edits))
	for _, e := range edits {
		id := strconv.FormatInt(e.TableID, 10)
		t, ok := byID[e.TableID]
		if !ok {
			return nil, ErrTable
		}
		if _, ok := edited[e.TableID]; ok {
			return nil, ErrPlanTwice.With("tableId", id)
		}
		t.Place, t.Shape = e.Place, e.Shape
		if slices.ContainsFunc(t.cells(), func(p PlanCell) bool { return !p.inPlan() }) {
			return nil, ErrPlace.With("tableId", id)
		}
		edited[e.TableID] = t
	}
	type cell struct {
		section string
		PlanCell
	}
	taken := map[cell]string{} // to the label of the table
	for _, t := range tables {
		if _, ok := edited[t.ID]; ok {
			continue
		}
		for _, p := range t.cells() {
			taken[cell{t.Section, p}] = t.Label
		}
	}
	var changes []PlanChange
	for _, e := range edits {
		before, after := byID[e.TableID], edited[e.TableID]
		for _, p := range after.cells() {
			at := cell{after.Section, p}
			if label, ok := taken[at]; ok {
				return nil, ErrPlaceTaken.With("tableId", strconv.FormatInt(e.TableID, 10)).With("label", label)
			}
			taken[at] = after.Label
		}
		if before.Shape != after.Shape || !slices.Equal(before.cells(), after.cells()) {
			changes = append(changes, PlanChange{before, after})
		}
	}
	return changes, nil
}

// SavePlan sets the places and shapes of tables of a branch, all or none, and returns the tables of the branch. Tables
// that are not listed stay as they are, so two people who arrange different tables do not undo each other's work.
func (f *Floor) SavePlan(ctx context.Context, by authz.Actor, branch int64, edits []PlanEdit) ([]Table, error) {
	if !by.Sees(branch) {
		return nil, catalog.ErrBranch
	}
	if _, err := f.Guests.branches.Branch(ctx, branch); err != nil {
		return nil, err
	}
	if len(edits) == 0 || len(edits) > MaxPlanEdits {
		return nil, fault.Newf(fault.Invalid, "invalid", "Save 1 to %d tables at once.", MaxPlanEdits)
	}
	if err := f.Store.SavePlan(ctx, by, branch, edits, f.Now()); err != nil {
		return nil, err
	}
	f.notify(branch)
	return f.Store.Tables(ctx, branch)
}
