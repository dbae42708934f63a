package app

import (
	"testing"
	"time"

	"comanda/internal/authz"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// While a process has not received the messages that were sent in time, it expires no reservation. Afterwards it
// expires those that were not confirmed.
func TestReservations_waitForTheBroker(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k, system := demoCore(t, db), authz.System()
		testenv.Must(k.stockServices().Items.SetAvailable(t.Context(), system, 1, "bones", 10))(t)
		for _, id := range []string{"confirmed", "forgotten"} {
			testenv.Must2(k.ReservationService.Reserve(t.Context(), system, stock.ReservationRequest{
				ID: id, Branch: 1, TTL: stock.MinTTL, Items: []stock.SKULine{{SKU: "bones", Qty: 1}},
			}))(t)
		}
		late := func() int64 {
			n, _ := testenv.Must2(k.Reservations.OverdueReservations(t.Context(), k.DB.Now()))(t)
			return n
		}
		testenv.Eventually(t, 10*time.Second, func() bool { return late() == 2 })
		caughtUp := make(chan struct{})
		loop := k.reservations(caughtUp)
		if err := loop.Run(t.Context()); err != nil || late() != 2 {
			t.Fatalf("%d are overdue, %v", late(), err)
		}
		if r, err := k.ReservationService.Confirm(t.Context(), system, "confirmed"); err != nil || r.Status != stock.StatusConfirmed {
			t.Errorf("Confirm = %+v, %v, want CONFIRMED", r, err)
		}
		close(caughtUp)
		if err := loop.Run(t.Context()); err != nil || late() != 0 {
			t.Fatalf("%d are overdue, %v", late(), err)
		}
		if r, err := k.ReservationService.Confirm(t.Context(), system, "forgotten"); err == nil {
			t.Errorf("Confirm of an expired reservation = %+v, want an error", r)
		}
	})
}
