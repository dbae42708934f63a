package bench

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

func TestSeed_makesAMenuThatCanBeOrderedFrom(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tokens := testenv.Must(Seed(t.Context(), db, true))(t)
		repeated, err := Seed(t.Context(), db, true)
		if err != nil || !slices.Equal(tokens, repeated) || len(tokens) != tableCount {
			t.Errorf("%d tokens, then %d: %v", len(tokens), len(repeated), err)
		}
		menu := testenv.Must(catalogsql.New(db, nil).Content(t.Context(), branchID))(t)
		i, c, q := len(menu.Edition.Items), len(menu.Edition.Categories), len(menu.Quotas)
		if i != itemCount || c != categories || q != i {
			t.Errorf("%d items in %d categories, %d quotas", i, c, q)
		}
		for i, it := range menu.Edition.Items {
			want := int64(catalog.MaxQuota)
			if i == itemCount-1 {
				want = 0
			}
			if !it.Active || it.Price != itemPrice || menu.Quotas[it.ID] != want {
				t.Errorf("item %d: %+v with quota %d", i, it, menu.Quotas[it.ID])
			}
			if err := it.Names.Check("A dish", catalog.MaxName); err != nil {
				t.Error(err)
			}
		}
	})
}

// The menu with options has the same dishes, and every order of bench has a valid choice.
func TestSeedOptions(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.Must(Seed(t.Context(), db, true))(t)
		tokens := testenv.Must(SeedOptions(t.Context(), db))(t)
		repeated := testenv.Must(SeedOptions(t.Context(), db))(t)
		if !slices.Equal(tokens, repeated) || len(tokens) != tableCount {
			t.Errorf("%d tokens, then %d, want %d", len(tokens), len(repeated), tableCount)
		}
		var line struct{ Options []catalog.ChosenOption }
		for g := range groupCount {
			line.Options = append(line.Options, catalog.ChosenOption{OptionID: int64(firstID + g*choiceCount + g), Qty: 1})
		}
		menu := testenv.Must(catalogsql.New(db, nil).Content(t.Context(), optionBranch))(t)
		if len(menu.Edition.Items) != itemCount {
			t.Errorf("%d items, want %d", len(menu.Edition.Items), itemCount)
		}
		for _, it := range menu.Edition.Items {
			got, err := it.Configure(line.Options, nil)
			if err != nil || got.Price != itemPrice+groupCount*choicePrice || len(got.Options) != groupCount {
				t.Fatalf("item %d: %+v, %v, want two options", it.ID, got, err)
			}
		}
	})
}

// B2: without consent nothing is written.
func TestSeed_refusesWithoutConsent(t *testing.T) {
	db := sqldbtest.SQLite(t)
	if tokens, err := Seed(t.Context(), db, false); !errors.Is(err, ErrConsent) || tokens != nil {
		t.Errorf("Seed = %v, %v, want ErrConsent only", tokens, err)
	}
	if _, err := catalogsql.New(db, nil).Branch(t.Context(), branchID); !errors.Is(err, catalog.ErrBranch) {
		t.Errorf("something was written: %v", err)
	}
}

func TestSeed_refuses_a_foreign_branch(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.Must(db.Exec(t.Context(), stmt("branch_insert"), branchID, "Phở 9000", 0))(t)
		if tokens, err := Seed(t.Context(), db, true); !errors.Is(err, ErrTaken) || tokens != nil {
			t.Errorf("Seed = %v, %v, want ErrTaken only", tokens, err)
		}
	})
}

// The numbers of rows of a history, by table.
var left = sqldb.Load(fstest.MapFS{"left.sql": {Data: []byte(`-- name: left_counts
SELECT 'order_info', count(*) FROM order_info WHERE status = 'SERVED' AND payment_status = 'PAID'
UNION ALL SELECT 'order_item', count(*) FROM order_item
UNION ALL SELECT 'hold', count(*) FROM hold WHERE state = 'CONFIRMED'
UNION ALL SELECT 'payment_attempt', count(*) FROM payment_attempt WHERE state = 'PAID'
UNION ALL SELECT 'payment_event', count(*) FROM payment_event
UNION ALL SELECT 'visit', count(*) FROM visit WHERE status = 'CLOSED'
UNION ALL SELECT 'visit_guest', count(*) FROM visit_guest WHERE length(token_hash) = 64
UNION ALL SELECT 'event_log', count(*) FROM event_log
UNION ALL SELECT 'sales_quota_counter', count(*) FROM sales_quota_counter
UNION ALL SELECT 'order_number', sum(last) FROM order_number
UNION ALL SELECT 'daybook', sum(paid) FROM daybook
UNION ALL SELECT 'branch', count(*) FROM branch
UNION ALL SELECT 'menu_item', count(*) FROM menu_item
UNION ALL SELECT 'dish', count(*) FROM dish
UNION ALL SELECT 'biz_date', count(*) FROM (SELECT DISTINCT biz_date FROM order_info) AS d

-- name: left_ready
INSERT INTO document_plane (id, epoch) VALUES (1, 'a') ON CONFLICT (id) DO UPDATE SET epoch = 'a', building = ''
`)}})

// A history has three lines per order and every other row of an ended order. The product's own checks find no
// difference, no queue has anything to do, and no row is old enough to be purged.
func TestFillHistory_writes_the_same_rows(t *testing.T) {
	const orders = historyBranches*historyDaily + 60
	onEngines(t, func(t *testing.T, address string) {
		db := openMigrated(t, address)
		h, err := FillHistory(t.Context(), address, orders, true)
		want := History{Orders: orders, Branches: 50, Dishes: 1000, Dates: 2, Bytes: h.Bytes, Seconds: h.Seconds}
		if err != nil || h != want || h.Bytes < orders*1000 || h.Seconds <= 0 {
			t.Fatalf("FillHistory = %+v, %v, want %+v with at least %d bytes", h, err, want, orders*1000)
		}
		rows, err := sqldb.Map[string, int64](t.Context(), db, left.Must("left_counts"))
		if diff := cmp.Diff(map[string]int64{
			"order_info": orders, "order_item": 3 * orders, "hold": orders,
			"payment_attempt": orders, "payment_event": orders, "visit": orders, "visit_guest": orders,
			"event_log": 2 * orders, "order_number": orders, "daybook": orders,
			"sales_quota_counter": 50*100 + 10*6*3, "branch": 50, "menu_item": 50 * 100, "dish": 1000, "biz_date": 2,
		}, rows); diff != "" || err != nil {
			t.Error(diff, err)
		}
		differences := testenv.Must(orderingsql.NewOrders(db).Drift(t.Context(), "", db.Now()))(t)
		counters := testenv.Must(stocksql.New(db).Drift(t.Context(), ""))(t)
		for _, d := range append(differences, counters...) {
			t.Error(d)
		}
		if n := backlog(t, db); n != 0 {
			t.Errorf("%d rows in outboxes", n)
		}
		purged, err := outbox.PurgeLog(t.Context(), db, db.Now().Add(-historyLog))
		if err != nil || purged != 0 {
			t.Errorf("%d events were purged, %v", purged, err)
		}
		if purged, err = inbox.New(db, inbox.Options{}).Purge(t.Context(), db.Now().Add(-historyLog)); err != nil || purged != 0 {
			t.Errorf("%d records were purged, %v", purged, err)
		}
		menu, err := catalogsql.New(db, nil).Content(t.Context(), historyFirst)
		if err != nil || len(menu.Edition.Items) != historyMenu {
			t.Errorf("a menu of %d dishes, %v", len(menu.Edition.Items), err)
		}
		if tokens, err := Seed(t.Context(), db, true); err != nil || len(tokens) != tableCount {
			t.Errorf("%d tables to measure at, %v", len(tokens), err)
		}
		if _, err := FillHistory(t.Context(), address, 1, true); !errors.Is(err, ErrHistory) {
			t.Errorf("a second one: %v", err)
		}
	})
}

func openMigrated(t *testing.T, address string) *sqldb.DB {
	t.Helper()
	db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: address}))(t)
	t.Cleanup(db.Close)
	testenv.NoError(t, db.Migrate(t.Context()))
	return db
}

// B2: consent is required. Numbers outside the bounds are refused.
func TestFillHistory_refuses(t *testing.T) {
	if _, err := FillHistory(t.Context(), "sqlite:/nowhere/x", 1, false); !errors.Is(err, ErrConsent) {
		t.Errorf("without consent: %v", err)
	}
	for orders, valid := range map[int]bool{-1: false, 0: true, 1: true, MaxHistory: true, MaxHistory + 1: false} {
		if err := ValidateHistory(orders); err == nil != valid {
			t.Errorf("ValidateHistory(%d) = %v, want valid %t", orders, err, valid)
		}
		if valid {
			continue
		}
		if _, err := FillHistory(t.Context(), "sqlite:/nowhere/x", orders, true); err == nil || errors.Is(err, ErrConsent) {
			t.Errorf("FillHistory(%d) = %v, want an error about the number", orders, err)
		}
	}
}

// The measurements wait for the server's documents.
func TestWaitDocuments(t *testing.T) {
	onEngines(t, func(t *testing.T, address string) {
		s := &session{db: openMigrated(t, address), report: Report{History: &History{Orders: 1}}}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.waitDocuments(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("not waited: %v", err)
		}
		testenv.Must(s.db.Exec(t.Context(), left.Must("left_ready")))(t)
		if err := s.waitDocuments(t.Context()); err != nil || s.report.History.Documents <= 0 {
			t.Errorf("waitDocuments = %v with %+v, want the time until the documents were ready", err, s.report.History)
		}
	})
}
