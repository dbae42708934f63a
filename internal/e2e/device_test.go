package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Staff find the member of a phone by the device id, which a login sets; the newest login on it wins (002-A11).
func TestDevice_lookup(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		owner := s.createStaff("OWNER", "")
		lan, minh := s.newMember("lan"), s.newMember("minh")
		email := func(m member) string {
			var me struct{ Email string }
			m.send(http.MethodGet, "/me", nil).want(t, http.StatusOK, "").into(t, &me)
			return me.Email
		}
		var in struct{ User struct{ DeviceID string } }
		cookie := ""
		login := func(m member) {
			t.Helper()
			a := s.send(http.MethodPost, "/auth/login", map[string]string{"email": email(m), "password": memberPassword}, "Cookie", cookie)
			a.want(t, http.StatusOK, "").into(t, &in)
			cookie, _, _ = strings.Cut(a.header.Get("Set-Cookie"), ";")
		}
		find := func(id, want string) {
			t.Helper()
			s.await(patience, func() error { // the index follows within seconds
				var page struct{ Items []struct{ ID string } }
				owner.send(http.MethodGet, "/api/users?deviceId="+id, nil).want(t, http.StatusOK, "").into(t, &page)
				if len(page.Items) != 1 || page.Items[0].ID != want {
					return fmt.Errorf("found %+v, want %s", page.Items, want)
				}
				return nil
			})
		}
		login(lan)
		phone := in.User.DeviceID
		find(phone, lan.id)
		login(minh)
		if in.User.DeviceID != phone {
			t.Errorf("the phone is %q to another member, want %q", in.User.DeviceID, phone)
		}
		find(phone, minh.id)
	}, embedded, servers)
}
