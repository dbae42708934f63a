package sqldb

import (
	"context"
	"time"

	"comanda/internal/clock"
)

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
