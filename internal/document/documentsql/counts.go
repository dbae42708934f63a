package documentsql

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"comanda/internal/document"
	"comanda/internal/sqldb"
)

// Total implements document.Counts.
func (s *Store) Total(ctx context.Context, e *document.Entity) (int64, error) {
	rows, err := s.from.Query(ctx, statementsOf[e].total)
	n, _, err := sqldb.One(rows, err, sqldb.Value[int64])
	return n, err
}

// Sizes implements document.Counts.
func (s *Store) Sizes(
	ctx context.Context, e *document.Entity, x *document.Index, after string, limit int,
) ([]document.Size, error) {
	var from any = after
	if e.Kind(x) == document.ID {
		from, _ = ParseNumber(after) // "" is 0, before all
	}
	rows, err := s.from.Query(ctx, statementsOf[e].sizes[x.Name], from, limit)
	return sqldb.Collect(rows, err, func(r sqldb.Rows) (size document.Size, err error) {
		err = r.Scan(&size.Value, &size.N)
		return size, err
	})
}

// Position implements document.Counts.
func (s *Store) Position(ctx context.Context) (time.Time, error) {
	rows, err := s.db.Query(ctx, outboxPosition)
	at, waits, err := sqldb.One(rows, err, sqldb.Value[int64])
	if err != nil || !waits {
		return time.Time{}, err
	}
	return time.UnixMilli(at).UTC(), nil
}

// Pending implements document.Counts.
func (s *Store) Pending(ctx context.Context, limit int) (waiting map[document.Ref]struct{}, ok bool, err error) {
	rows, err := s.db.Query(ctx, outboxPending, limit+1)
	waiting, n := map[document.Ref]struct{}{}, 0
	_, err = sqldb.Collect(rows, err, func(r sqldb.Rows) (struct{}, error) {
		n++
		return struct{}{}, scanPending(r, waiting)
	})
	return waiting, n <= limit, err
}

func scanPending(r sqldb.Rows, into map[document.Ref]struct{}) error {
	var entity, list string
	if err := r.Scan(&entity, &list); err != nil {
		return err
	}
	e := document.ByName(entity)
	if e == nil {
		return nil // of a release that knows more
	}
	var ids []string
	if err := json.Unmarshal([]byte(list), &ids); err != nil {
		return fmt.Errorf("documentsql: outbox: %w", err)
	}
	for _, id := range ids {
		into[document.Ref{Entity: e, ID: id}] = struct{}{}
	}
	return nil
}
