package identitysql

import (
	"context"
	"time"

	"comanda/internal/identity"
	"comanda/internal/sqldb"
)

// Record writes entries into the audit log in the transaction that makes the change. It takes the log's lock, which is
// the last of all locks: call it after everything else that the transaction locks or queues a lock for. Without entries
// it does nothing.
func Record(ctx context.Context, tx sqldb.Tx, entries ...identity.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	head, err := auditHead(ctx, tx, auditLock)
	if err != nil {
		return err
	}
	sealed := make([]identity.Entry, len(entries))
	for i, e := range entries {
		sealed[i] = e.Sealed(head.Seq+1, head.Hash)
		head = identity.Chain{Seq: sealed[i].Seq, Hash: sealed[i].Hash}
	}
	tx.QueueExactly(int64(len(sealed)), auditInsert, auditRows(sealed))
	tx.QueueExactly(1, auditAdvance, head.Seq, head.Hash)
	return nil
}

// RecordAlone writes entries about something that is no change in SQL, such as an export.
func RecordAlone(ctx context.Context, db *sqldb.DB, entries ...identity.Entry) error {
	return db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error { return Record(ctx, tx, entries...) })
}

func auditHead(ctx context.Context, conn sqldb.Conn, q *sqldb.Stmt) (identity.Chain, error) {
	rows, err := conn.Query(ctx, q)
	head, _, err := sqldb.One(rows, err, func(r sqldb.Rows) (c identity.Chain, err error) {
		err = r.Scan(&c.Seq, &c.Hash)
		return c, err
	})
	return head, err
}

func auditRows(all []identity.Entry) *sqldb.RowSet {
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

func scanEntry(r sqldb.Rows) (e identity.Entry, err error) {
	var at int64
	err = r.Scan(&e.Seq, &at, &e.Actor, &e.Action, &e.Subject, &e.Branch, &e.RequestID, &e.Address, &e.Before, &e.After,
		&e.PrevHash, &e.Hash)
	e.At = time.UnixMilli(at).UTC()
	return e, err
}

// AuditReport is what looking at the whole log has found.
type AuditReport struct {
	Entries int64             `json:"entries,string"`
	Hash    string            `json:"hash"` // of the newest entry; kept elsewhere, it shows a log that was made anew
	Broken  []identity.Broken `json:"broken"`
}

// auditPage is how many entries are looked at a time.
const auditPage = 1000

// VerifyAudit reads the log from its beginning and tells where it is not as it was written. It does not hold up
// those who write meanwhile.
func VerifyAudit(ctx context.Context, db *sqldb.DB) (AuditReport, error) {
	report := AuditReport{Broken: []identity.Broken{}}
	before, err := auditHead(ctx, db, auditLast)
	if err != nil {
		return report, err
	}
	var chain identity.Chain
	for read := auditPage; read == auditPage; {
		rows, err := db.Query(ctx, auditWalk, chain.Seq, auditPage)
		page, err := sqldb.Collect(rows, err, scanEntry)
		if err != nil {
			return report, err
		}
		for _, e := range page {
			report.Broken = append(report.Broken, chain.Next(e)...)
		}
		read = len(page)
		report.Entries += int64(read)
	}
	after, err := auditHead(ctx, db, auditLast)
	report.Hash = chain.Hash
	report.Broken = append(report.Broken, chain.End(before, after)...)
	return report, err
}

// AuditLog reads the log for people.
type AuditLog struct{ db *sqldb.DB }

// NewAuditLog makes a reader.
func NewAuditLog(db *sqldb.DB) *AuditLog { return &AuditLog{db} }

// Entries gives a page of the log, the newest first, and how many entries there are.
func (l *AuditLog) Entries(ctx context.Context, f identity.AuditFilter) ([]identity.Entry, int64, error) {
	every := int64(0)
	if f.EveryBranch {
		every = 1
	}
	branches := sqldb.NewRowSet(len(f.Branches)).Int("id", func(i int) int64 { return f.Branches[i] })
	args := []any{f.Subject, f.Actor, f.From.UnixMilli(), f.To.UnixMilli(), f.Branch, branches, every, f.Action}
	rows, err := l.db.Query(ctx, auditCount, args...)
	total, _, err := sqldb.One(rows, err, sqldb.Value[int64])
	if err != nil {
		return nil, 0, err
	}
	rows, err = l.db.Query(ctx, auditList, append(args, f.Limit, f.Offset)...)
	page, err := sqldb.Collect(rows, err, scanEntry)
	return page, total, err
}
