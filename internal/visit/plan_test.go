package visit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/testenv"
	"comanda/internal/visit"
)

func at(column, row int) *visit.PlanCell { return &visit.PlanCell{Column: column, Row: row} }

// plan describes the placed tables of a branch, such as "3 1,2 ROUND".
func plan(tables []visit.Table) string {
	var all []string
	for _, t := range tables {
		if t.Place != nil {
			all = append(all, fmt.Sprintf("%d %d,%d %s", t.ID, t.Place.Column, t.Place.Row, t.Shape))
		}
	}
	return strings.Join(all, "; ")
}

func TestApplyPlan(t *testing.T) {
	square, round, wide := visit.ShapeSquare, visit.ShapeRound, visit.ShapeWide
	tables := []visit.Table{
		{ID: 1, Label: "A1", Shape: square, Place: at(0, 0)},
		{ID: 2, Label: "A2", Shape: wide, Place: at(1, 0)}, // covers 1,0 and 2,0
		{ID: 3, Label: "A3", Shape: round},
		{ID: 4, Label: "T1", Shape: square, Place: at(0, 0), Section: "Terrace"},
	}
	for what, c := range map[string]struct {
		edits   []visit.PlanEdit
		want    string // the plan of the changed tables
		changes int
		fault   *fault.Error
		extra   map[string]any
	}{
		"a free cell":               {edits: []visit.PlanEdit{{3, at(3, 0), round}}, changes: 1, want: "3 3,0 ROUND"},
		"the last cell":             {edits: []visit.PlanEdit{{3, at(29, 19), square}}, changes: 1, want: "3 29,19 SQUARE"},
		"the last cells":            {edits: []visit.PlanEdit{{3, at(28, 19), wide}}, changes: 1, want: "3 28,19 WIDE"},
		"off the plan":              {edits: []visit.PlanEdit{{1, nil, square}}, changes: 1},
		"another shape":             {edits: []visit.PlanEdit{{1, at(0, 0), round}}, changes: 1, want: "1 0,0 ROUND"},
		"the shape of one without":  {edits: []visit.PlanEdit{{3, nil, wide}}, changes: 1},
		"as it is":                  {edits: []visit.PlanEdit{{1, at(0, 0), square}, {3, nil, round}}},
		"two that swap":             {edits: []visit.PlanEdit{{1, at(2, 0), square}, {2, at(0, 0), wide}}, changes: 2, want: "1 2,0 SQUARE; 2 0,0 WIDE"},
		"the cell of one that goes": {edits: []visit.PlanEdit{{3, at(0, 0), round}, {1, nil, square}}, changes: 2, want: "3 0,0 ROUND"},
		"the same in two sections":  {edits: []visit.PlanEdit{{4, at(1, 0), square}}, changes: 1, want: "4 1,0 SQUARE"},

		"no table": {edits: []visit.PlanEdit{{9, at(5, 5), square}}, fault: visit.ErrTable},
		"twice":    {edits: []visit.PlanEdit{{3, at(5, 5), square}, {3, at(6, 5), square}}, fault: visit.ErrPlanTwice, extra: map[string]any{"tableId": "3"}},
		"a taken cell": {
			edits: []visit.PlanEdit{{3, at(0, 0), round}}, fault: visit.ErrPlaceTaken, extra: map[string]any{"tableId": "3", "label": "A1"},
		},
		"the second cell of a wide table": {
			edits: []visit.PlanEdit{{3, at(2, 0), round}}, fault: visit.ErrPlaceTaken, extra: map[string]any{"tableId": "3", "label": "A2"},
		},
		"too wide for its neighbour": {
			edits: []visit.PlanEdit{{1, at(0, 0), wide}}, fault: visit.ErrPlaceTaken, extra: map[string]any{"tableId": "1", "label": "A2"},
		},
		"two to one cell": {
			edits: []visit.PlanEdit{{1, at(5, 5), square}, {3, at(5, 5), round}}, fault: visit.ErrPlaceTaken,
			extra: map[string]any{"tableId": "3", "label": "A1"},
		},
		"beyond the last column": {edits: []visit.PlanEdit{{3, at(30, 0), square}}, fault: visit.ErrPlace, extra: map[string]any{"tableId": "3"}},
		"too wide for the plan":  {edits: []visit.PlanEdit{{3, at(29, 0), wide}}, fault: visit.ErrPlace, extra: map[string]any{"tableId": "3"}},
		"beyond the last row":    {edits: []visit.PlanEdit{{3, at(0, 20), square}}, fault: visit.ErrPlace, extra: map[string]any{"tableId": "3"}},
		"before the first":       {edits: []visit.PlanEdit{{3, at(-1, 0), square}}, fault: visit.ErrPlace, extra: map[string]any{"tableId": "3"}},
	} {
		t.Run(what, func(t *testing.T) {
			changes, err := visit.ApplyPlan(tables, c.edits)
			if c.fault != nil {
				f, _ := errors.AsType[*fault.Error](err)
				if !errors.Is(err, c.fault) {
					t.Fatalf("ApplyPlan = %v, %v, want %v", changes, err, c.fault)
				}
				testenv.Equal(t, c.extra, f.Extra)
				return
			}
			testenv.NoError(t, err)
			var is []visit.Table
			for _, change := range changes {
				is = append(is, change.Is)
			}
			if got := plan(is); got != c.want || len(changes) != c.changes {
				t.Errorf("%d changes: %s", len(changes), got)
			}
		})
	}
}

// A cell that two tables cover already, as an older release may leave it, does not block other tables.
func TestApplyPlan_with_a_collision(t *testing.T) {
	tables := []visit.Table{{ID: 1, Place: at(0, 0)}, {ID: 2, Place: at(0, 0)}, {ID: 3}}
	if _, err := visit.ApplyPlan(tables, []visit.PlanEdit{{3, at(1, 0), visit.ShapeSquare}}); err != nil {
		t.Error(err)
	}
	_, err := visit.ApplyPlan(tables, []visit.PlanEdit{{2, at(0, 0), visit.ShapeRound}})
	testenv.ErrorIs(t, visit.ErrPlaceTaken, err, "one of the two")
}

// clearPlan takes the demo's tables off the plan.
func (h *fixture) clearPlan() {
	h.t.Helper()
	var edits []visit.PlanEdit
	for id := range int64(6) {
		edits = append(edits, visit.PlanEdit{TableID: id + 1, Shape: visit.ShapeSquare})
	}
	testenv.Must(h.floor.SavePlan(h.t.Context(), authz.System(), 1, edits))(h.t)
}

func TestFloor_SavePlan(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		h.clearPlan()
		already := len(h.log("table:3"))
		save := func(edits ...visit.PlanEdit) ([]visit.Table, error) {
			return h.floor.SavePlan(t.Context(), authz.System(), 1, edits)
		}
		want := func(want string) {
			t.Helper()
			testenv.Equal(t, want, plan(testenv.Must(h.floor.Tables(t.Context(), authz.System(), 1))(t)))
		}
		got, err := save(visit.PlanEdit{3, at(1, 2), visit.ShapeRound}, visit.PlanEdit{4, at(2, 2), visit.ShapeWide})
		if err != nil || len(got) != 6 || plan(got) != "3 1,2 ROUND; 4 2,2 WIDE" {
			t.Fatalf("SavePlan = %s, %v, want tables 3 and 4 placed", plan(got), err)
		}
		want("3 1,2 ROUND; 4 2,2 WIDE")
		testenv.Must(save(visit.PlanEdit{3, at(3, 2), visit.ShapeRound}, visit.PlanEdit{4, at(1, 2), visit.ShapeWide}))(t) // they swap
		testenv.Must(save(visit.PlanEdit{3, at(3, 2), visit.ShapeRound}))(t)                                               // as it is
		want("3 3,2 ROUND; 4 1,2 WIDE")

		_, err = save(visit.PlanEdit{5, at(9, 9), visit.ShapeSquare}, visit.PlanEdit{6, at(2, 2), visit.ShapeSquare})
		testenv.ErrorIs(t, visit.ErrPlaceTaken, err, "the second cell of a wide table")
		_, err = save(visit.PlanEdit{5, at(9, 9), visit.ShapeSquare}, visit.PlanEdit{7, at(0, 0), visit.ShapeSquare})
		testenv.ErrorIs(t, visit.ErrTable, err, "a table of another branch")
		_, err = save()
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("nothing: %v", err)
		}
		for branch, by := range map[int64]authz.Actor{1: {Branches: []int64{2}}, 9: authz.System()} {
			_, err = h.floor.SavePlan(t.Context(), by, branch, []visit.PlanEdit{{3, at(0, 0), visit.ShapeSquare}})
			testenv.ErrorIs(t, catalog.ErrBranch, err, "a foreign or unknown branch")
		}
		want("3 3,2 ROUND; 4 1,2 WIDE") // all or none

		for _, e := range []visit.TableEdit{{Seats: new(2)}, {Section: new("")}, {Active: new(false)}} {
			testenv.Must(h.floor.EditTable(t.Context(), authz.System(), 3, e))(t)
		}
		want("3 3,2 ROUND; 4 1,2 WIDE")
		moved := testenv.Must(h.floor.EditTable(t.Context(), authz.System(), 3, visit.TableEdit{Section: new("Terrace")}))(t)
		if moved.Place != nil || moved.Shape != visit.ShapeRound {
			t.Errorf("in another section: %+v", moved)
		}
		testenv.Must(save(visit.PlanEdit{3, at(1, 2), visit.ShapeRound}))(t) // A4 has this place in its own section
		want("3 1,2 ROUND; 4 1,2 WIDE")
		_, err = h.floor.EditTable(t.Context(), authz.System(), 4, visit.TableEdit{Section: new("Terrace")})
		testenv.NoError(t, err)
		want("3 1,2 ROUND")
		if got := h.log("table:3")[already:]; !slices.Equal(got, slices.Repeat([]string{"table_edited"}, 6)) {
			t.Errorf("the audit log has %v", got)
		}
	})
}

// Of several people who put different tables into one cell at once, one succeeds (V7). The first rounds only open the
// connections to the database.
func TestFloor_SavePlan_concurrently(t *testing.T) {
	each(t, func(h *fixture) {
		h.clearPlan()
		for round := range 10 {
			errs := make([]error, 6)
			var wg sync.WaitGroup
			for i := range errs {
				wg.Go(func() {
					edits := []visit.PlanEdit{{int64(i + 1), at(round, 5), visit.ShapeSquare}}
					_, errs[i] = h.floor.SavePlan(h.t.Context(), authz.System(), 1, edits)
				})
			}
			wg.Wait()
			for _, err := range slices.DeleteFunc(errs, func(err error) bool { return err == nil }) {
				testenv.ErrorIs(h.t, visit.ErrPlaceTaken, err, "the others")
			}
			all := testenv.Must(h.floor.Tables(h.t.Context(), authz.System(), 1))(h.t)
			if n := strings.Count(plan(all), fmt.Sprintf(" %d,5", round)); n != 1 {
				h.t.Fatalf("round %d: %d tables are in one cell", round, n)
			}
		}
	})
}
