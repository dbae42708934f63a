package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrBackup is returned by Backup on PostgreSQL, whose own tools make its backups.
var ErrBackup = errors.New("sqldb: a backup of PostgreSQL is made with pg_dump")

// Backup writes a complete, consistent copy of a SQLite database to file, which must not exist yet. The database stays
// in use meanwhile: the copy is the state of one instant.
func (db *DB) Backup(ctx context.Context, file string) error {
	s, ok := db.driver.(*liteDB)
	if !ok {
		return ErrBackup
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("sqldb: backup: %w", err)
	}
	switch err := createPrivate(file); { // SQLite writes into an empty file and keeps its mode
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("sqldb: backup: %s already exists", file)
	case err != nil:
		return fmt.Errorf("sqldb: backup: %w", err)
	}
	pool := s.second() // a connection of its own: it only reads, and must not block the writer
	defer func() { _ = pool.Close() }()
	// A failed copy is removed, because an incomplete database must not pass for a backup.
	if _, err := pool.ExecContext(ctx, "VACUUM INTO ?", file); err != nil {
		return errors.Join(translate("backup", err), os.Remove(file))
	}
	return nil
}
