package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/identity"
	"comanda/internal/identity/identityhttp"
	"comanda/internal/identity/identitysql"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/worker"
)

// access is who may do what.
type access struct {
	Administration *identity.Administration
	Setup          *identity.Setup
	Rights         *identity.Authorizer // nil until the door is open
}

// wireAccess needs the accounts.
func (k *Core) wireAccess() {
	house, roles := identitysql.NewUserAdmin(k.DB), identitysql.NewRoles(k.DB)
	k.access = access{
		Administration: &identity.Administration{
			Users: house, Roles: roles, Log: identitysql.NewAuditLog(k.DB), Accounts: k.Accounts, Now: k.DB.Now,
		},
		Setup: &identity.Setup{Store: house, Hasher: k.Accounts.Hasher, Now: k.DB.Now},
	}
}

// openDoor makes the permissions be those of the server's routes, and has it let in whoever holds them.
func (k *Core) openDoor(ctx context.Context, s *httpapi.Server, reg prometheus.Registerer) error {
	routes := s.API().Routes()
	if err := identitysql.SyncPermissions(ctx, k.DB, identityhttp.Permissions(routes), k.DB.Now()); err != nil {
		return err
	}
	places := identityhttp.Places(routes)
	k.Rights = identity.NewAuthorizer(identitysql.NewRoles(k.DB), k.DB.Now, places)
	k.Administration.Authorizer = k.Rights
	denied := promauto.With(reg).NewCounterVec(prometheus.CounterOpts{
		Name: "authz_denied_total", Help: "Requests of accounts whose role does not hold the permission for the route.",
	}, []string{"policy"})
	for _, p := range []httpapi.Policy{httpapi.Staff, httpapi.Admin, httpapi.Member} { // before the first, for alerts
		denied.WithLabelValues(string(p))
	}
	s.SetAuthenticator(identityhttp.Authenticator{
		Tokens: k.Guard, Routes: k.Rights, Places: places,
		Denied: func(l *httpapi.RouteInfo) { denied.WithLabelValues(string(l.Policy)).Inc() },
	})
	s.Denied = k.denied
	return k.Rights.Refresh(ctx)
}

// denied has the audit log keep whom a route was refused to. Wrong passwords and PINs are noted with their account
// instead, by the identity room.
func (k *Core) denied(d httpapi.Denial) {
	switch {
	case d.Code == identity.ErrPin.Code, d.Code == identity.ErrPassword.Code:
	case d.Route.Policy.Permitted(), d.Code == identity.ErrSetup.Code:
		who := cmp.Or(d.Actor, identity.Actor{}.String()) // another site's request is refused before anybody asks who sends it
		k.Accounts.Incidents.Add(who, identity.ActionDenied, "route:"+d.Route.Method+" "+d.Route.Path, d.Client)
	}
}

// accessLoops run where requests are served. Rights that could not be read for five seconds refuse everybody but owners.
func (k *Core) accessLoops() []worker.Loop {
	return []worker.Loop{{
		Name: "rights", Every: time.Second, Timeout: 3 * time.Second, MaxPause: time.Second,
		Run: func(ctx context.Context) error { return k.Rights.Refresh(ctx) },
	}}
}

// routeTable is the routes of all rooms, without touching any store.
func routeTable(c Config) (*httpapi.API, error) {
	s, err := httpapi.New(c.http("1"), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		return nil, err
	}
	k := &Core{Config: c, Branches: &catalog.BranchAdmin{}, Orders: &ordering.Service{Methods: payment.NewMethods()}}
	if c.SandboxPayments {
		k.Orders.Methods = payment.NewMethods(payment.Sandbox)
	}
	k.register(s.API())
	return s.API(), nil
}

// NewAccount is an account that the operator makes at the console.
type NewAccount struct {
	Role     string
	Email    string
	Username string
	Password string
	Branches []int64
}

// CreateUser makes an account as a command beside running servers; it can log in at once.
func CreateUser(ctx context.Context, c Config, n NewAccount) (identity.User, error) {
	users, err := CreateUsers(ctx, c, []NewAccount{n})
	if err != nil {
		return identity.User{}, err
	}
	return users[0], nil
}

// CreateUsers makes accounts, one after the other; those before the first that cannot be made are there.
func CreateUsers(ctx context.Context, c Config, accounts []NewAccount) ([]identity.User, error) {
	db, err := OpenDatabase(ctx, c)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	routes, err := routeTable(c)
	if err != nil {
		return nil, err
	}
	if err := identitysql.SyncPermissions(ctx, db, identityhttp.Permissions(routes.Routes()), db.Now()); err != nil {
		return nil, err
	}
	k := &Core{Config: c, DB: db}
	k.Accounts = &identity.Accounts{
		Users: identitysql.NewAccounts(db), Hasher: identity.NewHasher(identity.DefaultArgon2Params, 1), Now: db.Now,
	}
	k.wireAccess()
	users := make([]identity.User, len(accounts))
	for i, n := range accounts {
		if users[i], err = k.hire(ctx, n); err != nil {
			return nil, err
		}
	}
	return users, nil
}

// hire makes an account for the operator.
func (k *Core) hire(ctx context.Context, n NewAccount) (identity.User, error) {
	roles, err := k.Administration.Roles.Roles(ctx)
	if err != nil {
		return identity.User{}, err
	}
	for _, r := range roles {
		if r.Name == strings.ToUpper(n.Role) {
			profile := identity.Profile{Email: n.Email, Username: n.Username}
			post := identity.Assignment{RoleID: r.ID, Branches: n.Branches}
			return k.Administration.CreateUser(ctx, identity.System(), profile, n.Password, post)
		}
	}
	return identity.User{}, identity.ErrRole
}

// announceAccess prints how the first owner gets in, or in the demo who works there. Nothing of it is ever logged.
func (k *Core) announceAccess(ctx context.Context, out io.Writer, isDemo bool) error {
	if isDemo {
		return k.demoStaff(ctx, out)
	}
	code, err := k.Setup.NewCode(ctx)
	if err != nil || code == "" {
		return err
	}
	fmt.Fprintf(out, "Set-up code   %s\n", code)
	fmt.Fprintf(out, "This house has no owner yet. Make the first one with the code, which is good once:\n"+
		"  curl -X POST %s/auth/setup -H 'Content-Type: application/json' \\\n"+
		"    -d '{\"code\":\"%s\",\"email\":\"...\",\"password\":\"...\"}'\n", k.Config.PublicURL, code)
	return nil
}

// demoStaff makes one account for each role of the staff, with one password: the given one, or one made up now. Accounts
// that are there already stay as they are.
func (k *Core) demoStaff(ctx context.Context, out io.Writer) error {
	password := os.Getenv("COMANDA_DEMO_PASSWORD")
	if password == "" {
		password = rand.Text()
	}
	branches, err := k.Branches.Branches(ctx, identity.System())
	if err != nil {
		return err
	}
	var made []string
	for _, r := range identity.Delivered() {
		name := strings.ToLower(r.Name)
		if name == "user" {
			name = "member"
		}
		_, found, err := k.Accounts.Users.Find(ctx, demoMail(name), "")
		if err != nil {
			return err
		}
		if found {
			continue
		}
		n := NewAccount{Role: r.Name, Email: demoMail(name), Username: name, Password: password}
		if len(branches) > 0 {
			n.Branches = []int64{branches[0].ID}
		}
		switch _, err := k.hire(ctx, n); {
		case errors.Is(err, identity.ErrEmailTaken): // by a process that started at the same time, with its password
		case err != nil:
			return fmt.Errorf("demo account %s: %w", name, err)
		default:
			made = append(made, name)
		}
	}
	if len(made) > 0 {
		fmt.Fprintf(out, "Accounts      %s\nPassword      %s\n", strings.Join(made, ", "), password)
	}
	return nil
}

func demoMail(name string) string { return name + "@demo.example" }

// VerifyAudit looks at the whole audit log.
func VerifyAudit(ctx context.Context, db *sqldb.DB) (identitysql.AuditReport, error) {
	return identitysql.VerifyAudit(ctx, db)
}
