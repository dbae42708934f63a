package catalogsql

import (
	"context"
	"encoding/json"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/sqldb"
)

// pauseRow holds the columns of a branch's pause.
type pauseRow struct {
	at, until       *int64
	code, texts, by string
}

// pause returns the pause as stored, also one that has ended; Branch.Paused compares its end with the time.
func (p pauseRow) pause() (*catalog.Pause, error) {
	if p.at == nil {
		return nil, nil //nolint:nilnil // nil means not paused
	}
	out := &catalog.Pause{
		Code: catalog.PauseCode(p.code), Since: sqldb.NullInstant(p.at), Until: sqldb.NullInstant(p.until), By: p.by,
	}
	return out, json.Unmarshal([]byte(p.texts), &out.Texts)
}

// newPauseRow converts a pause, or nil, to columns.
func newPauseRow(p *catalog.Pause) pauseRow {
	if p == nil {
		return pauseRow{texts: "{}"}
	}
	row := pauseRow{sqldb.NullMillis(p.Since), sqldb.NullMillis(p.Until), string(p.Code), "{}", p.By}
	if len(p.Texts) > 0 {
		row.texts = jsonText(p.Texts)
	}
	return row
}

// ChangeBranch stores the result of change. It holds the lock that changes to the branch's menus take.
func (s *Store) ChangeBranch(
	ctx context.Context, by authz.Actor, id int64, action string, now time.Time,
	change func(catalog.Branch) (catalog.Branch, error),
) (b catalog.Branch, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := lockBranch(ctx, tx, by, stmt("branch_lock"), id, catalog.ErrBranch); err != nil {
			return err
		}
		// Read again after the lock: the row may have changed while this transaction waited.
		was, _, err := sqldb.One(ctx, tx, scanBranch, stmt("branch_select"), id)
		if err != nil {
			return err
		}
		if b, err = change(was); err != nil {
			return err
		}
		p := newPauseRow(b.Pause)
		tx.QueueExactly(1, stmt("branch_update"), id, b.Name, b.DayStart, jsonText(b.Locales), int64(b.AutoClose/time.Minute),
			sqldb.Flag(b.Open), p.at, p.until, p.code, p.texts, p.by)
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, now, action, "branch", decimal(id), id).WithBefore(branchNote(was)).WithAfter(branchNote(b)))
	})
	return b, err
}

// branchNote is the audit log's record of a branch.
func branchNote(b catalog.Branch) any {
	note := map[string]any{
		"name": b.Name, "bizDayStartHour": b.DayStart, "locales": b.Locales, "autoCloseMinutes": int(b.AutoClose / time.Minute),
		"isOpen": b.Open,
	}
	if p := b.Pause; p != nil {
		note["paused"] = map[string]any{"code": p.Code, "texts": p.Texts, "until": sqldb.NullMillis(p.Until)}
	}
	return note
}
