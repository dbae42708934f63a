package auditsql

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// intrusions are changes that an intruder with a connection to the database could make.
var intrusions = sqldb.Load(fstest.MapFS{
	"change.sql": {Data: []byte(`UPDATE audit_log SET after = '{"price":1}' WHERE seq = 3`)},
	"actor.sql":  {Data: []byte(`UPDATE audit_log SET actor = 'user:9' WHERE seq = 3`)},
	"remove.sql": {Data: []byte(`DELETE FROM audit_log WHERE seq = 3`)},
	"cut.sql":    {Data: []byte(`DELETE FROM audit_log WHERE seq >= 9`)},
	"begin.sql":  {Data: []byte(`DELETE FROM audit_log WHERE seq <= 2`)},
	"swap.sql": {Data: []byte(`UPDATE audit_log SET
		actor = (SELECT o.actor FROM audit_log o WHERE o.seq = 7 - audit_log.seq),
		subject = (SELECT o.subject FROM audit_log o WHERE o.seq = 7 - audit_log.seq),
		hash = (SELECT o.hash FROM audit_log o WHERE o.seq = 7 - audit_log.seq) WHERE seq IN (3, 4)`)},
	"address.sql": {Data: []byte(`UPDATE audit_log SET address = '203.0.113.9' WHERE seq = 3`)},
	"hide.sql":    {Data: []byte(`UPDATE audit_log SET address = '' WHERE seq = 3`)},
	"invent.sql":  {Data: []byte(`UPDATE audit_log SET address = '203.0.113.9' WHERE seq = 4`)},
	"head.sql":    {Data: []byte(`UPDATE audit_head SET seq = 0, hash = ''`)},
})

// entry returns an entry. Every second one has no address, as in early releases.
func entry(n int) audit.Entry {
	a := authz.Actor{Kind: authz.Account, UserID: 7, Request: "request-1"}
	if n%2 == 0 {
		a.Address = "192.0.2.7"
	}
	at := time.UnixMilli(1_000_000 + int64(n)).UTC()
	return audit.NewEntry(a, at, audit.ActionQuotaSet, "item", strconv.Itoa(n), int64(n%3)).WithBefore(nil).WithAfter(map[string]int{"n": n})
}

func record(t *testing.T, db *sqldb.DB, n int) {
	t.Helper()
	for i := range n {
		testenv.NoError(t, RecordAlone(t.Context(), db, entry(i)))
	}
}

func verify(t *testing.T, db *sqldb.DB) Report {
	t.Helper()
	return testenv.Must(Verify(t.Context(), db))(t)
}

func TestVerify(t *testing.T) {
	for _, intrusion := range []string{"change", "actor", "remove", "cut", "begin", "swap", "head", "address", "hide", "invent"} {
		t.Run(intrusion, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				record(t, db, 10)
				if r := verify(t, db); r.Entries != 10 || len(r.Broken) != 0 || len(r.Hash) != 64 {
					t.Fatalf("an untouched log: %+v", r)
				}
				testenv.Must(db.Exec(t.Context(), intrusions.Must(intrusion)))(t)
				if r := verify(t, db); len(r.Broken) == 0 {
					t.Errorf("not noticed: %+v", r)
				}
			})
		})
	}
}

// The log has more entries than one page.
func TestVerify_pages(t *testing.T) {
	db := sqldbtest.SQLite(t)
	all := make([]audit.Entry, 2*auditPage)
	for i := range all {
		all[i] = entry(i)
	}
	testenv.NoError(t, RecordAlone(t.Context(), db, all...))
	if r := verify(t, db); r.Entries != 2*auditPage || len(r.Broken) != 0 {
		t.Errorf("Verify = %+v, want an unbroken chain of %d entries", r, 2*auditPage)
	}
}

// Concurrent writers leave no gap and no duplicate number, and do not deadlock.
func TestRecord_concurrent(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const writers, each = 8, 10
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					err := RecordAlone(context.WithoutCancel(t.Context()), db, entry(w), entry(i))
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if r := verify(t, db); r.Entries != 2*writers*each || len(r.Broken) != 0 {
			t.Errorf("Verify = %+v, want an unbroken chain of %d entries", r, 2*writers*each)
		}
	})
}

// A rolled back change leaves no entry and no gap.
func TestRecord_rollback(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		record(t, db, 2)
		undo := fmt.Errorf("undo")
		err := db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			if err := Record(ctx, tx, entry(5)); err != nil {
				return err
			}
			return undo
		})
		if err != undo { //nolint:errorlint // returned unwrapped
			t.Fatal(err)
		}
		record(t, db, 1)
		if r := verify(t, db); r.Entries != 3 || len(r.Broken) != 0 {
			t.Errorf("Verify = %+v, want an unbroken chain of 3 entries", r)
		}
	})
}

func TestLog_filters(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		record(t, db, 9) // branches 0, 1, 2, 0, 1, 2, 0, 1, 2
		log := NewLog(db)
		first, never := time.UnixMilli(0), time.UnixMilli(1<<50)
		for name, c := range map[string]struct {
			f    audit.Filter
			want int64
		}{
			"all":                {audit.Filter{EveryBranch: true}, 9},
			"one branch":         {audit.Filter{EveryBranch: true, Branch: 1}, 3},
			"own branches":       {audit.Filter{Branches: []int64{1, 2}}, 6},
			"no branch at all":   {audit.Filter{}, 0},
			"another's branch":   {audit.Filter{Branches: []int64{1}, Branch: 2}, 0},
			"subject":            {audit.Filter{EveryBranch: true, Subject: "item:4"}, 1},
			"actor":              {audit.Filter{EveryBranch: true, Actor: "user:7"}, 9},
			"action":             {audit.Filter{EveryBranch: true, Action: audit.ActionQuotaSet}, 9},
			"another action":     {audit.Filter{EveryBranch: true, Action: audit.ActionRefunded}, 0},
			"another actor":      {audit.Filter{EveryBranch: true, Actor: "user:70"}, 0},
			"from 4 up to but 6": {audit.Filter{EveryBranch: true, From: entry(4).At, To: entry(6).At}, 2},
		} {
			if c.f.To.IsZero() {
				c.f.From, c.f.To = first, never
			}
			c.f.Limit = 2
			page, total, err := log.Entries(t.Context(), c.f)
			if err != nil || total != c.want || len(page) != int(min(2, c.want)) {
				t.Errorf("%s: %d of %d, %v", name, len(page), total, err)
			}
			if len(page) == 2 && page[0].Seq <= page[1].Seq {
				t.Errorf("%s: not the newest first", name)
			}
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	db := sqldbtest.Postgres(b)
	for i := 0; b.Loop(); i++ {
		testenv.NoError(b, RecordAlone(b.Context(), db, entry(i)))
	}
}

var named = sqldb.Load(fstest.MapFS{
	"branch.sql": {Data: []byte(`INSERT INTO branch (id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, created_at)
		VALUES (901, 'Quán Hoa', 'VND', 'Asia/Ho_Chi_Minh', 4, '["vi"]', 60, 1)`)},
	"table.sql": {Data: []byte(`INSERT INTO dining_table (id, branch_id, label) VALUES (902, 901, 'T1')`)},
	"role.sql":  {Data: []byte(`INSERT INTO role (id, name, created_at, updated_at) VALUES (901, 'CHEF', 1, 1)`)},
	"user.sql": {Data: []byte(`INSERT INTO app_user (id, username, role_id, status, first_name, surname, created_at, updated_at)
		VALUES (903, 'lan', 901, 'ACTIVE', 'Lan', 'Nguyễn', 1, 1)`)},
})

// Names are the current ones. Subjects that are unknown, deleted or of an unknown kind have no name.
func TestNames(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, q := range []string{"branch", "table", "role", "user"} {
			testenv.Must(db.Exec(t.Context(), named.Must(q)))(t)
		}
		for language, lan := range map[string]string{"en": "Lan Nguyễn", "vi": "Nguyễn Lan"} {
			got := testenv.Must(NewLog(db).Names(t.Context(), language, []string{
				"branch:901", "table:902", "user:903", "user:904", "table:903", "branch:x", "settings:house", "system", "visit:v",
			}))(t)
			want := map[string]string{"branch:901": "Quán Hoa", "table:902": "T1", "user:903": lan}
			if !maps.Equal(got, want) {
				t.Errorf("names in %s = %v, want %v", language, got, want)
			}
		}
	})
}

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, stmts) }
