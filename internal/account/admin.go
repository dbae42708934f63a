package account

import (
	"context"
	"errors"
	"strings"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// ErrNoLogin refuses a new account that could not log in.
var ErrNoLogin = fault.New(fault.Invalid, "no_way_to_log_in",
	"An account needs an e-mail address, or a username and a PIN.")

// Assignment is a user's role and branches.
type Assignment struct {
	RoleID   int64
	Branches []int64
}

// NewUser is the input of CreateUser. Password and Pin may be empty.
type NewUser struct {
	Profile  Profile
	Password string
	Pin      string

	// ReadPassword returns the password instead of Password, if it is set. CreateUser calls it after everything else is
	// valid, so that an operator types no password for an account that is refused.
	ReadPassword func() (string, error)
}

// UserFilter selects accounts. Zero values select all.
type UserFilter struct {
	Query      string // part of the e-mail address, username, phone number or name; lower case
	Province   string
	City       string
	Role       string // name of a role
	Registered *bool
	Status     Status

	EveryBranch bool    // also users without a branch
	Branches    []int64 // otherwise users who work in one of these
	ByLogin     bool    // the newest login first, instead of by id; those who never logged in last
	Limit       int
	Offset      int
}

// UserAdminStore stores accounts for administration, normally accountsql. Each change is one transaction that checks
// the rules of Principal, writes the audit log and ends the sessions of a user who lost permissions; those are returned
// as ended.
type UserAdminStore interface {
	Users(ctx context.Context, f UserFilter) (page []User, total int64, err error)
	// CheckNew returns the error of Create for the values and the assignment of u. It changes nothing, and Create may
	// still fail: a concurrent change may take a value.
	CheckNew(ctx context.Context, by authz.Actor, u User, p Assignment) error
	// Create stores an account and, unless pinHash is empty, its PIN.
	Create(ctx context.Context, by authz.Actor, u User, pinHash string, p Assignment) (User, error)
	Update(ctx context.Context, by authz.Actor, id int64, now time.Time, change func(Profile) (Profile, error)) (User, error)
	Assign(ctx context.Context, by authz.Actor, id int64, p Assignment, now time.Time) (u User, ended []string, err error)
	SetStatus(ctx context.Context, by authz.Actor, id int64, s Status, now time.Time) (u User, ended []string, err error)
	ResetPin(ctx context.Context, by authz.Actor, id int64, hash string, now time.Time) (u User, ended []string, err error)
}

// Administration manages accounts. A revoked session ends at once in this process and within five seconds in every
// other.
type Administration struct {
	Users    UserAdminStore
	Accounts *Service
	Index    UserIndex
	Now      func() time.Time
}

// UserIndex finds accounts by unique values. The values are as they are stored, for example in lower case.
type UserIndex interface {
	// FindUser returns the id of the account with a value of the index email, phone, username, device or google.
	FindUser(ctx context.Context, index, value string) (id int64, found bool, err error)
}

// UserValue is a unique value of an account as people write it.
type UserValue struct{ Index, Value string }

// normalized returns the value as it is stored; ok is false if no account can have it.
func (v UserValue) normalized() (value string, ok bool) {
	switch v.Index {
	case "email":
		return NormalizeEmail(v.Value)
	case "phone":
		return NormalizePhone(v.Value)
	case "username":
		return NormalizeUsername(v.Value)
	case "device":
		return strings.ToLower(strings.TrimSpace(v.Value)), true
	}
	return strings.TrimSpace(v.Value), true
}

// FindUser returns the account with a unique value, through the index and not by a search, if the actor may see it.
func (a *Administration) FindUser(ctx context.Context, by authz.Actor, v UserValue) (u User, found bool, err error) {
	value, ok := v.normalized()
	if !ok || value == "" {
		return u, false, nil
	}
	id, found, err := a.Index.FindUser(ctx, v.Index, value)
	if err != nil || !found {
		return u, false, err
	}
	u, err = a.User(ctx, by, id)
	if errors.Is(err, authz.ErrUser) { // deleted meanwhile, or not visible to the actor
		return User{}, false, nil
	}
	return u, err == nil, err
}

// ListUsers returns a page of the accounts that the actor may see, and their total.
func (a *Administration) ListUsers(ctx context.Context, by authz.Actor, f UserFilter) ([]User, int64, error) {
	// The filter is set here and not by the route, so that no request can widen what the actor sees.
	f.EveryBranch, f.Branches = by.AllBranches, by.Branches
	return a.Users.Users(ctx, f)
}

// User returns an account that the actor may see, or ErrUser.
func (a *Administration) User(ctx context.Context, by authz.Actor, id int64) (User, error) {
	u, err := a.Accounts.Users.User(ctx, id)
	// An account that the actor may not see is reported as missing, so that ids cannot be probed.
	if err == nil && !by.Principal().SeesUser(u.principal()) {
		return User{}, authz.ErrUser
	}
	return u, err
}

// principal returns the account for checks of visibility; it has no permissions.
func (u User) principal() authz.Principal {
	return authz.Principal{ID: u.ID, Role: authz.Role{ID: u.RoleID, Name: u.Role}, Branches: u.Branches}
}

// CreateUser creates an active account. Without a password the user sets one with a code sent to the e-mail address.
// Staff who only take over shared devices need no address: a username and a PIN are enough.
func (a *Administration) CreateUser(ctx context.Context, by authz.Actor, n NewUser, as Assignment) (User, error) {
	p, err := n.Profile.Normalized()
	if err != nil {
		return User{}, err
	}
	if p.Email == "" && (p.Username == "" || n.Pin == "") {
		return User{}, ErrNoLogin
	}
	if n.ReadPassword != nil {
		if err := a.Users.CheckNew(ctx, by, User{Profile: p, CreatedAt: a.Now()}, as); err != nil {
			return User{}, err
		}
		if n.Password, err = n.ReadPassword(); err != nil {
			return User{}, err
		}
	}
	// The password is checked by the stricter rule for staff, whatever the role of the assignment.
	if n.Password != "" {
		if err := CheckPassword(n.Password, true, p.Email, p.Username); err != nil {
			return User{}, err
		}
	}
	if n.Pin != "" {
		if err := CheckPin(n.Pin); err != nil {
			return User{}, err
		}
	}
	password, err := a.hash(ctx, n.Password)
	if err != nil {
		return User{}, err
	}
	pin, err := a.hash(ctx, n.Pin)
	if err != nil {
		return User{}, err
	}
	return a.Users.Create(ctx, by, User{
		Profile: p, PasswordHash: password, Status: Active, CreatedAt: a.Now(), CreatedBy: by.String(),
	}, pin, as)
}

// hash returns the hash of a secret, or an empty one of none.
func (a *Administration) hash(ctx context.Context, secret string) (string, error) {
	if secret == "" {
		return "", nil
	}
	return a.Accounts.Hasher.Hash(ctx, secret)
}

// UpdateUser changes the profile of an account.
func (a *Administration) UpdateUser(ctx context.Context, by authz.Actor, id int64, c ProfileChanges) (User, error) {
	return a.Users.Update(ctx, by, id, a.Now(), c.Apply)
}

// Assign changes a user's role and branches, and ends their sessions.
func (a *Administration) Assign(ctx context.Context, by authz.Actor, id int64, p Assignment) (User, error) {
	u, ended, err := a.Users.Assign(ctx, by, id, p, a.Now())
	a.endAccess(ctx, u, ended, err)
	return u, err
}

// Disable disables an account and ends its sessions.
func (a *Administration) Disable(ctx context.Context, by authz.Actor, id int64) (User, error) {
	u, ended, err := a.Users.SetStatus(ctx, by, id, Disabled, a.Now())
	a.endAccess(ctx, u, ended, err)
	return u, err
}

// Enable activates an account that was disabled or never verified.
func (a *Administration) Enable(ctx context.Context, by authz.Actor, id int64) (User, error) {
	u, _, err := a.Users.SetStatus(ctx, by, id, Active, a.Now())
	return u, err
}

// ResetPin sets another user's PIN and ends their sessions, because someone else may have begun them with the old PIN.
// It also unblocks a PIN that was entered wrongly too often.
func (a *Administration) ResetPin(ctx context.Context, by authz.Actor, id int64, pin string) (User, error) {
	if err := CheckPin(pin); err != nil {
		return User{}, err
	}
	hash, err := a.hash(ctx, pin)
	if err != nil {
		return User{}, err
	}
	u, ended, err := a.Users.ResetPin(ctx, by, id, hash, a.Now())
	a.endAccess(ctx, u, ended, err)
	return u, err
}

// endAccess makes this process refuse the user's sessions at once; others read the revocation from SQL.
func (a *Administration) endAccess(ctx context.Context, u User, ended []string, err error) {
	if err == nil && !u.ValidFrom.IsZero() {
		a.Accounts.Authenticator.Revoke(authz.Revocation{Kind: authz.RevokeUser, Subject: decimal(u.ID), At: u.ValidFrom})
		a.Accounts.dropSessions(ctx, ended)
	}
}
