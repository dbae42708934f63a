package visit

import (
	"context"
	"slices"
	"strconv"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
)

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
