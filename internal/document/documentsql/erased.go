package documentsql

import (
	"time"

	"comanda/internal/sqldb"
)

// Dead is a row that is deleted, with the version that it had.
type Dead struct {
	ID      string
	Version int64
}

// Erased is Deleted for many rows of an entity, in one statement.
func Erased(tx sqldb.Tx, now time.Time, entity string, rows []Dead) {
	if len(rows) == 0 {
		return
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	tx.Queue(tombstonePutAll, sqldb.NewRowSet(len(rows)).
		Text("id", func(i int) string { return rows[i].ID }).
		Int("version", func(i int) int64 { return rows[i].Version + 1 }), entity, now.UnixMilli())
	Changed(tx, now, entity, ids...)
}
