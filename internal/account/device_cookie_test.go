package account_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/limit"
	"comanda/internal/testenv"
)

// loginWithDevice logs in from a device with a cookie.
func loginWithDevice(t *testing.T, h *accounttest.Env, cookie, email, password string) (account.IssuedTokens, error) {
	t.Helper()
	c := accounttest.Caller()
	c.DeviceCookie = cookie
	return h.Login(t.Context(), account.Credentials{Email: email, Password: password}, c)
}

// mustLoginWithDevice logs in and returns the device's new cookie.
func mustLoginWithDevice(t *testing.T, h *accounttest.Env, cookie, email, password string) string {
	t.Helper()
	g, err := loginWithDevice(t, h, cookie, email, password)
	if err != nil || g.DeviceCookie == "" {
		t.Fatalf("login of %s: cookie %q, error %v, want a cookie", email, g.DeviceCookie, err)
	}
	return g.DeviceCookie
}

// exhaustAccountLimit guesses from other clients until the account is closed to unknown devices.
func exhaustAccountLimit(t *testing.T, h *accounttest.Env) {
	t.Helper()
	h.Limits = sharedLimits{&limit.Limiter{Local: limit.NewMemory(), Now: h.Clock.Now}}
	for i := range 105 {
		c := accounttest.Caller()
		c.Network = fmt.Sprint("198.51.100.", i)
		_, err := h.Login(t.Context(), account.Credentials{Email: lan, Password: "something else"}, c)
		if !errors.Is(err, account.ErrLogin) && fault.KindOf(err) != fault.TooMany {
			t.Fatalf("guess %d: %v", i, err)
		}
		h.Clock.Advance(time.Minute)
	}
}

// Strangers can close an account to unknown devices, but not to a device that its owner has used. No other cookie
// admits a device.
func TestLogin_known_device(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		h.CreateMember(t, minh)
		cookie := mustLoginWithDevice(t, h, "", lan, accounttest.Password)
		others := mustLoginWithDevice(t, h, "", minh, accounttest.Password)
		exhaustAccountLimit(t, h)
		for range 25 { // the limit refuses the last guesses without comparing them
			_, _ = loginWithDevice(t, h, "", lan, "something else")
		}
		for what, stranger := range map[string]string{
			"no mark": "", "another account's": others, "half of it": cookie[:len(cookie)/2], "another tag": cookie[:len(cookie)-4] + "AAAA",
			"another account in it": strings.Replace(cookie, ":", ":9", 1), "too much": strings.Repeat(cookie+":", 50),
		} {
			if _, err := loginWithDevice(t, h, stranger, lan, accounttest.Password); err == nil {
				t.Errorf("a stranger with %s logged in", what)
			}
		}
		for range 3 {
			cookie = mustLoginWithDevice(t, h, cookie, lan, accounttest.Password)
		}
		if _, err := loginWithDevice(t, h, cookie, minh, "something else"); !errors.Is(err, account.ErrLogin) {
			t.Errorf("a cookie of another account: error %v, want ErrLogin", err)
		}
	})
}

// An owner whose account strangers have closed keeps the session and can change the password.
func TestChangePassword_during_failed_logins(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		g := testenv.Must(loginWithDevice(t, h, "", lan, accounttest.Password))(t)
		exhaustAccountLimit(t, h)
		h.SyncRevocations(t)
		again := testenv.Must(h.Refresh(t.Context(), g.Refresh))(t)
		actor := testenv.Must(h.Authenticator.Authenticate(t.Context(), again.Access))(t)
		cookie, err := h.ChangePassword(t.Context(), actor, accounttest.Password, "another password", g.DeviceCookie)
		if err != nil || cookie == "" || cookie == g.DeviceCookie {
			t.Fatalf("ChangePassword: cookie %q, error %v, want a new cookie", cookie, err)
		}
		mustLoginWithDevice(t, h, cookie, lan, "another password")
		h.Limits = nil
		for range 9 {
			wantFault(t, "wrong", change(t, h, actor, "something else", "a third password"), account.ErrPassword)
		}
		wantFault(t, "wrong", change(t, h, actor, "something else", "a third password"), account.ErrPassword)
		if err := change(t, h, actor, "another password", "a third password"); fault.KindOf(err) != fault.TooMany {
			t.Errorf("the eleventh guess of a session: %v", err)
		}
	})
}

// A known device may send ten wrong passwords an hour. Then it counts as unknown.
func TestLogin_known_device_guesses(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		u := h.CreateMember(t, lan)
		cookie := mustLoginWithDevice(t, h, "", lan, accounttest.Password)
		for range 10 {
			_, err := loginWithDevice(t, h, cookie, lan, "something else")
			wantFault(t, "wrong", err, account.ErrLogin)
		}
		if u, err := h.Me(t.Context(), authz.Actor{UserID: u.ID}); u.Failures != 0 || err != nil {
			t.Errorf("%d failures count against the account, %v", u.Failures, err)
		}
		_, err := loginWithDevice(t, h, cookie, lan, "something else")
		wantFault(t, "wrong", err, account.ErrLogin)
		if u, err := h.Me(t.Context(), authz.Actor{UserID: u.ID}); u.Failures != 1 || err != nil {
			t.Errorf("%d failures count against the account, %v", u.Failures, err)
		}
		mustLoginWithDevice(t, h, cookie, lan, accounttest.Password) // as an unknown device
		exhaustAccountLimit(t, h)
		mustLoginWithDevice(t, h, cookie, lan, accounttest.Password) // the window has passed
		for range 10 {
			_, _ = loginWithDevice(t, h, cookie, lan, "something else")
		}
		exhaustAccountLimit(t, h)
		for range 10 {
			_, _ = loginWithDevice(t, h, cookie, lan, "something else")
		}
		_, err = loginWithDevice(t, h, cookie, lan, accounttest.Password)
		if err == nil {
			t.Error("a device beyond its limit still counts as known")
		}
	})
}

// A device cookie ends with the password, its lifetime and its key.
func TestDeviceCookies_expire(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		cookie := mustLoginWithDevice(t, h, "", lan, accounttest.Password)
		exhaustAccountLimit(t, h)
		known := func(what, cookie, password string, want bool) {
			t.Helper()
			if _, err := loginWithDevice(t, h, cookie, lan, password); (err == nil) != want {
				t.Errorf("%s: login error %v, want success %t", what, err, want)
			}
			for range 101 { // the login has reset the failures
				testenv.NoError(t, h.Store.RecordFailure(t.Context(), 1, passwordOf(t, h)))
			}
		}
		known("at first", cookie, accounttest.Password, true)
		h.Clock.Advance(account.DeviceCookieTTL)
		known("after its lifetime", cookie, accounttest.Password, false)
		reset(t, h, "another password")
		h.Clock.Advance(time.Minute)
		fresh := mustLoginWithDevice(t, h, cookie, lan, "another password")
		known("after another login", fresh, "another password", true)
		reset(t, h, "a third password")
		known("after a reset", fresh, "a third password", true) // the reset has reopened the account
		known("after a reset", fresh, "a third password", false)
	})
}

// A cookie has at most ten entries of accounts beside that of the device, and drops the oldest.
func TestDeviceCookies_shared_device(t *testing.T) {
	h := newSQLiteEnv(t)
	var cookie string
	for i := range 11 {
		email := fmt.Sprintf("cook%d@example.com", i)
		h.CreateMember(t, email)
		cookie = mustLoginWithDevice(t, h, cookie, email, accounttest.Password)
	}
	if n := strings.Count(cookie, ":") + 1; n != 11 || len(cookie) > 1200 {
		t.Errorf("%d entries, %d bytes", n, len(cookie))
	}
	cookie = mustLoginWithDevice(t, h, cookie, "cook5@example.com", accounttest.Password)
	if n := strings.Count(cookie, ":") + 1; n != 11 {
		t.Errorf("%d entries after another login of the same account", n)
	}
	h.Devices.SetKey(account.NewKey())
	if again := mustLoginWithDevice(t, h, cookie, "cook5@example.com", accounttest.Password); strings.Count(again, ":") != 1 {
		t.Errorf("entries of another key were kept: %s", again)
	}
}

// passwordOf returns the password hash of the first account.
func passwordOf(t *testing.T, h *accounttest.Env) string {
	t.Helper()
	u := testenv.Must(h.Store.User(t.Context(), 1))(t)
	return u.PasswordHash
}
