package sqldbtest

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// Processes of one test run wait for each other while one of them migrates the template; migrateTimeout limits that.
const (
	prefix         = "comanda_pool_"
	lockClass      = 0x636d6461 // class of the advisory locks that this package takes
	migrateTimeout = 2 * time.Minute
	syncTimeout    = 10 * time.Second
)

// pool is the set of databases of this process on the PostgreSQL server. They are copies of a migrated template, which
// all processes with the same migrations share. When a test ends, its rows are deleted and the next test reuses the
// database, in this or a later process. Creating a database costs ten times as much, because dropping the old one
// waits for the disk.
//
// An advisory lock in the address's database protects each name: shared for the template, exclusive for a copy. The
// server releases it when the process ends, even after a crash.
type pool struct {
	mu       sync.Mutex
	admin    *pgx.Conn
	template string
	like     schema // schema of the template
	last     int    // number of the newest copy
	free     []*database
}

// database is a copy of the template. Its connection stays open, because a connection that has used the tables before
// deletes their rows five times as fast.
type database struct {
	name string
	conn *pgx.Conn // nil before the first use
}

var databases pool

// schema is the hash to compare a database with and the statements that empty it. The template's comment holds it,
// because a template cannot be copied while a connection to it is open.
type schema struct {
	Mark  string // hash of all definitions
	Reset string // statements that leave only the template's rows
}

// take returns an empty database for the caller's exclusive use until put.
func (p *pool) take(t testing.TB, address string) *database {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), migrateTimeout)
	defer cancel()
	db := testenv.Must(p.own(ctx, address))(t)
	if err := db.empty(ctx, withDatabase(address, db.name), p.like); err == nil {
		return db
	}
	// The database does not exist yet, or a test has changed more than rows. It is created again from the template.
	if db.conn != nil {
		_ = db.conn.Close(ctx)
		db.conn = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, statement := range []string{
		"DROP DATABASE IF EXISTS " + db.name + " WITH (FORCE)", "CREATE DATABASE " + db.name + " TEMPLATE " + p.template,
	} {
		if _, err := p.admin.Exec(ctx, statement); err != nil {
			t.Fatalf("Exec(%s) = %v", statement, err)
		}
	}
	return db
}

// put returns a database to the pool. A write that took long, as on a busy machine, makes pgx read in the background
// until the server's next message. put ends such reads, because packages that check for leaked goroutines would report
// them on the connections that stay open. A connection that fails here is replaced at its next use.
func (p *pool) put(db *database) {
	ctx, cancel := context.WithTimeout(context.Background(), syncTimeout)
	defer cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range []*pgx.Conn{p.admin, db.conn} {
		if conn != nil {
			_ = conn.PgConn().SyncConn(ctx)
		}
	}
	p.free = append(p.free, db)
}

// own returns a database that no other test uses. It may not exist on the server yet.
func (p *pool) own(ctx context.Context, address string) (*database, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.admin == nil {
		if err := p.open(ctx, address); err != nil {
			p.admin = nil
			return nil, err
		}
	}
	if n := len(p.free); n > 0 {
		db := p.free[n-1]
		p.free = p.free[:n-1]
		return db, nil
	}
	for {
		p.last++
		name := fmt.Sprintf("%s_%d", p.template, p.last)
		if locked, err := p.tryLock(ctx, name); err != nil || locked {
			return &database{name: name}, err
		}
	}
}

// tryLock takes the lock of a name for the life of this process, without waiting for another process that has it.
func (p *pool) tryLock(ctx context.Context, name string) (locked bool, err error) {
	err = p.admin.QueryRow(ctx, "SELECT pg_try_advisory_lock($1, hashtext($2))", lockClass, name).Scan(&locked)
	return locked, err
}

// open connects, and creates the template unless another process has. The connection stays open until the process ends,
// because it holds the advisory locks.
func (p *pool) open(ctx context.Context, address string) error {
	admin, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	p.admin, p.template = admin, templateName()
	// Lock 0 serializes the creation of templates. It is released together with taking the template's own shared lock, so
	// no process can drop the template in between.
	if _, err := admin.Exec(ctx, "SELECT pg_advisory_lock($1, 0)", lockClass); err != nil {
		return err
	}
	comment, err := p.comment(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		if err = p.make(ctx); err == nil {
			comment, err = p.comment(ctx)
		}
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(comment), &p.like); err != nil {
		return err
	}
	_, err = admin.Exec(ctx, "SELECT pg_advisory_lock_shared($1, hashtext($2)), pg_advisory_unlock($1, 0)", lockClass, p.template)
	return err
}

// templateName returns a name that changes with the migrations and with the statements that compare and empty
// databases.
func templateName() string {
	sum := sha256.Sum256([]byte(sqldb.SchemaHash() + markText + resetText))
	return prefix + hex.EncodeToString(sum[:6])
}

// comment returns the comment of the template, or pgx.ErrNoRows if there is no template.
func (p *pool) comment(ctx context.Context) (text string, err error) {
	err = p.admin.QueryRow(ctx,
		"SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = $1", p.template).Scan(&text)
	return text, err
}

// make creates the template, and drops the databases of other migrations, which are seldom used again. The template
// gets its name last, so that a process that dies half way leaves only a draft.
func (p *pool) make(ctx context.Context) error {
	if err := p.dropOthers(ctx); err != nil {
		return err
	}
	draft := p.template + "_draft" // may be left by a process that was killed
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + draft + " WITH (FORCE)", "CREATE DATABASE " + draft} {
		if _, err := p.admin.Exec(ctx, statement); err != nil {
			return err
		}
	}
	address := withDatabase(p.admin.Config().ConnString(), draft)
	if err := migrate(ctx, address); err != nil {
		return err
	}
	like, err := read(ctx, address)
	if err != nil {
		return err
	}
	text, err := json.Marshal(like)
	if err != nil {
		return err
	}
	_, err = p.admin.Exec(ctx, "COMMENT ON DATABASE "+draft+" IS "+"'"+strings.ReplaceAll(string(text), "'", "''")+"'")
	if err == nil {
		_, err = p.admin.Exec(ctx, "ALTER DATABASE "+draft+" RENAME TO "+p.template)
	}
	return err
}

// dropOthers drops the templates and copies of other migrations that no process uses. A name whose lock is taken
// belongs to a running test of another checkout.
func (p *pool) dropOthers(ctx context.Context) error {
	rows, err := p.admin.Query(ctx, "SELECT datname FROM pg_database WHERE starts_with(datname, $1)", prefix)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range slices.DeleteFunc(names, func(s string) bool { return strings.HasPrefix(s, p.template) }) {
		if unused, err := p.tryLock(ctx, name); err != nil || !unused {
			continue
		}
		if _, err := p.admin.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			return err
		}
		if _, err := p.admin.Exec(ctx, "SELECT pg_advisory_unlock($1, hashtext($2))", lockClass, name); err != nil {
			return err
		}
	}
	return nil
}

var (
	//go:embed mark.sql
	markText string
	//go:embed reset.sql
	resetText string
	//go:embed large.sql
	largeText string
)

// read returns the schema of a migrated database.
func read(ctx context.Context, address string) (s schema, err error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return s, err
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, markText).Scan(&s.Mark); err != nil {
		return s, err
	}
	rows, err := conn.Query(ctx, resetText)
	if err != nil {
		return s, err
	}
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	s.Reset = strings.Join(statements, ";\n")
	return s, err
}

var errOtherSchema = errors.New("the schema has been changed")

// empty deletes all rows that the template does not have. It fails if a test has changed more than rows, or if the role
// must not disable triggers and foreign keys.
func (db *database) empty(ctx context.Context, address string, like schema) error {
	if db.conn == nil {
		cfg, err := pgx.ParseConfig(address)
		if err != nil {
			return err
		}
		// It disables triggers and foreign keys, so tables can be emptied in any order.
		cfg.RuntimeParams["session_replication_role"] = "replica"
		if db.conn, err = pgx.ConnectConfig(ctx, cfg); err != nil {
			return err
		}
	}
	conn := db.conn
	// Connections that a test left open could still write.
	if _, err := conn.Exec(ctx, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`); err != nil {
		return err
	}
	var mark string
	if err := conn.QueryRow(ctx, markText).Scan(&mark); err != nil {
		return err
	}
	if mark != like.Mark {
		return errOtherSchema
	}
	if _, err := conn.PgConn().Exec(ctx, like.Reset).ReadAll(); err != nil {
		return err
	}
	var large string
	if err := conn.QueryRow(ctx, largeText).Scan(&large); err != nil || large == "" {
		return err
	}
	_, err := conn.Exec(ctx, "VACUUM "+large)
	return err
}
