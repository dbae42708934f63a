package queuesql_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"comanda/internal/backoff"
	"comanda/internal/document"
	"comanda/internal/document/documentsql"
	"comanda/internal/mail"
	"comanda/internal/mail/mailsql"
	"comanda/internal/notice"
	"comanda/internal/notice/noticesql"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the time at which the tests insert rows.
var start = time.UnixMilli(1_772_000_000_000)

// row is a claimed row: its id and the number of its attempts, including this claim.
type row struct {
	id       string
	attempts int
}

// subject is one outbox table of the program under test.
type subject struct {
	claim   func(ctx context.Context, now, until time.Time, limit int) ([]row, error)
	deletes func(ctx context.Context, ids []string) error
	fail    func(ctx context.Context, now time.Time, failures ...queue.Failure) error
	backlog func(ctx context.Context, now time.Time) (queue.Backlog, error)
	insert  *sqldb.Stmt // has the parameters id and start
	dead    bool        // the table has dead letters
	dueAge  bool        // ages count from the due time instead of the creation
}

// claimer is the part of a queue whose type depends on its rows.
type claimer[R any] interface {
	Claim(ctx context.Context, now, until time.Time, limit int) ([]R, error)
	DeleteQueued(ctx context.Context, ids []string) error
	RecordFailures(ctx context.Context, now time.Time, failures ...queue.Failure) error
	Backlog(ctx context.Context, now time.Time) (queue.Backlog, error)
}

func subjectOf[R any](q claimer[R], of func(R) row, insert string) subject {
	return subject{
		claim: func(ctx context.Context, now, until time.Time, limit int) ([]row, error) {
			claimed, err := q.Claim(ctx, now, until, limit)
			rows := make([]row, len(claimed))
			for i, c := range claimed {
				rows[i] = of(c)
			}
			return rows, err
		},
		deletes: q.DeleteQueued, fail: q.RecordFailures, backlog: q.Backlog, insert: stmts.Must(insert),
	}
}

var stmts = sqldb.Load(fstest.MapFS{
	"mail.sql": {Data: []byte(`INSERT INTO mail_outbox
		(id, recipient, template, locale, fields, created_at, available_at, expires_at)
		VALUES ($1, 'a@example.com', 'verify', 'en', '{}', $2, $2, $2)`)},
	"push.sql": {Data: []byte(`INSERT INTO push_outbox
		(id, subscription_id, payload, urgency, created_at, available_at, expires_at) VALUES ($1, 's', '{}', 'high', $2, $2, $2)`)},
	"push_clear.sql": {Data: []byte(`DELETE FROM push_outbox`)},
	"mail_clear.sql": {Data: []byte(`DELETE FROM mail_outbox`)},
	"documents.sql": {Data: []byte(`INSERT INTO document_outbox (id, entity, ids, created_at)
		VALUES ($1, 'cart', '["1"]', $2)`)},
	"documents_clear.sql": {Data: []byte(`DELETE FROM document_outbox`)},
	"admission.sql": {Data: []byte(`INSERT INTO redis_outbox (id, branch_id, biz_date, ops, created_at)
		VALUES ($1, 1, '2026-02-26', '[]', $2)`)},
	"admission_clear.sql": {Data: []byte(`DELETE FROM redis_outbox`)},
})

// subjects are the tables that are stored with this package.
var subjects = map[string]func(db *sqldb.DB) subject{
	"mail": func(db *sqldb.DB) subject {
		s := subjectOf(mailsql.New(db), func(m mail.QueuedMessage) row { return row{m.ID, m.Attempts} }, "mail")
		s.dead, s.dueAge = true, true
		return s
	},
	"push": func(db *sqldb.DB) subject {
		s := subjectOf(noticesql.New(db), func(d notice.Delivery) row { return row{d.ID, d.Attempts} }, "push")
		s.dead, s.dueAge = true, true
		return s
	},
	"admission": func(db *sqldb.DB) subject {
		s := subjectOf(stocksql.New(db), func(e stock.OutboxEntry) row { return row{e.ID, e.Attempts} }, "admission")
		s.dead = true
		return s
	},
	"documents": func(db *sqldb.DB) subject {
		return subjectOf(documentsql.New(db), func(c document.Claimed) row { return row{c.ID, c.Attempts} }, "documents")
	},
}

// each runs a test on every table and both engines.
func each(t *testing.T, test func(t *testing.T, db *sqldb.DB, s subject, name string)) {
	t.Helper()
	for name, of := range subjects {
		t.Run(name, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(t, db, of(db), name) })
		})
	}
}

func (s subject) add(t testing.TB, db *sqldb.DB, ids ...string) {
	t.Helper()
	for _, id := range ids {
		testenv.Must(db.Exec(t.Context(), s.insert, id, start.UnixMilli()))(t)
	}
}

// Each row is claimed by exactly one of many workers, and no worker receives more rows than it requested.
func TestClaim_one_worker_gets_a_row(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s subject, _ string) {
		const rows, workers, limit = 60, 4, 7
		for i := range rows {
			s.add(t, db, fmt.Sprintf("row%02d", i))
		}
		var mu sync.Mutex
		seen := map[string]int{}
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				for {
					claimed, err := s.claim(t.Context(), start, start.Add(time.Minute), limit)
					if err != nil || len(claimed) > limit {
						t.Errorf("%d rows, %v", len(claimed), err)
					}
					if len(claimed) == 0 {
						return // another worker has claimed the rest
					}
					mu.Lock()
					for _, r := range claimed {
						seen[r.id]++
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		rest, err := s.claim(t.Context(), start, start.Add(time.Minute), rows)
		if err != nil || len(seen)+len(rest) != rows {
			t.Errorf("%d rows were claimed, then %d, %v", len(seen), len(rest), err)
		}
		for id, n := range seen {
			if n != 1 {
				t.Errorf("row %s was claimed %d times", id, n)
			}
		}
	})
}

// The oldest rows are claimed first.
func TestClaim_takes_the_oldest(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s subject, _ string) {
		s.add(t, db, "c", "a", "d", "b")
		for _, want := range []string{"a b", "c d", ""} {
			claimed, err := s.claim(t.Context(), start, start.Add(time.Minute), 2)
			var ids []string
			for _, r := range claimed {
				ids = append(ids, r.id)
			}
			slices.Sort(ids)
			if got := strings.Join(ids, " "); got != want || err != nil {
				t.Errorf("claimed %q, want %q, %v", got, want, err)
			}
		}
	})
}

// model is the expected content of the table.
type model map[string]*modelRow

type modelRow struct {
	due      time.Time
	attempts int
	dead     time.Time // zero for a row that is not dead
}

var policy = queue.Policy{Policy: backoff.Policy{First: time.Second, Factor: 3, Max: time.Minute}, MaxAttempts: 3}

// A table behaves like a map of rows under any order of claims, failures, releases and deletions, by workers whose
// claims have expired or not.
func TestQueue_model(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s subject, name string) {
		rapid.Check(t, func(r *rapid.T) {
			testenv.Must(db.Exec(t.Context(), stmts.Must(name+"_clear")))(r)
			run := &modelRun{s: s, now: start, rows: model{}}
			for i := range rapid.IntRange(0, 6).Draw(r, "rows") {
				id := fmt.Sprintf("row%d", i)
				s.add(t, db, id)
				run.rows[id] = &modelRow{due: start}
			}
			for range rapid.IntRange(1, 12).Draw(r, "steps") {
				run.step(t.Context(), r)
				run.compare(t.Context(), r)
			}
		})
	})
}

type modelRun struct {
	s    subject
	now  time.Time
	rows model
	held []row // rows claimed by any worker, including expired claims
}

func (m *modelRun) step(ctx context.Context, r *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(0, 20).Draw(r, "seconds")) * time.Second)
	action := rapid.SampledFrom([]string{"claim", "claim", "fail", "release", "delete"}).Draw(r, "action")
	if action == "claim" || len(m.held) == 0 {
		m.claim(ctx, r, rapid.IntRange(1, 4).Draw(r, "limit"))
		return
	}
	i := rapid.IntRange(0, len(m.held)-1).Draw(r, "row")
	claimed := m.held[i]
	m.held = slices.Delete(m.held, i, i+1)
	if action == "delete" {
		testenv.NoError(r, m.s.deletes(ctx, []string{claimed.id}))
		delete(m.rows, claimed.id)
		return
	}
	f := queue.Released(claimed.id, claimed.attempts, m.now)
	if action == "fail" {
		f = policy.Failed(claimed.id, claimed.attempts, claimed.attempts, m.now, errors.New("no \x00 \xff"))
		f.Dead = f.Dead && m.s.dead
	}
	testenv.NoError(r, m.s.fail(ctx, m.now, f))
	kept := m.rows[claimed.id]
	if kept == nil || kept.attempts != claimed.attempts || !kept.dead.IsZero() {
		return // another worker has settled or claimed it since
	}
	kept.due, kept.attempts = f.Due, f.Attempts
	if f.Dead {
		kept.dead = m.now
	}
}

func (m *modelRun) claim(ctx context.Context, r *rapid.T, limit int) {
	until := m.now.Add(10 * time.Second)
	claimed := testenv.Must(m.s.claim(ctx, m.now, until, limit))(r)
	due := 0
	for _, kept := range m.rows {
		if kept.dead.IsZero() && !kept.due.After(m.now) {
			due++
		}
	}
	if len(claimed) != min(due, limit) {
		r.Fatalf("%d rows were claimed, want %d of %d", len(claimed), limit, due)
	}
	for _, c := range claimed {
		kept := m.rows[c.id]
		if kept == nil || !kept.dead.IsZero() || kept.due.After(m.now) || c.attempts != kept.attempts+1 {
			r.Fatalf("%+v was claimed of %+v", c, kept)
		}
		kept.due, kept.attempts = until, c.attempts
	}
	m.held = append(m.held, claimed...)
}

func (m *modelRun) compare(ctx context.Context, r *rapid.T) {
	var want queue.Backlog
	for kept := range maps.Values(m.rows) {
		since := start
		if m.s.dueAge {
			since = kept.due
		}
		if kept.dead.IsZero() {
			want.Pending++
			want.Age = max(want.Age, m.now.Sub(since))
		} else {
			want.Dead++
			want.DeadAge = max(want.DeadAge, m.now.Sub(kept.dead))
		}
	}
	got, err := m.s.backlog(ctx, m.now)
	if m.s.dueAge {
		want.DeadAge = got.DeadAge // the mail table does not store the time of death
	}
	if err != nil || got != want {
		r.Fatalf("backlog %+v, want %+v, %v", got, want, err)
	}
}
