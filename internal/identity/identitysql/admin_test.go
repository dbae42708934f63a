package identitysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/identity"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/uid"
)

var adminTestStmts = sqldb.Load(fstest.MapFS{
	"branch.sql": {Data: []byte(`
		INSERT INTO branch (id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, created_at)
		VALUES ($1, 'Test', 'VND', 'Asia/Ho_Chi_Minh', 4, '["vi"]', 60, 0)`)},
	"revoked.sql": {Data: []byte(`SELECT COUNT(*) FROM auth_revocation WHERE kind = $1 AND subject = $2`)},
	"living.sql":  {Data: []byte(`SELECT COUNT(*) FROM auth_session WHERE user_id = $1 AND ended_at IS NULL`)},
})

// adminEnv is an installation with an owner and three branches.
type adminEnv struct {
	db     *sqldb.DB
	people *UserAdmin
	roles  *Roles
	byName map[string]identity.Role
	owner  identity.User
	now    time.Time
}

func newAdminEnv(t *testing.T, db *sqldb.DB) *adminEnv {
	t.Helper()
	h := &adminEnv{db: db, people: NewUserAdmin(db), roles: NewRoles(db), byName: map[string]identity.Role{}, now: syncAt}
	syncs(t, db, table())
	for id := range 3 {
		if _, err := db.Exec(t.Context(), adminTestStmts.Must("branch"), id+1); err != nil {
			t.Fatal(err)
		}
	}
	all, err := h.roles.Roles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		h.byName[r.Name] = r
	}
	if _, err := h.people.AddCode(t.Context(), "code", h.now); err != nil {
		t.Fatal(err)
	}
	if h.owner, err = h.people.CreateOwner(t.Context(), "code", user("owner", identity.RoleOwner), identity.Caller{}); err != nil {
		t.Fatal(err)
	}
	return h
}

func user(name, role string) identity.User {
	return identity.User{
		Profile: identity.Profile{Email: name + "@house.example", Username: name}, Role: role, Status: identity.Active,
		CreatedAt: syncAt, CreatedBy: "system",
	}
}

// hire creates an account as the operator.
func (h *adminEnv) hire(t *testing.T, name, role string, branches ...int64) identity.User {
	t.Helper()
	u, err := h.people.Create(t.Context(), identity.System(), user(name, ""), h.assignment(role, branches...))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (h *adminEnv) assignment(role string, branches ...int64) identity.Assignment {
	return identity.Assignment{RoleID: h.byName[role].ID, Branches: branches}
}

func (h *adminEnv) number(t *testing.T, name string, args ...any) int64 {
	t.Helper()
	n, err := sqldb.Scalar[int64](t.Context(), h.db, adminTestStmts.Must(name), args...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// login begins a session.
func (h *adminEnv) login(t *testing.T, u identity.User) {
	t.Helper()
	s := identity.Session{
		ID: uid.New(h.now), UserID: u.ID, TokenHash: uid.New(h.now), CreatedAt: h.now, RotatedAt: h.now, LastSeenAt: h.now,
		IdleUntil: h.now.Add(time.Hour), ExpiresAt: h.now.Add(time.Hour),
	}
	if _, _, err := NewAccounts(h.db).Begin(t.Context(), u, s, identity.LoginProof{}); err != nil {
		t.Fatal(err)
	}
}

func wantFault(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func TestUserAdmin_Assign(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		manager := h.hire(t, "manager", "MANAGER", 1)
		cook := h.hire(t, "cook", "KITCHEN", 1)
		h.login(t, cook)
		h.now = h.now.Add(time.Minute)
		u, ended, err := h.people.Assign(t.Context(), manager.Actor("s"), cook.ID, h.assignment("CASHIER", 1), h.now)
		if err != nil || u.Role != "CASHIER" || !slices.Equal(u.Branches, []int64{1}) || len(ended) != 1 || u.Version != 2 {
			t.Fatalf("%+v, ended %v, %v", u, ended, err)
		}
		if !u.ValidFrom.Equal(h.now) || h.number(t, "living", cook.ID) != 0 ||
			h.number(t, "revoked", "USER", fmt.Sprint(cook.ID)) != 1 || h.number(t, "revoked", "SESSION", ended[0]) != 1 {
			t.Errorf("their sessions are still live: %+v", u)
		}
		for what, c := range map[string]struct {
			by   identity.User
			of   int64
			post identity.Assignment
			want error
		}{
			"a manager makes an administrator":  {manager, cook.ID, h.assignment("ADMIN"), identity.ErrRank},
			"a manager assigns another branch":  {manager, cook.ID, h.assignment("CASHIER", 2), identity.ErrNoBranch},
			"a manager changes the owner":       {manager, h.owner.ID, h.assignment("CASHIER", 1), identity.ErrUser},
			"a cashier raises themselves":       {u, cook.ID, h.assignment("MANAGER", 1), identity.ErrRank},
			"the last owner steps down":         {h.owner, h.owner.ID, h.assignment("ADMIN"), identity.ErrLastOwner},
			"an unknown role":                   {h.owner, cook.ID, identity.Assignment{RoleID: 99}, identity.ErrRole},
			"an unknown branch":                 {h.owner, cook.ID, h.assignment("CASHIER", 9), identity.ErrNoBranch},
			"an unknown account":                {h.owner, 99, h.assignment("CASHIER", 1), identity.ErrUser},
			"an owner by what they were before": {cook, cook.ID, h.assignment("MANAGER", 1), identity.ErrRank},
		} {
			_, _, err := h.people.Assign(t.Context(), c.by.Actor("s"), c.of, c.post, h.now)
			wantFault(t, what, err, c.want)
		}
	})
}

func TestUserAdmin_SetStatus(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		admin, cook := h.hire(t, "admin", "ADMIN"), h.hire(t, "cook", "KITCHEN", 1)
		h.login(t, cook)
		set := func(by identity.User, id int64, s identity.Status) ([]string, error) {
			_, ended, err := h.people.SetStatus(t.Context(), by.Actor("s"), id, s, h.now)
			return ended, err
		}
		if ended, err := set(admin, cook.ID, identity.Disabled); err != nil || len(ended) != 1 {
			t.Errorf("%v, %v", ended, err)
		}
		before := verify(t, db).Entries
		if ended, err := set(admin, cook.ID, identity.Disabled); err != nil || len(ended) != 0 {
			t.Errorf("once more: %v, %v", ended, err)
		}
		if verify(t, db).Entries != before {
			t.Error("an entry without a change")
		}
		_, err := set(cook, cook.ID, identity.Active)
		wantFault(t, "a disabled account enables itself", err, identity.ErrForbidden)
		_, err = set(h.owner, h.owner.ID, identity.Disabled)
		wantFault(t, "the last owner is disabled", err, identity.ErrLastOwner)
		_, err = set(admin, h.owner.ID, identity.Disabled)
		wantFault(t, "an administrator disables an owner", err, identity.ErrRank)
		_, err = set(admin, cook.ID, identity.Active)
		wantFault(t, "enabled again", err, nil)
	})
}

// Two owners disable each other concurrently: one stays active.
func TestUserAdmin_keeps_one_owner(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		second := h.hire(t, "second", "OWNER")
		var wg sync.WaitGroup
		failures := make([]error, 2)
		for i, pair := range [][2]identity.User{{h.owner, second}, {second, h.owner}} {
			wg.Go(func() {
				ctx := context.WithoutCancel(t.Context())
				_, _, failures[i] = h.people.SetStatus(ctx, pair[0].Actor("s"), pair[1].ID, identity.Disabled, h.now)
			})
		}
		wg.Wait()
		if (failures[0] == nil) == (failures[1] == nil) {
			t.Errorf("%v", failures)
		}
	})
}

func TestUserAdmin_Users(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		h.hire(t, "cook_1", "KITCHEN", 1)
		h.hire(t, "cook_2", "KITCHEN", 1, 2)
		u := user("anh", "")
		u.Province, u.City, u.Registered, u.FirstName = "Hà Nội", "Ba Đình", true, "Anh"
		if _, err := h.people.Create(t.Context(), identity.System(), u, h.assignment("USER")); err != nil {
			t.Fatal(err)
		}
		no := false
		for what, c := range map[string]struct {
			f    identity.UserFilter
			want int64
		}{
			"all":                          {identity.UserFilter{EveryBranch: true}, 4},
			"of branch 1":                  {identity.UserFilter{Branches: []int64{1}}, 2},
			"of branch 2 and 3":            {identity.UserFilter{Branches: []int64{2, 3}}, 1},
			"of none":                      {identity.UserFilter{}, 0},
			"province and city":            {identity.UserFilter{EveryBranch: true, Province: "Hà Nội", City: "Ba Đình"}, 1},
			"in other capital letters A-Z": {identity.UserFilter{EveryBranch: true, Province: "hà nội", City: "BA Đình"}, 1},
			"another city":                 {identity.UserFilter{EveryBranch: true, Province: "Hà Nội", City: "Huế"}, 0},
			"not registered":               {identity.UserFilter{EveryBranch: true, Registered: &no}, 3},
			"not registered, of branch 2":  {identity.UserFilter{Branches: []int64{2}, Registered: &no}, 1},
			"a role":                       {identity.UserFilter{EveryBranch: true, Role: "KITCHEN"}, 2},
			"a part of a name":             {identity.UserFilter{EveryBranch: true, Query: "cook"}, 2},
			"a part as it is written":      {identity.UserFilter{EveryBranch: true, Query: "ANH"}, 1},
			"LIKE characters":              {identity.UserFilter{EveryBranch: true, Query: "k%1"}, 0},
			"an escaped underscore":        {identity.UserFilter{EveryBranch: true, Query: "cook_2"}, 1},
			"closed accounts":              {identity.UserFilter{EveryBranch: true, Status: identity.Disabled}, 0},
		} {
			c.f.Limit = 3
			page, total, err := h.people.Users(t.Context(), c.f)
			if err != nil || total != c.want || int64(len(page)) != min(3, c.want) {
				t.Errorf("%s: %d of %d, %v", what, len(page), total, err)
			}
		}
	})
}

func TestRoles_change(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		admin, owner := h.hire(t, "admin", "ADMIN").Actor("s"), h.owner.Actor("s")
		chef, err := h.roles.CreateRole(t.Context(), admin, identity.Role{Name: "CHEF"}, h.now)
		if err != nil || len(chef.Permissions) != 1 { // one's own affairs
			t.Fatalf("%+v, %v", chef, err)
		}
		_, err = h.roles.CreateRole(t.Context(), admin, identity.Role{Name: "CHEF"}, h.now)
		wantFault(t, "the same name", err, identity.ErrRoleName)
		all := h.byName["OWNER"].Permissions
		if chef, err = h.roles.SetPermissions(t.Context(), admin, chef.ID, all, h.now); err != nil || len(chef.Permissions) != 4 {
			t.Fatalf("%+v, %v", chef, err)
		}
		if h.number(t, "revoked", "ROLE", fmt.Sprint(chef.ID)) != 1 {
			t.Error("no revocation was written")
		}
		// Administrators can neither grant nor revoke a permission that they have lost.
		if _, err := h.roles.SetPermissions(t.Context(), owner, h.byName["ADMIN"].ID, all[:3], h.now); err != nil {
			t.Fatal(err)
		}
		_, err = h.roles.SetPermissions(t.Context(), admin, chef.ID, all[:3], h.now)
		wantFault(t, "revoking more than one has", err, identity.ErrExceedsOwnRights)
		_, err = h.roles.SetPermissions(t.Context(), admin, h.byName["STAFF"].ID, all, h.now)
		wantFault(t, "granting more than one has", err, identity.ErrExceedsOwnRights)
		_, err = h.people.Create(t.Context(), admin, user("chef", ""), identity.Assignment{RoleID: chef.ID, Branches: []int64{1}})
		wantFault(t, "creating a user with more permissions", err, identity.ErrExceedsOwnRights)
		_, err = h.roles.SetPermissions(t.Context(), owner, h.byName["OWNER"].ID, nil, h.now)
		wantFault(t, "revoking from owners", err, identity.ErrOwnerAll)
		_, err = h.roles.SetPermissions(t.Context(), owner, chef.ID, []int64{999}, h.now)
		wantFault(t, "an unknown permission", err, errPermission)

		u, err := h.people.Create(t.Context(), owner, user("chef", ""), identity.Assignment{RoleID: chef.ID, Branches: []int64{1}})
		if err != nil {
			t.Fatal(err)
		}
		wantFault(t, "a role in use", h.roles.DeleteRole(t.Context(), owner, chef.ID, h.now), identity.ErrRoleUsed)
		if _, _, err := h.people.Assign(t.Context(), owner, u.ID, h.assignment("USER"), h.now); err != nil {
			t.Fatal(err)
		}
		wantFault(t, "an unused role", h.roles.DeleteRole(t.Context(), owner, chef.ID, h.now), nil)
		wantFault(t, "once more", h.roles.DeleteRole(t.Context(), owner, chef.ID, h.now), identity.ErrRole)
		err = h.roles.DeleteRole(t.Context(), owner, h.byName["STAFF"].ID, h.now)
		wantFault(t, "a built-in role", err, identity.ErrDelivered)
	})
}

func TestUserAdmin_CreateOwner(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		syncs(t, db, table())
		people := NewUserAdmin(db)
		for i := range 2 * maxSetupCodes {
			needed, err := people.AddCode(t.Context(), fmt.Sprint("code", i), syncAt.Add(time.Duration(i)*time.Second))
			if err != nil || !needed {
				t.Fatal(needed, err)
			}
		}
		for code, want := range map[string]bool{"code0": false, "code15": true, "code8": true, "code": false} {
			if got, err := people.HasCode(t.Context(), code); got != want || err != nil {
				t.Errorf("%s: %t, %v", code, got, err)
			}
		}
		_, err := people.CreateOwner(t.Context(), "code0", user("nobody", identity.RoleOwner), identity.Caller{})
		wantFault(t, "an old code", err, identity.ErrSetup)
		var wg sync.WaitGroup
		failures := make([]error, 4)
		for i := range failures {
			wg.Go(func() {
				_, failures[i] = people.CreateOwner(context.WithoutCancel(t.Context()), fmt.Sprint("code1", i),
					user(fmt.Sprint("owner", i), identity.RoleOwner), identity.Caller{})
			})
		}
		wg.Wait()
		made := 0
		for _, err := range failures {
			if err == nil {
				made++
			} else {
				wantFault(t, "a second owner", err, identity.ErrSetup)
			}
		}
		if made != 1 {
			t.Errorf("%d owners were created: %v", made, failures)
		}
		if needed, err := people.AddCode(t.Context(), "late", syncAt); needed || err != nil {
			t.Errorf("a code was stored beside an owner: %v", err)
		}
	})
}

// Under random operations every change has exactly one audit entry; refused and empty changes have none.
func TestAudit_one_entry_per_change(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		ids := []int64{h.owner.ID, h.hire(t, "a", "ADMIN").ID, h.hire(t, "m", "MANAGER", 1).ID, h.hire(t, "c", "CASHIER", 1, 2).ID}
		made := 0
		rapid.Check(t, func(t *rapid.T) {
			ctx := context.Background()
			audit, err := VerifyAudit(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			want := audit.Entries
			for range rapid.IntRange(1, 6).Draw(t, "changes") {
				by, err := NewAccounts(db).User(ctx, rapid.SampledFrom(ids).Draw(t, "by"))
				if err != nil {
					t.Fatal(err)
				}
				of := rapid.SampledFrom(ids).Draw(t, "of")
				before, err := NewAccounts(db).User(ctx, of)
				if err != nil {
					t.Fatal(err)
				}
				role := rapid.SampledFrom([]string{"OWNER", "ADMIN", "MANAGER", "CASHIER", "USER"}).Draw(t, "role")
				changed := false
				switch rapid.IntRange(0, 3).Draw(t, "what") {
				case 0:
					_, _, err = h.people.Assign(ctx, by.Actor("s"), of, h.assignment(role, 1), h.now)
					changed = err == nil
				case 1:
					to := rapid.SampledFrom([]identity.Status{identity.Active, identity.Disabled}).Draw(t, "to")
					_, _, err = h.people.SetStatus(ctx, by.Actor("s"), of, to, h.now)
					changed = err == nil && before.Status != to
				case 2:
					made++
					u := user(fmt.Sprintf("user-%d", made), "")
					_, err = h.people.Create(ctx, by.Actor("s"), u, h.assignment(role, 1))
					changed = err == nil
				case 3:
					_, err = h.people.Update(ctx, by.Actor("s"), of, h.now,
						func(p identity.Profile) (identity.Profile, error) { return p, nil })
					changed = err == nil
				}
				if changed {
					want++
				}
			}
			audit, err = VerifyAudit(ctx, db)
			if err != nil || audit.Entries != want || len(audit.Broken) > 0 {
				t.Fatalf("%d entries, want %d: %+v %v", audit.Entries, want, audit.Broken, err)
			}
		})
	})
}
