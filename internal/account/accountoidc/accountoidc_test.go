package accountoidc_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/account"
	"comanda/internal/account/accountoidc"
	"comanda/internal/account/accounttest"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

var stmts = sqldb.Load(fstest.MapFS{
	"count.sql": {Data: []byte(`SELECT COUNT(*) FROM app_user WHERE google_id = $1`)},
})

// env is a restaurant with the sign-in, whose issuer is in this process.
type env struct {
	*accounttest.Env

	t      *testing.T
	issuer *accounttest.Issuer
	google *account.Google
}

func each(t *testing.T, test func(h *env)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(newEnv(t, db)) })
}

func newEnv(t *testing.T, db *sqldb.DB) *env {
	t.Helper()
	h := &env{Env: accounttest.Open(t, db, accounttest.NewSessionCache()), t: t}
	h.issuer = accounttest.NewIssuer(t, h.Clock.Now)
	h.google = h.another()
	return h
}

// another returns the sign-in of another process.
func (h *env) another() *account.Google {
	return &account.Google{Store: h.Store, Accounts: h.Service, Provider: accountoidc.New(accountoidc.Config{
		Issuer: h.issuer.URL, ClientID: accounttest.IssuerClientID, ClientSecret: accounttest.IssuerClientSecret,
		RedirectURL: func() string { return "https://hoa.example/shop/google" }, Now: h.Clock.Now,
	})}
}

// person returns the claims of a person at Google.
func person(subject, email string, verified bool) map[string]any {
	return map[string]any{"sub": subject, "email": email, "email_verified": verified, "given_name": "Lan", "family_name": "Phạm"}
}

// enter logs a person in.
func (h *env) enter(who map[string]any) (account.IssuedTokens, error) {
	h.t.Helper()
	url, flow, err := h.google.Start(h.t.Context(), accounttest.Caller())
	testenv.NoError(h.t, err)
	code, state := h.issuer.Agree(url, who)
	return h.google.Finish(h.t.Context(), flow, state, code, accounttest.Caller())
}

func (h *env) mustEnter(who map[string]any) account.User {
	h.t.Helper()
	g, err := h.enter(who)
	testenv.NoError(h.t, err)
	h.SyncRevocations(h.t) // tokens are refused five seconds after the last time
	testenv.NoError(h.t, h.Authenticate(h.t.Context(), g.Access))
	return g.User
}

func (h *env) wantRefused(what string, err, want error) {
	h.t.Helper()
	if !errors.Is(err, want) {
		h.t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

func actorOf(u account.User) authz.Actor {
	return authz.Actor{Kind: authz.Account, UserID: u.ID, Role: u.Role}
}

// A person gets one account at the first sign-in, without a password, and the same one later, even after the address at
// Google has changed (002-A13). Any process may end a sign-in that another has begun.
func TestGoogle_002_A13_creates_one_account(t *testing.T) {
	each(t, func(h *env) {
		u := h.mustEnter(person("g1", "Lan@Gmail.com", true))
		if u.Email != "lan@gmail.com" || u.GoogleID != "g1" || u.Role != authz.RoleUser || !u.Registered || u.PasswordHash != "" ||
			u.FirstName != "Lan" || u.Surname != "Phạm" || u.Status != account.Active {
			h.t.Errorf("created %+v", u)
		}
		url, flow, err := h.google.Start(h.t.Context(), accounttest.Caller())
		testenv.NoError(h.t, err)
		code, state := h.issuer.Agree(url, person("g1", "other@example.com", false))
		g := testenv.Must(h.another().Finish(h.t.Context(), flow, state, code, accounttest.Caller()))(h.t)
		if g.User.ID != u.ID || g.User.Email != u.Email || g.NewAccount {
			h.t.Errorf("the second sign-in is that of %+v, new: %t", g.User, g.NewAccount)
		}
		_, err = h.Login(h.t.Context(), account.Credentials{Email: "lan@gmail.com", Password: accounttest.Password}, accounttest.Caller())
		h.wantRefused("a password", err, account.ErrLogin)
		if _, err := h.enter(person("g2", "new@example.com", false)); !errors.Is(err, account.ErrGoogleEmail) {
			h.t.Errorf("an address that is not verified: %v", err)
		}
	})
}

// Sign-ins of a new person at the same time create one account, which one of them reports (002-A13).
func TestGoogle_002_A13_concurrent(t *testing.T) {
	each(t, func(h *env) {
		var group sync.WaitGroup
		ids := make([]int64, 6)
		var created atomic.Int64
		for i := range ids {
			url, flow, err := h.google.Start(h.t.Context(), accounttest.Caller())
			testenv.NoError(h.t, err)
			code, state := h.issuer.Agree(url, person("g1", "lan@gmail.com", true))
			group.Go(func() {
				g, err := h.google.Finish(h.t.Context(), flow, state, code, accounttest.Caller())
				if err != nil {
					h.t.Error(err)
				}
				ids[i] = g.User.ID
				if g.NewAccount {
					created.Add(1)
				}
			})
		}
		group.Wait()
		for _, id := range ids {
			if id == 0 || id != ids[0] {
				h.t.Errorf("the accounts are %v", ids)
			}
		}
		if n := h.Number(h.t, stmts.Must("count"), "g1"); n != 1 || created.Load() != 1 {
			h.t.Errorf("%d accounts, %d reported as new", n, created.Load())
		}
	})
}

// An account of the same address is connected by a safe rule only (002-A13): verified here, and managed by Google.
func TestGoogle_002_A13_existing_accounts(t *testing.T) {
	each(t, func(h *env) {
		lan := h.CreateMember(h.t, "lan@gmail.com")
		if u := h.mustEnter(person("lan", "lan@gmail.com", true)); u.ID != lan.ID || u.PasswordHash == "" {
			h.t.Errorf("connected %+v, want the account with its password", u)
		}
		h.MustLogin(h.t, "lan@gmail.com")

		h.CreateMember(h.t, "minh@company.example")
		_, err := h.enter(person("minh", "minh@company.example", true))
		h.wantRefused("an address that Google does not manage", err, account.ErrGoogleLink)
		hosted := person("minh", "minh@company.example", true)
		hosted["hd"] = "company.example"
		h.mustEnter(hosted)

		second := person("other", "lan@gmail.com", true)
		_, err = h.enter(second)
		h.wantRefused("another person with the address of a connected account", err, account.ErrGoogleLink)

		cook := h.CreateStaff(h.t, "cook@gmail.com", authz.RoleKitchen)
		_, err = h.enter(person("cook", "cook@gmail.com", true))
		h.wantRefused("a staff account", err, account.ErrGoogleStaff)
		_, _, err = h.google.StartLink(h.t.Context(), actorOf(account.User{ID: cook.ID, Role: authz.RoleKitchen}), accounttest.Password, accounttest.Caller())
		h.wantRefused("connecting a staff account", err, account.ErrGoogleStaff)

		off := h.CreateMember(h.t, "off@gmail.com")
		h.SetStatus(h.t, off.ID, account.Disabled)
		_, err = h.enter(person("off", "off@gmail.com", true))
		h.wantRefused("a disabled account", err, account.ErrDisabled)

		// A member who becomes staff logs in by password from then on.
		h.SetRole(h.t, lan.ID, authz.RoleCashier)
		_, err = h.enter(person("lan", "lan@gmail.com", true))
		h.wantRefused("a member who became staff", err, account.ErrGoogleStaff)
	})
}

// A stranger has registered with the address of another person and never verified it. The person gets the account, and the
// stranger's password does not work (002-A13).
func TestGoogle_002_A13_unfinished_registration(t *testing.T) {
	each(t, func(h *env) {
		testenv.Must(h.Register(h.t.Context(), account.Registration{
			Profile: account.Profile{Email: "lan@example.com"}, Password: accounttest.Password,
		}, accounttest.Caller()))(h.t)
		u := h.mustEnter(person("lan", "lan@example.com", true))
		if u.Status != account.Active || !u.Registered {
			h.t.Errorf("connected %+v", u)
		}
		_, err := h.Login(h.t.Context(), account.Credentials{Email: "lan@example.com", Password: accounttest.Password}, accounttest.Caller())
		h.wantRefused("the stranger's password", err, account.ErrLogin)
	})
}

// A member connects Google with the password and disconnects it; an account of Google alone cannot be disconnected
// (002-A13).
func TestGoogle_002_A13_link(t *testing.T) {
	each(t, func(h *env) {
		lan := h.CreateMember(h.t, "lan@example.com")
		link := func(who map[string]any) (account.User, error) {
			url, flow, err := h.google.StartLink(h.t.Context(), actorOf(lan), accounttest.Password, accounttest.Caller())
			testenv.NoError(h.t, err)
			code, state := h.issuer.Agree(url, who)
			if !strings.HasSuffix(state, ".link") {
				h.t.Errorf("the state is %q", state)
			}
			if _, err := h.google.Finish(h.t.Context(), flow, state, code, accounttest.Caller()); !errors.Is(err, account.ErrGoogleState) {
				h.t.Errorf("a login with the flow of a connection: %v", err)
			}
			return h.google.FinishLink(h.t.Context(), actorOf(lan), flow, state, code, accounttest.Caller())
		}
		_, _, err := h.google.StartLink(h.t.Context(), actorOf(lan), "not the password", accounttest.Caller())
		h.wantRefused("a wrong password", err, account.ErrPassword)
		// The address at Google does not matter: the member proves both.
		testenv.Equal(h.t, "lan", testenv.Must(link(person("lan", "other@example.com", false)))(h.t).GoogleID)
		testenv.Equal(h.t, lan.ID, h.mustEnter(person("lan", "other@example.com", false)).ID)
		minh := h.mustEnter(person("minh", "minh@example.com", true))
		_, err = link(person("minh", "x@example.com", true))
		h.wantRefused("the person of another account", err, account.ErrGoogleTaken)
		_, err = h.google.Unlink(h.t.Context(), actorOf(lan), "not the password", accounttest.Caller())
		h.wantRefused("a wrong password", err, account.ErrPassword)
		for range 2 {
			if u := testenv.Must(h.google.Unlink(h.t.Context(), actorOf(lan), accounttest.Password, accounttest.Caller()))(h.t); u.GoogleID != "" {
				h.t.Errorf("still connected: %+v", u)
			}
		}
		_, err = h.google.Unlink(h.t.Context(), actorOf(minh), "x", accounttest.Caller())
		h.wantRefused("an account without a password", err, account.ErrGoogleOnly)
		h.wantNotices(lan, account.TemplateGoogleConnected, account.TemplateGoogleDisconnected)
		h.wantAudited(lan, audit.ActionGoogleLinked, audit.ActionGoogleUnlinked)
	})
}

// wantNotices compares the e-mails to an account after its welcome.
func (h *env) wantNotices(u account.User, want ...string) {
	h.t.Helper()
	var got []string
	for _, l := range h.Emails(h.t, u.Email) {
		if l.Template != account.TemplateVerify && l.Template != account.TemplateWelcome {
			got = append(got, l.Template)
		}
	}
	testenv.Equal(h.t, got, want)
}

// wantAudited compares the actions of an account about itself in the audit log.
func (h *env) wantAudited(u account.User, want ...string) {
	h.t.Helper()
	all, _ := testenv.Must2(auditsql.NewLog(h.DB).Entries(h.t.Context(), audit.Filter{
		EveryBranch: true, To: h.Clock.Now().Add(time.Hour), Limit: 10,
	}))(h.t)
	var got []string
	for _, e := range slices.Backward(all) {
		if self := fmt.Sprintf("user:%d", u.ID); e.Actor == self && e.Subject == self {
			got = append(got, e.Action)
		}
	}
	testenv.Equal(h.t, got, want)
}

// Each change of the connection is reported to the person and recorded, whether the login or a reset makes it.
func TestGoogle_changes_are_reported(t *testing.T) {
	each(t, func(h *env) {
		lan := h.CreateMember(h.t, "lan@gmail.com")
		h.mustEnter(person("lan", "lan@gmail.com", true))
		h.mustEnter(person("lan", "lan@gmail.com", true))
		h.wantNotices(lan, account.TemplateGoogleConnected)
		h.wantAudited(lan, audit.ActionGoogleLinked)
		h.Clock.Advance(time.Minute)
		testenv.NoError(h.t, h.RequestCode(h.t.Context(), account.Reset, lan.Email, accounttest.Caller()))
		testenv.NoError(h.t, h.ResetPassword(h.t.Context(), lan.Email, h.Code(h.t, lan.Email), "another password", accounttest.Caller()))
		h.wantNotices(lan, account.TemplateGoogleConnected, account.TemplateReset, account.TemplatePasswordReset)
		h.wantAudited(lan, audit.ActionGoogleLinked, audit.ActionGoogleUnlinked)
	})
}

// A connection that began with the password before a reset is refused after it (decision 85).
func TestGoogle_link_during_a_reset(t *testing.T) {
	each(t, func(h *env) {
		lan := h.CreateMember(h.t, "lan@example.com")
		h.Clock.Advance(time.Minute)
		url, flow, err := h.google.StartLink(h.t.Context(), actorOf(lan), accounttest.Password, accounttest.Caller())
		testenv.NoError(h.t, err)
		code, state := h.issuer.Agree(url, person("a stranger", "stranger@example.com", true))
		testenv.NoError(h.t, h.RequestCode(h.t.Context(), account.Reset, lan.Email, accounttest.Caller()))
		testenv.NoError(h.t, h.ResetPassword(h.t.Context(), lan.Email, h.Code(h.t, lan.Email), "another password", accounttest.Caller()))
		_, err = h.google.FinishLink(h.t.Context(), actorOf(lan), flow, state, code, accounttest.Caller())
		h.wantRefused("the password before", err, account.ErrGoogleState)
		if _, found, err := h.Store.FindGoogle(h.t.Context(), "a stranger"); found || err != nil {
			h.t.Errorf("connected: %t, %v", found, err)
		}
	})
}

// The end of a sign-in belongs to its start in the same browser: state, nonce, PKCE, client, audience, issuer, time
// (002-A13).
func TestGoogle_002_A13_refuses(t *testing.T) {
	h := newEnv(t, sqldbtest.SQLite(t))
	who := person("lan", "lan@gmail.com", true)
	begin := func() (code, state, flow string) {
		url, flow, err := h.google.Start(t.Context(), accounttest.Caller())
		testenv.NoError(t, err)
		code, state = h.issuer.Agree(url, who)
		return code, state, flow
	}
	finish := func(flow, state, code string) error {
		_, err := h.google.Finish(t.Context(), flow, state, code, accounttest.Caller())
		return err
	}
	code, state, flow := begin()
	_, _, other := begin()
	h.wantRefused("without the cookie", finish("", state, code), account.ErrGoogleState)
	h.wantRefused("the cookie of another browser", finish(other, state, code), account.ErrGoogleState)
	h.wantRefused("another state", finish(flow, state+"x", code), account.ErrGoogleState)
	h.wantRefused("another code", finish(flow, state, "x"), account.ErrGoogleRefused)
	testenv.NoError(t, finish(flow, state, code))
	h.wantRefused("a code twice", finish(flow, state, code), account.ErrGoogleRefused)

	code, _, _ = begin()
	_, state, flow = begin()
	h.wantRefused("the code of another flow (PKCE)", finish(flow, state, code), account.ErrGoogleRefused)

	code, state, flow = begin()
	h.Clock.Advance(account.GoogleFlowTTL)
	h.wantRefused("too late", finish(flow, state, code), account.ErrGoogleState)

	for name, change := range map[string]func(map[string]any){
		"another nonce":    func(c map[string]any) { c["nonce"] = "x" },
		"another audience": func(c map[string]any) { c["aud"] = "another client" },
		"another issuer":   func(c map[string]any) { c["iss"] = "https://evil.example" },
		"expired":          func(c map[string]any) { c["exp"] = h.Clock.Now().Add(-time.Minute).Unix() },
		"no subject":       func(c map[string]any) { c["sub"] = "" },
	} {
		h.issuer.Change(change)
		_, err := h.enter(who)
		h.wantRefused(name, err, account.ErrGoogleRefused)
	}
	h.issuer.Change(nil)
	h.mustEnter(who)
}

// All sign-ins share one discovery of a slow issuer. Each ends with its request, and after a failure none starts another one for
// five seconds.
func TestProvider_slow_discovery(t *testing.T) {
	clock := testenv.NewClock()
	arrived, answer := make(chan struct{}, 10), make(chan struct{})
	var slow atomic.Bool
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		select {
		case <-answer:
		case <-ctx.Done():
			slow.Store(true)
		}
		clock.Advance(time.Minute)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(issuer.Close)
	p := accountoidc.New(accountoidc.Config{Issuer: issuer.URL, RedirectURL: func() string { return "" }, Now: clock.Now})
	enter := func(ctx context.Context) error {
		_, err := p.AuthURL(ctx, account.GoogleFlow{})
		return err
	}
	results := make(chan error, 4)
	for range cap(results) {
		go func() { results <- enter(t.Context()) }()
	}
	<-arrived
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := enter(ctx); !errors.Is(err, account.ErrGoogleUnavailable) || slow.Load() {
		t.Errorf("a sign-in whose request has ended: %v, after the discovery: %t", err, slow.Load())
	}
	close(answer)
	for range cap(results) {
		testenv.ErrorIs(t, account.ErrGoogleUnavailable, <-results, "a failed discovery")
	}
	for _, again := range []int{0, 1} { // at once, and five seconds later
		if err := enter(t.Context()); !errors.Is(err, account.ErrGoogleUnavailable) || len(arrived) != again {
			t.Errorf("after a failure: %v and %d more requests, want %d", err, len(arrived), again)
		}
		clock.Advance(5 * time.Second)
	}
}

// An issuer that cannot be reached fails the sign-in only, and is asked again later; a process that starts does not wait
// for it (002-A13).
func TestGoogle_002_A13_unreachable(t *testing.T) {
	h := newEnv(t, sqldbtest.SQLite(t))
	url, flow, err := h.google.Start(t.Context(), accounttest.Caller())
	testenv.NoError(t, err)
	code, state := h.issuer.Agree(url, person("lan", "lan@gmail.com", true))
	h.issuer.Close()
	_, err = h.google.Finish(t.Context(), flow, state, code, accounttest.Caller())
	h.wantRefused("without the issuer", err, account.ErrGoogleUnavailable)
	fresh := h.another()
	for range 2 {
		_, _, err = fresh.Start(t.Context(), accounttest.Caller())
		h.wantRefused("without its configuration", err, account.ErrGoogleUnavailable)
	}
	_, _, err = (&account.Google{Store: h.Store, Accounts: h.Service}).Start(t.Context(), accounttest.Caller())
	h.wantRefused("off", err, account.ErrGoogleOff)
}
