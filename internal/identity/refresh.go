package identity

import (
	"context"
	"time"

	"comanda/internal/fault"
)

// Rotation is a refresh token that was shown, and what would follow it.
type Rotation struct {
	TokenHash string
	NextHash  string
	Sealed    string // the next token, sealed with the shown one
	Now       time.Time
}

// Outcome is what showing a refresh token came to. Account and session are those after it.
type Outcome struct {
	Verdict Verdict
	User    User
	Session Session
}

// Refresh spends a refresh token for a new pair. The same token shown again within ten seconds gets the same pair, and
// so does everybody who shows it at the same time; a token that was spent before that ends the session, because two
// have it.
func (a *Accounts) Refresh(ctx context.Context, token string) (Grant, error) {
	if !wellFormedRefresh(token) {
		return Grant{}, ErrRefresh
	}
	next := NewRefreshToken()
	sealed, err := sealSuccessor(token, next)
	if err != nil {
		return Grant{}, fault.Wrap("seal a token", err)
	}
	o, err := a.Logins.Rotate(ctx, Rotation{
		TokenHash: TokenHash(token), NextHash: TokenHash(next), Sealed: sealed, Now: a.Now(),
	})
	if err != nil {
		return Grant{}, err
	}
	switch o.Verdict {
	case Rotate:
	case Repeat:
		if next, err = openSuccessor(token, o.Session.Successor); err != nil {
			return Grant{}, fault.Wrap("open a token", err)
		}
	case Reuse:
		a.Observer.reused()
		a.Log.WarnContext(ctx, "security", "event", "authn_token_reuse", "user", o.User.ID, "session", o.Session.ID)
		a.ended(ctx, []string{o.Session.ID})
		return Grant{}, ErrRefresh
	case Unknown, Over:
		return Grant{}, ErrRefresh
	}
	_ = a.Memory.Keep(ctx, o.Session.standing(o.User), o.Session.TokenHash) // only saves work
	return a.grant(o.User, o.Session, next)
}

// wellFormedRefresh refuses what cannot be a refresh token without asking anybody; an access token never is one.
func wellFormedRefresh(token string) bool {
	if len(token) != refreshChars {
		return false
	}
	for i := range len(token) {
		c := token[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// Logout ends the session of an access token, or else of a refresh token. Either will do, also one that has just run
// out or was spent: who wants to leave is let go.
func (a *Accounts) Logout(ctx context.Context, access, refresh string) error {
	now := a.Now()
	if len(access) > MaxAccessToken {
		return ErrToken
	}
	if access != "" {
		claims, err := a.Tokens.Read(access, now)
		if err == nil {
			_ = a.Memory.Bar(ctx, claims.ID, claims.ExpiresAt.Sub(now)) // the revocation in SQL is what counts
			return a.leave(ctx, claims.UserID, claims.Session, now)
		}
	}
	if !wellFormedRefresh(refresh) {
		return ErrToken
	}
	s, found, err := a.Logins.Holder(ctx, TokenHash(refresh))
	if err != nil {
		return err
	}
	if !found {
		return ErrToken
	}
	return a.leave(ctx, s.UserID, s.ID, now)
}

// leave ends a session; one that has ended already is fine.
func (a *Accounts) leave(ctx context.Context, user int64, session string, now time.Time) error {
	if _, err := a.Logins.End(ctx, user, session, EndLogout, now); err != nil {
		return err
	}
	a.ended(ctx, []string{session})
	return nil
}

// Sessions gives the living sessions of an actor, the newest first.
func (a *Accounts) Sessions(ctx context.Context, who Actor) ([]Session, error) {
	return a.Logins.Sessions(ctx, who.UserID, a.Now())
}

// EndSession ends a session of an actor. One of somebody else is answered as if it did not exist.
func (a *Accounts) EndSession(ctx context.Context, who Actor, session string) error {
	found, err := a.Logins.End(ctx, who.UserID, session, EndByOwner, a.Now())
	if err != nil {
		return err
	}
	if !found {
		return ErrSession
	}
	a.ended(ctx, []string{session})
	return nil
}
