package stockhttp_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// The level is set and read exactly. Setting it creates the item.
func TestInventory_level(t *testing.T) {
	each(t, func(h *fixture) {
		h.get("/inventory/rice?branchId=1").wantRefused(404, "item_not_found")
		h.put("/inventory/rice", `{"branchId":"1","available":10}`).wantJSON(200,
			`{"itemId":"rice","branchId":"1","available":10,"reserved":0,"sold":0}`)
		h.put("/inventory/rice", `{"branchId":"2","available":3}`).wantOK(200, "")
		h.put("/inventory/none-yet", `{"branchId":"1","available":0}`).wantOK(200, "")
		h.try("o1", "rice", 4).wantOK(201, "")
		h.end("o1", "confirm").wantOK(200, "")
		h.try("o2", "rice", 1).wantOK(201, "")
		h.wantLevel("rice", 5, 1, 4)
		h.put("/inventory/rice", `{"branchId":"1","available":7}`).wantJSON(200,
			`{"itemId":"rice","branchId":"1","available":7,"reserved":1,"sold":4}`)
		h.wantLevel("rice", 7, 1, 4)
		h.ask("two", "GET", "/inventory/rice", "").wantJSON(200, // the only branch that they see
			`{"itemId":"rice","branchId":"2","available":3,"reserved":0,"sold":0}`)
		h.get("/inventory/rice").wantRefused(422, "invalid")
		h.ask("both", "GET", "/inventory/rice", "").wantRefused(422, "invalid")
		actions := h.read(`SELECT action || ' ' || subject FROM audit_log WHERE branch_id = 1 ORDER BY seq`)
		want := []string{
			"stock_adjusted stockItem:rice", "stock_item_edited stockItem:none-yet", "stock_adjusted stockItem:rice",
		}
		testenv.Equal(h.t, want, actions)
		h.wantBalanced()
	})
}

// Try, Confirm, Cancel and Return, each sent twice.
func TestInventory_lifecycle(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10, "beer": 2})
		body := `{"orderId":"O-1.a_b","branchId":"1","items":[{"itemId":"rice","quantity":3},{"itemId":"beer","quantity":1},` +
			`{"itemId":"rice","quantity":1}],"ttlSeconds":60}`
		first := h.post("/inventory/reservations", body)
		expires := first.wantOK(201, "expiresAt")
		until, err := time.Parse(time.RFC3339, expires)
		if left := until.Sub(h.now()); err != nil || left < 50*time.Second || left > time.Minute {
			h.t.Errorf("expires in %v, %v", left, err)
		}
		reservation := func(status string) string {
			return fmt.Sprintf(`{"orderId":"O-1.a_b","branchId":"1","status":%q,"expiresAt":%q,"items":[`+
				`{"itemId":"beer","quantity":1},{"itemId":"rice","quantity":4}]}`, status, expires)
		}
		sorted := func(a answer) answer { // items are in the order of creation
			if items := a.list(); items[0]["itemId"] == "rice" {
				a.body["items"] = []any{items[1], items[0]}
			}
			return a
		}
		sorted(first).wantJSON(201, reservation("RESERVED"))
		sorted(h.post("/inventory/reservations", body)).wantJSON(200, reservation("RESERVED"))
		sorted(h.get("/inventory/reservations/O-1.a_b")).wantJSON(200, reservation("RESERVED"))
		h.wantLevel("rice", 6, 4, 0)
		h.wantLevel("beer", 1, 1, 0)
		h.end("O-1.a_b", "return").wantRefused(409, "not_confirmed")
		for range 2 {
			h.end("O-1.a_b", "confirm").wantJSON(200, `{"orderId":"O-1.a_b","status":"CONFIRMED"}`)
		}
		h.wantLevel("rice", 6, 0, 4)
		sorted(h.post("/inventory/reservations", body)).wantJSON(200, reservation("CONFIRMED"))
		h.end("O-1.a_b", "cancel").wantRefused(409, "already_confirmed")
		for range 2 {
			h.end("O-1.a_b", "return").wantJSON(200, `{"orderId":"O-1.a_b","status":"RETURNED"}`)
		}
		h.wantLevel("rice", 10, 0, 0)
		h.wantLevel("beer", 2, 0, 0)
		for _, how := range []string{"confirm", "cancel"} {
			h.end("O-1.a_b", how).wantRefused(409, "terminal")
		}
		h.post("/inventory/reservations", body).wantRefused(409, "terminal")

		h.try("o2", "beer", 2).wantOK(201, "")
		for range 2 {
			h.end("o2", "cancel").wantJSON(200, `{"orderId":"o2","status":"CANCELLED"}`)
		}
		h.wantLevel("beer", 2, 0, 0)
		h.try("o2", "beer", 2).wantRefused(409, "terminal")
		h.end("o2", "confirm").wantRefused(409, "terminal")
		h.end("o2", "return").wantRefused(409, "terminal")
		h.wantBalanced()
	})
}

// A reservation that exceeds the stock takes nothing, and its id is still refused when there is enough again (I12).
func TestInventory_refused_stays_refused(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10, "beer": 2})
		short := h.try("o1", "rice", 3, "beer", 3).wantRefused(409, "insufficient_stock")
		testenv.Equal[any](h.t, []any{map[string]any{"itemId": "beer", "requested": 3.0, "available": 2.0}}, short.body["lines"])
		h.wantLevel("rice", 10, 0, 0)
		h.wantLevel("beer", 2, 0, 0)
		h.setStock(map[string]int{"beer": 50})
		h.try("o1", "rice", 3, "beer", 3).wantRefused(409, "insufficient_stock")
		h.end("o1", "confirm").wantRefused(409, "terminal")
		h.end("o1", "cancel").wantJSON(200, `{"orderId":"o1","status":"REFUSED"}`)
		h.get("/inventory/reservations/o1").wantJSON(200,
			`{"orderId":"o1","branchId":"1","status":"REFUSED","items":[],"expiresAt":null}`)
		h.try("o2", "rice", 3, "beer", 3).wantOK(201, "")
		h.wantLevel("beer", 47, 3, 0)
		h.wantBalanced()
	})
}

// A Cancel that arrives before its Try causes the Try to be refused.
func TestInventory_cancel_before_try(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10})
		for range 2 {
			h.end("o1", "cancel").wantJSON(200, `{"orderId":"o1","status":"CANCELLED"}`)
		}
		h.try("o1", "rice", 1).wantRefused(409, "terminal")
		h.get("/inventory/reservations/o1").wantJSON(200,
			`{"orderId":"o1","branchId":null,"status":"CANCELLED","items":[],"expiresAt":null}`)
		h.end("o2", "confirm").wantRefused(404, "reservation_not_found")
		h.end("o2", "return").wantRefused(404, "reservation_not_found")
		h.get("/inventory/reservations/o2").wantRefused(404, "reservation_not_found")
		h.wantLevel("rice", 10, 0, 0)
	})
}

// The deadline releases everything, not earlier and only once.
func TestInventory_expires(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10})
		h.post("/inventory/reservations",
			`{"orderId":"short","branchId":"1","items":[{"itemId":"rice","quantity":2}],"ttlSeconds":5}`).wantOK(201, "")
		h.try("usual", "rice", 3).wantOK(201, "")
		pass := func(d time.Duration) {
			h.t.Helper()
			h.ahead.Add(int64(d))
			testenv.NoError(h.t, h.stores.ExpireOverdue(h.t.Context()))
		}
		pass(0)
		h.wantLevel("rice", 5, 5, 0)
		pass(6 * time.Second)
		h.wantLevel("rice", 7, 3, 0)
		h.end("short", "confirm").wantRefused(409, "terminal")
		h.end("short", "cancel").wantJSON(200, `{"orderId":"short","status":"EXPIRED"}`)
		h.try("short", "rice", 2).wantRefused(409, "terminal")
		pass(5 * time.Minute)
		h.wantLevel("rice", 10, 0, 0)
		testenv.Equal(h.t, "EXPIRED", h.get("/inventory/reservations/usual").wantOK(200, "status"))
		h.wantBalanced()
	})
}

// An id identifies one reservation: the same id with other content is refused and changes nothing.
func TestInventory_same_id(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10, "beer": 5})
		h.put("/inventory/rice", `{"branchId":"2","available":10}`).wantOK(200, "")
		h.try("o1", "rice", 2).wantOK(201, "")
		h.try("o1", "rice", 3).wantRefused(422, "idempotency_mismatch")
		h.try("o1", "rice", 2, "beer", 1).wantRefused(422, "idempotency_mismatch")
		h.post("/inventory/reservations",
			`{"orderId":"o1","branchId":"2","items":[{"itemId":"rice","quantity":2}]}`).wantRefused(422, "idempotency_mismatch")
		h.post("/inventory/reservations", // the TTL is not part of the content
			`{"orderId":"o1","branchId":"1","items":[{"itemId":"rice","quantity":1},{"itemId":"rice","quantity":1}],"ttlSeconds":9}`).wantOK(200, "")
		h.wantLevel("rice", 8, 2, 0)
		h.wantLevel("beer", 5, 0, 0)
		var made, same atomic.Int64
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				switch a := h.try("at-once", "beer", 1); a.status {
				case http.StatusCreated:
					made.Add(1)
				case http.StatusOK:
					same.Add(1)
				default:
					h.t.Errorf("reservation: status %d with body %v, want 200 or 201", a.status, a.body)
				}
			})
		}
		wg.Wait()
		if made.Load() != 1 || same.Load() != 19 {
			h.t.Errorf("%d received 201 and %d received 200", made.Load(), same.Load())
		}
		h.wantLevel("beer", 4, 1, 0)
	})
}

// Concurrent reservations of many systems take exactly the available units.
func TestInventory_storm(t *testing.T) {
	each(t, func(h *fixture) {
		const units, many = 40, 100
		h.setStock(map[string]int{"rice": units})
		var won atomic.Int64
		var wg sync.WaitGroup
		for i := range many {
			wg.Go(func() {
				if h.try(fmt.Sprint("o", i), "rice", 1).status == http.StatusCreated {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		testenv.Equal(h.t, units, won.Load())
		h.wantLevel("rice", 0, units, 0)
		h.wantBalanced()
	})
}

// Staff of one branch see other branches as missing.
func TestInventory_other_branch(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10})
		h.try("o1", "rice", 2).wantOK(201, "")
		h.try("sold", "rice", 1).wantOK(201, "")
		h.end("sold", "confirm").wantOK(200, "")
		before := h.read(`SELECT state FROM hold ORDER BY id`)
		try := `{"orderId":"%s","branchId":"1","items":[{"itemId":"%s","quantity":1}]}`
		for _, c := range []struct {
			method, path, body string
			none, noneBody     string
		}{
			{"GET", "/inventory/rice?branchId=1", "", "/inventory/none?branchId=2", ""},
			{"PUT", "/inventory/rice", `{"branchId":"1","available":5}`, "/inventory/rice", `{"branchId":"99","available":5}`},
			{"POST", "/inventory/reservations", fmt.Sprintf(try, "o9", "rice"), "/inventory/reservations",
				strings.Replace(fmt.Sprintf(try, "o9", "rice"), `"1"`, `"99"`, 1)},
			{"GET", "/inventory/reservations/o1", "", "/inventory/reservations/o9", ""},
			{"POST", "/inventory/reservations/o1/confirm", "", "/inventory/reservations/o9/confirm", ""},
			{"POST", "/inventory/reservations/o1/cancel", "", "/inventory/reservations/o9/cancel", ""},
			{"POST", "/inventory/reservations/sold/confirm", "", "/inventory/reservations/o9/confirm", ""},
			{"POST", "/inventory/reservations/sold/return", "", "/inventory/reservations/o9/return", ""},
		} {
			otherBranch, none := h.ask("two", c.method, c.path, c.body), h.ask("two", c.method, c.none, c.noneBody)
			for _, a := range []answer{otherBranch, none} {
				delete(a.body, "requestId")
			}
			if d := cmp.Diff(none.body, otherBranch.body); d != "" || otherBranch.status != 404 {
				h.t.Errorf("%s: %d, and of what is missing %d:\n%s", otherBranch.what, otherBranch.status, none.status, d)
			}
			h.ask("", c.method, c.path, c.body).wantRefused(401, "unauthenticated")
		}
		if got := h.ask("two", "GET", "/inventory?branchId=1&itemId=rice", "").list(); len(got) != 0 {
			h.t.Errorf("levels of another branch = %v, want none", got)
		}
		testenv.Equal(h.t, before, h.read(`SELECT state FROM hold ORDER BY id`))
		h.wantLevel("rice", 7, 2, 1)
		h.ask("one", "POST", "/inventory/reservations/o1/confirm", "").wantOK(200, "")
	})
}

// An invalid request is refused with a code and changes nothing.
func TestInventory_bad_input(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10})
		try := func(id, items string) string {
			return fmt.Sprintf(`{"orderId":%q,"branchId":"1","items":[%s]}`, id, items)
		}
		const one = `{"itemId":"rice","quantity":1}`
		for name, c := range map[string]struct {
			method, path, body string
			status             int
			code               string
		}{
			"no item":              {"POST", "/inventory/reservations", try("o", ""), 422, "invalid"},
			"51 items":             {"POST", "/inventory/reservations", try("o", one+strings.Repeat(","+one, 50)), 422, "invalid"},
			"none of it":           {"POST", "/inventory/reservations", try("o", `{"itemId":"rice","quantity":0}`), 422, "invalid"},
			"fewer than none":      {"POST", "/inventory/reservations", try("o", `{"itemId":"rice","quantity":-5}`), 422, "invalid"},
			"a part":               {"POST", "/inventory/reservations", try("o", `{"itemId":"rice","quantity":1.5}`), 422, "invalid"},
			"a million and one":    {"POST", "/inventory/reservations", try("o", `{"itemId":"rice","quantity":1000001}`), 422, "invalid"},
			"a text as number":     {"POST", "/inventory/reservations", try("o", `{"itemId":"rice","quantity":"1"}`), 422, "invalid"},
			"no quantity":          {"POST", "/inventory/reservations", try("o", `{"itemId":"rice"}`), 422, "invalid"},
			"a price":              {"POST", "/inventory/reservations", try("o", `{"itemId":"rice","quantity":1,"price":1}`), 422, "invalid"},
			"no id":                {"POST", "/inventory/reservations", try("", one), 422, "invalid"},
			"an id with a brace":   {"POST", "/inventory/reservations", try("{b1}", one), 422, "invalid"},
			"an id with a space":   {"POST", "/inventory/reservations", try("a b", one), 422, "invalid"},
			"a long id":            {"POST", "/inventory/reservations", try(strings.Repeat("a", 65), one), 422, "invalid"},
			"no branch":            {"POST", "/inventory/reservations", `{"orderId":"o","items":[` + one + `]}`, 422, "invalid"},
			"a branch of no name":  {"POST", "/inventory/reservations", `{"orderId":"o","branchId":"x","items":[` + one + `]}`, 422, "invalid"},
			"no time":              {"POST", "/inventory/reservations", `{"orderId":"o","branchId":"1","items":[` + one + `],"ttlSeconds":0}`, 422, "invalid"},
			"more than a day":      {"POST", "/inventory/reservations", `{"orderId":"o","branchId":"1","items":[` + one + `],"ttlSeconds":86401}`, 422, "invalid"},
			"no JSON":              {"POST", "/inventory/reservations", `{`, 400, "invalid_json"},
			"an unknown item":      {"POST", "/inventory/reservations", try("o", `{"itemId":"tea","quantity":1}`), 404, "item_not_found"},
			"an odd item":          {"POST", "/inventory/reservations", try("o", `{"itemId":"a:b","quantity":1}`), 422, "invalid"},
			"an odd reservation":   {"POST", "/inventory/reservations/a:b/confirm", "", 422, "invalid"},
			"a long reservation":   {"POST", "/inventory/reservations/" + strings.Repeat("a", 65) + "/cancel", "", 422, "invalid"},
			"an odd look":          {"GET", "/inventory/reservations/a%20b", "", 422, "invalid"},
			"less than nothing":    {"PUT", "/inventory/rice", `{"branchId":"1","available":-1}`, 422, "invalid"},
			"more than there is":   {"PUT", "/inventory/rice", `{"branchId":"1","available":1000000001}`, 422, "invalid"},
			"an odd name":          {"PUT", "/inventory/ri%7Bce", `{"branchId":"1","available":1}`, 422, "invalid"},
			"no such branch":       {"PUT", "/inventory/rice", `{"branchId":"99","available":1}`, 404, "item_not_found"},
			"reserved is computed": {"PUT", "/inventory/rice", `{"branchId":"1","available":1,"reserved":1}`, 422, "invalid"},
			"an odd branch":        {"GET", "/inventory/rice?branchId=x", "", 422, "invalid"},
			"nothing to look at":   {"GET", "/inventory?branchId=1", "", 422, "invalid"},
			"101 to look at":       {"GET", "/inventory?branchId=1" + strings.Repeat("&itemId=rice", 101), "", 422, "invalid"},
			"a brace to look at":   {"GET", "/inventory?branchId=1&itemId=%7Bb1%7D", "", 422, "invalid"},
		} {
			h.ask(service, c.method, c.path, c.body).wantRefused(c.status, c.code)
			if h.t.Failed() {
				h.t.Logf("in %s", name)
			}
		}
		testenv.Equal(h.t, 0, len(h.read(`SELECT id FROM hold`)))
		h.wantLevel("rice", 10, 0, 0)
	})
}

// Snapshots are at most a minute old and read from the cache; without Redis they are read from SQL.
func TestInventory_snapshots(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10, "beer": 2})
		const path = "/inventory?branchId=1&itemId=beer&itemId=none&itemId=rice&itemId=beer"
		shown := func() map[string]any {
			h.t.Helper()
			all := map[string]any{}
			for _, it := range h.get(path).list() {
				all[it["itemId"].(string)] = it["available"]
				at, err := time.Parse(time.RFC3339, it["lastUpdate"].(string))
				if age := h.now().Sub(at); err != nil || age < 0 || age > time.Minute {
					h.t.Errorf("%v old, %v", age, err)
				}
			}
			return all
		}
		wants := func(what string, rice, beer float64) {
			h.t.Helper()
			if d := cmp.Diff(map[string]any{"rice": rice, "beer": beer}, shown()); d != "" {
				h.t.Errorf("%s, levels (-want +got):\n%s", what, d)
			}
		}
		if first := h.get(path).list(); len(first) != 2 || first[0]["itemId"] != "beer" {
			h.t.Errorf("levels = %v, want beer before rice", first)
		}
		h.try("o1", "rice", 4).wantOK(201, "")
		wants("kept", 10, 2)
		h.ahead.Add(int64(61 * time.Second))
		wants("a minute later", 6, 2)
		h.try("o2", "beer", 1).wantOK(201, "")
		testenv.NoError(h.t, h.window.FlushReads(h.t.Context()))
		h.ahead.Add(int64(time.Second)) // the cached snapshot is newer than the rank
		testenv.NoError(h.t, h.window.Warm(h.t.Context()))
		wants("warmed", 6, 1)
		testenv.Equal(h.t, []string{"6", "3"}, h.read(`SELECT CAST(score AS TEXT) FROM stock_rank ORDER BY score DESC`))
	})
}

// Items that are no longer read lose half of their rank per half-life.
func TestInventory_rank_decays(t *testing.T) {
	each(t, func(h *fixture) {
		h.setStock(map[string]int{"rice": 10, "beer": 2})
		for range 5 {
			h.get("/inventory?branchId=1&itemId=rice").wantOK(200, "")
		}
		for i, want := range [][]string{{"5"}, {"5"}, {"2"}, {"2"}, {"1"}, {"1"}, nil} { // every half of an hour
			testenv.NoError(h.t, h.window.FlushReads(h.t.Context()))
			if d := cmp.Diff(want, h.read(`SELECT CAST(score AS TEXT) FROM stock_rank`)); d != "" {
				h.t.Errorf("after %d halves (-want +got):\n%s", i, d)
			}
			h.ahead.Add(int64(30*time.Minute + time.Second))
		}
	})
}

func TestInventory_without_redis(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		redis, server := redisdbtest.Real(t)
		h := open(t, db, redis)
		h.setStock(map[string]int{"rice": 10})
		server.Kill()
		h.try("o1", "rice", 4).wantOK(201, "")
		h.try("o2", "rice", 7).wantRefused(409, "insufficient_stock")
		h.end("o1", "confirm").wantOK(200, "")
		h.get("/inventory/rice?branchId=1").wantJSON(200, `{"itemId":"rice","branchId":"1","available":6,"reserved":0,"sold":4}`)
		for range 2 {
			if got := h.get("/inventory?branchId=1&itemId=rice").list(); len(got) != 1 || got[0]["available"] != 6.0 {
				t.Errorf("levels = %v, want 6 of rice", got)
			}
		}
		h.wantBalanced()
	})
}
