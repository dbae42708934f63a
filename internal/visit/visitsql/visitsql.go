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
	"time"

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
