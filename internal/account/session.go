package account

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
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
