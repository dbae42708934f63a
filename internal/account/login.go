package account

import (
	"context"
	"errors"
	"strings"
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/uid"
)

// maxFailures is the number of consecutive wrong passwords after which login by password is closed until a reset. It is
// stored in SQL, so that losing Redis or a process does not reopen it. NIST SP 800-63B, section 5.2.2, allows no
// more. The rate limits stop fast attacks; this ends slow, distributed guessing.
const maxFailures = 100

// Errors of logins.
var (
	// ErrLogin answers every failed login alike, so that the answer does not reveal which accounts exist.
	ErrLogin = fault.New(fault.Unauthenticated, "login_failed",
		"Wrong e-mail or password.")
	ErrUnverified = fault.New(fault.Forbidden, "not_verified",
		"Verify your e-mail address first, with the code we sent to it.")
	ErrDisabled = fault.New(fault.Forbidden, "account_disabled", "This account has been deactivated.")
)

// Credentials are the input of Login: an e-mail address or a username, and the password exactly as typed.
type Credentials struct {
	Email    string
	Username string
	Password string
}

// IssuedTokens is the result of a login or a refresh.
type IssuedTokens struct {
	Access       string
	ExpiresIn    time.Duration // remaining lifetime of Access
	Refresh      string
	User         User
	Session      Session
	DeviceCookie string // new device cookie, see DeviceCookies; empty keeps the old one
	NewAccount   bool   // a login with Google has created the account, which has chosen nothing yet
}

// LoginProof is the evidence that verified a login. The store compares it again in the transaction that begins the
// session.
type LoginProof struct {
	Hash, NewHash string // password hash that was verified, and the one to store from now on
	PinHash       string // PIN hash that was verified, of a login by PIN
	GoogleID      string // id at Google that was verified, of a login with Google
	DeviceID      string // id of the device, which becomes that of a member's account; empty for unknown
	Request       string // request id, for the audit log
	Address       string // client address, for the audit log
	NewDevice     *Email // sent unless a session of the account is on such a device; may be nil
}

// SessionStore stores sessions, normally accountsql. Every method that changes an account and its sessions locks the
// account first (S5).
type SessionStore interface {
	// Begin stores a session if the account still matches the proof, ends the oldest sessions beyond MaxSessions and
	// resets the count of failures. It returns the session as stored, or ErrLogin if the account has changed.
	Begin(ctx context.Context, u User, s Session, p LoginProof) (written Session, evicted []string, err error)
	// RecordFailure counts a wrong password if passwordHash is still the current one. For user 0, an unknown account,
	// it makes an equally expensive write elsewhere: the response time must not reveal whether an account exists.
	RecordFailure(ctx context.Context, user int64, passwordHash string) error
	// RecordDeviceFailure counts a wrong password of a known device or of a session. The counts are in SQL, so that
	// they survive the loss of Redis.
	RecordDeviceFailure(ctx context.Context, device string, now time.Time) error
	// DeviceFailures returns the number of wrong passwords of a device or session since an instant.
	DeviceFailures(ctx context.Context, device string, since time.Time) (int64, error)
	// Rotate decides about a refresh token and applies the decision.
	Rotate(ctx context.Context, r Rotation) (RotationResult, error)
	// FindByToken returns the session of a refresh token, including a spent one.
	FindByToken(ctx context.Context, tokenHash string) (s Session, found bool, err error)
	// Sessions returns the live sessions of an account, newest first.
	Sessions(ctx context.Context, user int64, now time.Time) ([]Session, error)
	// End ends a session of an account. found is false if there is no such live session.
	End(ctx context.Context, user int64, session string, why EndReason, now time.Time) (found bool, err error)
	// ChangePassword replaces the password if p.Hash is still the current one, and ends all sessions except keep.
	ChangePassword(ctx context.Context, user int64, p LoginProof, keep string, now time.Time) (ended []string, err error)
}

// Login begins a session. Clients that have exhausted their limit are refused before a hash is computed. A device from
// which the account has logged in before has a limit of its own (decision 36).
func (a *Service) Login(ctx context.Context, in Credentials, c Caller) (IssuedTokens, error) {
	// Known devices are tested first: an attack that exhausts the limits of the account must not lock its owner out.
	u, p, err := a.verifyKnownDevice(ctx, in, c)
	if err != nil {
		return IssuedTokens{}, err
	}
	if u.ID == 0 {
		if u, p, err = a.verifyUnknownDevice(ctx, in, c); err != nil {
			return IssuedTokens{}, err
		}
		p.NewDevice = a.newDeviceEmail(u, c)
	}
	p.DeviceID = a.Devices.device(c.DeviceCookie, a.Now())
	g, err := a.beginSession(ctx, u, p, c, time.Time{})
	if err == nil {
		// The entry is signed with the hash that is stored from now on; the old hash would make the device unknown again.
		g.DeviceCookie = a.Devices.add(c.DeviceCookie, p.DeviceID, u.ID, p.NewHash, a.Now())
	}
	return g, err
}

// verifyKnownDevice verifies a login from a known device. The returned user is zero if the device is unknown for the
// account or has exhausted its limit. It queries SQL only for callers with a valid device cookie.
func (a *Service) verifyKnownDevice(ctx context.Context, in Credentials, c Caller) (User, LoginProof, error) {
	entries := a.Devices.parse(c.DeviceCookie, a.Now())
	if len(entries) == 0 {
		return User{}, LoginProof{}, nil
	}
	u, _, err := a.findAccount(ctx, in)
	if err != nil {
		return User{}, LoginProof{}, err
	}
	m, known := a.Devices.find(u, entries)
	if !known {
		return User{}, LoginProof{}, nil
	}
	p, ok, err := a.verifyWithinDeviceBudget(ctx, u, m.nonce, in.Password)
	if errors.Is(err, ErrLogin) {
		a.noteFailedLogin(c, u.ID)
	}
	if err != nil || !ok {
		return User{}, LoginProof{}, err
	}
	return u, p, nil
}

// verifyUnknownDevice verifies a login from an unknown device.
func (a *Service) verifyUnknownDevice(ctx context.Context, in Credentials, c Caller) (User, LoginProof, error) {
	if err := a.checkLimits(ctx, limitKey{LimitLoginIP, c.Network}); err != nil {
		return User{}, LoginProof{}, err
	}
	// This limit also counts successful logins: it bounds the hashes that this process computes, not the guesses.
	if err := a.reserve(ctx, LimitLoginInstance, ""); err != nil {
		return User{}, LoginProof{}, err
	}
	return a.verifyLimited(ctx, in, c)
}

// verifyLimited finds the account and verifies the password within the limits of failed logins. It allows one guess per
// name at a time: the limits are read before the slow hash and counted after it, so concurrent guesses would otherwise
// all pass.
func (a *Service) verifyLimited(ctx context.Context, in Credentials, c Caller) (User, LoginProof, error) {
	done, err := a.guessLocks.lock(ctx, strings.ToLower(strings.TrimSpace(in.Email+in.Username)))
	if err != nil {
		return User{}, LoginProof{}, err
	}
	defer done()
	// The account is read under the lock: its count of failures includes those of the guesses before this one.
	u, subject, err := a.findAccount(ctx, in)
	if err != nil {
		return User{}, LoginProof{}, err
	}
	shares := []limitKey{
		{LimitLoginIP, c.Network}, {LimitLoginAccountIP, subject + " " + c.Network}, {LimitLoginAccount, subject},
	}
	if err := a.checkLimits(ctx, shares[1:]...); err != nil { // verifyUnknownDevice checked the first
		a.noteFailedLogin(c, u.ID)
		return User{}, LoginProof{}, err
	}
	p, err := a.verifyPassword(ctx, u, in.Password)
	if errors.Is(err, ErrLogin) {
		a.countFailure(ctx, shares...)
		a.noteFailedLogin(c, u.ID)
	}
	return u, p, err
}

// findAccount returns the account, zero if there is none, and the subject of its limits. All names of an account share
// one subject. An unknown name has a subject for each kind of name: otherwise guesses by e-mail address would limit a login
// with the same text as username, for an unknown address only, and show which addresses have an account (S7).
func (a *Service) findAccount(ctx context.Context, in Credentials) (u User, subject string, err error) {
	// Both names are refused, because they could belong to two accounts.
	if in.Email == "" == (in.Username == "") {
		return User{}, "", invalid("Either email or username is needed.")
	}
	email, okEmail := NormalizeEmail(in.Email)
	username, okName := NormalizeUsername(in.Username)
	// No account has such a name. The caller continues with user 0, so that the refusal costs the same as any other (S2).
	kind := "email:"
	if in.Email == "" {
		kind = "username:"
	}
	if !okEmail && !okName {
		return User{}, kind + email + username, nil
	}
	u, found, err := a.Users.Find(ctx, email, username)
	if err != nil || !found {
		return User{}, kind + email + username, err
	}
	return u, "user:" + decimal(u.ID), nil
}

// verifyPassword verifies the password and counts a failure against the account.
func (a *Service) verifyPassword(ctx context.Context, u User, password string) (LoginProof, error) {
	hash := u.PasswordHash
	// An empty hash matches no password but costs one hash, so a closed account answers like a wrong password.
	if u.Failures >= maxFailures {
		hash = ""
	}
	p, ok, err := a.comparePassword(ctx, u, hash, password, false)
	if err == nil && !ok {
		err = a.recordFailure(ctx, u)
	}
	return p, err
}

// comparePassword compares the password with a hash. Every path computes exactly one hash, even for unknown and
// disabled accounts (S2), and only a caller with the right password learns the account's state. With patient set, it
// waits for a slot however long the queue is.
func (a *Service) comparePassword(
	ctx context.Context, u User, hash, password string, patient bool,
) (p LoginProof, ok bool, err error) {
	ok, outdated, err := a.Hasher.verify(ctx, hash, password, patient)
	if err != nil || !ok {
		return LoginProof{}, false, err
	}
	switch u.Status {
	case Active:
	case Pending:
		a.Observer.login("unverified")
		return LoginProof{}, true, ErrUnverified
	default:
		a.Observer.login("disabled")
		return LoginProof{}, true, ErrDisabled
	}
	p = LoginProof{Hash: u.PasswordHash, NewHash: u.PasswordHash}
	if outdated {
		if better, err := a.Hasher.Hash(ctx, password); err == nil { // on failure the next login tries again
			p.NewHash = better
		}
	}
	return p, true, nil
}

// recordFailure counts a failed login and returns ErrLogin. A failure that cannot count against an account is written
// for user 0, so that every refusal costs one hash and one write (S2).
func (a *Service) recordFailure(ctx context.Context, u User) error {
	result := "failed"
	switch {
	case u.PasswordHash == "":
		u.ID = 0
	case u.Failures >= maxFailures:
		result, u.ID = "closed", 0
	case u.Failures == maxFailures-1:
		a.Log.WarnContext(ctx, "security", "event", "authn_login_lock", "user", u.ID)
	}
	a.Observer.login(result)
	if err := a.SessionStore.RecordFailure(ctx, u.ID, u.PasswordHash); err != nil {
		return err
	}
	return ErrLogin
}

// beginSession stores a session and issues its first tokens. A non-zero until caps the session's lifetime.
func (a *Service) beginSession(ctx context.Context, u User, p LoginProof, c Caller, until time.Time) (IssuedTokens, error) {
	now := a.Now()
	// Only the hash of the refresh token is stored (S1). The token itself is only in the response.
	refresh := NewRefreshToken()
	p.Request, p.Address = c.Request, c.Address
	fresh := newSession(uid.New(now), u, c, TokenHash(refresh), now)
	if !until.IsZero() {
		fresh = fresh.endingBy(until)
	}
	s, evicted, err := a.SessionStore.Begin(ctx, u, fresh, p)
	if err != nil {
		return IssuedTokens{}, err
	}
	// Sessions are dropped after the commit: if the transaction were rolled back, they would have to stay usable.
	a.dropSessions(ctx, evicted)
	if len(evicted) > 0 {
		a.Log.InfoContext(ctx, "security", "event", "authn_session_evicted", "user", u.ID, "sessions", len(evicted))
	}
	a.Observer.login("ok")
	_ = a.Cache.Put(ctx, s.active(u), s.TokenHash) // best effort: a miss is read from SQL
	u.LastLogin = s.CreatedAt
	if p.DeviceID != "" && !authz.IsStaff(u.Role) {
		u.DeviceID = p.DeviceID
	}
	return a.issueTokens(u, s, refresh)
}

// issueTokens returns the access and refresh token of a session.
func (a *Service) issueTokens(u User, s Session, refresh string) (IssuedTokens, error) {
	claims := s.claims()
	access, err := a.Tokens.Sign(claims)
	if err != nil {
		return IssuedTokens{}, fault.Wrap("sign a token", err)
	}
	return IssuedTokens{Access: access, ExpiresIn: claims.ExpiresAt.Sub(a.Now()), Refresh: refresh, User: u, Session: s}, nil
}

// dropSessions makes this process refuse sessions that SQL has ended, at once, and deletes them from Redis.
func (a *Service) dropSessions(ctx context.Context, sessions []string) {
	if len(sessions) == 0 {
		return
	}
	now := a.Now()
	for _, id := range sessions {
		a.Authenticator.Revoke(authz.Revocation{Kind: authz.RevokeSession, Subject: id, At: now})
	}
	_ = a.Cache.Delete(ctx, sessions) // best effort: the revocation in SQL decides
}

// noteFailedLogin counts a failed login as an incident. It counts in memory; the incident is written later, so that
// floods of guesses do not become floods of writes.
func (a *Service) noteFailedLogin(c Caller, user int64) {
	a.Incidents.Add(authz.Actor{}.String(), audit.ActionLoginFailed, userSubject(user), c.Address)
}

// userSubject returns the audit subject of an account; 0 is the unknown one.
func userSubject(id int64) string {
	if id == 0 {
		return unknownUser
	}
	return "user:" + decimal(id)
}

// unknownUser is the subject of logins with an unknown name. The typed name is not stored: it may be a password.
const unknownUser = "user:unknown"
