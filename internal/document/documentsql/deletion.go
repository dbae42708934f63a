package documentsql

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

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
