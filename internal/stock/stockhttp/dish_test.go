package stockhttp_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// order places an order of menu items, as item, quantity, item, quantity.
func (h *fixture) order(items ...int) answer {
	h.t.Helper()
	lines := ""
	for i := 0; i < len(items); i += 2 {
		lines += fmt.Sprintf(`,{"itemId":"%d","qty":%d}`, items[i], items[i+1])
	}
	return h.post("/cis/order/create", fmt.Sprintf(
		`{"items":[%s],"paymentMethod":"SANDBOX","clientTxnId":%q,"menuVersionId":"1"}`, lines[1:], rand.Text()))
}

// quota fails the test unless item 101, whose quota is 20, has the given held and used units in SQL and in the cache.
func (h *fixture) quota(held, used int64) {
	h.t.Helper()
	want := stock.Count{Item: 101, Cap: 20, Held: held, Used: used}
	if got := h.CountsOf(h.t, h.today().Date); len(got) == 0 || got[0] != want {
		h.t.Errorf("the quota: %v, want %v", got, want)
	}
	h.gateHas(h.today(), want)
}

// An order takes the quotas of its dishes and the stock of their recipes in one hold, and ends both together.
func TestDish_takes_stock(t *testing.T) {
	each(t, func(h *fixture) {
		h.stocked(map[string]int{"rice": 30, "beer": 4})
		h.ask("one", "PUT", "/api/menu-items/101/recipe", `{"lines":[{"itemId":"rice","quantity":3}]}`).ok(200, "")
		h.ask("one", "PUT", "/api/menu-items/102/recipe",
			`{"lines":[{"itemId":"rice","quantity":1},{"itemId":"beer","quantity":2}]}`).ok(200, "")
		first := h.order(101, 2, 102, 1).ok(201, "id")
		h.holds("rice", 23, 7, 0)
		h.holds("beer", 2, 2, 0)
		h.quota(2, 0)
		h.post("/cis/payments/mock-callback", fmt.Sprintf(`{"orderId":%q,"method":"SANDBOX","result":"SUCCESS"}`, first)).ok(200, "")
		h.holds("rice", 23, 0, 7)
		h.quota(0, 2)
		second := h.order(102, 1).ok(201, "id")
		h.holds("beer", 0, 2, 2)
		h.post("/cis/order/"+second+"/cancel", "").ok(200, "")
		h.holds("beer", 2, 0, 2)
		h.holds("rice", 23, 0, 7)
		h.try("theirs", "beer", 1).ok(201, "") // what other systems reserve is no more for dishes
		short := h.order(101, 1, 102, 1).refused(409, "sold_out")
		want := []any{map[string]any{"itemId": "102", "requested": 1.0, "available": 0.0}}
		testenv.Equal(h.t, want, short.body["lines"])
		h.balanced()
	})
}

// If the quota suffices and the stock does not, nothing is held and the cache drops both provisional holds; likewise
// the other way round.
func TestDish_all_or_nothing(t *testing.T) {
	each(t, func(h *fixture) {
		h.stocked(map[string]int{"rice": 10})
		h.ask("one", "PUT", "/api/menu-items/101/recipe", `{"lines":[{"itemId":"rice","quantity":3}]}`).ok(200, "")
		lines := func(a answer) []any {
			h.t.Helper()
			got, _ := a.refused(409, "sold_out").body["lines"].([]any)
			return got
		}
		want := []any{map[string]any{"itemId": "101", "requested": 5.0, "available": 3.0}}
		testenv.Equal(h.t, want, lines(h.order(101, 5)))
		h.quota(0, 0)
		h.holds("rice", 10, 0, 0)
		h.ahead.Add(int64(time.Second)) // a refusal is taken for granted for some milliseconds

		// Two units were taken without the cache: it admits an order that SQL then refuses.
		h.change(`UPDATE inventory SET available = 8 WHERE item_id = (SELECT id FROM stock_item WHERE sku = 'rice')`)
		h.change(`INSERT INTO stock_adjustment (id, branch_id, item_id, kind, units, available, actor, created_at)
			SELECT 'a', 1, id, 'WASTE', -2, 8, 'test', 0 FROM stock_item WHERE sku = 'rice'`)
		want = []any{map[string]any{"itemId": "101", "requested": 3.0, "available": 2.0}}
		testenv.Equal(h.t, want, lines(h.order(101, 3)))
		h.quota(0, 0)
		rice := h.item("rice")
		h.gateHas(stock.StockScope(1), stock.Count{Item: rice, Cap: 10})

		h.order(101, 2).ok(201, "")
		h.quota(2, 0)
		h.stocked(map[string]int{"rice": 100})
		h.order(101, 18).ok(201, "")
		h.holds("rice", 46, 60, 0)
		testenv.Equal(h.t, []any{map[string]any{"itemId": "101", "requested": 1.0, "available": 0.0}}, lines(h.order(101, 1)))
		h.quota(20, 0)
		h.holds("rice", 46, 60, 0)
		h.balanced()
	})
}
