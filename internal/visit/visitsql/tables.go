package visitsql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/visit"
)

// lockTable locks a table until the end of the transaction, which also keeps phones from joining or opening a visit
// there. QR and Party of the result are not set.
func lockTable(ctx context.Context, tx sqldb.Tx, by authz.Actor, id int64) (visit.Table, error) {
	t, found, err := sqldb.One(ctx, tx, scanLocked, stmt("table_lock"), id)
	if err == nil && (!found || !by.Sees(t.BranchID)) {
		err = visit.ErrTable
	}
	return t, err
}

func selectTable(ctx context.Context, tx sqldb.Tx, id int64) (visit.Table, error) {
	t, _, err := sqldb.One(ctx, tx, scanTable, stmt("table_select"), id)
	return t, err
}

// tableNote is the audit log's record of a table.
type tableNote struct {
	Label   string      `json:"label"`
	Seats   int         `json:"seats"`
	Section string      `json:"section,omitempty"`
	Active  bool        `json:"active"`
	Place   string      `json:"place,omitempty"` // on the plan, as column,row
	Shape   visit.Shape `json:"shape,omitempty"` // empty for ShapeSquare
}

func tableNoteOf(t visit.Table) tableNote {
	n := tableNote{Label: t.Label, Seats: t.Seats, Section: t.Section, Active: t.Active}
	if t.Place != nil {
		n.Place = fmt.Sprintf("%d,%d", t.Place.Column, t.Place.Row)
	}
	if t.Shape != visit.ShapeSquare {
		n.Shape = t.Shape
	}
	return n
}

// editedEntry returns the audit log's entry of an edited table.
func editedEntry(by authz.Actor, before, after visit.Table, now time.Time) audit.Entry {
	return audit.NewEntry(by, now, audit.ActionTableEdited, "table", strconv.FormatInt(after.ID, 10), after.BranchID).
		WithBefore(tableNoteOf(before)).WithAfter(tableNoteOf(after))
}

// AddTable creates a table with its QR token.
func (s *Store) AddTable(ctx context.Context, by authz.Actor, t visit.Table, now time.Time) (visit.Table, error) {
	err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) (err error) {
		t, err = addTable(ctx, tx, by, t, now)
		return err
	})
	return t, err
}

func addTable(ctx context.Context, tx sqldb.Tx, by authz.Actor, t visit.Table, now time.Time) (visit.Table, error) {
	id, err := sqldb.Scalar[int64](ctx, tx, stmt("table_insert"), t.BranchID, t.Label, t.Seats, t.Section)
	if err != nil {
		return t, labelTaken(err)
	}
	tx.Queue(stmt("qr_insert"), t.QR, id, now.UnixMilli())
	if t, err = selectTable(ctx, tx, id); err != nil {
		return t, err
	}
	return t, auditsql.Record(ctx, tx,
		audit.NewEntry(by, now, audit.ActionTableCreated, "table", strconv.FormatInt(id, 10), t.BranchID).
			WithAfter(tableNoteOf(t)))
}

// AddTables creates tables of one branch, or none. If another transaction uses a label at the same moment, the index
// refuses the label, and the error does not name it.
func (s *Store) AddTables(
	ctx context.Context, by authz.Actor, tables []visit.Table, refused []string, now time.Time,
) (all []visit.Table, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		used, err := sqldb.Collect(ctx, tx, sqldb.Value[string], stmt("table_labels"), tables[0].BranchID)
		if err != nil {
			return err
		}
		taken := slices.Clone(refused)
		for _, t := range tables {
			if slices.Contains(used, t.Label) && !slices.Contains(taken, t.Label) {
				taken = append(taken, t.Label)
			}
		}
		if len(taken) > 0 {
			return visit.LabelsTaken(taken, len(tables))
		}
		all = make([]visit.Table, len(tables))
		for i, t := range tables {
			if all[i], err = addTable(ctx, tx, by, t, now); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// EditTable changes a table.
func (s *Store) EditTable(ctx context.Context, by authz.Actor, id int64, e visit.TableEdit, now time.Time) (
	t visit.Table, err error,
) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		before, err := lockTable(ctx, tx, by, id)
		if err != nil {
			return err
		}
		if t, err = e.Apply(before); err != nil {
			return err
		}
		if before.Active && !t.Active { // a scan at this moment waits for the lock and is then refused
			switch _, taken, err := oneText(ctx, tx, stmt("visit_at"), id); {
			case err != nil:
				return err
			case taken:
				return visit.ErrTableTaken
			}
		}
		// If nothing differs, nothing is written or audited, so a repeated request is harmless.
		if tableNoteOf(t) != tableNoteOf(before) {
			column, row := planColumns(t)
			_, err := tx.Exec(ctx, stmt("table_update"), id, t.Label, t.Seats, t.Section, sqldb.Flag(t.Active), column, row)
			if err != nil {
				return labelTaken(err)
			}
			if err := auditsql.Record(ctx, tx, editedEntry(by, before, t, now)); err != nil {
				return err
			}
		}
		t, err = selectTable(ctx, tx, id)
		return err
	})
	return t, err
}

// labelTaken translates a unique violation into visit.ErrLabelTaken: only the label within its branch is unique.
func labelTaken(err error) error {
	if errors.Is(err, sqldb.ErrUnique) {
		return visit.ErrLabelTaken
	}
	return err
}

// RecordPrinted records in the audit log which tables' codes were printed, without the tokens.
func (s *Store) RecordPrinted(
	ctx context.Context, by authz.Actor, branch int64, printed visit.Printed, now time.Time,
) error {
	// Printing the codes of several or all tables at once writes one audit entry, about the branch. The console's set-up
	// reads from it whether the branch's codes were ever printed.
	subject, id := "branch", strconv.FormatInt(branch, 10)
	if len(printed.Tables) == 1 && !printed.All {
		subject, id = "table", strconv.FormatInt(printed.Tables[0], 10)
	}
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, now, audit.ActionCodesPrinted, subject, id, branch).
				WithAfter(map[string][]int64{"tables": printed.Tables}))
	})
}

// SavePlan sets the places and shapes of tables of a branch, all or none. It locks all tables of the branch, because a
// cell may be taken by a table that is not in edits. A scan waits for that lock, for a few milliseconds.
func (s *Store) SavePlan(ctx context.Context, by authz.Actor, branch int64, edits []visit.PlanEdit, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		tables, err := sqldb.Collect(ctx, tx, scanLocked, stmt("plan_lock"), branch)
		if err != nil {
			return err
		}
		changes, err := visit.ApplyPlan(tables, edits)
		if err != nil || len(changes) == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, stmt("plan_update"), planRows(changes)); err != nil {
			return err
		}
		return auditsql.Record(ctx, tx, seq.Map(changes, func(c visit.PlanChange) audit.Entry {
			return editedEntry(by, c.Was, c.Is, now)
		})...)
	})
}

func planRows(changes []visit.PlanChange) *sqldb.RowSet {
	place := func(i int) (p visit.PlanCell, placed bool) {
		if changes[i].Is.Place == nil {
			return visit.PlanCell{}, false
		}
		return *changes[i].Is.Place, true
	}
	return sqldb.NewRowSet(len(changes)).
		Int("id", func(i int) int64 { return changes[i].Is.ID }).
		NullInt("plan_column", func(i int) (int64, bool) { p, placed := place(i); return int64(p.Column), placed }).
		NullInt("plan_row", func(i int) (int64, bool) { p, placed := place(i); return int64(p.Row), placed }).
		Text("shape", func(i int) string { return string(changes[i].Is.Shape) })
}

// planColumns returns a table's place as its columns; nil for none.
func planColumns(t visit.Table) (column, row *int64) {
	if t.Place == nil {
		return nil, nil
	}
	return new(int64(t.Place.Column)), new(int64(t.Place.Row))
}

// scanLocked reads a table's own columns. QR and Party are not set.
func scanLocked(r sqldb.Rows) (t visit.Table, err error) {
	err = scanColumns(r, &t)
	return t, err
}

// scanColumns reads a table's own columns into t, and the columns after them into more.
func scanColumns(r sqldb.Rows, t *visit.Table, more ...any) error {
	var column, row *int64
	own := []any{
		&t.ID, &t.BranchID, &t.Label, &t.Seats, &t.Section, sqldb.Bool(&t.Active), &column, &row, &t.Shape,
	}
	err := r.Scan(append(own, more...)...)
	if column != nil && row != nil {
		t.Place = &visit.PlanCell{Column: int(*column), Row: int(*row)}
	}
	return err
}
