package catalogsql

import (
	"context"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/sqldb"
)

// KeepPicture stores a picture, and deletes those that no dish shows and that came before an instant.
func (s *Store) KeepPicture(ctx context.Context, p catalog.Picture, now, before time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		tx.Queue(imagePurge, before.UnixMilli())
		for _, width := range []int{catalog.Thumb, catalog.Large} { // in one order: the same may come twice at once
			tx.Queue(imageInsert, p.ID, width, p.Sizes[width], now.UnixMilli())
		}
		return room(ctx, tx, imageCount, catalog.MaxPictures+1, catalog.ErrPictures)
	})
}

// Picture gives a picture in one of its sizes; found is false for another's.
func (s *Store) Picture(ctx context.Context, id string, width int) (bytes []byte, found bool, err error) {
	rows, err := s.db.Query(ctx, imageSelect, id, width)
	return sqldb.One(rows, err, sqldb.Value[[]byte])
}
