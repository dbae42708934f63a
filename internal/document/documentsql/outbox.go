package documentsql

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"comanda/internal/document"
	"comanda/internal/sqldb"
)

// Claim implements document.Outbox. It only reads while nothing is due, so that an idle process writes nothing.
func (s *Store) Claim(ctx context.Context, now, until time.Time, limit int) (claimed []document.Claimed, err error) {
	if _, due, err := sqldb.One(ctx, s.db, sqldb.Value[string], outboxDue, now.UnixMilli()); err != nil || !due {
		return nil, err
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		claimed, err = sqldb.Collect(ctx, tx, scanClaimed, outboxClaim, now.UnixMilli(), limit, until.UnixMilli())
		return err
	})
	slices.SortFunc(claimed, func(a, b document.Claimed) int { return strings.Compare(a.ID, b.ID) })
	return claimed, err
}

func scanClaimed(r sqldb.Rows) (c document.Claimed, err error) {
	var entity, ids, dead string
	if err := r.Scan(&c.ID, &entity, &ids, &dead); err != nil {
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

// Delete implements document.Outbox.
func (s *Store) Delete(ctx context.Context, rows []string) error {
	_, err := s.db.Exec(ctx, outboxDelete, textRows(rows))
	return err
}

// Release implements document.Outbox.
func (s *Store) Release(ctx context.Context, rows []string) error {
	_, err := s.db.Exec(ctx, outboxRelease, textRows(rows))
	return err
}

// Backlog returns the number of pending rows, and the time of the oldest; the zero time if there is none.
func (s *Store) Backlog(ctx context.Context) (pending int64, oldest time.Time, err error) {
	p, _, err := sqldb.One(ctx, s.db, sqldb.Pair, outboxCount)
	if err != nil || p[0] == 0 {
		return 0, time.Time{}, err
	}
	return p[0], time.UnixMilli(p[1]).UTC(), nil
}

// purgeBatch bounds the rows of one DELETE, so that no statement holds its locks for long.
const purgeBatch = 2000

// PurgeTombstones deletes the tombstones from before an instant.
func (s *Store) PurgeTombstones(ctx context.Context, before time.Time) error {
	for {
		n, err := s.db.Exec(ctx, tombstonePurge, before.UnixMilli(), purgeBatch)
		if err != nil || n < purgeBatch {
			return err
		}
	}
}
