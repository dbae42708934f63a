package identity

import (
	"context"
	"errors"
	"strings"
	"time"

	"comanda/internal/fault"
	"comanda/internal/uid"
)

// maxFailures is how many wrong passwords in a row close the way in by password until it is reset. It is kept in SQL:
// nothing that is lost opens it again.
const maxFailures = 100

// The faults of logins.
var (
	// ErrLogin says the same whatever was wrong, so that nobody learns which accounts exist.
	ErrLogin = fault.New(fault.Unauthenticated, "login_failed",
		"That is not right. If the password should be, it may have to be reset.")
	ErrUnverified = fault.New(fault.Forbidden, "not_verified",
		"Prove the e-mail address first, with the code that was sent to it.")
	ErrDisabled = fault.New(fault.Forbidden, "account_disabled", "This account is closed.")
)

// Credentials are what somebody logs in with: one of the names, and the password exactly as it was typed.
type Credentials struct {
	Email    string
	Username string
	Password string
}

// Grant is what a login or a refresh gives.
type Grant struct {
	Access    string
	ExpiresIn time.Duration // of Access
	Refresh   string
	User      User
	Session   Session
	Marks     string // of the device from now on, see Devices; empty leaves them as they are
}

// Proof is what a login was proved by: the hash that stood in SQL, and the one that shall stand there from now on.
type Proof struct {
	Hash, NewHash string // of the password
	PinHash       string // of the PIN, where that was what was proved by
	Request       string // id of the request, for the audit log
	Address       string // of the client, for the audit log
}

// Logins keeps sessions, normally identitysql. Whoever changes an account and its sessions locks the account first.
type Logins interface {
	// Begin begins a session if the account still is as it was proved, ends the oldest beyond MaxSessions and forgets
	// wrong passwords. It gives the session as it was written. ErrLogin when the account has changed meanwhile.
	Begin(ctx context.Context, u User, s Session, p Proof) (written Session, evicted []string, err error)
	// Fail counts a wrong password, if it was compared with the one that is in force. For nobody, 0, it writes as much
	// elsewhere: the time that it takes must not tell whether there is an account.
	Fail(ctx context.Context, user int64, passwordHash string) error
	// FailDevice counts a wrong password of a known device or of a session, DeviceFailures returns how many there were
	// since an instant. Nothing that is lost forgets them.
	FailDevice(ctx context.Context, device string, now time.Time) error
	DeviceFailures(ctx context.Context, device string, since time.Time) (int64, error)
	// Rotate judges a refresh token and does what follows from it.
	Rotate(ctx context.Context, r Rotation) (Outcome, error)
	// Holder gives the session that a refresh token belongs to, spent ones too.
	Holder(ctx context.Context, tokenHash string) (s Session, found bool, err error)
	// Sessions gives the living sessions of an account, the newest first.
	Sessions(ctx context.Context, user int64, now time.Time) ([]Session, error)
	// End ends a session of an account; found is false when there is none that lives.
	End(ctx context.Context, user int64, session string, why EndReason, now time.Time) (found bool, err error)
	// Repassword sets a new password if the old one still is in force, and ends all sessions but one.
	Repassword(ctx context.Context, user int64, p Proof, keep string, now time.Time) (ended []string, err error)
}

// Login begins a session. Who has failed too often uses nothing of what the process can do for others. A device on which
// the account has logged in before has a budget of its own (decision 36).
func (a *Accounts) Login(ctx context.Context, in Credentials, c Caller) (Grant, error) {
	u, p, err := a.recognise(ctx, in, c)
	if err != nil {
		return Grant{}, err
	}
	if u.ID == 0 {
		if u, p, err = a.strange(ctx, in, c); err != nil {
			return Grant{}, err
		}
	}
	g, err := a.begin(ctx, u, p, c, time.Time{})
	if err == nil {
		g.Marks = a.Devices.add(c.Marks, u.ID, p.NewHash, a.Now())
	}
	return g, err
}

// recognise proves a login by a known device. The user is zero when the device is not known for the account, or not
// trusted any more. It asks SQL only for a caller with a mark that is ours.
func (a *Accounts) recognise(ctx context.Context, in Credentials, c Caller) (User, Proof, error) {
	marks := a.Devices.parse(c.Marks, a.Now())
	if len(marks) == 0 {
		return User{}, Proof{}, nil
	}
	u, _, err := a.named(ctx, in)
	if err != nil {
		return User{}, Proof{}, err
	}
	m, known := a.Devices.of(u, marks)
	if !known {
		return User{}, Proof{}, nil
	}
	p, ok, err := a.fromDevice(ctx, u, m.nonce, in.Password)
	if errors.Is(err, ErrLogin) {
		a.record(c, u.ID)
	}
	if err != nil || !ok {
		return User{}, Proof{}, err
	}
	return u, p, nil
}

// strange proves a login from a device that is not known.
func (a *Accounts) strange(ctx context.Context, in Credentials, c Caller) (User, Proof, error) {
	if err := a.permitted(ctx, share{LimitLoginIP, c.Network}); err != nil {
		return User{}, Proof{}, err
	}
	if err := a.allow(ctx, LimitLoginInstance, ""); err != nil {
		return User{}, Proof{}, err
	}
	return a.guess(ctx, in, c)
}

// guess finds the account and compares the password, as often as that is permitted: one at a time for each name.
func (a *Accounts) guess(ctx context.Context, in Credentials, c Caller) (User, Proof, error) {
	done, err := a.guesses.take(ctx, strings.ToLower(strings.TrimSpace(in.Email+in.Username)))
	if err != nil {
		return User{}, Proof{}, err
	}
	defer done()
	u, subject, err := a.named(ctx, in)
	if err != nil {
		return User{}, Proof{}, err
	}
	shares := []share{
		{LimitLoginIP, c.Network}, {LimitLoginAccountIP, subject + " " + c.Network}, {LimitLoginAccount, subject},
	}
	if err := a.permitted(ctx, shares[1:]...); err != nil { // the first was looked at before
		a.record(c, u.ID)
		return User{}, Proof{}, err
	}
	p, err := a.prove(ctx, u, in.Password)
	if errors.Is(err, ErrLogin) {
		a.charge(ctx, shares...)
		a.record(c, u.ID)
	}
	return u, p, err
}

// named gives the account, zero for nobody's name, and what limits count it as: all of its names are one.
func (a *Accounts) named(ctx context.Context, in Credentials) (u User, subject string, err error) {
	if in.Email == "" == (in.Username == "") {
		return User{}, "", invalid("Either email or username is needed.")
	}
	email, okEmail := NormalEmail(in.Email)
	username, okName := NormalUsername(in.Username)
	if !okEmail && !okName {
		return User{}, email + username, nil
	}
	u, found, err := a.Registry.Find(ctx, email, username)
	if err != nil || !found {
		return User{}, email + username, err
	}
	return u, "user:" + decimal(u.ID), nil
}

// prove compares the password and counts a failure against the account.
func (a *Accounts) prove(ctx context.Context, u User, password string) (Proof, error) {
	hash := u.PasswordHash
	if u.Failures >= maxFailures {
		hash = ""
	}
	p, ok, err := a.compare(ctx, u, hash, password, false)
	if err == nil && !ok {
		err = a.failed(ctx, u)
	}
	return p, err
}

// compare compares the password with a hash. Every path through it computes one hash, also for nobody and for a closed
// account; only who knows the password learns anything more. A patient caller waits while strangers keep the hasher busy.
func (a *Accounts) compare(ctx context.Context, u User, hash, password string, patient bool) (p Proof, ok bool, err error) {
	ok, outdated, err := a.Hasher.verify(ctx, hash, password, patient)
	if err != nil || !ok {
		return Proof{}, false, err
	}
	switch u.Status {
	case Active:
	case Pending:
		a.Observer.login("unverified")
		return Proof{}, true, ErrUnverified
	default:
		a.Observer.login("disabled")
		return Proof{}, true, ErrDisabled
	}
	p = Proof{Hash: u.PasswordHash, NewHash: u.PasswordHash}
	if outdated {
		if better, err := a.Hasher.Hash(ctx, password); err == nil { // otherwise at the next login
			p.NewHash = better
		}
	}
	return p, true, nil
}

// failed counts a failure and says no. What cannot count against an account is counted as nobody's, so that every
// refusal takes a hash and a write (S2).
func (a *Accounts) failed(ctx context.Context, u User) error {
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
	if err := a.Logins.Fail(ctx, u.ID, u.PasswordHash); err != nil {
		return err
	}
	return ErrLogin
}

// begin writes the session and makes its first pair of tokens. The session ends at an instant unless that is zero.
func (a *Accounts) begin(ctx context.Context, u User, p Proof, c Caller, until time.Time) (Grant, error) {
	now := a.Now()
	refresh := NewRefreshToken()
	p.Request, p.Address = c.Request, c.Address
	fresh := begun(uid.New(now), u, c, TokenHash(refresh), now)
	if !until.IsZero() {
		fresh = fresh.before(until)
	}
	s, evicted, err := a.Logins.Begin(ctx, u, fresh, p)
	if err != nil {
		return Grant{}, err
	}
	a.ended(ctx, evicted)
	if len(evicted) > 0 {
		a.Log.InfoContext(ctx, "security", "event", "authn_session_evicted", "user", u.ID, "sessions", len(evicted))
	}
	a.Observer.login("ok")
	_ = a.Memory.Keep(ctx, s.standing(u), s.TokenHash) // only saves work
	return a.grant(u, s, refresh)
}

// grant makes the pair of tokens of a session.
func (a *Accounts) grant(u User, s Session, refresh string) (Grant, error) {
	claims := s.claims()
	access, err := a.Tokens.Sign(claims)
	if err != nil {
		return Grant{}, fault.Wrap("sign a token", err)
	}
	return Grant{Access: access, ExpiresIn: claims.ExpiresAt.Sub(a.Now()), Refresh: refresh, User: u, Session: s}, nil
}

// ended makes sessions that SQL has ended worth nothing in this process at once, and forgets them in Redis.
func (a *Accounts) ended(ctx context.Context, sessions []string) {
	if len(sessions) == 0 {
		return
	}
	now := a.Now()
	for _, id := range sessions {
		a.Guard.Revoke(Revocation{Kind: RevokeSession, Subject: id, At: now})
	}
	_ = a.Memory.Drop(ctx, sessions) // the revocation in SQL is what counts
}
