package visitsql

import (
	"context"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/visit"
)

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
