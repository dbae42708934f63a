package account_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/limit"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

const (
	lan  = "lan@example.com"
	minh = "minh@example.com"
)

// each runs a test on both database engines.
func each(t *testing.T, test func(t *testing.T, h *accounttest.Env)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(t, accounttest.Open(t, db, accounttest.NewSessionCache())) })
}

func newSQLiteEnv(t testing.TB) *accounttest.Env {
	t.Helper()
	return accounttest.Open(t, sqldbtest.SQLite(t), accounttest.NewSessionCache())
}

func login(t *testing.T, h *accounttest.Env, password string) error {
	t.Helper()
	_, err := h.Login(t.Context(), account.Credentials{Email: lan, Password: password}, accounttest.Caller())
	return err
}

func change(t *testing.T, h *accounttest.Env, actor authz.Actor, present, next string) error {
	t.Helper()
	_, err := h.ChangePassword(t.Context(), actor, present, next, "")
	return err
}

func TestRegister(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		age := 30
		p := account.Profile{
			Username: "Lan", Email: "LAN@example.com", Phone: "0912 345 678", DeviceID: "D-1", Address: "1 Hàng Bài",
			Gender: "FEMALE", FirstName: "Lan", Surname: "Trần", Age: &age, Occupation: "cook", Province: "Hà Nội", City: "Ba Đình",
			Geolocation: "21.0285,105.8542", Extra: json.RawMessage(`{"diet":"vegan"}`),
		}
		made := testenv.Must(h.Register(t.Context(), account.Registration{Profile: p, Password: accounttest.Password},
			accounttest.Caller()))(t)
		got := testenv.Must(h.Me(t.Context(), authz.Actor{UserID: made.ID}))(t)
		want, _ := p.Normalized()
		testenv.Equal(t, want, got.Profile)
		testenv.Equal(t, made, got)
		if got.Role != authz.RoleUser || got.Status != account.Pending || got.Registered || got.Version != 1 ||
			!strings.HasPrefix(got.PasswordHash, "$argon2id$") || !got.CreatedAt.Equal(h.Clock.Now()) {
			t.Errorf("registered account = %+v, want a PENDING USER of version 1 with an argon2id hash", got)
		}
		letters := h.Emails(t, lan)
		if len(letters) != 1 || letters[0].Template != account.TemplateVerify || letters[0].Locale != "en" ||
			letters[0].Fields[account.FieldName] != "Lan" || !letters[0].Expires.Equal(h.Clock.Now().Add(5*time.Minute)) ||
			strings.Contains(letters[0].Fields[account.FieldCode], h.Code(t, lan)) {
			t.Errorf("e-mails = %+v, want one with an encrypted code, valid for 5 minutes", letters)
		}
	})
}

func TestRegister_refuses(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		testenv.Must(h.Register(t.Context(), account.Registration{Profile: account.Profile{
			Username: "lan", Email: lan, Phone: "0912345678", DeviceID: "d-1",
		}, Password: accounttest.Password}, accounttest.Caller()))(t)
		for _, c := range []struct {
			p        account.Profile
			password string
			want     *fault.Error
		}{
			{account.Profile{Email: "Lan@Example.com"}, accounttest.Password, account.ErrEmailTaken},
			{account.Profile{Email: minh, Username: "LAN"}, accounttest.Password, account.ErrUsernameTaken},
			{account.Profile{Email: minh, Phone: "0912-345-678"}, accounttest.Password, account.ErrPhoneTaken},
			{account.Profile{Email: minh, DeviceID: "D-1"}, accounttest.Password, account.ErrDeviceTaken},
			{account.Profile{Email: minh}, "too short", fault.New(fault.Invalid, "password_unfit", "")},
			{account.Profile{Email: minh}, "Minh@Example.com", fault.New(fault.Invalid, "password_unfit", "")},
			{account.Profile{Username: "minh"}, accounttest.Password, fault.New(fault.Invalid, "invalid", "")},
			{account.Profile{Email: "minh"}, accounttest.Password, fault.New(fault.Invalid, "invalid", "")},
		} {
			_, err := h.Register(t.Context(), account.Registration{Profile: c.p, Password: c.password}, accounttest.Caller())
			testenv.ErrorIs(t, c.want, err, c.p.Email+c.p.Username)
		}
		if n := len(h.Emails(t, minh)); n != 0 {
			t.Errorf("%d e-mails after a refused registration", n)
		}
	})
}

// Of concurrent registrations of one address, one succeeds.
func TestRegister_race(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.Hasher = account.NewHasher(accounttest.FastParams, 16)
		errs := make([]error, 16)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				_, errs[i] = h.Register(t.Context(), account.Registration{
					Profile: account.Profile{Email: lan}, Password: accounttest.Password,
				}, accounttest.Caller())
			})
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else {
				testenv.ErrorIs(t, account.ErrEmailTaken, err, "second registration")
			}
		}
		if won != 1 || len(h.Emails(t, lan)) != 1 {
			t.Errorf("%d registered, %d e-mails", won, len(h.Emails(t, lan)))
		}
	})
}

func TestLogin(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		u := h.CreateMember(t, lan)
		g := h.MustLogin(t, "LAN@example.com ")
		if g.User.ID != u.ID || g.ExpiresIn != account.AccessTokenTTL || len(g.Refresh) != 43 {
			t.Errorf("Login = %+v, want tokens of user %d", g, u.ID)
		}
		a, err := h.Authenticator.Authenticate(t.Context(), g.Access)
		want := authz.Actor{
			Kind: authz.Account, UserID: u.ID, RoleID: g.User.RoleID, Role: authz.RoleUser, Session: g.Session.ID,
		}
		if d := cmp.Diff(want, a); d != "" || err != nil {
			t.Error(d, err)
		}
		name := "lan.n"
		testenv.Must(h.ChangeMe(t.Context(), a, account.ProfileChanges{Username: &name}))(t)
		if _, err := h.Login(t.Context(), account.Credentials{Username: "Lan.N", Password: accounttest.Password}, accounttest.Caller()); err != nil {
			t.Errorf("by username: %v", err)
		}
		for _, c := range []account.Credentials{{}, {Email: lan, Username: "lan.n"}} {
			if _, err := h.Login(t.Context(), c, accounttest.Caller()); fault.KindOf(err) != fault.Invalid {
				t.Errorf("Login(%+v): error %v, want Invalid", c, err)
			}
		}
	})
}

func TestLogin_states(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		u := h.CreateMember(t, lan)
		for status, want := range map[account.Status]*fault.Error{
			account.Pending: account.ErrUnverified, account.Disabled: account.ErrDisabled,
		} {
			h.SetStatus(t, u.ID, status)
			testenv.ErrorIs(t, want, login(t, h, accounttest.Password), string(status))
			testenv.ErrorIs(t, account.ErrLogin, login(t, h, "something else"), string(status)+", wrong password")
		}
	})
}

// failuresWritten selects the numbers of recorded failed logins, of known and unknown accounts.
var failuresWritten = sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(`
	SELECT (SELECT SUM(failures) FROM app_user) + COALESCE(SUM(used), 0)
	FROM auth_cap WHERE action = 'login_nobody'`)}}).Must("it")

// A refusal costs one hash and one write, whether the account exists, is disabled or closed (S2).
func TestLogin_costs_the_same_for_every_name(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		u := h.CreateMember(t, lan)
		cost := func(what string, in account.Credentials, want error) {
			t.Helper()
			hashes, writes := h.Hasher.Stats().Computed, h.Number(t, failuresWritten)
			_, err := h.Login(t.Context(), in, accounttest.Caller())
			if hashes = h.Hasher.Stats().Computed - hashes; hashes != 1 || !errors.Is(err, want) {
				t.Errorf("%s: %d hashes, %v", what, hashes, err)
			}
			writes = h.Number(t, failuresWritten) - writes
			if errors.Is(err, account.ErrLogin) && writes != 1 {
				t.Errorf("%s: %d writes", what, writes)
			}
		}
		wrong := func(email string) account.Credentials {
			return account.Credentials{Email: email, Password: "something else"}
		}
		right := account.Credentials{Email: lan, Password: accounttest.Password}
		cost("known, wrong", wrong(lan), account.ErrLogin)
		cost("unknown", wrong(minh), account.ErrLogin)
		cost("no address", wrong("x"), account.ErrLogin)
		cost("no name", account.Credentials{Username: "?", Password: "something else"}, account.ErrLogin)
		h.SetStatus(t, u.ID, account.Disabled)
		cost("disabled, right", right, account.ErrDisabled)
		cost("disabled, wrong", wrong(lan), account.ErrLogin)
		h.SetStatus(t, u.ID, account.Active)
		for range 98 {
			_ = login(t, h, "something else")
		}
		cost("closed, right", right, account.ErrLogin)
		cost("closed, wrong", wrong(lan), account.ErrLogin)
	})
}

// sharedLimits adapts limit.Limiter to account.Limiter, as package app does.
type sharedLimits struct{ *limit.Limiter }

func (s sharedLimits) Peek(ctx context.Context, policy, subject string) (time.Duration, bool) {
	v := s.Limiter.Peek(ctx, policy, subject)
	return v.Retry, v.OK
}

// Concurrent guesses are limited like sequential ones: five from one client, twenty from all clients.
func TestLogin_concurrent_guesses(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		h.Hasher = account.NewHasher(accounttest.FastParams, 16)
		h.Limits = sharedLimits{&limit.Limiter{Local: limit.NewMemory(), Now: h.Clock.Now}}
		guess := func(network func(i int) string) (compared int64) {
			before := h.Hasher.Stats().Computed
			var all sync.WaitGroup
			for i := range account.HashQueue {
				all.Go(func() {
					c := accounttest.Caller()
					c.Network = network(i)
					_, err := h.Login(t.Context(), account.Credentials{Email: lan, Password: "something else"}, c)
					if !errors.Is(err, account.ErrLogin) && fault.KindOf(err) != fault.TooMany {
						t.Errorf("a guess: %v", err)
					}
				})
			}
			all.Wait()
			h.Clock.Advance(time.Minute) // resets login_instance
			return h.Hasher.Stats().Computed - before
		}
		if n := guess(func(int) string { return "192.0.2.7" }); n != 5 {
			t.Errorf("%d guesses from one client were compared, want 5", n)
		}
		h.Clock.Advance(time.Hour)
		if n := guess(func(i int) string { return "192.0.2." + strconv.Itoa(i) }); n != 20 {
			t.Errorf("%d guesses from many clients were compared, want 20", n)
		}
	})
}

// A hundred consecutive wrong passwords close login by password until a reset.
func TestLogin_closes_after_100_failures(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		for range 99 {
			testenv.ErrorIs(t, account.ErrLogin, login(t, h, "something else"), "wrong")
		}
		if err := login(t, h, accounttest.Password); err != nil {
			t.Fatalf("99 failures: %v", err)
		}
		for range 100 {
			testenv.ErrorIs(t, account.ErrLogin, login(t, h, "something else"), "wrong")
		}
		testenv.ErrorIs(t, account.ErrLogin, login(t, h, accounttest.Password), "after 100 failures")
		testenv.Equal(t, 1, h.Events.Count("login.closed"))
		h.Clock.Advance(time.Minute)
		reset(t, h, "another password")
		if err := login(t, h, "another password"); err != nil {
			t.Errorf("after the reset: %v", err)
		}
	})
}

func TestLogin_rehashes(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	h.Hasher = account.NewHasher(account.Argon2Params{Memory: 32, Time: 2, Threads: 1}, 2)
	for _, want := range []int64{2, 1} { // verified and rehashed, then only verified
		before := h.Hasher.Stats().Computed
		g := h.MustLogin(t, lan)
		testenv.Equal(t, want, h.Hasher.Stats().Computed-before)
		u, err := h.Me(t.Context(), authz.Actor{UserID: g.User.ID})
		if err != nil || !strings.Contains(u.PasswordHash, "m=32,t=2") {
			t.Errorf("password hash = %s, %v, want new parameters", u.PasswordHash, err)
		}
	}
}

// refusingLimits refuses one policy and records what was taken.
type refusingLimits struct {
	policy string
	taken  []string
}

func (l *refusingLimits) Allow(_ context.Context, policy, subject string) (time.Duration, bool) {
	l.taken = append(l.taken, policy+" "+subject)
	return 7 * time.Second, policy != l.policy
}

func (l *refusingLimits) Peek(_ context.Context, policy, _ string) (time.Duration, bool) {
	return 7 * time.Second, policy != l.policy
}

func TestLimits(t *testing.T) {
	h := newSQLiteEnv(t)
	u := h.CreateMember(t, lan)
	actor := authz.Actor{UserID: u.ID}
	for policy, do := range map[string]func() error{
		account.LimitLoginAccountIP: func() error { return login(t, h, accounttest.Password) },
		account.LimitLoginAccount:   func() error { return login(t, h, accounttest.Password) },
		account.LimitLoginIP:        func() error { return login(t, h, accounttest.Password) },
		account.LimitLoginInstance:  func() error { return login(t, h, accounttest.Password) },
		account.LimitCodeIP: func() error {
			return h.VerifyEmail(t.Context(), lan, "123456", accounttest.Caller())
		},
		account.LimitRegisterIP: func() error {
			_, err := h.Register(t.Context(), account.Registration{Profile: account.Profile{Email: minh}, Password: accounttest.Password}, accounttest.Caller())
			return err
		},
	} {
		before := h.Hasher.Stats().Computed
		l := &refusingLimits{policy: policy}
		h.Limits = l
		var f *fault.Error
		err := do()
		wantKind, wantCode := fault.TooMany, "rate_limited"
		if policy == account.LimitLoginInstance {
			wantKind, wantCode = fault.Unavailable, "busy"
		}
		if !errors.As(err, &f) || f.Kind != wantKind || f.Code != wantCode || f.RetryAfter != 7*time.Second {
			t.Errorf("%s: error %v, want %v, %s and RetryAfter 7s", policy, err, wantKind, wantCode)
		}
		if n := h.Hasher.Stats().Computed - before; n != 0 {
			t.Errorf("%s: %d hashes for a refused request", policy, n)
		}
	}
	h.Limits = &refusingLimits{policy: account.LimitLoginAccount}
	if err := change(t, h, actor, accounttest.Password, accounttest.Password+"!"); err != nil { // a session has a limit of its own
		t.Errorf("changing the password while strangers guess: %v", err)
	}
	testenv.NoError(t, change(t, h, actor, accounttest.Password+"!", accounttest.Password))
	l := &refusingLimits{policy: account.LimitLoginIP}
	h.Limits = l
	if err := login(t, h, accounttest.Password); err == nil || len(l.taken) != 0 {
		t.Errorf("a refused client took %v, %v", l.taken, err)
	}
	l = &refusingLimits{}
	h.Limits = l
	h.MustLogin(t, lan)
	testenv.ErrorIs(t, account.ErrLogin, login(t, h, "something else"), "wrong")
	want := []string{ // a successful login counts no failure
		"login_instance ",
		"login_instance ", "login_ip 192.0.2.7", "login_account_ip user:1 192.0.2.7", "login_account user:1",
	}
	testenv.Equal(t, want, l.taken)
}

func TestChangeMe(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		u, other := h.CreateMember(t, lan), h.CreateMember(t, minh)
		phone, city := "0912345678", "Huế"
		testenv.Must(h.ChangeMe(t.Context(), authz.Actor{UserID: other.ID}, account.ProfileChanges{Phone: &phone}))(t)
		_, err := h.ChangeMe(t.Context(), authz.Actor{UserID: u.ID}, account.ProfileChanges{Phone: &phone, City: &city})
		testenv.ErrorIs(t, account.ErrPhoneTaken, err, "a taken number")
		h.Clock.Advance(time.Hour)
		changed := testenv.Must(h.ChangeMe(t.Context(), authz.Actor{UserID: u.ID}, account.ProfileChanges{City: &city}))(t)
		kept, err := h.Me(t.Context(), authz.Actor{UserID: u.ID})
		if d := cmp.Diff(kept, changed); d != "" || err != nil {
			t.Error(d, err)
		}
		if kept.City != city || kept.Email != lan || kept.Version != 3 || !kept.UpdatedAt.Equal(h.Clock.Now()) {
			t.Errorf("Me = %+v, want the new city and version 3", kept)
		}
		_, err = h.ChangeMe(t.Context(), authz.Actor{UserID: 99}, account.ProfileChanges{City: &city})
		testenv.ErrorIs(t, authz.ErrUser, err, "an unknown account")
	})
}

// Refused values are counted, and only changes of such values are refused afterwards.
func TestChangeMe_limits_refusals(t *testing.T) {
	h := newSQLiteEnv(t)
	u, other := h.CreateMember(t, lan), h.CreateMember(t, minh)
	phone, free, city := "0912345678", "0987654321", "Huế"
	testenv.Must(h.ChangeMe(t.Context(), authz.Actor{UserID: other.ID}, account.ProfileChanges{Phone: &phone}))(t)
	l := &refusingLimits{}
	h.Limits = l
	change := func(c account.ProfileChanges) error {
		return testenv.Err(h.ChangeMe(t.Context(), authz.Actor{UserID: u.ID}, c))
	}
	testenv.ErrorIs(t, account.ErrPhoneTaken, change(account.ProfileChanges{Phone: &phone}))
	testenv.NoError(t, change(account.ProfileChanges{Phone: &free}))
	testenv.Equal(t, []string{"profile_account " + strconv.FormatInt(u.ID, 10)}, l.taken)
	l.policy = account.LimitProfile
	testenv.Equal(t, fault.TooMany, fault.KindOf(change(account.ProfileChanges{Phone: &phone})))
	testenv.NoError(t, change(account.ProfileChanges{City: &city}))
}

func TestChangePassword(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		current, other := h.MustLogin(t, lan), h.MustLogin(t, lan)
		actor := testenv.Must(h.Authenticator.Authenticate(t.Context(), current.Access))(t)
		testenv.Equal(t, fault.Invalid, fault.KindOf(change(t, h, actor, accounttest.Password, lan)))
		testenv.ErrorIs(t, account.ErrPassword, change(t, h, actor, "something else", "another password"), "wrong")
		testenv.NoError(t, change(t, h, actor, accounttest.Password, "another password"))
		if err := h.Authenticate(t.Context(), current.Access); err != nil {
			t.Errorf("this session: %v", err)
		}
		testenv.ErrorIs(t, authz.ErrInvalidToken, h.Authenticate(t.Context(), other.Access), "another session")
		testenv.ErrorIs(t, account.ErrRefresh, testenv.Err(h.Refresh(t.Context(), other.Refresh)), "its refresh token")
		testenv.ErrorIs(t, account.ErrLogin, login(t, h, accounttest.Password), "the old password")
		testenv.NoError(t, login(t, h, "another password"))
	})
}

// A login verified against a password that was replaced meanwhile begins no session.
func TestLogin_races_a_reset(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		u := h.CreateMember(t, lan)
		u = testenv.Must(h.Me(t.Context(), authz.Actor{UserID: u.ID}))(t)
		h.Clock.Advance(time.Minute)
		reset(t, h, "another password")
		proof := account.LoginProof{Hash: u.PasswordHash, NewHash: u.PasswordHash}
		_, _, err := h.Store.Begin(t.Context(), u, account.Session{ID: "s", UserID: u.ID, TokenHash: "x"}, proof)
		testenv.ErrorIs(t, account.ErrLogin, err, "the late session")
	})
}

// A login that was verified before the account was assigned to another branch begins no session of the former one.
func TestLogin_races_a_change_of_branches(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		u := h.CreateStaff(t, lan, authz.RoleCashier)
		u = testenv.Must(h.Me(t.Context(), authz.Actor{UserID: u.ID}))(t)
		const branch = 1
		testenv.Must(h.DB.Exec(t.Context(), fixtureStmts.Must("branch"), branch))(t)
		testenv.Must(h.DB.Exec(t.Context(), fixtureStmts.Must("assignment"), u.ID, branch))(t)
		proof := account.LoginProof{Hash: u.PasswordHash, NewHash: u.PasswordHash}
		_, _, err := h.Store.Begin(t.Context(), u, account.Session{ID: "s", UserID: u.ID, TokenHash: "x"}, proof)
		testenv.ErrorIs(t, account.ErrLogin, err, "the late session")
	})
}

// Guesses by e-mail address do not limit a login with the same text as username. They would only for an unknown address,
// and so show which addresses have an account.
func TestLogin_limits_of_unknown_names(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	counted := func(in account.Credentials) []string {
		l := &refusingLimits{}
		h.Limits = l
		in.Password = "something else"
		testenv.ErrorIs(t, account.ErrLogin, testenv.Err(h.Login(t.Context(), in, accounttest.Caller())), "wrong")
		return slices.DeleteFunc(l.taken, func(s string) bool { return !strings.HasPrefix(s, account.LimitLoginAccount+" ") })
	}
	testenv.Equal(t, []string{"login_account user:1"}, counted(account.Credentials{Email: lan}))
	testenv.Equal(t, []string{"login_account email:" + minh}, counted(account.Credentials{Email: minh}))
	for _, name := range []string{lan, minh} {
		if got := counted(account.Credentials{Username: name}); len(got) != 1 || !strings.HasPrefix(got[0], "login_account username:") {
			t.Errorf("the username %s counts for %v", name, got)
		}
	}
}
