// Package visitsql stores tables, visits and guests in SQL.
//
// Lock order: tables in the order of their ids, QR token, visit. A scan takes shared locks of the token and the visit.
// Revoking a token and closing a visit take exclusive ones.
package visitsql

import (
	"context"
	"embed"
	"maps"
	"slices"
	"strconv"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/sqldb"
	"comanda/internal/visit"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

const (
	open     = "OPEN"
	revoked  = "REVOKED"
	maxJoins = 10 // attempts to join or open; each retry means that a visit was opened and closed in between
)

// Store implements visit.Store on a database.
type Store struct{ db *sqldb.DB }

// New returns a store.
func New(db *sqldb.DB) *Store { return &Store{db} }

// QRTarget returns the table of a QR token, or visit.ErrQRUnknown.
func (s *Store) QRTarget(ctx context.Context, qr string) (visit.QRTarget, error) {
	return sqldb.Get(ctx, s.db, visit.ErrQRUnknown, func(r sqldb.Rows) (p visit.QRTarget, err error) {
		var status string
		err = r.Scan(&p.TableID, &p.BranchID, &p.Label, &status, sqldb.Bool(&p.Active))
		p.Revoked = status == revoked
		return p, err
	}, stmt("qr_target"), qr)
}

// OpenOrJoin joins the table's open visit or opens one, and adds the guest.
func (s *Store) OpenOrJoin(ctx context.Context, e visit.OpenRequest) (id string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if err := lockQR(ctx, tx, e.QR); err != nil {
			return err
		}
		if id, err = openOrJoin(ctx, tx, e); err != nil {
			return err
		}
		tx.Queue(stmt("guest_insert"), e.TokenHash, id, e.Now.UnixMilli())
		return nil
	})
	return id, err
}

// lockQR locks a QR token and its table until the end of the transaction, so that the token cannot be revoked and the
// table cannot be made inactive. It fails if either has happened already.
func lockQR(ctx context.Context, tx sqldb.Tx, qr string) error {
	var status string
	var active bool
	found, err := sqldb.Read(ctx, tx, []any{&status, sqldb.Bool(&active)}, stmt("qr_lock"), qr)
	switch {
	case err != nil:
		return err
	case !found:
		return visit.ErrQRUnknown
	case status == revoked:
		return visit.ErrQRRevoked
	case !active:
		return visit.ErrTableInactive
	}
	return nil
}

// openOrJoin returns the table's open visit under a shared lock. If the first query finds none, another transaction
// may open a visit and close it before the next query joins it; openOrJoin then tries again.
func openOrJoin(ctx context.Context, tx sqldb.Tx, e visit.OpenRequest) (string, error) {
	for range maxJoins {
		id, found, err := oneText(ctx, tx, stmt("visit_join"), e.TableID)
		if err != nil || found {
			return id, err
		}
		n, err := tx.Exec(ctx, stmt("visit_open"), e.VisitID, e.BranchID, e.TableID, e.BizDate, e.Now.UnixMilli())
		if err != nil || n == 1 {
			return e.VisitID, err
		}
	}
	// Ten visits were opened and closed in a row meanwhile. The guest is asked to try again.
	return "", sqldb.ErrUnavailable
}

// Guest returns the guest of a token hash.
func (s *Store) Guest(ctx context.Context, tokenHash string) (visit.Guest, bool, error) {
	return sqldb.One(ctx, s.db, func(r sqldb.Rows) (visit.Guest, error) {
		g := visit.Guest{TokenHash: tokenHash}
		var status string
		err := r.Scan(&g.VisitID, &g.BranchID, &g.TableID, &status, sqldb.Time(&g.ClosedAt), sqldb.NullText(&g.Reason))
		g.VisitOpen = status == open
		return g, err
	}, stmt("guest_select"), tokenHash)
}

// UpdateLastSeen stores when open visits were last seen. It never moves a time back.
func (s *Store) UpdateLastSeen(ctx context.Context, at map[string]time.Time) error {
	ids := slices.Collect(maps.Keys(at))
	_, err := s.db.Exec(ctx, stmt("visit_seen"), sqldb.NewRowSet(len(ids)).
		Text("id", func(i int) string { return ids[i] }).
		Int("at", func(i int) int64 { return at[ids[i]].UnixMilli() }))
	return err
}

func oneText(ctx context.Context, conn sqldb.Conn, q *sqldb.Stmt, args ...any) (string, bool, error) {
	return sqldb.One(ctx, conn, sqldb.Value[string], q, args...)
}

// MoveDeadlines moves the times of open visits and their calls, after the deciding clock was moved by the same span, so
// that each stays open as long as before. It returns the number of visits.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, stmt("visit_deadline_move"), by.Milliseconds())
}

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
	count, list, args := stmt("visit_count"), stmt("visit_list"), []any{f.Branch, f.Status}
	if f.Status == open {
		count, list, args = stmt("visit_count_open"), stmt("visit_list_open"), args[:1]
	}
	page, total, err := sqldb.Page(ctx, s.db, scanVisit, count, list, f.Limit, f.Offset, args...)
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
	closed map[int64][]string, err error,
) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		closed, err = sqldb.Grouped[int64, string](ctx, tx, stmt("visit_close_idle"), now.Add(-slack).UnixMilli(), now.UnixMilli(),
			limit)
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
