package identity

import (
	"context"
	"errors"
	"slices"
	"time"

	"comanda/internal/fault"
)

// A PIN is 4 to 8 digits. It is good at a device where somebody of the same house is logged in, and nowhere else.
const (
	pinLeast = 4
	pinMost  = 8
)

// MaxPinFailures is how many wrong PINs in a row make a PIN worthless until its owner sets another one by password: of
// 10,000 that is one in a thousand for whoever has stolen a tablet.
const MaxPinFailures = 10

// LimitPin is the policy of wrong PINs of one account.
const LimitPin = "pin_account"

// The faults of PINs.
var (
	// ErrPin says the same whatever was wrong, so that a tablet does not tell who has a PIN.
	ErrPin     = fault.New(fault.Forbidden, "pin_wrong", "That is not right. After ten wrong ones a PIN has to be set again.")
	ErrPinForm = fault.New(fault.Invalid, "pin_unfit", "A PIN has 4 to 8 digits, not all the same and not simply counting.")
	ErrPinRole = fault.New(fault.Forbidden, "pin_not_allowed", "PINs are for the staff of branches, not for administrators.")
)

// Colleague is somebody who has a PIN.
type Colleague struct {
	UserID int64
	Name   string
	Role   string
}

// Pins keeps PINs, normally identitysql.
type Pins interface {
	// TryPin counts an attempt and gives the hash of the account's PIN; an empty one when there is none, or when
	// MaxPinFailures attempts have failed.
	TryPin(ctx context.Context, user int64) (hash string, err error)
	// SetPin sets an actor's own PIN anew; an empty hash removes it.
	SetPin(ctx context.Context, by Actor, hash string, now time.Time) error
	// Colleagues gives who has a PIN that is good and works in one of the branches, or anywhere with all.
	Colleagues(ctx context.Context, branches []int64, all bool) ([]Colleague, error)
}

// mayHavePin tells whether a role is of those that change places at tablets. What administrators may do is too much for
// four digits.
func mayHavePin(role string) bool { return IsStaff(role) && RankOf(role) < RankAdmin }

// CheckPin tells whether a text may be a PIN.
func CheckPin(pin string) error {
	if len(pin) < pinLeast || len(pin) > pinMost {
		return ErrPinForm
	}
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

// SetPin gives an actor a PIN, for the present password.
func (a *Accounts) SetPin(ctx context.Context, who Actor, password, pin string) error {
	if !mayHavePin(who.Role) {
		return ErrPinRole
	}
	if err := CheckPin(pin); err != nil {
		return err
	}
	if _, _, err := a.present(ctx, who, password); err != nil {
		return err
	}
	hash, err := a.Hasher.Hash(ctx, pin)
	if err != nil {
		return err
	}
	return a.Pins.SetPin(ctx, who, hash, a.Now())
}

// RemovePin takes an actor's PIN away; it is no fault if there is none.
func (a *Accounts) RemovePin(ctx context.Context, who Actor) error {
	return a.Pins.SetPin(ctx, who, "", a.Now())
}

// Colleagues gives who may take over at the actor's device.
func (a *Accounts) Colleagues(ctx context.Context, who Actor) ([]Colleague, error) {
	if !IsStaff(who.Role) {
		return nil, ErrPinRole
	}
	return a.Pins.Colleagues(ctx, who.Branches, who.AllBranches)
}

// TakeOver begins a session of a colleague at the device where the actor is logged in. It ends at the latest when the
// actor's would, so that nobody stays at a tablet by PINs alone.
func (a *Accounts) TakeOver(ctx context.Context, who Actor, user int64, pin string, c Caller) (Grant, error) {
	if !IsStaff(who.Role) {
		return Grant{}, ErrPinRole
	}
	guesses := share{LimitPin, "user:" + decimal(user)}
	done, err := a.guesses.take(ctx, "pin "+guesses.subject)
	if err != nil {
		return Grant{}, err
	}
	defer done()
	if err := a.permitted(ctx, guesses); err != nil {
		return Grant{}, err
	}
	until, err := a.until(ctx, who)
	if err != nil {
		return Grant{}, err
	}
	u, p, err := a.comparePin(ctx, who, user, pin)
	if err != nil {
		if errors.Is(err, ErrPin) {
			a.charge(ctx, guesses)
			a.Incidents.Note(who.String(), ActionLoginFailed, userSubject(user), c.Address)
		}
		return Grant{}, err
	}
	return a.begin(ctx, u, p, c, until)
}

// until tells when the session of an actor ends.
func (a *Accounts) until(ctx context.Context, who Actor) (time.Time, error) {
	sessions, err := a.Logins.Sessions(ctx, who.UserID, a.Now())
	if err != nil {
		return time.Time{}, err
	}
	for _, s := range sessions {
		if s.ID == who.Session {
			return s.ExpiresAt, nil
		}
	}
	return time.Time{}, ErrToken
}

// comparePin counts the attempt, then compares; beginning the session forgets the count. One hash is computed whoever it
// is about. Nobody spends the attempts of somebody with whom they do not work.
func (a *Accounts) comparePin(ctx context.Context, who Actor, user int64, pin string) (User, Proof, error) {
	u, err := a.Registry.User(ctx, user)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return User{}, Proof{}, err
	}
	hash := ""
	if u.Status == Active && mayHavePin(u.Role) && who.worksWith(u) {
		if hash, err = a.Pins.TryPin(ctx, user); err != nil {
			return User{}, Proof{}, err
		}
	}
	ok, _, err := a.Hasher.verify(ctx, hash, pin, true) // a colleague asks, as often as LimitPin permits
	if err == nil && !ok {
		a.Observer.login("failed")
		err = ErrPin
	}
	return u, Proof{Hash: u.PasswordHash, NewHash: u.PasswordHash, PinHash: hash}, err
}

// worksWith tells whether somebody works in one of the actor's branches.
func (a Actor) worksWith(u User) bool {
	return a.AllBranches || slices.ContainsFunc(u.Branches, a.Sees)
}
