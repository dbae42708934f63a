package stockhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderinghttp"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stockhttp"
	"comanda/internal/stock/stockredis"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
	"comanda/internal/visit"
)

func TestMain(m *testing.M) { redisdbtest.VerifyMain(m) }

// fakeAuth admits staff of branch 1, of branch 2 and of both to every route.
type fakeAuth struct{}

func (fakeAuth) Authenticate(_ context.Context, token string) (authz.Actor, error) {
	branches := map[string][]int64{"one": {1}, "two": {2}, "both": {1, 2}}[token]
	if branches == nil {
		return authz.Actor{}, authz.ErrInvalidToken
	}
	return authz.Actor{Kind: authz.Account, UserID: 7, Branches: branches}, nil
}

func (fakeAuth) Authorize(*authz.Actor, int) error { return nil }

// service is the token of other systems.
const service = "0123456789abcdef0123456789abcdef"

// fixture has two branches with a SQL store, a cache and the routes of stock and orders. Branch 1 has the menu items
// 101, of which 20 may be sold a day, and 102.
type fixture struct {
	*orderingtest.Restaurant

	t      *testing.T
	redis  *redisdb.DB
	server *httpapi.Server
	syncer *stock.Syncer
	gate   *stockredis.Cache
	stores *stock.ReservationService
	window *stock.SnapshotService
	ahead  atomic.Int64 // how far the deciding clock is ahead
}

// each runs a test with a fixture on each engine.
func each(t *testing.T, test func(h *fixture)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(open(t, db, redisdbtest.Embedded(t))) })
}

func (h *fixture) now() time.Time {
	return time.Now().UTC().Truncate(time.Millisecond).Add(time.Duration(h.ahead.Load()))
}

func open(t *testing.T, db *sqldb.DB, redis *redisdb.DB) *fixture {
	t.Helper()
	h := &fixture{t: t, redis: redis, Restaurant: orderingtest.Open(t, db, 1, 20, stock.Unlimited)}
	orderingtest.Open(t, db, 2, stock.Unlimited)
	balances := stocksql.New(db)
	h.gate = stockredis.New(redis, stockredis.Config{Now: h.now, Timeout: 5 * time.Second})
	h.syncer = stock.NewSyncer(stock.SyncerConfig{
		Cache: h.gate, Store: balances, Now: h.now, RebuildInterval: -1, Log: slog.New(slog.DiscardHandler),
		EndOfDay: func(context.Context, stock.Scope) (time.Time, error) { return h.now().Add(24 * time.Hour), nil },
	})
	t.Cleanup(h.syncer.Close)
	h.applyCommitted()
	reservations := stocksql.NewReservations(db, h.syncer, h.now)
	t.Cleanup(reservations.Stop)
	recipes := &stock.RecipeCache{Read: balances.Recipes, Now: h.now}
	h.stores = &stock.ReservationService{Store: reservations, Admission: h.syncer, Now: h.now}
	h.window = &stock.SnapshotService{Cache: stockredis.NewSnapshotCache(redis), Store: reservations, Now: h.now}
	h.serve(recipes, stockhttp.Services{
		Reservations: h.stores, Snapshots: h.window, Recipes: &stock.RecipeService{Store: balances, Cache: recipes},
		Items: &stock.ItemService{
			Store: reservations, Queries: balances, Branches: func(context.Context) ([]int64, error) { return []int64{1, 2}, nil },
		},
		Actors: actors{},
	})
	return h
}

// applyCommitted applies all committed changes to the cache.
func (h *fixture) applyCommitted() {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := h.syncer.Apply(ctx); err != nil {
			h.t.Error(err)
		}
	})
	h.t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	for _, s := range []stock.Scope{stock.StockScope(1), stock.StockScope(2), h.today()} {
		testenv.NoError(h.t, h.syncer.Rebuild(h.t.Context(), s))
	}
}

func (h *fixture) serve(recipes *stock.RecipeCache, services stockhttp.Services) {
	h.t.Helper()
	ledger := orderingsql.NewLedger(h.DB, h.syncer, h.now)
	h.t.Cleanup(ledger.Stop)
	orders := &ordering.Service{
		Settings: func() ordering.Settings {
			return ordering.Settings{Config: ordering.Defaults(), Methods: payment.NewMethods(payment.Sandbox)}
		},
		Ledger: ledger, Admission: h.syncer, Reader: orderingsql.NewOrders(h.DB), Recipes: recipes, Catalog: h.Catalog(h.t), Payments: ledger, Log: slog.New(slog.DiscardHandler), Now: h.now,
	}
	h.t.Cleanup(func() { orders.Close(context.Background()) })
	conf := httpapi.Default()
	conf.ServiceToken = service
	server := testenv.Must(httpapi.New(conf, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(h.t)
	stockhttp.RegisterInventory(server.API(), services)
	stockhttp.RegisterStaff(server.API(), services)
	orderinghttp.Register(server.API(), orders, guests{h.Visit}, nil, ledger)
	server.SetAuthenticator(authzhttp.Authenticator{Tokens: fakeAuth{}, Routes: fakeAuth{}})
	h.server = server
}

// today is the scope of branch 1's quotas.
func (h *fixture) today() stock.Scope {
	branch := testenv.Must(h.Catalog(h.t).Branch(h.t.Context(), 1))(h.t)
	return stock.Scope{Branch: 1, Date: branch.Calendar().BizDate(h.now())}
}

// actors has one name for the actors of a page.
type actors struct{}

func (actors) Names(_ context.Context, language string, all []string) (map[string]string, error) {
	return map[string]string{strings.Join(all, " "): "Nguyễn Hoa in " + language}, nil
}

// guests accepts every token as a guest of one visit in branch 1.
type guests struct{ visit string }

func (g guests) Resolve(_ context.Context, token string) (visit.Guest, error) {
	return visit.Guest{BranchID: 1, VisitID: g.visit, TokenHash: token}, nil
}

func (g guests) ResolveForRead(ctx context.Context, token string) (visit.Guest, error) {
	return g.Resolve(ctx, token)
}

// answer is a decoded response; JSON numbers are float64.
type answer struct {
	t      *testing.T
	what   string
	status int
	body   map[string]any
}

func (h *fixture) ask(token, method, path, body string) answer {
	h.t.Helper()
	if token != "" {
		token = "Bearer " + token
	}
	w := testenv.Serve(h.t, h.server, method, path, body, httpapi.CustomerTokenHeader, "phone", "Authorization", token)
	a := answer{t: h.t, what: method + " " + path + " " + body, status: w.Code}
	if err := json.Unmarshal(w.Body.Bytes(), &a.body); err != nil {
		h.t.Fatalf("%s: status %d with body %s, want JSON", a.what, w.Code, w.Body)
	}
	delete(a.body, "$schema")
	return a
}

// put, post and get send requests as another system does.
func (h *fixture) put(path, body string) answer {
	h.t.Helper()
	return h.ask(service, http.MethodPut, path, body)
}
func (h *fixture) post(path, body string) answer {
	h.t.Helper()
	return h.ask(service, http.MethodPost, path, body)
}
func (h *fixture) get(path string) answer {
	h.t.Helper()
	return h.ask(service, http.MethodGet, path, "")
}

// wantJSON fails the test unless the answer has the status and is this JSON.
func (a answer) wantJSON(status int, want string) {
	a.t.Helper()
	var body map[string]any
	testenv.NoError(a.t, json.Unmarshal([]byte(want), &body))
	if d := cmp.Diff(body, a.body); a.status != status || d != "" {
		a.t.Errorf("%s: status %d with body %v, want %d (-want +got):\n%s", a.what, a.status, a.body, status, d)
	}
}

// wantRefused fails the test unless the answer has the status and the code.
func (a answer) wantRefused(status int, code string) answer {
	a.t.Helper()
	if got, _ := a.body["code"].(string); a.status != status || got != code {
		a.t.Errorf("%s: %d %v, want %d %s", a.what, a.status, a.body, status, code)
	}
	return a
}

// wantOK fails the test unless the response has the status; it returns a field as text.
func (a answer) wantOK(status int, field string) string {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: %d %v, want %d", a.what, a.status, a.body, status)
	}
	return fmt.Sprint(a.body[field])
}

// list returns the items of a page.
func (a answer) list() (all []map[string]any) {
	a.t.Helper()
	items, ok := a.body["items"].([]any)
	if !ok {
		a.t.Fatalf("%s: no items: %d %v", a.what, a.status, a.body)
	}
	for _, it := range items {
		all = append(all, it.(map[string]any))
	}
	return all
}

// setStock sets the available units of items of branch 1.
func (h *fixture) setStock(items map[string]int) {
	h.t.Helper()
	for sku, n := range items {
		h.put("/inventory/"+sku, fmt.Sprintf(`{"branchId":"1","available":%d}`, n)).wantOK(200, "")
	}
}

// try reserves items, as sku, quantity, sku, quantity.
func (h *fixture) try(id string, items ...any) answer {
	h.t.Helper()
	var lines []string
	for i := 0; i < len(items); i += 2 {
		lines = append(lines, fmt.Sprintf(`{"itemId":%q,"quantity":%d}`, items[i], items[i+1]))
	}
	return h.post("/inventory/reservations", fmt.Sprintf(`{"orderId":%q,"branchId":"1","items":[%s]}`, id, strings.Join(lines, ",")))
}

// end confirms, cancels or returns a reservation.
func (h *fixture) end(id, how string) answer {
	h.t.Helper()
	return h.post("/inventory/reservations/"+id+"/"+how, "")
}

// wantLevel fails the test unless an item of branch 1 has the given available, reserved and sold units, in SQL and soon
// in the cache.
func (h *fixture) wantLevel(sku string, available, reserved, sold int64) {
	h.t.Helper()
	h.get("/inventory/"+sku+"?branchId=1").wantJSON(200,
		fmt.Sprintf(`{"itemId":%q,"branchId":"1","available":%d,"reserved":%d,"sold":%d}`, sku, available, reserved, sold))
	want := stock.Count{Item: h.item(sku), Cap: available + reserved + sold, Held: reserved, Used: sold}
	h.awaitCacheCount(stock.StockScope(1), want)
}

// item returns the number of an item of branch 1.
func (h *fixture) item(sku string) int64 {
	h.t.Helper()
	found, err := h.stores.Store.Items(h.t.Context(), 1, []string{sku})
	if err != nil || len(found) != 1 {
		h.t.Fatalf("item %s = %v, %v, want one", sku, found, err)
	}
	return found[0].ID
}

// awaitCacheCount waits until the cache shows a counter. Entries committed during a rebuild of the cache are replayed
// by recovery, whose loop does not run here.
func (h *fixture) awaitCacheCount(s stock.Scope, want stock.Count) {
	h.t.Helper()
	testenv.Eventually(h.t, 10*time.Second, func() bool {
		testenv.NoError(h.t, h.syncer.ReplayAll(h.t.Context()))
		got, known, err := h.gate.Counts(h.t.Context(), s, []int64{want.Item})
		return err == nil && known && len(got) == 1 && got[0] == want
	})
}

// wantBalanced fails the test if counters and holds differ.
func (h *fixture) wantBalanced() {
	h.t.Helper()
	found := testenv.Must(stocksql.New(h.DB).Drift(h.t.Context(), "2000-01-01"))(h.t)
	for _, d := range found {
		h.t.Error(d)
	}
}

func (h *fixture) read(query string) []string {
	h.t.Helper()
	stmt := sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(query)}}).Must("it")
	return testenv.Must(sqldb.Collect(h.t.Context(), h.DB, sqldb.Value[string], stmt))(h.t)
}

func (h *fixture) change(statement string) {
	h.t.Helper()
	stmt := sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(statement)}}).Must("it")
	testenv.Must(h.DB.Exec(h.t.Context(), stmt))(h.t)
}
