package e2e

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// With very many live holds in one branch, Redis hangs for two seconds and is then emptied. Orders continue at the
// former rate, no response is a server error, and in the end all stores agree. make soak creates as many holds as a
// stadium and compares the rate: nine tenths of it are back within fifteen seconds. Other runs share the machine, so
// the rate is not compared.
func TestRebuild_under_load(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		holds := testenv.Size(2_000, 400_000)
		guests := testenv.Size(4, 64)
		span := time.Duration(testenv.Size(1, 5)) * time.Second
		s := prepare(t, k, nil)
		s.startDemo()
		first := s.guest(0).mustPlace(t, line{ItemID: phoGa, Qty: 1})
		s.insertHolds(first, holds)

		var placed atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		var phones sync.WaitGroup
		for n := range guests {
			g := s.guest(n)
			phones.Go(func() {
				for ctx.Err() == nil {
					switch a := g.place(g.request(line{ItemID: phoGa, Qty: 1})); a.status {
					case http.StatusCreated:
						placed.Add(1)
					case http.StatusServiceUnavailable:
					default:
						t.Errorf("an order is answered %d", a.status)
					}
				}
			})
		}
		// rate returns the orders per second during span.
		rate := func(span time.Duration) float64 {
			before := placed.Load()
			<-time.After(span)
			return float64(placed.Load()-before) / span.Seconds()
		}
		before := rate(span)
		s.redis.Pause()
		frozen := rate(2 * time.Second)
		s.redis.Resume()
		afterFreeze := rate(span)
		s.redis.Say("FLUSHALL")
		rebuilding := rate(3 * span)
		after := rate(span)
		cancel()
		phones.Wait()
		t.Logf("%d holds: %.0f orders/s before, %.0f while Redis hangs, %.0f after, %.0f when it is emptied, %.0f 15 s later",
			holds, before, frozen, afterFreeze, rebuilding, after)
		if placed.Load() == 0 || frozen == 0 || rebuilding == 0 {
			t.Error("orders did not go on")
		}
		if testenv.Size(0, 1) == 1 && (afterFreeze < 0.9*before || after < 0.9*before) {
			t.Error("the rate does not come back")
		}
		s.deleteHolds(first, holds)
		s.awaitConsistent()
	}, servers)
}

// insertHolds inserts n holds of an order's dish and day directly, as if so many guests were about to pay.
func (s *installation) insertHolds(o order, n int) {
	s.t.Helper()
	s.execute(
		fmt.Sprintf(`INSERT INTO hold (id, branch_id, biz_date, state, digest, lines, expires_at, created_at, updated_at)
			SELECT 'crowd' || n, h.branch_id, h.biz_date, 'HELD', '', '%s:1', h.expires_at + 3600000, h.created_at, h.updated_at
			FROM generate_series(1, %d) AS n, hold h WHERE h.id = '%s'`, phoGa, n, o.ID),
		s.heldUnits(o, n),
		`ANALYZE hold`,
	)
}

// deleteHolds deletes the inserted holds, because they belong to no order and the reconciliation would report them.
func (s *installation) deleteHolds(o order, n int) {
	s.t.Helper()
	s.execute(
		`DELETE FROM hold WHERE id LIKE 'crowd%'`,
		s.heldUnits(o, -n),
	)
}

// heldUnits returns the statement that adds n to the dish's held units.
func (s *installation) heldUnits(o order, n int) string {
	return fmt.Sprintf(`UPDATE sales_quota_counter SET held_qty = held_qty + %d
		WHERE branch_id = %s AND stat_date = '%s' AND menu_item_id = %s`, n, firstBranch, o.BizDate, phoGa)
}

// execute runs statements directly on the database.
func (s *installation) execute(texts ...string) {
	s.t.Helper()
	s.database(func(db *sqldb.DB) error {
		for _, text := range texts {
			if _, err := db.Exec(s.t.Context(), statement(text)); err != nil {
				return err
			}
		}
		return nil
	})
}
