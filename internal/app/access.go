package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/account"
	"comanda/internal/account/accountjwt"
	"comanda/internal/account/accountredis"
	"comanda/internal/account/accountsql"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/authz/authzsql"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/limit"
	"comanda/internal/mailing"
	"comanda/internal/mailing/mailingsql"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/telemetry"
	"comanda/internal/web"
)

// authorization holds the services for accounts, roles and permissions.
type authorization struct {
	Administration *account.Administration
	Roles          *authz.Roles
	AuditLog       audit.Reader
	Setup          *account.Setup
	Trust          *account.Trust
	Segments       *mailing.Segments
	Mailings       *mailing.Service
	Authorizer     *authz.Authorizer // nil until syncPermissions has run
}

// wireAuthorization creates the services that administer accounts. It requires k.Accounts. The command that creates
// users calls it without the rest of the Core.
func (k *Core) wireAuthorization() {
	users, roles := accountsql.NewUserAdmin(k.DB), authzsql.NewRoles(k.DB)
	users.Counts = k.Cache
	administration := &account.Administration{
		Users: users, Accounts: k.Accounts, Index: userIndex{k}, Now: k.DB.Now,
	}
	k.authorization = authorization{
		Administration: administration,
		Trust:          &account.Trust{Store: users, Accounts: administration, Rules: k.trustRules, Now: k.DB.Now},
		Segments:       &mailing.Segments{Store: mailingsql.New(k.DB), Now: k.DB.Now},
		Mailings:       &mailing.Service{Store: mailingsql.New(k.DB), CanSend: k.canSendMailings, Now: k.DB.Now},
		Roles:          &authz.Roles{Store: roles, Now: k.DB.Now},
		AuditLog:       auditsql.NewLog(k.DB),
		Setup:          &account.Setup{Store: users, Hasher: k.Accounts.Hasher, Now: k.DB.Now},
	}
}

// syncPermissions stores the permissions that the server's routes declare, and sets the authenticator that checks them.
// It runs after all routes are registered and before the server listens: the permissions of new routes must exist
// before accounts call them.
func (k *Core) syncPermissions(ctx context.Context, s *httpapi.Server, reg prometheus.Registerer) error {
	routes := s.API().Routes()
	if err := authzsql.SyncPermissions(ctx, k.DB, authzhttp.Permissions(routes), k.DB.Now()); err != nil {
		return err
	}
	places := authzhttp.Places(routes)
	k.Authorizer = authz.NewAuthorizer(authzsql.NewRoles(k.DB), k.DB.Now, places)
	k.Roles.Authorizer = k.Authorizer
	denied := telemetry.Metrics(reg).Counting("authz_denied_total",
		"Requests of accounts whose role lacks the route's permission.", "policy",
		string(httpapi.Staff), string(httpapi.Admin), string(httpapi.Member))
	s.SetAuthenticator(authzhttp.Authenticator{
		Tokens: k.Authenticator, Routes: k.Authorizer, Places: places,
		Denied: func(l *httpapi.RouteInfo) { denied(string(l.Policy)) },
	})
	s.Denied = k.recordDenial
	return k.Authorizer.Refresh(ctx)
}

// recordDenial records a refused request in the audit log. Wrong passwords and PINs are excluded: package account
// records them with their account.
func (k *Core) recordDenial(d httpapi.Denial) {
	switch {
	case d.Code == account.ErrPin.Code, d.Code == account.ErrPassword.Code:
	case d.Route.Policy.Permitted(), d.Code == account.ErrSetup.Code:
		actor := cmp.Or(d.Actor, authz.Actor{}.String()) // a cross-site request is refused before its actor is known
		k.Accounts.Incidents.Add(actor, audit.ActionDenied, "route:"+d.Route.Method+" "+d.Route.Path, d.Client)
	}
}

// routeTable returns the routes of all packages without opening a store. Its handlers have no stores and must not be
// called. Documents and permissions are derived from it.
func routeTable(c Config) (*httpapi.API, error) {
	s, err := httpapi.New(c.http("1"), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		return nil, err
	}
	methods := payment.NewMethods(merchants{}.methods(c.SandboxPayments)...)
	k := &Core{Config: c, Branches: &catalog.BranchAdmin{}, Orders: &ordering.Service{
		Settings: func() ordering.Settings { return ordering.Settings{Methods: methods} },
	}}
	k.register(s.API())
	return s.API(), nil
}

// storePermissions stores the permissions of all routes, for a command that creates accounts: roles refer to them, and
// no server may have run on this database yet.
func storePermissions(ctx context.Context, c Config, db *sqldb.DB) error {
	routes, err := routeTable(c)
	if err != nil {
		return err
	}
	return authzsql.SyncPermissions(ctx, db, authzhttp.Permissions(routes.Routes()), db.Now())
}

// NewAccount is an account that the operator creates at the command line.
type NewAccount struct {
	Role     string
	Email    string
	Username string
	Password string
	Branches []int64

	ReadPassword func() (string, error) // if set, returns the password; see account.NewUser
}

// CreateUsers creates accounts in order from a command while servers run, and stops at the first error. Those created
// before it remain. The accounts can log in at once.
func CreateUsers(ctx context.Context, c Config, accounts []NewAccount) ([]account.User, error) {
	db, err := OpenExisting(ctx, c)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := storePermissions(ctx, c, db); err != nil {
		return nil, err
	}
	k := &Core{Config: c, DB: db}
	k.Accounts = &account.Service{
		Users: accountsql.NewAccounts(db), Hasher: account.NewHasher(account.DefaultArgon2Params, 1), Now: db.Now,
	}
	k.wireAuthorization()
	return seq.TryMap(accounts, func(n NewAccount) (account.User, error) { return k.createUser(ctx, n) })
}

// createUser creates an account on behalf of the operator. Roles are found by name, because operators do not see their
// ids.
func (k *Core) createUser(ctx context.Context, n NewAccount) (account.User, error) {
	roles, err := k.Roles.Store.Roles(ctx)
	if err != nil {
		return account.User{}, err
	}
	for _, r := range roles {
		if authz.SameRoleName(r.Name, n.Role) {
			profile := account.Profile{Email: n.Email, Username: n.Username}
			post := account.Assignment{RoleID: r.ID, Branches: n.Branches}
			user := account.NewUser{Profile: profile, Password: n.Password, ReadPassword: n.ReadPassword}
			return k.Administration.CreateUser(ctx, authz.System(), user, post)
		}
	}
	names := seq.Map(roles, func(r authz.Role) string { return strings.ToLower(r.Name) })
	return account.User{}, fmt.Errorf("%q is not a role; the roles are %s", n.Role, strings.Join(names, ", "))
}

// announceAccess prints how to get access: the set-up link for the first owner, or the console's address if there is an
// owner. It never logs them.
func (k *Core) announceAccess(ctx context.Context, out io.Writer) error {
	code, err := k.Setup.NewCode(ctx)
	if err != nil {
		return err
	}
	if code == "" {
		announceWeb(out, k.publicURL())
		return nil
	}
	fmt.Fprintf(out, "Set up        %s%ssetup#%s\n", k.publicURL(), web.ConsolePath, code)
	fmt.Fprintf(out, "Set-up code   %s\n", code)
	fmt.Fprintln(out, "There is no owner yet. Open the link within an hour to create the owner's account and the first\n"+
		"restaurant. It works once; a restart prints a new one. Programs send the code to POST /auth/setup.")
	return nil
}

// validateDemoPassword refuses a configured password that the demo's accounts cannot have, before anything is written.
func validateDemoPassword() error {
	password := os.Getenv("COMANDA_DEMO_PASSWORD")
	if password == "" {
		return nil
	}
	for _, r := range authz.Delivered() {
		name := demoUsername(r.Name)
		if err := account.CheckPassword(password, true, demoAddress(name), name); err != nil {
			return fmt.Errorf("configuration: COMANDA_DEMO_PASSWORD: %s", fault.PublicText(err))
		}
	}
	return nil
}

// demoPassword returns a random password of 75 bits, in lower-case groups because it is typed on tablets.
func demoPassword() string {
	s := strings.ToLower(rand.Text())
	return s[:5] + "-" + s[5:10] + "-" + s[10:15]
}

// createDemoUsers creates one account for each role, all with one password: the configured one, or a random one. It
// prints them. Existing accounts stay as they are.
func (k *Core) createDemoUsers(ctx context.Context, out io.Writer) error {
	password := cmp.Or(os.Getenv("COMANDA_DEMO_PASSWORD"), demoPassword())
	branches, err := k.Branches.Branches(ctx, authz.System())
	if err != nil {
		return err
	}
	var made []string
	for _, r := range authz.Delivered() {
		name := demoUsername(r.Name)
		_, found, err := k.Accounts.Users.Find(ctx, demoAddress(name), "")
		if err != nil {
			return err
		}
		if found {
			continue
		}
		n := NewAccount{Role: r.Name, Email: demoAddress(name), Username: name, Password: password}
		if len(branches) > 0 {
			n.Branches = []int64{branches[0].ID}
		}
		switch _, err := k.createUser(ctx, n); {
		case errors.Is(err, account.ErrEmailTaken): // by a process that started at the same time
		case err != nil:
			return fmt.Errorf("demo account %s: %w", name, err)
		default:
			made = append(made, name)
		}
	}
	if len(made) > 0 {
		fmt.Fprintf(out, "Accounts      %s\nPassword      %s\n", strings.Join(made, ", "), password)
		return k.createDemoVoucher(ctx, out)
	}
	return nil
}

// demoVoucher is the code of a voucher in the demo's branch in Berlin.
const demoVoucher = "WILLKOMMEN"

// createDemoVoucher creates a voucher for the first fifty orders in the demo's last branch, at the first start. Its code is
// printed because the database has only a hash of it.
func (k *Core) createDemoVoucher(ctx context.Context, out io.Writer) error {
	branches, err := k.Branches.Branches(ctx, authz.System())
	if err != nil {
		return err
	}
	for _, b := range branches {
		if !slices.ContainsFunc(b.Pricing.Discounts, func(d catalog.DiscountKind) bool { return d.Code == "WELCOME" }) {
			continue
		}
		_, err := k.Vouchers.Create(ctx, authz.System(), b.ID, ordering.NewVoucher{
			Code: demoVoucher, Discount: "WELCOME", VoucherTerms: ordering.VoucherTerms{MaxUses: 50},
		})
		switch {
		case errors.Is(err, ordering.ErrVoucherExists): // by a process that started at the same time
		case err != nil:
			return fmt.Errorf("demo voucher: %w", err)
		default:
			fmt.Fprintf(out, "Voucher       %s in %s\n", demoVoucher, b.Name)
		}
	}
	return nil
}

// demoUsername returns the username of the demo's account with a role.
func demoUsername(role string) string {
	if name := strings.ToLower(role); name != "user" {
		return name
	}
	return "member"
}

// demoAddress returns an address under .example, which RFC 2606 reserves, so that no e-mail of a demo reaches a
// person.
func demoAddress(name string) string { return name + "@demo.example" }

// accountServices contains the account services on their stores.
type accountServices struct {
	Accounts      *account.Service
	Authenticator *account.Authenticator
	AccountStore  *accountsql.Accounts

	tokens   *accountjwt.Codec
	tokenKey account.Key // last passed to useTokenKey
}

// limiter adapts limit.Limiter to account.Limiter. A nil Limiter allows everything.
type limiter struct{ *limit.Limiter }

// Peek implements account.Limiter.
func (f limiter) Peek(ctx context.Context, policy, subject string) (time.Duration, bool) {
	v := f.Limiter.Peek(ctx, policy, subject)
	return v.Retry, v.OK
}

// wireIdentity reads the installation's keys, which the first start creates, and the revoked sessions. From then on
// the authenticator accepts tokens.
func (k *Core) wireIdentity(ctx context.Context, reg prometheus.Registerer) error {
	keys, err := accountsql.Keys(ctx, k.DB)
	if err != nil {
		return err
	}
	key := k.Config.tokenKey(keys)
	tokens, err := accountjwt.New(key)
	if err != nil {
		return err
	}
	store, memory := accountsql.NewAccounts(k.DB), accountredis.New(k.Redis)
	authenticator := account.NewAuthenticator(tokens, store, memory, k.DB.Now)
	hasher := account.NewHasher(account.DefaultArgon2Params, runtime.GOMAXPROCS(0))
	k.Authenticator, k.AccountStore, k.tokens = authenticator, store, tokens
	k.Accounts = &account.Service{
		Users: store, SessionStore: store, Pins: store, Codes: store, Hasher: hasher, Tokens: tokens, Keys: keys,
		Authenticator: authenticator, Cache: memory, Limits: limiter{k.Limits}, Now: k.DB.Now, Log: k.Log,
		Incidents: &audit.Incidents{Now: k.DB.Now}, Observer: accountMetrics(reg, hasher),
	}
	if err := k.useTokenKey(key); err != nil {
		return err
	}
	// The revocations are read before the first request: a new process must not accept a session that was revoked
	// before it started.
	return authenticator.SyncRevocations(ctx)
}

// accountMetrics creates package account's metrics, because that package imports no driver.
func accountMetrics(reg prometheus.Registerer, hasher *account.Hasher) account.Observer {
	f := telemetry.Metrics(reg)
	f.CounterFunc("password_hash_total", "Password hashes computed, also for unknown accounts.",
		func() float64 { return float64(hasher.Stats().Computed) })
	f.CounterFunc("password_hash_rejected_total", "Password hashes refused because the queue was full.",
		func() float64 { return float64(hasher.Stats().Refused) })
	return account.Observer{
		Login: f.Counting("auth_login_total", "Login attempts, by result.", "result", account.LoginResults()...),
		Code:  f.Counting("otp_total", "One-time codes, by event.", "event", account.CodeEvents()...),
		Reused: f.Counter("auth_refresh_reuse_total",
			"Sessions ended because a used refresh token was presented again.").Inc,
	}
}

// writeIncidents writes refused requests into the audit log.
func (k *Core) writeIncidents(ctx context.Context) error {
	return k.Accounts.Incidents.Flush(ctx, func(ctx context.Context, all ...audit.Entry) error {
		return auditsql.RecordAlone(ctx, k.DB, all...)
	})
}

// Purposes of the keys derived from the token key. Withdrawing the token key withdraws them too.
const (
	sealUse   = "comanda redis seal"
	deviceUse = "comanda device mark"
)

// tokenKey returns the key that signs tokens in this installation: the operator's, else the one in SQL. An operator's
// key replaces the one in SQL completely, because every backup contains the key in SQL.
func (c Config) tokenKey(keys account.Keys) account.Key {
	if c.TokenKey != "" {
		return account.Key(c.TokenKey)
	}
	return keys.Token
}

// useTokenKey makes this process sign and verify with key. Cached tokens, which were verified with the old key, are
// dropped last.
func (k *Core) useTokenKey(key account.Key) error {
	if err := k.tokens.SetKey(key); err != nil {
		return err
	}
	k.tokenKey = key
	k.Redis.UseSealKey(key.Derive(sealUse))
	k.Accounts.Devices.SetKey(key.Derive(deviceUse))
	k.Authenticator.ClearCache()
	return nil
}

// syncTokenKey uses the new key when the one in SQL was withdrawn. Only the start and this loop use k.tokenKey, one
// after the other, so no lock is needed.
func (k *Core) syncTokenKey(ctx context.Context) error {
	keys, err := accountsql.ReadKeys(ctx, k.DB)
	if err != nil {
		return err
	}
	if key := k.Config.tokenKey(keys); !bytes.Equal(key, k.tokenKey) {
		k.Log.WarnContext(ctx, "security", "event", audit.ActionKeyWithdrawn)
		return k.useTokenKey(key)
	}
	return nil
}
