package account_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// A member changes the e-mail address with a code that was sent to the new one. Sessions stay, the former address gets an
// e-mail, and only the new one logs in.
func TestChangeEmail(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		const lanNew = "lan.new@example.com"
		u := h.CreateMember(t, lan)
		before := h.MustLogin(t, lan)
		actor := authz.Actor{Kind: authz.Account, UserID: u.ID, Role: u.Role}
		h.Clock.Advance(time.Minute)
		ask := func(password, email string) error {
			return h.RequestEmail(t.Context(), actor, password, email, accounttest.Caller())
		}
		change := func(email, code string) error {
			_, err := h.ChangeEmail(t.Context(), actor, email, code, accounttest.Caller())
			return err
		}
		testenv.ErrorIs(t, account.ErrPassword, ask("not the password", lanNew), "a wrong password")
		testenv.Equal(t, fault.Invalid, fault.KindOf(ask(accounttest.Password, lan)))
		testenv.NoError(t, ask(accounttest.Password, lanNew))
		code := h.Code(t, lanNew)
		if again := ask(accounttest.Password, lanNew); fault.KindOf(again) != fault.TooMany {
			t.Errorf("a second code at once: error %v, want a limit", again)
		}
		testenv.ErrorIs(t, account.ErrCode, change(lanNew, otherCode(code)), "a wrong code")
		testenv.ErrorIs(t, account.ErrCode, change("eve@example.com", code), "another address")
		testenv.ErrorIs(t, account.ErrCode, h.VerifyEmail(t.Context(), lanNew, code, accounttest.Caller()), "as a code to verify")
		h.Clock.Advance(time.Minute)
		former := len(h.Emails(t, lan))
		testenv.NoError(t, change(" Lan.New@example.com", code))
		testenv.Equal(t, lanNew, testenv.Must(h.Me(t.Context(), actor))(t).Email)
		if sent := h.Emails(t, lan); len(sent) != former+1 || sent[len(sent)-1].Fields[account.FieldAddress] != "l***@example.com" {
			t.Errorf("the former address has %+v, want a notice", sent)
		}
		testenv.ErrorIs(t, account.ErrCode, change(lanNew, code), "a code twice")
		h.SyncRevocations(t)
		testenv.NoError(t, h.Authenticate(t.Context(), before.Access))
		h.MustLogin(t, lanNew)
		_, err := h.Login(t.Context(), account.Credentials{Email: lan, Password: accounttest.Password}, accounttest.Caller())
		testenv.ErrorIs(t, account.ErrLogin, err, "the former address")
	})
}

var addressDrop = sqldb.Load(fstest.MapFS{"drop.sql": {Data: []byte(`UPDATE app_user SET email = NULL WHERE id = $1`)}}).Must("drop")

// Staff without an address, who log in by username, set one. There is no former address to write to.
func TestChangeEmail_of_an_account_without_one(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		const first = "cook@example.com"
		u := h.CreateStaff(t, lan, authz.RoleCashier)
		testenv.Must(h.DB.Exec(t.Context(), addressDrop, u.ID))(t)
		actor := authz.Actor{Kind: authz.Account, UserID: u.ID, Role: authz.RoleCashier}
		testenv.NoError(t, h.RequestEmail(t.Context(), actor, accounttest.Password, first, accounttest.Caller()))
		changed := testenv.Must(h.ChangeEmail(t.Context(), actor, first, h.Code(t, first), accounttest.Caller()))(t)
		testenv.Equal(t, first, changed.Email)
		if !testenv.Must(h.Store.User(t.Context(), u.ID))(t).Registered {
			t.Error("the address is not verified, although its code was sent there")
		}
		if sent := h.Emails(t, ""); len(sent) != 0 {
			t.Errorf("%d e-mails without a recipient: %+v", len(sent), sent)
		}
	})
}

// No code is sent to an address of another account, with the same response, and an address that was registered in the
// meantime is refused.
func TestChangeEmail_of_another_account(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, minh)
		u := h.CreateMember(t, lan)
		actor := authz.Actor{Kind: authz.Account, UserID: u.ID, Role: u.Role}
		h.Clock.Advance(time.Hour)
		before := len(h.Emails(t, minh))
		testenv.NoError(t, h.RequestEmail(t.Context(), actor, accounttest.Password, minh, accounttest.Caller()))
		if n := len(h.Emails(t, minh)); n != before {
			t.Errorf("%d e-mails to the owner of the address, want none", n-before)
		}
		const free = "free@example.com"
		testenv.NoError(t, h.RequestEmail(t.Context(), actor, accounttest.Password, free, accounttest.Caller()))
		code := h.Code(t, free)
		h.CreateMember(t, free)
		_, err := h.ChangeEmail(t.Context(), actor, free, code, accounttest.Caller())
		testenv.ErrorIs(t, account.ErrEmailTaken, err, "a registered address")
		_, err = h.ChangeEmail(t.Context(), actor, free, code, accounttest.Caller())
		testenv.ErrorIs(t, account.ErrEmailTaken, err, "again") // the code was not used up
	})
}

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

// The score falls with each flag by the points of its kind, and never below zero.
func TestTrustRules_Score(t *testing.T) {
	rules := account.TrustRules{ExpiredOrder: 5, NoShow: 20, Chargeback: 40}
	expired, noShow, chargeback := account.FlagExpiredOrder, account.FlagNoShow, account.FlagChargeback
	for _, c := range []struct {
		name  string
		rules account.TrustRules
		flags []account.FlagKind
		score int
		kinds []account.FlagKind
	}{
		{"none", rules, nil, 100, nil},
		{"one", rules, []account.FlagKind{expired}, 95, []account.FlagKind{expired}},
		{
			"several", rules, []account.FlagKind{noShow, expired, expired, chargeback}, 30,
			[]account.FlagKind{chargeback, expired, noShow},
		},
		{"not below zero", rules, []account.FlagKind{chargeback, chargeback, chargeback}, 0, []account.FlagKind{chargeback}},
		{"a kind that costs nothing", account.TrustRules{}, []account.FlagKind{noShow}, 100, []account.FlagKind{noShow}},
		{"a kind of a newer release", rules, []account.FlagKind{"ABUSE"}, 100, []account.FlagKind{"ABUSE"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			score, kinds := c.rules.Score(c.flags)
			if score != c.score || !slices.Equal(kinds, c.kinds) {
				t.Errorf("Score = %d, %v, want %d, %v", score, kinds, c.score, c.kinds)
			}
		})
	}
	at := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	if got := (account.TrustRules{Period: 48 * time.Hour}).Cutoff(at); !got.Equal(at.AddDate(0, 0, -2)) {
		t.Errorf("Cutoff = %v", got)
	}
}
