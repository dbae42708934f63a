package identity

import (
	"context"
	"time"
)

// Post is what somebody is in the house: a role, and the branches in which they work.
type Post struct {
	RoleID   int64
	Branches []int64
}

// UserFilter chooses accounts; zero values choose all.
type UserFilter struct {
	Query      string // a part of the e-mail address, the username, the telephone number or the name; lower case
	Province   string
	City       string
	Role       string // its name
	Registered *bool
	Status     Status

	EveryBranch bool    // also those who work in no branch
	Branches    []int64 // otherwise those who work in one of these
	Limit       int
	Offset      int
}

// People keeps accounts for administration, normally identitysql. Each change is one transaction, in which the store
// asks the rules of this room (Person), writes the audit log and ends the sessions of whoever lost something. It gives
// the sessions that were ended.
type People interface {
	Users(ctx context.Context, f UserFilter) (page []User, total int64, err error)
	Create(ctx context.Context, by Actor, u User, p Post) (User, error)
	Update(ctx context.Context, by Actor, id int64, now time.Time, change func(Profile) (Profile, error)) (User, error)
	SetPost(ctx context.Context, by Actor, id int64, p Post, now time.Time) (u User, ended []string, err error)
	SetStatus(ctx context.Context, by Actor, id int64, s Status, now time.Time) (u User, ended []string, err error)
}

// RoleStore keeps roles, normally identitysql; see People.
type RoleStore interface {
	Roles(ctx context.Context) ([]Role, error)
	Role(ctx context.Context, id int64) (Role, error)
	Permissions(ctx context.Context) ([]Permission, error)
	CreateRole(ctx context.Context, by Actor, r Role, now time.Time) (Role, error)
	UpdateRole(ctx context.Context, by Actor, id int64, now time.Time, change func(Role) (Role, error)) (Role, error)
	DeleteRole(ctx context.Context, by Actor, id int64, now time.Time) error
	SetPermissions(ctx context.Context, by Actor, role int64, permissions []int64, now time.Time) (Role, error)
}

// AuditReader reads the audit log, normally identitysql.
type AuditReader interface {
	Entries(ctx context.Context, f AuditFilter) (page []Entry, total int64, err error)
}

// Administration is what the house does with accounts and roles. What it takes from somebody is gone at once in this
// process and within five seconds in every other.
type Administration struct {
	People   People
	Roles    RoleStore
	Log      AuditReader
	Accounts *Accounts
	Rights   *Rights
	Now      func() time.Time
}

// Users lists accounts that the actor may know of.
func (m *Administration) Users(ctx context.Context, by Actor, f UserFilter) ([]User, int64, error) {
	f.EveryBranch, f.Branches = by.AllBranches, by.Branches
	return m.People.Users(ctx, f)
}

// User gives an account that the actor may know of, or ErrUser.
func (m *Administration) User(ctx context.Context, by Actor, id int64) (User, error) {
	u, err := m.Accounts.Registry.User(ctx, id)
	if err == nil && !by.person().SeesPerson(u.person()) {
		return User{}, ErrUser
	}
	return u, err
}

// person is the actor, as far as it matters for what they see.
func (a Actor) person() Person {
	p := Person{ID: a.UserID, Role: Role{Name: a.Role}, Branches: a.Branches}
	if a.AllBranches && a.Kind != Account {
		p.Role.Name = RoleOwner
	}
	return p
}

// person is the account, as far as it matters for who sees it.
func (u User) person() Person {
	return Person{ID: u.ID, Role: Role{ID: u.RoleID, Name: u.Role}, Branches: u.Branches, Status: u.Status}
}

// Hire makes an account that can log in at once. Without a password its owner sets one by a code to the e-mail address.
func (m *Administration) Hire(ctx context.Context, by Actor, p Profile, password string, post Post) (User, error) {
	p, err := p.Normalised()
	if err != nil {
		return User{}, err
	}
	if p.Email == "" {
		return User{}, invalid("An e-mail address is needed.")
	}
	hash := ""
	if password != "" {
		if err := CheckPassword(password, true, p.Email, p.Username); err != nil {
			return User{}, err
		}
		if hash, err = m.Accounts.Hasher.Hash(ctx, password); err != nil {
			return User{}, err
		}
	}
	return m.People.Create(ctx, by, User{
		Profile: p, PasswordHash: hash, Status: Active, CreatedAt: m.Now(), CreatedBy: by.String(),
	}, post)
}

// Change changes what an account says about its owner.
func (m *Administration) Change(ctx context.Context, by Actor, id int64, c Changes) (User, error) {
	return m.People.Update(ctx, by, id, m.Now(), c.Apply)
}

// SetPost gives somebody another role or other branches, and ends their sessions.
func (m *Administration) SetPost(ctx context.Context, by Actor, id int64, p Post) (User, error) {
	u, ended, err := m.People.SetPost(ctx, by, id, p, m.Now())
	m.gone(ctx, u, ended, err)
	return u, err
}

// Disable closes an account and ends its sessions; Enable opens it again.
func (m *Administration) Disable(ctx context.Context, by Actor, id int64) (User, error) {
	u, ended, err := m.People.SetStatus(ctx, by, id, Disabled, m.Now())
	m.gone(ctx, u, ended, err)
	return u, err
}

// Enable opens an account that was closed or never proved its e-mail address.
func (m *Administration) Enable(ctx context.Context, by Actor, id int64) (User, error) {
	u, _, err := m.People.SetStatus(ctx, by, id, Active, m.Now())
	return u, err
}

// gone has this process forget at once who was admitted; others hear of it by the revocation.
func (m *Administration) gone(ctx context.Context, u User, ended []string, err error) {
	if err == nil && !u.ValidFrom.IsZero() {
		m.Accounts.Guard.Revoke(Revocation{Kind: RevokeUser, Subject: decimal(u.ID), At: u.ValidFrom})
		m.Accounts.ended(ctx, ended)
	}
}

// CreateRole makes a role of the house's own, which may do nothing yet but its people's own affairs.
func (m *Administration) CreateRole(ctx context.Context, by Actor, r Role) (Role, error) {
	if err := r.Check(); err != nil {
		return Role{}, err
	}
	r, err := m.Roles.CreateRole(ctx, by, r, m.Now())
	return r, m.followed(ctx, err)
}

// RoleChange is another name or description; nil leaves it.
type RoleChange struct{ Name, Description *string }

// UpdateRole renames or describes a role.
func (m *Administration) UpdateRole(ctx context.Context, by Actor, id int64, c RoleChange) (Role, error) {
	return m.Roles.UpdateRole(ctx, by, id, m.Now(), func(r Role) (Role, error) {
		if c.Name != nil && *c.Name != r.Name {
			if IsDelivered(r.Name) {
				return r, ErrDelivered
			}
			r.Name = *c.Name
		}
		if c.Description != nil {
			r.Description = *c.Description
		}
		return r, r.Check()
	})
}

// DeleteRole deletes a role that nobody has.
func (m *Administration) DeleteRole(ctx context.Context, by Actor, id int64) error {
	return m.followed(ctx, m.Roles.DeleteRole(ctx, by, id, m.Now()))
}

// SetPermissions says what a role may do from now on.
func (m *Administration) SetPermissions(ctx context.Context, by Actor, id int64, permissions []int64) (Role, error) {
	r, err := m.Roles.SetPermissions(ctx, by, id, permissions, m.Now())
	return r, m.followed(ctx, err)
}

// followed has this process know of changed roles at once. If that fails the loop does it within a second.
func (m *Administration) followed(ctx context.Context, err error) error {
	if err == nil && m.Rights != nil {
		_ = m.Rights.Follow(ctx)
	}
	return err
}

// Entries reads the audit log as far as the actor may: of their own branches where they do not work in all.
func (m *Administration) Entries(ctx context.Context, by Actor, f AuditFilter) ([]Entry, int64, error) {
	if f.Branch != 0 && !by.Sees(f.Branch) {
		return nil, 0, ErrNoBranch
	}
	f.EveryBranch, f.Branches = by.AllBranches, by.Branches
	return m.Log.Entries(ctx, f)
}
