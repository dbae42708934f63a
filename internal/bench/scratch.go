package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
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
// PostgreSQL database, or a file beside the SQLite one. drop removes it. The caller must call drop, even after a
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

const (
	clearBatch   = 1000
	clearTimeout = 2 * time.Minute
)

// Clear removes all keys of the benchmark from its own Redis or namespace: orders, carts, guests, members, menu.
// Otherwise many would live until a day after their business date, and documents forever. Call it after the server has
// stopped: a running server would treat the loss as a failure and rebuild everything. Keys that package keyspace does
// not declare stay. It may be called again after an error.
func Clear(ctx context.Context, c Config) error {
	if c.RedisURL == "" {
		return nil
	}
	limit := clearTimeout
	if c.History != nil { // a history has five documents and sets per order
		limit += time.Duration(c.History.Orders) * 100 * time.Microsecond
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	redis, err := redisdb.Open(ctx, redisdb.Config{URL: c.RedisURL, Namespace: c.Namespace, Timeout: rawPatient})
	if err != nil {
		return err
	}
	defer redis.Close()
	return redis.Walk(ctx, "", nil, func(_ *redisdb.Master, found []redisdb.KeyInfo) error {
		keys := make([]keyspace.Key, 0, len(found))
		for _, info := range found {
			if k, ok := keyspace.Parse(info.Key); ok { // undeclared keys are not the benchmark's
				keys = append(keys, k)
			}
		}
		return unlink(ctx, redis, keys)
	})
}

// unlink removes keys in order. Batches keep the commands of one round trip below a size that would block Redis or fill
// its buffers. UNLINK frees the memory in the background.
func unlink(ctx context.Context, redis *redisdb.DB, keys []keyspace.Key) error {
	for len(keys) > 0 {
		batch := keys[:min(len(keys), clearBatch)]
		keys = keys[len(batch):]
		cmds := make([]redisdb.Cmd, len(batch))
		for i, k := range batch {
			cmds[i] = redisdb.Command("UNLINK", k)
		}
		if _, err := redis.DoMulti(ctx, cmds...); err != nil {
			return err
		}
	}
	return nil
}
