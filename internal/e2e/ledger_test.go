package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing/fstest"

	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// stockLine is an item's counter as `comanda stock show --json` prints it.
type stockLine struct {
	ItemID string `json:"itemId"`
	Cap    *int64 `json:"cap"`
	Held   int64  `json:"held"`
	Used   int64  `json:"used"`
	Left   *int64 `json:"left"`
}

// stock reads an item's counter.
func (s *installation) stock(item string) stockLine {
	s.t.Helper()
	var lines []stockLine
	s.readJSON(&lines, "stock", "show")
	for _, l := range lines {
		if l.ItemID == item {
			return l
		}
	}
	s.t.Fatalf("no counter of item %s", item)
	return stockLine{}
}

// wantStock compares the counter of an item that has a quota.
func (s *installation) wantStock(item string, limit, held, used int64) {
	s.t.Helper()
	l := s.stock(item)
	if l.Cap == nil || *l.Cap != limit || l.Held != held || l.Used != used || *l.Left != limit-held-used {
		text, _ := json.Marshal(l) // plain figures
		s.t.Fatalf("item %s: want cap %d, held %d, used %d; the ledger says %s", item, limit, held, used, text)
	}
}

type reconciliation struct {
	Clean       bool     `json:"clean"`
	Differences []string `json:"differences"`
	Scopes      int      `json:"scopes"`
}

// reconcile runs `comanda stock reconcile --json`.
func (s *installation) reconcile() (r reconciliation, code int) {
	s.t.Helper()
	run := s.run("stock", "reconcile", "--json")
	if err := json.Unmarshal([]byte(run.out), &r); err != nil {
		return reconciliation{Differences: []string{run.out + run.err}}, run.code
	}
	return r, run.code
}

// awaitConsistent waits until ledger, holds, orders, money and Redis agree, within the promised time. Redis must hold
// the day's scope, because an empty Redis would agree with everything.
func (s *installation) awaitConsistent() {
	s.t.Helper()
	s.awaitCommand(repairTime, func() error {
		r, code := s.reconcile()
		if code != 0 || !r.Clean || r.Scopes == 0 {
			return fmt.Errorf("exit code %d, %d scopes compared: %s", code, r.Scopes, strings.Join(r.Differences, "; "))
		}
		return nil
	})
}

type outboxStatus struct {
	Pending int64             `json:"pending"`
	Dead    []json.RawMessage `json:"dead"`
}

// awaitPublished waits until every event is published, and expects no dead letter (I15).
func (s *installation) awaitPublished() {
	s.t.Helper()
	s.awaitCommand(patience, func() error {
		var o outboxStatus
		s.readJSON(&o, "outbox", "status")
		if o.Pending != 0 {
			return fmt.Errorf("%d events are pending", o.Pending)
		}
		if len(o.Dead) != 0 {
			return fmt.Errorf("dead letters: %s", o.Dead)
		}
		return nil
	})
}

// day is the response of GET /api/reports/day for the first branch.
type day struct {
	Placed   int64 `json:"placed"`
	Paid     int64 `json:"paid"`
	Canceled int64 `json:"canceled"`
	Revenue  int64 `json:"revenue"`
}

// awaitReport waits until the day's report, which an event consumer maintains, shows the actual figures.
func (s *installation) awaitReport(want day) {
	s.t.Helper()
	path := "/api/reports/day?branchId=" + firstBranch + "&date=" + s.bill.BizDate
	s.await(patience, func() error {
		var got day
		s.staff("GET", path, nil).into(s.t, &got)
		if got != want {
			return fmt.Errorf("the report says %+v, what happened is %+v", got, want)
		}
		return nil
	})
}

// database opens the installation's database directly, bypassing the servers.
func (s *installation) database(use func(db *sqldb.DB) error) {
	s.t.Helper()
	db := testenv.Must(sqldb.Open(s.t.Context(), sqldb.Config{URL: s.env["DATABASE_URL"], MaxConns: 1}))(s.t)
	defer db.Close()
	testenv.NoError(s.t, use(db))
}

func statement(text string) *sqldb.Stmt {
	return sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(text)}}).Must("it")
}

// changeRow changes one row, bypassing the product.
func (s *installation) changeRow(text string) {
	s.t.Helper()
	s.database(func(db *sqldb.DB) error {
		n, err := db.Exec(s.t.Context(), statement(text))
		if err == nil && n != 1 {
			err = fmt.Errorf("%d rows were changed", n)
		}
		return err
	})
}

// rowCounts counts everything that a request could leave behind, in one snapshot.
func (s *installation) rowCounts() map[string]int64 {
	s.t.Helper()
	var text strings.Builder
	for what, table := range map[string]string{
		"orders": "order_info", "items": "order_item", "holds": "hold",
		"attempts": "payment_attempt", "reports": "payment_event", "refunds": "refund", "visits": "visit",
		"guests": "visit_guest", "events": "event_log",
	} {
		fmt.Fprintf(&text, "SELECT '%s' AS what, count(*) AS n FROM %s UNION ALL ", what, table)
	}
	text.WriteString("SELECT 'none', 0")
	counts := map[string]int64{}
	s.database(func(db *sqldb.DB) (err error) {
		_, err = sqldb.Collect(s.t.Context(), db, func(r sqldb.Rows) (what string, err error) {
			var n int64
			err = r.Scan(&what, &n)
			counts[what] = n
			return what, err
		}, statement(text.String()))
		return err
	})
	return counts
}
