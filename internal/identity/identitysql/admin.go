package identitysql

import (
	"context"
	"strconv"
	"strings"
	"time"

	"comanda/internal/document/documentsql"
	"comanda/internal/identity"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// People is identity.People on a database.
//
// Whoever changes who may do what takes the lock of roles first, then that of the account, its sessions, and the audit
// log. So what the rules were asked about cannot change before the commit.
type People struct{ db *sqldb.DB }

// NewPeople makes the store.
func NewPeople(db *sqldb.DB) *People { return &People{db} }

// Users gives a page of accounts by id, and how many there are.
func (s *People) Users(ctx context.Context, f identity.UserFilter) ([]identity.User, int64, error) {
	registered := -1
	if f.Registered != nil {
		registered = flag(*f.Registered)
	}
	args := []any{
		pattern(f.Query), f.Province, f.City, f.Role, registered, string(f.Status), idRows(f.Branches), flag(f.EveryBranch),
	}
	rows, err := s.db.Query(ctx, adminUserCount, args...)
	total, _, err := sqldb.One(rows, err, sqldb.Value[int64])
	if err != nil {
		return nil, 0, err
	}
	rows, err = s.db.Query(ctx, adminUserList, append(args, f.Limit, f.Offset)...)
	page, err := sqldb.Collect(rows, err, scanUser)
	return page, total, err
}

// pattern finds a text anywhere; what LIKE would understand stands for itself.
func pattern(text string) string {
	if text == "" {
		return ""
	}
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(text)) + "%"
}

// decision is what a change of somebody's rights needs to know.
type decision struct {
	tx  sqldb.Tx
	by  identity.Actor
	me  identity.Person
	now time.Time
}

// decide locks the roles and reads who decides, as they are now.
func decide(ctx context.Context, tx sqldb.Tx, by identity.Actor, now time.Time) (*decision, error) {
	d := &decision{tx: tx, by: by, now: now}
	if err := lockRoles(ctx, tx); err != nil {
		return nil, err
	}
	if by.Kind == identity.Console {
		d.me = identity.Operator()
		return d, nil
	}
	u, err := oneUser(ctx, tx, accountSelect, by.UserID)
	if err != nil {
		return nil, err
	}
	if d.me, err = d.person(ctx, u); err == nil && u.Status != identity.Active {
		err = identity.ErrForbidden
	}
	return d, err
}

func (d *decision) person(ctx context.Context, u identity.User) (identity.Person, error) {
	r, err := selectRole(ctx, d.tx, u.RoleID)
	return identity.Person{ID: u.ID, Role: r, Branches: u.Branches, Status: u.Status}, err
}

// target locks the account that is to be changed, if it may be.
func (d *decision) target(ctx context.Context, id int64) (identity.User, error) {
	u, err := LockUser(ctx, d.tx, id)
	if err != nil {
		return u, err
	}
	p, err := d.person(ctx, u)
	if err == nil {
		err = d.me.MayChange(p)
	}
	return u, err
}

// post gives the role of a post and its branches, if they may be given.
func (d *decision) post(ctx context.Context, p identity.Post) (identity.Role, []int64, error) {
	r, err := selectRole(ctx, d.tx, p.RoleID)
	if err != nil {
		return r, nil, err
	}
	branches := identity.BranchesOf(r.Name, p.Branches)
	if err := d.me.MayGive(r, branches); err != nil {
		return r, nil, err
	}
	rows, err := d.tx.Query(ctx, adminBranchCount, idRows(branches))
	n, _, err := sqldb.One(rows, err, sqldb.Value[int64])
	if err == nil && n != int64(len(branches)) {
		err = identity.ErrNoBranch
	}
	return r, branches, err
}

// anotherOwner refuses what would leave the house without an owner.
func (d *decision) anotherOwner(ctx context.Context, u identity.User) error {
	if u.Role != identity.RoleOwner || u.Status != identity.Active {
		return nil
	}
	rows, err := d.tx.Query(ctx, adminOwnerCount, u.ID)
	n, _, err := sqldb.One(rows, err, sqldb.Value[int64])
	if err == nil && n == 0 {
		err = identity.ErrLastOwner
	}
	return err
}

// outcast ends the sessions of an account and has every process hear that it was.
func (d *decision) outcast(ctx context.Context, u identity.User, why identity.EndReason) ([]string, error) {
	subject := strconv.FormatInt(u.ID, 10)
	queueRevocation(d.tx, identity.RevokeUser, subject, d.now)
	return EndSessions(ctx, d.tx, u.ID, why, "", d.now)
}

func queueRevocation(tx sqldb.Tx, kind identity.RevocationKind, subject string, now time.Time) {
	tx.Queue(revocationInsert, sqldb.NewRowSet(1).
		Text("id", func(int) string { return uid.New(now) }).
		Text("subject", func(int) string { return subject }), string(kind), now.UnixMilli())
}

// changed ends a change of an account: its document, its entry in the audit log, and the account as it is then.
func (d *decision) changed(ctx context.Context, id int64, e identity.Entry) (identity.User, error) {
	documentsql.Changed(d.tx, d.now, userEntity, strconv.FormatInt(id, 10))
	u, err := oneUser(ctx, d.tx, accountSelect, id)
	if err != nil {
		return u, err
	}
	return u, Record(ctx, d.tx, e)
}

func (d *decision) did(action string, user int64) identity.Entry {
	return d.by.Did(d.now, action, "user", strconv.FormatInt(user, 10), 0)
}

// standing is what the audit log says of somebody's place in the house.
type standing struct {
	Role     string          `json:"role"`
	Branches []int64         `json:"branches,omitempty"`
	Status   identity.Status `json:"status"`
}

// Create makes an account with a role and branches.
func (s *People) Create(
	ctx context.Context, by identity.Actor, u identity.User, p identity.Post,
) (made identity.User, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		d, err := decide(ctx, tx, by, u.CreatedAt)
		if err != nil {
			return err
		}
		r, branches, err := d.post(ctx, p)
		if err != nil {
			return err
		}
		u.Role = r.Name
		if made, err = InsertUser(ctx, tx, u); err != nil {
			return err
		}
		tx.Queue(adminBranchPut, made.ID, idRows(branches))
		made.Branches = branches
		return Record(ctx, tx, d.did(identity.ActionUserCreated, made.ID).To(standing{r.Name, branches, u.Status}))
	})
	return made, Explain(ctx, s.db, u, err)
}

// Update writes what change makes of an account's profile. The audit log does not say what people are called.
func (s *People) Update(
	ctx context.Context, by identity.Actor, id int64, now time.Time,
	change func(identity.Profile) (identity.Profile, error),
) (u identity.User, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		d, err := decide(ctx, tx, by, now)
		if err != nil {
			return err
		}
		if u, err = d.target(ctx, id); err != nil {
			return err
		}
		if u.Profile, err = change(u.Profile); err != nil {
			return err
		}
		if u, err = UpdateProfile(ctx, tx, u, now, by.String()); err != nil {
			return err
		}
		return Record(ctx, tx, d.did(identity.ActionUserUpdated, id))
	})
	return u, Explain(ctx, s.db, u, err)
}

// SetPost gives somebody another role and branches.
func (s *People) SetPost(
	ctx context.Context, by identity.Actor, id int64, p identity.Post, now time.Time,
) (u identity.User, ended []string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		d, err := decide(ctx, tx, by, now)
		if err != nil {
			return err
		}
		was, err := d.target(ctx, id)
		if err != nil {
			return err
		}
		r, branches, err := d.post(ctx, p)
		if err != nil {
			return err
		}
		if r.Name != identity.RoleOwner {
			if err := d.anotherOwner(ctx, was); err != nil {
				return err
			}
		}
		tx.QueueExactly(1, adminPostSet, id, r.ID, now.UnixMilli(), by.String())
		tx.Queue(adminBranchClear, id)
		tx.Queue(adminBranchPut, id, idRows(branches))
		if ended, err = d.outcast(ctx, was, identity.EndRole); err != nil {
			return err
		}
		u, err = d.changed(ctx, id, d.did(identity.ActionPrivileges, id).
			From(standing{was.Role, was.Branches, was.Status}).To(standing{r.Name, branches, was.Status}))
		return err
	})
	return u, ended, err
}

// SetStatus opens or closes an account. One that is so already stays as it is.
func (s *People) SetStatus(
	ctx context.Context, by identity.Actor, id int64, to identity.Status, now time.Time,
) (u identity.User, ended []string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		ended = nil
		d, err := decide(ctx, tx, by, now)
		if err != nil {
			return err
		}
		if u, err = d.target(ctx, id); err != nil || u.Status == to {
			return err
		}
		was, action, from := u, identity.ActionUserEnabled, int64(0)
		if to == identity.Disabled {
			action, from = identity.ActionUserDisabled, now.UnixMilli()
			if err := d.anotherOwner(ctx, u); err != nil {
				return err
			}
		}
		tx.QueueExactly(1, adminStatusSet, id, string(to), from, now.UnixMilli(), by.String())
		if to == identity.Disabled {
			if ended, err = d.outcast(ctx, u, identity.EndDisabled); err != nil {
				return err
			}
		}
		u, err = d.changed(ctx, id, d.did(action, id).
			From(standing{was.Role, was.Branches, was.Status}).To(standing{was.Role, was.Branches, to}))
		return err
	})
	return u, ended, err
}
