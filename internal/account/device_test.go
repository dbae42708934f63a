package account_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/limit"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

var deviceStmts = sqldb.Load(fstest.MapFS{
	"holders.sql": {Data: []byte(`SELECT COUNT(*) FROM app_user WHERE device_id IS NOT NULL`)},
	"queued.sql":  {Data: []byte(`SELECT COUNT(*) FROM document_outbox WHERE ids = $1`)},
})

// loginOn logs an account in with the device cookie of a browser, and returns the new cookie.
func loginOn(t *testing.T, h *accounttest.Env, email, cookie string) (account.IssuedTokens, string) {
	t.Helper()
	c := accounttest.Caller()
	c.DeviceCookie = cookie
	g := testenv.Must(h.Login(t.Context(), account.Credentials{Email: email, Password: accounttest.Password}, c))(t)
	return g, g.DeviceCookie
}

// The device id of a member's account is that of the newest login (002-A11). A device has one id for all accounts and
// logins; if members share it, it belongs to the one who logged in last.
func TestDevice_002_A11(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		const minh = "minh@example.com"
		a, b := h.CreateMember(t, lan), h.CreateMember(t, minh)
		device := func(u account.User) string {
			t.Helper()
			return testenv.Must(h.Users.User(t.Context(), u.ID))(t).DeviceID
		}
		g, phone := loginOn(t, h, lan, "")
		id := device(a)
		if len(id) != 32 || id != strings.ToLower(id) || g.User.DeviceID != id {
			t.Errorf("the device id is %q, in the response %q", id, g.User.DeviceID)
		}
		testenv.Equal(t, g.User.Version, testenv.Must(h.Users.User(t.Context(), a.ID))(t).Version)
		h.Clock.Advance(100 * 24 * time.Hour)
		_, phone = loginOn(t, h, lan, phone)
		h.Clock.Advance(100 * 24 * time.Hour) // a login keeps the id for as long as the cookie
		g, phone = loginOn(t, h, lan, phone)
		if device(a) != id {
			t.Errorf("after another login on it: %q, want %q", device(a), id)
		}
		before := g.User.Version
		g, phone = loginOn(t, h, lan, phone)
		if g.User.Version != before {
			t.Error("a login on the same device has changed the version")
		}

		_, phone = loginOn(t, h, minh, phone)
		if device(a) != "" || device(b) != id {
			t.Errorf("after the other member's login: %q and %q, want none and %q", device(a), device(b), id)
		}
		if n := h.Number(t, deviceStmts.Must("queued"), fmt.Sprintf(`["%d"]`, a.ID)); n == 0 {
			t.Error("the document of the former member is not projected")
		}
		_, laptop := loginOn(t, h, minh, "")
		if second := device(b); second == id || len(second) != 32 {
			t.Errorf("on a second device: %q", second)
		}
		_, _ = loginOn(t, h, lan, phone)
		testenv.Equal(t, id, device(a))

		// A cookie of another installation, or one that was changed, names no device.
		forged := strings.Replace(laptop, "0.", "0.f", 1)
		_, _ = loginOn(t, h, lan, forged)
		if got := device(a); got == id || strings.HasPrefix(got, "f") && strings.Contains(forged, got) {
			t.Errorf("a forged cookie has set %q", got)
		}

		cook := h.CreateStaff(t, "cook@example.com", authz.RoleKitchen)
		_, _ = loginOn(t, h, "cook@example.com", phone)
		if got := device(cook); got != "" {
			t.Errorf("a staff account has the device %q", got)
		}
	})
}

// Members who log in on one device at the same time all get in, and exactly one has the device (002-A11).
func TestDevice_002_A11_concurrent(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		const members = 8
		for i := range members {
			h.CreateMember(t, fmt.Sprintf("m%d@example.com", i))
		}
		_, phone := loginOn(t, h, "m0@example.com", "")
		for range 3 {
			var group sync.WaitGroup
			for i := range members {
				group.Go(func() {
					c := accounttest.Caller()
					c.DeviceCookie = phone
					if _, err := h.Login(t.Context(), account.Credentials{
						Email: fmt.Sprintf("m%d@example.com", i), Password: accounttest.Password,
					}, c); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			testenv.Equal(t, 1, h.Number(t, deviceStmts.Must("holders")))
		}
	})
}

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
			testenv.ErrorIs(t, account.ErrPassword, change(t, h, actor, "something else", "a third password"), "wrong")
		}
		testenv.ErrorIs(t, account.ErrPassword, change(t, h, actor, "something else", "a third password"), "wrong")
		testenv.Equal(t, fault.TooMany, fault.KindOf(change(t, h, actor, "another password", "a third password")))
	})
}

// A known device may send ten wrong passwords an hour. Then it counts as unknown.
func TestLogin_known_device_guesses(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		u := h.CreateMember(t, lan)
		cookie := mustLoginWithDevice(t, h, "", lan, accounttest.Password)
		for range 10 {
			_, err := loginWithDevice(t, h, cookie, lan, "something else")
			testenv.ErrorIs(t, account.ErrLogin, err, "wrong")
		}
		if u, err := h.Me(t.Context(), authz.Actor{UserID: u.ID}); u.Failures != 0 || err != nil {
			t.Errorf("%d failures count against the account, %v", u.Failures, err)
		}
		_, err := loginWithDevice(t, h, cookie, lan, "something else")
		testenv.ErrorIs(t, account.ErrLogin, err, "wrong")
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

// A login on a device that the account was never used on causes an e-mail: not the first login after the registration, not
// one with a device cookie, not one beside a session on such a device.
func TestLogin_new_device(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		sent := func() (devices []string) {
			for _, l := range h.Emails(t, lan) {
				if l.Template == account.TemplateNewDevice {
					devices = append(devices, l.Fields[account.FieldDevice])
				}
			}
			return devices
		}
		login := func(device, name, cookie string) string {
			t.Helper()
			c := accounttest.Caller()
			c.Device, c.DeviceName, c.DeviceCookie = device, name, cookie
			g, err := h.Login(t.Context(), account.Credentials{Email: lan, Password: accounttest.Password}, c)
			if err != nil {
				t.Fatal(err)
			}
			return g.DeviceCookie
		}
		want := func(what string, n int, last string) {
			t.Helper()
			got := sent()
			if len(got) != n || n > 0 && got[n-1] != last {
				t.Errorf("after %s: e-mails about %q, want %d, the last about %q", what, got, n, last)
			}
		}
		cookie := login("Pixel", "Chrome, Android", "")
		want("the first login", 0, "")
		h.Clock.Advance(2 * time.Hour)
		login("Pixel", "Chrome, Android", "")
		want("a login beside a session of the same browser", 0, "")
		login("iPhone", "Safari, iOS", cookie)
		want("a login with the cookie", 0, "")
		login("curl/8.7", "", "")
		want("a login by a program", 1, "")
		login("another iPhone", "Safari, iOS", "")
		want("a login on another phone", 2, "Safari, iOS")
	})
}
