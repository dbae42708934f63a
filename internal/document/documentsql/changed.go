package documentsql

import (
	"encoding/json"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// Change is documents of one entity that a transaction has changed. A line of an order goes by its own id or by its
// order's, which stands for all lines.
type Change struct {
	Entity string
	IDs    []string
}

// Changed notes within a transaction that documents of an entity have changed, so that they are projected after the
// commit. Call it once per transaction and entity; it queues one row. The version of each row must have risen with the
// change: of two projections the one with the higher version stays. Without ids it does nothing.
func Changed(tx sqldb.Tx, now time.Time, entity string, ids ...string) {
	Queue(tx, now, Change{entity, ids})
}

// Queue is Changed for several entities, in one statement.
func Queue(tx sqldb.Tx, now time.Time, changes ...Change) {
	rows := make([]Change, 0, len(changes))
	for _, c := range changes {
		if len(c.IDs) > 0 {
			rows = append(rows, c)
		}
	}
	if len(rows) == 0 {
		return
	}
	tx.Queue(outboxInsert, sqldb.NewRowSet(len(rows)).
		Text("id", func(int) string { return uid.New(now) }).
		Text("entity", func(i int) string { return rows[i].Entity }).
		Text("ids", func(i int) string { return list(rows[i].IDs) }).
		Int("created_at", func(int) int64 { return now.UnixMilli() }))
}

func list(ids []string) string {
	text, _ := json.Marshal(ids) // strings always marshal
	return string(text)
}

// Deleted notes within a transaction that a row was deleted. The version is the row's last one: the tombstone gets the
// next, so that a late projection of the row is dropped.
func Deleted(tx sqldb.Tx, now time.Time, entity, id string, version int64) {
	tx.Queue(tombstonePut, entity, id, version+1, now.UnixMilli())
	Changed(tx, now, entity, id)
}
