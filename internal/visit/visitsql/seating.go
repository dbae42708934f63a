package visitsql

import (
	"context"
	"errors"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/event"
	"comanda/internal/event/outbox"
	"comanda/internal/sqldb"
	"comanda/internal/visit"
)

// Seat opens a visit at an active table without an open visit. It fails with ErrTableInactive or ErrTableTaken.
func (s *Store) Seat(ctx context.Context, by authz.Actor, e visit.OpenRequest) (v visit.Visit, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		t, err := lockTable(ctx, tx, by, e.TableID)
		if err != nil {
			return err
		}
		if !t.Active {
			return visit.ErrTableInactive
		}
		n, err := tx.Exec(ctx, stmt("visit_open"), e.VisitID, e.BranchID, e.TableID, e.BizDate, e.Now.UnixMilli())
		if err != nil {
			return err
		}
		if n == 0 {
			return visit.ErrTableTaken
		}
		if v, _, err = selectVisit(ctx, tx, e.VisitID); err != nil {
			return err
		}
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, e.Now, audit.ActionVisitOpened, "visit", e.VisitID, e.BranchID).WithAfter(seatNoteOf(v)))
	})
	return v, err
}

// seatNote is the audit log's record of a visit's table.
type seatNote struct {
	TableID int64  `json:"tableId,string"`
	Label   string `json:"table"`
}

func seatNoteOf(v visit.Visit) seatNote { return seatNote{v.TableID, v.TableLabel} }

func selectVisit(ctx context.Context, conn sqldb.Conn, id string) (visit.Visit, bool, error) {
	return sqldb.One(ctx, conn, scanVisit, stmt("visit_select"), id)
}

// Move moves a visit to another table. It locks that table first. A concurrent scan of the table's code then either
// comes before, and the table is taken, or comes after and joins the moved visit.
func (s *Store) Move(ctx context.Context, by authz.Actor, id string, table int64, now time.Time) (
	v visit.Visit, moved bool, err error,
) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		moved = false
		// A missing table is reported only after a missing visit, which is the more useful error.
		target, missing := lockTable(ctx, tx, by, table)
		if missing != nil && !errors.Is(missing, visit.ErrTable) {
			return missing
		}
		before, err := lockVisit(ctx, tx, by, id)
		switch {
		case err != nil:
			return err
		case missing != nil || target.BranchID != before.BranchID:
			return visit.ErrTable
		case before.TableID != table:
			if err := moveVisit(ctx, tx, id, target); err != nil {
				return err
			}
			moved = true
		}
		if v, _, err = selectVisit(ctx, tx, id); err != nil || !moved {
			return err
		}
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, now, audit.ActionVisitMoved, "visit", id, v.BranchID).
				WithBefore(seatNoteOf(before)).WithAfter(seatNoteOf(v)))
	})
	return v, moved, err
}

// lockVisit locks an open visit until the end of the transaction: it can be neither closed nor moved.
func lockVisit(ctx context.Context, tx sqldb.Tx, by authz.Actor, id string) (visit.Visit, error) {
	_, found, err := sqldb.One(ctx, tx, sqldb.Value[string], stmt("visit_lock"), id)
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

// moveVisit moves a locked visit to a locked table, if the table is active and free.
func moveVisit(ctx context.Context, tx sqldb.Tx, id string, t visit.Table) error {
	if !t.Active {
		return visit.ErrTableInactive
	}
	// The table is checked before the update. Otherwise two visits that swap tables would wait for each other's unique
	// index entry.
	switch _, taken, err := oneText(ctx, tx, stmt("visit_at"), t.ID); {
	case err != nil:
		return err
	case taken:
		return visit.ErrTableTaken
	}
	_, err := tx.Exec(ctx, stmt("visit_move"), id, t.ID)
	if errors.Is(err, sqldb.ErrUnique) {
		return visit.ErrTableTaken
	}
	return err
}

// Call stores the start of a call.
func (s *Store) Call(ctx context.Context, id string, reason visit.CallReason, now time.Time) (
	v visit.Visit, added bool, err error,
) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// The statement keeps the start of a running call, so n is 0 for a repeated call and for a closed visit.
		n, err := tx.Exec(ctx, stmt("visit_call"), id, string(reason), now.UnixMilli())
		if err != nil {
			return err
		}
		added = n > 0
		if v, _, err = selectVisit(ctx, tx, id); err == nil && !v.Open {
			err = visit.ErrClosed
		}
		if err == nil && added {
			outbox.Queue(tx, []event.Event{event.VisitCalled.New(now, v.ID, 0, v.BranchID, event.Called{
				VisitID: v.ID, BranchID: v.BranchID, TableID: v.TableID, Table: v.TableLabel, Reason: string(reason),
			})})
		}
		return err
	})
	return v, added, err
}

// Answer ends calls. For an actor who may not see the visit it fails with visit.ErrVisit, which rolls the change back.
func (s *Store) Answer(
	ctx context.Context, by authz.Actor, id string, reason visit.CallReason,
) (v visit.Visit, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := tx.Exec(ctx, stmt("visit_answer"), id, string(reason)); err != nil {
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
