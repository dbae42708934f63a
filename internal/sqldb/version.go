package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Oldest supported versions. Before 3.51.3, SQLite can lose a WAL that is reset while two connections write. PostgreSQL
// 14 is the oldest maintained version.
const (
	leastSQLite   = "3.51.3"
	leastPostgres = 140000
)

var (
	versionSQLite      = must("version_sqlite", `SELECT sqlite_version()`)
	versionPostgres    = must("version_postgres", `SELECT current_setting('server_version')`)
	versionPostgresNum = must("version_postgres_num", `SELECT CAST(current_setting('server_version_num') AS BIGINT)`)
	durablePostgres    = must("durable_postgres",
		`SELECT current_setting('fsync') || ' ' || current_setting('synchronous_commit')`)
	durableSQLite    = must("durable_sqlite", `SELECT synchronous FROM pragma_synchronous`)
	errNotDurable    = errors.New("sqldb: the database does not wait for the disk")
	errTooOld        = errors.New("sqldb: the database is too old")
	errUnknownResult = errors.New("sqldb: the database did not answer")
)

// single returns the only value of a query about the server. No row is an error, because the server always has one.
func (db *DB) single(ctx context.Context, q *Stmt) (string, error) {
	return Get(ctx, db, errUnknownResult, Value[string], q)
}

// Version returns the engine's version. A version older than the supported ones is an error.
func (db *DB) Version(ctx context.Context) (string, error) {
	if db.engine == SQLite {
		v, err := db.single(ctx, versionSQLite)
		if err == nil && older(v, leastSQLite) {
			err = fmt.Errorf("%w: SQLite %s, at least %s is needed", errTooOld, v, leastSQLite)
		}
		return v, err
	}
	n, _, err := One(ctx, db, Value[int64], versionPostgresNum)
	if err != nil {
		return "", err
	}
	v, err := db.single(ctx, versionPostgres)
	if err == nil && n < leastPostgres {
		err = fmt.Errorf("%w: PostgreSQL %s, at least 14 is needed", errTooOld, v)
	}
	return v, err
}

// older compares dotted version numbers and reports whether v is below least.
func older(v, least string) bool {
	var a, b [3]int
	_, _ = fmt.Sscanf(v, "%d.%d.%d", &a[0], &a[1], &a[2]) // a missing part counts as zero
	_, _ = fmt.Sscanf(least, "%d.%d.%d", &b[0], &b[1], &b[2])
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// Durable returns an error if the engine acknowledges commits before they are on disk. Serve refuses to start then: an
// order that was answered with success would be lost in a crash (I5). Every value of synchronous_commit but off waits
// at least for the local disk.
func (db *DB) Durable(ctx context.Context) error {
	if db.engine == SQLite {
		v, err := db.single(ctx, durableSQLite)
		if err == nil && v != "2" && v != "3" { // FULL, EXTRA
			err = fmt.Errorf("%w: synchronous is %s", errNotDurable, v)
		}
		return err
	}
	v, err := db.single(ctx, durablePostgres)
	if err != nil {
		return err
	}
	fsync, commit, _ := strings.Cut(v, " ")
	if fsync != "on" || commit == "off" {
		return fmt.Errorf("%w: fsync is %s and synchronous_commit is %s", errNotDurable, fsync, commit)
	}
	return nil
}
