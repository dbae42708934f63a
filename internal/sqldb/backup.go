package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrBackup says that the engine has tools of its own for backups.
var ErrBackup = errors.New("sqldb: a backup of PostgreSQL is made with pg_dump")

// Backup copies a SQLite database into a file that must not exist yet, as it is at one instant, while it is being used.
// The copy is a whole database by itself.
func (db *DB) Backup(ctx context.Context, file string) error {
	s, ok := db.driver.(*liteDB)
	if !ok {
		return ErrBackup
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("sqldb: backup: %w", err)
	}
	switch err := createPrivate(file); { // SQLite writes into an empty file, and keeps its mode
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("sqldb: backup: %s is there already", file)
	case err != nil:
		return fmt.Errorf("sqldb: backup: %w", err)
	}
	pool, err := s.second() // beside the writer: it reads, and must not hold anybody up
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	if _, err := pool.ExecContext(ctx, "VACUUM INTO ?", file); err != nil {
		return errors.Join(translate("backup", err), os.Remove(file))
	}
	return nil
}
