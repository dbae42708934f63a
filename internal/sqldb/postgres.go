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

// What is set on every connection, unless the address says otherwise: limits, and what PostgreSQL plans by. A page
// read at random costs nearly what the next one does, as on every disk without an arm and in memory: by its default
// of 4, PostgreSQL reads whole tables of some hundred pages in the place of a batch's rows. A transaction whose process
// is frozen is ended before the lock_timeout of those who wait for its rows.
var postgresSettings = map[string]string{
	"random_page_cost":                    "1.1",
	"statement_timeout":                   "8s",
	"lock_timeout":                        "4s",
	"idle_in_transaction_session_timeout": "3s",
	"application_name":                    "comanda",
}

const (
	// transactionTimeout bounds a transaction on the server as writeTimeout does here: a process that is frozen and goes
	// on again and again would never be idle for long. PostgreSQL has it from 17 on.
	transactionTimeout      = "12s"
	transactionTimeoutSince = 17

	// patientIdle is how long a transaction may be idle that waits for somebody else: a broker, or the reader of an export.
	patientIdle = "15s"

	defaultConns = 16
)

type postgres struct {
	pool *pgxpool.Pool
	conf *pgxpool.Config // with which the pool was opened
}

func openPostgres(ctx context.Context, c Config) (*postgres, error) {
	pc, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("sqldb: the PostgreSQL address is not valid: %s", withoutSecrets(err))
	}
	for name, value := range postgresSettings {
		if _, set := pc.ConnConfig.RuntimeParams[name]; !set {
			pc.ConnConfig.RuntimeParams[name] = value
		}
	}
	switch {
	case c.MaxConns > 0:
		pc.MaxConns = int32(c.MaxConns) //nolint:gosec // a small configured number
	case !strings.Contains(c.URL, "pool_max_conns="): // otherwise it is the operator's
		pc.MaxConns = defaultConns
	}
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

// limitTransactions sets what a server before 17 would refuse a connection for.
func limitTransactions(ctx context.Context, c *pgx.Conn) error {
	if !limitsTransactions(c.PgConn().ParameterStatus("server_version")) {
		return nil
	}
	_, err := c.Exec(ctx, "SET transaction_timeout = '"+transactionTimeout+"'")
	return err
}

// limitsTransactions reports whether a server of a version such as "17.2 (Debian 17.2-1)" or "18beta1" knows
// transaction_timeout.
func limitsTransactions(version string) bool {
	digits := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(version)
	}
	major, err := strconv.Atoi(version[:digits])
	return err == nil && major >= transactionTimeoutSince
}

// withoutSecrets keeps a parse error's reason and drops the address it quotes.
func withoutSecrets(err error) string {
	s := err.Error()
	if i := strings.LastIndex(s, "`: "); i >= 0 {
		s = s[i+3:]
	}
	return s
}

func (p *postgres) Exec(ctx context.Context, q *Stmt, args ...any) (int64, error) {
	bound, err := q.bind(Postgres, args)
	if err != nil {
		return 0, err
	}
	tag, err := p.pool.Exec(ctx, q.postgres(), bound...)
	return tag.RowsAffected(), translate(q.Name, err)
}

func (p *postgres) Query(ctx context.Context, q *Stmt, args ...any) (Rows, error) {
	bound, err := q.bind(Postgres, args)
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

// snapshot begins a transaction that may take as long as its reader needs.
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

func (p *postgres) start(ctx context.Context, text string) (*postgresTx, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	tx := &postgresTx{conn: conn}
	tx.pending = append(tx.pending, queued{name: "begin", text: text, want: -1})
	return tx, nil
}

// postgresTx sends BEGIN with the first statement, COMMIT with the last and everything queued in between without
// waiting for single answers: a transaction costs as many round trips as it has questions, plus one or two.
type postgresTx struct {
	hooks
	conn    *pgxpool.Conn
	pending []queued
	err     error // a statement that could not be bound
}

type queued struct {
	name string
	text string
	args []any
	want int64            // rows that must change; -1 for any
	read func(Rows) error // of a question; nil for a statement without rows
}

func (t *postgresTx) Queue(q *Stmt, args ...any) { t.QueueExactly(-1, q, args...) }

func (t *postgresTx) QueueExactly(n int64, q *Stmt, args ...any) {
	bound, err := q.bind(Postgres, args)
	if err != nil && t.err == nil {
		t.err = err
	}
	t.pending = append(t.pending, queued{name: q.Name, text: q.postgres(), args: bound, want: n})
}

func (t *postgresTx) QueueQuery(read func(Rows) error, q *Stmt, args ...any) {
	t.Queue(q, args...)
	t.pending[len(t.pending)-1].read = read
}

// local changes a setting of the connection until the transaction ends.
func (t *postgresTx) local(setting, value string) {
	t.pending = append(t.pending, queued{name: "set", text: "set local " + setting + " = '" + value + "'", want: -1})
}

// send ships what is pending and reads the answers of all but the last entry, which is the caller's.
func (t *postgresTx) send(ctx context.Context) (pgx.BatchResults, queued, error) {
	if t.err != nil {
		return nil, queued{}, t.err
	}
	batch := &pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(t.pending))}
	for _, p := range t.pending {
		batch.Queue(p.text, p.args...)
	}
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

// Flush ships everything that is pending and reads all of its answers.
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

// take reads the answer of one statement.
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
	rows := postgresRows{answer, q.name}
	defer rows.Close()
	if err := q.read(rows); err != nil {
		return err
	}
	return rows.Err()
}

func (q queued) check(tag pgconn.CommandTag) error {
	if q.want >= 0 && tag.RowsAffected() != q.want {
		return fmt.Errorf("%w: %d, not %d", ErrAffected, tag.RowsAffected(), q.want)
	}
	return nil
}

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

// postgresRows translates the errors of reading: a connection can be lost between any two rows.
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

// commit rides with the last statements, unless one of them must still be looked at before there is a commit.
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
	if err == nil && tag.String() != "COMMIT" {
		err = fmt.Errorf("commit was answered %s", tag)
	}
	if err == nil {
		t.conn.Release()
		t.conn = nil
	}
	return translate("commit", err)
}

// rollback gives the connection back clean; one on which that fails is closed by the pool.
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
