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

// Limits on the time that a caller waits.
const (
	writeTimeout     = 10 * time.Second // one transaction, its retries included
	readTimeout      = 3 * time.Second  // one statement of ReadGroup
	unavailableRetry = 2 * time.Second  // after which a refused client may try again
	maxRetries       = 3
)

// Config is the configuration of Open.
type Config struct {
	// URL is postgres://user@host/db or sqlite:path. The path is relative to the working directory unless it begins
	// with a slash (sqlite:///var/lib/comanda/comanda.db).
	URL string
	// MaxConns limits the connections to PostgreSQL or the readers of SQLite. With 0, PostgreSQL has pool_max_conns of
	// the URL, else 16; SQLite has 4.
	MaxConns int
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	engine Engine
	driver engineDriver
	clock  *clock.Clock
}

// engineDriver is the part of DB that differs between SQLite and PostgreSQL.
type engineDriver interface {
	Conn
	// begin waits for the only writer on SQLite and for a free connection on PostgreSQL. patient permits longer idle
	// times; SQLite has no idle limit and ignores it.
	begin(ctx context.Context, patient bool) (engineTx, error)
	// snapshot begins a transaction that only reads and never waits for the writer.
	snapshot(ctx context.Context) (engineSnapshot, error)
	// prepare compiles a statement without running it, so that tests find a misspelt column.
	prepare(ctx context.Context, q *Stmt) error
	ping(ctx context.Context) error
	// migrate opens connections of its own, which the migrator's release closes.
	migrate(ctx context.Context) (migrator, error)
	close()
}

// engineTx is a Tx that DB.write ends: by commit and committed, or by rollback.
type engineTx interface {
	Tx
	// commit sends COMMIT. After an error the outcome may be unknown, and the caller calls rollback.
	commit(ctx context.Context) error
	// committed runs the functions of OnCommit.
	committed()
	// rollback does nothing after a successful commit.
	rollback()
}

type engineSnapshot interface {
	Reader
	rollback()
}

// Open connects to the database that c.URL names. It does not migrate. On PostgreSQL it reads the server's clock and
// fails if the server does not answer; on SQLite it creates a missing file.
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
		// A server that answers too slowly to measure its clock is usable: nothing expires until a later measurement
		// succeeds.
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
	return nil, noDatabase(scheme)
}

// CheckURL returns an error for an address that Open could never use. It opens nothing.
func CheckURL(address string) error {
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "postgres", "postgresql":
		_, err := parsePostgres(address)
		return err
	case "sqlite":
		return checkPath(strings.TrimPrefix(rest, "//"))
	}
	return noDatabase(scheme)
}

func noDatabase(scheme string) error {
	return fmt.Errorf("sqldb: %q is not a database address: postgres://... or sqlite:path", scheme)
}

// Engine returns the database's engine.
func (db *DB) Engine() Engine { return db.engine }

// Ping checks that the database answers.
func (db *DB) Ping(ctx context.Context) error { return translate("ping", db.driver.ping(ctx)) }

// Close closes all connections. All transactions must have ended before.
func (db *DB) Close() { db.driver.close() }

// Exec runs a statement in a transaction of its own. It is not repeated after ErrRetry. Only ctx and, on PostgreSQL,
// the limits of the server bound its time.
func (db *DB) Exec(ctx context.Context, q *Stmt, args ...any) (int64, error) {
	return db.driver.Exec(ctx, q, args...)
}

// Query runs a reading statement outside any transaction. The caller must close the rows: until then they occupy a
// connection of the pool.
func (db *DB) Query(ctx context.Context, q *Stmt, args ...any) (Rows, error) {
	return db.driver.Query(ctx, q, args...)
}

// Prepare compiles a statement on the engine without running it.
func (db *DB) Prepare(ctx context.Context, q *Stmt) error {
	return translate(q.Name, db.driver.prepare(ctx, q))
}

// Write runs fn in a transaction: BEGIN IMMEDIATE on SQLite, READ COMMITTED on PostgreSQL, where callers lock the rows
// they decide on. After a deadlock or serialization failure it runs fn again, up to three times, so fn must not have
// effects outside the transaction. Once begun, the transaction ignores the end of ctx and has a limit of its own, ten
// seconds with all retries. PostgreSQL ends a transaction that is idle for three seconds, because a frozen process
// would block others with its locks.
func (db *DB) Write(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	return db.retry(ctx, false, fn)
}

// WriteWaiting is Write for a transaction that waits for another system between its statements, and holds no lock that
// other transactions need. It may be idle for fifteen seconds.
func (db *DB) WriteWaiting(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	return db.retry(ctx, true, fn)
}

// retry runs a transaction again after ErrRetry, within one time limit for all attempts. It ignores the end of ctx,
// because a driver closes the connection of a cancelled call: if a client disconnected during COMMIT, the outcome
// would be unknown. A retry needs no pause: the other transaction holds the locks, and the retry waits for them.
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

// write runs one attempt. The deferred rollback also covers a panic in fn: an open transaction would keep its locks,
// and on SQLite the only writer.
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

// Snapshot runs fn in a read-only transaction. All queries see one state, that of the first query. Snapshot takes no
// lock that blocks a writer, and no writer blocks it. fn runs once and for as long as ctx allows, but PostgreSQL ends
// the transaction after fifteen seconds without a query (idle_in_transaction_session_timeout). fn must close the rows
// of one query before the next.
func (db *DB) Snapshot(ctx context.Context, fn func(ctx context.Context, at Reader) error) error {
	at, err := db.driver.snapshot(ctx)
	if err != nil {
		return translate("begin", err)
	}
	defer at.rollback() // there is nothing to commit
	return fn(ctx, at)
}

// IsUnavailable reports whether the error means that the database cannot be reached or cannot answer now.
func IsUnavailable(err error) bool { return fault.KindOf(err) == fault.Unavailable }

// nowSelect reads clock_timestamp(), because now() is the start of the transaction. Microseconds keep the result an
// integer.
var nowSelect = must("now_select", `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`)

// Now returns the current time for all decisions, in UTC and whole milliseconds. It is the server's clock on
// PostgreSQL, so that several processes agree, and the machine's clock on SQLite. It is not strictly ascending: a
// measurement may set it back.
func (db *DB) Now() time.Time { return db.clock.Now() }

// Clock returns the clock behind Now. Open measures it on PostgreSQL; the caller then repeats Clock.Measure at
// intervals, because the machine's clock drifts from the server's.
func (db *DB) Clock() *clock.Clock { return db.clock }

// serverTime implements clock.Authority.
func (db *DB) serverTime(ctx context.Context) (time.Time, error) {
	us, _, err := One(ctx, db, Value[int64], nowSelect)
	return time.UnixMicro(us), err
}

// must compiles a statement of this package, which needs no files.
func must(name, text string) *Stmt {
	s, err := compile(name, text, nil)
	if err != nil {
		panic(err)
	}
	return s
}
