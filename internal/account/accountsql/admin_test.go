package accountsql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/account"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/authz/authzsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

var adminTestStmts = sqldb.Load(fstest.MapFS{
	"branch.sql": {Data: []byte(`
		INSERT INTO branch (id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, created_at)
		VALUES ($1, 'Test', 'VND', 'Asia/Ho_Chi_Minh', 4, '["vi"]', 60, 0)`)},
	"many.sql": {Data: []byte(`INSERT INTO app_user (username, role_id, status, last_login_at, created_at, updated_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
		SELECT 'many' || i, (SELECT id FROM role WHERE name = 'USER'), 'ACTIVE', CASE WHEN i % 3 > 0 THEN i END, 1, 1 FROM n`)},
	"analyze.sql": {Data: []byte(`ANALYZE app_user`)},
	"plan.sql": {Data: []byte(`/*pg: EXPLAIN *//*sqlite: EXPLAIN QUERY PLAN */
		SELECT u.id FROM app_user u JOIN role r ON r.id = u.role_id ORDER BY u.last_login_at DESC NULLS LAST, u.id LIMIT 20`)},
	"login.sql":   {Data: []byte(`UPDATE app_user SET last_login_at = $2 WHERE username = $1`)},
	"revoked.sql": {Data: []byte(`SELECT COUNT(*) FROM auth_revocation WHERE kind = $1 AND subject = $2`)},
	"living.sql":  {Data: []byte(`SELECT COUNT(*) FROM auth_session WHERE user_id = $1 AND ended_at IS NULL`)},
})

var syncAt = time.UnixMilli(1_000_000).UTC()

// syncRoles creates the built-in roles, with a route for every kind of role.
func syncRoles(t *testing.T, db *sqldb.DB) {
	t.Helper()
	routes := []authz.Permission{
		{Name: "own", Method: "GET", Path: "/me", Module: "MEMBERS", Own: true},
		{Name: "order", Method: "GET", Path: "/api/orders/{id}", Module: "ORDERS"},
		{Name: "cancel", Method: "POST", Path: "/api/orders/{id}/cancel", Module: "ORDERS"},
		{Name: "grant", Method: "PUT", Path: "/api/roles/{id}/permissions", Module: "ROLES"},
	}
	testenv.NoError(t, authzsql.SyncPermissions(t.Context(), db, routes, syncAt))
}

// entries returns the number of entries of the audit log, whose hash chain must be valid.
func entries(t *testing.T, db *sqldb.DB) int64 {
	t.Helper()
	r, err := auditsql.Verify(t.Context(), db)
	if err != nil || len(r.Broken) > 0 {
		t.Fatalf("Verify = %+v, %v, want an unbroken chain", r, err)
	}
	return r.Entries
}

// adminEnv is an installation with an owner and three branches.
type adminEnv struct {
	db     *sqldb.DB
	people *UserAdmin
	roles  *authzsql.Roles
	byName map[string]authz.Role
	owner  account.User
	now    time.Time
}

func newAdminEnv(t *testing.T, db *sqldb.DB) *adminEnv {
	t.Helper()
	h := &adminEnv{db: db, people: NewUserAdmin(db), roles: authzsql.NewRoles(db), byName: map[string]authz.Role{}, now: syncAt}
	syncRoles(t, db)
	for id := range 3 {
		testenv.Must(db.Exec(t.Context(), adminTestStmts.Must("branch"), id+1))(t)
	}
	all := testenv.Must(h.roles.Roles(t.Context()))(t)
	for _, r := range all {
		h.byName[r.Name] = r
	}
	testenv.Must(h.people.AddCode(t.Context(), "code", h.now))(t)
	h.owner = testenv.Must(h.people.CreateOwner(t.Context(), "code", time.Time{}, user("owner", authz.RoleOwner), account.Caller{}))(t)
	return h
}

func user(name, role string) account.User {
	return account.User{
		Profile: account.Profile{Email: name + "@house.example", Username: name}, Role: role, Status: account.Active,
		CreatedAt: syncAt, CreatedBy: "system",
	}
}

// createUser creates an account as the operator.
func (h *adminEnv) createUser(t *testing.T, name, role string, branches ...int64) account.User {
	t.Helper()
	return testenv.Must(h.people.Create(t.Context(), authz.System(), user(name, ""), "",
		h.assignment(role, branches...)))(t)
}

func (h *adminEnv) assignment(role string, branches ...int64) account.Assignment {
	return account.Assignment{RoleID: h.byName[role].ID, Branches: branches}
}

func (h *adminEnv) number(t *testing.T, name string, args ...any) int64 {
	t.Helper()
	return testenv.Must(sqldb.Scalar[int64](t.Context(), h.db, adminTestStmts.Must(name), args...))(t)
}

// login begins a session.
func (h *adminEnv) login(t *testing.T, u account.User) {
	t.Helper()
	s := account.Session{
		ID: uid.New(h.now), UserID: u.ID, TokenHash: uid.New(h.now), CreatedAt: h.now, RotatedAt: h.now, LastSeenAt: h.now,
		IdleUntil: h.now.Add(time.Hour), ExpiresAt: h.now.Add(time.Hour),
	}
	testenv.Must2(NewAccounts(h.db).Begin(t.Context(), u, s, account.LoginProof{}))(t)
}

func TestUserAdmin_Assign(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		manager := h.createUser(t, "manager", "MANAGER", 1)
		cook := h.createUser(t, "cook", "KITCHEN", 1)
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
			by   account.User
			of   int64
			post account.Assignment
			want error
		}{
			"a manager makes an administrator":  {manager, cook.ID, h.assignment("ADMIN"), authz.ErrRank},
			"a manager assigns another branch":  {manager, cook.ID, h.assignment("CASHIER", 2), authz.ErrNoBranch},
			"a manager changes the owner":       {manager, h.owner.ID, h.assignment("CASHIER", 1), authz.ErrUser},
			"a cashier raises themselves":       {u, cook.ID, h.assignment("MANAGER", 1), authz.ErrRank},
			"the last owner steps down":         {h.owner, h.owner.ID, h.assignment("ADMIN"), authz.ErrLastOwner},
			"an unknown role":                   {h.owner, cook.ID, account.Assignment{RoleID: 99}, authz.ErrRole},
			"an unknown branch":                 {h.owner, cook.ID, h.assignment("CASHIER", 9), authz.ErrNoBranch},
			"an unknown account":                {h.owner, 99, h.assignment("CASHIER", 1), authz.ErrUser},
			"an owner by what they were before": {cook, cook.ID, h.assignment("MANAGER", 1), authz.ErrRank},
		} {
			_, _, err := h.people.Assign(t.Context(), c.by.Actor("s"), c.of, c.post, h.now)
			testenv.ErrorIs(t, c.want, err, what)
		}
	})
}

func TestUserAdmin_SetStatus(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		admin, cook := h.createUser(t, "admin", "ADMIN"), h.createUser(t, "cook", "KITCHEN", 1)
		h.login(t, cook)
		set := func(by account.User, id int64, s account.Status) ([]string, error) {
			_, ended, err := h.people.SetStatus(t.Context(), by.Actor("s"), id, s, h.now)
			return ended, err
		}
		if ended, err := set(admin, cook.ID, account.Disabled); err != nil || len(ended) != 1 {
			t.Errorf("SetStatus(DISABLED) ended %v, error %v, want one session", ended, err)
		}
		before := entries(t, db)
		if ended, err := set(admin, cook.ID, account.Disabled); err != nil || len(ended) != 0 {
			t.Errorf("once more: %v, %v", ended, err)
		}
		if entries(t, db) != before {
			t.Error("an entry without a change")
		}
		_, err := set(cook, cook.ID, account.Active)
		testenv.ErrorIs(t, authz.ErrForbidden, err, "a disabled account enables itself")
		_, err = set(h.owner, h.owner.ID, account.Disabled)
		testenv.ErrorIs(t, authz.ErrLastOwner, err, "the last owner is disabled")
		_, err = set(admin, h.owner.ID, account.Disabled)
		testenv.ErrorIs(t, authz.ErrRank, err, "an administrator disables an owner")
		_, err = set(admin, cook.ID, account.Active)
		testenv.ErrorIs(t, nil, err, "enabled again")
	})
}

// Two owners disable each other concurrently: one stays active.
func TestUserAdmin_keeps_one_owner(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		second := h.createUser(t, "second", "OWNER")
		var wg sync.WaitGroup
		failures := make([]error, 2)
		for i, pair := range [][2]account.User{{h.owner, second}, {second, h.owner}} {
			wg.Go(func() {
				ctx := context.WithoutCancel(t.Context())
				_, _, failures[i] = h.people.SetStatus(ctx, pair[0].Actor("s"), pair[1].ID, account.Disabled, h.now)
			})
		}
		wg.Wait()
		if (failures[0] == nil) == (failures[1] == nil) {
			t.Errorf("two owners disable each other: errors %v, want exactly one", failures)
		}
	})
}

func TestUserAdmin_Users(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		h.createUser(t, "cook_1", "KITCHEN", 1)
		h.createUser(t, "cook_2", "KITCHEN", 1, 2)
		u := user("anh", "")
		u.Province, u.City, u.Registered, u.FirstName = "Hà Nội", "Ba Đình", true, "Anh"
		testenv.Must(h.people.Create(t.Context(), authz.System(), u, "", h.assignment("USER")))(t)
		no := false
		for what, c := range map[string]struct {
			f    account.UserFilter
			want int64
		}{
			"all":                          {account.UserFilter{EveryBranch: true}, 4},
			"of branch 1":                  {account.UserFilter{Branches: []int64{1}}, 2},
			"of branch 2 and 3":            {account.UserFilter{Branches: []int64{2, 3}}, 1},
			"of none":                      {account.UserFilter{}, 0},
			"province and city":            {account.UserFilter{EveryBranch: true, Province: "Hà Nội", City: "Ba Đình"}, 1},
			"in other capital letters A-Z": {account.UserFilter{EveryBranch: true, Province: "hà nội", City: "BA Đình"}, 1},
			"another city":                 {account.UserFilter{EveryBranch: true, Province: "Hà Nội", City: "Huế"}, 0},
			"not registered":               {account.UserFilter{EveryBranch: true, Registered: &no}, 3},
			"not registered, of branch 2":  {account.UserFilter{Branches: []int64{2}, Registered: &no}, 1},
			"a role":                       {account.UserFilter{EveryBranch: true, Role: "KITCHEN"}, 2},
			"a part of a name":             {account.UserFilter{EveryBranch: true, Query: "cook"}, 2},
			"a part as it is written":      {account.UserFilter{EveryBranch: true, Query: "ANH"}, 1},
			"LIKE characters":              {account.UserFilter{EveryBranch: true, Query: "k%1"}, 0},
			"an escaped underscore":        {account.UserFilter{EveryBranch: true, Query: "cook_2"}, 1},
			"closed accounts":              {account.UserFilter{EveryBranch: true, Status: account.Disabled}, 0},
		} {
			c.f.Limit = 3
			page, total, err := h.people.Users(t.Context(), c.f)
			if err != nil || total != c.want || int64(len(page)) != min(3, c.want) {
				t.Errorf("%s: %d of %d, %v", what, len(page), total, err)
			}
		}
	})
}

// By last login, the newest is first, and accounts that never logged in are last, on both engines and across pages.
func TestUserAdmin_Users_by_login(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		h.createUser(t, "never", "KITCHEN", 1)
		for at, name := range []string{"first", "second", "third"} {
			h.createUser(t, name, "KITCHEN", 1)
			testenv.Must(db.Exec(t.Context(), adminTestStmts.Must("login"), name, 1000+at))(t)
		}
		h.createUser(t, "neither", "KITCHEN", 1)
		var names []string
		for offset := 0; offset < 6; offset += 2 {
			page, _, err := h.people.Users(t.Context(), account.UserFilter{
				EveryBranch: true, Role: "KITCHEN", ByLogin: true, Limit: 2, Offset: offset,
			})
			testenv.NoError(t, err)
			for _, u := range page {
				names = append(names, u.Username)
			}
		}
		testenv.Equal(t, names, []string{"third", "second", "first", "never", "neither"})
	})
}

// A page by last login reads the index and sorts nothing, whatever the number of accounts.
func TestUserAdmin_Users_by_login_index(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		newAdminEnv(t, db)
		testenv.Must(db.Exec(t.Context(), adminTestStmts.Must("many")))(t)
		testenv.Must(db.Exec(t.Context(), adminTestStmts.Must("analyze")))(t)
		plan := testenv.Must(sqldb.Collect(t.Context(), db, func(r sqldb.Rows) (line string, err error) {
			if db.Engine() == sqldb.SQLite {
				var n int64
				return line, r.Scan(&n, &n, &n, &line)
			}
			return line, r.Scan(&line)
		}, adminTestStmts.Must("plan")))(t)
		text := strings.Join(plan, "\n")
		if !strings.Contains(text, "app_user_last_login") || strings.Contains(text, "TEMP B-TREE") || strings.Contains(text, "Sort Key") {
			t.Errorf("the plan is\n%s", text)
		}
	})
}

func TestRoles_change(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		admin, owner := h.createUser(t, "admin", "ADMIN").Actor("s"), h.owner.Actor("s")
		chef, err := h.roles.CreateRole(t.Context(), admin, authz.Role{Name: "CHEF"}, h.now)
		if err != nil || len(chef.Permissions) != 1 { // only its own account
			t.Fatalf("CreateRole = %+v, %v, want one permission", chef, err)
		}
		_, err = h.roles.CreateRole(t.Context(), admin, authz.Role{Name: "Chef"}, h.now)
		testenv.ErrorIs(t, authz.ErrRoleName, err, "the same name")
		all := h.byName["OWNER"].Permissions
		if chef, err = h.roles.SetPermissions(t.Context(), admin, chef.ID, all, h.now); err != nil || len(chef.Permissions) != 4 {
			t.Fatalf("SetPermissions = %+v, %v, want four permissions", chef, err)
		}
		if h.number(t, "revoked", "ROLE", fmt.Sprint(chef.ID)) != 1 {
			t.Error("no revocation was written")
		}
		// Administrators can neither grant nor revoke a permission that they have lost.
		testenv.Must(h.roles.SetPermissions(t.Context(), owner, h.byName["ADMIN"].ID, all[:3], h.now))(t)
		_, err = h.roles.SetPermissions(t.Context(), admin, chef.ID, all[:3], h.now)
		testenv.ErrorIs(t, authz.ErrExceedsOwnRights, err, "revoking more than one has")
		_, err = h.roles.SetPermissions(t.Context(), admin, h.byName["STAFF"].ID, all, h.now)
		testenv.ErrorIs(t, authz.ErrExceedsOwnRights, err, "granting more than one has")
		_, err = h.people.Create(t.Context(), admin, user("chef", ""), "", account.Assignment{RoleID: chef.ID, Branches: []int64{1}})
		testenv.ErrorIs(t, authz.ErrExceedsOwnRights, err, "creating a user with more permissions")
		_, err = h.roles.SetPermissions(t.Context(), owner, h.byName["OWNER"].ID, nil, h.now)
		testenv.ErrorIs(t, authz.ErrOwnerAll, err, "revoking from owners")
		_, err = h.roles.SetPermissions(t.Context(), owner, chef.ID, []int64{999}, h.now)
		testenv.ErrorIs(t, authz.ErrPermission, err, "an unknown permission")

		u := testenv.Must(h.people.Create(t.Context(), owner, user("chef", ""), "",
			account.Assignment{RoleID: chef.ID, Branches: []int64{1}}))(t)
		testenv.ErrorIs(t, authz.ErrRoleUsed, h.roles.DeleteRole(t.Context(), owner, chef.ID, h.now), "a role in use")
		testenv.Must2(h.people.Assign(t.Context(), owner, u.ID, h.assignment("USER"), h.now))(t)
		testenv.ErrorIs(t, nil, h.roles.DeleteRole(t.Context(), owner, chef.ID, h.now), "an unused role")
		testenv.ErrorIs(t, authz.ErrRole, h.roles.DeleteRole(t.Context(), owner, chef.ID, h.now), "once more")
		err = h.roles.DeleteRole(t.Context(), owner, h.byName["STAFF"].ID, h.now)
		testenv.ErrorIs(t, authz.ErrDelivered, err, "a built-in role")
	})
}

func TestUserAdmin_CreateOwner(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		syncRoles(t, db)
		people := NewUserAdmin(db)
		for i := range 2 * maxSetupCodes {
			needed, err := people.AddCode(t.Context(), fmt.Sprint("code", i), syncAt.Add(time.Duration(i)*time.Second))
			if err != nil || !needed {
				t.Fatal(needed, err)
			}
		}
		for code, want := range map[string]bool{"code0": false, "code15": true, "code8": true, "code": false} {
			if got, err := people.HasCode(t.Context(), code, time.Time{}); got != want || err != nil {
				t.Errorf("HasCode(%s) = %t, %v, want %t", code, got, err, want)
			}
		}
		// A code expires after an hour.
		stored := syncAt.Add(15 * time.Second)
		if got, err := people.HasCode(t.Context(), "code15", stored); got || err != nil {
			t.Errorf("a code that was stored then: %t, %v", got, err)
		}
		_, err := people.CreateOwner(t.Context(), "code15", stored, user("nobody", authz.RoleOwner), account.Caller{})
		testenv.ErrorIs(t, account.ErrSetup, err, "an expired code")
		_, err = people.CreateOwner(t.Context(), "code0", time.Time{}, user("nobody", authz.RoleOwner), account.Caller{})
		testenv.ErrorIs(t, account.ErrSetup, err, "an old code")
		var wg sync.WaitGroup
		failures := make([]error, 4)
		for i := range failures {
			wg.Go(func() {
				_, failures[i] = people.CreateOwner(context.WithoutCancel(t.Context()), fmt.Sprint("code1", i), time.Time{},
					user(fmt.Sprint("owner", i), authz.RoleOwner), account.Caller{})
			})
		}
		wg.Wait()
		made := 0
		for _, err := range failures {
			if err == nil {
				made++
			} else {
				testenv.ErrorIs(t, account.ErrSetup, err, "a second owner")
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
		ids := []int64{h.owner.ID, h.createUser(t, "a", "ADMIN").ID, h.createUser(t, "m", "MANAGER", 1).ID, h.createUser(t, "c", "CASHIER", 1, 2).ID}
		made := 0
		rapid.Check(t, func(t *rapid.T) {
			ctx := context.Background()
			audit := testenv.Must(auditsql.Verify(ctx, db))(t)
			want := audit.Entries
			for range rapid.IntRange(1, 6).Draw(t, "changes") {
				by := testenv.Must(NewAccounts(db).User(ctx, rapid.SampledFrom(ids).Draw(t, "by")))(t)
				of := rapid.SampledFrom(ids).Draw(t, "of")
				before := testenv.Must(NewAccounts(db).User(ctx, of))(t)
				role := rapid.SampledFrom([]string{"OWNER", "ADMIN", "MANAGER", "CASHIER", "USER"}).Draw(t, "role")
				var err error
				changed := false
				switch rapid.IntRange(0, 3).Draw(t, "what") {
				case 0:
					_, _, err = h.people.Assign(ctx, by.Actor("s"), of, h.assignment(role, 1), h.now)
					changed = err == nil
				case 1:
					to := rapid.SampledFrom([]account.Status{account.Active, account.Disabled}).Draw(t, "to")
					_, _, err = h.people.SetStatus(ctx, by.Actor("s"), of, to, h.now)
					changed = err == nil && before.Status != to
				case 2:
					made++
					u := user(fmt.Sprintf("user-%d", made), "")
					_, err = h.people.Create(ctx, by.Actor("s"), u, "", h.assignment(role, 1))
					changed = err == nil
				case 3:
					_, err = h.people.Update(ctx, by.Actor("s"), of, h.now,
						func(p account.Profile) (account.Profile, error) { return p, nil })
					changed = err == nil
				}
				if changed {
					want++
				}
			}
			audit, err := auditsql.Verify(ctx, db)
			if err != nil || audit.Entries != want || len(audit.Broken) > 0 {
				t.Fatalf("%d entries, want %d: %+v %v", audit.Entries, want, audit.Broken, err)
			}
		})
	})
}

// Staff without an e-mail address can take over a device from their first day; a refused account leaves no PIN.
func TestUserAdmin_Create_pin(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		cook := user("lan", "")
		cook.Email = ""
		made, err := h.people.Create(t.Context(), h.owner.Actor("s"), cook, "hash", h.assignment("KITCHEN", 1))
		if err != nil || made.Email != "" || made.Role != authz.RoleKitchen {
			t.Fatalf("Create = %+v, %v, want a KITCHEN account without e-mail", made, err)
		}
		accounts := NewAccounts(db)
		staff := func() []account.Colleague {
			t.Helper()
			return testenv.Must(accounts.Colleagues(t.Context(), authz.Actor{UserID: h.owner.ID, Branches: []int64{1}}))(t)
		}
		if all := staff(); len(all) != 1 || all[0].UserID != made.ID {
			t.Errorf("Colleagues = %+v, want only user %d", all, made.ID)
		}
		testenv.Equal(t, "hash", testenv.Must(accounts.TryPin(t.Context(), made.ID))(t))
		_, err = h.people.Create(t.Context(), h.owner.Actor("s"), cook, "other", h.assignment("KITCHEN", 1))
		testenv.ErrorIs(t, account.ErrUsernameTaken, err, "the same username")
		_, err = h.people.Create(t.Context(), h.owner.Actor("s"), user("boss", ""), "hash", h.assignment("ADMIN"))
		testenv.ErrorIs(t, account.ErrPinRole, err, "an administrator with a PIN")
		if _, found, err := accounts.Find(t.Context(), "boss@house.example", ""); found || err != nil {
			t.Errorf("the refused account exists: %v, %v", found, err)
		}
		if all := staff(); len(all) != 1 {
			t.Errorf("Colleagues = %+v, want one", all)
		}
	})
}

// A role with a permission of administrators may have no PIN, whatever its name. A PIN from before does not log in.
func TestPins_not_for_administrative_roles(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		owner, accounts := h.owner.Actor("s"), NewAccounts(db)
		chef := testenv.Must(h.roles.CreateRole(t.Context(), owner, authz.Role{Name: "CHEF"}, h.now))(t)
		as := account.Assignment{RoleID: chef.ID, Branches: []int64{1}}
		u := testenv.Must(h.people.Create(t.Context(), owner, user("chef", ""), "hash", as))(t)
		usable := func() (string, int) {
			t.Helper()
			return testenv.Must(accounts.TryPin(t.Context(), u.ID))(t), len(testenv.Must(accounts.Colleagues(t.Context(), authz.Actor{UserID: h.owner.ID, Branches: []int64{1}}))(t))
		}
		if hash, n := usable(); hash != "hash" || n != 1 {
			t.Errorf("the PIN of a role without them is %q, of %d colleagues", hash, n)
		}
		testenv.Must(h.roles.SetPermissions(t.Context(), owner, chef.ID, h.byName["OWNER"].Permissions, h.now))(t)
		if hash, n := usable(); hash != "" || n != 0 {
			t.Errorf("the PIN from before is %q, of %d colleagues", hash, n)
		}
		_, err := h.people.Create(t.Context(), owner, user("second", ""), "hash", as)
		testenv.ErrorIs(t, account.ErrPinRole, err, "a new account")
		_, _, err = h.people.ResetPin(t.Context(), owner, u.ID, "hash", h.now)
		testenv.ErrorIs(t, account.ErrPinRole, err, "a reset")
		testenv.ErrorIs(t, account.ErrPinRole, accounts.SetPin(t.Context(), u.Actor("s"), u.PasswordHash, "hash", h.now), "one's own")
	})
}

// A reset PIN unblocks the account, ends its sessions, and follows the rules of rank and permissions.
func TestUserAdmin_ResetPin(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		manager, peer, cook := h.createUser(t, "manager", "MANAGER", 1), h.createUser(t, "peer", "MANAGER", 1), h.createUser(t, "cook", "KITCHEN", 1)
		otherBranch, member := h.createUser(t, "far", "KITCHEN", 2), h.createUser(t, "member", "USER")
		accounts := NewAccounts(db)
		h.login(t, cook)
		h.now = h.now.Add(time.Minute)
		for _, hash := range []string{"first", "second"} {
			for range account.MaxPinFailures + 1 {
				testenv.Must(accounts.TryPin(t.Context(), cook.ID))(t)
			}
			before := entries(t, db)
			u, ended, err := h.people.ResetPin(t.Context(), manager.Actor("s"), cook.ID, hash, h.now)
			if err != nil || u.ID != cook.ID || !u.ValidFrom.Equal(h.now) || (len(ended) == 1) != (hash == "first") {
				t.Fatalf("%+v, ended %v, %v", u, ended, err)
			}
			testenv.Equal(t, 1, entries(t, db)-before)
			testenv.Equal(t, hash, testenv.Must(accounts.TryPin(t.Context(), cook.ID))(t))
		}
		if h.number(t, "living", cook.ID) != 0 || h.number(t, "revoked", "USER", fmt.Sprint(cook.ID)) == 0 {
			t.Error("their sessions are still live")
		}
		before := entries(t, db)
		for what, c := range map[string]struct {
			by   account.User
			of   int64
			want error
		}{
			"one's own":                       {manager, manager.ID, account.ErrPinOwn},
			"a cook's of a manager":           {cook, manager.ID, authz.ErrRank},
			"one of another branch":           {manager, otherBranch.ID, authz.ErrUser},
			"the owner's of an administrator": {h.createUser(t, "admin", "ADMIN"), h.owner.ID, authz.ErrRank},
			"an owner's":                      {h.createUser(t, "second", "OWNER"), h.owner.ID, account.ErrPinRole},
			"a member's":                      {h.owner, member.ID, account.ErrPinRole},
			"an unknown account's":            {h.owner, 99, authz.ErrUser},
		} {
			_, _, err := h.people.ResetPin(t.Context(), c.by.Actor("s"), c.of, "hash", h.now)
			testenv.ErrorIs(t, c.want, err, what)
		}
		if n := entries(t, db) - before; n != 2 {
			t.Errorf("%d entries for two accounts", n)
		}
		chef, err := h.roles.CreateRole(t.Context(), h.owner.Actor("s"), authz.Role{Name: "CHEF"}, h.now)
		if err == nil {
			_, err = h.roles.SetPermissions(t.Context(), h.owner.Actor("s"), chef.ID, h.byName["OWNER"].Permissions, h.now)
		}
		if err != nil {
			t.Fatal(err)
		}
		cooking := testenv.Must(h.people.Create(t.Context(), authz.System(), user("chef", ""), "",
			account.Assignment{RoleID: chef.ID, Branches: []int64{1}}))(t)
		_, _, err = h.people.ResetPin(t.Context(), manager.Actor("s"), cooking.ID, "hash", h.now)
		testenv.ErrorIs(t, authz.ErrExceedsOwnRights, err, "of an account with more permissions")
		before = entries(t, db)
		// A manager who takes over a peer's account must not gain a permission.
		if _, _, err := h.people.ResetPin(t.Context(), manager.Actor("s"), peer.ID, "hash", h.now); err != nil {
			t.Error(err)
		}
		testenv.Equal(t, 1, entries(t, db)-before)
	})
}

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, stmts) }
