package visitsql

import (
	"context"
	"errors"
	"time"

	"comanda/internal/identity"
	"comanda/internal/identity/identitysql"
	"comanda/internal/sqldb"
	"comanda/internal/visit"
)

// Seat opens a visit at a table that is free and in use.
func (s *Store) Seat(ctx context.Context, by identity.Actor, e visit.Entry) (v visit.Visit, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		t, err := lockTable(ctx, tx, by, e.TableID)
		if err != nil {
			return err
		}
		if !t.Active {
			return visit.ErrTableInactive
		}
		n, err := tx.Exec(ctx, visitOpen, e.VisitID, e.BranchID, e.TableID, e.BizDate, e.Now.UnixMilli())
		if err != nil {
			return err
		}
		if n == 0 {
			return visit.ErrTableTaken
		}
		if v, _, err = selectVisit(ctx, tx, e.VisitID); err != nil {
			return err
		}
		return identitysql.RecordAudit(ctx, tx,
			by.AuditEntry(e.Now, identity.ActionVisitOpened, "visit", e.VisitID, e.BranchID).WithAfter(seatOf(v)))
	})
	return v, err
}

// seat is what the audit log says of where a party sits.
type seat struct {
	TableID int64  `json:"tableId,string"`
	Label   string `json:"table"`
}

func seatOf(v visit.Visit) seat { return seat{v.TableID, v.TableLabel} }

func selectVisit(ctx context.Context, conn sqldb.Conn, id string) (visit.Visit, bool, error) {
	rows, err := conn.Query(ctx, visitSelect, id)
	return sqldb.One(rows, err, scanVisit)
}

// Move takes a visit to another table. That table is locked first, so that whoever scans its code meanwhile has come either
// before, and the table is taken, or after, and joins.
func (s *Store) Move(ctx context.Context, by identity.Actor, id string, table int64, now time.Time) (
	v visit.Visit, moved bool, err error,
) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		moved = false
		target, missing := lockTable(ctx, tx, by, table)
		if missing != nil && !errors.Is(missing, visit.ErrTable) {
			return missing
		}
		was, err := lockVisit(ctx, tx, by, id)
		switch {
		case err != nil:
			return err
		case missing != nil || target.BranchID != was.BranchID:
			return visit.ErrTable
		case was.TableID != table:
			if err := moveTo(ctx, tx, id, target); err != nil {
				return err
			}
			moved = true
		}
		if v, _, err = selectVisit(ctx, tx, id); err != nil || !moved {
			return err
		}
		return identitysql.RecordAudit(ctx, tx,
			by.AuditEntry(now, identity.ActionVisitMoved, "visit", id, v.BranchID).WithBefore(seatOf(was)).WithAfter(seatOf(v)))
	})
	return v, moved, err
}

// lockVisit gives an open visit, which stays open and where it is until the end of the transaction.
func lockVisit(ctx context.Context, tx sqldb.Tx, by identity.Actor, id string) (visit.Visit, error) {
	rows, err := tx.Query(ctx, visitLock, id)
	_, found, err := sqldb.One(rows, err, scanText)
	if err != nil {
		return visit.Visit{}, err
	}
	v, _, err := selectVisit(ctx, tx, id)
	switch {
	case err != nil:
		return v, err
	case !found || !by.Sees(v.BranchID):
		return v, visit.ErrVisit
	case !v.Open:
		return v, visit.ErrClosed
	}
	return v, nil
}

func moveTo(ctx context.Context, tx sqldb.Tx, id string, t visit.Table) error {
	if !t.Active {
		return visit.ErrTableInactive
	}
	// Asked before it is tried: two parties that are to change places at once would otherwise wait for each other.
	switch _, taken, err := oneText(ctx, tx, visitAt, t.ID); {
	case err != nil:
		return err
	case taken:
		return visit.ErrTableTaken
	}
	_, err := tx.Exec(ctx, visitMove, id, t.ID)
	if errors.Is(err, sqldb.ErrUnique) {
		return visit.ErrTableTaken
	}
	return err
}

// Call notes since when a visit has been calling.
func (s *Store) Call(ctx context.Context, id string, reason visit.Call, now time.Time) (
	v visit.Visit, rang bool, err error,
) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		n, err := tx.Exec(ctx, visitCall, id, string(reason), now.UnixMilli())
		if err != nil {
			return err
		}
		rang = n > 0
		if v, _, err = selectVisit(ctx, tx, id); err == nil && !v.Open {
			err = visit.ErrClosed
		}
		return err
	})
	return v, rang, err
}

// Answer ends calls, or gives visit.ErrVisit, which undoes it for an actor who does not see the visit.
func (s *Store) Answer(ctx context.Context, by identity.Actor, id string, reason visit.Call) (v visit.Visit, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := tx.Exec(ctx, visitAnswer, id, string(reason)); err != nil {
			return err
		}
		var found bool
		if v, found, err = selectVisit(ctx, tx, id); err == nil && (!found || !by.Sees(v.BranchID)) {
			err = visit.ErrVisit
		}
		return err
	})
	return v, err
}
