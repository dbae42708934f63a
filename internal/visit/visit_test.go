package visit_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/demo"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/visit"
	"comanda/internal/visit/visitsql"
	"comanda/internal/visit/visittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counted is a store that counts calls of Guest.
type counted struct {
	*visitsql.Store
	guests  atomic.Int64
	during  func() // runs before Guest returns; may be nil
	joined  func() // runs once before OpenOrJoin returns; may be nil
	seenErr error  // the error of UpdateLastSeen
}

func (c *counted) UpdateLastSeen(ctx context.Context, at map[string]time.Time) error {
	if c.seenErr != nil {
		return c.seenErr
	}
	return c.Store.UpdateLastSeen(ctx, at)
}

func (c *counted) Guest(ctx context.Context, hash string) (visit.Guest, bool, error) {
	c.guests.Add(1)
	g, found, err := c.Store.Guest(ctx, hash)
	if c.during != nil {
		c.during()
	}
	return g, found, err
}

// OpenOrJoin calls joined once, after the commit.
func (c *counted) OpenOrJoin(ctx context.Context, r visit.OpenRequest) (string, error) {
	id, err := c.Store.OpenOrJoin(ctx, r)
	if c.joined != nil {
		joined := c.joined
		c.joined = nil
		joined()
	}
	return id, err
}

// fixture is the demo restaurant with the services of this package.
type fixture struct {
	t       testing.TB
	db      *sqldb.DB
	store   *counted
	redis   *visittest.MemoryBindings
	clock   *testenv.Clock
	guests  *visit.Guests
	landing *visit.Landing
	floor   *visit.Floor
}

func open(t testing.TB, db *sqldb.DB) *fixture {
	t.Helper()
	testenv.NoError(t, demo.Load(t.Context(), db))
	h := &fixture{
		t: t, db: db, store: &counted{Store: visitsql.New(db)}, redis: visittest.NewMemoryBindings(), clock: testenv.NewClock(),
	}
	menus := catalog.NewMenuCache(catalogsql.New(db, nil), catalog.NoSharedCache{}, time.Now)
	h.guests = visit.NewGuests(h.store, h.redis, menus, h.clock.Now)
	h.landing = &visit.Landing{Store: h.store, Branches: menus, Guests: h.guests, Now: h.clock.Now}
	h.floor = &visit.Floor{Store: h.store, Guests: h.guests, Now: h.clock.Now}
	return h
}

// each runs a test on both engines. inSQLite runs it only on SQLite, for tests that do not depend on the engine.
func each(t *testing.T, test func(h *fixture)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(open(t, db)) })
}

func inSQLite(t *testing.T, test func(h *fixture)) {
	t.Helper()
	test(open(t, sqldbtest.SQLite(t)))
}

// qr returns the active QR token of a table.
func (h *fixture) qr(table int64) string {
	h.t.Helper()
	all := testenv.Must(h.floor.Tables(h.t.Context(), authz.System(), 0))(h.t)
	return all[table-1].QR
}

func (h *fixture) scan(table int64, token string) visit.ScanResult {
	h.t.Helper()
	return testenv.Must(h.landing.Scan(h.t.Context(), h.qr(table), token))(h.t)
}

func (h *fixture) close(visitID string) {
	h.t.Helper()
	testenv.Must(h.floor.Close(h.t.Context(), authz.System(), visitID))(h.t)
}

func (h *fixture) openVisits() []visit.Visit {
	h.t.Helper()
	all, _ := testenv.Must2(h.floor.Visits(h.t.Context(), authz.System(),
		visit.Filter{Branch: 1, Status: "OPEN", Limit: 100}))(h.t)
	return all
}

// restart empties the cache of this process.
func (h *fixture) restart() {
	h.guests = visit.NewGuests(h.store, h.redis, h.landing.Branches, h.clock.Now)
	h.landing.Guests, h.floor.Guests = h.guests, h.guests
}

func TestLanding_Scan(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		first, second := h.scan(3, ""), h.scan(3, "")
		if first.TableLabel != "A3" || first.Branch.ID != 1 || first.TableID != 3 || len(first.CustomerToken) != 43 {
			t.Errorf("Scan = %+v, want table A3 of branch 1 and a token", first)
		}
		if first.VisitID != second.VisitID || first.CustomerToken == second.CustomerToken {
			t.Errorf("two phones at one table: %+v and %+v", first, second)
		}
		if again := h.scan(3, first.CustomerToken); again.CustomerToken != first.CustomerToken {
			t.Error("the phone did not keep its valid token")
		}
		if moved := h.scan(4, first.CustomerToken); moved.CustomerToken == first.CustomerToken ||
			moved.VisitID == first.VisitID {
			t.Error("a token was valid at another table")
		}
		v := h.openVisits()
		if len(v) != 2 || v[1].Guests != 2 || v[1].BizDate != "2026-02-26" || v[1].TableLabel != "A3" {
			t.Errorf("open visits = %+v, want two, the second one with two phones at A3", v)
		}
	})
}

// OnScan is called with the outcome of each scan.
func TestLanding_Scan_counts(t *testing.T) {
	inSQLite(t, func(h *fixture) {
		got := map[string]int{}
		h.landing.OnScan = func(result string) { got[result]++ }
		old := h.qr(3)
		before := h.scan(3, "")
		h.scan(3, before.CustomerToken)
		h.close(before.VisitID)
		scan := func(ctx context.Context, qr, token string) {
			if _, err := h.landing.Scan(ctx, qr, token); err == nil {
				t.Errorf("a scan of %q succeeded", qr)
			}
		}
		scan(t.Context(), old, before.CustomerToken)
		testenv.Must(h.floor.RotateQR(t.Context(), authz.System(), 3))(t)
		scan(t.Context(), old, "")
		off := false
		testenv.Must(h.floor.EditTable(t.Context(), authz.System(), 6, visit.TableEdit{Active: &off}))(t)
		scan(t.Context(), h.qr(6), "")
		scan(t.Context(), "nobody's", "")
		ended, end := context.WithCancel(t.Context())
		end()
		scan(ended, old, "")
		for _, result := range visit.ScanOutcomes() {
			if got[result] != 1 {
				t.Errorf("%s was counted %d times", result, got[result])
			}
		}
	})
}

func TestLanding_Scan_refuses_codes(t *testing.T) {
	inSQLite(t, func(h *fixture) {
		old := h.qr(3)
		testenv.Must(h.floor.RotateQR(t.Context(), authz.System(), 3))(t)
		testenv.ErrorIs(t, visit.ErrQRRevoked, testenv.Err(h.landing.Scan(t.Context(), old, "")), "a revoked code")
		for _, qr := range []string{"", visit.NewQRToken(), old + "A", "../../etc/passwd-12345", "ộộộộộộộ1"} {
			testenv.ErrorIs(t, visit.ErrQRUnknown, testenv.Err(h.landing.Scan(t.Context(), qr, "")), qr)
		}
		testenv.Equal(t, 0, len(h.openVisits()))
	})
}

// V3: a token ends with its visit, and a phone whose visit the staff closed is refused at that table for rejoinBlock.
func TestLanding_Scan_after_the_staff_closed(t *testing.T) {
	inSQLite(t, func(h *fixture) {
		before := h.scan(3, "")
		h.close(before.VisitID)
		_, err := h.landing.Scan(t.Context(), h.qr(3), before.CustomerToken)
		testenv.ErrorIs(t, visit.ErrClosedByStaff, err, "closed by staff")
		if l := h.scan(4, before.CustomerToken); l.CustomerToken == before.CustomerToken {
			t.Error("the token of a closed visit was valid at another table")
		}
		if l := h.scan(3, ""); l.VisitID == before.VisitID {
			t.Error("a closed visit was joined")
		}
		h.clock.Advance(2 * time.Minute)
		if l := h.scan(3, before.CustomerToken); l.CustomerToken == before.CustomerToken || l.VisitID == before.VisitID {
			t.Error("the token of a closed visit was valid again")
		}
	})
}

func TestLanding_Scan_after_CloseIdle(t *testing.T) {
	inSQLite(t, func(h *fixture) {
		before := h.scan(3, "")
		h.clock.Advance(3 * time.Hour)
		testenv.Equal(t, 1, testenv.Must(h.floor.CloseIdle(t.Context(), h.clock.Now(), 10))(t))
		if l := h.scan(3, before.CustomerToken); l.CustomerToken == before.CustomerToken || l.VisitID == before.VisitID {
			t.Error("the token of a closed visit was valid again")
		}
	})
}

// V1: fifty phones scan at once; one visit is opened and all fifty join it.
func TestLanding_Scan_at_once(t *testing.T) {
	each(t, func(h *fixture) {
		const phones = 50
		qr := h.qr(3)
		var wg sync.WaitGroup
		for range phones {
			wg.Go(func() {
				if _, err := h.landing.Scan(h.t.Context(), qr, ""); err != nil {
					h.t.Error(err)
				}
			})
		}
		wg.Wait()
		if v := h.openVisits(); len(v) != 1 || v[0].Guests != phones {
			h.t.Errorf("%d visits: %+v", len(v), v)
		}
	})
}

// V1: while phones scan, staff close visits; there is never more than one open visit, and no call fails.
func TestLanding_Scan_while_staff_close(t *testing.T) {
	each(t, func(h *fixture) {
		qr := h.qr(3)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 10 {
					l, err := h.landing.Scan(h.t.Context(), qr, "")
					if err == nil {
						_, err = h.floor.Close(h.t.Context(), authz.System(), l.VisitID)
					}
					if err != nil {
						h.t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if v := h.openVisits(); len(v) != 0 {
			h.t.Errorf("open after all visits were closed: %+v", v)
		}
	})
}

// A guest who joined with the old code is removed by the rotation. Later scans of the old code are refused.
func TestFloor_RotateQR_while_phones_scan(t *testing.T) {
	each(t, func(h *fixture) {
		old := h.qr(3)
		tokens := make(chan string, 100)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					l, err := h.landing.Scan(h.t.Context(), old, "")
					if err != nil {
						testenv.ErrorIs(h.t, visit.ErrQRRevoked, err, "landing")
						return
					}
					tokens <- l.CustomerToken
				}
			})
		}
		tokens <- (<-tokens) // a phone has joined
		for range 2 {        // two managers at once
			wg.Go(func() {
				if _, err := h.floor.RotateQR(h.t.Context(), authz.System(), 3); err != nil {
					h.t.Error(err)
				}
			})
		}
		wg.Wait()
		close(tokens)
		if v := h.openVisits(); len(v) != 0 {
			h.t.Errorf("open after the rotation: %+v", v)
		}
		for token := range tokens {
			_, err := h.guests.Resolve(h.t.Context(), token)
			testenv.ErrorIs(h.t, visit.ErrClosed, err, "a guest of the old code")
		}
		if l := h.scan(3, ""); l.TableLabel != "A3" {
			h.t.Errorf("the new code leads to %+v", l)
		}
	})
}

// If a visit ends between a guest's transaction and the response, no cache of this process has it.
func TestLanding_Scan_joins_ending_visits(t *testing.T) {
	inSQLite(t, func(h *fixture) {
		h.store.joined = func() {
			if _, err := h.floor.RotateQR(h.t.Context(), authz.System(), 3); err != nil {
				h.t.Error(err)
			}
		}
		l := h.scan(3, "")
		_, err := h.guests.Resolve(h.t.Context(), l.CustomerToken)
		testenv.ErrorIs(h.t, visit.ErrClosed, err, "a guest of the old code")
		testenv.Equal(h.t, 0, h.redis.Len())
	})
}

func TestFloor_Close(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		l := h.scan(3, "")
		h.clock.Advance(time.Minute)
		closed, err := h.floor.Close(t.Context(), authz.System(), l.VisitID)
		if err != nil || closed.Open || closed.Reason != visit.ClosedByStaff || !closed.ClosedAt.Equal(h.clock.Now()) {
			t.Errorf("Close = %+v, %v, want it closed by the staff now", closed, err)
		}
		h.clock.Advance(time.Minute)
		if again, err := h.floor.Close(t.Context(), authz.System(), l.VisitID); err != nil || again != closed {
			t.Errorf("closing again: %+v, %v", again, err)
		}
		_, err = h.floor.Close(t.Context(), authz.System(), "no such visit")
		testenv.ErrorIs(t, visit.ErrVisit, err, "closing an unknown visit")
		_, err = h.floor.RotateQR(t.Context(), authz.System(), 99)
		testenv.ErrorIs(t, visit.ErrTable, err, "rotating an unknown table")
		all, total, err := h.floor.Visits(t.Context(), authz.System(), visit.Filter{Branch: 1, Limit: 10})
		if err != nil || total != 1 || len(all) != 1 || all[0] != closed {
			t.Errorf("%d visits: %+v, %v", total, all, err)
		}
	})
}

func TestFloor_TableIn(t *testing.T) {
	inSQLite(t, func(h *fixture) {
		for range 2 { // from SQL, then from the cache
			for _, c := range []struct {
				branch, table int64
				want          bool
			}{{1, 3, true}, {2, 3, false}, {2, 7, true}, {1, 99, false}} {
				if got, err := h.floor.TableIn(t.Context(), c.branch, c.table); got != c.want || err != nil {
					t.Errorf("table %d in branch %d: %t, %v", c.table, c.branch, got, err)
				}
			}
		}
	})
}

// V4: branch 1 closes visits that were not seen for 120 minutes.
func TestFloor_CloseIdle(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		quiet, lively := h.scan(3, ""), h.scan(4, "")
		var changed []int64
		closed := map[int64][]string{}
		h.floor.OnChange = func(branch int64) { changed = append(changed, branch) }
		h.floor.OnClosed = func(branch int64, visits []string) { closed[branch] = append(closed[branch], visits...) }
		for range 5 {
			h.clock.Advance(30 * time.Minute)
			testenv.Must(h.guests.Resolve(t.Context(), lively.CustomerToken))(t)
			testenv.NoError(t, h.floor.RunOnce(t.Context()))
		}
		if v := h.openVisits(); len(v) != 1 || v[0].ID != lively.VisitID {
			t.Errorf("open: %+v", v)
		}
		_, err := h.guests.Resolve(t.Context(), quiet.CustomerToken)
		testenv.ErrorIs(t, visit.ErrClosed, err, "the quiet guest")
		testenv.Equal(t, []int64{1}, changed)
		testenv.Equal(t, map[int64][]string{1: {quiet.VisitID}}, closed)
		h.clock.Advance(2*time.Hour + 31*time.Second)
		testenv.Equal(t, 1, testenv.Must(h.floor.CloseIdle(t.Context(), h.clock.Now(), 10))(t))
	})
}

var orderStmts = sqldb.Load(fstest.MapFS{
	"unpaid.sql": {Data: []byte(`INSERT INTO order_info (id, branch_id, kind, visit_id, menu_version_id, hold_id,
		client_txn_id, biz_date, number, status, payment_status, payment_method, total_amount, currency, pay_by, expires_at,
		created_at, updated_at)
		VALUES ('o1', 1, 'DINE_IN', $1, 5, 'h1', 'c1', '2026-02-26', 1, 'PLACED', 'UNPAID', 'COUNTER', 1, 'VND', 0, 0, 0, 0)`)},
	"paid.sql": {Data: []byte(`UPDATE order_info SET payment_status = 'PAID' WHERE visit_id = $1`)},
})

// V4: a visit with an unpaid order is not closed.
func TestFloor_CloseIdle_waits_for_payment(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		l := h.scan(3, "")
		for _, step := range []struct {
			stmt string
			want int
		}{{"unpaid", 0}, {"paid", 1}} {
			testenv.Must(h.db.Exec(t.Context(), orderStmts.Must(step.stmt), l.VisitID))(t)
			h.clock.Advance(3 * time.Hour)
			if n, err := h.floor.CloseIdle(t.Context(), h.clock.Now(), 10); n != step.want || err != nil {
				t.Errorf("%s: %d closed, %v", step.stmt, n, err)
			}
		}
	})
}
