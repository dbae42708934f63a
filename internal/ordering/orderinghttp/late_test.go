package orderinghttp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// payAtCounter records a cashier's payment for an order and returns the status and a rejection's code.
func (g *boardServer) payAtCounter(t *testing.T, id string, amount int64, late bool) (status int, code string) {
	t.Helper()
	body := fmt.Sprintf(`{"method":"COUNTER","amount":%d,"late":%t}`, amount, late)
	res, err := http.DefaultClient.Do(g.request(t, "cook", http.MethodPost, "/api/orders/"+id+"/payments", body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text := testenv.Must(io.ReadAll(res.Body))(t)
	var p struct{ Code string }
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatalf("answer %s: %v", text, err)
	}
	return res.StatusCode, p.Code
}

// TestOrders_acceptExpired checks that a cashier can accept payment for an expired order, once, while its dishes are
// available and its visit is open.
func TestOrders_acceptExpired(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := testenv.NewClockAt(day)
		g := openBoardServer(t, orderingtest.Open(t, db, 1, 3), c.Now, time.Hour)
		expired := func(key string) ordering.Order {
			o := g.do(t, g.Place(key, g.now(), time.Minute, stock.Line{Item: 101, Qty: 2}))
			c.Advance(2 * time.Minute)
			return g.do(t, orderingtest.End(o.ID, ordering.Expired))
		}
		wantRows := func(o ordering.Order, late bool, status int, code string) {
			t.Helper()
			if s, got := g.payAtCounter(t, o.ID, o.Total, late); s != status || got != code {
				t.Errorf("%s: %d %s, want %d %s", o.ClientTxnID, s, got, status, code)
			}
		}
		first, second := expired("first"), expired("second")
		wantRows(first, false, http.StatusConflict, "not_payable")
		wantRows(first, true, http.StatusCreated, "")
		wantRows(first, true, http.StatusConflict, "already_paid")
		wantRows(second, true, http.StatusConflict, "sold_out") // 1 of 3 is left
		if n := g.Counts(t)[0]; n.Used != 2 || n.Held != 0 {
			t.Errorf("counted %+v", n)
		}
		third := g.do(t, g.Place("third", g.now(), time.Minute, stock.Line{Item: 101, Qty: 1}))
		c.Advance(2 * time.Minute)
		g.do(t, orderingtest.End(third.ID, ordering.Expired))
		g.NextVisit(t)
		wantRows(third, true, http.StatusGone, "visit_closed")
	})
}
