package account_test

import (
	"testing"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
)

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
