package orderinghttp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderinghttp"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// fakeAuth authenticates the accounts in who by their tokens, until revoke removes them.
type fakeAuth struct {
	mu     sync.Mutex
	actors map[string]authz.Actor
}

func (c *fakeAuth) Authenticate(_ context.Context, token string) (authz.Actor, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a, ok := c.actors[token]; ok {
		return a, nil
	}
	return authz.Actor{}, authz.ErrInvalidToken
}

func (*fakeAuth) Authorize(*authz.Actor, int) error { return nil }

func (c *fakeAuth) revoke(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.actors, token)
}

// boardServer is a server process with the kitchen's routes.
type boardServer struct {
	*orderingtest.Restaurant

	ledger   *orderingsql.Ledger
	fakeAuth *fakeAuth
	url      string
	now      func() time.Time
}

// day is the time at which a boardServer's orders are placed: noon local time.
var day = time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)

// openBoardServer starts a boardServer whose board polls the database at the interval every.
func openBoardServer(t *testing.T, r *orderingtest.Restaurant, now func() time.Time, every time.Duration) *boardServer {
	t.Helper()
	g := &boardServer{Restaurant: r, now: now, fakeAuth: &fakeAuth{actors: map[string]authz.Actor{
		"cook":   {Kind: authz.Account, UserID: 3, Session: "s", Branches: []int64{1}},
		"across": {Kind: authz.Account, UserID: 4, Session: "t", Branches: []int64{2}},
	}}}
	g.ledger = orderingsql.NewLedger(r.DB, orderingtest.NoAdmission{}, now)
	t.Cleanup(g.ledger.Stop)
	reader, kitchen := orderingsql.NewOrders(r.DB), r.Catalog(t)
	orders := &ordering.Service{
		Settings: func() ordering.Settings {
			return ordering.Settings{Config: ordering.Defaults(), Methods: payment.NewMethods(payment.Sandbox)}
		},
		Ledger: g.ledger, Reader: reader, Catalog: kitchen, Now: now,
	}
	boards := &ordering.BoardHub{
		Reader: reader, Catalog: kitchen, Changes: g.ledger, Interval: every,
		Ages: func() (warn, late time.Duration) { return 10 * time.Minute, 20 * time.Minute },
		Log:  slog.New(slog.DiscardHandler), Now: now,
	}
	s := testenv.Must(httpapi.New(httpapi.Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	orderinghttp.Register(s.API(), orders, guests{r.Visit}, nil, g.ledger)
	orderinghttp.RegisterBoard(s.API(), boards)
	s.SetAuthenticator(authzhttp.Authenticator{Tokens: g.fakeAuth, Routes: g.fakeAuth, Places: authzhttp.Places(s.API().Routes())})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// eachBoardServer runs a test with a boardServer on each database engine. The board does not poll during the test.
func eachBoardServer(t *testing.T, test func(t *testing.T, g *boardServer, c *testenv.Clock)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := testenv.NewClockAt(day)
		test(t, openBoardServer(t, orderingtest.Open(t, db, 1, stock.Unlimited, stock.Unlimited), c.Now, time.Hour), c)
	})
}

// do runs commands in the ledger and returns the resulting order of the last one.
func (g *boardServer) do(t *testing.T, cs ...ordering.Command) (o ordering.Order) {
	t.Helper()
	for _, c := range cs {
		r := testenv.Must(g.ledger.Do(t.Context(), c))(t)
		o = r.Order
	}
	return o
}

// paid places and pays an order of two items.
func (g *boardServer) paid(t *testing.T, key string) ordering.Order {
	t.Helper()
	o := g.do(t, g.Place(key, g.now(), time.Hour, stock.Line{Item: 101, Qty: 1}, stock.Line{Item: 102, Qty: 2}))
	return g.do(t, orderingtest.Pay(o.ID, g.now()))
}

func (g *boardServer) request(t *testing.T, token, method, path, body string) *http.Request {
	t.Helper()
	r := testenv.Must(http.NewRequestWithContext(t.Context(), method, g.url+path, strings.NewReader(body)))(t)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set(httpapi.CustomerTokenHeader, "guest")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func (g *boardServer) ask(t *testing.T, token, method, path, body string) reply {
	t.Helper()
	res, err := http.DefaultClient.Do(g.request(t, token, method, path, body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	a := reply{status: res.StatusCode}
	var text strings.Builder
	testenv.Must(bufio.NewReader(res.Body).WriteTo(&text))(t)
	if a.text = text.String(); a.text != "" {
		if err := json.Unmarshal([]byte(a.text), &a.body); err != nil {
			t.Fatalf("status %d with body %s, want JSON", a.status, a.text)
		}
		delete(a.body, "$schema")
	}
	return a
}

// valueAt returns the value at a path in a JSON value, such as tickets 0 id.
func valueAt(v any, way ...any) any {
	for _, w := range way {
		switch w := w.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[w]
		case int:
			l, _ := v.([]any)
			if w >= len(l) {
				return nil
			}
			v = l[w]
		}
	}
	return v
}

// TestBoard_shape checks that a board has the documented shape: one ticket in full, and the length of the other lists.
func TestBoard_shape(t *testing.T) {
	eachBoardServer(t, func(t *testing.T, g *boardServer, c *testenv.Clock) {
		o := g.paid(t, "a")
		c.Advance(time.Minute)
		g.ask(t, "cook", "POST", "/api/orders/"+o.ID+"/start", "").want(t, 200, "")
		g.ask(t, "cook", "POST", "/api/orders/"+o.ID+"/items/1/done", `{"done":true}`).want(t, 200, "")
		counter := g.Place("b", g.now(), time.Hour, stock.Line{Item: 102, Qty: 1})
		counter.Order.Method, counter.Order.Kind = payment.Counter, ordering.PickUp
		counter.Order.Receiver = ordering.Receiver{Name: "Lan", Phone: "0912345678", Note: "At 7\nby car"}
		counter.Order.VisitID, counter.Order.GuestHash = "", ""
		g.do(t, counter)
		served := g.paid(t, "c")
		for _, step := range []string{"start", "ready", "serve"} {
			g.ask(t, "cook", "POST", "/api/orders/"+served.ID+"/"+step, "").want(t, 200, "")
		}
		got := g.ask(t, "cook", "GET", "/api/boards/1", "").want(t, 200, "")
		ticket := map[string]any{
			"id": o.ID, "number": "A-001", "status": "PREPARING", "paymentStatus": "PAID", "voided": false, "cleared": false,
			"stepAt": "2026-02-26T05:01:00Z", "version": 5.0, "kind": "DINE_IN", "tableId": "1", "tableLabel": "T1", "receiverName": "", "receiverPhone": "",
			"receiverAddress": "", "receiverNote": "",
			"method": "SANDBOX", "placedAt": "2026-02-26T05:00:00Z", "paidAt": "2026-02-26T05:00:00Z",
			"items": []any{
				map[string]any{
					"index": 0.0, "itemId": "101", "dishId": "101", "categoryId": "1", "name": "Dish", "qty": 1.0, "notes": "", "done": false,
					"voided": false,
				},
				map[string]any{
					"index": 1.0, "itemId": "102", "dishId": "102", "categoryId": "1", "name": "Dish", "qty": 2.0, "notes": "", "done": true,
					"voided": false,
				},
			},
		}
		want := map[string]any{
			"id": got.body["id"], "branchId": "1", "bizDate": "2026-02-26", "now": "2026-02-26T05:01:00Z", "more": false,
			"tickets": []any{ticket}, "served": got.body["served"], "awaiting": got.body["awaiting"],
			"allDay":     []any{map[string]any{"dishId": "101", "categoryId": "1", "name": "Dish", "qty": 1.0}},
			"stations":   []any{map[string]any{"id": "1", "name": "Food"}},
			"thresholds": map[string]any{"warnSeconds": 600.0, "lateSeconds": 1200.0},
		}
		testenv.Equal(t, want, got.body)
		if valueAt(got.body, "served", 0, "id") != served.ID || valueAt(got.body, "served", 0, "status") != "SERVED" || valueAt(got.body, "served", 1) != nil {
			t.Errorf("served %v", got.body["served"])
		}
		for name, v := range map[string]any{
			"totalPrice": 1000.0, "currency": "VND", "payBy": "2026-02-26T06:01:00Z", "paymentStatus": "UNPAID", "kind": "PICKUP",
			"receiverName": "Lan", "receiverPhone": "0912345678", "receiverNote": "At 7\nby car", "tableId": "", "tableLabel": "", "paidAt": nil, "stepAt": nil, "method": "COUNTER",
		} {
			if is := valueAt(got.body, "awaiting", 0, name); is != v {
				t.Errorf("awaiting: %s is %v, want %v", name, is, v)
			}
		}
		id := got.body["id"].(string)
		g.ask(t, "cook", "GET", "/api/boards/1?since="+id, "").want(t, 304, "")
		g.ask(t, "cook", "GET", "/api/boards/1?since=other", "").want(t, 200, "")
		if narrow := g.ask(t, "cook", "GET", "/api/boards/1?station=1", "").want(t, 200, ""); valueAt(narrow.body, "tickets", 0, "id") != o.ID {
			t.Error(narrow.text)
		}
		if none := g.ask(t, "cook", "GET", "/api/boards/1?station=9", "").want(t, 200, ""); valueAt(none.body, "tickets", 0) != nil ||
			valueAt(none.body, "awaiting", 0) != nil || valueAt(none.body, "allDay", 0) != nil || none.body["id"] != id {
			t.Error(none.text)
		}
	})
}

// TestBoard_printsNoEscapes checks that tickets contain no printer commands, even if texts were stored, as here past
// the routes, before the API rejected control characters.
func TestBoard_printsNoEscapes(t *testing.T) {
	eachBoardServer(t, func(t *testing.T, g *boardServer, _ *testenv.Clock) {
		old := g.Place("a", g.now(), time.Hour, stock.Line{Item: 101, Qty: 1})
		old.Order.Items[0].Name, old.Order.Items[0].Notes = "Phở\x1b@", "no ice\n\x1d\x56\x41\u202e!"
		old.Order.Kind, old.Order.VisitID, old.Order.GuestHash = ordering.PickUp, "", ""
		old.Order.Receiver = ordering.Receiver{Name: "L\x1ban", Phone: "0912345678", Note: "Gate\x1b\n4711"}
		o := g.do(t, old)
		g.do(t, orderingtest.Pay(o.ID, g.now()))
		got := g.ask(t, "cook", "GET", "/api/boards/1", "").want(t, 200, "")
		for want, is := range map[string]any{
			"Lan": valueAt(got.body, "tickets", 0, "receiverName"), "Phở@": valueAt(got.body, "tickets", 0, "items", 0, "name"),
			"Gate\n4711":  valueAt(got.body, "tickets", 0, "receiverNote"),
			"no ice\nVA!": valueAt(got.body, "tickets", 0, "items", 0, "notes"),
		} {
			if is != want {
				t.Errorf("%q, want %q", is, want)
			}
		}
	})
}

func TestBoard_refuses(t *testing.T) {
	eachBoardServer(t, func(t *testing.T, g *boardServer, _ *testenv.Clock) {
		o := g.paid(t, "a")
		unpaid := g.do(t, g.Place("b", g.now(), time.Hour, stock.Line{Item: 101, Qty: 1}))
		for _, c := range []struct {
			token, method, path, body string
			status                    int
			code                      string
		}{
			{"across", "GET", "/api/boards/1", "", 404, "branch_not_found"},
			{"across", "GET", "/api/boards/1/events", "", 404, "branch_not_found"},
			{"cook", "GET", "/api/boards/0", "", 404, "branch_not_found"},
			{"cook", "GET", "/api/boards/one", "", 404, "branch_not_found"},
			{"cook", "GET", "/api/boards/1?station=x", "", 422, "invalid"},
			{"nobody", "GET", "/api/boards/1", "", 401, "unauthenticated"},
			{"nobody", "GET", "/api/boards/1/events", "", 401, "unauthenticated"},
			{"across", "POST", "/api/orders/" + o.ID + "/start", "", 404, "order_not_found"},
			{"across", "POST", "/api/orders/" + o.ID + "/items/0/done", `{"done":true}`, 404, "order_not_found"},
			{"cook", "POST", "/api/orders/06gvsv4adlo01am6obvdlo01to/start", "", 404, "order_not_found"},
			{"cook", "POST", "/api/orders/x/serve", "", 404, "order_not_found"},
			{"cook", "POST", "/api/orders/" + o.ID + "/eat", "", 404, "not_found"},
			{"cook", "POST", "/api/orders/" + o.ID + "/ready", "", 409, "wrong_step"},
			{"cook", "POST", "/api/orders/" + o.ID + "/recall", "", 409, "wrong_step"},
			{"cook", "POST", "/api/orders/" + o.ID + "/start", `{"version":1}`, 409, "changed"},
			{"cook", "POST", "/api/orders/" + o.ID + "/start", `{"version":0}`, 422, "invalid"},
			{"cook", "POST", "/api/orders/" + o.ID + "/start", `{"version":"1"}`, 422, "invalid"},
			{"cook", "POST", "/api/orders/" + o.ID + "/start", `{"status":"SERVED"}`, 422, "invalid"},
			{"cook", "POST", "/api/orders/" + unpaid.ID + "/start", "", 409, "not_paid"},
			{"cook", "POST", "/api/orders/" + unpaid.ID + "/items/0/done", `{"done":true}`, 409, "not_paid"},
			{"cook", "POST", "/api/orders/" + o.ID + "/items/2/done", `{"done":true}`, 404, "order_line_not_found"},
			{"cook", "POST", "/api/orders/" + o.ID + "/items/-1/done", `{"done":true}`, 422, "invalid"},
			{"cook", "POST", "/api/orders/" + o.ID + "/items/0/done", `{}`, 422, "invalid"},
			{"cook", "POST", "/api/orders/" + o.ID + "/items/0/done", "", 400, "invalid_json"},
		} {
			t.Run(fmt.Sprint(c.token, " ", c.path, c.body), func(t *testing.T) {
				a := g.ask(t, c.token, c.method, c.path, c.body).want(t, c.status, c.code)
				if c.status == 409 && (a.body["orderStatus"] != "PLACED" || a.body["version"] == nil) {
					t.Errorf("it does not say how the order is: %s", a.text)
				}
			})
		}
		now := g.ask(t, "cook", "GET", "/api/orders/"+o.ID, "").want(t, 200, "")
		if now.body["status"] != "PLACED" || now.body["branchId"] != "1" {
			t.Errorf("a refusal changed it, or it has another branch: %s", now.text)
		}
	})
}

// TestBoard_guestSeesTheKitchen checks that the guest's order shows the kitchen's progress without steps that were
// recalled, and that a repeated step returns the current state.
func TestBoard_guestSeesTheKitchen(t *testing.T) {
	eachBoardServer(t, func(t *testing.T, g *boardServer, c *testenv.Clock) {
		o := g.paid(t, "a")
		c.Advance(time.Minute)
		for _, want := range []struct {
			step, body, status string
			timeline           string
		}{
			{"start", `{"version":2}`, "PREPARING", "PLACED PAID ACCEPTED PREPARING"},
			{"start", `{"version":2}`, "PREPARING", "PLACED PAID ACCEPTED PREPARING"},
			{"accept", "", "PREPARING", "PLACED PAID ACCEPTED PREPARING"},
			{"ready", `{"version":4}`, "READY", "PLACED PAID ACCEPTED PREPARING READY"},
			{"recall", `{"version":5}`, "PREPARING", "PLACED PAID ACCEPTED PREPARING"},
			{"ready", "", "READY", "PLACED PAID ACCEPTED PREPARING READY"},
			{"serve", "", "SERVED", "PLACED PAID ACCEPTED PREPARING READY SERVED"},
		} {
			got := g.ask(t, "cook", "POST", "/api/orders/"+o.ID+"/"+want.step, want.body).want(t, 200, "")
			seen := g.ask(t, "cook", "GET", "/cis/order/"+o.ID, "").want(t, 200, "")
			var events []string
			for _, e := range seen.body["timeline"].([]any) {
				events = append(events, fmt.Sprint(valueAt(e, "event")))
			}
			if got.body["status"] != want.status || seen.body["status"] != want.status || strings.Join(events, " ") != want.timeline {
				t.Errorf("after %s: board %s, timeline %v, want %s with %s", want.step, got.text, events, want.status, want.timeline)
			}
		}
	})
}

// TestBoard_guestSeesWhenReady checks that a paid order shows when it will be ready, as soon as the kitchen has
// finished five orders, and that this time disappears when the order is ready.
func TestBoard_guestSeesWhenReady(t *testing.T) {
	eachBoardServer(t, func(t *testing.T, g *boardServer, c *testenv.Clock) {
		cook := func(id string) {
			g.ask(t, "cook", "POST", "/api/orders/"+id+"/start", "").want(t, 200, "")
			g.ask(t, "cook", "POST", "/api/orders/"+id+"/ready", "").want(t, 200, "")
		}
		seen := func(id string) any {
			return g.ask(t, "cook", "GET", "/cis/order/"+id, "").want(t, 200, "").body["expectedAt"]
		}
		for i := range 5 {
			o := g.paid(t, fmt.Sprint("cooked", i))
			if at := seen(o.ID); at != nil {
				t.Fatalf("after %d orders the next is expected at %v", i, at)
			}
			c.Advance(10 * time.Minute)
			cook(o.ID)
		}
		o := g.paid(t, "next")
		c.Advance(time.Minute)
		if got, want := seen(o.ID), o.PaidAt.Add(10*time.Minute).UTC().Format("2006-01-02T15:04:05.999Z07:00"); got != want {
			t.Errorf("expected at %v, want %s", got, want)
		}
		cook(o.ID)
		if at := seen(o.ID); at != nil {
			t.Errorf("a ready order is expected at %v", at)
		}
	})
}

// TestBoard_voided checks that a refunded order stays on the board as voided until it is acknowledged.
func TestBoard_voided(t *testing.T) {
	eachBoardServer(t, func(t *testing.T, g *boardServer, _ *testenv.Clock) {
		o := g.paid(t, "a")
		path := "/api/orders/" + o.ID
		g.ask(t, "cook", "POST", path+"/start", "").want(t, 200, "")
		g.ask(t, "cook", "POST", path+"/refunds", `{"reason":"cold"}`).want(t, 201, "")
		b := g.ask(t, "cook", "GET", "/api/boards/1", "").want(t, 200, "")
		if valueAt(b.body, "tickets", 0, "voided") != true || valueAt(b.body, "tickets", 0, "items", 0, "voided") != true || valueAt(b.body, "allDay", 0) != nil {
			t.Fatal(b.text)
		}
		g.ask(t, "cook", "POST", path+"/ready", "").want(t, 409, "voided")
		g.ask(t, "cook", "POST", path+"/ready", `{"version":4}`).want(t, 409, "changed")
		got := g.ask(t, "cook", "POST", path+"/ready", fmt.Sprintf(`{"version":%v}`, valueAt(b.body, "tickets", 0, "version"))).want(t, 200, "")
		if got.body["cleared"] != true || got.body["status"] != "PREPARING" {
			t.Error(got.text)
		}
		b = g.ask(t, "cook", "GET", "/api/boards/1", "").want(t, 200, "")
		if valueAt(b.body, "tickets", 0) != nil || valueAt(b.body, "served", 0, "cleared") != true {
			t.Error(b.text)
		}
		g.ask(t, "cook", "POST", path+"/recall", "").want(t, 200, "")
		if b = g.ask(t, "cook", "GET", "/api/boards/1", ""); valueAt(b.body, "tickets", 0, "voided") != true {
			t.Error(b.text)
		}
	})
}

// screen is a client of a board's event stream.
type screen struct {
	t    *testing.T
	text *bufio.Scanner
}

func (g *boardServer) follow(t *testing.T, token, seen string) *screen {
	t.Helper()
	r := g.request(t, token, "GET", "/api/boards/1/events", "")
	if seen != "" {
		r.Header.Set("Last-Event-ID", seen)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("stream: status %d with type %s, want 200 with text/event-stream", res.StatusCode, res.Header.Get("Content-Type"))
	}
	s := &screen{t, bufio.NewScanner(res.Body)}
	s.text.Buffer(nil, 1<<20)
	return s
}

// next returns the next board. ok is false if the stream has ended.
func (s *screen) next() (id string, board map[string]any, ok bool) {
	s.t.Helper()
	for s.text.Scan() {
		if v, found := strings.CutPrefix(s.text.Text(), "id: "); found {
			id = v
		}
		if v, found := strings.CutPrefix(s.text.Text(), "data: "); found {
			if err := json.Unmarshal([]byte(v), &board); err != nil || board["id"] != id {
				s.t.Fatalf("event %s with data %s, %v, want a board with that id", id, v, err)
			}
			return id, board, true
		}
	}
	return "", nil, false
}

// TestBoard_stream checks that a screen receives the current board and then every change at once, and that a
// reconnecting screen receives only what follows its last board.
func TestBoard_stream(t *testing.T) {
	eachBoardServer(t, func(t *testing.T, g *boardServer, _ *testenv.Clock) {
		o := g.paid(t, "a")
		s := g.follow(t, "cook", "")
		id, b, _ := s.next()
		if valueAt(b, "tickets", 0, "id") != o.ID || valueAt(b, "thresholds", "warnSeconds") != 600.0 {
			t.Fatalf("board = %v, want the paid order and a warning after 600 s", b)
		}
		again := g.follow(t, "cook", id)
		g.ask(t, "cook", "POST", "/api/orders/"+o.ID+"/start", "").want(t, 200, "")
		for name, s := range map[string]*screen{"the first": s, "who came back": again} {
			if next, b, _ := s.next(); next == id || valueAt(b, "tickets", 0, "status") != "PREPARING" {
				t.Errorf("%s is sent %v", name, b)
			}
		}
	})
}

// TestBoard_streamOfAnotherProcess checks that a board shows changes of another process on the same database by
// polling, without a notification.
func TestBoard_streamOfAnotherProcess(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := testenv.NewClockAt(day)
		r := orderingtest.Open(t, db, 1, stock.Unlimited, stock.Unlimited)
		local, remote := openBoardServer(t, r, c.Now, time.Hour), openBoardServer(t, r, c.Now, 20*time.Millisecond)
		o := local.paid(t, "a")
		s := remote.follow(t, "cook", "")
		s.next()
		for _, step := range []struct{ word, status string }{{"start", "PREPARING"}, {"ready", "READY"}} {
			local.ask(t, "cook", "POST", "/api/orders/"+o.ID+"/"+step.word, "").want(t, 200, "")
			if _, b, _ := s.next(); valueAt(b, "tickets", 0, "status") != step.status {
				t.Errorf("board after %s = %v, want ticket %s", step.word, b, step.status)
			}
		}
		local.ask(t, "cook", "POST", "/api/orders/"+o.ID+"/serve", "").want(t, 200, "")
		_, b, _ := s.next()
		if valueAt(b, "tickets", 0) != nil || valueAt(b, "served", 0, "id") != o.ID {
			t.Errorf("board = %v, want order %s served", b, o.ID)
		}
		c.Advance(30*time.Minute + time.Millisecond) // served orders leave the board after this time
		if _, b, _ = s.next(); valueAt(b, "served", 0) != nil {
			t.Errorf("board after 30 minutes = %v, want no served order", b)
		}
	})
}

// TestBoard_stream_ends_after_logout checks that a screen receives nothing after its session has ended.
func TestBoard_stream_ends_after_logout(t *testing.T) {
	eachBoardServer(t, func(t *testing.T, g *boardServer, _ *testenv.Clock) {
		s := g.follow(t, "cook", "")
		s.next()
		g.fakeAuth.revoke("cook")
		g.paid(t, "a")
		if _, b, ok := s.next(); ok {
			t.Errorf("it is sent %v", b)
		}
	})
}
