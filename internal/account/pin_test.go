package account_test

import (
	"errors"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accountsql"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

func TestCheckPin(t *testing.T) {
	for pin, good := range map[string]bool{
		"2580": true, "12345679": true, "0000": false, "1234": false, "98765": false, "123": false, "123456789": false,
		"12a4": false, "": false, "１２８５": false, "1212": true, "1357": true,
	} {
		if err := account.CheckPin(pin); (err == nil) != good {
			t.Errorf("CheckPin(%q) = %v, want success %t", pin, err, good)
		}
	}
}

var fixtureStmts = sqldb.Load(fstest.MapFS{
	"branch.sql": {Data: []byte(`INSERT INTO branch (id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes,
		created_at) VALUES ($1, 'b', 'VND', 'UTC', 4, '["vi"]', 60, 0) ON CONFLICT (id) DO NOTHING`)},
	"assignment.sql": {Data: []byte(`INSERT INTO user_branch (user_id, branch_id) VALUES ($1, $2)`)},
})

const pin = "2580"

// tablet is a tablet of a branch with its staff.
type tablet struct {
	*accounttest.Env

	at   authz.Actor  // the account that is logged in
	cook account.User // has a PIN and works in the same branch
}

func newTablet(t *testing.T, h *accounttest.Env) tablet {
	t.Helper()
	f := tablet{Env: h}
	waiter := f.hire(t, "waiter@example.com", authz.RoleStaff, 1)
	f.cook = f.hire(t, "cook@example.com", authz.RoleKitchen, 1)
	f.setPin(t, "cook@example.com")
	f.at = waiter.Actor(h.MustLogin(t, "waiter@example.com").Session.ID)
	return f
}

func (f tablet) hire(t *testing.T, email, role string, branch int64) account.User {
	t.Helper()
	u := f.CreateStaff(t, email, role)
	for _, step := range []struct {
		q    string
		args []any
	}{{"branch", []any{branch}}, {"assignment", []any{u.ID, branch}}} {
		testenv.Must(f.DB.Exec(t.Context(), fixtureStmts.Must(step.q), step.args...))(t)
	}
	return testenv.Must(f.Store.User(t.Context(), u.ID))(t)
}

func (f tablet) setPin(t *testing.T, email string) {
	t.Helper()
	g := f.MustLogin(t, email)
	testenv.NoError(t, f.SetPin(t.Context(), g.User.Actor(g.Session.ID), accounttest.Password, pin))
}

func (f tablet) takeOver(t *testing.T, pin string) (account.IssuedTokens, error) {
	t.Helper()
	return f.TakeOver(t.Context(), f.at, f.cook.ID, pin, accounttest.Caller())
}

// A colleague takes over the tablet with their own permissions, until the tablet's session ends at the latest.
func TestTakeOver(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		f := newTablet(t, h)
		all, err := f.Colleagues(t.Context(), f.at)
		if err != nil || len(all) != 1 || all[0].UserID != f.cook.ID || all[0].Role != authz.RoleKitchen || all[0].Name("en") == "" {
			t.Fatalf("Colleagues = %+v, %v, want the cook", all, err)
		}
		f.Clock.Advance(29 * time.Minute)
		ownSessions, err := f.Sessions(t.Context(), f.at)
		if err != nil || len(ownSessions) != 1 {
			t.Fatal(ownSessions, err)
		}
		g, err := f.takeOver(t, pin)
		if err != nil || g.User.Role != authz.RoleKitchen || g.Session.UserID != f.cook.ID {
			t.Fatalf("TakeOver = %+v, %v, want the cook's session", g.User, err)
		}
		f.SyncRevocations(t)
		testenv.Equal(t, f.cook.ID, testenv.Must(f.Authenticator.Authenticate(t.Context(), g.Access))(t).UserID)
		if g.Session.ExpiresAt.After(ownSessions[0].ExpiresAt) {
			t.Errorf("session ends at %v, after the tablet's at %v", g.Session.ExpiresAt, ownSessions[0].ExpiresAt)
		}
		f.Clock.Advance(2 * time.Minute) // the tablet's session is idle too long
		testenv.ErrorIs(t, authz.ErrInvalidToken, testenv.Err(f.takeOver(t, pin)), "at a tablet that is logged out")
	})
}

// Ten wrong PINs, also concurrent ones, block a PIN until it is set again. The password keeps working.
func TestTakeOver_wrong_pins(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		f := newTablet(t, h)
		otherProcess := accounttest.OpenAnother(t, h.DB, accounttest.NewSessionCache(), h.Clock)
		var wg sync.WaitGroup
		for i := range 24 {
			wg.Go(func() {
				at := []*accounttest.Env{h, otherProcess}[i%2]
				if _, err := at.TakeOver(t.Context(), f.at, f.cook.ID, "0852", accounttest.Caller()); err == nil {
					t.Error("a wrong PIN was accepted")
				}
			})
		}
		wg.Wait()
		testenv.ErrorIs(t, account.ErrPin, testenv.Err(f.takeOver(t, pin)), "the right one after that")
		if all, err := f.Colleagues(t.Context(), f.at); err != nil || len(all) != 0 {
			t.Errorf("Colleagues after ten wrong PINs = %+v, %v, want none", all, err)
		}
		cook := f.cook.Actor(h.MustLogin(t, "cook@example.com").Session.ID)
		if own, err := f.Colleagues(t.Context(), cook); err != nil || len(own) != 1 || own[0].UserID != f.cook.ID || !own[0].Blocked {
			t.Errorf("Colleagues of the cook = %+v, %v, want their own blocked PIN", own, err)
		}
		f.setPin(t, "cook@example.com")
		for range account.MaxPinFailures - 1 {
			testenv.ErrorIs(t, account.ErrPin, testenv.Err(f.takeOver(t, "0852")))
		}
		if own, err := f.Colleagues(t.Context(), cook); err != nil || len(own) != 1 || own[0].Blocked {
			t.Errorf("Colleagues after nine wrong PINs = %+v, %v, want the cook's PIN, not blocked", own, err)
		}
		if _, err := f.takeOver(t, pin); err != nil {
			t.Errorf("TakeOver after nine wrong PINs: %v", err)
		}
		testenv.ErrorIs(t, account.ErrPin, testenv.Err(f.takeOver(t, "0852")))
		if _, err := f.takeOver(t, pin); err != nil {
			t.Errorf("TakeOver, whose success before must reset the count: %v", err)
		}
	})
}

// Actors of other branches, and PINs of accounts that lost their role, are refused, and refused attempts do not count.
func TestTakeOver_refused(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		f := newTablet(t, h)
		stranger := f.hire(t, "far@example.com", authz.RoleManager, 2)
		otherBranch := stranger.Actor(h.MustLogin(t, "far@example.com").Session.ID)
		for range account.MaxPinFailures + 1 {
			if _, err := f.TakeOver(t.Context(), otherBranch, f.cook.ID, pin, accounttest.Caller()); !errors.Is(err, account.ErrPin) {
				t.Fatal(err)
			}
		}
		if all, err := f.Colleagues(t.Context(), otherBranch); err != nil || len(all) != 0 {
			t.Errorf("Colleagues of another branch = %+v, %v, want none", all, err)
		}
		if _, err := f.takeOver(t, pin); err != nil {
			t.Errorf("TakeOver after a stranger's attempts: %v", err)
		}
		if _, err := f.TakeOver(t.Context(), f.at, 1<<40, pin, accounttest.Caller()); !errors.Is(err, account.ErrPin) {
			t.Errorf("an unknown account: error %v, want ErrPin", err)
		}
		member := h.CreateMember(t, lan)
		as := member.Actor(h.MustLogin(t, lan).Session.ID)
		if _, err := f.TakeOver(t.Context(), as, f.cook.ID, pin, accounttest.Caller()); !errors.Is(err, account.ErrPinRole) {
			t.Errorf("from a member's phone: error %v, want ErrPinRole", err)
		}
		testenv.ErrorIs(t, account.ErrPinRole, f.SetPin(t.Context(), as, accounttest.Password, pin), "a member's PIN")
		h.SetRole(t, f.cook.ID, authz.RoleOwner)
		testenv.ErrorIs(t, account.ErrPin, testenv.Err(f.takeOver(t, pin)), "an owner by PIN")
		if all, err := f.Colleagues(t.Context(), f.at); err != nil || len(all) != 0 {
			t.Errorf("Colleagues with an owner = %+v, %v, want none", all, err)
		}
		h.SetRole(t, f.cook.ID, authz.RoleKitchen)
		h.SetStatus(t, f.cook.ID, account.Disabled)
		testenv.ErrorIs(t, account.ErrPin, testenv.Err(f.takeOver(t, pin)), "a disabled account")
	})
}

// Setting a PIN needs the current password. A removed PIN is refused.
func TestSetPin(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		f := newTablet(t, h)
		g := h.MustLogin(t, "cook@example.com")
		actor := g.User.Actor(g.Session.ID)
		if err := f.SetPin(t.Context(), actor, "not the password", "8520"); !errors.Is(err, account.ErrPassword) {
			t.Errorf("another password: error %v, want ErrPassword", err)
		}
		testenv.ErrorIs(t, account.ErrPinForm, f.SetPin(t.Context(), actor, accounttest.Password, "1111"))
		if _, err := f.takeOver(t, pin); err != nil {
			t.Errorf("TakeOver with the PIN before: %v", err)
		}
		for range 2 {
			testenv.NoError(t, f.RemovePin(t.Context(), actor))
		}
		testenv.ErrorIs(t, account.ErrPin, testenv.Err(f.takeOver(t, pin)), "removed")
	})
}

// A reset of the password deletes the PIN, and a PIN whose password was verified before the reset is not stored
// (decision 85).
func TestResetPassword_deletes_the_PIN(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		f := newTablet(t, h)
		const email = "cook@example.com"
		former := testenv.Must(f.Store.User(t.Context(), f.cook.ID))(t)
		h.Clock.Advance(time.Minute)
		testenv.NoError(t, h.RequestCode(t.Context(), account.Reset, email, accounttest.Caller()))
		testenv.NoError(t, h.ResetPassword(t.Context(), email, h.Code(t, email), "a password that is new", accounttest.Caller()))
		testenv.ErrorIs(t, account.ErrPin, testenv.Err(f.takeOver(t, pin)), "the PIN after a reset")
		all := h.Emails(t, email)
		testenv.Equal(t, all[len(all)-1].Fields, map[string]string{account.FieldName: "", account.FieldPin: "1"})

		by := former.Actor("a session")
		if err := f.Store.SetPin(t.Context(), by, former.PasswordHash, "a hash", h.Clock.Now()); !errors.Is(err, account.ErrPassword) {
			t.Errorf("a PIN of the former password: error %v, want ErrPassword", err)
		}
		testenv.NoError(t, f.Store.SetPin(t.Context(), by, testenv.Must(f.Store.User(t.Context(), f.cook.ID))(t).PasswordHash,
			"a hash", h.Clock.Now()))
	})
}

// Someone who manages people sets a PIN for a person without a password: it works at once, and sessions that began
// with the one before end.
func TestResetPin(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		f := newTablet(t, h)
		manage := &account.Administration{Users: accountsql.NewUserAdmin(h.DB), Accounts: h.Service, Now: h.Clock.Now}
		before := testenv.Must(f.takeOver(t, pin))(t)
		f.SyncRevocations(t)
		testenv.Must(f.Authenticator.Authenticate(t.Context(), before.Access))(t)
		f.Clock.Advance(time.Second)
		if _, err := manage.ResetPin(t.Context(), authz.System(), f.cook.ID, "123456"); !errors.Is(err, account.ErrPinForm) {
			t.Error(err)
		}
		if _, err := f.Authenticator.Authenticate(t.Context(), before.Access); err != nil {
			t.Errorf("Authenticate after a refused PIN: %v", err)
		}
		u, err := manage.ResetPin(t.Context(), authz.System(), f.cook.ID, "250317")
		if err != nil || u.ID != f.cook.ID {
			t.Fatalf("ResetPin = %+v, %v, want user %d", u, err, f.cook.ID)
		}
		if _, err := f.Authenticator.Authenticate(t.Context(), before.Access); !errors.Is(err, authz.ErrInvalidToken) {
			t.Errorf("a session of the PIN before: error %v, want ErrInvalidToken", err)
		}
		testenv.ErrorIs(t, account.ErrPin, testenv.Err(f.takeOver(t, pin)), "the PIN before")
		g := testenv.Must(f.takeOver(t, "250317"))(t)
		if _, err := f.Authenticator.Authenticate(t.Context(), g.Access); err != nil {
			t.Errorf("Authenticate in the new session: %v", err)
		}
	})
}
