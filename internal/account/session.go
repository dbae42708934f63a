package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/text"
)

// Lifetimes of sessions. Idle counts from the last activity, max from the login.
const (
	// The limits for staff are those of NIST SP 800-63B for AAL2 (section 4.2.3).
	memberIdle = 30 * 24 * time.Hour
	memberMax  = 90 * 24 * time.Hour
	staffIdle  = 30 * time.Minute
	staffMax   = 12 * time.Hour
)

// MaxSessions is the maximum number of sessions of an account. A further login ends the oldest. The limit bounds the
// rows of an account, which every login and every list of sessions reads.
const MaxSessions = 10

// refreshRetryWindow is how long the previous refresh token returns the same pair again, for clients that lost the
// answer.
const refreshRetryWindow = 10 * time.Second

// EndReason is the reason why a session ended.
type EndReason string

// Reasons for the end of a session.
const (
	EndLogout   EndReason = "LOGOUT"
	EndByOwner  EndReason = "ENDED"  // from another session of the same account
	EndReused   EndReason = "REUSED" // a spent refresh token was used again
	EndDisabled EndReason = "DISABLED"
	EndRole     EndReason = "ROLE"
	EndPassword EndReason = "PASSWORD"
	EndEvicted  EndReason = "EVICTED" // by a newer session, see MaxSessions
	EndPin      EndReason = "PIN"     // someone who manages people has reset the account's PIN
)

// SessionLifetimes returns the maximum idle time and the maximum lifetime of a session by role.
func SessionLifetimes(role string) (idle, whole time.Duration) {
	if authz.IsStaff(role) {
		return staffIdle, staffMax
	}
	return memberIdle, memberMax
}

// Session is one login on one device.
type Session struct {
	ID           string
	UserID       int64
	TokenHash    string // hash of the current refresh token
	PreviousHash string // hash of the refresh token before it
	Successor    string // the current token, encrypted with the previous one
	RotatedAt    time.Time
	Device       string
	Address      string
	CreatedAt    time.Time
	LastSeenAt   time.Time
	IdleUntil    time.Time
	ExpiresAt    time.Time
	EndedAt      time.Time // zero while it is live
}

// newSession returns the session that a login begins at now.
func newSession(id string, u User, c Caller, tokenHash string, now time.Time) Session {
	idle, whole := SessionLifetimes(u.Role)
	return Session{
		ID: id, UserID: u.ID, TokenHash: tokenHash, RotatedAt: now, Device: c.Device, Address: c.Address, CreatedAt: now,
		LastSeenAt: now, IdleUntil: now.Add(idle), ExpiresAt: now.Add(whole),
	}
}

// StartedAfter moves the start of a session behind validFrom if necessary: clocks of several processes may differ by
// milliseconds, and a login right after a password reset must succeed.
func (s Session) StartedAfter(validFrom time.Time) Session {
	if s.CreatedAt.After(validFrom) {
		return s
	}
	later := validFrom.Add(time.Millisecond)
	shift := later.Sub(s.CreatedAt)
	s.CreatedAt, s.RotatedAt, s.LastSeenAt = later, later, later
	s.IdleUntil, s.ExpiresAt = s.IdleUntil.Add(shift), s.ExpiresAt.Add(shift)
	return s
}

// endingBy returns the session with its lifetime capped at end. A takeover by PIN uses it.
func (s Session) endingBy(end time.Time) Session {
	for _, t := range []*time.Time{&s.ExpiresAt, &s.IdleUntil} {
		if end.Before(*t) {
			*t = end
		}
	}
	return s
}

// Alive reports whether a session of an account is valid at now.
func (s Session) Alive(u User, now time.Time) bool {
	return s.EndedAt.IsZero() && now.Before(s.ExpiresAt) && now.Before(s.IdleUntil) &&
		u.Status == Active && s.CreatedAt.After(u.ValidFrom)
}

// RefreshVerdict is the decision about a refresh token that a client sent.
type RefreshVerdict int

// Verdicts about a refresh token.
const (
	RefreshUnknown RefreshVerdict = iota // no token of this installation
	RefreshEnded                         // its session has ended
	RefreshRotate                        // current: spend it and issue its successor
	RefreshRepeat                        // the previous token, within the retry window: issue the same successor
	RefreshReuse                         // spent earlier, so two clients have it: end the session
)

// JudgeRefresh decides about a refresh token of this session.
func (s Session) JudgeRefresh(u User, tokenHash string, now time.Time) RefreshVerdict {
	switch {
	case !s.Alive(u, now):
		return RefreshEnded
	case s.TokenHash == tokenHash:
		return RefreshRotate
	case s.PreviousHash == tokenHash && now.Sub(s.RotatedAt) <= refreshRetryWindow:
		return RefreshRepeat
	}
	return RefreshReuse
}

// Rotated returns the session after its token was spent. IdleUntil never exceeds ExpiresAt, so it is the end of an
// unused session.
func (s Session) Rotated(u User, nextHash, successor string, now time.Time) Session {
	idle, _ := SessionLifetimes(u.Role)
	s.PreviousHash, s.TokenHash, s.Successor = s.TokenHash, nextHash, successor
	s.RotatedAt, s.LastSeenAt = now, now
	if s.IdleUntil = now.Add(idle); s.ExpiresAt.Before(s.IdleUntil) {
		s.IdleUntil = s.ExpiresAt
	}
	return s
}

// ActiveSession is the part of a live session and its account that Authenticator needs.
type ActiveSession struct {
	Session   string
	UserID    int64
	RoleID    int64
	Role      string
	Branches  []int64
	StartedAt time.Time
	ExpiresAt time.Time
	Address   string
}

// active returns the ActiveSession of a session that was just read or written.
func (s Session) active(u User) ActiveSession {
	return ActiveSession{
		Session: s.ID, UserID: u.ID, RoleID: u.RoleID, Role: u.Role, Branches: u.Branches, StartedAt: s.CreatedAt,
		ExpiresAt: s.ExpiresAt, Address: s.Address,
	}
}

// actor returns the actor of requests within the session.
func (s ActiveSession) actor() authz.Actor {
	return User{ID: s.UserID, RoleID: s.RoleID, Role: s.Role, Branches: s.Branches}.Actor(s.Session)
}

// SessionCache caches sessions in Redis, normally accountredis. It is written after SQL and may lose data at any time;
// on every error or miss the caller reads SQL.
type SessionCache interface {
	// Put caches a live session, and the hash of its refresh token unless that is empty.
	Put(ctx context.Context, s ActiveSession, tokenHash string) error
	// Get returns a session, and whether the access token with this id was blocked.
	Get(ctx context.Context, session, token string) (s ActiveSession, found, barred bool, err error)
	// Delete removes sessions.
	Delete(ctx context.Context, sessions []string) error
	// BlockToken refuses an access token by id for the rest of its lifetime.
	BlockToken(ctx context.Context, token string, rest time.Duration) error
	// PutCode records that a code was sent, DeleteCode that it was used.
	PutCode(ctx context.Context, p Purpose, user int64, sent time.Time) error
	DeleteCode(ctx context.Context, p Purpose, user int64) error
}

// Errors of sessions.
var (
	ErrRefresh = fault.New(fault.Unauthenticated, "refresh_token_invalid", "Log in again.")
	ErrSession = fault.New(fault.NotFound, "session_not_found", "Session not found.")
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

// AccessTokenTTL is the lifetime of an access token. Only a revocation ends it earlier. It must stay below
// revocationTTL: a revocation has to outlive every token that it refuses.
const AccessTokenTTL = 10 * time.Minute

// MaxAccessToken is the maximum length of an access token in bytes. Ours are about 350 bytes; longer input is refused
// before it is hashed or parsed.
const MaxAccessToken = 4 << 10

// Claims are the contents of an access token: the account and its session. Permissions are not part of it, so that a
// token cannot be out of date about them.
type Claims struct {
	ID        string // jti
	UserID    int64
	Session   string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// TokenCodec signs and parses access tokens, normally accountjwt.
type TokenCodec interface {
	Sign(c Claims) (string, error)
	// Parse returns the claims of a token that this installation signed and that is valid at now.
	Parse(token string, now time.Time) (Claims, error)
	// ParseExpired returns the claims of a token that this installation signed, even if it has expired. They identify
	// a session and prove no right to use it.
	ParseExpired(token string) (Claims, error)
}

// Sizes of refresh tokens: random bytes, and characters of their base64 text.
const (
	refreshBytes = 32
	refreshChars = 43
)

// NewRefreshToken returns a refresh token of 256 random bits.
func NewRefreshToken() string {
	b := make([]byte, refreshBytes)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return base64.RawURLEncoding.EncodeToString(b)
}

// TokenHash returns the SHA-256 of a token in hexadecimal, which is stored in place of the token. A token has 256
// random bits, so neither a salt nor a slow hash would add security.
func TokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// successorPurpose separates the key that encrypts the successor of a refresh token from keys for other purposes.
const successorPurpose = "comanda refresh successor"

// encryptSuccessor encrypts the successor of a refresh token with a key derived from that token. A client that repeats the
// token receives the same successor; a reader of the database does not.
func encryptSuccessor(token, next string) (string, error) {
	return Encrypt(deriveKey(token, successorPurpose), successorPurpose, next)
}

// decryptSuccessor decrypts what encryptSuccessor returned, with the same token.
func decryptSuccessor(token, encrypted string) (string, error) {
	return Decrypt(deriveKey(token, successorPurpose), successorPurpose, encrypted)
}

// claims returns the claims of the access token for the session's current refresh token. They depend on the session
// only, so that a repeated refresh returns the same pair.
func (s Session) claims() Claims {
	// The id is new with each refresh, so that blocking one access token at a logout leaves later ones alone.
	sum := sha256.Sum256([]byte("access " + s.TokenHash))
	c := Claims{
		ID: hex.EncodeToString(sum[:16]), UserID: s.UserID, Session: s.ID, IssuedAt: s.RotatedAt,
		ExpiresAt: s.RotatedAt.Add(AccessTokenTTL),
	}
	// A token never outlives its session.
	if s.ExpiresAt.Before(c.ExpiresAt) {
		c.ExpiresAt = s.ExpiresAt
	}
	return c
}
