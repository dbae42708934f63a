package catalogsql

import (
	"context"
	"maps"
	"slices"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/sqldb"
)

// AddImage stores an image and purges images that neither a dish nor the brand shows and that were last used before an
// instant.
func (s *Store) AddImage(ctx context.Context, p catalog.Image, now, before time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		tx.Queue(stmt("image_purge"), before.UnixMilli())
		queueImage(tx, p, now)
		return checkLimit(ctx, tx, stmt("image_count"), catalog.MaxImages+1, catalog.ErrTooManyImages)
	})
}

// queueImage stores an image, or renews it.
func queueImage(tx sqldb.Tx, p catalog.Image, now time.Time) {
	// Always in this order, so that two uploads of one image cannot deadlock.
	for _, width := range slices.Sorted(maps.Keys(p.Sizes)) {
		tx.Queue(stmt("image_insert"), p.ID, width, p.Sizes[width], now.UnixMilli())
	}
}

// Image returns an image in one of its sizes; found is false for an unknown id or width.
func (s *Store) Image(ctx context.Context, id string, width int) (bytes []byte, found bool, err error) {
	return sqldb.One(ctx, s.db, sqldb.Value[[]byte], stmt("image_select"), id, width)
}
