package visitsql

import (
	"context"
	"strconv"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/sqldb"
	"comanda/internal/visit"
)

// Tables returns the tables of a branch by label, or of all branches for 0.
func (s *Store) Tables(ctx context.Context, branch int64) ([]visit.Table, error) {
	return sqldb.Collect(ctx, s.db, scanTable, stmt("table_list"), branch)
}

// TableBranch returns the branch of a table, or 0 for an unknown table.
func (s *Store) TableBranch(ctx context.Context, table int64) (int64, error) {
	return sqldb.Scalar[int64](ctx, s.db, stmt("table_branch"), table)
}

// Visits returns a page of a branch's visits, newest first, and their total number.
func (s *Store) Visits(ctx context.Context, f visit.Filter) ([]visit.Visit, int, error) {
	page, total, err := sqldb.Page(ctx, s.db, scanVisit, stmt("visit_count"), stmt("visit_list"), f.Limit, f.Offset,
		f.Branch, f.Status)
	return page, int(total), err
}

// Close closes a visit. For an actor who may not see it, it fails with visit.ErrVisit, which rolls the change back.
func (s *Store) Close(ctx context.Context, by authz.Actor, id string, why visit.CloseReason, now time.Time) (
	v visit.Visit, err error,
) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		closed, err := tx.Exec(ctx, stmt("visit_close"), id, string(why), now.UnixMilli())
		if err != nil {
			return err
		}
		var found bool
		v, found, err = selectVisit(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case !found || !by.Sees(v.BranchID):
			return visit.ErrVisit
		case closed == 0:
			return nil
		}
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, now, audit.ActionVisitClosed, "visit", id, v.BranchID))
	})
	return v, err
}

// RotateQR revokes a table's QR token, adds a new one and closes the open visit.
func (s *Store) RotateQR(ctx context.Context, by authz.Actor, table int64, qr string, now time.Time) (
	t visit.Table, closed []string, err error,
) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		locked, err := lockTable(ctx, tx, by, table)
		if err != nil {
			return err
		}
		tx.Queue(stmt("qr_revoke"), table, now.UnixMilli())
		tx.Queue(stmt("qr_insert"), qr, table, now.UnixMilli())
		if closed, err = sqldb.Collect(ctx, tx, sqldb.Value[string], stmt("visit_close_table"), table,
			string(visit.ClosedQRRotated),
			now.UnixMilli()); err != nil {
			return err
		}
		if t, err = selectTable(ctx, tx, table); err != nil {
			return err
		}
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, now, audit.ActionTableRotated, "table", strconv.FormatInt(table, 10), locked.BranchID).
				WithAfter(map[string][]string{"closedVisits": closed}))
	})
	return t, closed, err
}

// CloseIdle closes idle visits without unpaid orders. Several processes may run it at once.
func (s *Store) CloseIdle(ctx context.Context, now time.Time, slack time.Duration, limit int) (
	closed []string, err error,
) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		closed, err = sqldb.Collect(ctx, tx, sqldb.Value[string], stmt("visit_close_idle"), now.Add(-slack).UnixMilli(),
			now.UnixMilli(), limit)
		return err
	})
	return closed, err
}

// StaleKeys returns closed visits that Redis may still hold keys of, in the order of their closing.
func (s *Store) StaleKeys(ctx context.Context, limit int) ([]string, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Value[string], stmt("visit_keys_stale"), limit)
}

// ClearStaleKeys removes visits that were closed before an instant from StaleKeys.
func (s *Store) ClearStaleKeys(ctx context.Context, visits []string, closedBefore time.Time) error {
	_, err := s.db.Exec(ctx, stmt("visit_keys_deleted"), sqldb.IDs(visits), closedBefore.UnixMilli())
	return err
}

// scanTable reads a table with its party; without an open visit the columns of the visit are NULL.
func scanTable(r sqldb.Rows) (t visit.Table, err error) {
	var p visit.Party
	err = scanColumns(r, &t, &t.QR, &p.Currency, sqldb.NullText(&p.VisitID), sqldb.Time(&p.OpenedAt),
		sqldb.Time(&p.Calls.Bill), sqldb.Time(&p.Calls.Help), sqldb.Time(&p.Calls.Water), &p.Guests, &p.Orders, &p.Unpaid)
	if p.VisitID != "" {
		t.Party = &p
	}
	return t, err
}

func scanVisit(r sqldb.Rows) (v visit.Visit, err error) {
	var status string
	var calls visit.Calls
	err = r.Scan(&v.ID, &v.BranchID, &v.TableID, &v.TableLabel, &v.BizDate, &status, sqldb.Time(&v.OpenedAt),
		sqldb.Time(&v.LastSeenAt), sqldb.Time(&v.ClosedAt), sqldb.NullText(&v.Reason), sqldb.Time(&calls.Bill),
		sqldb.Time(&calls.Help), sqldb.Time(&calls.Water), &v.Guests)
	if v.Open = status == open; v.Open { // the calls of a closed visit no longer matter
		v.Calls = calls
	}
	return v, err
}
