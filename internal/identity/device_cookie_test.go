package identity_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/identity/identitytest"
	"comanda/internal/limit"
)

// at tries to log in from a device with marks.
func loginWithDevice(t *testing.T, h *identitytest.Env, marks, email, password string) (identity.IssuedTokens, error) {
	t.Helper()
	c := identitytest.Caller()
	c.DeviceCookie = marks
	return h.Login(t.Context(), identity.Credentials{Email: email, Password: password}, c)
}

// mustEnter logs in and returns the marks of the device.
func mustLoginWithDevice(t *testing.T, h *identitytest.Env, marks, email, password string) string {
	t.Helper()
	g, err := loginWithDevice(t, h, marks, email, password)
	if err != nil || g.DeviceCookie == "" {
		t.Fatalf("%s: %q, %v", email, g.DeviceCookie, err)
	}
	return g.DeviceCookie
}

// besieged is a house at whose account strangers guess until it is closed to them.
func exhaustAccountLimit(t *testing.T, h *identitytest.Env) {
	t.Helper()
	h.Limits = sharedLimits{&limit.Limiter{Local: limit.NewMemory(), Now: h.Clock.Now}}
	for i := range 105 {
		c := identitytest.Caller()
		c.Network = fmt.Sprint("198.51.100.", i)
		_, err := h.Login(t.Context(), identity.Credentials{Email: lan, Password: "something else"}, c)
		if !errors.Is(err, identity.ErrLogin) && fault.KindOf(err) != fault.TooMany {
			t.Fatalf("guess %d: %v", i, err)
		}
		h.Clock.Advance(time.Minute)
	}
}

// Strangers close an account to themselves and not to its owner, who gets in where she has been before, as often as she
// likes. Nobody else does, whatever mark they bring.
func TestLogin_known_device(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		h.CreateMember(t, lan)
		h.CreateMember(t, minh)
		marks := mustLoginWithDevice(t, h, "", lan, identitytest.Password)
		others := mustLoginWithDevice(t, h, "", minh, identitytest.Password)
		exhaustAccountLimit(t, h)
		for range 25 { // the last of the guesses were refused without being compared
			_, _ = loginWithDevice(t, h, "", lan, "something else")
		}
		for what, stranger := range map[string]string{
			"no mark": "", "another account's": others, "half of it": marks[:len(marks)/2], "another tag": marks[:len(marks)-4] + "AAAA",
			"another account in it": "9" + marks, "too much": strings.Repeat(marks+":", 50),
		} {
			if _, err := loginWithDevice(t, h, stranger, lan, identitytest.Password); err == nil {
				t.Errorf("a stranger with %s gets in", what)
			}
		}
		for range 3 {
			marks = mustLoginWithDevice(t, h, marks, lan, identitytest.Password)
		}
		if _, err := loginWithDevice(t, h, marks, minh, "something else"); !errors.Is(err, identity.ErrLogin) {
			t.Errorf("a mark of one account at another: %v", err)
		}
	})
}

// An owner whose account strangers have closed works on, and changes the password: a session is known as well.
func TestChangePassword_while_strangers_guess(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		h.CreateMember(t, lan)
		g, err := loginWithDevice(t, h, "", lan, identitytest.Password)
		if err != nil {
			t.Fatal(err)
		}
		exhaustAccountLimit(t, h)
		h.SyncRevocations(t)
		again, err := h.Refresh(t.Context(), g.Refresh)
		if err != nil {
			t.Fatal(err)
		}
		who, err := h.Authenticator.Authenticate(t.Context(), again.Access)
		if err != nil {
			t.Fatal(err)
		}
		marks, err := h.ChangePassword(t.Context(), who, identitytest.Password, "another password", g.DeviceCookie)
		if err != nil || marks == "" || marks == g.DeviceCookie {
			t.Fatalf("%q, %v", marks, err)
		}
		mustLoginWithDevice(t, h, marks, lan, "another password")
		h.Limits = nil
		for range 9 {
			wantFault(t, "wrong", change(t, h, who, "something else", "a third password"), identity.ErrPassword)
		}
		wantFault(t, "wrong", change(t, h, who, "something else", "a third password"), identity.ErrPassword)
		if err := change(t, h, who, "another password", "a third password"); fault.KindOf(err) != fault.TooMany {
			t.Errorf("the eleventh guess of a session: %v", err)
		}
	})
}

// What a device gets wrong counts against the device, ten times an hour; then it is a stranger.
func TestLogin_known_device_guesses(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		u := h.CreateMember(t, lan)
		marks := mustLoginWithDevice(t, h, "", lan, identitytest.Password)
		for range 10 {
			_, err := loginWithDevice(t, h, marks, lan, "something else")
			wantFault(t, "wrong", err, identity.ErrLogin)
		}
		if u, err := h.Me(t.Context(), identity.Actor{UserID: u.ID}); u.Failures != 0 || err != nil {
			t.Errorf("%d failures count against the account, %v", u.Failures, err)
		}
		_, err := loginWithDevice(t, h, marks, lan, "something else")
		wantFault(t, "wrong", err, identity.ErrLogin)
		if u, err := h.Me(t.Context(), identity.Actor{UserID: u.ID}); u.Failures != 1 || err != nil {
			t.Errorf("%d failures count against the account, %v", u.Failures, err)
		}
		mustLoginWithDevice(t, h, marks, lan, identitytest.Password) // as a stranger
		exhaustAccountLimit(t, h)
		mustLoginWithDevice(t, h, marks, lan, identitytest.Password) // an hour is over
		for range 10 {
			_, _ = loginWithDevice(t, h, marks, lan, "something else")
		}
		exhaustAccountLimit(t, h)
		for range 10 {
			_, _ = loginWithDevice(t, h, marks, lan, "something else")
		}
		_, err = loginWithDevice(t, h, marks, lan, identitytest.Password)
		if err == nil {
			t.Error("a device that guesses is still trusted")
		}
	})
}

// A mark ends with the password, after its life, and with the key that has signed it.
func TestDeviceCookies_expire(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		h.CreateMember(t, lan)
		marks := mustLoginWithDevice(t, h, "", lan, identitytest.Password)
		exhaustAccountLimit(t, h)
		known := func(what, marks, password string, want bool) {
			t.Helper()
			if _, err := loginWithDevice(t, h, marks, lan, password); (err == nil) != want {
				t.Errorf("%s: %v", what, err)
			}
			for range 101 { // a login has opened the account again
				if err := h.Store.RecordFailure(t.Context(), 1, passwordOf(t, h)); err != nil {
					t.Fatal(err)
				}
			}
		}
		known("at first", marks, identitytest.Password, true)
		h.Clock.Advance(identity.DeviceCookieTTL)
		known("after its life", marks, identitytest.Password, false)
		reset(t, h, "another password")
		h.Clock.Advance(time.Minute)
		fresh := mustLoginWithDevice(t, h, marks, lan, "another password")
		known("after another login", fresh, "another password", true)
		reset(t, h, "a third password")
		known("after a reset", fresh, "a third password", true) // which has opened the account
		known("after a reset", fresh, "a third password", false)
	})
}

// Ten accounts share a device at most: the one that was there longest ago is forgotten.
func TestDeviceCookies_shared_device(t *testing.T) {
	h := newSQLiteEnv(t)
	var marks string
	for i := range 11 {
		email := fmt.Sprintf("cook%d@example.com", i)
		h.CreateMember(t, email)
		marks = mustLoginWithDevice(t, h, marks, email, identitytest.Password)
	}
	if n := strings.Count(marks, ":") + 1; n != 10 || len(marks) > 1200 {
		t.Errorf("%d marks of %d bytes", n, len(marks))
	}
	marks = mustLoginWithDevice(t, h, marks, "cook5@example.com", identitytest.Password)
	if n := strings.Count(marks, ":") + 1; n != 10 {
		t.Errorf("%d marks after another login of the same account", n)
	}
	h.Devices.SetKey(identity.NewKey())
	if again := mustLoginWithDevice(t, h, marks, "cook5@example.com", identitytest.Password); strings.Contains(again, ":") {
		t.Errorf("marks of another key are kept: %s", again)
	}
}

// passwordOf is the hash of the first account's password.
func passwordOf(t *testing.T, h *identitytest.Env) string {
	t.Helper()
	u, err := h.Store.User(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return u.PasswordHash
}
