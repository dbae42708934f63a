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
	return sqldb.Scalar[int64](ctx, s.from, statementsOf[e].total)
}

// Sizes implements document.Counts.
func (s *Store) Sizes(
	ctx context.Context, e *document.Entity, x *document.Index, after string, limit int,
) ([]document.Size, error) {
	var from any = after
	if e.Kind(x) == document.ID {
		from, _ = ParseNumber(after) // "" is 0, before all
	}
	return sqldb.Collect(ctx, s.from, sqldb.Row(func(size *document.Size) []any {
		return []any{&size.Value, &size.N}
	}), statementsOf[e].sizes[x.Name], from, limit)
}

// Position implements document.Counts.
func (s *Store) Position(ctx context.Context) (time.Time, error) {
	at, err := sqldb.Scalar[int64](ctx, s.db, stmt("outbox_position"))
	return sqldb.Instant(at), err
}

// Pending implements document.Counts. One row more than the limit is read, to detect that there are more.
func (s *Store) Pending(ctx context.Context, limit int) (waiting map[document.Ref]struct{}, ok bool, err error) {
	waiting, n := map[document.Ref]struct{}{}, 0
	err = sqldb.Each(ctx, s.db, func(r sqldb.Rows) error {
		n++
		return scanPending(r, waiting)
	}, stmt("outbox_pending"), limit+1)
	return waiting, n <= limit, err
}

// scanPending adds the documents of one outbox row, claimed or not: a claimed row is not projected yet.
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
