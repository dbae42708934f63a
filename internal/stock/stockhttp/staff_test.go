package stockhttp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/testenv"
)

// Staff create, edit, fill and empty an item, and can read all of it afterwards.
func TestStock_lifecycle(t *testing.T) {
	each(t, func(h *fixture) {
		made := h.ask("one", "POST", "/api/stock/items", `{"branchId":"1","itemId":"beer","name":"Bia Hà Nội","unit":"bottle","lowAt":5}`)
		id := made.wantOK(201, "id")
		shape := `{"id":%q,"itemId":"beer","branchId":"1","name":%q,"unit":%q,"lowAt":%s,"available":%d,"reserved":%d,"sold":0,"isLow":%t}`
		made.wantJSON(201, fmt.Sprintf(shape, id, "Bia Hà Nội", "bottle", "5", 0, 0, true))
		item := "/api/stock/items/" + id
		adjust := func(kind string, quantity int) answer {
			h.t.Helper()
			return h.ask("one", "POST", item+"/adjustments", fmt.Sprintf(`{"kind":%q,"quantity":%d,"note":"of today"}`, kind, quantity))
		}
		adjust("RECEIVE", 24).wantJSON(201, fmt.Sprintf(shape, id, "Bia Hà Nội", "bottle", "5", 24, 0, false))
		h.try("o1", "beer", 4).wantOK(201, "")
		adjust("WASTE", 2).wantJSON(201, fmt.Sprintf(shape, id, "Bia Hà Nội", "bottle", "5", 18, 4, false))
		adjust("WASTE", 19).wantRefused(409, "insufficient_stock")
		adjust("COUNT", 5).wantJSON(201, fmt.Sprintf(shape, id, "Bia Hà Nội", "bottle", "5", 5, 4, true))
		adjust("COUNT", 5).wantOK(201, "") // unchanged
		h.ask("one", "PUT", item, `{"name":"Bia","lowAt":null}`).wantJSON(200, fmt.Sprintf(shape, id, "Bia", "", "null", 5, 4, false))
		h.ask("one", "PUT", item, `{"name":"Bia"}`).wantJSON(200, fmt.Sprintf(shape, id, "Bia", "", "null", 5, 4, false))
		h.wantLevel("beer", 5, 4, 0)

		page := h.ask("one", "GET", item+"/adjustments?size=2", "")
		testenv.Equal(h.t, "3", page.wantOK(200, "total"))
		var got []string
		for _, a := range page.list() {
			got = append(got, fmt.Sprint(a["kind"], a["change"], a["available"], a["note"], a["actor"], a["actorName"]))
		}
		testenv.Equal(h.t, []string{"COUNT-13 5of todayuser:7Nguyễn Hoa in en", "WASTE-2 18of todayuser:7Nguyễn Hoa in en"}, got)
		if low := h.read(`SELECT payload FROM event_log WHERE event_type = 'inventory.low'`); len(low) != 1 ||
			!strings.Contains(low[0], `"available":5`) {
			h.t.Errorf("the alarms: %v", low)
		}
		actions := h.read(`SELECT action FROM audit_log ORDER BY seq`)
		want := []string{"stock_item_edited", "stock_adjusted", "stock_adjusted", "stock_adjusted", "stock_item_edited"}
		testenv.Equal(h.t, want, actions)
		h.wantBalanced()
	})
}

// I11: an adjustment repeated under its key is made once and has the same response, even for another user. A different
// one under the key is refused, and so is one above the maximum.
func TestStock_adjustment_keys(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10})
		h.put("/inventory/rice", `{"branchId":"2","available":3}`).wantOK(200, "")
		ids := h.read(`SELECT CAST(id AS TEXT) FROM stock_item ORDER BY id`)
		adjust := func(token string, item int, body string) answer {
			h.t.Helper()
			return h.ask(token, "POST", "/api/stock/items/"+ids[item]+"/adjustments", body)
		}
		const body = `{"kind":"RECEIVE","quantity":5,"note":"of today","clientTxnId":"k1"}`
		first := adjust("one", 0, body)
		first.wantOK(201, "")
		h.try("o1", "rice", 4).wantOK(201, "")
		again := adjust("both", 0, body)
		if d := cmp.Diff(first.body, again.body); d != "" || again.status != 201 {
			h.t.Errorf("repeated adjustment: status %d, body (-first +again):\n%s", again.status, d)
		}
		adjust("one", 0, `{"kind":"RECEIVE","quantity":6,"note":"of today","clientTxnId":"k1"}`).wantRefused(422, "idempotency_mismatch")
		adjust("one", 0, `{"kind":"RECEIVE","quantity":5,"clientTxnId":"k1"}`).wantRefused(422, "idempotency_mismatch")
		adjust("both", 1, body).wantOK(201, "") // keys are separate for each branch
		adjust("one", 0, `{"kind":"RECEIVE","quantity":1,"clientTxnId":""}`).wantRefused(422, "invalid")
		adjust("one", 0, `{"kind":"RECEIVE","quantity":1,"clientTxnId":"`+strings.Repeat("k", 65)+`"}`).wantRefused(422, "invalid")
		h.wantLevel("rice", 11, 4, 0)
		full := adjust("one", 0, `{"kind":"RECEIVE","quantity":999999990,"clientTxnId":"k2"}`).wantRefused(409, "level_too_high")
		if full.body["available"] != 11.0 || full.body["maximum"] != 1e9 {
			h.t.Errorf("refusal = %v, want 11 available of at most 1e9", full.body)
		}
		h.wantLevel("rice", 11, 4, 0)
		adjust("one", 0, `{"kind":"RECEIVE","quantity":999999989,"clientTxnId":"k2"}`).wantOK(201, "")
		if n := h.read(`SELECT CAST(count(*) AS TEXT) FROM audit_log WHERE action = 'stock_adjusted'`)[0]; n != "5" {
			h.t.Errorf("%s entries", n) // two of PUT, three of adjustments
		}
		h.wantBalanced()
	})
}

// A threshold raised above the level raises the alarm.
func TestStock_raised_threshold(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10})
		id := h.read(`SELECT CAST(id AS TEXT) FROM stock_item`)[0]
		for _, lowAt := range []string{"9", "12", "15", "null"} {
			h.ask("one", "PUT", "/api/stock/items/"+id, `{"name":"Rice","lowAt":`+lowAt+`}`).wantOK(200, "")
		}
		low := h.read(`SELECT payload FROM event_log WHERE event_type = 'inventory.low'`)
		if len(low) != 1 || !strings.Contains(low[0], `"threshold":12`) || !strings.Contains(low[0], `"available":10`) {
			h.t.Errorf("the alarms: %v", low)
		}
	})
}

// Items of a branch can be filtered and paged.
func TestStock_list(t *testing.T) {
	each(t, func(h *fixture) {
		for i, it := range []struct{ sku, name, low string }{
			{"beer", "Bia Hà Nội", "5"}, {"rice_st25", "Gạo ST25", "null"}, {"rice-ir", "100% rice!", "0"}, {"tea", "Trà", "7"},
		} {
			body := `{"branchId":"1","itemId":%q,"name":%q,"lowAt":%s}`
			id := h.ask("one", "POST", "/api/stock/items", fmt.Sprintf(body, it.sku, it.name, it.low)).wantOK(201, "id")
			if i > 0 {
				h.ask("one", "POST", "/api/stock/items/"+id+"/adjustments", fmt.Sprintf(`{"kind":"COUNT","quantity":%d}`, i)).wantOK(201, "")
			}
		}
		h.put("/inventory/rice", `{"branchId":"2","available":1}`).wantOK(200, "")
		for query, want := range map[string]string{
			"":                     "4: beer rice-ir rice_st25 tea",
			"&size=2&page=2":       "4: rice_st25 tea",
			"&q=RICE":              "2: rice-ir rice_st25",
			"&q=e_s":               "1: rice_st25", // no pattern
			"&q=100%25":            "1: rice-ir",
			"&q=e!":                "1: rice-ir",
			"&low=true":            "2: beer tea",
			"&low=true&q=r%C3%A0x": "0:",
		} {
			page := h.ask("one", "GET", "/api/stock/items?branchId=1"+query, "")
			got := page.wantOK(200, "total") + ":"
			for _, it := range page.list() {
				got += " " + it["itemId"].(string)
			}
			if got != want {
				h.t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
	})
}

// Reservations are listed by status, the most recently changed first.
func TestStock_reservations(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10})
		pass := func() { h.ahead.Add(int64(time.Second)) }
		for _, id := range []string{"held", "sold", "back", "gone", "late"} {
			h.try(id, "rice", 1).wantOK(201, "")
			pass()
		}
		h.try("none", "rice", 100).wantRefused(409, "insufficient_stock")
		for _, s := range [][2]string{{"sold", "confirm"}, {"back", "confirm"}, {"back", "return"}, {"gone", "cancel"}, {"never", "cancel"}} {
			pass()
			h.end(s[0], s[1]).wantOK(200, "")
		}
		h.change(`UPDATE hold SET expires_at = 0 WHERE id = 'x-late'`)
		pass()
		testenv.NoError(h.t, h.stores.ExpireOverdue(h.t.Context()))
		for query, want := range map[string]string{
			"":                  "6: late=EXPIRED gone=CANCELLED back=RETURNED sold=CONFIRMED none=REFUSED held=RESERVED",
			"&size=1&page=5":    "6: none=REFUSED",
			"&status=RESERVED":  "1: held=RESERVED",
			"&status=CONFIRMED": "1: sold=CONFIRMED",
			"&status=CANCELLED": "1: gone=CANCELLED",
			"&status=EXPIRED":   "1: late=EXPIRED",
			"&status=REFUSED":   "1: none=REFUSED",
			"&status=RETURNED":  "1: back=RETURNED",
		} {
			page := h.ask("one", "GET", "/api/stock/reservations?branchId=1"+query, "")
			got := page.wantOK(200, "total") + ":"
			for _, r := range page.list() {
				got += fmt.Sprintf(" %s=%s", r["orderId"], r["status"])
			}
			if got != want {
				h.t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
	})
}

// Staff replace the recipe of a dish as a whole.
func TestStock_recipes(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10, "beer": 2})
		const path = "/api/menu-items/101/recipe"
		h.ask("one", "GET", path, "").wantJSON(200, `{"lines":[]}`)
		two := `{"lines":[{"itemId":"beer","quantity":1},{"itemId":"rice","quantity":3}]}`
		for range 2 { // the second call changes nothing
			h.ask("one", "PUT", path, `{"lines":[{"itemId":"rice","quantity":3},{"itemId":"beer","quantity":1}]}`).wantJSON(200, two)
		}
		h.ask("one", "PUT", path, `{"lines":[{"itemId":"rice","quantity":2},{"itemId":"tea","quantity":1}]}`).wantRefused(404, "item_not_found")
		h.ask("one", "GET", path, "").wantJSON(200, two)
		h.ask("one", "PUT", path, `{"lines":[]}`).wantJSON(200, `{"lines":[]}`)
		if n := len(h.read(`SELECT action FROM audit_log WHERE action = 'recipe_edited' AND subject = 'menuItem:101'`)); n != 2 {
			h.t.Errorf("%d entries", n)
		}
	})
}

// An option has a recipe in each branch, which staff of the branch replace as a whole.
func TestStock_option_recipes(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10, "beer": 2})
		h.put("/inventory/tea", `{"branchId":"2","available":5}`).wantOK(200, "")
		h.change(`INSERT INTO option_group (id, kind, names, created_at, updated_at) VALUES (1, 'CHOICE', '{"en":"Extras"}', 0, 0)`)
		h.change(`INSERT INTO option_choice (id, group_id, names, sort) VALUES (5, 1, '{"en":"More rice"}', 0)`)
		h.change(`INSERT INTO option_choice (id, group_id, names, sort, retired_at) VALUES (6, 1, '{"en":"Soup"}', 0, 1)`)
		const path, other = "/api/branches/1/options/5/recipe", "/api/branches/2/options/5/recipe"
		h.ask("one", "GET", path, "").wantJSON(200, `{"lines":[]}`)
		two := `{"lines":[{"itemId":"beer","quantity":1},{"itemId":"rice","quantity":3}]}`
		for range 2 { // the second call changes nothing
			h.ask("one", "PUT", path, `{"lines":[{"itemId":"rice","quantity":3},{"itemId":"beer","quantity":1}]}`).wantJSON(200, two)
		}
		h.ask("two", "PUT", other, `{"lines":[{"itemId":"tea","quantity":1}]}`).wantJSON(200, `{"lines":[{"itemId":"tea","quantity":1}]}`)
		h.ask("one", "GET", path, "").wantJSON(200, two)
		for name, c := range map[string]struct {
			token, path, body string
			status            int
			code              string
		}{
			"a foreign branch":    {"two", path, `{"lines":[]}`, 404, "branch_not_found"},
			"no such branch":      {service, "/api/branches/99/options/5/recipe", `{"lines":[]}`, 404, "branch_not_found"},
			"no such option":      {"one", "/api/branches/1/options/99/recipe", `{"lines":[]}`, 404, "option_not_found"},
			"a retired option":    {"one", "/api/branches/1/options/6/recipe", `{"lines":[]}`, 404, "option_not_found"},
			"another branch's":    {"one", path, `{"lines":[{"itemId":"tea","quantity":1}]}`, 404, "item_not_found"},
			"one twice":           {"one", path, `{"lines":[{"itemId":"rice","quantity":1},{"itemId":"rice","quantity":2}]}`, 422, "invalid"},
			"nothing of it":       {"one", path, `{"lines":[{"itemId":"rice","quantity":0}]}`, 422, "invalid"},
			"more than a million": {"one", path, `{"lines":[{"itemId":"rice","quantity":1000001}]}`, 422, "invalid"},
			"an option by name":   {"one", "/api/branches/1/options/rice/recipe", `{"lines":[]}`, 422, "invalid"},
			"nobody":              {"", path, `{"lines":[]}`, 401, "unauthenticated"},
		} {
			h.ask(c.token, "PUT", c.path, c.body).wantRefused(c.status, c.code)
			if h.t.Failed() {
				h.t.Fatalf("in %s", name)
			}
		}
		h.ask("two", "GET", path, "").wantRefused(404, "branch_not_found")
		h.ask("one", "GET", "/api/branches/1/options/6/recipe", "").wantRefused(404, "option_not_found")
		h.ask("one", "PUT", path, `{"lines":[]}`).wantJSON(200, `{"lines":[]}`)
		h.ask("two", "GET", other, "").wantJSON(200, `{"lines":[{"itemId":"tea","quantity":1}]}`)
		if n := len(h.read(`SELECT action FROM audit_log WHERE action = 'recipe_edited' AND subject = 'option:5'`)); n != 3 {
			h.t.Errorf("%d audit entries, want 3", n)
		}
	})
}

// Staff of one branch see other branches as missing; invalid requests are refused.
func TestStock_rejects(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10})
		id := h.read(`SELECT CAST(id AS TEXT) FROM stock_item`)[0]
		h.put("/inventory/only-two", `{"branchId":"2","available":1}`).wantOK(200, "")
		eleven := strings.TrimSuffix(strings.Repeat(`{"itemId":"rice","quantity":1},`, 11), ",")
		for name, c := range map[string]struct {
			token, method, path, body string
			status                    int
			code                      string
		}{
			"foreign list":          {"two", "GET", "/api/stock/items?branchId=1", "", 404, "branch_not_found"},
			"foreign reservations":  {"two", "GET", "/api/stock/reservations?branchId=1", "", 404, "branch_not_found"},
			"foreign item":          {"two", "POST", "/api/stock/items", `{"branchId":"1","itemId":"x","name":""}`, 404, "branch_not_found"},
			"no such branch":        {service, "POST", "/api/stock/items", `{"branchId":"99","itemId":"x","name":""}`, 404, "branch_not_found"},
			"foreign edit":          {"two", "PUT", "/api/stock/items/" + id, `{"name":"x"}`, 404, "item_not_found"},
			"missing edit":          {"two", "PUT", "/api/stock/items/9999", `{"name":"x"}`, 404, "item_not_found"},
			"foreign adjustment":    {"two", "POST", "/api/stock/items/" + id + "/adjustments", `{"kind":"WASTE","quantity":1}`, 404, "item_not_found"},
			"foreign adjustments":   {"two", "GET", "/api/stock/items/" + id + "/adjustments", "", 404, "item_not_found"},
			"foreign recipe":        {"two", "GET", "/api/menu-items/101/recipe", "", 404, "menu_item_not_found"},
			"foreign recipe set":    {"two", "PUT", "/api/menu-items/101/recipe", `{"lines":[]}`, 404, "menu_item_not_found"},
			"missing recipe":        {"two", "PUT", "/api/menu-items/9999/recipe", `{"lines":[]}`, 404, "menu_item_not_found"},
			"another branch's rice": {"two", "PUT", "/api/menu-items/201/recipe", `{"lines":[{"itemId":"rice","quantity":1}]}`, 404, "item_not_found"},
			"there already":         {"one", "POST", "/api/stock/items", `{"branchId":"1","itemId":"rice","name":""}`, 409, "item_exists"},
			"an odd name":           {"one", "POST", "/api/stock/items", `{"branchId":"1","itemId":"a b","name":""}`, 422, "invalid"},
			"a long name":           {"one", "PUT", "/api/stock/items/" + id, `{"name":"` + strings.Repeat("a", 101) + `"}`, 422, "invalid"},
			"a mark below nothing":  {"one", "PUT", "/api/stock/items/" + id, `{"name":"a","lowAt":-1}`, 422, "invalid"},
			"another kind":          {"one", "POST", "/api/stock/items/" + id + "/adjustments", `{"kind":"GIFT","quantity":1}`, 422, "invalid"},
			"nothing received":      {"one", "POST", "/api/stock/items/" + id + "/adjustments", `{"kind":"RECEIVE","quantity":0}`, 422, "invalid"},
			"a long note": {"one", "POST", "/api/stock/items/" + id + "/adjustments",
				`{"kind":"RECEIVE","quantity":1,"note":"` + strings.Repeat("a", 201) + `"}`, 422, "invalid"},
			"no branch":       {"one", "GET", "/api/stock/items", "", 422, "invalid"},
			"an odd status":   {"one", "GET", "/api/stock/reservations?branchId=1&status=HELD", "", 422, "invalid"},
			"a large page":    {"one", "GET", "/api/stock/items?branchId=1&size=101", "", 422, "invalid"},
			"eleven lines":    {"one", "PUT", "/api/menu-items/101/recipe", `{"lines":[` + eleven + `]}`, 422, "invalid"},
			"one twice":       {"one", "PUT", "/api/menu-items/101/recipe", `{"lines":[` + eleven[:61] + `]}`, 422, "invalid"},
			"nothing of it":   {"one", "PUT", "/api/menu-items/101/recipe", `{"lines":[{"itemId":"rice","quantity":0}]}`, 422, "invalid"},
			"nobody":          {"", "GET", "/api/stock/items?branchId=1", "", 401, "unauthenticated"},
			"a stranger":      {"three", "GET", "/api/stock/items?branchId=1", "", 401, "unauthenticated"},
			"an item by name": {"one", "PUT", "/api/stock/items/rice", `{"name":"a"}`, 422, "invalid"},
		} {
			h.ask(c.token, c.method, c.path, c.body).wantRefused(c.status, c.code)
			if h.t.Failed() {
				h.t.Fatalf("in %s", name)
			}
		}
		h.wantLevel("rice", 10, 0, 0)
		testenv.Equal(h.t, "2", h.read(`SELECT CAST(count(*) AS TEXT) FROM audit_log`)[0])
	})
}
