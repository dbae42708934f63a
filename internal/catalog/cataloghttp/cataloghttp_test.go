package cataloghttp

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const serviceToken = "0123456789abcdef0123456789abcdef"

// site is a server with this package's routes over an in-memory catalog.
type site struct {
	http.Handler
	source        *catalogtest.MemorySource
	left          *catalogtest.Levels
	store         *store
	tables        *tables
	seats         *seats
	subscriptions *subscriptions
	clock         *testenv.Clock
}

// tables is a fake with table 3 in branch 1.
type tables struct{ err error }

func (f *tables) TableIn(_ context.Context, branch, table int64) (bool, error) {
	return branch == 1 && table == 3, f.err
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{
		source: catalogtest.NewMemorySource(), left: &catalogtest.Levels{}, store: &store{}, tables: &tables{}, seats: &seats{},
		clock: testenv.NewClock(),
	}
	s.source.Put(catalogtest.Branch(), catalogtest.Content(5, map[int64]int64{11: 20}, catalogtest.Item(11, 65000),
		catalogtest.Item(12, 60000)))
	conf := httpapi.Default()
	conf.ServiceToken, conf.AccessLog = serviceToken, false
	server := testenv.Must(httpapi.New(conf, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	server.SetAuthenticator(authzhttp.Authenticator{})
	menus := catalog.NewMenuCache(s.source, catalog.NoSharedCache{}, s.clock.Now)
	live := catalog.NewLiveMenus(menus, s.left, s.clock.Now)
	RegisterGuest(server.API(), live, s.tables)
	s.subscriptions = &subscriptions{LiveMenus: live, ended: make(chan struct{}, 10)}
	RegisterLive(server.API(), s.subscriptions, s.seats)
	RegisterStaff(server.API(), Services{
		Menus:    &catalog.MenuEditor{Store: s.store, Menus: menus, Now: s.clock.Now},
		Branches: &catalog.BranchAdmin{Store: s.store, Menus: menus, Now: s.clock.Now},
	})
	s.Handler = server
	return s
}

// expireMenus advances the clock by more than the maximum age of a cached menu.
func (s *site) expireMenus() { s.clock.Advance(10 * time.Second) }

// ask sends a request; headers come in pairs.
func (s *site) ask(t testing.TB, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return testenv.Serve(t, s, method, path, body, headers...)
}

func (s *site) menu(t testing.TB, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return s.ask(t, http.MethodPost, "/cis/menu/active", `{"branchId":"1","tableId":"3"}`, headers...)
}

func wantStatus(t testing.TB, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var p struct{ Code string }
	_ = json.Unmarshal(w.Body.Bytes(), &p)
	if w.Code != status || p.Code != code {
		t.Errorf("%d %s, want %d %s", w.Code, w.Body, status, code)
	}
}

func TestMenuActive_shape(t *testing.T) {
	s := newSite(t)
	s.left.Set(11, 7)
	w := s.menu(t, "Accept-Language", "en-GB")
	want := `{"menuVersionId":"5","bizDate":"2026-02-26","currency":"VND","paused":null,"closed":null,"hoursChange":null,"categories":[{"id":"1","name":"Pho","items":[` +
		`{"itemId":"11","dishId":"4","name":"Dish 11","description":"Soft rice noodles and tender beef in a bone broth ` +
		`simmered for twelve hours with star anise.","imageUrl":null,"price":65000,"isActive":true,"isSoldOut":false,` +
		`"remaining":7,"allergens":null,"diets":[]},{"itemId":"12","dishId":"5","name":"Dish 12","description":"Soft rice noodles and tender beef in a ` +
		`bone broth simmered for twelve hours with star anise.","imageUrl":null,"price":60000,"isActive":true,` +
		`"isSoldOut":false,"remaining":null,"allergens":null,"diets":[]}]}]}`
	if d := cmp.Diff(want, w.Body.String()); w.Code != http.StatusOK || d != "" {
		t.Errorf("menu: status %d, body (-want +got):\n%s", w.Code, d)
	}
	for header, want := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-cache", "Content-Encoding": "",
		"Vary": "Accept-Language, Accept-Encoding",
	} {
		if got := w.Header().Get(header); got != want {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
}

// TestMenuActive_dish_on_two_menus checks that members see a dish of the menus for delivery and for pick-up once: as the item
// whose price their cart has, and as available if one of the menus offers it. Guests at a table see that of their own menu.
func TestMenuActive_dish_on_two_menus(t *testing.T) {
	s := newSite(t)
	delivery, pickUp, table := []catalog.OrderKind{catalog.Delivery}, []catalog.OrderKind{catalog.PickUp}, []catalog.OrderKind{catalog.DineIn}
	item := func(id, dish, version, price int64, active bool) catalog.Item {
		it := catalogtest.Item(id, price)
		it.DishID, it.Version, it.Active = dish, version, active
		return it
	}
	content := catalogtest.Content(6, map[int64]int64{21: 5},
		item(21, 4, 20, 70000, true), item(31, 4, 30, 60000, true), item(41, 4, 40, 65000, true),
		item(22, 5, 20, 70000, false), item(32, 5, 30, 60000, true),
		item(23, 6, 20, 70000, false), item(33, 6, 30, 60000, false))
	content.Menus = []catalog.PublishedMenu{
		{MenuID: 2, VersionID: 20, Schedule: catalog.MenuSchedule{Kinds: delivery}},
		{MenuID: 3, VersionID: 30, Schedule: catalog.MenuSchedule{Kinds: pickUp}},
		{MenuID: 4, VersionID: 40, Schedule: catalog.MenuSchedule{Kinds: table}},
	}
	s.source.Put(catalogtest.Branch(), content)
	s.expireMenus()
	for body, want := range map[string][]string{
		`{"branchId":"1"}`:               {"4 21 70000 true", "5 32 60000 true", "6 23 70000 false"},
		`{"branchId":"1","tableId":"3"}`: {"4 41 65000 true"},
	} {
		var menu struct {
			MenuVersionID string
			Categories    []struct {
				Items []struct {
					ItemID, DishID string
					Price          int64
					IsActive       bool
				}
			}
		}
		w := s.ask(t, http.MethodPost, "/cis/menu/active", body)
		testenv.NoError(t, json.Unmarshal(w.Body.Bytes(), &menu))
		var got []string
		for _, c := range menu.Categories {
			for _, it := range c.Items {
				got = append(got, fmt.Sprint(it.DishID, " ", it.ItemID, " ", it.Price, " ", it.IsActive))
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: dish, item, price, active (-want +got):\n%s", body, d)
		}
		if id := testenv.Must(strconv.ParseInt(menu.MenuVersionID, 10, 64))(t); !catalog.IsCombination(id) {
			t.Errorf("the version is %d, want a combination", id)
		}
	}
	// It is sold out only on the menu for delivery.
	s.left.Set(21, 0)
	s.expireMenus()
	body := s.ask(t, http.MethodPost, "/cis/menu/active", `{"branchId":"1"}`).Body.String()
	if !strings.Contains(body, `"itemId":"31"`) || strings.Contains(body, `"isSoldOut":true`) {
		t.Errorf("with item 21 sold out: %s, want item 31", body)
	}
}

func TestMenuActive_sold_out(t *testing.T) {
	s := newSite(t)
	s.left.Set(11, 0)
	if body := s.menu(t).Body.String(); !strings.Contains(body, `"isSoldOut":true,"remaining":0`) {
		t.Error(body)
	}
	s.left.Set(11, -1)
	s.expireMenus()
	if body := s.menu(t).Body.String(); strings.Contains(body, `"isSoldOut":true`) || strings.Contains(body, `"remaining":0`) {
		t.Error(body)
	}
}

func TestMenuActive_locale(t *testing.T) {
	s := newSite(t)
	for _, tt := range []struct{ query, header, want string }{
		{"", "", "Món 11"},
		{"", "en", "Dish 11"},
		{"", "zh-TW, en;q=0.5", "Dish 11"},
		{"", "ja", "Món 11"},
		{"?locale=en", "vi", "Dish 11"},
		{"?locale=zh-TW", "en", "Dish 11"}, // the branch does not have it
	} {
		w := s.ask(t, http.MethodPost, "/cis/menu/active"+tt.query, `{"branchId":"1"}`, "Accept-Language", tt.header)
		if !strings.Contains(w.Body.String(), `"name":"`+tt.want+`"`) {
			t.Errorf("%s with %s: %s", tt.query, tt.header, w.Body)
		}
	}
}

func TestMenuActive_refuses(t *testing.T) {
	s := newSite(t)
	for _, tt := range []struct {
		body   string
		status int
		code   string
	}{
		{`{"branchId":"2"}`, 404, "branch_not_found"},
		{`{"branchId":"x"}`, 404, "branch_not_found"},
		{`{"branchId":"-1"}`, 404, "branch_not_found"},
		{`{"branchId":"1","tableId":"4"}`, 404, "table_not_found"},
		{`{"branchId":"1","tableId":"x"}`, 404, "table_not_found"},
		{`{"branchId":1}`, 422, "invalid"},
		{`{"branchId":""}`, 422, "invalid"},
		{`{"branchId":"1","price":1}`, 422, "invalid"},
		{`{}`, 422, "invalid"},
		{`{`, 400, "invalid_json"},
	} {
		t.Run(tt.body, func(t *testing.T) {
			wantStatus(t, s.ask(t, http.MethodPost, "/cis/menu/active", tt.body), tt.status, tt.code)
		})
	}
}

func TestMenuActive_conditional(t *testing.T) {
	s := newSite(t)
	first := s.menu(t)
	etag := first.Header().Get("ETag")
	for range 3 { // unchanged content keeps its ETag
		s.expireMenus()
		w := s.menu(t, "If-None-Match", `"other", `+etag)
		if w.Code != http.StatusNotModified || w.Body.Len() != 0 || w.Header().Get("ETag") != etag {
			t.Errorf("%d %q with %s", w.Code, w.Body, w.Header().Get("ETag"))
		}
	}
	s.left.Set(11, 3)
	s.expireMenus()
	if w := s.menu(t, "If-None-Match", etag); w.Code != http.StatusOK || w.Header().Get("ETag") == etag {
		t.Errorf("%d after a change, %s", w.Code, w.Header().Get("ETag"))
	}
	testenv.Equal(t, http.StatusOK, s.menu(t, "Accept-Language", "en", "If-None-Match", etag).Code)
}

func TestMenuActive_gzip(t *testing.T) {
	s := newSite(t)
	plain := s.menu(t)
	zipped := s.menu(t, "Accept-Encoding", "br, gzip")
	if zipped.Header().Get("Content-Encoding") != "gzip" || zipped.Header().Get("ETag") != plain.Header().Get("ETag") {
		t.Fatalf("headers = %v, want gzip with the ETag of the plain menu", zipped.Header())
	}
	r := testenv.Must(gzip.NewReader(zipped.Body))(t)
	if got, err := io.ReadAll(r); string(got) != plain.Body.String() || err != nil {
		t.Errorf("unzipped menu = %q, %v, want the plain one", got, err)
	}
	if w := s.menu(t, "Accept-Encoding", "gzip", "If-None-Match", plain.Header().Get("ETag")); w.Code != 304 ||
		w.Header().Get("Content-Encoding") != "" {
		t.Errorf("conditional request: status %d with headers %v, want 304 without coding", w.Code, w.Header())
	}
}

func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "br, gzip": true, "gzip;q=0.5": true, "gzip; q=0": false, "gzip;q=0.0": false,
		"*": true, "*;q=0": false, "identity": false, "x-gzip": false, "deflate, gzip;q=1.0, *;q=0.5": true,
	} {
		if got := acceptsGzip(header); got != want {
			t.Errorf("acceptsGzip(%q) = %t, want %t", header, got, want)
		}
	}
}

func TestMenuActive_without_SQL(t *testing.T) {
	s := newSite(t)
	down := fault.New(fault.Unavailable, "unavailable", "down")
	s.source.Fail(down)
	wantStatus(t, s.menu(t), http.StatusServiceUnavailable, "unavailable")
	s.source.Fail(nil)
	want := s.menu(t).Body.String()
	s.source.Fail(down)
	s.tables.err = down
	for range 5 {
		s.expireMenus()
		if w := s.menu(t); w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("menu without SQL: status %d with body %s, want the last menu", w.Code, w.Body)
		}
	}
}

func TestMenuActive_at_once(t *testing.T) {
	s := newSite(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for range 20 {
				s.left.Set(11, int64(i))
				if w := s.menu(t, "Accept-Encoding", "gzip"); w.Code != http.StatusOK {
					t.Errorf("menu: status %d with body %s, want 200", w.Code, w.Body)
				}
				s.expireMenus()
			}
		})
	}
	wg.Wait()
}

// store is a fake that records the calls of the staff's routes.
type store struct {
	catalog.MenuStore   // nil: the tests call only the methods below
	catalog.BranchStore // nil

	calls []string
	err   error
	pause *catalog.Pause // pause of the branch
}

func (s *store) note(format string, args ...any) error {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
	return s.err
}

func (s *store) Branches(context.Context) ([]catalog.Branch, error) {
	b := catalogtest.Branch()
	b.Pause = s.pause
	return []catalog.Branch{b}, s.note("branches")
}

func (s *store) SetQuota(_ context.Context, _ authz.Actor, item int64, quota *int64, _ time.Time) (int64, error) {
	return 1, s.note("quota %d %s", item, number(quota))
}

func (s *store) Draft(_ context.Context, _ authz.Actor, menu int64, now time.Time) (catalog.Version, error) {
	v := catalog.Version{ID: 7, MenuID: menu, BranchID: 1, Number: 2, Status: catalog.Draft, CreatedAt: now}
	return v, s.note("draft %d", menu)
}

func (s *store) EditDraft(_ context.Context, _ authz.Actor, version, item int64, e catalog.Entry, _ time.Time) error {
	return s.note("edit %d %d %d %s %t", version, item, e.Price, number(e.Quota), e.Active)
}

func (s *store) Publish(_ context.Context, _ authz.Actor, version int64, now time.Time) (catalog.Version, error) {
	v := catalog.Version{ID: version, MenuID: 1, BranchID: 1, Number: 2, Status: catalog.Published, CreatedAt: now}
	v.PublishedAt = now
	return v, s.note("publish %d", version)
}

func number(n *int64) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}

func TestStaff(t *testing.T) {
	s := newSite(t)
	for _, tt := range []struct {
		method, path, body string
		status             int
		answer, call       string
	}{
		{"GET", "/api/branches", "", 200, `{"items":[{"id":"1","name":"Hà Nội","country":null,"currency":"VND","timezone":"Asia/Ho_Chi_Minh",` +
			`"bizDayStartHour":4,"bizDate":"2026-02-26","locales":["vi","en"],"autoCloseMinutes":120,"isOpen":true,"sharedCart":false,"paused":null,` +
			`"mailFrom":null,"hasOrders":false,"retiredAt":null,` +
			`"openingHours":{"weekly":{},"exceptions":[]},"isOpenNow":true,"hoursChange":null}],"total":1}`,
			"branches"},
		{"PUT", "/api/menu-items/11/quota", `{"dailyQuota":50}`, 200, `{"itemId":"11","dailyQuota":50}`, "quota 11 50"},
		{"PUT", "/api/menu-items/11/quota", `{"dailyQuota":null}`, 200, `{"itemId":"11","dailyQuota":null}`, "quota 11 none"},
		{"POST", "/api/menus/1/versions", "", 201, `{"id":"7","menuId":"1","branchId":"1","number":2,"status":"DRAFT",` +
			`"createdAt":"2026-02-26T05:00:00Z","publishedAt":null}`, "draft 1"},
		{"PUT", "/api/menu-versions/7/items/11", `{"price":70000,"dailyQuota":null,"isActive":true}`, 200,
			`{"price":70000,"dailyQuota":null,"isActive":true}`, "edit 7 11 70000 none true"},
		{"POST", "/api/menu-versions/7/publish", "", 200, `{"id":"7","menuId":"1","branchId":"1","number":2,` +
			`"status":"PUBLISHED","createdAt":"2026-02-26T05:00:00Z","publishedAt":"2026-02-26T05:00:00Z"}`, "publish 7"},
	} {
		t.Run(tt.method+" "+tt.path+" "+tt.body, func(t *testing.T) {
			s.store.calls = nil
			wantStatus(t, s.ask(t, tt.method, tt.path, tt.body), http.StatusUnauthorized, "unauthenticated")
			if s.store.calls != nil {
				t.Errorf("an unauthenticated request called %v", s.store.calls)
			}
			w := s.ask(t, tt.method, tt.path, tt.body, "Authorization", "Bearer "+serviceToken)
			if got := strings.TrimSpace(w.Body.String()); w.Code != tt.status || got != tt.answer {
				t.Errorf("answer: status %d with body %s, want %d with %s", w.Code, got, tt.status, tt.answer)
			}
			testenv.Equal(t, []string{tt.call}, s.store.calls)
		})
	}
}

func TestStaff_refuses(t *testing.T) {
	s := newSite(t)
	for _, tt := range []struct {
		method, path, body string
		err                error
		status             int
		code               string
	}{
		{"PUT", "/api/menu-items/11/quota", `{"dailyQuota":-1}`, nil, 422, "invalid"},
		{"PUT", "/api/menu-items/11/quota", `{"dailyQuota":1000001}`, nil, 422, "invalid"},
		{"PUT", "/api/menu-items/11/quota", `{}`, nil, 422, "invalid"},
		{"PUT", "/api/menu-items/x/quota", `{"dailyQuota":1}`, nil, 422, "invalid"},
		{"PUT", "/api/menu-items/99/quota", `{"dailyQuota":1}`, catalog.ErrItem, 404, "menu_item_not_found"},
		{"PUT", "/api/menu-versions/5/items/11", `{"price":1,"dailyQuota":null,"isActive":true}`, catalog.ErrNotDraft, 409,
			"menu_version_not_draft"},
		{"PUT", "/api/menu-versions/5/items/11", `{"price":0.5,"dailyQuota":null,"isActive":true}`, nil, 422, "invalid"},
		{"PUT", "/api/menu-versions/5/items/11", `{"price":1}`, nil, 422, "invalid"},
		{"POST", "/api/menus/9/versions", "", catalog.ErrMenu, 404, "menu_not_found"},
		{"POST", "/api/menu-versions/9/publish", "", catalog.ErrEmpty, 409, "menu_version_empty"},
		{"GET", "/api/branches", "", errors.New("secret"), 500, "internal"},
	} {
		t.Run(tt.method+" "+tt.path+" "+tt.body, func(t *testing.T) {
			s.store.err = tt.err
			w := s.ask(t, tt.method, tt.path, tt.body, "Authorization", "Bearer "+serviceToken)
			wantStatus(t, w, tt.status, tt.code)
			if strings.Contains(w.Body.String(), "secret") {
				t.Error("the response contains the internal cause")
			}
		})
	}
}
