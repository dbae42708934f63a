package sqldb

import (
	"context"
	"time"

	"comanda/internal/clock"
)

var nowSelect = must("now_select", `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`)

// Now is the instant by which everything is decided, in UTC and whole milliseconds: the server's clock on PostgreSQL,
// so that several processes agree, and the machine's on SQLite.
func (db *DB) Now() time.Time { return db.clock.Now() }

// Clock is the deciding clock. On PostgreSQL it is measured when the database is opened; afterwards Clock.Measure has to be
// called now and then.
func (db *DB) Clock() *clock.Clock { return db.clock }

// serverTime implements clock.Authority.
func (db *DB) serverTime(ctx context.Context) (time.Time, error) {
	rows, err := db.Query(ctx, nowSelect)
	us, _, err := One(rows, err, Value[int64])
	return time.UnixMicro(us), err
}

func must(name, text string) *Stmt {
	s, err := compile(name, text, nil)
	if err != nil {
		panic(err)
	}
	return s
}
