package app

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/account"
	"comanda/internal/account/accountjwt"
	"comanda/internal/account/accountredis"
	"comanda/internal/account/accountsql"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/limit"
	"comanda/internal/telemetry"
)

// accountServices is the account services on their stores.
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

// wireIdentity reads the installation's keys, which the first start creates, and loads the revoked sessions. From then
// on the guard accepts tokens.
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
	authenticator := account.NewAuthenticator(tokens, store, memory, k.DB.Now, func(int64) {})
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
	// Before the first request: a new process must not accept a session that was revoked while it did not run.
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
