package sqldb

import "context"

// Reader asks.
type Reader interface {
	// Query runs a statement and gives its rows, which the caller closes.
	Query(ctx context.Context, q *Stmt, args ...any) (Rows, error)
}

// Conn runs statements. A transaction is one, and so is DB itself for statements that stand alone.
type Conn interface {
	Reader
	// Exec runs a statement and tells how many rows it changed.
	Exec(ctx context.Context, q *Stmt, args ...any) (affected int64, err error)
}

// Tx is one transaction.
type Tx interface {
	Conn
	// Queue sends a statement together with whatever is sent next, at the latest with the commit. Its error surfaces
	// there and undoes the transaction.
	Queue(q *Stmt, args ...any)
	// QueueExactly is Queue for a statement that must change n rows; any other number is ErrAffected.
	QueueExactly(n int64, q *Stmt, args ...any)
	// QueueQuery is Queue for a statement that gives rows: read gets them when they come, and must not use the
	// transaction. Questions that do not depend on each other's answers cost one round trip together.
	QueueQuery(read func(Rows) error, q *Stmt, args ...any)
	// Flush sends what is queued and waits for the answers.
	Flush(ctx context.Context) error
	// OnCommit has f called once the transaction is committed, and never otherwise. f must not block.
	OnCommit(f func())
}

// hooks are what is called after a commit.
type hooks struct{ all []func() }

func (h *hooks) OnCommit(f func()) { h.all = append(h.all, f) }

func (h *hooks) committed() {
	for _, f := range h.all {
		f()
	}
}

// Rows is the result of a query, read forward once. Its errors are translated like those of statements, so that a
// connection which is lost between two rows is ErrUnavailable.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Collect reads all rows of a query. It takes the query's two results, so that both can be written in one line.
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

// One reads the first row of a query; found is false when there is none.
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

// Value reads a row of one column. It is written in two statements because Go does not say whether a variable that is
// returned beside a call is read before or after it.
func Value[T any](r Rows) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// Pair reads a row of two integers.
func Pair(r Rows) (p [2]int64, err error) {
	err = r.Scan(&p[0], &p[1])
	return p, err
}
