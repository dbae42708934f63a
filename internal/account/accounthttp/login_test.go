package accounthttp_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/testenv"
)

// Names of colleagues begin with the family name for readers of Vietnamese and Chinese. They are sorted as they are shown.
func TestMember_colleagues(t *testing.T) {
	each(t, func(t *testing.T, s *testServer) {
		for email, name := range map[string][2]string{"a@example.com": {"Lan", "Trần"}, "b@example.com": {"Minh", "Lê"}} {
			s.CreateStaff(t, email, authz.RoleKitchen)
			g := s.MustLogin(t, email)
			actor := g.User.Actor(g.Session.ID)
			testenv.Must(s.ChangeMe(t.Context(), actor, account.ProfileChanges{FirstName: &name[0], Surname: &name[1]}))(t)
			testenv.NoError(t, s.SetPin(t.Context(), actor, accounttest.Password, "2580"))
		}
		s.CreateStaff(t, "owner@example.com", authz.RoleOwner)
		access := "Bearer " + s.MustLogin(t, "owner@example.com").Access
		for language, names := range map[string][]string{
			"":                  {"Lan Trần", "Minh Lê"},
			"de, en;q=0.5":      {"Lan Trần", "Minh Lê"},
			"vi-VN, en;q=0.5":   {"Lê Minh", "Trần Lan"},
			"zh-TW":             {"Lê Minh", "Trần Lan"},
			"zh-Hant, vi;q=0.1": {"Lê Minh", "Trần Lan"},
		} {
			w := testenv.Serve(t, s.server, "GET", "/auth/pin", "", "Accept-Language", language, "Authorization", access)
			var list struct{ Items []struct{ Name string } }
			testenv.NoError(t, json.Unmarshal(w.Body.Bytes(), &list))
			got := make([]string, len(list.Items))
			for i, c := range list.Items {
				got[i] = c.Name
			}
			if d := cmp.Diff(names, got); d != "" {
				t.Errorf("names for %q differ: %s", language, d)
			}
		}
	})
}
