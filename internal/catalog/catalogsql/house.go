package catalogsql

import (
	"context"
	"encoding/json"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/identity"
	"comanda/internal/identity/identitysql"
	"comanda/internal/sqldb"
)

// pauseRow is a branch's pause as its row has it.
type pauseRow struct {
	at, until       *int64
	code, texts, by string
}

func (p pauseRow) pause() (*catalog.Pause, error) {
	if p.at == nil {
		return nil, nil //nolint:nilnil // a branch that nobody has paused
	}
	out := &catalog.Pause{Code: catalog.PauseCode(p.code), Since: instant(p.at), Until: instant(p.until), By: p.by}
	return out, json.Unmarshal([]byte(p.texts), &out.Texts)
}

// rowOf writes a pause; nil for none.
func rowOf(p *catalog.Pause) pauseRow {
	if p == nil {
		return pauseRow{texts: "{}"}
	}
	row := pauseRow{millis(p.Since), millis(p.Until), string(p.Code), "{}", p.By}
	if len(p.Texts) > 0 {
		row.texts = text(p.Texts)
	}
	return row
}

// ChangeBranch puts what change makes of a branch, under the lock under which its menus change.
func (s *Store) ChangeBranch(
	ctx context.Context, by identity.Actor, id int64, action string, now time.Time,
	change func(catalog.Branch) (catalog.Branch, error),
) (b catalog.Branch, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := lockBranch(ctx, tx, by, branchLock, id, catalog.ErrBranch); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, branchSelect, id)
		was, _, err := sqldb.One(rows, err, scanBranch)
		if err != nil {
			return err
		}
		if b, err = change(was); err != nil {
			return err
		}
		p := rowOf(b.Pause)
		tx.QueueExactly(1, branchUpdate, id, b.Name, b.DayStart, text(b.Locales), int64(b.AutoClose/time.Minute),
			number(b.Open), p.at, p.until, p.code, p.texts, p.by)
		return identitysql.RecordAudit(ctx, tx,
			by.AuditEntry(now, action, "branch", decimal(id), id).WithBefore(branchNote(was)).WithAfter(branchNote(b)))
	})
	return b, err
}

// branchNote is what the audit log says of a branch.
func branchNote(b catalog.Branch) any {
	note := map[string]any{
		"name": b.Name, "bizDayStartHour": b.DayStart, "locales": b.Locales, "autoCloseMinutes": int(b.AutoClose / time.Minute),
		"isOpen": b.Open,
	}
	if p := b.Pause; p != nil {
		note["paused"] = map[string]any{"code": p.Code, "texts": p.Texts, "until": millis(p.Until)}
	}
	return note
}
