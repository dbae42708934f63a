package identity

import (
	"context"
	"time"

	"comanda/internal/fault"
)

// How long logins last. Idle counts from the last sign of life, whole from the login.
const (
	memberIdle  = 30 * 24 * time.Hour
	memberWhole = 90 * 24 * time.Hour
	staffIdle   = 30 * time.Minute
	staffWhole  = 12 * time.Hour
)

// MaxSessions is how many logins an account may have at a time; one more ends the oldest.
const MaxSessions = 10

// retryGrace is how long the refresh token before the current one may be shown again: a client that did not get the
// answer asks once more.
const retryGrace = 10 * time.Second

// EndReason says why a session has ended.
type EndReason string

// The reasons.
const (
	EndLogout   EndReason = "LOGOUT"
	EndByOwner  EndReason = "ENDED"  // from another session of the same account
	EndReused   EndReason = "REUSED" // a refresh token came a second time
	EndDisabled EndReason = "DISABLED"
	EndRole     EndReason = "ROLE"
	EndPassword EndReason = "PASSWORD"
	EndEvicted  EndReason = "EVICTED" // by a newer one
)

// Spans gives how long a session of a role lasts: without a sign of life, and in all.
func Spans(role string) (idle, whole time.Duration) {
	if IsStaff(role) {
		return staffIdle, staffWhole
	}
	return memberIdle, memberWhole
}

// Session is one login on one device.
type Session struct {
	ID           string
	UserID       int64
	TokenHash    string // of the refresh token that is good now
	PreviousHash string // of the one before it
	Successor    string // the current token, sealed with the one before it
	RotatedAt    time.Time
	Device       string
	Address      string
	CreatedAt    time.Time
	LastSeenAt   time.Time
	IdleUntil    time.Time
	ExpiresAt    time.Time
	EndedAt      time.Time // zero while it lives
}

// begun is a session at its beginning.
func begun(id string, u User, c Caller, tokenHash string, now time.Time) Session {
	idle, whole := Spans(u.Role)
	return Session{
		ID: id, UserID: u.ID, TokenHash: tokenHash, RotatedAt: now, Device: c.Device, Address: c.Address, CreatedAt: now,
		LastSeenAt: now, IdleUntil: now.Add(idle), ExpiresAt: now.Add(whole),
	}
}

// After moves a session's beginning behind the instant up to which the account's sessions are dead. The clocks of
// several processes may differ by a little, and whoever logs in after a password was reset must get in.
func (s Session) After(validFrom time.Time) Session {
	if s.CreatedAt.After(validFrom) {
		return s
	}
	later := validFrom.Add(time.Millisecond)
	shift := later.Sub(s.CreatedAt)
	s.CreatedAt, s.RotatedAt, s.LastSeenAt = later, later, later
	s.IdleUntil, s.ExpiresAt = s.IdleUntil.Add(shift), s.ExpiresAt.Add(shift)
	return s
}

// before is the session ending at an instant, if it would not end sooner.
func (s Session) before(end time.Time) Session {
	for _, t := range []*time.Time{&s.ExpiresAt, &s.IdleUntil} {
		if end.Before(*t) {
			*t = end
		}
	}
	return s
}

// Alive tells whether a session of an account is good at an instant.
func (s Session) Alive(u User, now time.Time) bool {
	return s.EndedAt.IsZero() && now.Before(s.ExpiresAt) && now.Before(s.IdleUntil) &&
		u.Status == Active && s.CreatedAt.After(u.ValidFrom)
}

// Verdict is what showing a refresh token comes to.
type Verdict int

// The verdicts.
const (
	Unknown Verdict = iota // no token of ours
	Over                   // its session has ended
	Rotate                 // it is the current one: it is spent, and its successor is good from now on
	Repeat                 // it is the one before, shown again at once: it gets the same successor
	Reuse                  // somebody else has it or had it: the session ends
)

// Judge tells what a refresh token of this session comes to.
func (s Session) Judge(u User, tokenHash string, now time.Time) Verdict {
	switch {
	case !s.Alive(u, now):
		return Over
	case s.TokenHash == tokenHash:
		return Rotate
	case s.PreviousHash == tokenHash && now.Sub(s.RotatedAt) <= retryGrace:
		return Repeat
	}
	return Reuse
}

// Rotated is the session after its token was spent.
func (s Session) Rotated(u User, nextHash, sealed string, now time.Time) Session {
	idle, _ := Spans(u.Role)
	s.PreviousHash, s.TokenHash, s.Successor = s.TokenHash, nextHash, sealed
	s.RotatedAt, s.LastSeenAt = now, now
	if s.IdleUntil = now.Add(idle); s.ExpiresAt.Before(s.IdleUntil) {
		s.IdleUntil = s.ExpiresAt
	}
	return s
}

// Standing is what is remembered of a living session and its account between two questions to SQL.
type Standing struct {
	Session   string
	UserID    int64
	RoleID    int64
	Role      string
	Branches  []int64
	BegunAt   time.Time
	ExpiresAt time.Time
	Address   string
}

// standing is a session that has just been read or written.
func (s Session) standing(u User) Standing {
	return Standing{
		Session: s.ID, UserID: u.ID, RoleID: u.RoleID, Role: u.Role, Branches: u.Branches, BegunAt: s.CreatedAt,
		ExpiresAt: s.ExpiresAt, Address: s.Address,
	}
}

// actor is who sends a request within the session.
func (s Standing) actor() Actor {
	return User{ID: s.UserID, RoleID: s.RoleID, Role: s.Role, Branches: s.Branches}.Actor(s.Session)
}

// Memory remembers in Redis, normally identityredis. It is written after SQL and may forget at any moment; whatever
// fails here, SQL is asked.
type Memory interface {
	// Keep remembers a living session, and the hash of its refresh token unless that is empty.
	Keep(ctx context.Context, s Standing, tokenHash string) error
	// Find gives a session, and whether the access token with this id was barred.
	Find(ctx context.Context, session, token string) (s Standing, found, barred bool, err error)
	// Drop forgets sessions.
	Drop(ctx context.Context, sessions []string) error
	// Bar remembers that an access token is not good any more, for the rest of its life.
	Bar(ctx context.Context, token string, rest time.Duration) error
	// KeepCode notes that a code was sent, DropCode that it was used.
	KeepCode(ctx context.Context, p Purpose, user int64, sent time.Time) error
	DropCode(ctx context.Context, p Purpose, user int64) error
}

// The faults of sessions.
var (
	ErrRefresh = fault.New(fault.Unauthenticated, "refresh_token_invalid", "Log in again.")
	ErrSession = fault.New(fault.NotFound, "session_not_found", "There is no such session.")
)
