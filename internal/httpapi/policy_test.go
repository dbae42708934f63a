package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

func TestStaff_NeedsTheServiceToken(t *testing.T) {
	h := newHarness(t, nil)
	for header, want := range map[string]int{
		"Bearer " + serviceToken: 204, "bearer " + serviceToken: 204, "": 401, "Bearer": 401, "Bearer ": 401,
		"Bearer " + serviceToken + "0": 401, "Bearer " + serviceToken[1:]: 401, "Basic " + serviceToken: 401,
		serviceToken: 401, "Bearer  " + serviceToken: 401,
	} {
		a := h.send("GET", "/staff", "", "Authorization", header)
		if a.StatusCode != want {
			t.Errorf("%q: %d, want %d", header, a.StatusCode, want)
		}
		if want == 401 && (a.problem(t)["code"] != "unauthenticated" || a.Header.Get("WWW-Authenticate") != "Bearer") {
			t.Errorf("Authorization %q: body %s, headers %v, want a Bearer challenge", header, a.body, a.Header)
		}
	}
}

func TestStaff_IsClosedWithoutAConfiguredToken(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.ServiceToken = "" })
	for _, header := range []string{"", "Bearer", "Bearer ", "Bearer " + serviceToken} {
		if a := h.send("GET", "/staff", "", "Authorization", header); a.StatusCode != 401 {
			t.Errorf("Authorization %q: status %d, want 401", header, a.StatusCode)
		}
	}
}

// fakeAuthenticator authenticates the token "good" as an account that may use every route except those of administrators.
type fakeAuthenticator struct{}

type actorKey struct{}

func (fakeAuthenticator) Account(ctx context.Context, token string, l *RouteInfo) (context.Context, string, error) {
	switch {
	case token != "good":
		return ctx, "", errBearer
	case l.Policy == Admin:
		return ctx, "user:7", fault.New(fault.Forbidden, "forbidden", "No.")
	}
	return context.WithValue(ctx, actorKey{}, "user:7 "+l.Module+" "+RequestID(ctx)), "user:7", nil
}

func (fakeAuthenticator) Service(ctx context.Context) context.Context {
	return context.WithValue(ctx, actorKey{}, "service "+RequestID(ctx))
}

type actorOut struct {
	Body struct {
		Kept string `json:"kept"`
	}
}

func registerActorRoutes(a *API) {
	for path, p := range map[string]Policy{"/k/staff": Staff, "/k/admin": Admin, "/k/member": Member} {
		op := huma.Operation{Method: http.MethodGet, Path: path, OperationID: path, Tags: []string{"kept"}, Summary: path}
		register(a, op, p, func(ctx context.Context, _ *struct{}) (*actorOut, error) {
			out := &actorOut{}
			out.Body.Kept, _ = ctx.Value(actorKey{}).(string)
			return out, nil
		})
	}
	a.s.SetAuthenticator(fakeAuthenticator{})
}

// An account may use the routes of its role. The service token belongs to no account and is accepted for staff routes
// only.
func TestServer_callsTheAuthenticator(t *testing.T) {
	h := newHarness(t, nil, registerActorRoutes)
	const service, good = "Bearer " + serviceToken, "Bearer good"
	for _, c := range []struct {
		path, bearer string
		status       int
		says         string // text of the context, or the code of the refusal
	}{
		{"/k/staff", good, 200, "user:7 KEPT abcdefgh"}, {"/k/member", good, 200, "user:7 KEPT abcdefgh"},
		{"/k/admin", good, 403, "forbidden"}, {"/k/staff", service, 200, "service abcdefgh"},
		{"/k/member", service, 403, "account_needed"}, {"/k/admin", service, 403, "account_needed"},
		{"/k/staff", "Bearer bad", 401, "unauthenticated"}, {"/k/member", "Bearer bad", 401, "unauthenticated"},
		{"/k/admin", "Bearer", 401, "unauthenticated"}, {"/k/member", "", 401, "unauthenticated"},
		{"/k/member", "Basic good", 401, "unauthenticated"},
	} {
		a := h.send("GET", c.path, "", "Authorization", c.bearer, "X-Request-Id", "abcdefgh")
		if a.StatusCode != c.status || !strings.Contains(a.body, `"`+c.says+`"`) {
			t.Errorf("%s with %q: %d %s", c.path, c.bearer, a.StatusCode, a.body)
		}
		if (a.StatusCode == 401) != (a.Header.Get("WWW-Authenticate") == "Bearer") {
			t.Errorf("%s with %q: %v", c.path, c.bearer, a.Header)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/k/staff", nil)
	r.Header["Authorization"] = []string{good, service}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized {
		t.Errorf("two tokens at once: %d", w.Code)
	}
	if actors := fmt.Sprint(h.log.records(t)); !strings.Contains(actors, "actor:user:7") ||
		!strings.Contains(actors, "actor:service") {
		t.Errorf("the records do not name the actors: %s", actors)
	}
}

// A permission without a module or a name could not be granted.
func TestRegister_RefusesPermissionsWithoutAModule(t *testing.T) {
	s := testenv.Must(New(Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	none := func(context.Context, *struct{}) (*struct{}, error) { return nil, nil }
	for _, p := range []Policy{Staff, Admin, Member} {
		mustPanic(t, "an operation without a tag", func() {
			register(s.API(), huma.Operation{Method: "GET", Path: "/" + string(p)}, p, none)
		})
		mustPanic(t, "a plain route without a module", func() {
			s.API().Handle(Route{Pattern: "GET /p/" + string(p), Policy: p, Name: "x", Handler: http.NotFoundHandler()})
		})
	}
	s.API().Handle(Route{Pattern: "GET /p", Policy: Staff, Module: "P", Name: "x", Handler: http.NotFoundHandler()})
	routes := s.API().Routes()
	if last := routes[len(routes)-1]; last.Index != len(routes)-1 || last.Module != "P" || last.Name != "x" {
		t.Errorf("last route = %+v, want module P and name x", last)
	}
}

func TestServer_RefusesOtherSites(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.TrustedOrigins = []string{"https://order.example.com"} })
	own := "http://" + h.Addr().String()
	for name, c := range map[string]struct {
		headers []string
		status  int
	}{
		"no browser":       {nil, 201},
		"same origin":      {[]string{"Sec-Fetch-Site", "same-origin"}, 201},
		"own origin":       {[]string{"Origin", own}, 201},
		"trusted":          {[]string{"Origin", "https://order.example.com"}, 201},
		"another site":     {[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"another origin":   {[]string{"Origin", "https://evil.example"}, 403},
		"an opaque origin": {[]string{"Origin", "null"}, 403},
	} {
		a := h.send("POST", "/cis/order/create", orderJSON, append(c.headers, "Content-Type", "application/json")...)
		if a.StatusCode != c.status || c.status == 403 && a.problem(t)["code"] != "cross_origin" {
			t.Errorf("%s: status %d with body %s, want %d", name, a.StatusCode, a.body, c.status)
		}
	}
	if a := h.send("POST", "/ipn", "a=b", "Origin", "https://gateway.example"); a.StatusCode != 200 {
		t.Errorf("a gateway's browser redirect: %d %s", a.StatusCode, a.body)
	}
}

func mustPanic(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s is accepted", name)
		}
	}()
	f()
}

// H1: registration fails, not the first request.
func TestRegister_requires_a_policy(t *testing.T) {
	c := Default()
	c.Listen = "127.0.0.1:0"
	s := testenv.Must(New(c, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	a := s.API()
	op := huma.Operation{Method: "GET", Path: "/x"}
	none := func(context.Context, *struct{}) (*struct{}, error) { return nil, nil }
	handler := http.NotFoundHandler()
	mustPanic(t, "an operation without a policy", func() { register(a, op, "", none) })
	mustPanic(t, "an invented policy", func() { register(a, op, "everybody", none) })
	mustPanic(t, "a plain route without a policy", func() { a.Handle(Route{Pattern: "GET /y", Handler: handler}) })
	mustPanic(t, "a pattern without a method", func() {
		a.Handle(Route{Pattern: "/y", Policy: Public, Handler: handler})
	})
	testenv.NoError(t, s.Start(t.Context()))
	defer func() { _ = s.Stop(context.Background()) }()
	mustPanic(t, "a route after the start", func() {
		a.Handle(Route{Pattern: "GET /late", Policy: Public, Handler: handler})
	})
}

// H1: every operation of the document shows its policy, and every route is in the list with one.
func TestRoutes_AllHaveAPolicy(t *testing.T) {
	h := newHarness(t, nil)
	var doc struct {
		Paths map[string]map[string]map[string]any
	}
	testenv.NoError(t, json.Unmarshal([]byte(h.send("GET", "/openapi.json", "").body), &doc))
	documented := map[string]string{}
	for path, item := range doc.Paths {
		for method, op := range item {
			policy, _ := op["x-policy"].(string)
			if !Policy(policy).valid() {
				t.Errorf("%s %s has policy %q", method, path, policy)
			}
			documented[strings.ToUpper(method)+" "+path] = policy
		}
	}
	plain := 0
	for _, l := range h.API().Routes() {
		if !l.Policy.valid() {
			t.Errorf("%+v has no policy", l)
		}
		switch shown := documented[l.Method+" "+l.Path]; {
		case !l.Documented:
			plain++
		case shown != string(l.Policy):
			t.Errorf("%+v is documented as %q", l, shown)
		}
	}
	if len(documented) != 6 || plain != 6 {
		t.Errorf("%d documented and %d plain routes", len(documented), plain)
	}
}

func TestGuestHeader_DoesNotPrintItsToken(t *testing.T) {
	in := createIn{GuestHeader: GuestHeader{CustomerToken: "canary"}}
	if s := fmt.Sprintf("%v %+v %#v", in, in, in); strings.Contains(s, "canary") {
		t.Error(s)
	}
}
