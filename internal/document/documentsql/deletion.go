package documentsql

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// Dead is a row that is deleted, with the version that it had. The deletion gets the next one, so that a late projection
// of the row is dropped.
type Deletion struct {
	ID      string
	Version int64
}

// Deleted notes within a transaction that a row was deleted.
func Deleted(tx sqldb.Tx, now time.Time, entity, id string, version int64) {
	Queue(tx, now, Change{Entity: entity, Deleted: []Deletion{{id, version}}})
}

// deadText is the versions of deletions as tables hold them, empty for none.
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

// readDead reads what deadText has made, into a map.
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

// queueDead remembers deletions for imports, which go on behind them.
func queueTombstones(tx sqldb.Tx, now time.Time, changes []Change) {
	rows := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return len(c.Deleted) == 0 })
	if len(rows) == 0 {
		return
	}
	tx.Queue(tombstonePut, sqldb.NewRowSet(len(rows)).
		Text("id", func(int) string { return uid.New(now) }).
		Text("entity", func(i int) string { return rows[i].Entity }).
		Text("dead", func(i int) string { return deletionsText(rows[i].Deleted) }).
		Int("deleted_at", func(int) int64 { return now.UnixMilli() }))
}
