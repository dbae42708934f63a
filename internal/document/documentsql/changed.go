package documentsql

import (
	"encoding/json"
	"slices"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// Change is the documents of one entity that a transaction has changed. A line of an order has its own id or its
// order's, which stands for all lines. Ids are text, as in keys.
type Change struct {
	Entity  string
	IDs     []string
	Deleted []Deletion // those whose rows were deleted
}

// Changed queues, within a transaction, the projection of changed documents after the commit. Call it once per
// transaction and entity: it writes one row. The version of each row must have increased with the change: of two
// projections the higher version stays. Without ids it does nothing.
func Changed(tx sqldb.Tx, now time.Time, entity string, ids ...string) {
	Queue(tx, now, Change{Entity: entity, IDs: ids})
}

// Queue is Changed and Deleted for rows of several entities: one statement for all changes and one for all deletions.
// It writes one row per entity, however many changes name it.
func Queue(tx sqldb.Tx, now time.Time, changes ...Change) {
	rows := make([]Change, 0, len(changes))
	for _, c := range changes {
		// Clipped, so that append does not write into the caller's array.
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
		Text("ids", func(i int) string { return list(rows[i].IDs) }).
		Text("dead", func(i int) string { return deletionsText(rows[i].Deleted) }).
		Int("created_at", func(int) int64 { return now.UnixMilli() }))
}

func list(ids []string) string {
	text, _ := json.Marshal(ids) // strings always marshal
	return string(text)
}
