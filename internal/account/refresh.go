package account

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/text"
)

// Rotation is a refresh token that a client sent, with its proposed successor.
type Rotation struct {
	TokenHash string
	NextHash  string
	Successor string // the new token, encrypted with the token that was sent
	Now       time.Time
}

// RotationResult is the outcome of Rotate, with the account and the session after it.
type RotationResult struct {
	Verdict RefreshVerdict
	User    User
	Session Session
}

// Refresh exchanges a refresh token for a new pair. The same token repeated within ten seconds, also concurrently,
// returns the same pair. A token that was spent earlier ends the session, because two clients have it (S3).
func (a *Service) Refresh(ctx context.Context, token string) (IssuedTokens, error) {
	if !wellFormedRefresh(token) {
		return IssuedTokens{}, ErrRefresh
	}
	// The successor is proposed before the verdict is known, so that judging and rotating take one transaction.
	next := NewRefreshToken()
	successor, err := encryptSuccessor(token, next)
	if err != nil {
		return IssuedTokens{}, fault.Wrap("encrypt a token", err)
	}
	o, err := a.SessionStore.Rotate(ctx, Rotation{
		TokenHash: TokenHash(token), NextHash: TokenHash(next), Successor: successor, Now: a.Now(),
	})
	if err != nil {
		return IssuedTokens{}, err
	}
	switch o.Verdict {
	case RefreshRotate:
	case RefreshRepeat:
		if next, err = decryptSuccessor(token, o.Session.Successor); err != nil {
			return IssuedTokens{}, fault.Wrap("decrypt a token", err)
		}
	case RefreshReuse:
		a.Observer.reused()
		a.Log.WarnContext(ctx, "security", "event", "authn_token_reuse", "user", o.User.ID, "session", o.Session.ID)
		a.dropSessions(ctx, []string{o.Session.ID})
		return IssuedTokens{}, ErrRefresh
	// The answer does not reveal which of the two it is; the client has to log in again in both cases.
	case RefreshUnknown, RefreshEnded:
		return IssuedTokens{}, ErrRefresh
	}
	_ = a.Cache.Put(ctx, o.Session.active(o.User), o.Session.TokenHash) // best effort: a miss is read from SQL
	return a.issueTokens(o.User, o.Session, next)
}

// wellFormedRefresh reports whether a text has the form of a refresh token, without any query. Access tokens never
// have. The check keeps garbage from costing a transaction.
func wellFormedRefresh(token string) bool { return text.IsToken(token, refreshChars) }

// Logout ends the session of an access token, or else of a refresh token. Either may be expired or spent.
func (a *Service) Logout(ctx context.Context, access, refresh string) error {
	now := a.Now()
	if len(access) > MaxAccessToken {
		return authz.ErrInvalidToken
	}
	if access != "" {
		// An expired one still names its session. Ending it is all that the token can do then.
		claims, err := a.Tokens.ParseExpired(access)
		if err == nil {
			if rest := claims.ExpiresAt.Sub(now); rest > 0 {
				_ = a.Cache.BlockToken(ctx, claims.ID, rest) // best effort: the revocation in SQL decides
			}
			return a.endSession(ctx, claims.UserID, claims.Session, now)
		}
	}
	if !wellFormedRefresh(refresh) {
		return authz.ErrInvalidToken
	}
	s, found, err := a.SessionStore.FindByToken(ctx, TokenHash(refresh))
	if err != nil {
		return err
	}
	if !found {
		return authz.ErrInvalidToken
	}
	return a.endSession(ctx, s.UserID, s.ID, now)
}

// endSession ends a session. If the session has ended already, it does nothing.
func (a *Service) endSession(ctx context.Context, user int64, session string, now time.Time) error {
	if _, err := a.SessionStore.End(ctx, user, session, EndLogout, now); err != nil {
		return err
	}
	// Also for a session that had ended before: dropping it again is harmless.
	a.dropSessions(ctx, []string{session})
	return nil
}

// Sessions returns the live sessions of an actor, newest first.
func (a *Service) Sessions(ctx context.Context, actor authz.Actor) ([]Session, error) {
	return a.SessionStore.Sessions(ctx, actor.UserID, a.Now())
}

// EndSession ends a session of an actor. A session of another account is reported as not found.
func (a *Service) EndSession(ctx context.Context, actor authz.Actor, session string) error {
	found, err := a.SessionStore.End(ctx, actor.UserID, session, EndByOwner, a.Now())
	if err != nil {
		return err
	}
	if !found {
		return ErrSession
	}
	a.dropSessions(ctx, []string{session})
	return nil
}
