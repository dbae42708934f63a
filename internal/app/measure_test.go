package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/system"
	"comanda/internal/testenv"
)

var faultStmts = sqldb.Load(fstest.MapFS{
	"mark.sql": {Data: []byte(`UPDATE stock_item SET low_at = $1 WHERE sku = $2`)},
	"late.sql": {Data: []byte(`UPDATE hold SET expires_at = expires_at - 3600000 WHERE id = $1`)},
	"paid.sql": {Data: []byte(`UPDATE order_info SET paid_at = $1 WHERE id = $2`)},
	"dead.sql": {Data: []byte(`
		INSERT INTO redis_outbox (id, branch_id, biz_date, ops, created_at, attempts, dead_at)
		VALUES ($1, 99, '', '[]', $2, 10, $2)`)},
})

func causeFault(t *testing.T, db *sqldb.DB, name string, args ...any) {
	t.Helper()
	if n, err := db.Exec(t.Context(), faultStmts.Must(name), args...); n != 1 || err != nil {
		t.Fatalf("%s: %d rows, %v", name, n, err)
	}
}

// exportedValues returns metrics as an exporter shows them, by name and labels.
func exportedValues(t *testing.T, all ...prometheus.Collector) map[string]float64 {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(all...)
	families := testenv.Must(reg.Gather())(t)
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			values[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return values
}

func receive(t *testing.T, k *Core, sku string, units int64) {
	t.Helper()
	a := stock.Adjustment{Branch: 1, SKU: sku, Kind: stock.Received, Units: units, Create: true}
	testenv.Must(k.Reservations.Adjust(t.Context(), authz.System(), a))(t)
}

// Low stock, overdue reservations and dead letters are exported until they are resolved.
func TestCore_measuresTheStock(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := demoCore(t, db)
		m := k.Metrics
		measured := func() map[string]float64 {
			t.Helper()
			testenv.NoError(t, k.measure(t.Context()))
			return exportedValues(t, m.low, m.overdue, m.ops.dead)
		}
		testenv.NoError(t, k.Syncer.ReplayAll(t.Context()))
		before := measured()
		receive(t, k, "measured", 5)
		r := stock.ReservationRequest{ID: "late", Branch: 1, Items: []stock.SKULine{{SKU: "measured", Qty: 1}}}
		testenv.Must2(k.ReservationService.Reserve(t.Context(), authz.System(), r))(t)
		causeFault(t, db, "mark", 4, "measured")
		causeFault(t, db, "late", stock.HoldID("late"))
		causeFault(t, db, "dead", "zz", db.Now().Add(-time.Minute).UnixMilli())
		after := measured()
		for name, more := range map[string]float64{
			"stock_low_items 1": 1, "hold_overdue orders": 0, "hold_overdue reservations": 1, "redis_outbox_dead": 1,
		} {
			if after[name] != before[name]+more {
				t.Errorf("%s was %v and is %v, want %v more", name, before[name], after[name], more)
			}
		}
		ages := exportedValues(t, m.overdueAge, m.ops.deadAge)
		if age := ages["hold_overdue_oldest_age_seconds reservations"]; age < 3000 || age > 3600 {
			t.Errorf("the reservation is %v seconds late", age)
		}
		if age := ages["redis_outbox_dead_oldest_age_seconds"]; age < 60 || age > 120 {
			t.Errorf("what was given up was so %v seconds ago", age)
		}
		testenv.NoError(t, k.ReservationService.ExpireOverdue(t.Context()))
		causeFault(t, db, "mark", 3, "measured")
		if now := measured(); now["hold_overdue reservations"] != 0 || now["stock_low_items 1"] != before["stock_low_items 1"] {
			t.Errorf("after everything was repaired: %v", now)
		}
		ended := exportedValues(t, m.tries, m.ended)
		if ended["inventory_try_total reserved"] != 1 || ended["inventory_ended_total expired"] != 1 {
			t.Errorf("counted were %v", ended)
		}
	})
}

func TestMetrics_decided(t *testing.T) {
	done := func(s stock.Status) stock.CommandResult {
		return stock.CommandResult{Reservation: stock.Reservation{Status: s}, Changed: true}
	}
	m := newMetrics(nil)
	for _, c := range []struct {
		act    stock.Action
		result stock.CommandResult
	}{
		{stock.Try, done(stock.StatusReserved)},
		{stock.Try, stock.CommandResult{}},
		{stock.Try, stock.CommandResult{Err: stock.ErrInsufficientStock}},
		{stock.Try, stock.CommandResult{Err: stock.ErrReservationEnded}},
		{stock.Try, stock.CommandResult{Err: stock.ErrIDReused}},
		{stock.Confirm, done(stock.StatusConfirmed)},
		{stock.Confirm, stock.CommandResult{}},
		{stock.Cancel, done(stock.StatusCancelled)},
		{stock.Cancel, stock.CommandResult{Err: stock.ErrAlreadyConfirmed}},
		{stock.Expire, done(stock.StatusExpired)},
		{stock.Return, done(stock.StatusReturned)},
	} {
		m.decided([]stock.Command{{Action: c.act}}, []stock.CommandResult{c.result})
	}
	want := map[string]float64{
		"inventory_try_total reserved": 1, "inventory_try_total same": 1, "inventory_try_total refused": 1,
		"inventory_try_total wrong": 2, "inventory_ended_total confirmed": 1, "inventory_ended_total cancelled": 1,
		"inventory_ended_total expired": 1, "inventory_ended_total returned": 1,
	}
	testenv.Equal(t, want, exportedValues(t, m.tries, m.ended))
}

// Operators see the changes that Redis refused, and can retry them.
func TestReplay_of_operations_that_Redis_refused(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for i := range 3 {
			causeFault(t, db, "dead", fmt.Sprint("e", i), db.Now().Add(-time.Hour).UnixMilli())
		}
		operators, stop := OpenSystem(Config{}, db, nil)
		t.Cleanup(stop)
		look := func(pending, dead int64) {
			t.Helper()
			s, err := operators.Outbox(t.Context())
			if err != nil || s.Redis.Pending != pending || s.Redis.Dead != dead || (s.Redis.DeadAgeSeconds >= 3600) != (dead > 0) {
				t.Errorf("%+v, %v; want %d pending and %d dead", s.Redis, err, pending, dead)
			}
		}
		look(0, 3)
		for _, f := range []struct {
			filter system.DeadLetterFilter
			want   int
		}{
			{system.DeadLetterFilter{Consumer: queue.RelayConsumer}, 0}, {system.DeadLetterFilter{Type: "order.paid"}, 0},
			{system.DeadLetterFilter{Consumer: queue.RedisConsumer, ID: "e1"}, 1}, {system.DeadLetterFilter{}, 2}, {system.DeadLetterFilter{Consumer: queue.RedisConsumer}, 0},
		} {
			r, err := operators.ReplayWhere(t.Context(), f.filter)
			if diff := cmp.Diff(system.Replayed{Revived: f.want}, r); diff != "" || err != nil {
				t.Errorf("ReplayWhere(%+v) (-want +got):\n%s, error %v", f.filter, diff, err)
			}
		}
		look(3, 0)
	})
}

// Reconcile compares a branch's stock like a day's quotas.
func TestReconcile_comparesTheStock(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := demoCore(t, db)
		receive(t, k, "compared", 10)
		scope := stock.StockScope(1)
		// An empty cache agrees with everything, so the result must show that nothing was compared.
		r, err := k.systemService().Reconcile(t.Context(), 0)
		if err != nil || !r.Clean || r.Scopes != 0 || r.Cache != system.CacheNotLoaded || r.Note == "" {
			t.Fatalf("before the cache is loaded: %+v, %v", r, err)
		}
		testenv.NoError(t, k.Syncer.Rebuild(t.Context(), scope))
		r, err = k.systemService().Reconcile(t.Context(), 0)
		if err != nil || !r.Clean || r.Scopes != 1 || r.Cache != system.CacheCompared || r.Note != "" {
			t.Fatalf("Reconcile = %+v, %v, want a clean comparison of one scope", r, err)
		}
		found, err := k.Reservations.Items(t.Context(), 1, []string{"compared"})
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		stray := stock.Hold{ID: "x-stray", Scope: scope, Lines: []stock.Line{{Item: found[0].ID, Qty: 3}}}
		testenv.Must(k.AdmissionCache.Apply(t.Context(), []stock.Op{{Kind: stock.OpHeld, Hold: stray}}))(t)
		r, err = k.systemService().Reconcile(t.Context(), 0)
		if err != nil || !slices.ContainsFunc(r.Differences, func(d string) bool {
			return strings.HasPrefix(d, "branch 1, stock: item ") && strings.Contains(d, "held 3")
		}) {
			t.Errorf("Reconcile = %+v, %v, want a difference of 3 held units", r, err)
		}
	})
}
