package sqldb

import (
	"context"
	"sync/atomic"
	"time"
)

// clock is the difference between the deciding clock and this process's.
type clock struct{ offset atomic.Int64 }

var nowSelect = must("now_select", `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`)

// Now is the instant by which everything is decided, in UTC and whole milliseconds: the server's clock on PostgreSQL,
// so that several processes agree, and the process's on SQLite.
func (db *DB) Now() time.Time {
	return time.Now().Add(time.Duration(db.clock.offset.Load())).UTC().Truncate(time.Millisecond)
}

// SyncClock measures the difference to the server's clock anew. Half of the answer's travel time is taken as its way
// back. It does nothing on SQLite.
func (db *DB) SyncClock(ctx context.Context) error {
	if db.engine == SQLite {
		return nil
	}
	before := time.Now()
	rows, err := db.Query(ctx, nowSelect)
	ms, _, err := One(rows, err, Value[int64])
	if err != nil {
		return err
	}
	there := time.UnixMilli(ms).Add(time.Since(before) / 2)
	db.clock.offset.Store(int64(time.Until(there)))
	return nil
}

// ClockOffset is how far the deciding clock is ahead of this process's.
func (db *DB) ClockOffset() time.Duration { return time.Duration(db.clock.offset.Load()) }

func must(name, text string) *Stmt {
	s, err := compile(name, text)
	if err != nil {
		panic(err)
	}
	return s
}
