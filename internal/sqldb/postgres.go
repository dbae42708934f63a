package sqldb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgresSettings are set on every connection unless the address sets them. random_page_cost is for disks without seek
// times and for memory, where a random page costs nearly as much as the next one: with the default of 4, PostgreSQL
// scans tables of a few hundred pages instead of looking up a batch's rows. idle_in_transaction_session_timeout is
// shorter than lock_timeout, so that the transaction of a frozen process ends before those that wait for its rows fail.
// The limits are nested, so that an error names the narrowest cause: a lock (4 s), a statement (8 s), the transaction
// in the process (writeTimeout, 10 s), the transaction on the server (12 s).
var postgresSettings = map[string]string{
	"random_page_cost":                    "1.1",
	"statement_timeout":                   "8s",
	"lock_timeout":                        "4s",
	"idle_in_transaction_session_timeout": "3s",
	"application_name":                    "comanda",
}

const (
	// transactionTimeout limits a transaction on the server, as writeTimeout does in the process. Without it, a process
	// that is repeatedly frozen and resumed would hold its locks without ever being idle for long. PostgreSQL supports
	// it since version 17.
	transactionTimeout      = "12s"
	transactionTimeoutSince = 17

	// patientIdle is how long a transaction may be idle while it waits for a broker or for the reader of an export.
	patientIdle = "15s"

	defaultConns = 16
)

// postgres is the engineDriver of PostgreSQL. The pool connects when a connection is first needed.
type postgres struct {
	pool *pgxpool.Pool
	conf *pgxpool.Config // the pool's configuration, for migrate to copy
}

// parsePostgres returns the pool's configuration of an address.
func parsePostgres(address string) (*pgxpool.Config, error) {
	pc, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("sqldb: the PostgreSQL address is not valid: %s", withoutSecrets(err))
	}
	return pc, nil
}

// openPostgres returns a pool without connecting, so that a process also starts while its database is down. Parameters in
// the operator's address take precedence over Comanda's.
func openPostgres(ctx context.Context, c Config) (*postgres, error) {
	pc, err := parsePostgres(c.URL)
	if err != nil {
		return nil, err
	}
	for name, value := range postgresSettings {
		if _, set := pc.ConnConfig.RuntimeParams[name]; !set {
			pc.ConnConfig.RuntimeParams[name] = value
		}
	}
	switch {
	case c.MaxConns > 0:
		pc.MaxConns = int32(c.MaxConns) //nolint:gosec // a small configured number
	case !strings.Contains(c.URL, "pool_max_conns="): // otherwise the operator's value applies
		pc.MaxConns = defaultConns
	}
	// An address that drops packets would otherwise use up the caller's whole limit.
	pc.ConnConfig.ConnectTimeout = 2 * time.Second
	if _, set := pc.ConnConfig.RuntimeParams["transaction_timeout"]; !set {
		pc.AfterConnect = limitTransactions
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, translate("open", err)
	}
	return &postgres{pool, pc}, nil
}

// limitTransactions sets transaction_timeout after connecting. As a parameter of the connection, servers before 17
// would refuse it.
func limitTransactions(ctx context.Context, c *pgx.Conn) error {
	if !limitsTransactions(c.PgConn().ParameterStatus("server_version")) {
		return nil
	}
	_, err := c.Exec(ctx, "SET transaction_timeout = '"+transactionTimeout+"'")
	return err
}

// limitsTransactions reports whether a server version such as "17.2 (Debian 17.2-1)" or "18beta1" supports
// transaction_timeout.
func limitsTransactions(version string) bool {
	digits := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(version)
	}
	major, err := strconv.Atoi(version[:digits])
	return err == nil && major >= transactionTimeoutSince
}

// withoutSecrets returns a parse error's reason without the quoted address, which contains the password.
func withoutSecrets(err error) string {
	s := err.Error()
	if i := strings.LastIndex(s, "`: "); i >= 0 {
		s = s[i+3:]
	}
	return s
}

func (p *postgres) Exec(ctx context.Context, q *Stmt, args ...any) (int64, error) {
	bound, err := q.bind(args)
	if err != nil {
		return 0, err
	}
	tag, err := p.pool.Exec(ctx, q.postgres(), bound...)
	return tag.RowsAffected(), translate(q.Name, err)
}

func (p *postgres) Query(ctx context.Context, q *Stmt, args ...any) (Rows, error) {
	bound, err := q.bind(args)
	if err != nil {
		return nil, err
	}
	rows, err := p.pool.Query(ctx, q.postgres(), bound...)
	if err != nil {
		return nil, translate(q.Name, err)
	}
	return postgresRows{rows, q.Name}, nil
}

func (p *postgres) prepare(ctx context.Context, q *Stmt) error {
	return p.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		_, err := c.Conn().Prepare(ctx, q.Name, q.postgres())
		return err
	})
}

func (p *postgres) ping(ctx context.Context) error { return p.pool.Ping(ctx) }
func (p *postgres) close()                         { p.pool.Close() }

func (p *postgres) begin(ctx context.Context, patient bool) (engineTx, error) {
	tx, err := p.start(ctx, "begin")
	if err == nil && patient {
		tx.local("idle_in_transaction_session_timeout", patientIdle)
	}
	return tx, err
}

// snapshot begins a read-only transaction without a limit on its total time. It holds no lock that others wait for.
func (p *postgres) snapshot(ctx context.Context) (engineSnapshot, error) {
	tx, err := p.start(ctx, "begin read only, isolation level repeatable read")
	if err != nil {
		return nil, err
	}
	tx.local("idle_in_transaction_session_timeout", patientIdle)
	if limitsTransactions(tx.conn.Conn().PgConn().ParameterStatus("server_version")) {
		tx.local("transaction_timeout", "0")
	}
	return tx, nil
}

// start takes a connection and sends nothing: BEGIN is queued, and travels with the first statement.
func (p *postgres) start(ctx context.Context, text string) (*postgresTx, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	tx := &postgresTx{conn: conn}
	tx.pending = append(tx.pending, queued{name: "begin", text: text, want: -1})
	return tx, nil
}

// postgresTx pipelines a transaction: BEGIN travels with the first statement, COMMIT with the last, and queued
// statements between them without waiting for single results. A transaction costs one round trip per query, plus one or
// two.
type postgresTx struct {
	hooks
	conn    *pgxpool.Conn
	pending []queued
	err     error // the first failure to bind a queued statement's arguments
}

type queued struct {
	name string
	text string
	args []any
	want int64            // expected number of changed rows; -1 for any
	read func(Rows) error // reads the result of a query; nil for a statement without rows
}

// Queue adds a statement to the batch that the transaction sends in one round trip.
func (t *postgresTx) Queue(q *Stmt, args ...any) { t.QueueExactly(-1, q, args...) }

// QueueExactly keeps the first error of the arguments; send returns it instead of sending anything.
func (t *postgresTx) QueueExactly(n int64, q *Stmt, args ...any) {
	bound, err := q.bind(args)
	if err != nil && t.err == nil {
		t.err = err
	}
	t.pending = append(t.pending, queued{name: q.Name, text: q.postgres(), args: bound, want: n})
}

// QueueQuery adds a query to the batch. read receives its rows when the batch is sent, not before.
func (t *postgresTx) QueueQuery(read func(Rows) error, q *Stmt, args ...any) {
	t.Queue(q, args...)
	t.pending[len(t.pending)-1].read = read
}

// local sets a parameter of the connection until the end of the transaction. The connection therefore returns to the
// pool with its usual settings.
func (t *postgresTx) local(setting, value string) {
	t.pending = append(t.pending, queued{name: "set", text: "set local " + setting + " = '" + value + "'", want: -1})
}

// send sends the pending statements and reads the results of all but the last, which the caller reads.
func (t *postgresTx) send(ctx context.Context) (pgx.BatchResults, queued, error) {
	if t.err != nil {
		return nil, queued{}, t.err
	}
	batch := &pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(t.pending))}
	for _, p := range t.pending {
		batch.Queue(p.text, p.args...)
	}
	// pending and t.pending share an array, so functions that read results must not queue statements.
	pending := t.pending
	t.pending = t.pending[:0]
	last := pending[len(pending)-1]
	results := t.conn.SendBatch(ctx, batch)
	for _, p := range pending[:len(pending)-1] {
		if err := p.take(results); err != nil {
			_ = results.Close()
			return nil, last, err
		}
	}
	return results, last, nil
}

// Flush sends the pending statements and reads all their results.
func (t *postgresTx) Flush(ctx context.Context) error {
	if len(t.pending) == 0 {
		return t.err
	}
	results, last, err := t.send(ctx)
	if err != nil {
		return err
	}
	err = last.take(results)
	if closeErr := results.Close(); err == nil {
		err = translate(last.name, closeErr)
	}
	return err
}

// take reads the result of one statement.
func (q queued) take(results pgx.BatchResults) error {
	if q.read == nil {
		tag, err := results.Exec()
		if err == nil {
			err = q.check(tag)
		}
		return translate(q.name, err)
	}
	answer, err := results.Query()
	if err != nil {
		return translate(q.name, err)
	}
	return each(postgresRows{answer, q.name}, q.read)
}

// check compares the number of changed rows with the expected one. A difference means that rows on which the caller
// has based a decision have changed, so the transaction is rolled back.
func (q queued) check(tag pgconn.CommandTag) error {
	if q.want >= 0 && tag.RowsAffected() != q.want {
		return fmt.Errorf("%w: %d, not %d", ErrAffected, tag.RowsAffected(), q.want)
	}
	return nil
}

// Exec sends the statement together with all queued statements in one round trip.
func (t *postgresTx) Exec(ctx context.Context, q *Stmt, args ...any) (int64, error) {
	t.Queue(q, args...)
	results, last, err := t.send(ctx)
	if err != nil {
		return 0, err
	}
	tag, err := results.Exec()
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	return tag.RowsAffected(), translate(last.name, err)
}

// Query sends the statement together with all queued statements. The connection is busy until the rows are closed, so
// nothing else can be sent before.
func (t *postgresTx) Query(ctx context.Context, q *Stmt, args ...any) (Rows, error) {
	t.Queue(q, args...)
	results, last, err := t.send(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
		return nil, translate(last.name, err)
	}
	return &batchRows{postgresRows{rows, last.name}, results}, nil
}

// postgresRows translates read errors: a connection can be lost between any two rows.
type postgresRows struct {
	pgx.Rows
	statement string
}

func (r postgresRows) Scan(dest ...any) error { return translate(r.statement, r.Rows.Scan(dest...)) }
func (r postgresRows) Err() error             { return translate(r.statement, r.Rows.Err()) }

// batchRows closes the batch together with its last rows.
type batchRows struct {
	postgresRows
	results pgx.BatchResults
}

func (r *batchRows) Close() {
	r.Rows.Close()
	_ = r.results.Close()
}

// commit sends COMMIT together with the pending statements. A statement with an expected number of rows is flushed
// first, because its result must be checked before the commit.
func (t *postgresTx) commit(ctx context.Context) error {
	for _, p := range t.pending {
		if p.want >= 0 {
			if err := t.Flush(ctx); err != nil {
				return err
			}
			break
		}
	}
	t.pending = append(t.pending, queued{name: "commit", text: "commit", want: -1})
	results, _, err := t.send(ctx)
	if err != nil {
		return err
	}
	tag, err := results.Exec()
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	// PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and no error.
	if err == nil && tag.String() != "COMMIT" {
		err = fmt.Errorf("commit was answered %s", tag)
	}
	if err == nil {
		t.conn.Release()
		t.conn = nil
	}
	return translate("commit", err)
}

// rollback ends the transaction and returns the connection to the pool. If ROLLBACK fails, it closes the connection,
// and the pool discards it. It has its own time limit, because the transaction's context may have ended. A second call
// does nothing.
func (t *postgresTx) rollback() {
	if t.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := t.conn.Exec(ctx, "rollback"); err != nil {
		_ = t.conn.Conn().Close(ctx)
	}
	t.conn.Release()
	t.conn = nil
}
