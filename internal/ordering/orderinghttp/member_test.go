package orderinghttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/account/accounttest"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/cart/carthttp"
	"comanda/internal/cart/carttest"
	"comanda/internal/httpapi"
	"comanda/internal/limit"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderinghttp"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/payment"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stockredis"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

// shop is a server process for members. It shares the admission cache in Redis with the guests' orders.
type shop struct {
	*carttest.Fixture

	syncer *stock.Syncer
	server *httpapi.Server
}

// openShop starts a shop on a fixture's stores.
func openShop(t *testing.T, h *carttest.Fixture, redis *redisdb.DB) *shop {
	t.Helper()
	s := &shop{Fixture: h}
	s.syncer = stock.NewSyncer(stock.SyncerConfig{
		Cache: stockredis.New(redis, stockredis.Config{Now: h.Clock.Now, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()}),
		Store: stocksql.New(h.DB), Now: h.Clock.Now, RebuildInterval: -1, Log: slog.New(slog.DiscardHandler),
		EndOfDay: func(ctx context.Context, sc stock.Scope) (end time.Time, err error) {
			b, err := h.Menus.Branch(ctx, sc.Branch)
			if err != nil {
				return end, err
			}
			day, err := b.Calendar().Interval(sc.Date)
			return day.End, err
		},
	})
	t.Cleanup(s.syncer.Close)
	var loop sync.WaitGroup
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context()))
	loop.Go(func() { _ = s.syncer.Apply(ctx) }) // ends with its context, without an error
	t.Cleanup(loop.Wait)
	t.Cleanup(end)
	l := orderingsql.NewLedger(h.DB, s.syncer, h.Clock.Now)
	t.Cleanup(l.Stop)
	orders := &ordering.Service{
		Settings: func() ordering.Settings {
			return ordering.Settings{Config: ordering.Defaults(), Methods: payment.NewMethods(payment.Sandbox)}
		},
		Ledger: l, Admission: s.syncer, Reader: orderingsql.NewOrders(h.DB), Catalog: h.Menus, Carts: h.Carts, Now: h.Clock.Now,
	}
	s.server = testenv.Must(httpapi.New(httpapi.Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	carthttp.Register(s.server.API(), h.Carts)
	orderinghttp.Register(s.server.API(), orders, guests{h.Visit}, nil, l)
	s.server.SetAuthenticator(authzhttp.Authenticator{Tokens: accounttest.ByID{}, Routes: accounttest.ByID{}})
	return s
}

// eachShop runs a test on each engine with each kind of Redis.
func eachShop(t *testing.T, test func(t *testing.T, s *shop, redis *redisdb.DB), quotas ...int64) {
	t.Helper()
	run := func(t *testing.T, db *sqldb.DB, redis *redisdb.DB) {
		t.Helper()
		test(t, openShop(t, carttest.Open(t, db, quotas...), redis), redis)
	}
	t.Run("sqlite,embedded", func(t *testing.T) { run(t, sqldbtest.SQLite(t), redisdbtest.Embedded(t)) })
	t.Run("postgres,redis", func(t *testing.T) {
		redis := redisdbtest.Redis(t)
		run(t, sqldbtest.Postgres(t), redis)
	})
}

// reply is a response with its decoded body.
type reply struct {
	status int
	body   map[string]any
	text   string
}

func (s *shop) ask(t *testing.T, user, method, path, body string) reply {
	t.Helper()
	if user != "" {
		user = "Bearer " + user
	}
	w := testenv.Serve(t, s.server, method, path, body, "Authorization", user)
	a := reply{status: w.Code, text: w.Body.String()}
	if err := json.Unmarshal(w.Body.Bytes(), &a.body); err != nil {
		t.Errorf("%s %s: status %d with body %s, want JSON", method, path, w.Code, w.Body)
	}
	return a
}

// want checks the status and, of a rejection, the code.
func (a reply) want(t *testing.T, status int, code string) reply {
	t.Helper()
	if got, _ := a.body["code"].(string); a.status != status || got != code {
		t.Errorf("%d %s, want %d %s", a.status, a.text, status, code)
	}
	return a
}

const receiver = `"receiverName":"Lan","receiverPhone":"0912 345 678","receiverAddress":"12 Hàng Bạc, Hà Nội","receiverEmail":"lan@example.com",` +
	`"receiverNote":"Cổng 2\r\nTầng 3"`

func checkout(key, more string) string {
	return fmt.Sprintf(`{%s,"paymentMethod":"SANDBOX","clientTxnId":%q%s}`, receiver, key, more)
}

// TestMember_checkout checks that the responses have the documented shapes, from the cart to the orders.
func TestMember_checkout(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop, _ *redisdb.DB) {
		s.Member(t, 7)
		s.Member(t, 8)
		s.ask(t, "7", "POST", "/cart/checkout", checkout("a", "")).want(t, 409, "cart_empty")
		s.ask(t, "7", "POST", "/cart/add-dish", `{"dishId":"101","quantity":3}`).want(t, 201, "")
		refused := s.ask(t, "7", "POST", "/cart/checkout", checkout("a", `,"expectedTotal":1`)).want(t, 409, "price_changed")
		if refused.body["currentTotal"] != 3000.0 {
			t.Errorf("refused checkout = %s, want currentTotal 3000", refused.text)
		}
		for _, note := range []string{strings.Repeat("ễ", 201), `ring\u0007`} {
			form := strings.Replace(checkout("a", ""), `Cổng 2`, note, 1)
			if bad := s.ask(t, "7", "POST", "/cart/checkout", form).want(t, 422, "invalid"); !strings.Contains(bad.text, "receiverNote") {
				t.Errorf("refused checkout = %s, want receiverNote", bad.text)
			}
		}
		made := s.ask(t, "7", "POST", "/cart/checkout", checkout("a", `,"expectedTotal":3000`)).want(t, 201, "")
		id, _ := made.body["orderId"].(string)
		want := map[string]any{
			"orderId": id, "number": "A-001", "totalPrice": 3000.0, "currency": "VND", "status": "PLACED", "paymentStatus": "UNPAID",
			"paymentUrl": nil,
		}
		delete(made.body, "$schema")
		testenv.Equal(t, want, made.body)
		again := s.ask(t, "7", "POST", "/cart/checkout", checkout("a", `,"expectedTotal":3000`)).want(t, 200, "")
		if again.body["orderId"] != id {
			t.Errorf("repeated checkout = %s, want order %s", again.text, id)
		}
		s.ask(t, "7", "POST", "/cart/checkout", checkout("a", "")).want(t, 422, "idempotency_mismatch")
		if cart := s.ask(t, "7", "GET", "/cart", "").want(t, 200, ""); cart.body["id"] != nil {
			t.Errorf("the cart is still there: %s", cart.text)
		}
		s.wantListed(t, id)
		for _, path := range []string{"/orders/" + id, "/orders/" + id + "/cancel", "/orders/06gvsv4adlo01am6obvdlo01to"} {
			method := map[bool]string{true: "POST", false: "GET"}[strings.HasSuffix(path, "cancel")]
			s.ask(t, "8", method, path, "").want(t, 404, "order_not_found")
			s.ask(t, "", method, path, "").want(t, 401, "unauthenticated")
		}
		s.ask(t, "8", "POST", "/orders/"+id+"/pay", `{"method":"SANDBOX"}`).want(t, 404, "order_not_found")
		s.ask(t, "7", "POST", "/orders/"+id+"/pay", `{"method":"SANDBOX"}`).want(t, 200, "")
		if end := s.ask(t, "7", "POST", "/orders/"+id+"/cancel", "").want(t, 200, ""); end.body["status"] != "CANCELED" {
			t.Errorf("cancel = %s, want CANCELED", end.text)
		}
		s.ask(t, "7", "POST", "/orders/"+id+"/pay", `{"method":"SANDBOX"}`).want(t, 409, "not_payable")
	}, 10)
}

// wantListed checks a member's only order, in the list and alone.
func (s *shop) wantListed(t *testing.T, id string) {
	t.Helper()
	list := s.ask(t, "7", "GET", "/orders", "").want(t, 200, "")
	one := s.ask(t, "7", "GET", "/orders/"+id, "").want(t, 200, "")
	items, _ := list.body["items"].([]any)
	if len(items) != 1 || list.body["total"] != 1.0 || list.body["page"] != 1.0 || list.body["size"] != 20.0 {
		t.Fatalf("orders = %s, want one on page 1 of size 20", list.text)
	}
	for _, o := range []map[string]any{items[0].(map[string]any), one.body} {
		to := map[string]any{"name": "Lan", "phone": "0912345678", "address": "12 Hàng Bạc, Hà Nội", "email": "lan@example.com", "note": "Cổng 2\nTầng 3"}
		testenv.Equal[any](t, to, o["receiver"])
		if o["id"] != id || o["kind"] != "DELIVERY" || o["branchId"] != "1" || o["totalPrice"] != 3000.0 || len(o["items"].([]any)) != 1 {
			t.Errorf("order = %v, want the delivery %s for 3000 with one item", o, id)
		}
	}
	timeline, _ := one.body["timeline"].([]any)
	if one.body["payments"] == nil || len(timeline) == 0 {
		t.Fatalf("order = %s, want payments and a timeline", one.text)
	}
	placed := timeline[0].(map[string]any)["at"]
	testenv.Equal(t, []any{placed, placed}, []any{items[0].(map[string]any)["placedAt"], one.body["placedAt"]})
	refund := sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte("UPDATE order_info SET refunded_amount = 1000")}}).Must("it")
	testenv.Must(s.DB.Exec(t.Context(), refund))(t)
	list = s.ask(t, "7", "GET", "/orders", "").want(t, 200, "")
	if items, _ := list.body["items"].([]any); items[0].(map[string]any)["refunded"] != 1000.0 {
		t.Errorf("orders = %s, want 1000 refunded", list.text)
	}
	if none := s.ask(t, "8", "GET", "/orders?page=1&size=5", "").want(t, 200, ""); none.body["total"] != 0.0 {
		t.Errorf("another's list: %s", none.text)
	}
	s.ask(t, "7", "GET", "/orders?size=101", "").want(t, 422, "invalid")
}

// TestMember_checkout_limited checks that invalid requests do not count towards the rate limit, so that a corrected one
// is accepted at once. Orders count, even if rejected because of the cart's contents.
func TestMember_checkout_limited(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop, _ *redisdb.DB) {
		s.server.SetLimiter(&limit.Limiter{Local: limit.NewMemory(), Now: s.Clock.Now})
		s.Member(t, 7)
		s.ask(t, "7", "POST", "/cart/add-dish", `{"dishId":"101","quantity":3}`).want(t, 201, "")
		good := checkout("a", "")
		for range 7 {
			s.ask(t, "7", "POST", "/cart/checkout", strings.Replace(good, `"Lan"`, `"  "`, 1)).want(t, 422, "invalid")
			s.ask(t, "7", "POST", "/cart/checkout", strings.Replace(good, "SANDBOX", "GOLD", 1)).want(t, 422, "payment_method_unavailable")
		}
		s.ask(t, "7", "POST", "/cart/checkout", checkout("a", `,"expectedTotal":1`)).want(t, 409, "price_changed")
		s.ask(t, "7", "POST", "/cart/checkout", good).want(t, 201, "")
		s.ask(t, "7", "POST", "/cart/checkout", good).want(t, 200, "")
		s.ask(t, "7", "POST", "/cart/checkout", good).want(t, 429, "rate_limited")
		s.ask(t, "7", "POST", "/cart/checkout", strings.Replace(good, `"Lan"`, `"  "`, 1)).want(t, 422, "invalid")
	}, 10)
}

// TestGuest_create_limited checks that the same holds for guests at a table, see TestMember_checkout_limited.
func TestGuest_create_limited(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop, _ *redisdb.DB) {
		s.server.SetLimiter(&limit.Limiter{Local: limit.NewMemory(), Now: s.Clock.Now})
		order := func(key, method string) string {
			return fmt.Sprintf(`{"items":[{"itemId":"101","qty":1}],"paymentMethod":%q,"clientTxnId":%q,"menuVersionId":"1","customerToken":"phone"}`,
				method, key)
		}
		for range 7 {
			s.ask(t, "", "POST", "/cis/order/create", order("a", "GOLD")).want(t, 422, "payment_method_unavailable")
		}
		for _, key := range []string{"a", "b", "c"} {
			s.ask(t, "", "POST", "/cis/order/create", order(key, "SANDBOX")).want(t, 201, "")
		}
		s.ask(t, "", "POST", "/cis/order/create", order("d", "SANDBOX")).want(t, 429, "rate_limited")
	}, 10)
}

func TestMember_checkout_refuses(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop, _ *redisdb.DB) {
		s.Member(t, 7)
		s.ask(t, "7", "POST", "/cart/add-dish", `{"dishId":"101","quantity":3}`).want(t, 201, "")
		before := s.Rows(t)
		good := checkout("a", "")
		for name, c := range map[string]struct {
			body   string
			status int
			code   string
		}{
			"no name":           {strings.Replace(good, `"Lan"`, `""`, 1), 422, "invalid"},
			"a name of spaces":  {strings.Replace(good, `"Lan"`, `"  "`, 1), 422, "invalid"},
			"a telephone name":  {strings.Replace(good, "0912 345 678", "my sister's", 1), 422, "invalid"},
			"no address":        {strings.Replace(good, "12 Hàng Bạc, Hà Nội", "", 1), 422, "invalid"},
			"no e-mail address": {strings.Replace(good, "lan@", "lan", 1), 422, "invalid"},
			"no way to pay":     {strings.Replace(good, "SANDBOX", "GOLD", 1), 422, "payment_method_unavailable"},
			"no clientTxnId":    {strings.Replace(good, `"a"`, `""`, 1), 422, "invalid"},
			"at a table":        {checkout("a", `,"kind":"DINE_IN"`), 422, "invalid"},
			"no such branch":    {checkout("a", `,"branchId":"99"`), 404, "branch_not_found"},
			"a price":           {checkout("a", `,"totalPrice":1`), 422, "invalid"},
			"another member":    {checkout("a", `,"userId":"8"`), 422, "invalid"},
			"less than nothing": {checkout("a", `,"expectedTotal":-1`), 422, "invalid"},
		} {
			t.Run(name, func(t *testing.T) {
				s.ask(t, "7", "POST", "/cart/checkout", c.body).want(t, c.status, c.code)
				s.ask(t, "", "POST", "/cart/checkout", c.body).want(t, 401, "unauthenticated")
			})
		}
		if s.Rows(t) != before {
			t.Errorf("%+v after %+v", s.Rows(t), before)
		}
		fetched := strings.Replace(checkout("b", `,"kind":"PICKUP"`), "12 Hàng Bạc, Hà Nội", "", 1)
		s.ask(t, "7", "POST", "/cart/checkout", fetched).want(t, 201, "")
	}, 10)
}

// TestMember_checkout_storm checks that 200 concurrent checkouts in two processes, with one admission cache and a quota
// of 60, place exactly 60 orders and leave 140 carts unchanged.
func TestMember_checkout_storm(t *testing.T) {
	const members, quota = 200, 60
	eachShop(t, func(t *testing.T, s *shop, redis *redisdb.DB) {
		today := s.today(t)
		shops := []*shop{s, openShop(t, carttest.OpenProcess(t, s.Restaurant, s.Clock), redis)}
		carts := make([]string, members)
		for i := range members {
			s.Member(t, int64(i+1))
			s.ask(t, strconv.Itoa(i+1), "POST", "/cart/add-dish", `{"dishId":"101","quantity":1}`).want(t, 201, "")
			carts[i] = s.cart(t, i+1)
		}
		if err := s.syncer.Rebuild(t.Context(), today); err != nil { // the admission cache was empty before
			t.Fatal(err)
		}
		won := make([]bool, members)
		var orders atomic.Int64
		var wg sync.WaitGroup
		for i := range members {
			wg.Go(func() {
				a := shops[i%2].ask(t, strconv.Itoa(i+1), "POST", "/cart/checkout", checkout("storm", ""))
				if won[i] = a.status == http.StatusCreated; won[i] {
					orders.Add(1)
				} else {
					a.want(t, 409, "sold_out")
				}
			})
		}
		wg.Wait()
		for i := range members {
			cart := s.cart(t, i+1)
			if won[i] && !strings.Contains(cart, `"id":null`) || !won[i] && cart != carts[i] {
				t.Errorf("member %d, served %t: %s after %s", i+1, won[i], cart, carts[i])
			}
		}
		if rows := s.Rows(t); orders.Load() != quota || rows.Orders != quota || rows.Carts != members-quota || rows.Holds != quota {
			t.Errorf("%d orders: %+v", orders.Load(), rows)
		}
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: quota, Held: quota}}, s.Counts(t))
		s.wantEqualCounters(t, today, quota)
	}, quota)
}

// today sets the business date to the current day and returns its scope. Redis expires keys by its own clock, so the
// date must not be in the past.
func (s *shop) today(t *testing.T) stock.Scope {
	t.Helper()
	s.Clock.Advance(s.DB.Now().Sub(s.Clock.Now()))
	b := testenv.Must(s.Menus.Branch(t.Context(), 1))(t)
	return stock.Scope{Branch: 1, Date: b.Calendar().BizDate(s.Clock.Now())}
}

// cart returns a member's cart without the available quantities, which other members' orders change.
func (s *shop) cart(t *testing.T, user int) string {
	t.Helper()
	a := s.ask(t, strconv.Itoa(user), "GET", "/cart", "").want(t, 200, "")
	items, _ := a.body["items"].([]any)
	for _, it := range items {
		line := it.(map[string]any)
		delete(line, "remaining")
		delete(line, "isSoldOut")
	}
	delete(a.body, "$schema")
	text := testenv.Must(json.Marshal(a.body))(t)
	return string(text)
}

// wantEqualCounters waits until the admission cache and the ledger have equal counters.
func (s *shop) wantEqualCounters(t *testing.T, today stock.Scope, held int64) {
	t.Helper()
	testenv.Eventually(t, 10*time.Second, func() bool {
		testenv.NoError(t, s.syncer.ReplayAll(t.Context()))
		counts, fromCache, err := s.syncer.Counts(t.Context(), today, []int64{101})
		return err == nil && fromCache && len(counts) == 1 && counts[0].Held == held && counts[0].Used == 0
	})
}
