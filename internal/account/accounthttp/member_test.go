package accounthttp_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"comanda/internal/account"
	"comanda/internal/account/accounthttp"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/httpapi"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// allowAll lets every account use every route; authorization has tests of its own.
type allowAll struct{}

func (allowAll) Authorize(*authz.Actor, int) error { return nil }

// testServer is a server with the member routes.
type testServer struct {
	*accounttest.Env

	server *httpapi.Server
	log    *bytes.Buffer
}

func newTestServer(t *testing.T, db *sqldb.DB) *testServer {
	t.Helper()
	s := &testServer{Env: accounttest.Open(t, db, accounttest.NewSessionCache()), log: &bytes.Buffer{}}
	server := testenv.Must(httpapi.New(httpapi.Default(),
		slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})), prometheus.NewRegistry()))(t)
	s.Log = slog.New(slog.NewTextHandler(s.log, nil))
	accounthttp.RegisterMember(server.API(), s.Service, func() bool { return false })
	server.SetAuthenticator(authzhttp.Authenticator{Tokens: s.Authenticator, Routes: allowAll{}})
	s.server = server
	return s
}

func each(t *testing.T, test func(t *testing.T, s *testServer)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(t, newTestServer(t, db)) })
}

// ask sends a request, with an access token unless that is empty, and decodes the answer.
func (s *testServer) ask(t *testing.T, method, path, body, access string, into any) *httptest.ResponseRecorder {
	t.Helper()
	if access != "" {
		access = "Bearer " + access
	}
	w := testenv.Serve(t, s.server, method, path, body,
		"User-Agent", "Phone/1.0 (\x01test)", "Accept-Language", "en", "Authorization", access)
	if into != nil {
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			t.Fatalf("%s %s: status %d with body %s, want JSON", method, path, w.Code, w.Body)
		}
	}
	return w
}

func want(t *testing.T, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var p struct{ Code string }
	_ = json.Unmarshal(w.Body.Bytes(), &p)
	if w.Code != status || p.Code != code {
		t.Errorf("%d %s, want %d %s", w.Code, w.Body, status, code)
	}
}

type pair struct {
	AccessToken, RefreshToken string
	ExpiresIn                 int
	User                      map[string]any
}

const (
	email     = "lan@example.com"
	loginBody = `{"email":"lan@example.com","password":"` + accounttest.Password + `"}`
)

func (s *testServer) login(t *testing.T) (p pair) {
	t.Helper()
	want(t, s.ask(t, "POST", "/auth/login", loginBody, "", &p), 200, "")
	return p
}

// One account from registration to logout.
func TestMember_life_cycle(t *testing.T) {
	each(t, func(t *testing.T, s *testServer) {
		var made map[string]any
		w := s.ask(t, "POST", "/auth/register", `{"email":"Lan@Example.com","password":"`+accounttest.Password+`","firstName":"Lan",
			"phone":"0912 345 678","age":30,"gender":"FEMALE","province":"Hà Nội","deviceId":"D-1","profile":{"diet":["vegan"]}}`, "", &made)
		wantMade := map[string]any{
			"id": "1", "username": nil, "email": email, "phone": "0912345678", "address": nil, "gender": "FEMALE", "firstName": "Lan",
			"surname": nil, "age": 30.0, "occupation": nil, "province": "Hà Nội", "city": nil, "deviceId": "d-1", "googleId": nil,
			"geolocation": nil, "profile": map[string]any{"diet": []any{"vegan"}}, "accountStatus": "PENDING", "trustScore": 100.0,
			"fraudFlags": []any{},
			"registered": false, "roleId": made["roleId"], "role": "USER", "branchIds": []any{}, "lastLogin": nil, "createdAt": "2026-02-26T05:00:00Z",
			"updatedAt": "2026-02-26T05:00:00Z", "createdBy": nil, "updatedBy": nil, "version": 1.0,
		}
		if d := cmp.Diff(wantMade, made); d != "" || w.Code != http.StatusCreated {
			t.Error(w.Code, d)
		}
		want(t, s.ask(t, "POST", "/auth/login", loginBody, "", nil), 403, "not_verified")
		code := s.Code(t, email)
		want(t, s.ask(t, "POST", "/auth/otp/verify", `{"purpose":"VERIFY","email":"`+email+`","code":"`+code+`"}`, "", nil), 200, "")

		p := s.login(t)
		if p.ExpiresIn != 600 || p.User["accountStatus"] != "ACTIVE" || p.User["registered"] != true || p.User["password"] != nil {
			t.Errorf("login = %+v, want 600 s and a registered ACTIVE user without a password", p)
		}
		var me map[string]any
		want(t, s.ask(t, "GET", "/me", "", p.AccessToken, &me), 200, "")
		testenv.Equal(t, p.User, me)
		var next, retry pair
		want(t, s.ask(t, "POST", "/auth/refresh", `{"refreshToken":"`+p.RefreshToken+`"}`, "", &next), 200, "")
		want(t, s.ask(t, "POST", "/auth/refresh", `{"refreshToken":"`+p.RefreshToken+`"}`, "", &retry), 200, "")
		if next.RefreshToken == p.RefreshToken || cmp.Diff(next, retry) != "" {
			t.Errorf("refresh and its repetition = %+v and %+v, want one new pair", next, retry)
		}
		want(t, s.ask(t, "GET", "/me", "", next.AccessToken, nil), 200, "")
		want(t, s.ask(t, "POST", "/auth/logout", "", next.AccessToken, nil), 204, "")
		want(t, s.ask(t, "GET", "/me", "", next.AccessToken, nil), 401, "unauthenticated")
		want(t, s.ask(t, "GET", "/me", "", p.AccessToken, nil), 401, "unauthenticated")
		w = s.ask(t, "POST", "/auth/refresh", `{"refreshToken":"`+next.RefreshToken+`"}`, "", nil)
		want(t, w, 401, "refresh_token_invalid")
		if w.Header().Get("WWW-Authenticate") == "" {
			t.Error("401 without WWW-Authenticate")
		}
	})
}

// A member who agrees to news at the registration has agreed once it is verified, and can take it back.
func TestMember_news_at_registration(t *testing.T) {
	each(t, func(t *testing.T, s *testServer) {
		var got map[string]any
		body := `{"email":"` + email + `","password":"` + accounttest.Password + `","news":true}`
		want(t, s.ask(t, "POST", "/auth/register", body, "", nil), 201, "")
		want(t, s.ask(t, "POST", "/auth/otp/verify", `{"purpose":"VERIFY","email":"`+email+`","code":"`+s.Code(t, email)+`"}`, "", nil), 200, "")
		p := s.login(t)
		want(t, s.ask(t, "GET", "/me/mail", "", p.AccessToken, &got), 200, "")
		testenv.Equal(t, got, map[string]any{"locale": "en", "orderReceived": true, "orderReady": true, "news": true})
		want(t, s.ask(t, "PUT", "/me/mail", `{"orderReceived":true,"orderReady":true,"news":false}`, p.AccessToken, nil), 200, "")
		type consent struct {
			Given      int64
			Source, At string
		}
		rows := testenv.Must(sqldb.Collect(t.Context(), s.DB, sqldb.Row(func(c *consent) []any {
			return []any{&c.Given, &c.Source, &c.At}
		}), consents))(t)
		now := strconv.FormatInt(s.Clock.Now().UnixMilli(), 10)
		testenv.Equal(t, rows, []consent{{1, "REGISTRATION", now}, {0, "ACCOUNT", now}})
	})
}

var consents = sqldb.Load(fstest.MapFS{"list.sql": {Data: []byte(
	`SELECT given, source, CAST(at AS TEXT) FROM account_consent ORDER BY id`)}}).Must("list")

// Members choose which e-mails they get. The language is that of the request that verified their address, until they
// choose another.
func TestMember_mail_choices(t *testing.T) {
	each(t, func(t *testing.T, s *testServer) {
		// As of an account that an administrator has created.
		testenv.Equal(t, testenv.Must(s.Users.MailChoices(t.Context(), 999))(t), account.DefaultMailChoices())

		s.ask(t, "POST", "/auth/register", `{"email":"`+email+`","password":"`+accounttest.Password+`"}`, "", nil)
		want(t, s.ask(t, "POST", "/auth/otp/verify", `{"purpose":"VERIFY","email":"`+email+`","code":"`+s.Code(t, email)+`"}`, "", nil), 200, "")
		p := s.login(t)
		choices := func() (got map[string]any) {
			t.Helper()
			want(t, s.ask(t, "GET", "/me/mail", "", p.AccessToken, &got), 200, "")
			return got
		}
		testenv.Equal(t, choices(), map[string]any{"locale": "en", "orderReceived": true, "orderReady": true, "news": false})
		for body, chosen := range map[string]map[string]any{
			`{"locale":"vi","orderReceived":false,"orderReady":true}`: {"locale": "vi", "orderReceived": false, "orderReady": true, "news": false},
			`{"orderReceived":true,"orderReady":false}`:               {"orderReceived": true, "orderReady": false, "news": false},
		} {
			want(t, s.ask(t, "PUT", "/me/mail", body, p.AccessToken, nil), 200, "")
			testenv.Equal(t, choices(), chosen)
		}
		for _, body := range []string{`{"locale":"th","orderReceived":true,"orderReady":true}`, `{"locale":"vi"}`} {
			want(t, s.ask(t, "PUT", "/me/mail", body, p.AccessToken, nil), 422, "invalid")
		}
	})
}

func TestMember_logout_by_refresh_token(t *testing.T) {
	s := newTestServer(t, sqldbtest.SQLite(t))
	s.CreateMember(t, email)
	p := s.login(t)
	s.Clock.Advance(time.Hour)
	s.SyncRevocations(t)
	want(t, s.ask(t, "POST", "/auth/logout", `{"refreshToken":"`+p.RefreshToken+`"}`, p.AccessToken, nil), 204, "")
	want(t, s.ask(t, "POST", "/auth/refresh", `{"refreshToken":"`+p.RefreshToken+`"}`, "", nil), 401, "refresh_token_invalid")
	want(t, s.ask(t, "POST", "/auth/logout", "", "", nil), 401, "unauthenticated")
	want(t, s.ask(t, "POST", "/auth/logout", `{}`, "x", nil), 401, "unauthenticated")
}

// An expired access token alone ends its session, for clients without the refresh token. A forged token does not.
func TestMember_logout_by_expired_access_token(t *testing.T) {
	s := newTestServer(t, sqldbtest.SQLite(t))
	s.CreateMember(t, email)
	p := s.login(t)
	s.Clock.Advance(time.Hour)
	s.SyncRevocations(t)
	forged := p.AccessToken[:len(p.AccessToken)-4] + "AAAA"
	want(t, s.ask(t, "POST", "/auth/logout", "", forged, nil), 401, "unauthenticated")
	want(t, s.ask(t, "GET", "/me", "", p.AccessToken, nil), 401, "unauthenticated")
	for range 2 { // a repetition succeeds
		want(t, s.ask(t, "POST", "/auth/logout", "", p.AccessToken, nil), 204, "")
	}
	want(t, s.ask(t, "POST", "/auth/refresh", `{"refreshToken":"`+p.RefreshToken+`"}`, "", nil), 401, "refresh_token_invalid")
}

func TestMember_change(t *testing.T) {
	s := newTestServer(t, sqldbtest.SQLite(t))
	s.CreateMember(t, email)
	s.CreateMember(t, "minh@example.com")
	p := s.login(t)
	var me map[string]any
	want(t, s.ask(t, "PATCH", "/me", `{"username":"Lan","city":"Huế","profile":{"a":1}}`, p.AccessToken, &me), 200, "")
	if me["username"] != "lan" || me["city"] != "Huế" || cmp.Diff(me["profile"], map[string]any{"a": 1.0}) != "" || me["updatedBy"] != "user:1" {
		t.Errorf("PATCH /me = %v, want lan in Huế, updated by user:1", me)
	}
	want(t, s.ask(t, "PATCH", "/me", `{"city":"","age":30}`, p.AccessToken, &me), 200, "")
	if me["username"] != "lan" || me["city"] != nil || me["age"] != 30.0 {
		t.Errorf("PATCH /me = %v, want lan of age 30 without a city", me)
	}
	// Users can change neither the fields that authorize them nor fields that need verification.
	for _, field := range []string{
		`"role":"OWNER"`, `"roleId":"1"`, `"trustScore":100`, `"accountStatus":"ACTIVE"`, `"registered":true`, `"email":"x@example.com"`,
		`"password":"another password"`, `"googleId":"1"`, `"id":"2"`, `"branchIds":["1"]`, `"version":7`, `"profile":[1]`, `"age":200`,
		`"gender":"F"`, `"phone":"x"`,
	} {
		want(t, s.ask(t, "PATCH", "/me", "{"+field+"}", p.AccessToken, nil), 422, "invalid")
		want(t, s.ask(t, "POST", "/auth/register", `{"email":"new@example.com","password":"`+accounttest.Password+`",`+field+"}", "", nil), 422, "invalid")
	}
	want(t, s.ask(t, "PATCH", "/me", `{"city":"Huế"}`, "", nil), 401, "unauthenticated")
}

func TestMember_sessions(t *testing.T) {
	each(t, func(t *testing.T, s *testServer) {
		s.CreateMember(t, email)
		s.CreateMember(t, "minh@example.com")
		current, other, otherAccount := s.login(t), s.login(t), s.MustLogin(t, "minh@example.com")
		var list struct {
			Items []struct {
				ID, Device, Address string
				Current             bool
			}
			Total int
		}
		want(t, s.ask(t, "GET", "/me/sessions", "", current.AccessToken, &list), 200, "")
		if list.Total != 2 || len(list.Items) != 2 || list.Items[0].Current || !list.Items[1].Current ||
			list.Items[0].Device != "Phone/1.0 (test)" || list.Items[0].Address != "192.0.2.1" {
			t.Fatalf("sessions = %+v, want two of Phone/1.0 (test), the second one current", list)
		}
		// A session of another account gets the same answer as one that does not exist.
		for _, id := range []string{otherAccount.Session.ID, "unknown"} {
			want(t, s.ask(t, "DELETE", "/me/sessions/"+id, "", current.AccessToken, nil), 404, "session_not_found")
		}
		want(t, s.ask(t, "DELETE", "/me/sessions/"+list.Items[0].ID, "", current.AccessToken, nil), 204, "")
		want(t, s.ask(t, "GET", "/me", "", other.AccessToken, nil), 401, "unauthenticated")
		want(t, s.ask(t, "GET", "/me", "", otherAccount.Access, nil), 200, "")
	})
}

func TestMember_passwords(t *testing.T) {
	each(t, func(t *testing.T, s *testServer) {
		s.CreateMember(t, email)
		p := s.login(t)
		want(t, s.ask(t, "POST", "/me/password", `{"currentPassword":"wrong","newPassword":"another password"}`, p.AccessToken, nil), 403, "password_wrong")
		want(t, s.ask(t, "POST", "/me/password", `{"currentPassword":"`+accounttest.Password+`","newPassword":"short"}`, p.AccessToken, nil), 422, "invalid")
		want(t, s.ask(t, "POST", "/me/password", `{"currentPassword":"`+accounttest.Password+`","newPassword":"another password"}`, p.AccessToken, nil), 204, "")
		want(t, s.ask(t, "POST", "/auth/login", loginBody, "", nil), 401, "login_failed")

		s.Clock.Advance(time.Minute)
		s.SyncRevocations(t)
		reset := func(code string) string {
			return `{"email":"` + email + `","code":"` + code + `","password":"` + accounttest.Password + `"}`
		}
		for _, to := range []string{email, "nobody@example.com"} {
			want(t, s.ask(t, "POST", "/auth/otp/request", `{"purpose":"RESET","email":"`+to+`"}`, "", nil), 202, "")
			w := s.ask(t, "POST", "/auth/otp/request", `{"purpose":"RESET","email":"`+to+`"}`, "", nil)
			if want(t, w, 429, "rate_limited"); w.Header().Get("Retry-After") != "60" {
				t.Errorf("Retry-After: %s", w.Header().Get("Retry-After"))
			}
		}
		want(t, s.ask(t, "POST", "/auth/password/reset", reset("12345"), "", nil), 422, "code_invalid")
		want(t, s.ask(t, "POST", "/auth/password/reset", reset(s.Code(t, email)), "", nil), 204, "")
		want(t, s.ask(t, "GET", "/me", "", p.AccessToken, nil), 401, "unauthenticated")
		s.login(t)
	})
}

func TestMember_refuses(t *testing.T) {
	s := newTestServer(t, sqldbtest.SQLite(t))
	s.CreateMember(t, email)
	for _, c := range []struct {
		path, body string
		status     int
		code       string
	}{
		{"/auth/register", `{"email":"lan@example.com","password":"` + accounttest.Password + `"}`, 409, "email_taken"},
		{"/auth/register", `{"email":"a@example.com","password":"short"}`, 422, "invalid"},
		{"/auth/register", `{"email":"a@example.com","password":"` + strings.Repeat("x", 129) + `"}`, 422, "invalid"},
		{"/auth/register", `{"email":"nonsense","password":"` + accounttest.Password + `"}`, 422, "invalid"},
		{"/auth/register", `{"password":"` + accounttest.Password + `"}`, 422, "invalid"},
		{"/auth/login", `{"email":"lan@example.com","password":"wrong"}`, 401, "login_failed"},
		{"/auth/login", `{"email":"nobody@example.com","password":"wrong"}`, 401, "login_failed"},
		{"/auth/login", `{"password":"wrong"}`, 422, "invalid"},
		{"/auth/login", `{"email":"lan@example.com","username":"lan","password":"wrong"}`, 422, "invalid"},
		{"/auth/refresh", `{"refreshToken":"x"}`, 401, "refresh_token_invalid"},
		{"/auth/refresh", `{}`, 422, "invalid"},
		{"/auth/otp/request", `{"purpose":"LOGIN","email":"lan@example.com"}`, 422, "invalid"},
		{"/auth/otp/verify", `{"purpose":"RESET","email":"lan@example.com","code":"123456"}`, 422, "invalid"},
		{"/auth/otp/verify", `{"purpose":"VERIFY","email":"nobody@example.com","code":"123456"}`, 422, "code_invalid"},
	} {
		want(t, s.ask(t, "POST", c.path, c.body, "", nil), c.status, c.code)
	}
}

// No secret of a request is logged, however it ends.
func TestMember_logs_no_secret(t *testing.T) {
	s := newTestServer(t, sqldbtest.SQLite(t))
	s.CreateMember(t, email)
	p := s.login(t)
	code := s.Code(t, email)
	for _, body := range []string{loginBody, loginBody[:len(loginBody)-1], `{"password":"` + accounttest.Password + `","x":1}`} {
		s.ask(t, "POST", "/auth/login", body, p.AccessToken, nil)
	}
	s.ask(t, "POST", "/auth/otp/verify", `{"purpose":"VERIFY","email":"`+email+`","code":"`+code+`"}`, "", nil)
	s.Clock.Advance(time.Minute)
	for range 2 { // the second is a reuse
		s.ask(t, "POST", "/auth/refresh", `{"refreshToken":"`+p.RefreshToken+`"}`, "", nil)
		s.Clock.Advance(time.Minute)
	}
	log := s.log.String()
	if !strings.Contains(log, "authn_token_reuse") {
		t.Errorf("the reuse was not logged: %s", log)
	}
	for what, secret := range map[string]string{
		"password": accounttest.Password, "access token": p.AccessToken, "signature": p.AccessToken[len(p.AccessToken)-43:],
		"refresh token": p.RefreshToken, "code": code, "hash": account.TokenHash(p.RefreshToken), "address": email,
	} {
		if strings.Contains(log, secret) {
			t.Errorf("the %s is logged: %s", what, log)
		}
	}
}

// A login sets a device cookie that scripts cannot read and other sites cannot send. It survives a logout and grants
// nothing without the password.
func TestMember_device_cookie(t *testing.T) {
	each(t, func(t *testing.T, s *testServer) {
		s.CreateMember(t, email)
		var p pair
		w := s.ask(t, "POST", "/auth/login", loginBody, "", &p)
		set, err := http.ParseSetCookie(w.Header().Get("Set-Cookie"))
		if err != nil || set.Name != "comanda_device" || set.Path != "/" || !set.HttpOnly || set.Secure || set.Domain != "" ||
			set.SameSite != http.SameSiteStrictMode || set.MaxAge != 180*24*60*60 || len(set.Value) < 60 {
			t.Fatalf("device cookie: headers %v, error %v, want a strict HttpOnly cookie for 180 days", w.Header(), err)
		}
		if w := s.ask(t, "POST", "/auth/logout", "", p.AccessToken, nil); w.Code != 204 || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("a logout answers %d with the cookie %q", w.Code, w.Header().Get("Set-Cookie"))
		}
		send := func(method, path, body, access string) *httptest.ResponseRecorder {
			if access != "" {
				access = "Bearer " + access
			}
			return testenv.Serve(t, s.server, method, path, body, "Authorization", access, "Cookie", set.Name+"="+set.Value)
		}
		want(t, send("GET", "/me", "", ""), 401, "unauthenticated")
		want(t, send("POST", "/auth/refresh", `{"refreshToken":"`+set.Value[:128]+`"}`, ""), 401, "refresh_token_invalid")
		want(t, send("POST", "/auth/login", strings.Replace(loginBody, "correct", "wrong", 1), ""), 401, "login_failed")
		for range 100 { // guesses of strangers
			u, _, err := s.Store.Find(t.Context(), email, "")
			if err != nil || s.Store.RecordFailure(t.Context(), u.ID, u.PasswordHash) != nil {
				t.Fatal(err)
			}
		}
		want(t, s.ask(t, "POST", "/auth/login", loginBody, "", nil), 401, "login_failed")
		w = send("POST", "/auth/login", loginBody, "")
		want(t, w, 200, "")
		testenv.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
		w = send("POST", "/me/password", `{"currentPassword":"`+accounttest.Password+`","newPassword":"another password"}`, p.AccessToken)
		if changed, err := http.ParseSetCookie(w.Header().Get("Set-Cookie")); w.Code != 204 || err != nil || changed.Value == set.Value {
			t.Errorf("a change of the password answers %d with %v", w.Code, w.Header())
		}
	})
}
