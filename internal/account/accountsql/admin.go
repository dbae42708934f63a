package accountsql

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/account"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/authz/authzsql"
	"comanda/internal/document/documentsql"
	"comanda/internal/sqldb"
	"comanda/internal/tagcache"
)

// UserAdmin is account.UserAdminStore and account.SetupStore on a database.
//
// Changes of permissions lock in one order: the roles, the account, its sessions, the audit log. So the data that the
// rules were checked against cannot change before the commit.
type UserAdmin struct {
	db *sqldb.DB

	// Counts caches the totals of long lists; nil counts for each page. Set it before the first call.
	Counts *tagcache.Cache
}

// NewUserAdmin returns a store on a database.
func NewUserAdmin(db *sqldb.DB) *UserAdmin { return &UserAdmin{db: db} }

// Users returns a page of accounts by id or by last login, and their total.
func (s *UserAdmin) Users(ctx context.Context, f account.UserFilter) ([]account.User, int64, error) {
	// One statement serves all filters, so each filter has a value that selects everything.
	registered := int64(-1) // both
	if f.Registered != nil {
		registered = sqldb.Flag(*f.Registered)
	}
	args := []any{
		pattern(f.Query), f.Province, f.City, f.Role, registered, string(f.Status), sqldb.IDs(f.Branches),
		sqldb.Flag(f.EveryBranch),
	}
	list := stmt("admin_user_list")
	if f.ByLogin {
		list = stmt("admin_user_list_by_login")
	}
	return sqldb.CountedPage(ctx, s.db, scanUser, func(ctx context.Context) (int64, error) {
		return s.total(ctx, f, args)
	}, list, f.Limit, f.Offset, args...)
}

// total returns the number of accounts that match a filter, from the cache or from SQL. Any changed account invalidates
// the totals.
func (s *UserAdmin) total(ctx context.Context, f account.UserFilter, args []any) (int64, error) {
	// All filters but the pages: %#v quotes texts, so that no two filters have one name.
	e := tagcache.NewEntry(tagcache.Users, tagcache.Count, 0, tagcache.DateRange{},
		fmt.Sprintf("%#v", append(slices.Clip(args[:6]), f.EveryBranch, f.Branches)))
	return tagcache.Value(ctx, s.Counts, e, tagcache.CountLife, func(ctx context.Context) (int64, error) {
		return sqldb.Scalar[int64](ctx, s.db, stmt("admin_user_count"), args...)
	})
}

// pattern returns a LIKE pattern that finds text anywhere, with LIKE's own characters escaped by !.
func pattern(text string) string {
	if text == "" {
		return ""
	}
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(text)) + "%"
}

// adminTx is the transaction of one administrative change of accounts.
type adminTx struct{ *authzsql.Change }

// change runs an administrative change under the lock of the roles.
func (s *UserAdmin) change(
	ctx context.Context, by authz.Actor, now time.Time, run func(context.Context, sqldb.Tx, adminTx) error,
) error {
	return authzsql.WriteChange(ctx, s.db, by, now, func(ctx context.Context, tx sqldb.Tx, c *authzsql.Change) error {
		return run(ctx, tx, adminTx{c})
	})
}

// target locks the account to be changed, if the principal may change it.
func (t adminTx) target(ctx context.Context, id int64) (account.User, error) {
	u, err := LockUser(ctx, t.Tx, id)
	if err != nil {
		return u, err
	}
	r, err := authzsql.SelectRole(ctx, t.Tx, u.RoleID)
	if err == nil {
		err = t.Principal.MayChange(authz.Principal{ID: u.ID, Role: r, Branches: u.Branches})
	}
	return u, err
}

// assignable returns the role and the branches of an assignment, if the principal may assign them.
func (t adminTx) assignable(ctx context.Context, p account.Assignment) (authz.Role, []int64, error) {
	r, err := authzsql.SelectRole(ctx, t.Tx, p.RoleID)
	if err != nil {
		return r, nil, err
	}
	branches := authz.BranchesOf(r.Name, p.Branches)
	if err := t.Principal.MayAssign(r, branches); err != nil {
		return r, nil, err
	}
	// The statement counts existing branches. branches has no duplicates, so equal numbers mean that all exist.
	n, err := sqldb.Scalar[int64](ctx, t.Tx, stmt("admin_branch_count"), sqldb.IDs(branches))
	if err == nil && n != int64(len(branches)) {
		err = authz.ErrNoBranch
	}
	return r, branches, err
}

// KeepOwner returns authz.ErrLastOwner if a change leaves no active owner: loses reports whether an account is no active
// owner after the change. An installation without an active owner may stay without one. Hold the lock of the roles, so
// that a concurrent change cannot take another owner.
func KeepOwner(ctx context.Context, r sqldb.Reader, loses func(id int64) bool) error {
	owners, err := activeOwners(ctx, r)
	if err != nil || len(owners) == 0 || slices.ContainsFunc(owners, func(id int64) bool { return !loses(id) }) {
		return err
	}
	return authz.ErrLastOwner
}

// activeOwners returns the ids of the owners who can log in.
func activeOwners(ctx context.Context, r sqldb.Reader) ([]int64, error) {
	return sqldb.Collect(ctx, r, sqldb.Value[int64], stmt("admin_owner_ids"))
}

// keepOwner returns authz.ErrLastOwner if u is the only active owner.
func (t adminTx) keepOwner(ctx context.Context, u account.User) error {
	return KeepOwner(ctx, t.Tx, func(id int64) bool { return id == u.ID })
}

// endAccess ends the sessions of an account and queues a revocation, which every process reads. The revocation names
// the user, so it covers every session that began before, even one that is only in a cache.
func (t adminTx) endAccess(ctx context.Context, u account.User, why account.EndReason) ([]string, error) {
	authzsql.QueueRevocations(t.Tx, authz.Revocation{Kind: authz.RevokeUser, Subject: strconv.FormatInt(u.ID, 10), At: t.Now})
	return EndSessions(ctx, t.Tx, u.ID, why, "", t.Now)
}

// finishChange finishes the change of an account: it queues its document, writes the audit entry and returns the
// changed account.
func (t adminTx) finishChange(ctx context.Context, id int64, e audit.Entry) (account.User, error) {
	documentsql.Changed(t.Tx, t.Now, userEntity, strconv.FormatInt(id, 10))
	u, err := oneUser(ctx, t.Tx, stmt("account_select"), id)
	if err != nil {
		return u, err
	}
	return u, auditsql.Record(ctx, t.Tx, e)
}

// userEntry returns a new audit entry about an account.
func (t adminTx) userEntry(action string, user int64) audit.Entry {
	return audit.NewEntry(t.By, t.Now, action, "user", strconv.FormatInt(user, 10), 0)
}

// auditedUser is the part of an account that the audit log stores: role, branches and status.
type auditedUser struct {
	Role     string         `json:"role"`
	Branches []int64        `json:"branches,omitempty"`
	Status   account.Status `json:"status"`
}

// CheckNew implements account.UserAdminStore. It needs the transaction of a change, because the rules of an assignment
// are checked under the lock of the roles.
func (s *UserAdmin) CheckNew(ctx context.Context, by authz.Actor, u account.User, p account.Assignment) error {
	return s.change(ctx, by, u.CreatedAt, func(ctx context.Context, tx sqldb.Tx, d adminTx) error {
		if _, _, err := d.assignable(ctx, p); err != nil {
			return err
		}
		return taken(ctx, tx, u)
	})
}

// Create creates an account with a role and branches, and with a PIN if it has a hash.
func (s *UserAdmin) Create(
	ctx context.Context, by authz.Actor, u account.User, pinHash string, p account.Assignment,
) (made account.User, err error) {
	err = s.change(ctx, by, u.CreatedAt, func(ctx context.Context, tx sqldb.Tx, d adminTx) error {
		r, branches, err := d.assignable(ctx, p)
		if err != nil {
			return err
		}
		if pinHash != "" {
			if err := checkPinRole(ctx, tx, r.Name, r.ID); err != nil {
				return err
			}
		}
		u.Role = r.Name
		if made, err = InsertUser(ctx, tx, u); err != nil {
			return err
		}
		tx.Queue(stmt("admin_branch_put"), made.ID, sqldb.IDs(branches))
		made.Branches = branches
		err = auditsql.Record(ctx, tx,
			d.userEntry(audit.ActionUserCreated, made.ID).WithAfter(auditedUser{r.Name, branches, u.Status}))
		if err != nil || pinHash == "" {
			return err
		}
		tx.QueueExactly(1, stmt("pin_put"), made.ID, pinHash, u.CreatedAt.UnixMilli())
		return auditsql.Record(ctx, tx, d.userEntry(audit.ActionPin, made.ID))
	})
	return made, UniqueError(ctx, s.db, u, err)
}

// Update applies change to an account's profile. The audit log does not store profile data.
func (s *UserAdmin) Update(
	ctx context.Context, by authz.Actor, id int64, now time.Time,
	change func(account.Profile) (account.Profile, error),
) (u account.User, err error) {
	err = s.change(ctx, by, now, func(ctx context.Context, tx sqldb.Tx, d adminTx) error {
		if u, err = d.target(ctx, id); err != nil {
			return err
		}
		if u.Profile, err = change(u.Profile); err != nil {
			return err
		}
		if u, err = WriteProfile(ctx, tx, u, now, by.String()); err != nil {
			return err
		}
		return auditsql.Record(ctx, tx, d.userEntry(audit.ActionUserUpdated, id))
	})
	return u, UniqueError(ctx, s.db, u, err)
}

// Assign changes a user's role and branches.
func (s *UserAdmin) Assign(
	ctx context.Context, by authz.Actor, id int64, p account.Assignment, now time.Time,
) (u account.User, ended []string, err error) {
	err = s.change(ctx, by, now, func(ctx context.Context, tx sqldb.Tx, d adminTx) error {
		before, err := d.target(ctx, id)
		if err != nil {
			return err
		}
		r, branches, err := d.assignable(ctx, p)
		if err != nil {
			return err
		}
		// If two owners demote each other at once, the lock of the roles serializes them, and the second one is the
		// last owner.
		if r.Name != authz.RoleOwner {
			if err := d.keepOwner(ctx, before); err != nil {
				return err
			}
		}
		tx.QueueExactly(1, stmt("admin_role_set"), id, r.ID, now.UnixMilli(), by.String())
		// All assignments are replaced: clearing first removes those that the new set lacks.
		tx.Queue(stmt("admin_branch_clear"), id)
		tx.Queue(stmt("admin_branch_put"), id, sqldb.IDs(branches))
		if ended, err = d.endAccess(ctx, before, account.EndRole); err != nil {
			return err
		}
		u, err = d.finishChange(ctx, id, d.userEntry(audit.ActionPrivileges, id).
			WithBefore(auditedUser{before.Role, before.Branches, before.Status}).
			WithAfter(auditedUser{r.Name, branches, before.Status}))
		return err
	})
	return u, ended, err
}

// SetStatus enables or disables an account. It does nothing if the account has the status already.
func (s *UserAdmin) SetStatus(
	ctx context.Context, by authz.Actor, id int64, to account.Status, now time.Time,
) (u account.User, ended []string, err error) {
	err = s.change(ctx, by, now, func(ctx context.Context, tx sqldb.Tx, d adminTx) error {
		ended = nil // the transaction may be retried
		// This return writes neither an entry nor a revocation, so a repeated request changes nothing.
		if u, err = d.target(ctx, id); err != nil || u.Status == to {
			return err
		}
		before, action, from := u, audit.ActionUserEnabled, int64(0) // from 0: no session has to end
		if to == account.Disabled {
			action, from = audit.ActionUserDisabled, now.UnixMilli()
			if err := d.keepOwner(ctx, u); err != nil {
				return err
			}
		}
		tx.QueueExactly(1, stmt("admin_status_set"), id, string(to), from, now.UnixMilli(), by.String())
		if to == account.Disabled {
			if ended, err = d.endAccess(ctx, u, account.EndDisabled); err != nil {
				return err
			}
		}
		u, err = d.finishChange(ctx, id, d.userEntry(action, id).
			WithBefore(auditedUser{before.Role, before.Branches, before.Status}).
			WithAfter(auditedUser{before.Role, before.Branches, to}))
		return err
	})
	return u, ended, err
}

// ResetPin replaces the PIN of another account and ends its sessions. With the new PIN the principal could act as that
// account, so it may hold no permission that the principal lacks.
func (s *UserAdmin) ResetPin(
	ctx context.Context, by authz.Actor, id int64, hash string, now time.Time,
) (u account.User, ended []string, err error) {
	err = s.change(ctx, by, now, func(ctx context.Context, tx sqldb.Tx, d adminTx) error {
		before, err := d.target(ctx, id)
		switch {
		case err != nil:
			return err
		case by.UserID == id:
			return account.ErrPinOwn
		case !account.MayHavePin(before.Role):
			return account.ErrPinRole
		}
		if _, _, err := d.assignable(ctx, account.Assignment{RoleID: before.RoleID, Branches: before.Branches}); err != nil {
			return err
		}
		if err := checkPinRole(ctx, tx, before.Role, before.RoleID); err != nil {
			return err
		}
		tx.QueueExactly(1, stmt("pin_put"), id, hash, now.UnixMilli())
		tx.QueueExactly(1, stmt("admin_access_revoke"), id, now.UnixMilli(), by.String())
		if ended, err = d.endAccess(ctx, before, account.EndPin); err != nil {
			return err
		}
		u, err = d.finishChange(ctx, id, d.userEntry(audit.ActionPinReset, id))
		return err
	})
	return u, ended, err
}
