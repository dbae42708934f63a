package account_test

import (
	"context"
	"errors"
	"testing"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
)

// newUsers is a UserAdminStore that records the accounts it is to create.
type newUsers struct {
	account.UserAdminStore

	made []account.User
	pins []string
}

func (s *newUsers) Create(
	_ context.Context, _ authz.Actor, u account.User, pinHash string, _ account.Assignment,
) (account.User, error) {
	s.made, s.pins = append(s.made, u), append(s.pins, pinHash)
	return u, nil
}

// A new account needs a way to log in, and its secrets are stored as hashes only.
func TestCreateUser(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		for _, c := range []struct {
			email, username, pin string
			want                 error
		}{
			{"", "lan", "2580", nil},
			{"lan@example.com", "", "", nil},
			{"lan@example.com", "", "2580", nil},
			{"", "", "2580", account.ErrNoLogin},
			{"", "lan", "", account.ErrNoLogin},
			{"", "lan", "1234", account.ErrPinForm},
		} {
			s := &newUsers{}
			m := account.Administration{Users: s, Accounts: h.Service, Now: h.Clock.Now}
			n := account.NewUser{Profile: account.Profile{Email: c.email, Username: c.username}, Pin: c.pin}
			_, err := m.CreateUser(t.Context(), authz.System(), n, account.Assignment{})
			if !errors.Is(err, c.want) || (err == nil) != (len(s.made) == 1) {
				t.Errorf("%+v: %v, %d made", c, err, len(s.made))
			}
			if err == nil && ((s.pins[0] == "") != (c.pin == "") || s.pins[0] == c.pin && c.pin != "" || s.made[0].PasswordHash != "") {
				t.Errorf("%+v: stored as %q, password %q", c, s.pins[0], s.made[0].PasswordHash)
			}
		}
	})
}
