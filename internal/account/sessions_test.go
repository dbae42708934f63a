package account_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/testenv"
)

func refresh(t *testing.T, h *accounttest.Env, token string) account.IssuedTokens {
	t.Helper()
	return testenv.Must(h.Refresh(t.Context(), token))(t)
}

func TestRefresh(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		first := h.MustLogin(t, lan)
		h.Clock.Advance(9 * time.Minute)
		second := refresh(t, h, first.Refresh)
		if second.Refresh == first.Refresh || second.Access == first.Access || second.Session.ID != first.Session.ID {
			t.Error("a refresh returned the same tokens")
		}
		h.Clock.Advance(9 * time.Minute)
		h.SyncRevocations(t)
		testenv.ErrorIs(t, authz.ErrInvalidToken, h.Authenticate(t.Context(), first.Access), "the expired access token")
		testenv.NoError(t, h.Authenticate(t.Context(), second.Access))
		for what, token := range map[string]string{
			"nothing": "", "an access token": second.Access, "a stranger": account.NewRefreshToken(), "a hash": account.TokenHash(second.Refresh),
		} {
			testenv.ErrorIs(t, account.ErrRefresh, testenv.Err(h.Refresh(t.Context(), token)), what)
		}
		testenv.ErrorIs(t, authz.ErrInvalidToken, h.Authenticate(t.Context(), second.Refresh), "a refresh token as an access token")
	})
}

// A client that lost the answer repeats the request and receives the same pair.
func TestRefresh_retry(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		first := h.MustLogin(t, lan)
		h.Clock.Advance(time.Minute)
		second := refresh(t, h, first.Refresh)
		h.Clock.Advance(10 * time.Second)
		retry := refresh(t, h, first.Refresh)
		if retry.Refresh != second.Refresh || retry.Access != second.Access {
			t.Error("the retry got another pair")
		}
		if third := refresh(t, h, retry.Refresh); third.Refresh == second.Refresh {
			t.Error("the successor does not rotate")
		}
		if h.Events.Count("reused") != 0 {
			t.Error("a retry was counted as reuse")
		}
	})
}

func TestRefresh_reuse_ends_the_session(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		for what, thief := range map[string]func(tokens []string) string{
			"the one before, too late": func(tokens []string) string {
				h.Clock.Advance(11 * time.Second)
				return tokens[1]
			},
			"an ancestor at once": func(tokens []string) string { return tokens[0] },
		} {
			g := h.MustLogin(t, lan)
			other := h.MustLogin(t, lan)
			tokens := []string{g.Refresh}
			for range 2 {
				g = refresh(t, h, g.Refresh)
				tokens = append(tokens, g.Refresh)
			}
			h.SyncRevocations(t)
			before := h.Events.Count("reused")
			stolen := thief(tokens)
			h.SyncRevocations(t)
			_, err := h.Refresh(t.Context(), stolen)
			testenv.ErrorIs(t, account.ErrRefresh, err, what)
			if h.Events.Count("reused") != before+1 {
				t.Errorf("%s: reuse was not reported", what)
			}
			_, err = h.Refresh(t.Context(), g.Refresh)
			testenv.ErrorIs(t, account.ErrRefresh, err, what+": the current token")
			testenv.ErrorIs(t, authz.ErrInvalidToken, h.Authenticate(t.Context(), g.Access), what+": the access token")
			if err := h.Authenticate(t.Context(), other.Access); err != nil {
				t.Errorf("%s: another session: %v", what, err)
			}
		}
	})
}

// Concurrent requests with one token receive the same pair.
func TestRefresh_race(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		g := h.MustLogin(t, lan)
		for round := range 5 {
			pairs := make([]account.IssuedTokens, 16)
			var all sync.WaitGroup
			for i := range pairs {
				all.Go(func() {
					var err error
					if pairs[i], err = h.Refresh(t.Context(), g.Refresh); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			for _, p := range pairs {
				if p.Refresh != pairs[0].Refresh || p.Access != pairs[0].Access || p.Refresh == g.Refresh {
					t.Fatalf("round %d: two pairs", round)
				}
			}
			g = pairs[0]
		}
		if h.Events.Count("reused") != 0 {
			t.Error("a concurrent request was counted as reuse")
		}
	})
}

func TestSessions_lifetimes(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		h.CreateStaff(t, minh, authz.RoleCashier)
		for email, idle := range map[string]time.Duration{lan: 30 * 24 * time.Hour, minh: 30 * time.Minute} {
			g := h.MustLogin(t, email)
			h.Clock.Advance(idle - time.Second)
			g = refresh(t, h, g.Refresh)
			h.Clock.Advance(idle)
			testenv.ErrorIs(t, account.ErrRefresh, testenv.Err(h.Refresh(t.Context(), g.Refresh)), email)
		}
		for email, whole := range map[string]time.Duration{lan: 90 * 24 * time.Hour, minh: 12 * time.Hour} {
			g := h.MustLogin(t, email)
			for elapsed := time.Duration(0); elapsed < whole; elapsed += whole / 36 {
				g = refresh(t, h, g.Refresh)
				h.Clock.Advance(whole / 36)
			}
			testenv.ErrorIs(t, account.ErrRefresh, testenv.Err(h.Refresh(t.Context(), g.Refresh)), email+", in all")
		}
	})
}

// Activity extends a session without a refresh.
func TestSessions_last_seen(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateStaff(t, lan, authz.RoleCashier)
		g := h.MustLogin(t, lan)
		h.Clock.Advance(9 * time.Minute)
		h.SyncRevocations(t)
		actor := testenv.Must(h.Authenticator.Authenticate(t.Context(), g.Access))(t)
		testenv.NoError(t, h.Authenticator.FlushLastSeen(t.Context()))
		all, err := h.Sessions(t.Context(), actor)
		if err != nil || len(all) != 1 || !all[0].LastSeenAt.Equal(h.Clock.Now()) || !all[0].IdleUntil.Equal(h.Clock.Now().Add(30*time.Minute)) {
			t.Errorf("Sessions = %+v, %v, want one that was seen now", all, err)
		}
		h.Clock.Advance(29 * time.Minute)
		refresh(t, h, g.Refresh)
	})
}

func TestSessions_at_most_ten(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		var all []account.IssuedTokens
		for range 12 {
			all = append(all, h.MustLogin(t, lan))
			h.Clock.Advance(time.Millisecond)
		}
		for i, g := range all {
			err := h.Authenticate(t.Context(), g.Access)
			if alive := err == nil; alive != (i >= 2) {
				t.Errorf("login %d: %v", i, err)
			}
		}
		left, err := h.Sessions(t.Context(), authz.Actor{UserID: all[0].User.ID})
		if err != nil || len(left) != account.MaxSessions || left[0].ID != all[11].Session.ID {
			t.Errorf("%d sessions, %v", len(left), err)
		}
	})
}

func TestSessions_race(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		h.Hasher = account.NewHasher(accounttest.FastParams, 32)
		grants := make(chan account.IssuedTokens, 32)
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				g, err := h.Login(t.Context(), account.Credentials{Email: lan, Password: accounttest.Password}, accounttest.Caller())
				if err != nil {
					t.Error(err)
				}
				grants <- g
			})
		}
		all.Wait()
		close(grants)
		alive := 0
		for g := range grants {
			if h.Authenticate(t.Context(), g.Access) == nil {
				alive++
			}
		}
		testenv.Equal(t, account.MaxSessions, alive)
	})
}

func TestEndSession(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		h.CreateMember(t, minh)
		current, other, otherAccount := h.MustLogin(t, lan), h.MustLogin(t, lan), h.MustLogin(t, minh)
		actor := testenv.Must(h.Authenticator.Authenticate(t.Context(), current.Access))(t)
		for what, id := range map[string]string{"an unknown session": "x", "another account's": otherAccount.Session.ID} {
			testenv.ErrorIs(t, account.ErrSession, h.EndSession(t.Context(), actor, id), what)
		}
		testenv.NoError(t, h.EndSession(t.Context(), actor, other.Session.ID))
		testenv.ErrorIs(t, account.ErrSession, h.EndSession(t.Context(), actor, other.Session.ID), "again")
		testenv.ErrorIs(t, authz.ErrInvalidToken, h.Authenticate(t.Context(), other.Access), "the ended one")
		for what, g := range map[string]account.IssuedTokens{"this session": current, "another account's": otherAccount} {
			if err := h.Authenticate(t.Context(), g.Access); err != nil {
				t.Errorf("Authenticate in %s: %v", what, err)
			}
		}
	})
}

func TestLogout(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		for what, leave := range map[string]func(g, next account.IssuedTokens) error{
			"by the access token":            func(_, g account.IssuedTokens) error { return h.Logout(t.Context(), g.Access, "") },
			"by the refresh token":           func(_, g account.IssuedTokens) error { return h.Logout(t.Context(), "", g.Refresh) },
			"by a spent refresh token":       func(g, _ account.IssuedTokens) error { return h.Logout(t.Context(), "", g.Refresh) },
			"by a bad one and a refresh one": func(_, g account.IssuedTokens) error { return h.Logout(t.Context(), "x", g.Refresh) },
		} {
			g := h.MustLogin(t, lan)
			next := refresh(t, h, g.Refresh)
			testenv.NoError(t, h.Authenticate(t.Context(), next.Access))
			for range 2 { // a repetition succeeds
				if err := leave(g, next); err != nil {
					t.Errorf("%s: logout error %v, want none", what, err)
				}
			}
			testenv.ErrorIs(t, authz.ErrInvalidToken, h.Authenticate(t.Context(), next.Access), what+": the access token")
			_, err := h.Refresh(t.Context(), next.Refresh)
			testenv.ErrorIs(t, account.ErrRefresh, err, what+": the refresh token")
		}
		for _, c := range [][2]string{{"", ""}, {"x", ""}, {"", account.NewRefreshToken()}} {
			testenv.ErrorIs(t, authz.ErrInvalidToken, h.Logout(t.Context(), c[0], c[1]), "a stranger")
		}
		if h.Events.Count("reused") != 0 {
			t.Error("a logout was counted as reuse")
		}
	})
}

func TestPurge(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		h.CreateMember(t, lan)
		gone, kept := h.MustLogin(t, lan), h.MustLogin(t, lan)
		spent := kept.Refresh
		kept = refresh(t, h, kept.Refresh)
		testenv.NoError(t, h.Logout(t.Context(), gone.Access, ""))
		revoked := func() int {
			all := testenv.Must(h.Store.Revocations(t.Context(), time.UnixMilli(0)))(t)
			return len(all)
		}
		purge := func(after time.Duration) {
			h.Clock.Advance(after)
			testenv.NoError(t, h.Store.Purge(t.Context(), h.Clock.Now()))
		}
		purge(15 * time.Minute)
		if n := revoked(); n != 1 {
			t.Errorf("%d revocations while tokens may be valid, want 1", n)
		}
		purge(time.Millisecond)
		if n := revoked(); n != 0 {
			t.Errorf("%d revocations after every token has expired", n)
		}
		if _, found, err := h.Store.FindByToken(t.Context(), account.TokenHash(gone.Refresh)); !found || err != nil {
			t.Errorf("an ended session was purged at once: %v", err)
		}
		purge(29 * 24 * time.Hour)
		kept = refresh(t, h, kept.Refresh)
		purge(2 * 24 * time.Hour)
		if _, found, err := h.Store.FindByToken(t.Context(), account.TokenHash(gone.Refresh)); found || err != nil {
			t.Errorf("an ended session was never purged: %v", err)
		}
		if _, err := h.Refresh(t.Context(), spent); fault.KindOf(err) != fault.Unauthenticated || h.Events.Count("reused") != 0 {
			t.Errorf("a token spent a month ago: %v", err)
		}
		refresh(t, h, kept.Refresh)
	})
}

// The list shows the client of each session.
func TestSessions_list(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	g := h.MustLogin(t, lan)
	all, err := h.Sessions(t.Context(), authz.Actor{UserID: g.User.ID})
	if err != nil || len(all) != 1 || all[0].Device != "a test" || all[0].Address != "192.0.2.7" {
		t.Errorf("Sessions = %+v, %v, want one of a test from 192.0.2.7", all, err)
	}
	if !slices.Equal([]string{all[0].ID}, []string{g.Session.ID}) {
		t.Errorf("%s, want %s", all[0].ID, g.Session.ID)
	}
}
