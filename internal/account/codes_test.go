package account_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// reset sets lan's password with a code.
func reset(t *testing.T, h *accounttest.Env, password string) {
	t.Helper()
	testenv.NoError(t, h.RequestCode(t.Context(), account.Reset, lan, accounttest.Caller()))
	testenv.NoError(t, h.ResetPassword(t.Context(), lan, h.Code(t, lan), password, accounttest.Caller()))
}

// otherCode returns a different code.
func otherCode(code string) string {
	if code[0] == '9' {
		return "0" + code[1:]
	}
	return string(code[0]+1) + code[1:]
}

func register(t *testing.T, h *accounttest.Env) account.User {
	t.Helper()
	return testenv.Must(h.Register(t.Context(), account.Registration{
		Profile: account.Profile{Email: lan}, Password: accounttest.Password,
	}, accounttest.Caller()))(t)
}

func verify(t *testing.T, h *accounttest.Env, code string) error {
	t.Helper()
	return h.VerifyEmail(t.Context(), lan, code, accounttest.Caller())
}

func TestVerifyEmail(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		u := register(t, h)
		code := h.Code(t, lan)
		testenv.ErrorIs(t, account.ErrCode, verify(t, h, otherCode(code)), "wrong")
		testenv.ErrorIs(t, account.ErrCode, verify(t, h, "abc"), "no code")
		testenv.ErrorIs(t, account.ErrCode, h.VerifyEmail(t.Context(), minh, code, accounttest.Caller()), "an unknown address")
		testenv.ErrorIs(t, account.ErrCode, h.ResetPassword(t.Context(), lan, code, "another password", accounttest.Caller()), "for another purpose")
		testenv.NoError(t, verify(t, h, code))
		testenv.ErrorIs(t, account.ErrCode, verify(t, h, code), "again")
		u, err := h.Me(t.Context(), authz.Actor{UserID: u.ID})
		if u.Status != account.Active || !u.Registered || u.Version != 2 || err != nil {
			t.Errorf("Me = %+v, %v, want a registered ACTIVE account of version 2", u, err)
		}
		all := h.Emails(t, lan)
		if l := all[len(all)-1]; len(all) != 2 || l.Template != account.TemplateWelcome || l.Fields[account.FieldCode] != "" {
			t.Errorf("e-mails = %+v, want the code and a welcome without one", all)
		}
	})
}

func TestVerifyEmail_expires(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		register(t, h)
		code := h.Code(t, lan)
		h.Clock.Advance(account.CodeTTL)
		testenv.ErrorIs(t, account.ErrCode, verify(t, h, code), "old")
		testenv.NoError(t, h.RequestCode(t.Context(), account.Verify, lan, accounttest.Caller()))
		next := h.Code(t, lan)
		for range account.CodeAttempts {
			testenv.ErrorIs(t, account.ErrCode, verify(t, h, otherCode(next)), "wrong")
		}
		testenv.ErrorIs(t, account.ErrCode, verify(t, h, next), "the sixth attempt")
		h.Clock.Advance(time.Minute)
		testenv.NoError(t, h.RequestCode(t.Context(), account.Verify, lan, accounttest.Caller()))
		testenv.ErrorIs(t, account.ErrCode, verify(t, h, otherCode(h.Code(t, lan))), "the one before")
		if err := verify(t, h, h.Code(t, lan)); err != nil {
			t.Errorf("a new code has attempts of its own: %v", err)
		}
	})
}

// Of a thousand concurrent guesses at most five are compared with the code (S6).
func TestVerifyEmail_storm(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		register(t, h)
		code := h.Code(t, lan)
		var all sync.WaitGroup
		tickets := make(chan int, 1000)
		for i := range 1000 {
			tickets <- i
		}
		close(tickets)
		for range 50 {
			all.Go(func() {
				for i := range tickets {
					guess := fmt.Sprintf("%06d", i)
					if guess == code {
						guess = "999999"
					}
					testenv.ErrorIs(t, account.ErrCode, verify(t, h, guess), "a wrong guess")
				}
			})
		}
		all.Wait()
		testenv.Equal(t, account.CodeAttempts, h.Events.Count("code.compared"))
		testenv.ErrorIs(t, account.ErrCode, verify(t, h, code), "the right one afterwards")
	})
}

// Of concurrent requests with the right code, one succeeds.
func TestVerifyEmail_race(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		register(t, h)
		code := h.Code(t, lan)
		errs := make([]error, account.CodeAttempts)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = verify(t, h, code) })
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			}
		}
		if won != 1 || h.Events.Count("code.accepted") != 1 {
			t.Errorf("%d succeeded: %v", won, errs)
		}
	})
}

// An address has twenty attempts a day, however many codes are sent (S6).
func TestTryWindows(t *testing.T) {
	h := newSQLiteEnv(t)
	register(t, h)
	for i := range 5 {
		if i > 0 {
			h.Clock.Advance(time.Hour)
			testenv.NoError(t, h.RequestCode(t.Context(), account.Verify, lan, accounttest.Caller()))
		}
		for range account.CodeAttempts {
			testenv.ErrorIs(t, account.ErrCode, verify(t, h, otherCode(h.Code(t, lan))), "wrong")
		}
	}
	testenv.Equal(t, 20, h.Events.Count("code.compared"))
}

func TestRequestCode_windows(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		for _, email := range []string{lan, minh} { // an unknown address is answered alike (S7)
			sent := 0
			var f *fault.Error
			for range 24 * 60 / 5 {
				err := h.RequestCode(t.Context(), account.Reset, email, accounttest.Caller())
				switch {
				case err == nil:
					sent++
				case !errors.As(err, &f) || f.Kind != fault.TooMany || f.RetryAfter <= 0:
					t.Fatalf("RequestCode(%s): error %v, want TooMany with RetryAfter", email, err)
				}
				if again := h.RequestCode(t.Context(), account.Reset, email, accounttest.Caller()); fault.KindOf(again) != fault.TooMany {
					t.Fatalf("%s, twice in a minute: %v", email, again)
				}
				h.Clock.Advance(5 * time.Minute)
			}
			want := 10
			if email == lan {
				want = 9 // registering sent one
			}
			if sent != want {
				t.Errorf("%s: %d codes a day, want %d", email, sent, want)
			}
		}
		if n := len(h.Emails(t, minh)); n != 0 {
			t.Errorf("%d e-mails to an unknown address", n)
		}
	})
}

func TestRequestCode_only_where_it_helps(t *testing.T) {
	h := newSQLiteEnv(t)
	u := h.CreateMember(t, lan)
	h.Clock.Advance(time.Minute)
	ask := func(p account.Purpose) int {
		t.Helper()
		before := len(h.Emails(t, lan))
		testenv.NoError(t, h.RequestCode(t.Context(), p, lan, accounttest.Caller()))
		h.Clock.Advance(time.Hour)
		return len(h.Emails(t, lan)) - before
	}
	if n := ask(account.Verify); n != 0 {
		t.Error("a code for an address that is verified already")
	}
	if n := ask(account.Reset); n != 1 {
		t.Error("no code to reset a password")
	}
	h.SetStatus(t, u.ID, account.Disabled)
	if n := ask(account.Reset); n != 0 {
		t.Error("a code for a disabled account")
	}
	testenv.ErrorIs(t, account.ErrPurpose, h.RequestCode(t.Context(), "LOGIN", lan, accounttest.Caller()), "no purpose")
}

func TestResetPassword(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		u := h.CreateMember(t, lan)
		before := h.MustLogin(t, lan)
		h.Clock.Advance(time.Minute)
		h.SyncRevocations(t)
		testenv.NoError(t, h.RequestCode(t.Context(), account.Reset, lan, accounttest.Caller()))
		code := h.Code(t, lan)
		hashes := h.Hasher.Stats().Computed
		testenv.ErrorIs(t, account.ErrCode, h.ResetPassword(t.Context(), lan, otherCode(code), "another password", accounttest.Caller()), "wrong")
		if err := h.ResetPassword(t.Context(), lan, code, "short", accounttest.Caller()); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a short password: %v", err)
		}
		if n := h.Hasher.Stats().Computed - hashes; n != 0 {
			t.Errorf("%d hashes without a right code", n)
		}
		testenv.NoError(t, h.ResetPassword(t.Context(), lan, code, "another password", accounttest.Caller()))
		testenv.ErrorIs(t, account.ErrCode, h.ResetPassword(t.Context(), lan, code, "a third password", accounttest.Caller()), "again")
		testenv.ErrorIs(t, authz.ErrInvalidToken, h.Authenticate(t.Context(), before.Access), "the session")
		_, err := h.Refresh(t.Context(), before.Refresh)
		testenv.ErrorIs(t, account.ErrRefresh, err, "its refresh token")
		if err := login(t, h, "another password"); err != nil {
			t.Errorf("in the same millisecond: %v", err)
		}
		u, err = h.Me(t.Context(), authz.Actor{UserID: u.ID})
		if err != nil || u.Failures != 0 || u.Version != 3 {
			t.Errorf("Me = %+v, %v, want no failures and version 3", u, err)
		}
	})
}

// A reset removes what a person with the old password may have added: the connection to Google, the PIN and a code for
// another address. The e-mail names what was removed (decision 85).
func TestResetPassword_removes_other_credentials(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		was := h.CreateMember(t, lan)
		was = testenv.Must(h.Me(t.Context(), authz.Actor{UserID: was.ID}))(t)
		testenv.Must(h.Store.LinkGoogle(t.Context(), was, account.GoogleLink{Subject: "a stranger", By: was.Actor(""), Now: h.Clock.Now()}))(t)
		g := h.MustLogin(t, lan)
		testenv.NoError(t, h.RequestEmail(t.Context(), g.User.Actor(g.Session.ID), accounttest.Password, minh, accounttest.Caller()))
		move := h.Code(t, minh)
		h.Clock.Advance(time.Minute)
		reset(t, h, "another password")

		if u, found, err := h.Store.FindGoogle(t.Context(), "a stranger"); found || err != nil {
			t.Errorf("the stranger's Google account belongs to %+v, %v", u, err)
		}
		_, err := h.ChangeEmail(t.Context(), g.User.Actor(g.Session.ID), minh, move, accounttest.Caller())
		testenv.ErrorIs(t, account.ErrCode, err, "the code for another address")
		want := account.Email{
			To: lan, Template: account.TemplatePasswordReset, Locale: "en", Expires: h.Clock.Now().Add(24 * time.Hour),
			Fields: map[string]string{account.FieldName: "", account.FieldGoogle: "1"},
		}
		all := h.Emails(t, lan)
		testenv.Equal(t, all[len(all)-1], want)

		h.Clock.Advance(time.Hour)
		reset(t, h, accounttest.Password)
		all = h.Emails(t, lan)
		testenv.Equal(t, all[len(all)-1].Fields, map[string]string{account.FieldName: ""})
	})
}

func TestResetPassword_staff_length(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateStaff(t, lan, authz.RoleCashier)
	h.Clock.Advance(time.Minute)
	testenv.NoError(t, h.RequestCode(t.Context(), account.Reset, lan, accounttest.Caller()))
	code := h.Code(t, lan)
	if err := h.ResetPassword(t.Context(), lan, code, "fourteen chars", accounttest.Caller()); fault.KindOf(err) != fault.Invalid {
		t.Errorf("14 characters: %v", err)
	}
	testenv.Equal(t, fault.Invalid, fault.KindOf(h.ResetPassword(t.Context(), lan, code, lan, accounttest.Caller())))
	if err := h.ResetPassword(t.Context(), lan, code, "fifteen chars !", accounttest.Caller()); err != nil {
		t.Errorf("a refused password used the code up: %v", err)
	}
}

// Password changes of staff are audited, within a session or by a code; those of members are not.
func TestStaffPasswords_are_audited(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		audited := func() (actors []string) {
			f := audit.Filter{EveryBranch: true, To: h.Clock.Now().Add(time.Hour), Limit: 10}
			all, _ := testenv.Must2(auditsql.NewLog(h.DB).Entries(t.Context(), f))(t)
			for _, e := range all {
				if e.Action == audit.ActionPassword {
					actors = append(actors, e.Actor+" of "+e.Subject)
				}
			}
			return actors
		}
		changes := func() {
			t.Helper()
			next := "a password that is long enough"
			u := h.MustLogin(t, lan).User
			actor := authz.Actor{Kind: authz.Account, UserID: u.ID, Role: u.Role}
			testenv.NoError(t, change(t, h, actor, accounttest.Password, next))
			h.Clock.Advance(time.Minute)
			reset(t, h, accounttest.Password)
		}
		u := h.CreateMember(t, lan)
		changes()
		if all := audited(); len(all) != 0 {
			t.Errorf("of a member %v", all)
		}
		h.SetRole(t, u.ID, authz.RoleCashier)
		changes()
		self := fmt.Sprintf("user:%d of user:%[1]d", u.ID)
		testenv.Equal(t, []string{self, self}, audited())
	})
}

// attemptsWritten selects the numbers of recorded attempts at codes, of known and unknown addresses.
var attemptsWritten = sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(
	"SELECT COALESCE(SUM(used), 0) FROM auth_cap WHERE action IN ('code_try', 'code_try_none')")}}).Must("it")

// An attempt is written whether or not a code exists, so that the response time does not reveal an account (S7).
// Attempts without a code do not count against the address.
func TestVerifyEmail_costs_the_same_for_every_address(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		u := register(t, h)
		code := h.Code(t, u.Email)
		for _, email := range []string{u.Email, minh} {
			before := h.Number(t, attemptsWritten)
			testenv.ErrorIs(t, account.ErrCode, h.VerifyEmail(t.Context(), email, otherCode(code), accounttest.Caller()), email)
			if n := h.Number(t, attemptsWritten) - before; n != 1 {
				t.Errorf("%s: %d attempts written, want 1", email, n)
			}
		}
		for range 30 {
			_ = h.VerifyEmail(t.Context(), minh, code, accounttest.Caller())
		}
		h.CreateMember(t, minh)
	})
}

// Codes and sessions work without Redis.
func TestCodes_without_redis(t *testing.T) {
	cache := accounttest.NewSessionCache()
	h := accounttest.Open(t, newSQLiteEnv(t).DB, cache)
	cache.SetDown(true)
	h.CreateMember(t, lan)
	g := h.MustLogin(t, lan)
	testenv.NoError(t, h.Authenticate(t.Context(), g.Access))
	testenv.NoError(t, h.Logout(t.Context(), g.Access, ""))
	testenv.ErrorIs(t, authz.ErrInvalidToken, h.Authenticate(t.Context(), g.Access), "after the logout")
}
