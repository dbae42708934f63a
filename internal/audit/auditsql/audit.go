// Package auditsql stores the audit log in SQL. Its head is locked last by every transaction that writes entries.
package auditsql

import (
	"cmp"
	"context"
	"embed"
	"strconv"
	"strings"

	"comanda/internal/audit"
	"comanda/internal/sqldb"
	"comanda/internal/text"
)

// Record appends entries to the audit log in the transaction of the change. It takes the log's lock, which is the
// last in the lock order: call it after everything else that the transaction locks. Without entries it does nothing.
func Record(ctx context.Context, tx sqldb.Tx, entries ...audit.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	// All audited changes wait for this lock, so it is held only from here to the commit.
	head, err := auditHead(ctx, tx, stmt("audit_lock"))
	if err != nil {
		return err
	}
	chained := make([]audit.Entry, len(entries))
	for i, e := range entries {
		chained[i] = e.Chained(head.Seq+1, head.Hash)
		head = audit.Chain{Seq: chained[i].Seq, Hash: chained[i].Hash}
	}
	tx.QueueExactly(int64(len(chained)), stmt("audit_insert"), auditRows(chained))
	tx.QueueExactly(1, stmt("audit_advance"), head.Seq, head.Hash)
	return nil
}

// RecordAlone appends entries about events that change nothing in SQL, such as an export, in a transaction of
// their own.
func RecordAlone(ctx context.Context, db *sqldb.DB, entries ...audit.Entry) error {
	return db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error { return Record(ctx, tx, entries...) })
}

// auditHead reads the number and hash of the newest entry; the statement audit_lock also locks it.
func auditHead(ctx context.Context, conn sqldb.Conn, q *sqldb.Stmt) (audit.Chain, error) {
	head, _, err := sqldb.One(ctx, conn, sqldb.Row(func(c *audit.Chain) []any {
		return []any{&c.Seq, &c.Hash}
	}), q)
	return head, err
}

func auditRows(all []audit.Entry) *sqldb.RowSet {
	return sqldb.NewRowSet(len(all)).
		Int("seq", func(i int) int64 { return all[i].Seq }).
		Int("at", func(i int) int64 { return all[i].At.UnixMilli() }).
		Text("actor", func(i int) string { return all[i].Actor }).
		Text("action", func(i int) string { return all[i].Action }).
		Text("subject", func(i int) string { return all[i].Subject }).
		NullInt("branch", func(i int) (int64, bool) { return all[i].Branch, all[i].Branch != 0 }).
		Text("request", func(i int) string { return all[i].RequestID }).
		Text("address", func(i int) string { return all[i].Address }).
		Text("before", func(i int) string { return all[i].Before }).
		Text("after", func(i int) string { return all[i].After }).
		Text("prev", func(i int) string { return all[i].PrevHash }).
		Text("hash", func(i int) string { return all[i].Hash })
}

var scanEntry = sqldb.Row(func(e *audit.Entry) []any {
	return []any{
		&e.Seq, sqldb.Time(&e.At), &e.Actor, &e.Action, &e.Subject, &e.Branch, &e.RequestID, &e.Address, &e.Before, &e.After,
		&e.PrevHash, &e.Hash,
	}
})

// Report is the result of Verify.
type Report struct {
	Entries int64         `json:"entries,string"`
	Hash    string        `json:"hash"` // hash of the newest entry; a copy kept elsewhere reveals a rewritten log
	Broken  []audit.Break `json:"broken"`
}

// auditPage is the number of entries that are verified per query.
const auditPage = 1000

// Verify reads the audit log from its beginning and returns all breaks. It takes no lock, so writers are not
// delayed.
func Verify(ctx context.Context, db *sqldb.DB) (Report, error) {
	report := Report{Broken: []audit.Break{}}
	before, err := auditHead(ctx, db, stmt("audit_last"))
	if err != nil {
		return report, err
	}
	var chain audit.Chain
	// A page that is not full is the last one. Pages bound the memory, whatever the length of the log.
	for read := auditPage; read == auditPage; {
		page, err := sqldb.Collect(ctx, db, scanEntry, stmt("audit_walk"), chain.Seq, auditPage)
		if err != nil {
			return report, err
		}
		for _, e := range page {
			report.Broken = append(report.Broken, chain.Next(e)...)
		}
		read = len(page)
		report.Entries += int64(read)
	}
	// The head is read again, because entries may have been added during the walk, see Chain.End.
	after, err := auditHead(ctx, db, stmt("audit_last"))
	report.Hash = chain.Hash
	report.Broken = append(report.Broken, chain.End(before, after)...)
	return report, err
}

// Log is audit.Reader on a database.
type Log struct{ db *sqldb.DB }

// NewLog returns a reader on a database.
func NewLog(db *sqldb.DB) *Log { return &Log{db} }

// Entries returns a page of the log, newest first, and the total.
func (l *Log) Entries(ctx context.Context, f audit.Filter) ([]audit.Entry, int64, error) {
	args := []any{
		f.Subject, f.Actor, f.From.UnixMilli(), f.To.UnixMilli(), f.Branch, sqldb.IDs(f.Branches),
		sqldb.Flag(f.EveryBranch), f.Action,
	}
	return sqldb.Page(ctx, l.db, scanEntry, stmt("audit_count"), stmt("audit_list"), f.Limit, f.Offset, args...)
}

// Names implements audit.Reader.
func (l *Log) Names(ctx context.Context, language string, subjects []string) (map[string]string, error) {
	type ref struct {
		kind, id string
		num      int64
	}
	refs := make([]ref, 0, len(subjects))
	for _, s := range subjects {
		if kind, id, ok := strings.Cut(s, ":"); ok {
			num, err := strconv.ParseInt(id, 10, 64)
			if err != nil {
				num = 0 // an id that is not a number; no row has 0
			}
			refs = append(refs, ref{kind, id, num})
		}
	}
	names := make(map[string]string, len(refs))
	if len(refs) == 0 {
		return names, nil
	}
	rows := sqldb.NewRowSet(len(refs)).
		Text("kind", func(i int) string { return refs[i].kind }).
		Text("id", func(i int) string { return refs[i].id }).
		Int("num", func(i int) int64 { return refs[i].num })
	return names, sqldb.Each(ctx, l.db, func(r sqldb.Rows) error {
		var kind, id, name, given, family string
		err := r.Scan(&kind, &id, &name, &given, &family)
		names[kind+":"+id] = cmp.Or(text.PersonName(language, given, family), name)
		return err
	}, stmt("audit_names"), rows)
}

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must
