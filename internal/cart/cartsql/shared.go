package cartsql

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"comanda/internal/cart"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// Shared implements cart.SharedStore.
func (s *Store) Shared(ctx context.Context, visit string) (cart.Shared, error) {
	c := cart.Shared{VisitID: visit}
	err := sqldb.Each(ctx, s.db, func(rows sqldb.Rows) error {
		var l cart.SharedLine
		var created int64
		err := rows.Scan(&c.Version, &c.Added, &l.ID, &l.GuestHash, &l.ItemID, &l.DishID, &l.Quantity, &l.Notes, &l.Options,
			&created)
		if l.CreatedAt = time.UnixMilli(created).UTC(); l.ID != "" {
			c.Lines = append(c.Lines, l)
		}
		return err
	}, stmt("shared_select"), visit)
	return c, err
}

// SharedVersion implements cart.SharedStore. Concurrent calls share a statement.
func (s *Store) SharedVersion(ctx context.Context, visit string) (int64, error) {
	return s.versions.Do(ctx, visit)
}

// readVersions returns the versions of the carts of visits, in their order.
func readVersions(ctx context.Context, db sqldb.Conn, visits []string) ([]int64, error) {
	found, err := sqldb.Map[string, int64](ctx, db, stmt("shared_version"),
		sqldb.IDs(slices.Compact(slices.Sorted(slices.Values(visits)))))
	return seq.Map(visits, func(v string) int64 { return found[v] }), err
}

// ChangeShared implements cart.SharedStore. Concurrent changes share a transaction.
func (s *Store) ChangeShared(ctx context.Context, c cart.SharedChange) (cart.Shared, error) {
	r, err := s.shared.Do(ctx, c)
	return r.cart, outcome(err, r.err)
}

type sharedResult struct {
	cart cart.Shared
	err  error
}

// runShared applies a batch of changes in one transaction: lock the carts, apply in memory, write.
func (s *Store) runShared(ctx context.Context, tx sqldb.Tx, changes []cart.SharedChange) ([]sharedResult, error) {
	now := s.now()
	named := map[string][]string{}
	for _, c := range changes {
		named[c.VisitID] = append(named[c.VisitID], c.Line.ID)
	}
	// Carts are inserted in the order of their ids and before any is locked, see lockCarts.
	tx.Queue(stmt("shared_ensure"), sqldb.IDs(slices.Sorted(maps.Keys(named))))
	drafts := make(map[string]*cart.SharedDraft, len(named))
	QueueLockShared(tx, named, drafts)
	if err := tx.Flush(ctx); err != nil {
		return nil, err
	}
	results := make([]sharedResult, len(changes))
	for i, c := range changes {
		d := drafts[c.VisitID]
		if d == nil { // the cart was purged after it was created
			return nil, sqldb.ErrRetry
		}
		results[i].err = d.Apply(c.Line, now)
	}
	QueueShared(tx, drafts)
	for i, c := range changes {
		results[i].cart = drafts[c.VisitID].Shared
		// Several changes of one visit share a draft, so each result gets its own copy of the lines.
		results[i].cart.Lines = slices.Clone(results[i].cart.Lines)
	}
	return results, nil
}

// QueueLockShared locks the carts of visits and reads their lines, and which of the named lines are tombstones. The
// flush fills drafts by visit; visits that never had a cart are missing. All transactions lock these rows by id, after
// members' carts.
func QueueLockShared(tx sqldb.Tx, named map[string][]string, drafts map[string]*cart.SharedDraft) {
	visits := slices.Sorted(maps.Keys(named))
	tx.QueueQuery(func(rows sqldb.Rows) error {
		var c cart.Shared
		err := rows.Scan(&c.VisitID, &c.Version, &c.Added)
		drafts[c.VisitID] = cart.NewSharedDraft(c)
		return err
	}, stmt("shared_lock"), sqldb.IDs(visits))
	tx.QueueQuery(func(rows sqldb.Rows) error {
		var visit string
		var l cart.SharedLine
		var created int64
		err := rows.Scan(&visit, &l.ID, &l.GuestHash, &l.ItemID, &l.DishID, &l.Quantity, &l.Notes, &l.Options,
			&created)
		l.CreatedAt = time.UnixMilli(created).UTC()
		if d := drafts[visit]; d != nil { // otherwise another process has created the cart since the first query
			d.Lines = append(d.Lines, l)
		}
		return err
	}, stmt("shared_lines"), sqldb.IDs(visits))
	type place struct{ visit, line string }
	var places []place
	for visit, lines := range named {
		for _, l := range lines {
			places = append(places, place{visit, l})
		}
	}
	tx.QueueQuery(func(rows sqldb.Rows) error {
		var p place
		err := rows.Scan(&p.visit, &p.line)
		if d := drafts[p.visit]; d != nil {
			d.AddTombstone(p.line)
		}
		return err
	}, stmt("shared_tombstones"), sqldb.NewRowSet(len(places)).
		Text("visit_id", func(i int) string { return places[i].visit }).
		Text("id", func(i int) string { return places[i].line }))
}

// QueueShared writes what has changed in locked carts.
func QueueShared(tx sqldb.Tx, drafts map[string]*cart.SharedDraft) {
	type place struct {
		visit string
		line  cart.SharedLine
	}
	var dirty []*cart.SharedDraft
	var lines []place
	for visit, d := range drafts {
		changes := d.Changes()
		if len(changes) == 0 {
			continue
		}
		dirty = append(dirty, d)
		for _, l := range changes {
			lines = append(lines, place{visit, l})
		}
	}
	if len(dirty) == 0 {
		return
	}
	slices.SortFunc(dirty, func(a, b *cart.SharedDraft) int { return cmp.Compare(a.VisitID, b.VisitID) })
	tx.QueueExactly(int64(len(dirty)), stmt("shared_update"), sqldb.NewRowSet(len(dirty)).
		Text("id", func(i int) string { return dirty[i].VisitID }).
		Int("version", func(i int) int64 { return dirty[i].Version }).
		Int("added", func(i int) int64 { return dirty[i].Added }))
	tx.Queue(stmt("shared_put"), sqldb.NewRowSet(len(lines)).
		Text("visit_id", func(i int) string { return lines[i].visit }).
		Text("id", func(i int) string { return lines[i].line.ID }).
		Text("guest_hash", func(i int) string { return lines[i].line.GuestHash }).
		Int("item_id", func(i int) int64 { return lines[i].line.ItemID }).
		Int("dish_id", func(i int) int64 { return lines[i].line.DishID }).
		Int("quantity", func(i int) int64 { return lines[i].line.Quantity }).
		Text("notes", func(i int) string { return lines[i].line.Notes }).
		Text("options", func(i int) string { return lines[i].line.Options }).
		Int("created_at", func(i int) int64 { return lines[i].line.CreatedAt.UnixMilli() }))
}

// maxPurged bounds the carts that one transaction deletes, so that it holds their locks for a short time.
const maxPurged = 200

// PurgeShared deletes the carts of visits that were closed before an instant, which guests may no longer read.
func (s *Store) PurgeShared(ctx context.Context, closedBefore time.Time) error {
	for {
		var over []string
		err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) (err error) {
			over, err = sqldb.Collect(ctx, tx, sqldb.Value[string], stmt("shared_over"), closedBefore.UnixMilli(), maxPurged)
			if err != nil || len(over) == 0 {
				return err
			}
			tx.Queue(stmt("shared_purge_lines"), sqldb.IDs(over))
			tx.Queue(stmt("shared_purge"), sqldb.IDs(over))
			return nil
		})
		if err != nil || len(over) < maxPurged {
			return err
		}
	}
}
