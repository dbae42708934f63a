package account_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
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
		if u := testenv.Must(h.Users.User(t.Context(), a.ID))(t); u.Version != g.User.Version {
			t.Errorf("version %d, in the response %d", u.Version, g.User.Version)
		}
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
		if device(a) != id {
			t.Errorf("back on the phone: %q, want %q", device(a), id)
		}

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
			if n := h.Number(t, deviceStmts.Must("holders")); n != 1 {
				t.Errorf("%d members have the device, want 1", n)
			}
		}
	})
}
