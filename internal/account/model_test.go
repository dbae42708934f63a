package account_test

import (
	"slices"
	"testing"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/testenv"

	"pgregory.net/rapid"
)

// modelLogin is a session of the model: the chain of its refresh tokens.
type modelLogin struct {
	tokens  []string // the last one is current
	access  []modelAccess
	rotated time.Time
	idle    time.Time
	whole   time.Time
	over    bool
}

type modelAccess struct {
	token string
	until time.Time
}

func (l *modelLogin) alive(now time.Time) bool {
	return !l.over && now.Before(l.idle) && now.Before(l.whole)
}

func (l *modelLogin) take(g account.IssuedTokens, now time.Time) {
	l.tokens = append(l.tokens, g.Refresh)
	l.rotated, l.idle = now, now.Add(30*24*time.Hour)
	if l.whole.Before(l.idle) {
		l.idle = l.whole
	}
	l.access = append(l.access, modelAccess{g.Access, now.Add(g.ExpiresIn)})
}

// TestModel compares sessions with a simple model under random sequences of logins, refreshes with any earlier token,
// logouts and time.
func TestModel(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	rapid.Check(t, func(rt *rapid.T) {
		var logins []*modelLogin
		testenv.NoError(rt, clearSessions(t, h))
		anyLogin := func(rt *rapid.T) *modelLogin {
			if len(logins) == 0 {
				rt.Skip("no session")
			}
			return rapid.SampledFrom(logins).Draw(rt, "login")
		}
		rt.Repeat(map[string]func(*rapid.T){
			"login": func(*rapid.T) {
				h.Clock.Advance(time.Millisecond)
				now := h.Clock.Now()
				l := &modelLogin{whole: now.Add(90 * 24 * time.Hour)}
				l.take(h.MustLogin(t, lan), now)
				logins = append(logins, l)
				live := 0 // expired sessions do not count towards the limit
				for _, l := range slices.Backward(logins) {
					if l.alive(now) {
						live++
						l.over = live > account.MaxSessions
					}
				}
			},
			"refresh": func(rt *rapid.T) {
				l := anyLogin(rt)
				age := min(rapid.IntRange(0, 3).Draw(rt, "age"), len(l.tokens)-1)
				token := l.tokens[len(l.tokens)-1-age]
				now := h.Clock.Now()
				g, err := h.Refresh(t.Context(), token)
				switch {
				case !l.alive(now):
					if err == nil {
						rt.Fatal("an ended session was refreshed")
					}
				case age == 0 && err == nil:
					l.take(g, now)
				case age == 1 && now.Sub(l.rotated) <= 10*time.Second && err == nil:
					if g.Refresh != l.tokens[len(l.tokens)-1] {
						rt.Fatal("a retry got another successor")
					}
				case age == 0 || age == 1 && now.Sub(l.rotated) <= 10*time.Second:
					rt.Fatalf("token of age %d: %v", age, err)
				default:
					if err == nil {
						rt.Fatal("a spent token was accepted")
					}
					l.over = true
				}
			},
			"logout": func(rt *rapid.T) {
				l := anyLogin(rt)
				testenv.NoError(rt, h.Logout(t.Context(), "", rapid.SampledFrom(l.tokens).Draw(rt, "token")))
				l.over = true
			},
			"wait": func(rt *rapid.T) {
				h.Clock.Advance(rapid.SampledFrom([]time.Duration{
					time.Second, 9 * time.Second, 2 * time.Second, 5 * time.Minute, 20 * 24 * time.Hour,
				}).Draw(rt, "for"))
			},
			"": func(rt *rapid.T) {
				h.SyncRevocations(t)
				now := h.Clock.Now()
				for i, l := range logins {
					for _, a := range l.access[max(0, len(l.access)-2):] {
						near := now.Sub(a.until).Abs() <= 3*time.Second // the tolerated clock skew
						if err := h.Authenticate(t.Context(), a.token); !near && (err == nil) != (!l.over && now.Before(a.until)) {
							rt.Fatalf("login %d: authenticated with %v at %v, expires %v, ended %t", i, err, now, a.until, l.over)
						}
					}
				}
			},
		})
	})
}

// clearSessions ends the sessions of an earlier sequence.
func clearSessions(t *testing.T, h *accounttest.Env) error {
	t.Helper()
	all, err := h.Sessions(t.Context(), authz.Actor{UserID: 1})
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := h.EndSession(t.Context(), authz.Actor{UserID: 1}, s.ID); err != nil {
			return err
		}
	}
	return nil
}
