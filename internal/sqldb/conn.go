package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Reader runs statements that only read.
type Reader interface {
	// Query runs a statement and returns its rows. The caller closes them.
	Query(ctx context.Context, q *Stmt, args ...any) (Rows, error)
}

// Conn runs statements. Tx is a Conn, and so is DB, where each statement is a transaction of its own.
type Conn interface {
	Reader
	// Exec runs a statement and returns the number of rows it changed.
	Exec(ctx context.Context, q *Stmt, args ...any) (affected int64, err error)
}

// Tx is one transaction. It is not safe for concurrent use.
type Tx interface {
	Conn
	// Queue adds a statement to the next round trip, which is the commit's at the latest. That round trip returns the
	// statement's error, and the transaction is rolled back.
	Queue(q *Stmt, args ...any)
	// QueueExactly is Queue for a statement that must change n rows. Any other number is ErrAffected.
	QueueExactly(n int64, q *Stmt, args ...any)
	// QueueQuery is Queue for a statement that returns rows. read is called with each row when the rows arrive, and must
	// not use the transaction. Queries that do not depend on each other's results share one round trip this way.
	QueueQuery(read func(Rows) error, q *Stmt, args ...any)
	// Flush sends the queued statements and waits for their results.
	Flush(ctx context.Context) error
	// OnCommit calls f after the transaction is committed, and never otherwise. f must not block.
	OnCommit(f func())
}

// hooks are the functions to call after the commit. They run in order of registration, in the goroutine of the commit.
// Each attempt of a retried transaction has its own, so one that was rolled back calls none.
type hooks struct{ all []func() }

func (h *hooks) OnCommit(f func()) { h.all = append(h.all, f) }

func (h *hooks) committed() {
	for _, f := range h.all {
		f()
	}
}

// Rows is the result of a query, read forward once. Its errors are translated like those of statements: a connection
// lost between two rows is ErrUnavailable.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Collect runs a query and returns all its rows. Without rows it returns nil. It holds all rows in memory; Each reads
// results without a limit.
func Collect[T any](ctx context.Context, c Reader, scan func(Rows) (T, error), q *Stmt, args ...any) ([]T, error) {
	var all []T
	err := Each(ctx, c, func(r Rows) error {
		v, err := scan(r)
		all = append(all, v)
		return err
	}, q, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Each runs a query and calls read with each row. read must not use the connection.
func Each(ctx context.Context, c Reader, read func(Rows) error, q *Stmt, args ...any) error {
	rows, err := c.Query(ctx, q, args...)
	if err != nil {
		return err
	}
	return each(rows, read)
}

// each calls read with each row, and closes the rows.
func each(rows Rows, read func(Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Map runs a query for two columns and returns the second by the first. If the first column repeats, the last row
// counts.
func Map[K comparable, V any](ctx context.Context, c Reader, q *Stmt, args ...any) (map[K]V, error) {
	all := map[K]V{}
	return all, Each(ctx, c, IntoMap(all), q, args...)
}

// IntoMap returns a function that reads a row of two columns into a map, for Each and Tx.QueueQuery.
func IntoMap[K comparable, V any](m map[K]V) func(Rows) error {
	return func(r Rows) error {
		var k K
		var v V
		err := r.Scan(&k, &v)
		m[k] = v
		return err
	}
}

// Grouped runs a query for two columns and returns the values of the second by the first, in the order of the rows.
func Grouped[K comparable, V any](ctx context.Context, c Reader, q *Stmt, args ...any) (map[K][]V, error) {
	all := map[K][]V{}
	return all, Each(ctx, c, func(r Rows) error {
		var k K
		var v V
		err := r.Scan(&k, &v)
		all[k] = append(all[k], v)
		return err
	}, q, args...)
}

// Scanned returns a function that scans a row and passes it to use, for Each and Tx.QueueQuery.
func Scanned[T any](scan func(Rows) (T, error), use func(T)) func(Rows) error {
	return func(r Rows) error {
		v, err := scan(r)
		if err == nil {
			use(v)
		}
		return err
	}
}

// One runs a query and returns its first row, or found false if there is none. Closing the rows discards those after
// the first.
func One[T any](
	ctx context.Context, c Reader, scan func(Rows) (T, error), q *Stmt, args ...any,
) (v T, found bool, err error) {
	rows, err := c.Query(ctx, q, args...)
	if err != nil {
		return v, false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return v, false, rows.Err()
	}
	v, err = scan(rows)
	return v, err == nil, err
}

// Get runs a query and returns its first row, or missing if there is none.
func Get[T any](
	ctx context.Context, c Reader, missing error, scan func(Rows) (T, error), q *Stmt, args ...any,
) (T, error) {
	v, found, err := One(ctx, c, scan, q, args...)
	if err == nil && !found {
		err = missing
	}
	return v, err
}

// Read runs a query and scans its first row into dest, or reports found false if there is none.
func Read(ctx context.Context, c Reader, dest []any, q *Stmt, args ...any) (found bool, err error) {
	_, found, err = One(ctx, c, func(r Rows) (struct{}, error) { return struct{}{}, r.Scan(dest...) }, q, args...)
	return found, err
}

// Scalar runs a query for one column and returns it from the first row, or the zero value if there is none. Use One
// where the zero value and a missing row differ.
func Scalar[T any](ctx context.Context, c Reader, q *Stmt, args ...any) (T, error) {
	v, _, err := One(ctx, c, Value[T], q, args...)
	return v, err
}

// Page returns a page of rows and the number of all. list takes the arguments of count, a limit and an offset. Rows may
// be added between the two queries; only in a Snapshot do the page and the number agree.
func Page[T any](
	ctx context.Context, c Reader, scan func(Rows) (T, error), count, list *Stmt, limit, offset int, args ...any,
) (page []T, total int64, err error) {
	return CountedPage(ctx, c, scan, func(ctx context.Context) (int64, error) {
		return Scalar[int64](ctx, c, count, args...)
	}, list, limit, offset, args...)
}

// CountedPage is Page with a function that counts, which may return an older number. It is not called for a page that
// contains the last row, because such a page shows the number of all.
func CountedPage[T any](
	ctx context.Context, c Reader, scan func(Rows) (T, error), count func(context.Context) (int64, error),
	list *Stmt, limit, offset int, args ...any,
) (page []T, total int64, err error) {
	page, err = Collect(ctx, c, scan, list, append(slices.Clip(args), limit, offset)...)
	if err != nil {
		return nil, 0, err
	}
	seen := int64(offset + len(page))
	if len(page) < limit && (offset == 0 || len(page) > 0) {
		return page, seen, nil
	}
	if total, err = count(ctx); err != nil {
		return nil, 0, err
	}
	if len(page) > 0 {
		total = max(total, seen)
	}
	return page, total, nil
}

// Row returns a function that scans a row into the destinations that columns returns.
func Row[T any](columns func(v *T) []any) func(Rows) (T, error) {
	return func(r Rows) (v T, err error) {
		err = r.Scan(columns(&v)...)
		return v, err
	}
}

// Value reads a row of one column. It uses two statements because Go does not specify whether "return v, r.Scan(&v)"
// reads v before or after the call.
func Value[T any](r Rows) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// Pair reads a row of two integers.
func Pair(r Rows) (p [2]int64, err error) {
	err = r.Scan(&p[0], &p[1])
	return p, err
}

// IDs returns a row set of one column, id. Its statements declare the column as @rows($1: id int) or as text.
func IDs[T int64 | string](ids []T) *RowSet {
	r := NewRowSet(len(ids))
	switch ids := any(ids).(type) {
	case []int64:
		r.Int("id", func(i int) int64 { return ids[i] })
	case []string:
		r.Text("id", func(i int) string { return ids[i] })
	}
	return r
}

// Flag returns 1 for true and 0 for false, because SQLite has no type for them.
func Flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Instant returns the time of Unix milliseconds, in UTC. 0 is the zero time: columns use it for "not yet" and "never".
func Instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// NullInstant returns the time of Unix milliseconds, in UTC. NULL is the zero time.
func NullInstant(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms).UTC()
}

// NullMillis returns a time in Unix milliseconds for a column that has NULL for the zero time.
func NullMillis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMilli())
}

// scanner is a destination of Rows.Scan that converts a column's value. Both drivers call it: pgx by way of
// database/sql's interface.
type scanner func(src any) error

// Scan implements sql.Scanner.
func (s scanner) Scan(src any) error { return s(src) }

// Time returns a scan destination for a column of Unix milliseconds. 0 and NULL are the zero time.
func Time(t *time.Time) sql.Scanner {
	return scanner(func(src any) error {
		ms, err := valueOf[int64](src)
		*t = Instant(ms)
		return err
	})
}

// Bool returns a scan destination for a column of 1 and 0.
func Bool(b *bool) sql.Scanner {
	return scanner(func(src any) error {
		n, err := valueOf[int64](src)
		*b = n == 1
		return err
	})
}

// NullText returns a scan destination for a column of text. NULL is the empty text.
func NullText[T ~string](v *T) sql.Scanner {
	return scanner(func(src any) error {
		text, err := valueOf[string](src)
		*v = T(text)
		return err
	})
}

// JSON returns a scan destination that decodes a column of JSON.
func JSON(v any) sql.Scanner {
	return scanner(func(src any) error {
		text, err := valueOf[string](src)
		return errors.Join(err, json.Unmarshal([]byte(text), v))
	})
}

// valueOf returns a driver's value as T, and the zero value for NULL.
func valueOf[T int64 | string](src any) (v T, err error) {
	if src == nil {
		return v, nil
	}
	v, ok := src.(T)
	if !ok {
		return v, fmt.Errorf("a column has %T and not %T", src, v)
	}
	return v, nil
}
