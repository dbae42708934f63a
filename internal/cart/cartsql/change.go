package cartsql

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"comanda/internal/cart"
	"comanda/internal/document/documentsql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// run applies a batch of changes in one transaction: lock the carts, apply in memory, write.
func (s *Store) run(ctx context.Context, tx sqldb.Tx, changes []cart.Change) ([]changeResult, error) {
	now := s.now()
	drafts, err := lockCarts(ctx, tx, changes, now)
	if err != nil {
		return nil, err
	}
	results := make([]changeResult, len(changes))
	for i, c := range changes {
		if d := drafts[c.UserID]; d != nil {
			results[i].of, results[i].err = d.Apply(c, now)
		} else if c.Set != nil || c.Remove != 0 {
			results[i].err = cart.ErrLine
		}
	}
	if err := save(ctx, tx, drafts, now); err != nil {
		return nil, err
	}
	for i, c := range changes {
		results[i].cart = cart.Cart{UserID: c.UserID}
		if d := drafts[c.UserID]; d != nil {
			results[i].cart = d.Cart
			// Several changes of one member share a draft, so each result gets its own copy of the lines.
			results[i].cart.Lines = slices.Clone(d.Lines)
		}
	}
	return results, nil
}

// lockCarts locks and reads the carts of changes. Adding creates missing carts first. Carts are inserted in the order
// of their members and before any is locked, so a transaction that waits for an insert holds no lock that others need.
func lockCarts(ctx context.Context, tx sqldb.Tx, changes []cart.Change, now time.Time) (map[int64]*cart.Draft, error) {
	users, adding := map[int64]struct{}{}, map[int64]struct{}{}
	for _, c := range changes {
		users[c.UserID] = struct{}{}
		if c.Add != nil {
			adding[c.UserID] = struct{}{}
		}
	}
	if owners := slices.Sorted(maps.Keys(adding)); len(owners) > 0 {
		tx.Queue(stmt("cart_ensure"), sqldb.IDs(owners).Text("name", func(i int) string { return actor(owners[i]) }),
			now.UnixMilli())
	}
	all := make(map[int64]cart.Cart, len(users))
	queueLocked(tx, slices.Collect(maps.Keys(users)), all)
	if err := tx.Flush(ctx); err != nil {
		return nil, err
	}
	for user := range adding {
		if _, ok := all[user]; !ok { // an order deleted the cart before it was locked
			return nil, sqldb.ErrRetry
		}
	}
	drafts := make(map[int64]*cart.Draft, len(all))
	for user, c := range all {
		drafts[user] = cart.NewDraft(c)
		if c.Version == 0 {
			drafts[user].MarkCreated(now)
		}
	}
	return drafts, nil
}

// actor returns a member's name in updated_by columns.
func actor(user int64) string { return "user:" + strconv.FormatInt(user, 10) }

// queueLocked locks and reads carts with their lines, by member, in one round trip. The second query runs after the
// first has taken the locks, so it reads the locked state.
func queueLocked(tx sqldb.Tx, users []int64, all map[int64]cart.Cart) {
	owners := map[int64]int64{}
	tx.QueueQuery(func(rows sqldb.Rows) error {
		var c cart.Cart
		var updated int64
		err := rows.Scan(&c.UserID, &c.ID, &c.BranchID, &c.Version, &updated)
		c.UpdatedAt = time.UnixMilli(updated).UTC()
		all[c.UserID], owners[c.ID] = c, c.UserID
		return err
	}, stmt("cart_lock"), sqldb.IDs(users))
	tx.QueueQuery(func(rows sqldb.Rows) error {
		var of int64
		var l cart.Line
		err := rows.Scan(&of, &l.ID, &l.DishID, &l.Quantity, &l.Price, &l.Version, &l.Options)
		if user, ok := owners[of]; ok { // otherwise another process has created the cart since the first query
			c := all[user]
			c.Lines = append(c.Lines, l)
			all[user] = c
		}
		return err
	}, stmt("line_select"), sqldb.IDs(users))
}

// save writes changed carts and sets the ids of new lines.
func save(ctx context.Context, tx sqldb.Tx, drafts map[int64]*cart.Draft, now time.Time) error {
	// Carts are written in the order of their ids, in which all transactions lock them.
	dirty := slices.SortedFunc(maps.Values(drafts), func(a, b *cart.Draft) int { return cmp.Compare(a.ID, b.ID) })
	dirty = slices.DeleteFunc(dirty, func(d *cart.Draft) bool { return !d.Changed() })
	if len(dirty) == 0 {
		return nil
	}
	tx.QueueExactly(int64(len(dirty)), stmt("cart_update"), sqldb.NewRowSet(len(dirty)).
		Int("id", func(i int) int64 { return dirty[i].ID }).
		NullInt("branch_id", func(i int) (int64, bool) { return dirty[i].BranchID, dirty[i].BranchID != 0 }).
		Int("updated_at", func(i int) int64 { return dirty[i].UpdatedAt.UnixMilli() }).
		Text("name", func(i int) string { return actor(dirty[i].UserID) }).
		Int("version", func(i int) int64 { return dirty[i].Version }))
	var removed []cart.Line
	for _, d := range dirty {
		removed = append(removed, d.Removed...)
	}
	dead := queueDeleteLines(tx, removed)
	if err := writeLines(ctx, tx, dirty); err != nil {
		return err
	}
	var carts, details []string
	for _, d := range dirty {
		carts = append(carts, decimal(d.ID))
		for _, l := range d.ChangedLines() {
			details = append(details, decimal(l.ID))
		}
	}
	documentsql.Queue(tx, now, documentsql.Change{Entity: "cart", IDs: carts},
		documentsql.Change{Entity: "cartDetail", IDs: details, Deleted: dead})
	return nil
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }

// queueDeleteLines deletes lines of locked carts and returns the tombstones of their documents.
func queueDeleteLines(tx sqldb.Tx, removed []cart.Line) []documentsql.Deletion {
	if len(removed) == 0 {
		return nil
	}
	tx.Queue(stmt("line_delete"), sqldb.NewRowSet(len(removed)).Int("id", func(i int) int64 { return removed[i].ID }))
	return seq.Map(removed, func(l cart.Line) documentsql.Deletion {
		return documentsql.Deletion{ID: decimal(l.ID), Version: l.Version}
	})
}

// writeLines writes new and changed lines. It flushes only if there are new lines, whose ids it needs.
func writeLines(ctx context.Context, tx sqldb.Tx, dirty []*cart.Draft) error {
	type place struct {
		cart int64
		of   cart.LineKey
	}
	at := map[place]*cart.Line{}
	var rows []place
	hasNew := false
	for _, d := range dirty {
		for _, t := range d.ChangedLines() {
			p := place{d.ID, t.Key()}
			i := slices.IndexFunc(d.Lines, func(l cart.Line) bool { return l.Key() == t.Key() })
			at[p], rows, hasNew = &d.Lines[i], append(rows, p), hasNew || t.ID == 0
		}
	}
	if len(rows) == 0 {
		return nil
	}
	tx.QueueQuery(func(got sqldb.Rows) error {
		var p place
		var id int64
		if err := got.Scan(&p.cart, &p.of.DishID, &p.of.Options, &id); err != nil {
			return err
		}
		at[p].ID = id
		return nil
	}, stmt("line_put"), sqldb.NewRowSet(len(rows)).
		Int("cart_id", func(i int) int64 { return rows[i].cart }).
		Int("dish_id", func(i int) int64 { return rows[i].of.DishID }).
		Text("options", func(i int) string { return rows[i].of.Options }).
		Int("quantity", func(i int) int64 { return at[rows[i]].Quantity }).
		Int("price", func(i int) int64 { return at[rows[i]].Price }).
		Int("version", func(i int) int64 { return at[rows[i]].Version }))
	if !hasNew {
		return nil
	}
	return tx.Flush(ctx)
}

// QueueLock locks the carts of members in an order's transaction. The flush fills carts by member.
func QueueLock(tx sqldb.Tx, users []int64, carts map[int64]cart.Cart) {
	queueLocked(tx, users, carts)
}

// QueueDelete deletes locked carts that were ordered (C4) and returns the changes of their documents. The locks keep
// other transactions from changing these carts.
func QueueDelete(tx sqldb.Tx, carts []cart.Cart) []documentsql.Change {
	if len(carts) == 0 {
		return nil
	}
	var removed []cart.Line
	dead := make([]documentsql.Deletion, len(carts))
	for i, c := range carts {
		removed = append(removed, c.Lines...)
		dead[i] = documentsql.Deletion{ID: decimal(c.ID), Version: c.Version}
	}
	lines := queueDeleteLines(tx, removed)
	tx.Queue(stmt("cart_delete"), sqldb.NewRowSet(len(carts)).Int("id", func(i int) int64 { return carts[i].ID }))
	return []documentsql.Change{{Entity: "cart", Deleted: dead}, {Entity: "cartDetail", Deleted: lines}}
}
