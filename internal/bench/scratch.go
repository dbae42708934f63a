package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"comanda/internal/sqldb"
)

// The place of raw rows beside the product's (B3). All runs use the same name, so that leftovers of a killed run are
// removed by the next.
const (
	scratchSchema = "comanda_bench" // also in scratch_create.sql and scratch_drop.sql
	scratchSuffix = ".bench"
	dropTimeout   = 30 * time.Second
)

// scratch returns a database with the product's tables, indexes and settings that is not shared: a schema of the same
// PostgreSQL database, or a file beside the SQLite one. drop removes it. The caller must call drop, also after a
// failure of its own.
func scratch(ctx context.Context, db *sqldb.DB, address string) (own *sqldb.DB, drop func() error, err error) {
	address, remove, err := scratchPlace(ctx, db, address)
	if err != nil {
		return nil, nil, fmt.Errorf("bench: scratch database: %w", err)
	}
	own, err = sqldb.Open(ctx, sqldb.Config{URL: address, MaxConns: 2})
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	drop = func() error {
		own.Close()
		return remove()
	}
	if err := furnished(ctx, own); err != nil {
		return nil, nil, errors.Join(err, drop())
	}
	return own, drop, nil
}

// scratchPlace returns the address of an empty scratch database, and a function that removes it.
func scratchPlace(ctx context.Context, db *sqldb.DB, address string) (place string, remove func() error, err error) {
	if db.Engine() == sqldb.SQLite {
		place = address + scratchSuffix
		remove = func() error { return removeFile(place) }
		return place, remove, remove()
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", nil, errors.New("the database's address is malformed")
	}
	q := u.Query()
	q.Set("search_path", scratchSchema)
	u.RawQuery = q.Encode()
	remove = func() error {
		// The schema must go also when the run was interrupted.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
		defer cancel()
		_, err := db.Exec(ctx, stmt("scratch_drop"))
		return err
	}
	if err := remove(); err != nil {
		return "", nil, err
	}
	_, err = db.Exec(ctx, stmt("scratch_create"))
	return u.String(), remove, err
}

// removeFile removes an SQLite file with its WAL files.
func removeFile(address string) error {
	path := strings.TrimPrefix(strings.TrimPrefix(address, "sqlite:"), "//")
	var errs []error
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// furnished creates the schema and the counters of every item.
func furnished(ctx context.Context, db *sqldb.DB) error {
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	if _, err := Seed(ctx, db, true); err != nil {
		return err
	}
	_, err := db.Exec(ctx, stmt("counter_insert"), rawDate)
	return err
}
