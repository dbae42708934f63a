package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/account"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// within is the time limit for a revoked right to be gone in every process.
const within = 5 * time.Second

// A demo with a password that its accounts cannot have does not start. It would serve without an account.
func TestServe_demoPassword(t *testing.T) {
	stopped, cancel := context.WithCancel(t.Context()) // a server that starts ends at once, without an error
	cancel()
	for password, want := range map[string]string{
		"":                       "",
		"demo-password-15-x":     "",
		"too-short":              "15 to 128 characters",
		strings.Repeat("ab1", 6): "a few characters repeated",
		strings.Repeat("é", 129): "15 to 128 characters",
		"owner@demo.example":     "must not be your name or e-mail address",
		"member@demo.example":    "must not be your name or e-mail address",
	} {
		t.Setenv("COMANDA_DEMO_PASSWORD", password)
		dir := t.TempDir()
		c := testenv.Must(LoadConfig(nil, []string{"COMANDA_LISTEN=127.0.0.1:0", "COMANDA_DATA_DIR=" + dir}, "", nil))(t)
		err := Serve(stopped, c, ServeOptions{Roles: []ProcessRole{API}, Demo: true, Out: io.Discard, Log: io.Discard})
		if want == "" {
			if err != nil {
				t.Errorf("%q is refused: %v", password, err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), "configuration: COMANDA_DEMO_PASSWORD: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want the variable and %s", password, err, want)
		}
		if files := testenv.Must(os.ReadDir(dir))(t); len(files) > 0 {
			t.Errorf("%q is refused after %s was written", password, files[0].Name())
		}
	}
}

// Every change by the staff has exactly one audit entry with actor, action, subject, branch and request, whichever
// package makes it. Requests that were refused, only read or changed nothing have none.
func TestAudit_everyChangeOfTheStaff(t *testing.T) {
	f := newFixture(t)
	entries := func() []audit.Entry {
		all, _ := testenv.Must2(f.core.AuditLog.Entries(t.Context(), audit.Filter{
			To: time.Now().Add(time.Hour), Limit: 1000, EveryBranch: true,
		}))(t)
		return all
	}
	for _, c := range []struct {
		by, method, path, body string
		action, subject        string // empty for no entry
		branch                 int64
	}{
		{"managerA", "PUT", "/api/menu-items/{item}/quota", `{"dailyQuota":9}`, audit.ActionQuotaSet, "menuItem:12", 1},
		{"managerA", "POST", "/api/menus/1/versions", "", audit.ActionMenuDrafted, "menuVersion:", 1},
		{"managerA", "PUT", "/api/menu-versions/{draft}/items/13", `{"price":1,"dailyQuota":null,"isActive":true}`,
			audit.ActionMenuEdited, "menuVersion:{draft}", 1},
		{"managerA", "POST", "/api/option-groups", `{"kind":"SIZE","names":{"en":"x"}}`, audit.ActionOptionGroupEdited, "optionGroup:", 0},
		{"managerA", "PATCH", "/api/option-groups/{optiongroup}", `{"note":"x"}`, audit.ActionOptionGroupEdited, "optionGroup:{optiongroup}", 0},
		{"managerA", "POST", "/api/option-groups/{optiongroup}/options", `{"names":{"en":"x"}}`, audit.ActionOptionEdited, "option:", 0},
		{"managerA", "DELETE", "/api/option-groups/{optiongroup}", "", audit.ActionOptionGroupRetired, "optionGroup:{optiongroup}", 0},
		{"managerA", "PATCH", "/api/options/{option}", `{"sort":2}`, audit.ActionOptionEdited, "option:{option}", 0},
		{"kitchenA", "POST", "/api/branches/1/options/{option}/off", `{"until":"RESTORED"}`, audit.ActionOptionOff, "option:{option}", 1},
		{"kitchenA", "POST", "/api/branches/1/options/{option}/on", "", audit.ActionOptionRestored, "option:{option}", 1},
		{"kitchenA", "POST", "/api/branches/1/options/{option}/on", "", "", "", 0}, // on sale already
		{"managerA", "DELETE", "/api/options/{option}", "", audit.ActionOptionRetired, "option:{option}", 0},
		{"managerA", "PUT", "/api/menu-versions/{draft}/items/13/groups", `{"groups":[]}`,
			audit.ActionMenuEdited, "menuVersion:{draft}", 1},
		{"managerA", "POST", "/api/menu-versions/{draft}/publish", "", audit.ActionMenuPublished, "menuVersion:{draft}", 1},
		{"managerA", "POST", "/api/menu-versions/{draft}/publish", "", "", "", 0}, // already published
		{"owner", "PUT", "/api/branches/1/vouchers/{voucher}", `{"maxUses":5}`, audit.ActionVoucherChanged, "voucher:{voucher}", 1},
		{"owner", "PUT", "/api/branches/1/vouchers/{voucher}", `{"maxUses":5}`, "", "", 0}, // as before
		{"owner", "DELETE", "/api/branches/1/vouchers/{voucher}", "", audit.ActionVoucherEnded, "voucher:{voucher}", 1},
		{"owner", "POST", "/api/branches/1/vouchers", `{"voucher":"SUMMER","discount":"TEN"}`, audit.ActionVoucherCreated, "voucher:", 1},
		{"service", "POST", "/api/tables/{table}/rotate", "", audit.ActionTableRotated, "table:{table}", 1},
		{"managerA", "PUT", "/api/branches/1/floor-plan", `{"tables":[{"tableId":"{table}","planColumn":20,"planRow":15,"shape":"ROUND"}]}`,
			audit.ActionTableEdited, "table:{table}", 1},
		{"managerA", "PUT", "/api/branches/1/floor-plan", `{"tables":[{"tableId":"{table}","planColumn":20,"planRow":15,"shape":"ROUND"}]}`,
			"", "", 0}, // as before
		{"staffA", "POST", "/api/visits/{visit}/close", "", audit.ActionVisitClosed, "visit:{visit}", 1},
		{"staffA", "POST", "/api/visits/{visit}/close", "", "", "", 0},
		{"cashierA", "POST", "/api/orders/{order}/payments", `{"method":"COUNTER","amount":{total}}`,
			audit.ActionPaymentTaken, "order:{order}", 1},
		{"cashierA", "POST", "/api/orders/{order}/payments", `{"method":"COUNTER","amount":{total}}`, "", "", 0},
		{"cashierA", "POST", "/api/orders/{order}/cancel", "", "", "", 0}, // already paid
		{"cashierA", "POST", "/api/orders/{order}/cancel", "", audit.ActionOrderCanceled, "order:{order}", 1},
		{"kitchenA", "POST", "/api/orders/{paidorder}/start", "", "", "", 0}, // recorded in order_step instead
		{"guest", "POST", "/cis/order/{order}/cancel", "", "", "", 0},        // not staff
		{"cashierB", "POST", "/api/orders/{order}/cancel", "", "", "", 0},
		{"kitchenA", "POST", "/api/tables/{table}/rotate", "", "", "", 0},
		{"cashierA", "GET", "/api/orders/{order}", "", "", "", 0},
		{"managerA", "POST", "/api/stock/items", `{"branchId":"1","itemId":"salt","name":"Salt"}`, audit.ActionStockEdited,
			"stockItem:salt", 1},
		{"managerA", "PUT", "/api/stock/items/{stockitem}", `{"name":"Pepper"}`, audit.ActionStockEdited, "stockItem:", 1},
		{"managerA", "PUT", "/api/stock/items/{stockitem}", `{"name":"Pepper"}`, "", "", 0},
		{"managerA", "POST", "/api/stock/items/{stockitem}/adjustments", `{"kind":"RECEIVE","quantity":5}`,
			audit.ActionStockAdjusted, "stockItem:", 1},
		{"managerA", "POST", "/api/stock/items/{stockitem}/adjustments", `{"kind":"WASTE","quantity":6}`, "", "", 0}, // five in stock
		{"service", "PUT", "/inventory/{sku}", `{"branchId":"1","available":7}`, audit.ActionStockAdjusted, "stockItem:{sku}", 1},
		{"service", "PUT", "/inventory/{sku}", `{"branchId":"1","available":7}`, "", "", 0},
		{"managerB", "PUT", "/inventory/{sku}", `{"branchId":"1","available":8}`, "", "", 0},
		{"service", "POST", "/inventory/reservations/{reservation}/confirm", "", "", "", 0}, // a service, not staff
		{"managerA", "PUT", "/api/menu-items/{item}/recipe", `{"lines":[{"itemId":"{sku}","quantity":1}]}`,
			audit.ActionRecipeEdited, "menuItem:12", 1},
		{"managerA", "PUT", "/api/menu-items/{item}/recipe", `{"lines":[{"itemId":"{sku}","quantity":1}]}`, "", "", 0},
		{"managerA", "PUT", "/api/branches/1/options/6/recipe", `{"lines":[{"itemId":"{sku}","quantity":2}]}`,
			audit.ActionRecipeEdited, "option:6", 1},
		{"managerA", "PUT", "/api/branches/1/options/6/recipe", `{"lines":[{"itemId":"{sku}","quantity":2}]}`, "", "", 0},
		{"managerA", "POST", "/api/users", `{"email":"{mail}","roleId":"{cashier}","branches":["1"]}`,
			audit.ActionUserCreated, "user:", 0},
		{"managerA", "PATCH", "/api/users/{user}", `{"city":"Huế"}`, audit.ActionUserUpdated, "user:{user}", 0},
		{"owner", "POST", "/api/users/{user}/role", `{"roleId":"{cashier}","branches":["1"]}`, audit.ActionPrivileges,
			"user:{user}", 0},
		{"admin", "POST", "/api/users/{user}/disable", "", audit.ActionUserDisabled, "user:{user}", 0},
		{"admin", "POST", "/api/users/{user}/enable", "", audit.ActionUserEnabled, "user:{user}", 0},
		{"admin", "POST", "/api/users/{member}/flags", `{"kind":"CHARGEBACK"}`, audit.ActionUserFlagged, "user:{member}", 0},
		{"admin", "POST", "/api/mailings", `{"kind":"REMINDER","segment":{"city":"{pendingcity}"},"clientTxnId":"{key}"}`,
			audit.ActionMailingCreated, "mailing:", 0},
		{"owner", "POST", "/api/mailings/{mailing}/cancel", "", audit.ActionMailingCanceled, "mailing:{mailing}", 0},
		{"admin", "GET", "/api/segments/export", "", audit.ActionSegmentExported, "segment:members", 0},
		{"admin", "POST", "/api/mailings/preview", `{"kind":"REMINDER","segment":{}}`, "", "", 0}, // to oneself
		{"owner", "DELETE", "/api/users/{member}/flags/{flag}", "", audit.ActionUserUnflagged, "user:{member}", 0},
		{"admin", "POST", "/api/roles", `{"name":"{NAME}"}`, audit.ActionRoleCreated, "role:", 0},
		{"admin", "PATCH", "/api/roles/{role}", `{"description":"x"}`, audit.ActionRoleUpdated, "role:{role}", 0},
		{"admin", "PUT", "/api/roles/{role}/permissions", `{"permissionIds":["1"]}`, audit.ActionPrivileges, "role:{role}", 0},
		{"admin", "DELETE", "/api/roles/{role}", "", audit.ActionRoleDeleted, "role:{role}", 0},
	} {
		if c.path == "/api/orders/{order}/cancel" && c.action != "" {
			delete(f.made, "{order}")
		}
		path, body, subject := f.fill(c.path), f.fill(c.body), f.fill(c.subject)
		before := entries()
		got := f.ask(c.by, c.method, path, body)
		fresh := entries()
		fresh = fresh[:len(fresh)-len(before)]
		if c.action == "" {
			if len(fresh) != 0 {
				t.Errorf("%s %s by %s: %s, and the log says %+v", c.method, path, c.by, got.refusal(), fresh)
			}
			continue
		}
		if len(fresh) != 1 || got.status/100 != 2 {
			t.Errorf("%s %s by %s: %s and %d entries", c.method, path, c.by, got.refusal(), len(fresh))
			continue
		}
		e := fresh[0]
		if e.Action != c.action || !strings.HasPrefix(e.Subject, subject) || e.Branch != c.branch || len(e.RequestID) < 8 ||
			(c.by == "service") != (e.Actor == "service") || e.Before != "" && !json.Valid([]byte(e.Before)) {
			t.Errorf("%s %s by %s: %+v", c.method, path, c.by, e)
		}
	}
	if r, err := auditsql.Verify(t.Context(), f.core.DB); err != nil || len(r.Broken) != 0 || r.Entries != int64(len(entries())) {
		t.Errorf("Verify = %+v, %v, want an unbroken chain of %d entries", r, err, len(entries()))
	}
}

// secondProcess starts a second process on the same database, with the same principals.
func (f *fixture) secondProcess() *fixture {
	c := f.core.Config
	c.DataDir = dataDir(f.t)
	return f.withConfig(c)
}

// A permission revoked in one process is invalid there immediately, and in other processes within five seconds.
func TestAccess_takesEffectEverywhere(t *testing.T) {
	t.Parallel()
	f := newFixtureWith(t, map[string]string{
		"COMANDA_DATABASE_URL": sqldbtest.PostgresURL(t), "COMANDA_REDIS_URL": "redis://" + testenv.RedisServer(t).Addr(),
	})
	otherProcess := f.secondProcess()
	otherProcess.bearer = f.bearer
	const branches = "/api/branches"
	for _, c := range []struct {
		account, method, path, body string
		want                        int
	}{
		{"cashierA", "POST", "/api/users/{of}/disable", "", http.StatusUnauthorized},
		{"kitchenA", "POST", "/api/users/{of}/role", `{"roleId":"{cashier}","branches":["2"]}`, http.StatusUnauthorized},
		{"staffA", "PUT", "/api/roles/{its}/permissions", `{"permissionIds":[]}`, http.StatusForbidden},
	} {
		for name, p := range map[string]*fixture{"the first": f, "the second": otherProcess} {
			if got := p.ask(c.account, "GET", branches, ""); got.status != http.StatusOK {
				t.Fatalf("%s in %s: %s", c.account, name, got.refusal())
			}
		}
		u, _ := testenv.Must2(f.core.Accounts.Users.Find(t.Context(), strings.ToLower(email(c.account)), ""))(t)
		f.made["{of}"], f.made["{its}"] = fmt.Sprint(u.ID), fmt.Sprint(u.RoleID)
		f.must(f.ask("owner", c.method, f.fill(c.path), f.fill(c.body)))
		if got := f.ask(c.account, "GET", branches, ""); got.status != c.want {
			t.Errorf("%s at once: %s", c.account, got.refusal())
		}
		testenv.Eventually(t, within, func() bool { return otherProcess.ask(c.account, "GET", branches, "").status == c.want })
	}
	f.login("kitchenA") // now a cashier in another branch
	var list struct{ Items []struct{ ID string } }
	f.must(otherProcess.ask("kitchenA", "GET", branches, "")).into(t, &list)
	if len(list.Items) != 1 || list.Items[0].ID != "2" {
		t.Errorf("they see %v", list)
	}
}

// onWrite is a writer that only reports what is written.
type onWrite func(text string)

func (f onWrite) Write(b []byte) (int, error) {
	f(string(b))
	return len(b), nil
}

// The accounts of the demo exist as soon as its server answers: a program that waits for /readyz can log in.
func TestServe_demo_accounts(t *testing.T) {
	t.Setenv("COMANDA_DEMO_PASSWORD", matrixPassword)
	c := testenv.Must(LoadConfig(map[string]string{"COMANDA_DATA_DIR": dataDir(t), "COMANDA_LISTEN": "127.0.0.1:0"}, nil,
		"", nil))(t)
	f := &fixture{t: t, client: &http.Client{Transport: &http.Transport{}}}
	status, printed := map[string]int{}, ""
	out := onWrite(func(text string) {
		if addr, ok := strings.CutPrefix(text, "Comanda listens on "); ok {
			f.url = "http://" + strings.TrimSpace(addr)
			for _, name := range []string{"owner", "staff", "member"} {
				status[name] = f.ask("", "POST", "/auth/login", fmt.Sprintf(`{"username":%q,"password":%q}`, name, matrixPassword)).status
			}
		}
		printed += text
	})
	f.closeLater(testenv.Must(start(t.Context(), c, ServeOptions{Roles: []ProcessRole{API}, Demo: true, Out: out},
		slog.New(slog.DiscardHandler)))(t))
	want := map[string]int{"owner": http.StatusOK, "staff": http.StatusOK, "member": http.StatusOK}
	if d := cmp.Diff(want, status); d != "" {
		t.Errorf("logins while the address is printed (-want +got):\n%s", d)
	}
	if !strings.Contains(printed, "owner, admin") || !strings.Contains(printed, matrixPassword) {
		t.Errorf("the accounts are not printed: %s", printed)
	}
}

// The first start prints a code that creates one owner, once.
func TestAnnounceAccess(t *testing.T) {
	c := testenv.Must(LoadConfig(map[string]string{"COMANDA_DATA_DIR": dataDir(t), "COMANDA_LISTEN": "127.0.0.1:0"}, nil,
		"", nil))(t)
	var out, log strings.Builder
	p := testenv.Must(start(t.Context(), c, ServeOptions{Roles: []ProcessRole{API}, Out: &out},
		slog.New(slog.NewTextHandler(&log, nil))))(t)
	code := ""
	for line := range strings.Lines(out.String()) {
		if rest, ok := strings.CutPrefix(line, "Set-up code"); ok {
			code = strings.TrimSpace(rest)
		}
	}
	f := &fixture{t: t, core: p.core, url: "http://" + p.server.Addr().String(), client: &http.Client{Transport: &http.Transport{}}}
	f.closeLater(p)
	body := func(code string) string {
		return fmt.Sprintf(`{"code":%q,"email":"boss@house.example","password":%q}`, code, matrixPassword)
	}
	if got := f.ask("", "POST", "/auth/setup", body(code+"x")); got.status != http.StatusForbidden {
		t.Errorf("another code: %s", got.refusal())
	}
	f.must(f.ask("", "POST", "/auth/setup", body(code)))
	if got := f.ask("", "POST", "/auth/setup", body(code)); got.status != http.StatusForbidden {
		t.Errorf("the code a second time: %s", got.refusal())
	}
	if len(f.tokens("boss@house.example").AccessToken) == 0 {
		t.Error("the owner cannot log in")
	}
	out.Reset()
	err := p.core.announceAccess(t.Context(), &out)
	// Without a web app in the binary, the line states that instead of the URL of the console.
	if output := out.String(); err != nil || strings.Contains(output, "Set up") || strings.Count(output, "\n") != 1 {
		t.Errorf("a restaurant with an owner is offered a code: %v %s", err, output)
	}
	if code == "" || strings.Contains(log.String(), code) {
		t.Errorf("the code %q is in the log", code)
	}
}

// An account created at the command line can log in with its password only.
func TestCreateUser(t *testing.T) {
	config := testenv.Must(LoadConfig(map[string]string{"COMANDA_DATA_DIR": dataDir(t)}, nil, "", nil))(t)
	db := testenv.Must(OpenDatabase(t.Context(), config))(t)
	defer db.Close()
	testenv.NoError(t, db.Migrate(t.Context()))
	n := NewAccount{Role: "owner", Email: " Boss@House.example", Password: matrixPassword}
	users := testenv.Must(CreateUsers(t.Context(), config, []NewAccount{n}))(t)
	if u := users[0]; u.Role != authz.RoleOwner || u.Email != "boss@house.example" || u.Status != account.Active {
		t.Fatalf("CreateUsers = %+v, want the active owner boss@house.example", u)
	}
	for what, n := range map[string]NewAccount{
		"the same address":     n,
		"no role":              {Role: "boss", Email: "b@house.example", Password: matrixPassword},
		"a short password":     {Role: "admin", Email: "c@house.example", Password: "short"},
		"a cashier nowhere":    {Role: "cashier", Email: "d@house.example", Password: matrixPassword},
		"a branch that is not": {Role: "cashier", Email: "e@house.example", Password: matrixPassword, Branches: []int64{9}},
	} {
		if u, err := CreateUsers(t.Context(), config, []NewAccount{n}); err == nil {
			t.Errorf("CreateUsers with %s = %+v, want an error", what, u)
		}
	}
	// The password is asked for only if the account can be created with it.
	asked := 0
	ask := func() (string, error) { asked++; return matrixPassword, nil }
	for _, c := range []struct {
		n    NewAccount
		want string
	}{
		{NewAccount{Role: "boss", Email: "b@house.example"}, `"boss" is not a role; the roles are owner, admin`},
		{NewAccount{Role: "admin", Email: "b"}, "not a valid e-mail address"},
		{NewAccount{Role: "admin", Email: "boss@house.example"}, "already an account with this e-mail address"},
		{NewAccount{Role: "cashier", Email: "b@house.example"}, "needs at least one branch"},
		{NewAccount{Role: "cashier", Email: "b@house.example", Branches: []int64{9}}, "Branch not found"},
		{NewAccount{Role: "admin", Email: "b@house.example"}, ""},
	} {
		c.n.ReadPassword = ask
		_, err := CreateUsers(t.Context(), config, []NewAccount{c.n})
		if refused := c.want != ""; refused != (err != nil) || refused && !strings.Contains(err.Error(), c.want) || refused != (asked == 0) {
			t.Errorf("%s %s: error %v, want %q; the password was asked for %d times", c.n.Role, c.n.Email, err, c.want, asked)
		}
	}
	if asked != 1 {
		t.Errorf("the password was asked for %d times, want once", asked)
	}
}

// Every route with a permission declares all parts of the permission, and only accounts and the service token may call
// it.
func TestRoutes_permissions(t *testing.T) {
	c := testenv.Must(LoadConfig(map[string]string{"COMANDA_SANDBOX_PAYMENTS": "on"}, nil, "", nil))(t)
	api := testenv.Must(routeTable(c))(t)
	var modules []string
	for _, r := range api.Routes() {
		house := strings.HasPrefix(r.Path, "/api/") || r.Path == "/inventory" || strings.HasPrefix(r.Path, "/inventory/")
		if house != (r.Policy == "staff" || r.Policy == "admin") {
			t.Errorf("%s %s is open to %s", r.Method, r.Path, r.Policy)
		}
		if r.Policy.Permitted() && !slices.Contains(modules, r.Module) {
			modules = append(modules, r.Module)
		}
	}
	// Every permission belongs to one set. Those on one's own account belong to SetOwn.
	for i, p := range authzhttp.Permissions(api.Routes()) {
		if set := authz.SetOf(p); set == "" || (set == authz.SetOwn) != p.Own {
			t.Errorf("permission %d, %s %s of %s, is in the set %q", i, p.Method, p.Path, p.Module, set)
		}
	}
	slices.Sort(modules)
	if got := strings.Join(modules, " "); got != "AUDIT BRANCHES CART CODES DISCOUNTS INVENTORY MAILINGS MEMBERS MENUS ORDERS PAYMENTS PRICES RECEIVERS REPORTS ROLES SETTINGS STOCK SYSTEM TABLES TAXES USERS VISITS VOUCHERS" {
		t.Errorf("the modules are %s", got)
	}
}

// The sets of a new installation's roles, in whole, or in part with an asterisk.
func TestPermissionSets_of_roles(t *testing.T) {
	c := testenv.Must(LoadConfig(map[string]string{"COMANDA_SANDBOX_PAYMENTS": "on"}, nil, "", nil))(t)
	api := testenv.Must(routeTable(c))(t)
	const all = "VIEW SERVE COOK HANDOVER SELLOUT MONEY RECEIVER MENU STOCK BRANCH REPORTS PEOPLE ADMIN OWN"
	for role, want := range map[string]string{
		authz.RoleOwner:   all,
		authz.RoleAdmin:   all,
		authz.RoleManager: "VIEW SERVE COOK HANDOVER SELLOUT MONEY RECEIVER MENU STOCK BRANCH REPORTS PEOPLE OWN",
		authz.RoleCashier: "VIEW SERVE COOK HANDOVER MONEY RECEIVER OWN",
		authz.RoleKitchen: "VIEW COOK HANDOVER SELLOUT STOCK* OWN",
		authz.RoleStaff:   "VIEW SERVE HANDOVER RECEIVER OWN",
		authz.RoleUser:    "OWN",
	} {
		var got []string
		for set := range strings.FieldsSeq(all) {
			held, total := 0, 0
			for _, p := range authzhttp.Permissions(api.Routes()) {
				if string(authz.SetOf(p)) == set {
					total++
					if authz.GrantedByDefault(role, p) {
						held++
					}
				}
			}
			switch {
			case held == 0:
			case held < total:
				got = append(got, set+"*")
			default:
				got = append(got, set)
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s has %s, want %s", role, got, want)
		}
	}
}

// The list of tables contains codes only for accounts that may print them: a code admits its holder to the table.
func TestTables_codes(t *testing.T) {
	f := newFixture(t)
	for account, want := range map[string]bool{"staffA": false, "cashierA": false, "managerA": true, "owner": true, "service": true} {
		body := f.must(f.ask(account, "GET", "/api/tables?branchId=1", "")).body
		if got := strings.Contains(string(body), `"qrToken"`) && strings.Contains(string(body), "/m/"); got != want {
			t.Errorf("%s receives codes: %t", account, got)
		}
	}
}
