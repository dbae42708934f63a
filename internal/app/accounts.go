package app

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"comanda/internal/account"
	"comanda/internal/account/accountjwt"
	"comanda/internal/account/accountredis"
	"comanda/internal/account/accountsql"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/limit"
	"comanda/internal/worker"
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
	f := promauto.With(reg)
	logins := f.NewCounterVec(prometheus.CounterOpts{
		Name: "auth_login_total", Help: "Login attempts, by result.",
	}, []string{"result"})
	codes := f.NewCounterVec(prometheus.CounterOpts{
		Name: "otp_total", Help: "One-time codes, by event.",
	}, []string{"event"})
	reused := f.NewCounter(prometheus.CounterOpts{
		Name: "auth_refresh_reuse_total", Help: "Sessions ended because a used refresh token was presented again.",
	})
	for _, r := range account.LoginResults() { // so that an alert finds the series before the first failure
		logins.WithLabelValues(r)
	}
	for _, e := range account.CodeEvents() {
		codes.WithLabelValues(e)
	}
	f.NewCounterFunc(prometheus.CounterOpts{
		Name: "password_hash_total", Help: "Password hashes computed, also for unknown accounts.",
	}, func() float64 { return float64(hasher.Stats().Computed) })
	f.NewCounterFunc(prometheus.CounterOpts{
		Name: "password_hash_rejected_total", Help: "Password hashes refused because the queue was full.",
	}, func() float64 { return float64(hasher.Stats().Refused) })
	return account.Observer{
		Login:  func(result string) { logins.WithLabelValues(result).Inc() },
		Code:   func(event string) { codes.WithLabelValues(event).Inc() },
		Reused: reused.Inc,
	}
}

// authenticationLoops run in every process that serves requests. If the first of them cannot read the revoked sessions
// for five seconds, every access token is refused. The others lose at most their interval when a process is killed:
// times of last use and counts of refusals.
func (k *Core) authenticationLoops() []worker.Loop {
	return []worker.Loop{
		{
			Name: "guard", Run: k.Authenticator.SyncRevocations, Every: time.Second, Timeout: 3 * time.Second,
			MaxPause: time.Second,
		},
		{Name: "sessions", Run: k.Authenticator.FlushLastSeen, Every: 5 * time.Second, Timeout: 10 * time.Second},
		{Name: "incidents", Run: k.writeIncidents, Every: 5 * time.Second, Timeout: 10 * time.Second},
	}
}

// writeIncidents writes refused requests into the audit log.
func (k *Core) writeIncidents(ctx context.Context) error {
	return k.Accounts.Incidents.Flush(ctx, func(ctx context.Context, all ...audit.Entry) error {
		return auditsql.RecordAlone(ctx, k.DB, all...)
	})
}

// accountLoops do work that one process at a time does.
func (k *Core) accountLoops() []worker.Loop {
	return []worker.Loop{whenSettled(k.DB.Clock(), worker.Loop{
		Name: "identity_purge", Every: 5 * time.Minute, Timeout: time.Minute,
		Run: func(ctx context.Context) error { return k.AccountStore.Purge(ctx, k.DB.Now()) },
	})}
}
