package orderinghttp_test

import (
	"net/http"
	"testing"

	"comanda/internal/authz"
	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/testenv"
	"comanda/internal/visit/visitsql"
)

// TestOrdersOfVisit_table checks that a phone reads the table at which its visit sits now: before its first order, after a
// move and after the visit was closed. The guests of this test never learn of the move, like those that another process has
// cached.
func TestOrdersOfVisit_table(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		h.change("INSERT INTO dining_table (id, branch_id, label) VALUES (2, 1, 'Terrace 2')")
		id := h.read("SELECT id FROM visit")[0]
		want := func(table, label string, orders int) {
			h.t.Helper()
			var got struct {
				Orders              []placed
				TableID, TableLabel string
			}
			h.ask(http.MethodGet, "/cis/visit/"+id+"/orders", nil, http.StatusOK, &got)
			if got.TableID != table || got.TableLabel != label || len(got.Orders) != orders {
				h.t.Errorf("table %s %q and %d orders, want %s %q and %d",
					got.TableID, got.TableLabel, len(got.Orders), table, label, orders)
			}
		}
		first := h.read("SELECT label FROM dining_table WHERE id = 1")[0]
		want("1", first, 0)
		h.order(payment.VNPay)
		want("1", first, 1)
		_, moved, err := visitsql.New(h.db).Move(h.t.Context(), authz.System(), id, 2, h.Now())
		testenv.NoError(h.t, err)
		testenv.Equal(h.t, true, moved)
		want("2", "Terrace 2", 1)
		h.change("UPDATE visit SET status = 'CLOSED', closed_at = 1, close_reason = 'STAFF'")
		want("2", "Terrace 2", 1)
	})
}
