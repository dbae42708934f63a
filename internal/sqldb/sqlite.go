package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// liteDB has one connection that writes and a few that read. WAL lets readers continue during a write. FULL makes every
// commit durable; group commit pays for that once per batch.
type liteDB struct {
	readers *sql.DB
	writer  *sql.DB
	conn    *sql.Conn     // the writer's only connection
	turn    chan struct{} // the holder may use conn
	dsn     string
	own     *prepared // statements prepared on conn
	shared  *prepared // statements prepared on readers
}

// sqlitePragmas apply to every connection. SQLite does not enforce foreign keys by default. busy_timeout (ms) lets a
// process wait for another one that holds the file's lock, such as a command beside the server. journal_size_limit
// shortens the write-ahead log to 64 MiB after a large transaction, because SQLite otherwise keeps its largest size.
// temp_store(2) keeps sorts and temporary tables in memory.
const sqlitePragmas = "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)" +
	"&_pragma=foreign_keys(1)&_pragma=journal_size_limit(67108864)&_pragma=temp_store(2)"

// writerCache lets the writer keep 32 MiB of pages instead of 2. Each batch of orders inserts keys at random places of an
// index, and SQLite would read most of these pages from the file again. The memory is used only as the file grows.
const writerCache = "&_pragma=cache_size(-32768)"

// ErrServed reports that another server uses the database.
var ErrServed = errors.New("another server uses this database")

// LockServer keeps other servers from a SQLite database until unlock is called or the process ends, or returns ErrServed.
// Only one server may decide on SQLite: two would each move all deadlines after a step of the clock. Commands run beside
// the server and need no lock. On PostgreSQL, LockServer does nothing. The file of the lock, beside the database, is never
// removed: otherwise two processes could lock two files of the same name.
func LockServer(address string) (unlock func(), err error) {
	path, ok := strings.CutPrefix(address, "sqlite:")
	if !ok {
		return func() {}, nil
	}
	path, err = filepath.EvalSymlinks(strings.TrimPrefix(path, "//")) // one lock for all names of a database
	if err != nil {
		return nil, fmt.Errorf("sqldb: lock: %w", err)
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("sqldb: lock: %w", err)
	case !locked:
		return nil, fmt.Errorf("%w (%s is locked)", ErrServed, lock.Path())
	}
	return func() { _ = lock.Close() }, nil
}

func checkPath(path string) error {
	if path == "" {
		return errors.New("sqldb: the SQLite address has no path")
	}
	return nil
}

// openSQLite opens a file with one connection that writes and several that read. In WAL mode readers neither wait for the
// writer nor delay it.
func openSQLite(ctx context.Context, path string, readers int) (*liteDB, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	if err := makePrivate(path); err != nil {
		return nil, fmt.Errorf("sqldb: %w", err)
	}
	// Unescaped, these characters would end the path of a SQLite URI or begin an escape.
	dsn := "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path) + "?" + sqlitePragmas
	writer := openConns(dsn+writerCache, "")
	// SQLite permits one writer. Transactions wait for s.turn in order of arrival; SQLite's own waiting polls and has
	// no order.
	writer.SetMaxOpenConns(1)
	conn, err := writer.Conn(ctx)
	if err != nil {
		_ = writer.Close()
		if readOnly(err) {
			return nil, fmt.Errorf("sqldb: open %s: %w: %w", path, fs.ErrPermission, err)
		}
		return nil, translate("open "+path, err)
	}
	// query_only makes statements that write fail on a reader's connection, because they would bypass the turn.
	reading := openConns(dsn, "PRAGMA query_only = 1")
	if readers <= 0 {
		readers = 4
	}
	// All readers may stay idle: database/sql keeps two idle connections by default and would close the others after
	// each use, together with their prepared statements.
	reading.SetMaxOpenConns(readers)
	reading.SetMaxIdleConns(readers)
	s := &liteDB{readers: reading, writer: writer, conn: conn, turn: make(chan struct{}, 1), dsn: dsn}
	s.own, s.shared = newPrepared(conn), newPrepared(reading)
	return s, nil
}

// makePrivate creates a database file and its folder if they are missing, and restricts the file to its owner: it
// contains members, password hashes and the key of the tokens. SQLite creates the files beside it with the same
// permissions; those of an older version are changed here. An existing folder keeps its permissions, because others may
// use it too.
func makePrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// An existing file is not opened. Closing it would drop the locks of everything else in this process that has it
	// open (https://sqlite.org/howtocorrupt.html, section 2.2).
	if err := createPrivate(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, file := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm()&0o077 == 0 {
			continue // a database that no process has open has no -wal and -shm
		}
		if err := os.Chmod(file, 0o600); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err // only the owner of a file can change its mode
		}
	}
	return nil
}

// createPrivate creates an empty file that only its owner may read. It fails with fs.ErrExist if the file exists.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// second opens a pool of one more connection. A caller that writes on it must hold the turn.
func (s *liteDB) second() *sql.DB {
	pool := openConns(s.dsn, "")
	pool.SetMaxOpenConns(1)
	return pool
}

// Exec runs on the writer's connection, while no transaction is open.
func (s *liteDB) Exec(ctx context.Context, q *Stmt, args ...any) (int64, error) {
	if err := s.take(ctx); err != nil {
		return 0, err
	}
	defer s.leave()
	return s.own.exec(ctx, form{q, false}, args)
}

// Query runs on a reader's connection.
func (s *liteDB) Query(ctx context.Context, q *Stmt, args ...any) (Rows, error) {
	return s.shared.query(ctx, form{q, false}, args)
}

// prepare uses a reader: compiling needs no turn, even for a statement that writes.
func (s *liteDB) prepare(ctx context.Context, q *Stmt) error {
	stmt, err := s.readers.PrepareContext(ctx, q.sqlite())
	if err != nil {
		return err
	}
	return stmt.Close()
}

// take waits for the turn to write. The holder calls leave. busy_timeout does not apply here; ctx bounds it.
func (s *liteDB) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return translate("wait for the writer", ctx.Err())
	}
}

func (s *liteDB) leave() { <-s.turn }

func (s *liteDB) ping(ctx context.Context) error { return s.readers.PingContext(ctx) }

func (s *liteDB) close() {
	s.own.close()
	s.shared.close()
	_ = s.readers.Close()
	// The last connection merges the write-ahead log into the file when it closes, but not while a query that was cut off
	// still has a statement open. A copy of the file alone would then be incomplete.
	for _, text := range []string{"PRAGMA busy_timeout = 500", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		_, _ = s.conn.ExecContext(context.Background(), text)
	}
	_ = s.conn.Close()
	_ = s.writer.Close()
}

// begin takes the file's write lock with BEGIN IMMEDIATE. A deferred transaction that has read would fail at its first
// write, without waiting, if another process has written meanwhile.
func (s *liteDB) begin(ctx context.Context, _ bool) (engineTx, error) {
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	if _, err := s.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		// If ctx ended in the meantime, the transaction may have begun all the same. It would keep the lock for good.
		_, _ = s.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		s.leave()
		return nil, err
	}
	return &sqliteTx{s: s}, nil
}

// snapshot begins a deferred transaction: the first query fixes the state that all others see.
func (s *liteDB) snapshot(ctx context.Context) (engineSnapshot, error) {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &sqliteSnapshot{conn, newPrepared(conn)}, nil
}

// sqliteSnapshot is a transaction on one of the readers' connections, with prepared statements of its own.
type sqliteSnapshot struct {
	conn *sql.Conn
	own  *prepared
}

func (t *sqliteSnapshot) Query(ctx context.Context, q *Stmt, args ...any) (Rows, error) {
	return t.own.query(ctx, form{q, false}, args)
}

// rollback ends the transaction and returns the connection to the pool. If ROLLBACK fails, it discards the connection,
// which would show the old state to its next user.
func (t *sqliteSnapshot) rollback() {
	t.own.close()
	if _, err := t.conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		_ = t.conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	_ = t.conn.Close()
}

// sqliteTx runs every statement at once: there is no round trip to save.
type sqliteTx struct {
	hooks
	s     *liteDB
	err   error // error of a queued statement
	ended bool
}

// Exec keeps an error, so that the transaction cannot be committed: it may contain the first rows of the failed statement.
func (t *sqliteTx) Exec(ctx context.Context, q *Stmt, args ...any) (n int64, err error) {
	if t.err == nil {
		n, t.err = t.s.own.exec(ctx, form{q, true}, args)
	}
	return n, t.err
}

// Query keeps an error, like Exec: the statement may be an INSERT or UPDATE with RETURNING, which changes all rows before it
// returns the first one.
func (t *sqliteTx) Query(ctx context.Context, q *Stmt, args ...any) (rows Rows, err error) {
	if t.err == nil {
		rows, t.err = t.s.own.query(ctx, form{q, true}, args)
	}
	return rows, t.err
}

func (t *sqliteTx) Queue(q *Stmt, args ...any) { t.QueueExactly(-1, q, args...) }

// QueueExactly runs the statement at once. The next call that can return an error returns its error. Statements
// queued after it are not run.
func (t *sqliteTx) QueueExactly(n int64, q *Stmt, args ...any) {
	if t.err != nil {
		return
	}
	got, err := t.s.own.exec(context.Background(), form{q, true}, args)
	if err == nil && n >= 0 && got != n {
		err = fmt.Errorf("sqldb: %s: %w: %d, not %d", q.Name, ErrAffected, got, n)
	}
	t.err = err
}

func (t *sqliteTx) QueueQuery(read func(Rows) error, q *Stmt, args ...any) {
	if t.err != nil {
		return
	}
	rows, err := t.Query(context.Background(), q, args...)
	if err == nil {
		t.err = each(rows, read)
	}
}

// Flush sends nothing, because queued statements have already run. It returns their first error.
func (t *sqliteTx) Flush(context.Context) error { return t.err }

func (t *sqliteTx) commit(ctx context.Context) error {
	if t.err != nil {
		return t.err
	}
	if _, err := t.s.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return translate("commit", err)
	}
	t.end()
	return nil
}

// rollback releases the turn only after ROLLBACK has ended, so the next transaction never begins inside this one.
func (t *sqliteTx) rollback() {
	if t.ended {
		return
	}
	_, _ = t.s.conn.ExecContext(context.Background(), "ROLLBACK") // fails only if there is nothing to roll back
	t.end()
}

func (t *sqliteTx) end() {
	t.ended = true
	t.s.leave()
}

// preparer is a connection or a pool that prepares statements.
type preparer interface {
	PrepareContext(ctx context.Context, text string) (*sql.Stmt, error)
}

// prepared caches prepared statements, because compiling one costs more than running it. It is safe for concurrent use.
type prepared struct {
	on preparer
	mu sync.Mutex
	by map[form]*sql.Stmt
}

// form is a statement, or its text in a transaction.
type form struct {
	*Stmt
	inTx bool
}

func newPrepared(on preparer) *prepared { return &prepared{on: on, by: map[form]*sql.Stmt{}} }

// get compiles under the lock, so that two callers compile a statement once. The map grows no further than the
// program's statements.
func (p *prepared) get(ctx context.Context, q form) (*sql.Stmt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := p.by[q]; ok {
		return s, nil
	}
	text := q.sqlite()
	if q.inTx {
		text = orFail(text)
	}
	s, err := p.on.PrepareContext(context.WithoutCancel(ctx), text)
	if err != nil {
		return nil, translate(q.Name, err)
	}
	p.by[q] = s
	return s, nil
}

// orFail returns the text of a statement for a transaction. By default SQLite keeps a copy of each page that a statement
// changes, to undo its first rows if a later one fails. A transaction with a failed statement is rolled back, see Exec.
func orFail(text string) string {
	for _, verb := range []string{"INSERT ", "UPDATE "} {
		if rest, ok := strings.CutPrefix(text, verb); ok {
			return verb + "OR FAIL " + rest
		}
	}
	return text
}

// exec runs a statement that returns no rows. It is prepared on first use and kept, because parsing costs SQLite more than
// running a short statement.
func (p *prepared) exec(ctx context.Context, q form, args []any) (int64, error) {
	bound, handles, err := q.bindLite(args)
	if err != nil {
		return 0, err
	}
	defer release(handles)
	s, err := p.get(ctx, q)
	if err != nil {
		return 0, err
	}
	res, err := s.ExecContext(ctx, bound...)
	if err != nil {
		return 0, translate(q.Name, err)
	}
	n, err := res.RowsAffected()
	return n, translate(q.Name, err)
}

func (p *prepared) query(ctx context.Context, q form, args []any) (Rows, error) {
	bound, handles, err := q.bindLite(args)
	if err != nil {
		return nil, err
	}
	s, err := p.get(ctx, q)
	if err != nil {
		release(handles)
		return nil, err
	}
	rows, err := s.QueryContext(ctx, bound...)
	if err != nil {
		release(handles)
		return nil, translate(q.Name, err)
	}
	return &sqliteRows{rows, q.Name, handles}, nil
}

func (p *prepared) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.by {
		_ = s.Close()
	}
}

// sqliteRows translates read errors. Close releases the row sets of the statement.
type sqliteRows struct {
	*sql.Rows
	statement string
	handles   []int64
}

func (r *sqliteRows) Scan(dest ...any) error { return translate(r.statement, r.Rows.Scan(dest...)) }
func (r *sqliteRows) Err() error             { return translate(r.statement, r.Rows.Err()) }
func (r *sqliteRows) Close() {
	_ = r.Rows.Close()
	release(r.handles)
	r.handles = nil
}
