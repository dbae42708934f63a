package carthttp_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/cart"
	"comanda/internal/cart/carthttp"
	"comanda/internal/cart/carttest"
	"comanda/internal/httpapi"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a server with the cart routes of members 7 and 8.
type site struct {
	*carttest.Fixture

	server *httpapi.Server
}

func each(t *testing.T, test func(t *testing.T, s *site)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		quotas := []int64{20, stock.Unlimited}
		for len(quotas) <= cart.MaxLines {
			quotas = append(quotas, stock.Unlimited)
		}
		s := &site{Fixture: carttest.Open(t, db, quotas...)}
		s.Member(t, 7)
		s.Member(t, 8)
		s.Left.Set(101, 3)
		server := testenv.Must(httpapi.New(httpapi.Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
		carthttp.Register(server.API(), s.Carts)
		server.SetAuthenticator(authzhttp.Authenticator{Tokens: accounttest.ByID{}, Routes: accounttest.ByID{}})
		s.server = server
		test(t, s)
	})
}

// answer is a decoded response; JSON numbers are float64.
type answer struct {
	status int
	body   map[string]any
}

func (s *site) ask(t *testing.T, user, method, path, body string, headers ...string) answer {
	t.Helper()
	if user != "" {
		headers = append(headers, "Authorization", "Bearer "+user)
	}
	w := testenv.Serve(t, s.server, method, path, body, headers...)
	a := answer{status: w.Code}
	if err := json.Unmarshal(w.Body.Bytes(), &a.body); err != nil {
		t.Fatalf("%s %s: status %d with body %s, want JSON", method, path, w.Code, w.Body)
	}
	delete(a.body, "$schema")
	return a
}

// want fails the test unless the answer has the status and, of a refusal, the code.
func (a answer) want(t *testing.T, status int, code string) answer {
	t.Helper()
	if got, _ := a.body["code"].(string); a.status != status || got != code {
		t.Fatalf("%d %v, want %d %s", a.status, a.body, status, code)
	}
	return a
}

// items returns the items of a cart.
func (a answer) items(t *testing.T) (all []map[string]any) {
	t.Helper()
	list, ok := a.body["items"].([]any)
	if !ok {
		t.Fatalf("no items: %v", a.body)
	}
	for _, it := range list {
		all = append(all, it.(map[string]any))
	}
	return all
}

func put(dish, quantity int) string {
	return fmt.Sprintf(`{"dishId":"%d","quantity":%d}`, dish, quantity)
}

// The responses have the documented shapes: 201 with the line, and the whole cart otherwise.
func TestCart_story(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		empty := map[string]any{
			"id": nil, "branchId": "1", "menuVersionId": "1", "currency": "VND", "items": []any{}, "totalPrice": 0.0, "version": 0.0,
		}
		testenv.Equal(t, empty, s.ask(t, "7", "GET", "/cart", "").want(t, 200, "").body)
		first := s.ask(t, "7", "POST", "/cart/add-dish", put(101, 2)).want(t, 201, "")
		detail := map[string]any{
			"id": first.body["id"], "cartId": first.body["cartId"], "dishId": "101", "itemId": "101", "name": "Dish", "imageUrl": nil,
			"quantity": 2.0, "price": 1000.0, "total": 2000.0, "previousPrice": 1000.0, "priceChanged": false, "remaining": 3.0,
			"isSoldOut": false, "isAvailable": true,
		}
		testenv.Equal(t, detail, first.body)
		again := s.ask(t, "7", "POST", "/cart/add-dish", put(101, 2)).want(t, 201, "")
		if again.body["id"] != first.body["id"] || again.body["quantity"] != 4.0 || again.body["isSoldOut"] != true {
			t.Errorf("the same dish again: %v", again.body)
		}
		other := s.ask(t, "7", "POST", "/cart/add-dish", put(102, 1)).want(t, 201, "")
		if other.body["remaining"] != nil || other.body["cartId"] != first.body["cartId"] {
			t.Errorf("second dish = %v, want unlimited units in the same cart", other.body)
		}
		line := "/cart/items/" + first.body["id"].(string)
		if got := s.ask(t, "7", "PATCH", line, `{"quantity":1}`).want(t, 200, ""); got.body["total"] != 1000.0 {
			t.Errorf("PATCH = %v, want total 1000", got.body)
		}
		cart := s.ask(t, "7", "GET", "/cart", "").want(t, 200, "")
		if cart.body["id"] != first.body["cartId"] || cart.body["totalPrice"] != 2000.0 || len(cart.items(t)) != 2 || cart.body["version"] != 4.0 {
			t.Errorf("cart = %v, want two lines for 2000, version 4", cart.body)
		}
		if left := s.ask(t, "7", "DELETE", line, "").want(t, 200, "").items(t); len(left) != 1 || left[0]["dishId"] != "102" {
			t.Errorf("cart after DELETE = %v, want only dish 102", left)
		}
		gone := s.ask(t, "7", "DELETE", "/cart", "").want(t, 200, "")
		if len(gone.items(t)) != 0 || gone.body["totalPrice"] != 0.0 || gone.body["id"] != cart.body["id"] {
			t.Errorf("emptied cart = %v, want the same cart without lines", gone.body)
		}
	})
}

// TestCart_of_a_kind checks that a cart of a branch with menus for delivery and for pick-up shows the prices and the units of
// the chosen kind of order, and those of the first menu with units left without one.
func TestCart_of_a_kind(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		pickUp := s.SplitMenus(t, 900, 5, 101)
		for _, dish := range []int{101, 102} {
			s.ask(t, "7", "POST", "/cart/add-dish", put(dish, 2)).want(t, 201, "")
		}
		type line struct {
			item, price, remaining, soldOut, available any
		}
		lineOf := func(it map[string]any) line {
			return line{it["itemId"], it["price"], it["remaining"], it["isSoldOut"], it["isAvailable"]}
		}
		collected, onlyDelivered := strconv.FormatInt(pickUp[0], 10), line{"102", 1000.0, nil, false, false}
		want := func(query string, total float64, lines ...line) (ids []string) {
			t.Helper()
			cart := s.ask(t, "7", "GET", "/cart"+query, "").want(t, 200, "")
			var got []line
			for _, it := range cart.items(t) {
				got, ids = append(got, lineOf(it)), append(ids, it["id"].(string))
			}
			if d := cmp.Diff(lines, got, cmp.AllowUnexported(line{})); d != "" || cart.body["totalPrice"] != total {
				t.Errorf("GET /cart%s: total %v, want %v; lines (-want +got):\n%s", query, cart.body["totalPrice"], total, d)
			}
			return ids
		}
		level := func(item, left int64) {
			s.Left.Set(item, left)
			s.SetOpen(t, 1, true) // advances the clock
		}

		level(101, 0)
		delivered := line{"101", 1000.0, 0.0, true, true}
		plain := line{"102", 1000.0, nil, false, true}
		ids := want("", 3800, line{collected, 900.0, 5.0, false, true}, plain)
		want("?kind=DELIVERY", 4000, delivered, plain)
		want("?kind=PICKUP&branchId=1", 1800, line{collected, 900.0, 5.0, false, true}, onlyDelivered)
		level(pickUp[0], 0)
		want("", 4000, delivered, plain)
		level(101, 3)
		level(pickUp[0], 1)
		delivered = line{"101", 1000.0, 3.0, false, true}
		want("", 4000, delivered, plain)
		want("?kind=DELIVERY", 4000, delivered, plain)
		want("?kind=PICKUP", 1800, line{collected, 900.0, 1.0, true, true}, onlyDelivered)
		s.ask(t, "7", "GET", "/cart?kind=DINE_IN", "").want(t, 422, "invalid")

		// The responses to changes show the kind, too.
		path := "/cart/items/" + ids[0]
		if got := lineOf(s.ask(t, "7", "PATCH", path, `{"quantity":1}`).want(t, 200, "").body); got != delivered {
			t.Errorf("PATCH without a kind: %+v, want %+v", got, delivered)
		}
		collectable := line{collected, 900.0, 1.0, false, true}
		if got := lineOf(s.ask(t, "7", "PATCH", path+"?kind=PICKUP", `{"quantity":1}`).want(t, 200, "").body); got != collectable {
			t.Errorf("PATCH for pick-up: %+v, want %+v", got, collectable)
		}
		left := s.ask(t, "7", "DELETE", "/cart/items/"+ids[1]+"?kind=PICKUP", "").want(t, 200, "")
		if got := lineOf(left.items(t)[0]); got != collectable || left.body["totalPrice"] != 900.0 {
			t.Errorf("DELETE for pick-up: %+v for %v, want %+v for 900", got, left.body["totalPrice"], collectable)
		}
	})
}

// A cart is priced at each read and shows later changes of the menu.
func TestCart_changes_meanwhile(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for _, dish := range []int{101, 102, 103} {
			s.ask(t, "7", "POST", "/cart/add-dish", put(dish, 2)).want(t, 201, "")
		}
		s.Reprice(t, 102, 1500)
		s.Drop(t, 103)
		s.Left.Set(101, 1)
		s.SetOpen(t, 1, true) // advances the clock
		cart := s.ask(t, "7", "GET", "/cart", "").want(t, 200, "")
		type flags struct {
			item, name, price, oldPrice, total, remaining any
			changed, soldOut, available                   any
		}
		want := []flags{
			{"101", "Dish", 1000.0, 1000.0, 2000.0, 1.0, false, true, true},
			{"102", "Dish", 1500.0, 1000.0, 3000.0, nil, true, false, true},
			{nil, "Dish", 0.0, 1000.0, 0.0, nil, false, false, false},
		}
		var got []flags
		for _, it := range cart.items(t) {
			got = append(got, flags{
				it["itemId"], it["name"], it["price"], it["previousPrice"], it["total"], it["remaining"], it["priceChanged"], it["isSoldOut"],
				it["isAvailable"],
			})
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(flags{})); diff != "" || cart.body["totalPrice"] != 5000.0 {
			t.Error(cart.body["totalPrice"], diff)
		}
		s.ask(t, "7", "POST", "/cart/add-dish", put(103, 1)).want(t, 404, "dish_not_found")
		seen := s.ask(t, "7", "POST", "/cart/add-dish", put(102, 1)).want(t, 201, "")
		if seen.body["priceChanged"] != false || seen.body["previousPrice"] != 1500.0 {
			t.Errorf("the price is still marked as changed: %v", seen.body)
		}
		s.ask(t, "7", "DELETE", "/cart/items/"+cart.items(t)[2]["id"].(string), "").want(t, 200, "")
	})
}

// A cart belongs to one branch and can be priced by another's menu.
func TestCart_branches(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		orderingtest.Open(t, s.DB, 2, stock.Unlimited)
		s.ask(t, "7", "POST", "/cart/add-dish", put(102, 2)).want(t, 201, "")
		inSecond := s.ask(t, "7", "GET", "/cart?branchId=2", "").want(t, 200, "")
		if it := inSecond.items(t)[0]; inSecond.body["branchId"] != "2" || it["isAvailable"] != false || it["name"] != "Dish" || inSecond.body["totalPrice"] != 0.0 {
			t.Errorf("cart in branch 2 = %v, want an unavailable dish and price 0", inSecond.body)
		}
		if inFirst := s.ask(t, "7", "GET", "/cart", "").want(t, 200, ""); inFirst.body["branchId"] != "1" || inFirst.body["totalPrice"] != 2000.0 {
			t.Errorf("a read changed the cart's branch: %v", inFirst.body)
		}
		s.ask(t, "7", "POST", "/cart/add-dish", put(201, 1)).want(t, 404, "dish_not_found")
		s.ask(t, "7", "POST", "/cart/add-dish", `{"dishId":"201","quantity":1,"branchId":"2"}`).want(t, 201, "")
		if moved := s.ask(t, "7", "GET", "/cart", "").want(t, 200, ""); moved.body["branchId"] != "2" || moved.body["totalPrice"] != 1000.0 {
			t.Errorf("cart = %v, want it moved to branch 2 for 1000", moved.body)
		}
		s.ask(t, "7", "GET", "/cart?branchId=99", "").want(t, 404, "branch_not_found")
		s.ask(t, "7", "POST", "/cart/add-dish", `{"dishId":"201","quantity":1,"branchId":"99"}`).want(t, 404, "branch_not_found")
	})
}

// Names are in the requested language if the branch has it.
func TestCart_languages(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.Name(t, 102, `{"vi":"Bún chả","en":"Grilled pork"}`)
		s.ask(t, "7", "POST", "/cart/add-dish", put(102, 1)).want(t, 201, "")
		for name, headers := range map[string][]string{
			"Bún chả": nil, "Grilled pork": {"Accept-Language", "ja, en-GB;q=0.8"},
		} {
			if got := s.ask(t, "7", "GET", "/cart", "", headers...).items(t)[0]["name"]; got != name {
				t.Errorf("name with %v = %v, want %s", headers, got, name)
			}
		}
		got := s.ask(t, "7", "GET", "/cart?locale=vi", "", "Accept-Language", "en").items(t)[0]["name"]
		if got != "Bún chả" {
			t.Errorf("the chosen language: %v", got)
		}
	})
}

// Refusals have a code and change nothing.
func TestCart_refuses(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		ownLine := s.ask(t, "7", "POST", "/cart/add-dish", put(101, 19)).want(t, 201, "")
		otherLine := s.ask(t, "8", "POST", "/cart/add-dish", put(101, 1)).want(t, 201, "")
		line, other := "/cart/items/"+ownLine.body["id"].(string), "/cart/items/"+otherLine.body["id"].(string)
		before := s.ask(t, "7", "GET", "/cart", "").want(t, 200, "")
		for name, c := range map[string]struct {
			method, path, body string
			status             int
			code               string
		}{
			"two more than 20":     {"POST", "/cart/add-dish", put(101, 2), 422, "invalid"},
			"21":                   {"POST", "/cart/add-dish", put(102, 21), 422, "invalid"},
			"none":                 {"POST", "/cart/add-dish", put(102, 0), 422, "invalid"},
			"a part":               {"POST", "/cart/add-dish", `{"dishId":"102","quantity":1.5}`, 422, "invalid"},
			"10^18":                {"POST", "/cart/add-dish", `{"dishId":"102","quantity":1000000000000000000}`, 422, "invalid"},
			"no quantity":          {"POST", "/cart/add-dish", `{"dishId":"102"}`, 422, "invalid"},
			"a number as id":       {"POST", "/cart/add-dish", `{"dishId":102,"quantity":1}`, 422, "invalid"},
			"a name as id":         {"POST", "/cart/add-dish", `{"dishId":"x","quantity":1}`, 422, "invalid"},
			"a price":              {"POST", "/cart/add-dish", `{"dishId":"102","quantity":1,"price":1}`, 422, "invalid"},
			"somebody":             {"POST", "/cart/add-dish", `{"dishId":"102","quantity":1,"userId":"8"}`, 422, "invalid"},
			"no JSON":              {"POST", "/cart/add-dish", `{`, 400, "invalid_json"},
			"an unknown dish":      {"POST", "/cart/add-dish", put(999, 1), 404, "dish_not_found"},
			"21 of a line":         {"PATCH", line, `{"quantity":21}`, 422, "invalid"},
			"none of a line":       {"PATCH", line, `{"quantity":0}`, 422, "invalid"},
			"another's line":       {"PATCH", other, `{"quantity":5}`, 404, "cart_item_not_found"},
			"another's line away":  {"DELETE", other, "", 404, "cart_item_not_found"},
			"no line":              {"PATCH", "/cart/items/999999", `{"quantity":5}`, 404, "cart_item_not_found"},
			"no line away":         {"DELETE", "/cart/items/999999", "", 404, "cart_item_not_found"},
			"a line without an id": {"PATCH", "/cart/items/0", `{"quantity":5}`, 422, "invalid"},
			"a branch of no name":  {"GET", "/cart?branchId=x", "", 422, "invalid"},
		} {
			t.Run(name, func(t *testing.T) {
				s.ask(t, "7", c.method, c.path, c.body).want(t, c.status, c.code)
				s.ask(t, "", c.method, c.path, c.body).want(t, 401, "unauthenticated")
			})
		}
		testenv.Equal(t, before.body, s.ask(t, "7", "GET", "/cart", "").body)
		if otherLines := s.ask(t, "8", "GET", "/cart", "").items(t); len(otherLines) != 1 || otherLines[0]["quantity"] != 1.0 {
			t.Errorf("the other's cart: %v", otherLines)
		}
	})
}

// A cart holds at most 50 dishes and 100 units, the limits of an order.
func TestCart_full(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for i := range cart.MaxLines {
			s.ask(t, "7", "POST", "/cart/add-dish", put(101+i, 2)).want(t, 201, "")
		}
		s.ask(t, "7", "POST", "/cart/add-dish", put(101, 1)).want(t, 409, "cart_full")
		first := s.ask(t, "7", "GET", "/cart", "").items(t)[0]["id"].(string)
		s.ask(t, "7", "PATCH", "/cart/items/"+first, `{"quantity":1}`).want(t, 200, "")
		s.ask(t, "7", "POST", "/cart/add-dish", put(101+cart.MaxLines, 1)).want(t, 409, "cart_full")
		if v := s.Get(t, authz.Actor{UserID: 7}); len(v.Items) != cart.MaxLines || v.Items[0].Quantity != 1 {
			t.Errorf("%d lines, %d of the first", len(v.Items), v.Items[0].Quantity)
		}
	})
}
