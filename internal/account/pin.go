package account

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/text"
)

// A PIN is 4 to 8 digits. It is valid only on a device where a colleague is logged in. Four digits are the minimum,
// because people choose them. The console proposes six: a stolen tablet allows MaxPinFailures guesses for each
// colleague, which finds one of twenty four-digit PINs with a probability of 1 in 50, and one of twenty six-digit PINs
// with 1 in 5,000.
const (
	minPin = 4
	maxPin = 8
)

// MaxPinFailures is the number of consecutive wrong PINs that block a PIN until its owner sets a new one with the
// password, or someone who manages people resets it. In addition, LimitPin limits the rate of guesses.
const MaxPinFailures = 10

// LimitPin is the rate-limit policy of wrong PINs of one account.
const LimitPin = "pin_account"

// Errors of PINs.
var (
	// ErrPin answers every wrong PIN alike, so that the answer does not reveal who has a PIN.
	ErrPin     = fault.New(fault.Forbidden, "pin_wrong", "Wrong PIN. After ten wrong attempts in a row it must be reset.")
	ErrPinForm = fault.New(fault.Invalid, "pin_unfit", "A PIN has 4 to 8 digits, not all the same and not in sequence.")
	ErrPinRole = fault.New(fault.Forbidden, "pin_not_allowed", "PINs are for branch staff, not for members or administrators.")
	// ErrPinOwn refuses to reset one's own PIN without the password: a session alone, such as one on a tablet
	// left unattended, must not become permanent access.
	ErrPinOwn = fault.New(fault.Forbidden, "pin_own",
		"Set your own PIN with your password, or ask a colleague who manages people.")
)

// Colleague is a staff member with a PIN.
type Colleague struct {
	UserID    int64
	FirstName string
	Surname   string
	Login     string // username or e-mail address
	Role      string
	Blocked   bool // after MaxPinFailures; only of the actor who asks
}

// Name returns the name as readers of a language write it, or the login without one.
func (c Colleague) Name(language string) string {
	return cmp.Or(text.PersonName(language, c.FirstName, c.Surname), c.Login)
}

// PinStore stores PINs, normally accountsql.
type PinStore interface {
	// TryPin counts an attempt and returns the hash of the account's PIN. The hash is empty if there is none,
	// MaxPinFailures attempts have failed, or the role has a permission of administrators.
	TryPin(ctx context.Context, user int64) (hash string, err error)
	// SetPin replaces an actor's own PIN. It returns ErrPassword if the account's password hash is no longer verified, and
	// ErrPinRole if the role has a permission of administrators.
	SetPin(ctx context.Context, by authz.Actor, verified, hash string, now time.Time) error
	// RemovePin removes an actor's own PIN.
	RemovePin(ctx context.Context, by authz.Actor, now time.Time) error
	// Colleagues returns the staff with a usable PIN in a branch of the actor, and the actor also with a blocked one.
	Colleagues(ctx context.Context, by authz.Actor) ([]Colleague, error)
}

// MayHavePin reports whether users of a role may have a PIN. Administrators may not: four digits are too weak for their
// permissions. PinStore also refuses other roles with such a permission, see authz.Administrative.
func MayHavePin(role string) bool { return authz.IsStaff(role) && authz.RankOf(role) < authz.RankAdmin }

// CheckPin returns ErrPinForm if a text is not acceptable as a PIN.
func CheckPin(pin string) error {
	if len(pin) < minPin || len(pin) > maxPin {
		return ErrPinForm
	}
	// The differences between neighbouring digits: a single one of 0, 1 or -1 is a repetition or a sequence, as 1111 or
	// 4321.
	steps := map[int]bool{}
	for i := range len(pin) {
		if pin[i] < '0' || pin[i] > '9' {
			return ErrPinForm
		}
		if i > 0 {
			steps[int(pin[i])-int(pin[i-1])] = true
		}
	}
	if len(steps) == 1 && (steps[0] || steps[1] || steps[-1]) {
		return ErrPinForm
	}
	return nil
}

// SetPin sets an actor's PIN. It needs the current password.
func (a *Service) SetPin(ctx context.Context, actor authz.Actor, password, pin string) error {
	if !MayHavePin(actor.Role) {
		return ErrPinRole
	}
	if err := CheckPin(pin); err != nil {
		return err
	}
	_, p, err := a.verifyCurrentPassword(ctx, actor, password)
	if err != nil {
		return err
	}
	hash, err := a.Hasher.Hash(ctx, pin)
	if err != nil {
		return err
	}
	// A new PIN also resets the count of wrong ones.
	return a.Pins.SetPin(ctx, actor, p.Hash, hash, a.Now())
}

// RemovePin removes an actor's PIN. If there is none, it does nothing.
func (a *Service) RemovePin(ctx context.Context, actor authz.Actor) error {
	return a.Pins.RemovePin(ctx, actor, a.Now())
}

// Colleagues returns who may take over at the actor's device, and the actor also with a blocked PIN.
func (a *Service) Colleagues(ctx context.Context, actor authz.Actor) ([]Colleague, error) {
	if !authz.IsStaff(actor.Role) {
		return nil, ErrPinRole
	}
	return a.Pins.Colleagues(ctx, actor)
}

// TakeOver begins a session of a colleague on the device where the actor is logged in. It ends no later than the
// actor's session, so that a chain of PINs cannot keep a tablet logged in.
func (a *Service) TakeOver(ctx context.Context, actor authz.Actor, user int64, pin string, c Caller) (IssuedTokens, error) {
	if !authz.IsStaff(actor.Role) {
		return IssuedTokens{}, ErrPinRole
	}
	guesses := limitKey{LimitPin, "user:" + decimal(user)}
	done, err := a.guessLocks.lock(ctx, "pin "+guesses.subject)
	if err != nil {
		return IssuedTokens{}, err
	}
	defer done()
	if err := a.checkLimits(ctx, guesses); err != nil {
		return IssuedTokens{}, err
	}
	// The session is read before the PIN is compared: if it has ended, no attempt must count against the colleague's
	// PIN.
	until, err := a.sessionEnd(ctx, actor)
	if err != nil {
		return IssuedTokens{}, err
	}
	// comparePin has counted the attempt against the PIN. A wrong one counts in the rate limit and as an incident too.
	u, p, err := a.comparePin(ctx, actor, user, pin)
	if err != nil {
		if errors.Is(err, ErrPin) {
			a.countFailure(ctx, guesses)
			a.Incidents.Add(actor.String(), audit.ActionLoginFailed, userSubject(user), c.Address)
		}
		return IssuedTokens{}, err
	}
	return a.beginSession(ctx, u, p, c, until)
}

// sessionEnd returns when the actor's session ends.
func (a *Service) sessionEnd(ctx context.Context, actor authz.Actor) (time.Time, error) {
	sessions, err := a.SessionStore.Sessions(ctx, actor.UserID, a.Now())
	if err != nil {
		return time.Time{}, err
	}
	for _, s := range sessions {
		if s.ID == actor.Session {
			return s.ExpiresAt, nil
		}
	}
	return time.Time{}, authz.ErrInvalidToken
}

// comparePin counts the attempt, then compares; beginning the session resets the count. It computes one hash for every
// account (S2). Attempts count only between colleagues of a branch, so that others cannot block a PIN.
func (a *Service) comparePin(ctx context.Context, actor authz.Actor, user int64, pin string) (User, LoginProof, error) {
	u, err := a.Users.User(ctx, user)
	// An unknown account continues with the zero User, so that the answer and its cost are those of a wrong PIN.
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return User{}, LoginProof{}, err
	}
	hash := ""
	if u.Status == Active && MayHavePin(u.Role) && worksWith(actor, u) {
		if hash, err = a.Pins.TryPin(ctx, user); err != nil {
			return User{}, LoginProof{}, err
		}
	}
	ok, _, err := a.Hasher.verify(ctx, hash, pin, true) // patient: LimitPin bounds the calls
	if err == nil && !ok {
		a.Observer.login("failed")
		err = ErrPin
	}
	return u, LoginProof{Hash: u.PasswordHash, NewHash: u.PasswordHash, PinHash: hash}, err
}

// worksWith reports whether an account works in one of the actor's branches.
func worksWith(actor authz.Actor, u User) bool {
	return actor.AllBranches || slices.ContainsFunc(u.Branches, actor.Sees)
}
