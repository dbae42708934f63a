package sqldb

import "context"

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
	// QueueQuery is Queue for a statement that returns rows. read receives them when they arrive, and must not use the
	// transaction. Queries that do not depend on each other's results share one round trip this way.
	QueueQuery(read func(Rows) error, q *Stmt, args ...any)
	// Flush sends the queued statements and waits for their results.
	Flush(ctx context.Context) error
	// OnCommit calls f after the transaction is committed, and never otherwise. f must not block.
	OnCommit(f func())
}

// hooks are the functions to call after the commit.
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

// Collect reads and closes all rows of a query. It takes both results of Query, so that a call fits on one line.
func Collect[T any](rows Rows, err error, scan func(Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// One reads the first row of a query and closes it. It returns found false if there is none.
func One[T any](rows Rows, err error, scan func(Rows) (T, error)) (v T, found bool, _ error) {
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
