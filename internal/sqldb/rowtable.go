package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite" // the driver, in pure Go
	"modernc.org/sqlite/vtab"
)

// rowFunction is the name of a table-valued function of SQLite that returns the rows of a RowSet: row_set(?1) has the
// columns c0, c1 and so on (decision 88). SQLite has no arrays like those that PostgreSQL receives, and JSON, the usual
// substitute, costs several times as much: each cell is printed, parsed, printed and parsed.
//
// The argument is the handle of a registered row set, because a parameter of a statement cannot be a Go value.
const rowFunction = "row_set"

// maxRowColumns is the largest number of columns of a row set. An order, the widest, has 36.
const maxRowColumns = 64

// prepareDriver registers row_set with the driver and selects fdatasync, once per process. fdatasync does not wait for the
// timestamps of the file, and a commit is as durable. SQLite uses it wherever it is built on Linux, except in this driver.
var prepareDriver = sync.OnceValue(func() error {
	_, _ = sqlite.Fdatasync(true) // fails on macOS and Windows, where SQLite has other calls
	return vtab.RegisterModule(nil, rowFunction, rowModule{})
})

// registered are the row sets of running statements by handle, for all databases of the process.
var (
	registered sync.Map // int64: *RowSet
	lastHandle atomic.Int64
)

// register returns the handle by which a statement reads a row set, until it is released.
func register(r *RowSet) (handle int64) {
	handle = lastHandle.Add(1)
	registered.Store(handle, r)
	return handle
}

// release ends the registration of row sets. Their statement must have ended.
func release(handles []int64) {
	for _, h := range handles {
		registered.Delete(h)
	}
}

// connector opens connections of SQLite that have row_set.
type connector struct{ dsn, pragma string }

// openConns returns a pool of connections. Each runs a pragma at last, if it is not empty.
func openConns(dsn, pragma string) *sql.DB { return sql.OpenDB(connector{dsn, pragma}) }

// Driver implements driver.Connector.
func (connector) Driver() driver.Driver { return sqliteDriver }

var sqliteDriver = &sqlite.Driver{}

// Connect opens a connection and creates row_set in its temporary database, which is in memory. The driver does not offer
// eponymous virtual tables, which need no CREATE (https://www.sqlite.org/vtab.html#epovtab).
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := prepareDriver(); err != nil {
		return nil, err
	}
	conn, err := sqliteDriver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	for _, text := range []string{"CREATE VIRTUAL TABLE temp." + rowFunction + " USING " + rowFunction, c.pragma} {
		if text == "" {
			continue
		}
		if _, err := conn.(driver.ExecerContext).ExecContext(ctx, text, nil); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return conn, nil
}

// rowModule creates the tables row_set of connections. They have no state of their own.
type rowModule struct{}

// Create declares the columns: those of the rows, and the argument.
func (rowModule) Create(c vtab.Context, _ []string) (vtab.Table, error) {
	var b strings.Builder
	b.WriteString("CREATE TABLE row_set(")
	for i := range maxRowColumns {
		fmt.Fprintf(&b, "c%d, ", i)
	}
	b.WriteString("handle HIDDEN)")
	return rowTable{}, c.Declare(b.String())
}

// Connect is Create.
func (m rowModule) Connect(c vtab.Context, args []string) (vtab.Table, error) {
	return m.Create(c, args)
}

// rowTable is row_set of a connection.
type rowTable struct{}

// BestIndex passes the argument to Filter. It estimates few rows, as json_each does, so that SQLite reads them first and
// searches other tables by their indexes.
func (rowTable) BestIndex(info *vtab.IndexInfo) error {
	info.EstimatedCost, info.EstimatedRows = 1e9, 1e9
	for i := range info.Constraints {
		c := &info.Constraints[i]
		if c.Column == maxRowColumns && c.Op == vtab.OpEQ && c.Usable {
			c.ArgIndex, c.Omit = 0, true
			info.EstimatedCost, info.EstimatedRows = 1, 25
			return nil
		}
	}
	return nil
}

func (rowTable) Open() (vtab.Cursor, error) { return &rowCursor{}, nil }
func (rowTable) Disconnect() error          { return nil }
func (rowTable) Destroy() error             { return nil }

// rowCursor reads the rows of one set.
type rowCursor struct {
	set *RowSet
	row int
}

// Filter begins at the first row. SQLite calls it again for each row of an outer loop.
func (c *rowCursor) Filter(_ int, _ string, args []vtab.Value) error {
	if len(args) != 1 {
		return fmt.Errorf("sqldb: %s has no argument", rowFunction)
	}
	set, ok := registered.Load(args[0])
	if !ok {
		return fmt.Errorf("sqldb: row set %v is not registered", args[0])
	}
	c.set, c.row = set.(*RowSet), 0
	return nil
}

func (c *rowCursor) Next() error           { c.row++; return nil }
func (c *rowCursor) Eof() bool             { return c.row >= c.set.n } //nolint:revive // of vtab.Cursor
func (c *rowCursor) Rowid() (int64, error) { return int64(c.row), nil }
func (c *rowCursor) Close() error          { return nil }

// Column returns a cell, nil for NULL.
func (c *rowCursor) Column(i int) (cell vtab.Value, err error) {
	v := &c.set.columns[i]
	switch {
	case v.texts != nil:
		cell = v.texts[c.row]
	case v.ints != nil:
		cell = v.ints[c.row]
	case v.nullTexts != nil && v.nullTexts[c.row] != nil:
		cell = *v.nullTexts[c.row]
	case v.nullInts != nil && v.nullInts[c.row] != nil:
		cell = *v.nullInts[c.row]
	}
	return cell, nil
}
