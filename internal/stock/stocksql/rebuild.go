package stocksql

import (
	"context"
	"slices"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// ClaimRebuild implements stock.RebuildStore. A claim fails while a rebuild is running or has ended a short while ago.
// The row is created first, because a claim is an UPDATE, which succeeds for exactly one of several processes.
func (st *Store) ClaimRebuild(
	ctx context.Context, s stock.Scope, now, until time.Time,
) (claimed bool, free time.Time, err error) {
	if _, err := st.db.Exec(ctx, stmt("scope_insert"), s.Branch, s.Date); err != nil {
		return false, free, err
	}
	n, err := st.db.Exec(ctx, stmt("scope_claim"), s.Branch, s.Date, now.UnixMilli(), until.UnixMilli(),
		now.Add(stock.LongestClaim).UnixMilli())
	if err != nil || n == 1 {
		return n == 1, free, err
	}
	// A claim needs an instant after the stored one, hence one millisecond more.
	ms, err := sqldb.Scalar[int64](ctx, st.db, stmt("scope_claim_end"), s.Branch, s.Date)
	return false, time.UnixMilli(ms + 1).UTC(), err
}

// RenewRebuild implements stock.RebuildStore.
func (st *Store) RenewRebuild(ctx context.Context, s stock.Scope, heldUntil, until time.Time) (bool, error) {
	n, err := st.db.Exec(ctx, stmt("scope_renew"), s.Branch, s.Date, heldUntil.UnixMilli(), until.UnixMilli())
	return n == 1, err
}

// EndRebuild implements stock.RebuildStore.
func (st *Store) EndRebuild(ctx context.Context, s stock.Scope, heldUntil time.Time, epoch string, next time.Time) error {
	_, err := st.db.Exec(ctx, stmt("scope_release"), s.Branch, s.Date, heldUntil.UnixMilli(), epoch, next.UnixMilli()-1)
	return err
}

// ResetRebuilds ends the claims and pauses of the scopes from a business date on, and of all stock: their content in the
// cache has been discarded. A rebuild that is running loses its claim and ends with an error.
func (st *Store) ResetRebuilds(ctx context.Context, from string) error {
	_, err := st.db.Exec(ctx, stmt("scope_reset"), from)
	return err
}

const (
	opsPerDelete = 5000 // entries per DELETE, so that no statement holds locks for long
	holdsPerPage = 1000

	// stockDates is the number of past business dates whose orders may hold units of stock. No order holds units
	// longer.
	stockDates = 5
)

// PrepareRebuild implements stock.RebuildStore.
func (st *Store) PrepareRebuild(ctx context.Context, s stock.Scope) error {
	if !s.IsStock() {
		if _, err := st.db.Exec(ctx, stmt("counter_ensure_branch"), s.Branch, s.Date); err != nil {
			return err
		}
	}
	for {
		n, err := st.db.Exec(ctx, stmt("ops_delete_scope"), s.Branch, s.Date, opsPerDelete)
		if err != nil || n < opsPerDelete {
			return err
		}
	}
}

// ReadHolds implements stock.RebuildStore. It reads the ids first and then the holds in pages, so that a rebuild of a busy
// date needs little memory. Each page is a snapshot of its own; no lock is held and no transaction is open while a page
// is passed on. Confirmed and ended holds are read only if they changed recently. A RETURN of an older sale carries its
// lines, and the cache applies it without a record.
func (st *Store) ReadHolds(ctx context.Context, s stock.Scope, since time.Time, each func([]stock.HoldState) error) error {
	for _, date := range datesOf(s, since) {
		ids, err := sqldb.Collect(ctx, st.db, sqldb.Value[string], stmt("hold_ids"), s.Branch, date, since.UnixMilli())
		if err != nil {
			return err
		}
		for part := range slices.Chunk(ids, holdsPerPage) {
			page, err := st.Holds(ctx, part)
			if err != nil {
				return err
			}
			if page = partsOf(s, page); len(page) > 0 {
				if err := each(page); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// datesOf returns the business dates whose holds may have lines of a scope. For stock these are the empty date, which
// reservations of other systems have, and the last days of orders, with one more day on each side for time zones.
func datesOf(s stock.Scope, now time.Time) []string {
	if !s.IsStock() {
		return []string{s.Date}
	}
	dates := []string{""}
	for day := -stockDates; day <= 1; day++ {
		dates = append(dates, now.AddDate(0, 0, day).Format(time.DateOnly))
	}
	return dates
}

// partsOf returns the parts of holds that belong to a scope. It reuses the slice of its argument.
func partsOf(s stock.Scope, holds []stock.HoldState) []stock.HoldState {
	of := holds[:0]
	for _, h := range holds {
		for _, part := range h.Hold.Parts() {
			if part.Scope == s && len(part.Lines) > 0 {
				of = append(of, stock.HoldState{Hold: part, State: h.State})
			}
		}
	}
	return of
}

// Snapshot implements stock.RebuildStore. It locks nothing. Counters and entries must be of one instant: with an entry
// committed in between, its units would be counted twice or not at all.
func (st *Store) Snapshot(
	ctx context.Context, s stock.Scope, limit int,
) (im stock.ScopeSnapshot, entries []string, more bool, err error) {
	im.Scope = s
	err = st.db.Snapshot(ctx, func(ctx context.Context, at sqldb.Reader) error {
		if im.Counts, err = counts(ctx, at, s); err != nil {
			return err
		}
		waiting, err := sqldb.Collect(ctx, at, scanEntry, stmt("ops_select_scope"), s.Branch, s.Date, limit)
		if err != nil {
			return err
		}
		var ids []string
		for _, e := range waiting {
			entries = append(entries, e.ID)
			for _, op := range e.Ops {
				if op.Kind != stock.OpCap {
					ids = append(ids, op.Hold.ID)
				}
			}
		}
		slices.Sort(ids)
		holds, err := Holds(ctx, at, slices.Compact(ids))
		im.Holds = partsOf(s, holds)
		return err
	})
	return im, entries, len(entries) == limit, err
}
