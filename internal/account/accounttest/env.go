// Package accounttest has fixtures for tests that need accounts: an environment with users on a database,
// the queued e-mails, and a session cache with the suite that every cache passes.
package accounttest

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accountjwt"
	"comanda/internal/account/accountsql"
	"comanda/internal/authz"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// EventCounts counts the events of an account.Observer. It is safe for concurrent use.
type EventCounts struct {
	mu     sync.Mutex
	counts map[string]int
}

// Count returns how often an event occurred: login.ok, code.compared, reused.
func (c *EventCounts) Count(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[what]
}

func (c *EventCounts) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
}

// FastParams makes hashes cost almost nothing, for tests that are not about argon2.
var FastParams = account.Argon2Params{Memory: 16, Time: 1, Threads: 1}

// Password is the password of every account that an Env has created.
const Password = "correct horse battery staple"

// Env is the account service of one process on a database.
type Env struct {
	*account.Service

	DB     *sqldb.DB
	Store  *accountsql.Accounts
	Clock  *testenv.Clock
	Events *EventCounts
}

var (
	stmts = sqldb.Load(fstest.MapFS{
		"role.sql": {Data: []byte("INSERT INTO role (name, created_at, updated_at) VALUES ($1, 0, 0) ON CONFLICT (name) DO NOTHING")},
		"mail.sql": {Data: []byte("SELECT template, locale, fields, expires_at FROM mail_outbox WHERE recipient = $1 ORDER BY id")},
		"role_of.sql": {Data: []byte(
			"UPDATE app_user SET role_id = (SELECT id FROM role WHERE name = $2) WHERE id = $1")},
		"status.sql": {Data: []byte("UPDATE app_user SET status = $2 WHERE id = $1")},
	})
	roleInsert = stmts.Must("role")
	mailSelect = stmts.Must("mail")
	roleOf     = stmts.Must("role_of")
	statusSet  = stmts.Must("status")
)

// Open returns an environment on an empty database with the built-in roles.
func Open(t testing.TB, db *sqldb.DB, memory account.SessionCache) *Env {
	t.Helper()
	for _, r := range authz.Delivered() {
		testenv.Must(db.Exec(t.Context(), roleInsert, r.Name))(t)
	}
	return OpenAnother(t, db, memory, testenv.NewClock())
}

// OpenAnother returns the environment of another process on the same database.
func OpenAnother(t testing.TB, db *sqldb.DB, memory account.SessionCache, clock *testenv.Clock) *Env {
	t.Helper()
	keys := testenv.Must(accountsql.Keys(t.Context(), db))(t)
	tokens := testenv.Must(accountjwt.New(keys.Token))(t)
	store, events := accountsql.NewAccounts(db), &EventCounts{counts: map[string]int{}}
	h := &Env{DB: db, Store: store, Clock: clock, Events: events, Service: &account.Service{
		Users: store, SessionStore: store, Pins: store, Codes: store, Hasher: account.NewHasher(FastParams, 2), Tokens: tokens, Keys: keys,
		Cache: memory, Now: clock.Now, Log: slog.New(slog.DiscardHandler),
		Authenticator: account.NewAuthenticator(tokens, store, memory, clock.Now),
		Observer: account.Observer{
			Login: func(r string) { events.add("login." + r) }, Code: func(e string) { events.add("code." + e) },
			Reused: func() { events.add("reused") },
		},
	}}
	h.Devices.SetKey(keys.Token.Derive("a test's devices"))
	h.SyncRevocations(t)
	return h
}

// SyncRevocations makes the authenticator read new revocations.
func (e *Env) SyncRevocations(t testing.TB) {
	t.Helper()
	testenv.NoError(t, e.Authenticator.SyncRevocations(t.Context()))
}

// Caller returns the client of test requests.
func Caller() account.Caller {
	return account.Caller{Address: "192.0.2.7", Network: "192.0.2.7", Device: "a test", Locale: "en"}
}

// CreateMember registers a member and verifies the e-mail address.
func (e *Env) CreateMember(t testing.TB, email string) account.User {
	t.Helper()
	u := testenv.Must(e.Register(t.Context(), account.Registration{
		Profile: account.Profile{Email: email}, Password: Password,
	}, Caller()))(t)
	testenv.NoError(t, e.VerifyEmail(t.Context(), email, e.Code(t, email), Caller()))
	return u
}

// CreateStaff creates a staff account with a role.
func (e *Env) CreateStaff(t testing.TB, email, role string) account.User {
	t.Helper()
	u := e.CreateMember(t, email)
	e.SetRole(t, u.ID, role)
	return u
}

// SetRole changes an account's role and nothing else.
func (e *Env) SetRole(t testing.TB, user int64, role string) {
	t.Helper()
	testenv.Must(e.DB.Exec(t.Context(), roleOf, user, role))(t)
}

// Number returns the single number that a query selects.
func (e *Env) Number(t testing.TB, q *sqldb.Stmt, args ...any) int64 {
	t.Helper()
	return testenv.Must(sqldb.Scalar[int64](t.Context(), e.DB, q, args...))(t)
}

// SetStatus changes an account's status and nothing else.
func (e *Env) SetStatus(t testing.TB, user int64, s account.Status) {
	t.Helper()
	testenv.Must(e.DB.Exec(t.Context(), statusSet, user, string(s)))(t)
}

// MustLogin logs an account in.
func (e *Env) MustLogin(t testing.TB, email string) account.IssuedTokens {
	t.Helper()
	return testenv.Must(e.Login(t.Context(), account.Credentials{Email: email, Password: Password}, Caller()))(t)
}

// Authenticate returns the error of authenticating an access token.
func (e *Env) Authenticate(ctx context.Context, access string) error {
	_, err := e.Authenticator.Authenticate(ctx, access)
	return err
}

// Emails returns the e-mails queued to an address, oldest first.
func (e *Env) Emails(t testing.TB, email string) []account.Email {
	t.Helper()
	return testenv.Must(sqldb.Collect(t.Context(), e.DB, func(r sqldb.Rows) (l account.Email, err error) {
		var fields string
		var expires int64
		if err = r.Scan(&l.Template, &l.Locale, &fields, &expires); err == nil {
			err = json.Unmarshal([]byte(fields), &l.Fields)
		}
		l.To, l.Expires = email, time.UnixMilli(expires).UTC()
		return l, err
	}, mailSelect, email))(t)
}

// Code returns the code that was sent to an address last.
func (e *Env) Code(t testing.TB, email string) string {
	t.Helper()
	for _, l := range slices.Backward(e.Emails(t, email)) {
		if l.Fields[account.FieldCode] != "" {
			open := testenv.Must(e.Keys.DecryptFields(l.Fields))(t)
			return open[account.FieldCode]
		}
	}
	t.Fatalf("no code was sent to %s", email)
	return ""
}

// ByID authenticates the account whose id is the token, and authorizes every route.
type ByID struct{}

// Authenticate implements authzhttp.TokenAuthenticator.
func (ByID) Authenticate(_ context.Context, token string) (authz.Actor, error) {
	id, err := strconv.ParseInt(token, 10, 64)
	if err != nil {
		return authz.Actor{}, authz.ErrInvalidToken
	}
	return authz.Actor{Kind: authz.Account, UserID: id}, nil
}

// Authorize implements authzhttp.RouteAuthorizer.
func (ByID) Authorize(*authz.Actor, int) error { return nil }
