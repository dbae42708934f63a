package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"comanda/internal/clock"
	"comanda/internal/fault"
)

// Times that bound what a caller can wait for.
const (
	writeTimeout     = 10 * time.Second // one transaction, its retries included
	readTimeout      = 3 * time.Second  // one statement of Questions
	unavailableRetry = 2 * time.Second
	maxRetries       = 3
)

// Config says which database to open.
type Config struct {
	// URL is postgres://user@host/db or sqlite:path, where path is relative to the working directory unless it begins
	// with a slash (sqlite:///var/lib/comanda/comanda.db).
	URL string
	// MaxConns bounds the connections to PostgreSQL and the readers of SQLite; 0 means 16, or what pool_max_conns in the
	// URL says, and 4.
	MaxConns int
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	engine Engine
	driver engineDriver
	clock  *clock.Clock
}

// engineDriver is what an engine has to offer.
type engineDriver interface {
	Conn
	begin(ctx context.Context, patient bool) (engineTx, error)
	snapshot(ctx context.Context) (engineSnapshot, error)
	prepare(ctx context.Context, q *Stmt) error
	ping(ctx context.Context) error
	migrate(ctx context.Context) (migrator, error)
	close()
}

type engineTx interface {
	Tx
	commit(ctx context.Context) error
	committed()
	rollback()
}

type engineSnapshot interface {
	Reader
	rollback()
}

// Open connects to the database that the configuration names. It does not migrate.
func Open(ctx context.Context, c Config) (*DB, error) {
	scheme, rest, _ := strings.Cut(c.URL, ":")
	switch scheme {
	case "postgres", "postgresql":
		d, err := openPostgres(ctx, c)
		if err != nil {
			return nil, err
		}
		db := &DB{engine: Postgres, driver: d}
		db.clock = clock.Of(db.serverTime)
		// A server that is too slow to measure by can be worked with; nothing ends until it was measured.
		if err := db.clock.Measure(ctx); err != nil && !errors.Is(err, clock.ErrVague) {
			d.close()
			return nil, err
		}
		return db, nil
	case "sqlite":
		d, err := openSQLite(ctx, strings.TrimPrefix(rest, "//"), c.MaxConns)
		if err != nil {
			return nil, err
		}
		return &DB{engine: SQLite, driver: d, clock: clock.OfMachine()}, nil
	}
	return nil, fmt.Errorf("sqldb: %q is not a database address: postgres://... or sqlite:path", scheme)
}

// Engine tells which engine it is.
func (db *DB) Engine() Engine { return db.engine }

// Ping asks the database for a sign of life.
func (db *DB) Ping(ctx context.Context) error { return translate("ping", db.driver.ping(ctx)) }

// Close ends all connections. Transactions must have ended before.
func (db *DB) Close() { db.driver.close() }

// Exec runs a statement that is a transaction of its own.
func (db *DB) Exec(ctx context.Context, q *Stmt, args ...any) (int64, error) {
	return db.driver.Exec(ctx, q, args...)
}

// Query runs a reading statement outside any transaction.
func (db *DB) Query(ctx context.Context, q *Stmt, args ...any) (Rows, error) {
	return db.driver.Query(ctx, q, args...)
}

// Prepare has the engine compile a statement without running it.
func (db *DB) Prepare(ctx context.Context, q *Stmt) error {
	return translate(q.Name, db.driver.prepare(ctx, q))
}

// Write runs fn in a transaction: BEGIN IMMEDIATE on SQLite, READ COMMITTED on PostgreSQL, where callers lock what they
// decide on. It is run again, up to three times, when the engine asks for that; so fn must not have effects outside of
// the transaction. A context that ends does not tear a transaction: fn runs under a limit of its own. PostgreSQL ends a
// transaction that is idle for three seconds: its process is frozen, and others wait for its locks.
func (db *DB) Write(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	return db.retry(ctx, false, fn)
}

// WriteWaiting is Write for a transaction that waits for another system between its statements and holds no lock that
// other transactions wait for. It may be idle for fifteen seconds.
func (db *DB) WriteWaiting(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	return db.retry(ctx, true, fn)
}

func (db *DB) retry(ctx context.Context, patient bool, fn func(ctx context.Context, tx Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	for try := 0; ; try++ {
		err := db.write(ctx, patient, fn)
		if try < maxRetries && errors.Is(err, ErrRetry) {
			continue
		}
		return err
	}
}

func (db *DB) write(ctx context.Context, patient bool, fn func(ctx context.Context, tx Tx) error) error {
	tx, err := db.driver.begin(ctx, patient)
	if err != nil {
		return translate("begin", err)
	}
	done := false
	defer func() {
		if !done {
			tx.rollback()
		}
	}()
	if err := fn(ctx, tx); err != nil {
		return err
	}
	done = true
	if err := tx.commit(ctx); err != nil {
		tx.rollback()
		return err
	}
	tx.committed()
	return nil
}

// Snapshot runs fn in a transaction that can only read, and whose answers are all of one moment, that of the first. It
// waits for nobody, and nobody waits for it. fn is run once, for as long as its context allows; but PostgreSQL ends the
// transaction of one that asks nothing for fifteen seconds (idle_in_transaction_session_timeout). Rows are closed before the
// next question.
func (db *DB) Snapshot(ctx context.Context, fn func(ctx context.Context, at Reader) error) error {
	at, err := db.driver.snapshot(ctx)
	if err != nil {
		return translate("begin", err)
	}
	defer at.rollback() // there is nothing to commit
	return fn(ctx, at)
}

// IsUnavailable tells whether an error says that the database is out of reach.
func IsUnavailable(err error) bool { return fault.KindOf(err) == fault.Unavailable }
