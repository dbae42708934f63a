package documentsql

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"comanda/internal/document"
	"comanda/internal/queue/queuesql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// changes are the rows of document_outbox. They have no dead letters: a document is projected from the current row, so
// a failure has nothing to do with the change.
var changes = changesOf("", "")

// Orders have a lane of their own, because only they may wait while a branch is busy.
var (
	orderChanges = changesOf("document_outbox_orders", "entity IN ('order', 'orderDetail')")
	otherChanges = changesOf("document_outbox_others", "entity NOT IN ('order', 'orderDetail')")
)

// changesOf returns the rows of document_outbox that satisfy a condition.
func changesOf(name, condition string) *queuesql.Table[document.Claimed] {
	return queuesql.New(queuesql.Spec{
		Table: "document_outbox", Name: name, Columns: "id, entity, ids, dead, attempts",
		Due: "claimed_until", Order: "id", Since: "created_at", Pending: condition,
	}, scanClaimed)
}

// Lanes returns the changes of orders and their lines, and those of all other documents. Rows of one lane do not wait for
// rows of the other.
func (s *Store) Lanes() (orders, others document.Outbox) {
	return orderChanges.On(s.db), otherChanges.On(s.db)
}

func scanClaimed(r sqldb.Rows) (c document.Claimed, err error) {
	var entity, ids, dead string
	if err := r.Scan(&c.ID, &entity, &ids, &dead, &c.Attempts); err != nil {
		return c, err
	}
	if c.Entity = document.ByName(entity); c.Entity == nil {
		return c, nil // an entity of a newer release; this release has nothing to project
	}
	if err := json.Unmarshal([]byte(ids), &c.IDs); err != nil {
		return c, fmt.Errorf("documentsql: outbox row %s: %w", c.ID, err)
	}
	c.Deleted = map[string]int64{}
	return c, parseDeletions(dead, c.Deleted)
}

// purgeBatch bounds the rows of one DELETE, so that no statement holds its locks for long.
const purgeBatch = 2000

// PurgeTombstones deletes the tombstones from before an instant.
func (s *Store) PurgeTombstones(ctx context.Context, before time.Time) error {
	for {
		n, err := s.db.Exec(ctx, stmt("tombstone_purge"), before.UnixMilli(), purgeBatch)
		if err != nil || n < purgeBatch {
			return err
		}
	}
}

// Discarded describes what Discard has deleted.
type Discarded struct {
	Entities map[string]bool
	Orders   map[OrderDay]bool // of changed orders
}

// OrderDay is a branch and a business date.
type OrderDay struct {
	Branch int64
	Date   string
}

// Discard deletes all queued changes, for an installation that keeps no documents in Redis, and clears the state of
// documents that an earlier run has kept or begun to rebuild. It only reads if there is nothing to do. It calls discarded
// with the changes of each commit; days states whether the dates of orders are needed.
func (s *Store) Discard(ctx context.Context, days func() bool, discarded func(Discarded)) error {
	if g, err := s.Generation(ctx); err != nil {
		return err
	} else if g.Epoch != "" || g.Building != "" {
		if _, err := s.db.Exec(ctx, stmt("generation_clear")); err != nil {
			return err
		}
	}
	for {
		if oldest, err := s.Position(ctx); err != nil || oldest.IsZero() {
			return err
		}
		var d Discarded
		err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) (err error) {
			d, err = discard(ctx, tx, days())
			return err
		})
		if err != nil {
			return err
		}
		discarded(d)
	}
}

// discard deletes a batch of changes and reads the dates of its orders. Both are one transaction, so that no change is
// deleted without a call of discarded.
func discard(ctx context.Context, tx sqldb.Tx, days bool) (d Discarded, err error) {
	type change struct {
		entity string
		ids    []string
	}
	changes, err := sqldb.Collect(ctx, tx, sqldb.Row(func(c *change) []any {
		return []any{&c.entity, sqldb.JSON(&c.ids)}
	}), stmt("outbox_discard"), purgeBatch)
	if err != nil {
		return d, err
	}
	d.Entities = map[string]bool{}
	var orders []string
	for _, c := range changes {
		d.Entities[c.entity] = true
		if c.entity == document.Order.Name {
			orders = append(orders, c.ids...)
		}
	}
	if len(orders) == 0 || !days {
		return d, nil
	}
	changed, err := sqldb.Collect(ctx, tx, sqldb.Row(func(d *OrderDay) []any {
		return []any{&d.Branch, &d.Date}
	}), stmt("order_days"), sqldb.IDs(orders))
	d.Orders = seq.Set(changed)
	return d, err
}

// MoveDeadlines moves the ends of claims by the same amount as the deciding clock was set: a claim that lasted an hour
// longer would delay the documents by that hour. It returns the number of moved rows.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	rows, err := tx.Exec(ctx, stmt("outbox_deadline_move"), by.Milliseconds())
	if err != nil {
		return 0, err
	}
	generations, err := tx.Exec(ctx, stmt("generation_deadline_move"), by.Milliseconds())
	return rows + generations, err
}

// Change names the documents of one entity that a transaction has changed. A line of an order is named by its own id,
// or by the order's id, which selects all lines. Ids are text, as in keys.
type Change struct {
	Entity  string
	IDs     []string
	Deleted []Deletion // those whose rows were deleted
}

// Changed queues, within a transaction, the projection of changed documents after the commit. Call it once per
// transaction and entity, because each call writes one row. The change must have increased the version of each row:
// of two projections, the one with the higher version stays. Without ids Changed does nothing.
func Changed(tx sqldb.Tx, now time.Time, entity string, ids ...string) {
	Queue(tx, now, Change{Entity: entity, IDs: ids})
}

// Queue is Changed and Deleted for rows of several entities: one statement for all changes and one for all deletions.
// It writes one row per entity, however many changes name it.
func Queue(tx sqldb.Tx, now time.Time, changes ...Change) {
	rows := make([]Change, 0, len(changes))
	for _, c := range changes {
		// The slice is clipped, so that append does not write into the caller's array.
		ids := slices.Clip(c.IDs)
		for _, d := range c.Deleted {
			ids = append(ids, d.ID)
		}
		i := slices.IndexFunc(rows, func(r Change) bool { return r.Entity == c.Entity })
		switch {
		case len(ids) == 0:
		case i < 0:
			rows = append(rows, Change{Entity: c.Entity, IDs: ids, Deleted: c.Deleted})
		default:
			rows[i].IDs = append(slices.Clip(rows[i].IDs), ids...)
			rows[i].Deleted = append(slices.Clip(rows[i].Deleted), c.Deleted...)
		}
	}
	if len(rows) == 0 {
		return
	}
	queueTombstones(tx, now, rows)
	tx.Queue(stmt("outbox_insert"), sqldb.NewRowSet(len(rows)).
		Text("id", func(int) string { return uid.New(now) }).
		Text("entity", func(i int) string { return rows[i].Entity }).
		Text("ids", func(i int) string { return marshalIDs(rows[i].IDs) }).
		Text("dead", func(i int) string { return deletionsText(rows[i].Deleted) }).
		Int("created_at", func(int) int64 { return now.UnixMilli() }))
}

func marshalIDs(ids []string) string {
	text, _ := json.Marshal(ids) // strings always marshal
	return string(text)
}

// Deletion is a deleted row with its last version. The deletion gets the next version, so that a late projection of
// the row is dropped.
type Deletion struct {
	ID      string
	Version int64
}

// Deleted queues, within a transaction, the projection of a deletion.
func Deleted(tx sqldb.Tx, now time.Time, entity, id string, version int64) {
	Queue(tx, now, Change{Entity: entity, Deleted: []Deletion{{id, version}}})
}

// deletionsText returns the versions of deletions in the form of the table, empty for none.
func deletionsText(all []Deletion) string {
	if len(all) == 0 {
		return ""
	}
	versions := make(map[string]int64, len(all))
	for _, d := range all {
		versions[d.ID] = max(versions[d.ID], d.Version+1)
	}
	text, _ := json.Marshal(versions) // strings and numbers always marshal
	return string(text)
}

// parseDeletions parses the result of deletionsText into a map.
func parseDeletions(text string, into map[string]int64) error {
	if text == "" {
		return nil
	}
	var versions map[string]int64
	if err := json.Unmarshal([]byte(text), &versions); err != nil {
		return fmt.Errorf("documentsql: versions of deletions: %w", err)
	}
	for id, v := range versions {
		into[id] = max(into[id], v)
	}
	return nil
}

// queueTombstones stores deletions for imports, which continue with higher versions.
func queueTombstones(tx sqldb.Tx, now time.Time, changes []Change) {
	rows := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return len(c.Deleted) == 0 })
	if len(rows) == 0 {
		return
	}
	tx.Queue(stmt("tombstone_put"), sqldb.NewRowSet(len(rows)).
		Text("id", func(int) string { return uid.New(now) }).
		Text("entity", func(i int) string { return rows[i].Entity }).
		Text("dead", func(i int) string { return deletionsText(rows[i].Deleted) }).
		Int("deleted_at", func(int) int64 { return now.UnixMilli() }))
}
