// Package documentsql reads documents from SQL, imports them, and stores the outbox and the generation of their
// copies in Redis.
package documentsql

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/document"
	"comanda/internal/queue/queuesql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// Store implements document.Source, document.SnapshotSource, document.Outbox and document.GenerationStore on a
// database.
type Store struct {
	queuesql.Queue[document.Claimed]

	// BeforeImport runs in the transaction of an import before its records are written. It ends what the records no longer
	// allow, such as the sessions of an account with another role. It may be nil.
	BeforeImport func(ctx context.Context, tx sqldb.Tx, e *document.Entity, records []document.Record) error

	db   *sqldb.DB
	from sqldb.Reader // read by the methods of Source: db, or a snapshot of it
}

// New returns a store.
func New(db *sqldb.DB) *Store { return &Store{Queue: changes.On(db), db: db, from: db} }

// Snapshot implements document.SnapshotSource. Only reading goes to the snapshot; the queue still uses the database.
func (s *Store) Snapshot(ctx context.Context, fn func(ctx context.Context, at document.Source) error) error {
	return s.db.Snapshot(ctx, func(ctx context.Context, at sqldb.Reader) error {
		return fn(ctx, &Store{Queue: s.Queue, db: s.db, from: at})
	})
}

// Read implements document.Source.
func (s *Store) Read(ctx context.Context, e *document.Entity, ids []string) ([]document.Document, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	row := make([]document.Cell, len(e.Fields))
	targets := e.ScanTargets(row)
	docs := make([]document.Document, 0, len(ids))
	var buf []byte
	wanted := requestedLine(e, ids)
	err := sqldb.Each(ctx, s.from, func(rows sqldb.Rows) error {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		d, err := e.Document(row, &buf)
		if err != nil {
			return err
		}
		if wanted(d.ID) {
			docs = append(docs, d)
		}
		return nil
	}, statementsOf[e].rows, idRows(e, ids))
	return docs, err
}

// idRows returns ids as arguments of the entity's statement. A text that cannot be an id matches no row.
func idRows(e *document.Entity, ids []string) *sqldb.RowSet {
	switch {
	case e.Numeric:
		numbers := make([]int64, 0, len(ids))
		for _, id := range ids {
			if n, ok := ParseNumber(id); ok {
				numbers = append(numbers, n)
			}
		}
		return sqldb.IDs(numbers)
	case e == document.OrderDetail:
		return sqldb.IDs(orderIDs(ids))
	}
	return sqldb.IDs(ids)
}

// orderIDs returns the orders of lines, each once if the lines of an order are adjacent.
func orderIDs(lines []string) []string {
	all := make([]string, 0, len(lines))
	for _, id := range lines {
		order, _ := splitLineID(id)
		if len(all) == 0 || all[len(all)-1] != order {
			all = append(all, order)
		}
	}
	return all
}

// requestedLine returns a function that reports whether a line was requested, by its own id or its order's.
func requestedLine(e *document.Entity, ids []string) func(id string) bool {
	if e != document.OrderDetail {
		return func(string) bool { return true }
	}
	wanted := seq.Set(ids)
	return func(id string) bool {
		order, _ := splitLineID(id)
		return wanted[id] || wanted[order]
	}
}

// ParseNumber parses a numeric id in its canonical form; ok is false for any other text.
func ParseNumber(id string) (int64, bool) {
	n, err := strconv.ParseInt(id, 10, 64)
	return n, err == nil && n > 0 && strconv.FormatInt(n, 10) == id
}

// splitLineID splits the id of an order line; line 0 is the whole order.
func splitLineID(id string) (order string, n int64) {
	order, number, found := strings.Cut(id, "-")
	if !found {
		return order, 0
	}
	n, ok := ParseNumber(number)
	if !ok {
		n = -1 // no row has it
	}
	return order, n
}

// IDs implements document.Source.
func (s *Store) IDs(ctx context.Context, e *document.Entity, after string, limit int) ([]string, error) {
	return s.ids(ctx, e, after, limit, 0)
}

// Page returns up to limit ids from an offset on, in their order, and the number of all.
func (s *Store) Page(ctx context.Context, e *document.Entity, offset, limit int) (ids []string, total int, err error) {
	all, err := s.Total(ctx, e, document.Tally{})
	if err != nil {
		return nil, 0, err
	}
	ids, err = s.ids(ctx, e, "", limit, offset)
	return ids, int(all.N), err
}

func (s *Store) ids(ctx context.Context, e *document.Entity, after string, limit, offset int) ([]string, error) {
	args := []any{after}
	switch {
	case e.Numeric:
		n, _ := ParseNumber(after) // "" is 0, before all
		args = []any{n}
	case e == document.OrderDetail:
		order, n := splitLineID(after)
		args = []any{order, n}
	}
	return sqldb.Collect(ctx, s.from, scanIDOf(e), statementsOf[e].ids, append(args, limit, offset)...)
}

// scanIDOf returns the function that reads a row of an entity's id as a text.
func scanIDOf(e *document.Entity) func(sqldb.Rows) (string, error) {
	if !e.Numeric {
		return sqldb.Value[string]
	}
	return func(r sqldb.Rows) (string, error) {
		n, err := sqldb.Value[int64](r)
		return strconv.FormatInt(n, 10), err
	}
}

// Owners implements document.Source.
func (s *Store) Owners(
	ctx context.Context, e *document.Entity, x *document.Index, values []string,
) (map[string]string, error) {
	wanted := make([]string, 0, len(values))
	for _, v := range values {
		v = x.Lookup(v)
		if _, number := ParseNumber(v); v != "" && (number || e.Kind(x) != document.ID) {
			wanted = append(wanted, v)
		}
	}
	return sqldb.Map[string, string](ctx, s.from, statementsOf[e].by[x.Name], valueRows(e, x, wanted))
}

// valueRows returns values in the type of the index's column.
func valueRows(e *document.Entity, x *document.Index, values []string) *sqldb.RowSet {
	if e.Kind(x) != document.ID {
		return sqldb.NewRowSet(len(values)).Text("value", func(i int) string { return values[i] })
	}
	return sqldb.NewRowSet(len(values)).Int("value", func(i int) int64 { n, _ := ParseNumber(values[i]); return n })
}

// columnValue returns a value in the type of its column; ok is false if no row can have the value.
func columnValue(e *document.Entity, x *document.Index, value string) (any, bool) {
	switch kind := e.Kind(x); kind {
	case document.ID:
		n, ok := ParseNumber(strings.TrimSpace(value))
		return n, ok
	case document.Flag:
		return map[string]int64{"no": 0, "yes": 1}[value], value == "no" || value == "yes"
	default:
		return x.Lookup(value), strings.TrimSpace(value) != ""
	}
}

// Find implements document.Source.
func (s *Store) Find(
	ctx context.Context, e *document.Entity, where []document.Where, offset, limit int,
) (ids []string, total int, err error) {
	if len(where) == 0 {
		return s.Page(ctx, e, offset, limit)
	}
	var args []any
	for _, x := range e.Sets() {
		i := slices.IndexFunc(where, func(w document.Where) bool { return w.Index == x })
		if i < 0 {
			args = append(args, nil)
			continue
		}
		arg, ok := columnValue(e, x, where[i].Value)
		if !ok {
			return nil, 0, nil
		}
		args = append(args, arg)
	}
	n, err := sqldb.Scalar[int64](ctx, s.from, statementsOf[e].found, args...)
	if err != nil || n == 0 {
		return nil, 0, err
	}
	args = append(args, limit, min(offset, math.MaxInt32))
	ids, err = sqldb.Collect(ctx, s.from, scanIDOf(e), statementsOf[e].find, args...)
	return ids, int(n), err
}

// Tombstones returns the known versions of deleted rows of an entity. It is empty for rows whose tombstones are purged;
// Redis has forgotten their versions by then.
func (s *Store) Tombstones(ctx context.Context, e *document.Entity) (map[string]int64, error) {
	texts, err := sqldb.Collect(ctx, s.db, sqldb.Value[string], stmt("tombstone_select"), e.Name)
	if err != nil {
		return nil, err
	}
	versions := map[string]int64{}
	for _, text := range texts {
		if err := parseDeletions(text, versions); err != nil {
			return nil, err
		}
	}
	return versions, nil
}

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// entityStatements are the statements that read an entity.
type entityStatements struct {
	rows, ids, total *sqldb.Stmt
	find, found      *sqldb.Stmt            // nil without sets
	by               map[string]*sqldb.Stmt // by unique index
	sizes            map[string]*sqldb.Stmt // by set index
}

var statementsOf = func() map[*document.Entity]entityStatements {
	all := map[*document.Entity]entityStatements{}
	for _, e := range document.Entities {
		r := entityStatements{
			rows: stmts.Must(e.Name + "_select"), ids: stmts.Must(e.Name + "_ids"), total: stmts.Must(e.Name + "_total"),
			by: map[string]*sqldb.Stmt{}, sizes: map[string]*sqldb.Stmt{},
		}
		for _, x := range e.Sets() {
			r.sizes[x.Name] = stmts.Must(e.Name + "_sizes_" + x.Name)
		}
		if len(e.Sets()) > 0 {
			r.find, r.found = stmts.Must(e.Name+"_find"), stmts.Must(e.Name+"_find_count")
		}
		for _, x := range e.Indexes {
			if x.Unique {
				r.by[x.Name] = stmts.Must(e.Name + "_by_" + x.Name)
			}
		}
		all[e] = r
	}
	return all
}()

// Total implements document.Counts.
func (s *Store) Total(ctx context.Context, e *document.Entity, earlier document.Tally) (document.Tally, error) {
	if !e.Kept {
		n, err := sqldb.Scalar[int64](ctx, s.from, statementsOf[e].total)
		return document.Tally{N: n}, err
	}
	later, _, err := sqldb.One(ctx, s.from, func(r sqldb.Rows) (t document.Tally, err error) {
		err = r.Scan(&t.N, &t.Last)
		return t, err
	}, statementsOf[e].total, earlier.Last)
	later.N += earlier.N
	return later, err
}

// Sizes implements document.Counts.
func (s *Store) Sizes(
	ctx context.Context, e *document.Entity, x *document.Index, after string, limit int,
) ([]document.Size, error) {
	var from any = after
	if e.Kind(x) == document.ID {
		from, _ = ParseNumber(after) // "" is 0, before all
	}
	return sqldb.Collect(ctx, s.from, sqldb.Row(func(size *document.Size) []any {
		return []any{&size.Value, &size.N}
	}), statementsOf[e].sizes[x.Name], from, limit)
}

// Position implements document.Counts.
func (s *Store) Position(ctx context.Context) (time.Time, error) {
	at, err := sqldb.Scalar[int64](ctx, s.db, stmt("outbox_position"))
	return sqldb.Instant(at), err
}

// Pending implements document.Counts. One row more than the limit is read, to detect that there are more.
func (s *Store) Pending(ctx context.Context, limit int) (waiting map[document.Ref]struct{}, ok bool, err error) {
	waiting, n := map[document.Ref]struct{}{}, 0
	err = sqldb.Each(ctx, s.db, func(r sqldb.Rows) error {
		n++
		return scanPending(r, waiting)
	}, stmt("outbox_pending"), limit+1)
	return waiting, n <= limit, err
}

// scanPending adds the documents of one outbox row, claimed or not: a claimed row is not projected yet.
func scanPending(r sqldb.Rows, into map[document.Ref]struct{}) error {
	var entity, list string
	if err := r.Scan(&entity, &list); err != nil {
		return err
	}
	e := document.ByName(entity)
	if e == nil {
		return nil // an entity of a newer release
	}
	var ids []string
	if err := json.Unmarshal([]byte(list), &ids); err != nil {
		return fmt.Errorf("documentsql: outbox: %w", err)
	}
	for _, id := range ids {
		into[document.Ref{Entity: e, ID: id}] = struct{}{}
	}
	return nil
}
