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

// wantQuota fails the test unless item 101, whose quota is 20, has the given held and used units in SQL and in the
// cache.
func (h *fixture) wantQuota(held, used int64) {
	h.t.Helper()
	want := stock.Count{Item: 101, Cap: 20, Held: held, Used: used}
	if got := h.CountsOf(h.t, h.today().Date); len(got) == 0 || got[0] != want {
		h.t.Errorf("the quota: %v, want %v", got, want)
	}
	h.awaitCacheCount(h.today(), want)
}

// An order takes the quotas of its dishes and the stock of their recipes in one hold, and ends both together.
func TestDish_takes_stock(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 30, "beer": 4})
		h.ask("one", "PUT", "/api/menu-items/101/recipe", `{"lines":[{"itemId":"rice","quantity":3}]}`).wantOK(200, "")
		h.ask("one", "PUT", "/api/menu-items/102/recipe",
			`{"lines":[{"itemId":"rice","quantity":1},{"itemId":"beer","quantity":2}]}`).wantOK(200, "")
		first := h.order(101, 2, 102, 1).wantOK(201, "id")
		h.wantLevel("rice", 23, 7, 0)
		h.wantLevel("beer", 2, 2, 0)
		h.wantQuota(2, 0)
		h.post("/cis/payments/mock-callback", fmt.Sprintf(`{"orderId":%q,"method":"SANDBOX","result":"SUCCESS"}`, first)).wantOK(200, "")
		h.wantLevel("rice", 23, 0, 7)
		h.wantQuota(0, 2)
		second := h.order(102, 1).wantOK(201, "id")
		h.wantLevel("beer", 0, 2, 2)
		h.post("/cis/order/"+second+"/cancel", "").wantOK(200, "")
		h.wantLevel("beer", 2, 0, 2)
		h.wantLevel("rice", 23, 0, 7)
		h.try("theirs", "beer", 1).wantOK(201, "") // units reserved by other systems are not left for dishes
		short := h.order(101, 1, 102, 1).wantRefused(409, "sold_out")
		want := []any{map[string]any{"itemId": "102", "requested": 1.0, "available": 0.0}}
		testenv.Equal[any](h.t, want, short.body["lines"])
		h.wantBalanced()
	})
}

// If the quota suffices and the stock does not, nothing is held and the cache drops both provisional holds. The same
// holds the other way round.
func TestDish_all_or_nothing(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10})
		// An order of an item that the cache does not have yet starts a rebuild in the background. It would copy the change
		// that this test makes in SQL alone.
		h.wantLevel("rice", 10, 0, 0)
		h.ask("one", "PUT", "/api/menu-items/101/recipe", `{"lines":[{"itemId":"rice","quantity":3}]}`).wantOK(200, "")
		lines := func(a answer) []any {
			h.t.Helper()
			got, _ := a.wantRefused(409, "sold_out").body["lines"].([]any)
			return got
		}
		want := []any{map[string]any{"itemId": "101", "requested": 5.0, "available": 3.0}}
		testenv.Equal(h.t, want, lines(h.order(101, 5)))
		h.wantQuota(0, 0)
		h.wantLevel("rice", 10, 0, 0)
		h.ahead.Add(int64(time.Second)) // the cache repeats a refusal for a few milliseconds

		// Two units were taken without the cache: it admits an order that SQL then refuses.
		h.change(`UPDATE inventory SET available = 8 WHERE item_id = (SELECT id FROM stock_item WHERE sku = 'rice')`)
		h.change(`INSERT INTO stock_adjustment (id, branch_id, item_id, kind, units, available, actor, created_at)
			SELECT 'a', 1, id, 'WASTE', -2, 8, 'test', 0 FROM stock_item WHERE sku = 'rice'`)
		want = []any{map[string]any{"itemId": "101", "requested": 3.0, "available": 2.0}}
		testenv.Equal(h.t, want, lines(h.order(101, 3)))
		h.wantQuota(0, 0)
		rice := h.item("rice")
		h.awaitCacheCount(stock.StockScope(1), stock.Count{Item: rice, Cap: 10})

		h.order(101, 2).wantOK(201, "")
		h.wantQuota(2, 0)
		h.setStock(map[string]int{"rice": 100})
		h.order(101, 18).wantOK(201, "")
		h.wantLevel("rice", 46, 60, 0)
		testenv.Equal(h.t, []any{map[string]any{"itemId": "101", "requested": 1.0, "available": 0.0}}, lines(h.order(101, 1)))
		h.wantQuota(20, 0)
		h.wantLevel("rice", 46, 60, 0)
		h.wantBalanced()
	})
}
