package catalogsql

import (
	"context"
	"encoding/json"
	"errors"
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

// pause returns the stored pause, even if it has ended; Branch.Paused compares its end with the time.
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

// CreateBranch stores a new branch, or returns the one that was created under the same key.
func (s *Store) CreateBranch(
	ctx context.Context, by authz.Actor, b catalog.Branch, key, digest string, now time.Time,
) (made catalog.Branch, err error) {
	for range 2 {
		err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) (err error) {
			made, err = createBranch(ctx, tx, by, b, key, digest, now)
			return err
		})
		if !errors.Is(err, sqldb.ErrUnique) { // the same key arrived at the same moment
			break
		}
	}
	return made, err
}

// createBranch is one attempt of CreateBranch.
func createBranch(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, b catalog.Branch, key, digest string, now time.Time,
) (catalog.Branch, error) {
	var stored *string
	if key != "" {
		stored = &key
		switch prior, err := branchByKey(ctx, tx, key, digest); {
		case err != nil:
			return catalog.Branch{}, err
		case prior != 0:
			b, _, err := sqldb.One(ctx, tx, scanBranch, stmt("branch_select"), prior)
			return b, err
		}
	}
	if err := checkLimit(ctx, tx, stmt("branch_count"), catalog.MaxBranches, catalog.ErrTooManyBranches); err != nil {
		return catalog.Branch{}, err
	}
	id, err := sqldb.Scalar[int64](ctx, tx, stmt("branch_insert"), b.Name, string(b.Country), string(b.Currency), b.Timezone,
		b.DayStart, jsonText(b.Locales), int64(b.AutoClose/time.Minute), sqldb.Flag(b.Open), now.UnixMilli(), stored, digest,
		hoursText(b.Hours), sqldb.Flag(b.SharedCart), pricingText(b.Pricing))
	if err != nil {
		return catalog.Branch{}, err
	}
	b.ID = id
	if b.Slug, err = assignSlug(ctx, tx, b, now); err != nil {
		return catalog.Branch{}, err
	}
	return b, auditsql.Record(ctx, tx,
		audit.NewEntry(by, now, audit.ActionBranchCreated, "branch", decimal(id), id).WithAfter(branchNote(b)))
}

// branchByKey returns the id of the branch that was created under a key, or 0 for none.
func branchByKey(ctx context.Context, tx sqldb.Tx, key, digest string) (int64, error) {
	var id int64
	var stored string
	found, err := sqldb.Read(ctx, tx, []any{&id, &stored}, stmt("branch_by_key"), key)
	if err == nil && found && stored != digest {
		err = catalog.ErrBranchKeyReused
	}
	return id, err
}

// ChangeBranch stores the result of change. It holds the lock that changes to the branch's menus take.
func (s *Store) ChangeBranch(
	ctx context.Context, by authz.Actor, id int64, action string, now time.Time,
	change func(catalog.Branch) (catalog.Branch, error),
) (catalog.Branch, error) {
	return s.changeBranch(ctx, by, id, action, now,
		func(_ context.Context, _ sqldb.Tx, b catalog.Branch) (catalog.Branch, error) { return change(b) })
}

// changeBranch is ChangeBranch for a change that also reads what the branch's lock protects.
func (s *Store) changeBranch(
	ctx context.Context, by authz.Actor, id int64, action string, now time.Time,
	change func(context.Context, sqldb.Tx, catalog.Branch) (catalog.Branch, error),
) (b catalog.Branch, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := lockBranch(ctx, tx, by, stmt("branch_lock"), id, catalog.ErrBranch); err != nil {
			return err
		}
		// The row is read again after the lock, because it may have changed while this transaction waited.
		current, _, err := sqldb.One(ctx, tx, scanBranch, stmt("branch_select"), id)
		if err != nil {
			return err
		}
		if b, err = change(ctx, tx, current); err != nil {
			return err
		}
		p := newPauseRow(b.Pause)
		tx.QueueExactly(1, stmt("branch_update"), id, b.Name, b.DayStart, jsonText(b.Locales), int64(b.AutoClose/time.Minute),
			sqldb.Flag(b.Open), p.at, p.until, p.code, p.texts, p.by, hoursText(b.Hours),
			string(b.Country), string(b.Currency), b.Timezone, b.MailFrom, sqldb.Flag(b.SharedCart),
			pricingText(b.Pricing))
		if b.Name != current.Name || b.Slug == "" {
			if b.Slug, err = assignSlug(ctx, tx, b, now); err != nil {
				return err
			}
		}
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, now, action, "branch", decimal(id), id).WithBefore(branchNote(current)).WithAfter(branchNote(b)))
	})
	return b, err
}

// RetireBranch takes a branch out of use unless it has guests. Orders and visits do not lock the branch's row, so one
// that is created at the same moment may still succeed; it stays visible and can be finished.
func (s *Store) RetireBranch(ctx context.Context, by authz.Actor, id int64, now time.Time) (catalog.Branch, error) {
	return s.setRetired(ctx, by, id, now, now, func(ctx context.Context, tx sqldb.Tx) error {
		var visits, orders int64
		_, err := sqldb.Read(ctx, tx, []any{&visits, &orders}, stmt("branch_busy"), id)
		if err == nil && visits+orders > 0 {
			err = catalog.ErrBranchBusy.With("visits", visits).With("orders", orders)
		}
		return err
	})
}

// RestoreBranch takes a branch back into use.
func (s *Store) RestoreBranch(ctx context.Context, by authz.Actor, id int64, now time.Time) (catalog.Branch, error) {
	return s.setRetired(ctx, by, id, now, time.Time{}, func(ctx context.Context, tx sqldb.Tx) error {
		return checkLimit(ctx, tx, stmt("branch_count"), catalog.MaxBranches, catalog.ErrTooManyBranches)
	})
}

// setRetired stores when a branch was retired, the zero time for never, if check accepts it.
func (s *Store) setRetired(
	ctx context.Context, by authz.Actor, id int64, now, retired time.Time, check func(context.Context, sqldb.Tx) error,
) (b catalog.Branch, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := lockBranch(ctx, tx, by, stmt("branch_lock"), id, catalog.ErrBranch); err != nil {
			return err
		}
		b, _, err = sqldb.One(ctx, tx, scanBranch, stmt("branch_select"), id)
		if err != nil || b.Retired() == !retired.IsZero() {
			return err
		}
		if err := check(ctx, tx); err != nil {
			return err
		}
		before := branchNote(b)
		b.RetiredAt = retired
		action := audit.ActionBranchRestored
		if b.Retired() {
			action = audit.ActionBranchRetired
		}
		tx.QueueExactly(1, stmt("branch_retire"), id, sqldb.NullMillis(retired))
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, now, action, "branch", decimal(id), id).WithBefore(before).WithAfter(branchNote(b)))
	})
	return b, err
}

// hoursText converts opening hours to a column; a branch without any has an empty text.
func hoursText(h catalog.OpeningHours) string {
	if h.Empty() {
		return ""
	}
	return jsonText(h)
}

// branchNote is the audit log's record of a branch.
func branchNote(b catalog.Branch) any {
	note := map[string]any{
		"name": b.Name, "country": b.Country, "currency": b.Currency, "timezone": b.Timezone,
		"bizDayStartHour": b.DayStart, "locales": b.Locales, "autoCloseMinutes": int(b.AutoClose / time.Minute),
		"isOpen": b.Open,
	}
	if !b.Hours.Empty() {
		note["openingHours"] = b.Hours
	}
	if b.SharedCart {
		note["sharedCart"] = true
	}
	if b.MailFrom != "" {
		note["mailFrom"] = b.MailFrom
	}
	if !b.Pricing.Empty() {
		note["pricing"] = b.Pricing
	}
	if b.Retired() {
		note["retiredAt"] = b.RetiredAt
	}
	if p := b.Pause; p != nil {
		note["paused"] = map[string]any{"code": p.Code, "texts": p.Texts, "until": sqldb.NullMillis(p.Until)}
	}
	return note
}

// assignSlug sets and returns the slug of a branch for its current name. The caller holds the lock of the branch's
// row. A branch keeps all its earlier slugs, so the first free slug of the name is used: quan-hoa, then quan-hoa-2. A
// branch that gets an earlier name again gets its earlier slug again.
func assignSlug(ctx context.Context, tx sqldb.Tx, b catalog.Branch, now time.Time) (string, error) {
	for n := 1; ; n++ {
		slug := catalog.SlugOf(b.Name, n)
		claimed, err := tx.Exec(ctx, stmt("slug_claim"), slug, b.ID, now.UnixMilli())
		if err != nil {
			return "", err
		}
		if claimed == 0 {
			owner, err := sqldb.Scalar[int64](ctx, tx, stmt("slug_owner"), slug)
			if err != nil {
				return "", err
			}
			if owner != b.ID {
				continue
			}
		}
		tx.Queue(stmt("slug_retire"), b.ID)
		tx.QueueExactly(1, stmt("slug_use"), slug)
		return slug, nil
	}
}

// AssignSlugs assigns slugs to the branches that have none: those from before slugs were stored, and those that a
// process of an earlier release has created meanwhile.
func (s *Store) AssignSlugs(ctx context.Context, now time.Time) error {
	all, err := sqldb.Collect(ctx, s.db, sqldb.Value[int64], stmt("slug_missing"))
	if err != nil {
		return err
	}
	for _, id := range all {
		err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
			if _, err := sqldb.Scalar[int64](ctx, tx, stmt("branch_lock"), id); err != nil {
				return err
			}
			// The branch is read under the lock: another process may have assigned the slug, or renamed the branch.
			b, found, err := sqldb.One(ctx, tx, scanBranch, stmt("branch_select"), id)
			if err == nil && found && b.Slug == "" {
				_, err = assignSlug(ctx, tx, b, now)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// BranchBySlug returns the id of the branch that has a slug, or had it before it was renamed; 0 for none.
func (s *Store) BranchBySlug(ctx context.Context, slug string) (int64, error) {
	return sqldb.Scalar[int64](ctx, s.db, stmt("slug_owner"), slug)
}
