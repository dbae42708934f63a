package visithttp_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/demo"
	"comanda/internal/httpapi"
	"comanda/internal/limit"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/visit"
	"comanda/internal/visit/visithttp"
	"comanda/internal/visit/visitsql"
	"comanda/internal/visit/visittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const serviceToken = "0123456789abcdef0123456789abcdef"

// site is a server with this package's routes over the demo restaurant.
type site struct {
	http.Handler
	db    *sqldb.DB
	clock *testenv.Clock
	log   *bytes.Buffer
}

func newSite(t *testing.T) *site {
	t.Helper()
	db := sqldbtest.SQLite(t)
	testenv.NoError(t, demo.Load(t.Context(), db))
	s := &site{db: db, clock: testenv.NewClock(), log: &bytes.Buffer{}}
	conf := httpapi.Default()
	conf.ServiceToken = serviceToken
	server := testenv.Must(httpapi.New(conf, slog.New(slog.NewTextHandler(s.log, nil)), prometheus.NewRegistry()))(t)
	server.SetAuthenticator(authzhttp.Authenticator{})
	store := visitsql.New(db)
	menus := catalog.NewMenuCache(catalogsql.New(db, nil), catalog.NoSharedCache{}, time.Now)
	guests := visit.NewGuests(store, visittest.NewMemoryBindings(), menus, s.clock.Now)
	visithttp.RegisterGuest(server.API(), &visit.Landing{Store: store, Branches: menus, Guests: guests, Now: s.clock.Now})
	visithttp.RegisterScan(server.API())
	visithttp.RegisterCalls(server.API(), &visit.Floor{Store: store, Guests: guests, Now: s.clock.Now})
	visithttp.RegisterStaff(server.API(), &visit.Floor{Store: store, Guests: guests, Now: s.clock.Now},
		func() string { return "https://order.example" })
	s.Handler = server
	return s
}

// ask sends a request with a customer token, or with the service token on a staff path, and decodes the response.
func (s *site) ask(t *testing.T, method, path, body, token string, into any) *httptest.ResponseRecorder {
	t.Helper()
	headers := []string{httpapi.CustomerTokenHeader, token}
	if strings.HasPrefix(path, "/api/") {
		headers = append(headers, "Authorization", "Bearer "+serviceToken)
	}
	w := testenv.Serve(t, s, method, path, body, headers...)
	if into != nil {
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			t.Fatalf("%s %s: status %d with body %s, want JSON", method, path, w.Code, w.Body)
		}
	}
	return w
}

func wantStatus(t *testing.T, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var p struct{ Code string }
	_ = json.Unmarshal(w.Body.Bytes(), &p)
	if w.Code != status || p.Code != code {
		t.Errorf("%d %s, want %d %s", w.Code, w.Body, status, code)
	}
}

type tables struct {
	Items []struct{ ID, BranchID, Label, QRToken, Link string }
	Total int
}

// qr returns the QR token of table A3.
func (s *site) qr(t *testing.T) string {
	t.Helper()
	var all tables
	s.ask(t, "GET", "/api/tables?branchId=1", "", "", &all)
	return all.Items[2].QRToken
}

func TestLanding_shape(t *testing.T) {
	s := newSite(t)
	var got map[string]any
	w := s.ask(t, "GET", "/cis/landing?qr="+s.qr(t), "", "", &got)
	token, visitID := got["customerToken"].(string), got["visitId"].(string)
	want := map[string]any{
		"customerToken": token, "visitId": visitID, "branchId": "1", "tableId": "3", "tableLabel": "A3",
		"paused": nil,
		"branch": map[string]any{
			"id": "1", "name": "Comanda Hà Nội", "currency": "VND", "timezone": "Asia/Ho_Chi_Minh",
			"locales": []any{"vi", "en", "zh-TW"}, "sharedCart": false,
		},
	}
	if d := cmp.Diff(want, got); w.Code != http.StatusOK || d != "" || len(token) != 43 || len(visitID) != 26 {
		t.Errorf("landing: status %d, body (-want +got):\n%s", w.Code, d)
	}
	testenv.Equal(t, "no-store", w.Header().Get("Cache-Control"))
}

func TestLanding(t *testing.T) {
	s := newSite(t)
	qr := s.qr(t)
	var first, second, third, fourth struct{ CustomerToken, VisitID string }
	s.ask(t, "POST", "/cis/landing", `{"qr":"`+qr+`"}`, "", &first)
	s.ask(t, "GET", "/cis/landing?qr="+qr, "", first.CustomerToken, &second)
	s.ask(t, "POST", "/cis/landing", `{"qr":"`+qr+`","customerToken":"`+first.CustomerToken+`"}`, "", &third)
	s.ask(t, "GET", "/cis/landing?qr="+qr, "", "garbage", &fourth)
	if first != second || first != third {
		t.Errorf("the phone did not keep its valid token: %v, %v, %v", first, second, third)
	}
	if fourth.CustomerToken == first.CustomerToken || fourth.VisitID != first.VisitID {
		t.Errorf("a second phone at the table: %v, %v", first, fourth)
	}
}

func TestLanding_refuses(t *testing.T) {
	s := newSite(t)
	old := s.qr(t)
	wantStatus(t, s.ask(t, "GET", "/cis/landing?qr="+visit.NewQRToken(), "", "", nil), 404, "qr_unknown")
	wantStatus(t, s.ask(t, "GET", "/cis/landing?qr=", "", "", nil), 422, "invalid")
	wantStatus(t, s.ask(t, "GET", "/cis/landing", "", "", nil), 422, "invalid")
	wantStatus(t, s.ask(t, "POST", "/cis/landing", `{"qr":"x","table":3}`, "", nil), 422, "invalid")
	wantStatus(t, s.ask(t, "POST", "/cis/landing", `{"qr":"x"}`, "", nil), 404, "qr_unknown")
	s.ask(t, "POST", "/api/tables/3/rotate", "", "", nil)
	wantStatus(t, s.ask(t, "GET", "/cis/landing?qr="+old, "", "", nil), 410, "qr_revoked")

	var in struct{ CustomerToken, VisitID string }
	s.ask(t, "GET", "/cis/landing?qr="+s.qr(t), "", "", &in)
	s.ask(t, "POST", "/api/visits/"+in.VisitID+"/close", "", "", nil)
	w := s.ask(t, "GET", "/cis/landing?qr="+s.qr(t), "", in.CustomerToken, nil)
	wantStatus(t, w, 403, "visit_closed_by_staff")
}

// HEAD and prefetches open no visit. The first GET of a guest does.
func TestLanding_ignores_prefetches(t *testing.T) {
	s := newSite(t)
	qr := s.qr(t)
	open := func() int {
		var all struct{ Items []json.RawMessage }
		s.ask(t, "GET", "/api/visits?branchId=1", "", "", &all)
		return len(all.Items)
	}
	for _, path := range []string{"/cis/landing?qr=" + qr, "/cis/landing?qr=" + visit.NewQRToken()} {
		w := s.ask(t, "HEAD", path, "", "", nil)
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"customerToken":"",`) { // the recorder keeps the body; a real connection drops it
			t.Errorf("HEAD: %d %s", w.Code, w.Body)
		}
	}
	for header, value := range map[string]string{
		"Sec-Purpose": "prefetch", "sec-purpose": "prefetch;prerender", "Purpose": "prefetch", "X-Moz": "Prefetch",
	} {
		for _, path := range []string{"/cis/landing?qr=" + qr, "/m/" + qr} {
			w := testenv.Serve(t, s, "GET", path, "", header, value)
			wantStatus(t, w, 503, "prefetch_refused")
			testenv.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		}
	}
	testenv.Equal(t, 0, open())
	if s.ask(t, "GET", "/cis/landing?qr="+qr, "", "", nil); open() != 1 {
		t.Errorf("%d visits are open after a GET", open())
	}
}

func TestScan(t *testing.T) {
	s := newSite(t)
	w := s.ask(t, "GET", "/m/"+s.qr(t), "", "", nil)
	if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != "/cis/landing?qr="+s.qr(t) {
		t.Errorf("%d to %q", w.Code, got)
	}
	w = s.ask(t, "GET", "/m/a&b=%2f", "", "", nil)
	testenv.Equal(t, "/cis/landing?qr=a%26b%3D%2F", w.Header().Get("Location"))
}

func TestNoTokenIsLogged(t *testing.T) {
	s := newSite(t)
	qr := s.qr(t)
	var in struct{ CustomerToken string }
	s.ask(t, "GET", "/m/"+qr, "", "", nil)
	s.ask(t, "GET", "/cis/landing?qr="+qr, "", "", &in)
	s.ask(t, "GET", "/cis/landing?qr="+qr, "", in.CustomerToken, nil)
	if log := s.log.String(); !strings.Contains(log, "/cis/landing") || strings.Contains(log, qr) ||
		strings.Contains(log, in.CustomerToken) {
		t.Errorf("the log: %s", log)
	}
}

func TestStaff_tables(t *testing.T) {
	s := newSite(t)
	var one, page, all, rest tables
	s.ask(t, "GET", "/api/tables?branchId=1", "", "", &one)
	s.ask(t, "GET", "/api/tables?page=2&size=5", "", "", &page)
	s.ask(t, "GET", "/api/tables", "", "", &all)
	s.ask(t, "GET", "/api/tables?page=9", "", "", &rest)
	if len(one.Items) != 6 || one.Total != 6 || len(all.Items) != 18 || all.Total != 18 || len(rest.Items) != 0 {
		t.Errorf("%d of %d, %d of %d, %d", len(one.Items), one.Total, len(all.Items), all.Total, len(rest.Items))
	}
	if len(page.Items) != 5 || page.Items[0].Label != "A6" || page.Items[4].Label != "B4" {
		t.Errorf("the second page: %+v", page.Items)
	}
	if a3 := one.Items[2]; a3.Label != "A3" || a3.Link != "https://order.example/m/"+a3.QRToken {
		t.Errorf("table = %+v, want A3 with the link of its code", a3)
	}
	var rotated struct{ ID, QRToken string }
	s.ask(t, "POST", "/api/tables/3/rotate", "", "", &rotated)
	if rotated.ID != "3" || rotated.QRToken == one.Items[2].QRToken || rotated.QRToken != s.qr(t) {
		t.Errorf("rotated table = %+v, want 3 with another code", rotated)
	}
	wantStatus(t, s.ask(t, "POST", "/api/tables/99/rotate", "", "", nil), 404, "table_not_found")
	wantStatus(t, s.ask(t, "GET", "/api/tables?size=101", "", "", nil), 422, "invalid")
}

func TestStaff_visits(t *testing.T) {
	s := newSite(t)
	var in struct{ VisitID string }
	s.ask(t, "GET", "/cis/landing?qr="+s.qr(t), "", "", &in)
	var got struct {
		Items []map[string]any
		Total int
	}
	s.ask(t, "GET", "/api/visits?branchId=1&status=OPEN", "", "", &got)
	want := map[string]any{
		"id": in.VisitID, "branchId": "1", "tableId": "3", "tableLabel": "A3", "bizDate": "2026-02-26", "status": "OPEN",
		"guests": 1.0, "openedAt": "2026-02-26T05:00:00Z", "lastSeenAt": "2026-02-26T05:00:00Z", "closedAt": nil,
		"closeReason": nil, "calls": []any{},
	}
	if d := cmp.Diff([]map[string]any{want}, got.Items); d != "" || got.Total != 1 {
		t.Errorf("visits: total %d, items (-want +got):\n%s", got.Total, d)
	}
	s.clock.Advance(time.Minute)
	var closed map[string]any
	s.ask(t, "POST", "/api/visits/"+in.VisitID+"/close", "", "", &closed)
	want["status"], want["closedAt"], want["closeReason"] = "CLOSED", "2026-02-26T05:01:00Z", "STAFF"
	testenv.Equal(t, want, closed)
	s.ask(t, "GET", "/api/visits?branchId=1&status=OPEN", "", "", &got)
	if got.Total != 0 || len(got.Items) != 0 {
		t.Errorf("open after the closing: %+v", got)
	}
	wantStatus(t, s.ask(t, "POST", "/api/visits/nobody/close", "", "", nil), 404, "visit_not_found")
	wantStatus(t, s.ask(t, "GET", "/api/visits?branchId=1&status=MAYBE", "", "", nil), 422, "invalid")
	wantStatus(t, s.ask(t, "GET", "/api/visits", "", "", nil), 422, "invalid")
}

func TestStaff_routes_require_a_staff_login(t *testing.T) {
	s := newSite(t)
	for _, c := range [][2]string{
		{"GET", "/api/tables"}, {"POST", "/api/tables/3/rotate"}, {"GET", "/api/visits?branchId=1"}, {"POST", "/api/visits/x/close"},
		{"POST", "/api/tables"}, {"PATCH", "/api/tables/3"}, {"GET", "/api/tables/qr-sheet?branchId=1"}, {"GET", "/api/tables/3/qr.svg"},
		{"PUT", "/api/branches/1/floor-plan"}, {"POST", "/api/visits"}, {"POST", "/api/visits/x/move"}, {"POST", "/api/visits/x/answer"},
	} {
		wantStatus(t, testenv.Serve(t, s, c[0], c[1], ""), 401, "unauthenticated")
	}
}

// Calls of one visit are rate-limited.
func TestCall_limits(t *testing.T) {
	s := newSite(t)
	s.Handler.(*httpapi.Server).SetLimiter(&limit.Limiter{Local: limit.NewMemory(), Now: s.clock.Now})
	var in struct{ CustomerToken, VisitID string }
	s.ask(t, "GET", "/cis/landing?qr="+s.qr(t), "", "", &in)
	ring := func() *httptest.ResponseRecorder {
		return s.ask(t, "POST", "/cis/visit/"+in.VisitID+"/call", `{"reason":"HELP"}`, in.CustomerToken, nil)
	}
	for range 6 {
		wantStatus(t, ring(), 200, "")
	}
	wantStatus(t, ring(), 429, "rate_limited")
	s.clock.Advance(20 * time.Second)
	wantStatus(t, ring(), 200, "")
}

// After twenty unknown codes a valid one is refused too. Sixty valid scans at once are accepted, as when a coach
// arrives.
func TestLanding_limits(t *testing.T) {
	for name, c := range map[string]struct {
		qr    func(s *site, i int) string
		limit int
		code  string
	}{
		"guesses": {func(*site, int) string { return strings.Repeat("x", 43) }, 20, "qr_unknown"},
		"scans":   {func(s *site, _ int) string { return s.qr(t) }, 60, ""},
	} {
		s := newSite(t)
		s.Handler.(*httpapi.Server).SetLimiter(&limit.Limiter{Local: limit.NewMemory(), Now: s.clock.Now})
		scan := func(qr string) *httptest.ResponseRecorder {
			return s.ask(t, http.MethodGet, "/cis/landing?qr="+qr, "", "", nil)
		}
		for i := range c.limit {
			if w := scan(c.qr(s, i)); w.Code == http.StatusTooManyRequests || !strings.Contains(w.Body.String(), c.code) {
				t.Fatalf("%s, the %dth: %d %s", name, i+1, w.Code, w.Body)
			}
		}
		w := scan(s.qr(t))
		if w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), `"rate_limited"`) {
			t.Errorf("%s: one more is answered %d %s", name, w.Code, w.Body)
		}
	}
}

// A guest who scans while the branch is paused receives the reason and the end of the pause, in the branch's locale
// that suits them best.
func TestLanding_paused(t *testing.T) {
	s := newSite(t)
	store := catalogsql.New(s.db, nil)
	house := &catalog.BranchAdmin{Store: store, Menus: catalog.NewMenuCache(store, catalog.NoSharedCache{}, s.clock.Now), Now: s.clock.Now}
	until := s.clock.Now().Add(time.Hour).Truncate(time.Second)
	texts := catalog.Texts{catalog.Vietnamese: "Mất điện", catalog.English: "Power cut"}
	testenv.Must(house.Pause(t.Context(), authz.System(), 1, catalog.Pause{Texts: texts}, catalog.Until{At: until}))(t)
	qr := s.qr(t)
	for language, want := range map[string]string{"": "Mất điện", "en-GB": "Power cut", "ja": "Mất điện"} {
		w := testenv.Serve(t, s, "GET", "/cis/landing?qr="+qr, "", "Accept-Language", language)
		var got struct{ Paused map[string]any }
		testenv.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
		notified := map[string]any{"reasonCode": nil, "reason": want, "until": until.Format(time.RFC3339)}
		if d := cmp.Diff(notified, got.Paused); d != "" {
			t.Errorf("pause in %q (-want +got):\n%s", language, d)
		}
	}
	s.clock.Advance(time.Hour)
	var got struct{ Paused map[string]any }
	if s.ask(t, "POST", "/cis/landing", `{"qr":"`+qr+`"}`, "", &got); got.Paused != nil {
		t.Errorf("an hour later: %v", got.Paused)
	}
}
