package identity_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/identity/identitytest"
	"comanda/internal/limit"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
)

const (
	lan  = "lan@example.com"
	minh = "minh@example.com"
)

// each runs a test on both database engines.
func each(t *testing.T, test func(t *testing.T, h *identitytest.Env)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(t, identitytest.Open(t, db, identitytest.NewSessionCache())) })
}

func newSQLiteEnv(t testing.TB) *identitytest.Env {
	t.Helper()
	return identitytest.Open(t, sqldbtest.SQLite(t), identitytest.NewSessionCache())
}

func wantFault(t *testing.T, what string, got error, want *fault.Error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want %s", what, got, want.Code)
	}
}

func login(t *testing.T, h *identitytest.Env, password string) error {
	t.Helper()
	_, err := h.Login(t.Context(), identity.Credentials{Email: lan, Password: password}, identitytest.Caller())
	return err
}

func change(t *testing.T, h *identitytest.Env, who identity.Actor, present, next string) error {
	t.Helper()
	_, err := h.ChangePassword(t.Context(), who, present, next, "")
	return err
}

func TestRegister(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		age := 30
		p := identity.Profile{
			Username: "Lan", Email: "LAN@example.com", Phone: "0912 345 678", DeviceID: "D-1", Address: "1 Hàng Bài",
			Gender: "FEMALE", FirstName: "Lan", Surname: "Trần", Age: &age, Occupation: "cook", Province: "Hà Nội", City: "Ba Đình",
			Geolocation: "21.0285,105.8542", Extra: json.RawMessage(`{"diet":"vegan"}`),
		}
		made, err := h.Register(t.Context(), identity.Registration{Profile: p, Password: identitytest.Password}, identitytest.Caller())
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.Me(t.Context(), identity.Actor{UserID: made.ID})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := p.Normalized()
		if d := cmp.Diff(want, got.Profile); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(made, got); d != "" {
			t.Errorf("the returned account differs from the stored one: %s", d)
		}
		if got.Role != identity.RoleUser || got.Status != identity.Pending || got.Registered || got.Version != 1 ||
			!strings.HasPrefix(got.PasswordHash, "$argon2id$") || !got.CreatedAt.Equal(h.Clock.Now()) {
			t.Errorf("%+v", got)
		}
		letters := h.Emails(t, lan)
		if len(letters) != 1 || letters[0].Template != identity.TemplateVerify || letters[0].Locale != "en" ||
			letters[0].Fields[identity.FieldName] != "Lan" || !letters[0].Expires.Equal(h.Clock.Now().Add(5*time.Minute)) ||
			strings.Contains(letters[0].Fields[identity.FieldCode], h.Code(t, lan)) {
			t.Errorf("%+v", letters)
		}
	})
}

func TestRegister_refuses(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		if _, err := h.Register(t.Context(), identity.Registration{Profile: identity.Profile{
			Username: "lan", Email: lan, Phone: "0912345678", DeviceID: "d-1",
		}, Password: identitytest.Password}, identitytest.Caller()); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			p        identity.Profile
			password string
			want     *fault.Error
		}{
			{identity.Profile{Email: "Lan@Example.com"}, identitytest.Password, identity.ErrEmailTaken},
			{identity.Profile{Email: minh, Username: "LAN"}, identitytest.Password, identity.ErrUsernameTaken},
			{identity.Profile{Email: minh, Phone: "0912-345-678"}, identitytest.Password, identity.ErrPhoneTaken},
			{identity.Profile{Email: minh, DeviceID: "D-1"}, identitytest.Password, identity.ErrDeviceTaken},
			{identity.Profile{Email: minh}, "too short", fault.New(fault.Invalid, "password_unfit", "")},
			{identity.Profile{Email: minh}, "Minh@Example.com", fault.New(fault.Invalid, "password_unfit", "")},
			{identity.Profile{Username: "minh"}, identitytest.Password, fault.New(fault.Invalid, "invalid", "")},
			{identity.Profile{Email: "minh"}, identitytest.Password, fault.New(fault.Invalid, "invalid", "")},
		} {
			_, err := h.Register(t.Context(), identity.Registration{Profile: c.p, Password: c.password}, identitytest.Caller())
			wantFault(t, c.p.Email+c.p.Username, err, c.want)
		}
		if n := len(h.Emails(t, minh)); n != 0 {
			t.Errorf("%d e-mails after a refused registration", n)
		}
	})
}

// Of concurrent registrations of one address, one succeeds.
func TestRegister_race(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		h.Hasher = identity.NewHasher(identitytest.FastParams, 16)
		errs := make([]error, 16)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				_, errs[i] = h.Register(t.Context(), identity.Registration{
					Profile: identity.Profile{Email: lan}, Password: identitytest.Password,
				}, identitytest.Caller())
			})
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else {
				wantFault(t, "second registration", err, identity.ErrEmailTaken)
			}
		}
		if won != 1 || len(h.Emails(t, lan)) != 1 {
			t.Errorf("%d registered, %d e-mails", won, len(h.Emails(t, lan)))
		}
	})
}

func TestLogin(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		u := h.CreateMember(t, lan)
		g := h.MustLogin(t, "LAN@example.com ")
		if g.User.ID != u.ID || g.ExpiresIn != identity.AccessTokenTTL || len(g.Refresh) != 43 {
			t.Errorf("%+v", g)
		}
		a, err := h.Authenticator.Authenticate(t.Context(), g.Access)
		want := identity.Actor{
			Kind: identity.Account, UserID: u.ID, RoleID: g.User.RoleID, Role: identity.RoleUser, Session: g.Session.ID,
		}
		if d := cmp.Diff(want, a); d != "" || err != nil {
			t.Error(d, err)
		}
		name := "lan.n"
		if _, err := h.ChangeMe(t.Context(), a, identity.ProfileChanges{Username: &name}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Login(t.Context(), identity.Credentials{Username: "Lan.N", Password: identitytest.Password}, identitytest.Caller()); err != nil {
			t.Errorf("by username: %v", err)
		}
		for _, c := range []identity.Credentials{{}, {Email: lan, Username: "lan.n"}} {
			if _, err := h.Login(t.Context(), c, identitytest.Caller()); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%+v: %v", c, err)
			}
		}
	})
}

func TestLogin_states(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		u := h.CreateMember(t, lan)
		for status, want := range map[identity.Status]*fault.Error{
			identity.Pending: identity.ErrUnverified, identity.Disabled: identity.ErrDisabled,
		} {
			h.SetStatus(t, u.ID, status)
			wantFault(t, string(status), login(t, h, identitytest.Password), want)
			wantFault(t, string(status)+", wrong password", login(t, h, "something else"), identity.ErrLogin)
		}
	})
}

// failuresWritten selects how many failed logins were written, of known and unknown accounts.
var failuresWritten = sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(`
	SELECT (SELECT SUM(failures) FROM app_user) + COALESCE(SUM(used), 0)
	FROM auth_cap WHERE action = 'login_nobody'`)}}).Must("it")

// A refusal costs one hash and one write, whether the account exists, is disabled or closed (S2).
func TestLogin_costs_the_same_for_every_name(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		u := h.CreateMember(t, lan)
		cost := func(what string, in identity.Credentials, want error) {
			t.Helper()
			hashes, writes := h.Hasher.Stats().Computed, h.Number(t, failuresWritten)
			_, err := h.Login(t.Context(), in, identitytest.Caller())
			if hashes = h.Hasher.Stats().Computed - hashes; hashes != 1 || !errors.Is(err, want) {
				t.Errorf("%s: %d hashes, %v", what, hashes, err)
			}
			writes = h.Number(t, failuresWritten) - writes
			if errors.Is(err, identity.ErrLogin) && writes != 1 {
				t.Errorf("%s: %d writes", what, writes)
			}
		}
		wrong := func(email string) identity.Credentials {
			return identity.Credentials{Email: email, Password: "something else"}
		}
		right := identity.Credentials{Email: lan, Password: identitytest.Password}
		cost("known, wrong", wrong(lan), identity.ErrLogin)
		cost("unknown", wrong(minh), identity.ErrLogin)
		cost("no address", wrong("x"), identity.ErrLogin)
		cost("no name", identity.Credentials{Username: "?", Password: "something else"}, identity.ErrLogin)
		h.SetStatus(t, u.ID, identity.Disabled)
		cost("disabled, right", right, identity.ErrDisabled)
		cost("disabled, wrong", wrong(lan), identity.ErrLogin)
		h.SetStatus(t, u.ID, identity.Active)
		for range 98 {
			_ = login(t, h, "something else")
		}
		cost("closed, right", right, identity.ErrLogin)
		cost("closed, wrong", wrong(lan), identity.ErrLogin)
	})
}

// sharedLimits adapts limit.Limiter to identity.Limiter, as package app does.
type sharedLimits struct{ *limit.Limiter }

func (s sharedLimits) Peek(ctx context.Context, policy, subject string) (time.Duration, bool) {
	v := s.Limiter.Peek(ctx, policy, subject)
	return v.Retry, v.OK
}

// Concurrent guesses are limited like sequential ones: five from one client, twenty from all clients.
func TestLogin_concurrent_guesses(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		h.CreateMember(t, lan)
		h.Hasher = identity.NewHasher(identitytest.FastParams, 16)
		h.Limits = sharedLimits{&limit.Limiter{Local: limit.NewMemory(), Now: h.Clock.Now}}
		guess := func(network func(i int) string) (compared int64) {
			before := h.Hasher.Stats().Computed
			var all sync.WaitGroup
			for i := range identity.HashQueue {
				all.Go(func() {
					c := identitytest.Caller()
					c.Network = network(i)
					_, err := h.Login(t.Context(), identity.Credentials{Email: lan, Password: "something else"}, c)
					if !errors.Is(err, identity.ErrLogin) && fault.KindOf(err) != fault.TooMany {
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
	each(t, func(t *testing.T, h *identitytest.Env) {
		h.CreateMember(t, lan)
		for range 99 {
			wantFault(t, "wrong", login(t, h, "something else"), identity.ErrLogin)
		}
		if err := login(t, h, identitytest.Password); err != nil {
			t.Fatalf("99 failures: %v", err)
		}
		for range 100 {
			wantFault(t, "wrong", login(t, h, "something else"), identity.ErrLogin)
		}
		wantFault(t, "after 100 failures", login(t, h, identitytest.Password), identity.ErrLogin)
		if n := h.Events.Count("login.closed"); n != 1 {
			t.Errorf("%d closed", n)
		}
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
	h.Hasher = identity.NewHasher(identity.Argon2Params{Memory: 32, Time: 2, Threads: 1}, 2)
	for _, want := range []int64{2, 1} { // verified and rehashed, then only verified
		before := h.Hasher.Stats().Computed
		g := h.MustLogin(t, lan)
		if n := h.Hasher.Stats().Computed - before; n != want {
			t.Errorf("%d hashes, want %d", n, want)
		}
		u, err := h.Me(t.Context(), identity.Actor{UserID: g.User.ID})
		if err != nil || !strings.Contains(u.PasswordHash, "m=32,t=2") {
			t.Errorf("%s, %v", u.PasswordHash, err)
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
	who := identity.Actor{UserID: u.ID}
	for policy, do := range map[string]func() error{
		identity.LimitLoginAccountIP: func() error { return login(t, h, identitytest.Password) },
		identity.LimitLoginAccount:   func() error { return login(t, h, identitytest.Password) },
		identity.LimitLoginIP:        func() error { return login(t, h, identitytest.Password) },
		identity.LimitLoginInstance:  func() error { return login(t, h, identitytest.Password) },
		identity.LimitCodeIP: func() error {
			return h.VerifyEmail(t.Context(), lan, "123456", identitytest.Caller())
		},
		identity.LimitRegisterIP: func() error {
			_, err := h.Register(t.Context(), identity.Registration{Profile: identity.Profile{Email: minh}, Password: identitytest.Password}, identitytest.Caller())
			return err
		},
	} {
		before := h.Hasher.Stats().Computed
		l := &refusingLimits{policy: policy}
		h.Limits = l
		var f *fault.Error
		err := do()
		wantKind, wantCode := fault.TooMany, "rate_limited"
		if policy == identity.LimitLoginInstance {
			wantKind, wantCode = fault.Unavailable, "busy"
		}
		if !errors.As(err, &f) || f.Kind != wantKind || f.Code != wantCode || f.RetryAfter != 7*time.Second {
			t.Errorf("%s: %v", policy, err)
		}
		if n := h.Hasher.Stats().Computed - before; n != 0 {
			t.Errorf("%s: %d hashes for a refused request", policy, n)
		}
	}
	h.Limits = &refusingLimits{policy: identity.LimitLoginAccount}
	if err := change(t, h, who, identitytest.Password, identitytest.Password+"!"); err != nil { // a session has a limit of its own
		t.Errorf("changing the password while strangers guess: %v", err)
	}
	if err := change(t, h, who, identitytest.Password+"!", identitytest.Password); err != nil {
		t.Error(err)
	}
	l := &refusingLimits{policy: identity.LimitLoginIP}
	h.Limits = l
	if err := login(t, h, identitytest.Password); err == nil || len(l.taken) != 0 {
		t.Errorf("a refused client took %v, %v", l.taken, err)
	}
	l = &refusingLimits{}
	h.Limits = l
	h.MustLogin(t, lan)
	wantFault(t, "wrong", login(t, h, "something else"), identity.ErrLogin)
	want := []string{ // a successful login counts no failure
		"login_instance ",
		"login_instance ", "login_ip 192.0.2.7", "login_account_ip user:1 192.0.2.7", "login_account user:1",
	}
	if d := cmp.Diff(want, l.taken); d != "" {
		t.Error(d)
	}
}

func TestChangeMe(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		u, other := h.CreateMember(t, lan), h.CreateMember(t, minh)
		phone, city := "0912345678", "Huế"
		if _, err := h.ChangeMe(t.Context(), identity.Actor{UserID: other.ID}, identity.ProfileChanges{Phone: &phone}); err != nil {
			t.Fatal(err)
		}
		_, err := h.ChangeMe(t.Context(), identity.Actor{UserID: u.ID}, identity.ProfileChanges{Phone: &phone, City: &city})
		wantFault(t, "a taken number", err, identity.ErrPhoneTaken)
		h.Clock.Advance(time.Hour)
		changed, err := h.ChangeMe(t.Context(), identity.Actor{UserID: u.ID}, identity.ProfileChanges{City: &city})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := h.Me(t.Context(), identity.Actor{UserID: u.ID})
		if d := cmp.Diff(kept, changed); d != "" || err != nil {
			t.Error(d, err)
		}
		if kept.City != city || kept.Email != lan || kept.Version != 3 || !kept.UpdatedAt.Equal(h.Clock.Now()) {
			t.Errorf("%+v", kept)
		}
		_, err = h.ChangeMe(t.Context(), identity.Actor{UserID: 99}, identity.ProfileChanges{City: &city})
		wantFault(t, "an unknown account", err, identity.ErrUser)
	})
}

func TestChangePassword(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		h.CreateMember(t, lan)
		here, there := h.MustLogin(t, lan), h.MustLogin(t, lan)
		who, err := h.Authenticator.Authenticate(t.Context(), here.Access)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(t, h, who, identitytest.Password, lan); fault.KindOf(err) != fault.Invalid {
			t.Errorf("her own address: %v", err)
		}
		wantFault(t, "wrong", change(t, h, who, "something else", "another password"), identity.ErrPassword)
		if err := change(t, h, who, identitytest.Password, "another password"); err != nil {
			t.Fatal(err)
		}
		if err := h.Authenticate(t.Context(), here.Access); err != nil {
			t.Errorf("this session: %v", err)
		}
		wantFault(t, "another session", h.Authenticate(t.Context(), there.Access), identity.ErrInvalidToken)
		_, err = h.Refresh(t.Context(), there.Refresh)
		wantFault(t, "its refresh token", err, identity.ErrRefresh)
		wantFault(t, "the old password", login(t, h, identitytest.Password), identity.ErrLogin)
		if err := login(t, h, "another password"); err != nil {
			t.Error(err)
		}
	})
}

// A login verified against a password that was replaced meanwhile begins no session.
func TestLogin_races_a_reset(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		u := h.CreateMember(t, lan)
		u, err := h.Me(t.Context(), identity.Actor{UserID: u.ID})
		if err != nil {
			t.Fatal(err)
		}
		h.Clock.Advance(time.Minute)
		reset(t, h, "another password")
		proof := identity.LoginProof{Hash: u.PasswordHash, NewHash: u.PasswordHash}
		_, _, err = h.Store.Begin(t.Context(), u, identity.Session{ID: "s", UserID: u.ID, TokenHash: "x"}, proof)
		wantFault(t, "the late session", err, identity.ErrLogin)
	})
}
