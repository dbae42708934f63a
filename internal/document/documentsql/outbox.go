package documentsql

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"comanda/internal/document"
	"comanda/internal/queue/queuesql"
	"comanda/internal/sqldb"
)

// changes are the rows of document_outbox. They have no dead letters: a document is projected from its row as it is now,
// so a failure says nothing about the change.
var changes = queuesql.New(queuesql.Spec{
	Table: "document_outbox", Columns: "id, entity, ids, dead, attempts",
	Due: "claimed_until", Order: "id", Since: "created_at",
}, scanClaimed)

func scanClaimed(r sqldb.Rows) (c document.Claimed, err error) {
	var entity, ids, dead string
	if err := r.Scan(&c.ID, &entity, &ids, &dead, &c.Attempts); err != nil {
		return c, err
	}
	if c.Entity = document.ByName(entity); c.Entity == nil {
		return c, nil // of a release that knows more; there is nothing to project here
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

// MoveDeadlines moves the ends of claims, because the deciding clock was set by as much: one that lasted an hour longer
// would keep documents from being written. It returns how many there were.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	rows, err := tx.Exec(ctx, stmt("outbox_deadline_move"), by.Milliseconds())
	if err != nil {
		return 0, err
	}
	generations, err := tx.Exec(ctx, stmt("generation_deadline_move"), by.Milliseconds())
	return rows + generations, err
}
