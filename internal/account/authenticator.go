package account

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"comanda/internal/authz"
	"comanda/internal/cache"
	"comanda/internal/fault"
)

const (
	tokenCacheTTL     = time.Minute      // after this time the session is read again
	maxRevocationAge  = 5 * time.Second  // S4
	revocationTTL     = 15 * time.Minute // longer than every access token lives
	revocationOverlap = time.Minute      // longer than a transaction takes from its timestamp to its commit
	lastSeenInterval  = 5 * time.Second  // minimum time between two writes per token
)

// LastSeen is the last activity of a session.
type LastSeen struct {
	Session   string
	At        time.Time
	IdleUntil time.Time
}

// AuthStore is the SQL side of an Authenticator, normally accountsql. Its methods are safe for concurrent use.
type AuthStore interface {
	// ActiveSession returns a live session of an active account.
	ActiveSession(ctx context.Context, session string, now time.Time) (s ActiveSession, found bool, err error)
	// Revocations returns the revocations made since an instant.
	Revocations(ctx context.Context, since time.Time) ([]authz.Revocation, error)
	// SaveLastSeen updates the last activity of sessions.
	SaveLastSeen(ctx context.Context, all []LastSeen) error
}

// ErrRevocationsStale refuses every account while this process cannot read revocations.
var ErrRevocationsStale = &fault.Error{
	Kind: fault.Unavailable, Code: "identity_stale", RetryAfter: time.Second,
	Detail: "Your session cannot be checked right now. Try again in a moment.",
}

// Authenticator resolves access tokens to actors. It caches valid tokens for tokenCacheTTL and reads revocations every
// second; when they are older than maxRevocationAge it refuses every token (S4). It is safe for concurrent use.
type Authenticator struct {
	// Seen receives the activity of accounts, at most once per lastSeenInterval and token. Requests wait for it, so it must
	// return at once. It may be nil, and must not change after the first request.
	Seen func(actor authz.Actor, at time.Time)

	tokens TokenCodec
	store  AuthStore
	cache  SessionCache
	now    func() time.Time

	cached cache.Cache[[sha256.Size]byte, *cachedToken]

	// mu guards the maps and times up to evicted. Every request takes it for reading, so no I/O happens under it.
	mu      sync.RWMutex
	revoked map[string]time.Time // by session id
	users   map[string]time.Time // by user id: sessions that started up to then are invalid
	applied map[string]time.Time // revocations by row id, so that overlapping reads apply none twice
	synced  time.Time            // revocations committed by then are known
	evicted time.Time            // last eviction of expired tokens

	// lastSeenMu is apart from mu, so that recording activity never waits for a batch of revocations, nor the reverse.
	lastSeenMu sync.Mutex
	lastSeen   map[string]LastSeen
}

// cachedToken is a token that was verified.
type cachedToken struct {
	actor   authz.Actor
	user    string // user id in decimal, the key of Authenticator.users
	started time.Time
	seenAt  atomic.Int64 // last activity that was recorded, Unix ms
}

// NewAuthenticator returns an authenticator that refuses every token until SyncRevocations has succeeded.
func NewAuthenticator(tokens TokenCodec, store AuthStore, cache SessionCache, now func() time.Time) *Authenticator {
	return &Authenticator{
		tokens: tokens, store: store, cache: cache, now: now,
		revoked: map[string]time.Time{}, users: map[string]time.Time{}, applied: map[string]time.Time{},
		lastSeen: map[string]LastSeen{},
	}
}

// Authenticate returns the actor of an access token, or authz.ErrInvalidToken or ErrRevocationsStale. It blocks on
// Redis or SQL only for a token that is new to this process or whose cache entry has expired.
func (au *Authenticator) Authenticate(ctx context.Context, bearer string) (authz.Actor, error) {
	if len(bearer) == 0 || len(bearer) > MaxAccessToken {
		return authz.Actor{}, authz.ErrInvalidToken
	}
	// The cache is keyed by digests: they are short, and the process keeps no usable tokens.
	now, key := au.now(), sha256.Sum256([]byte(bearer))
	a, cached := au.cached.Get(key, now)
	au.mu.RLock()
	stale := now.Sub(au.synced) > maxRevocationAge
	dead := cached && au.isRevoked(a)
	au.mu.RUnlock()
	switch {
	case stale:
		return authz.Actor{}, ErrRevocationsStale
	case dead:
		return authz.Actor{}, authz.ErrInvalidToken
	case !cached:
		var err error
		if a, err = au.verify(ctx, bearer, key, now); err != nil {
			return authz.Actor{}, err
		}
	}
	au.recordLastSeen(a, now)
	return a.actor, nil
}

// isRevoked reports whether a cached token was revoked. The caller holds the lock.
func (au *Authenticator) isRevoked(a *cachedToken) bool {
	if _, gone := au.revoked[a.actor.Session]; gone {
		return true
	}
	from, ok := au.users[a.user]
	return ok && !a.started.After(from)
}

// verify checks the signature and the session of a token that is not cached.
func (au *Authenticator) verify(
	ctx context.Context, bearer string, key [sha256.Size]byte, now time.Time,
) (*cachedToken, error) {
	c, err := au.tokens.Parse(bearer, now)
	if err != nil {
		return nil, authz.ErrInvalidToken
	}
	s, err := au.activeSession(ctx, c, now)
	if err != nil {
		return nil, err
	}
	// started is the start of the session, not of the token: a refreshed token of a revoked session must stay refused.
	a := &cachedToken{actor: s.actor(), user: decimal(s.UserID), started: s.StartedAt}
	au.mu.Lock()
	defer au.mu.Unlock()
	if au.isRevoked(a) { // a revocation may have arrived since the session was read
		return nil, authz.ErrInvalidToken
	}
	au.cached.PutFor(key, a, now, min(tokenCacheTTL, c.ExpiresAt.Sub(now)))
	return a, nil
}

// activeSession reads a session from Redis, or from SQL on a miss or error.
func (au *Authenticator) activeSession(ctx context.Context, c Claims, now time.Time) (ActiveSession, error) {
	s, found, barred, err := au.cache.Get(ctx, c.Session, c.ID)
	if err == nil && barred {
		return ActiveSession{}, authz.ErrInvalidToken
	}
	if err == nil && found && s.UserID == c.UserID && now.Before(s.ExpiresAt) {
		return s, nil
	}
	s, found, err = au.store.ActiveSession(ctx, c.Session, now)
	if err != nil {
		return ActiveSession{}, err
	}
	if !found || s.UserID != c.UserID {
		return ActiveSession{}, authz.ErrInvalidToken
	}
	// The hash of the refresh token is unknown here; an empty hash leaves the cached one unchanged.
	_ = au.cache.Put(ctx, s, "") // best effort: a miss is read from SQL
	return s, nil
}

// ClearCache drops all cached tokens. Call it after the signing key has changed.
func (au *Authenticator) ClearCache() { au.cached.Clear() }

// Revoke applies revocations to this process at once. They must be committed in SQL already.
func (au *Authenticator) Revoke(all ...authz.Revocation) {
	au.mu.Lock()
	defer au.mu.Unlock()
	au.apply(all)
}

// apply stores revocations. Those of roles are left to package authz, which reads the version of every role. The caller
// holds the lock.
func (au *Authenticator) apply(all []authz.Revocation) {
	for _, r := range all {
		if _, known := au.applied[r.ID]; known && r.ID != "" {
			continue
		}
		if r.ID != "" {
			au.applied[r.ID] = r.At
		}
		switch r.Kind {
		case authz.RevokeSession:
			au.revoked[r.Subject] = r.At
		case authz.RevokeUser:
			if r.At.After(au.users[r.Subject]) {
				au.users[r.Subject] = r.At
			}
		}
	}
}

// SyncRevocations reads the revocations that any process committed since the last call. Run it every second.
func (au *Authenticator) SyncRevocations(ctx context.Context) error {
	begun := au.now()
	au.mu.RLock()
	synced := au.synced
	au.mu.RUnlock()
	since := begun.Add(-revocationTTL)
	if after := synced.Add(-revocationOverlap); after.After(since) {
		since = after
	}
	// No lock is held during the query: a slow database must not delay requests. It only lets the revocations get
	// older.
	all, err := au.store.Revocations(ctx, since)
	if err != nil {
		return err
	}
	au.mu.Lock()
	defer au.mu.Unlock()
	au.apply(all)
	au.evict(begun)
	// The begin of the query counts, not its end: what commits during it may be missing from the result.
	au.synced = begun
	return nil
}

// evict removes revocations that are older than any valid token, and expired cached tokens. The caller holds mu.
func (au *Authenticator) evict(now time.Time) {
	old := now.Add(-revocationTTL - revocationOverlap)
	for _, m := range []map[string]time.Time{au.revoked, au.users, au.applied} {
		for id, at := range m {
			if at.Before(old) {
				delete(m, id)
			}
		}
	}
	if now.Sub(au.evicted) >= tokenCacheTTL {
		au.evicted = now
		au.cached.DeleteExpired(now)
	}
}

// recordLastSeen records the activity of a session, at most once per lastSeenInterval and token.
func (au *Authenticator) recordLastSeen(a *cachedToken, now time.Time) {
	last := a.seenAt.Load()
	// Of concurrent requests with one token the CompareAndSwap lets one through; the others skip the lock.
	if now.UnixMilli()-last < lastSeenInterval.Milliseconds() || !a.seenAt.CompareAndSwap(last, now.UnixMilli()) {
		return
	}
	if au.Seen != nil {
		au.Seen(a.actor, now)
	}
	idle, _ := SessionLifetimes(a.actor.Role)
	au.lastSeenMu.Lock()
	defer au.lastSeenMu.Unlock()
	au.lastSeen[a.actor.Session] = LastSeen{a.actor.Session, now, now.Add(idle)}
}

// FlushLastSeen writes the activity recorded since the last call. If the write fails it is kept for the next call.
func (au *Authenticator) FlushLastSeen(ctx context.Context) error {
	au.lastSeenMu.Lock()
	seen := au.lastSeen
	au.lastSeen = map[string]LastSeen{}
	au.lastSeenMu.Unlock()
	if len(seen) == 0 {
		return nil
	}
	err := au.store.SaveLastSeen(ctx, slices.Collect(maps.Values(seen)))
	if err != nil {
		au.lastSeenMu.Lock()
		defer au.lastSeenMu.Unlock()
		for id, s := range seen {
			// A request may have recorded newer activity during the write, which must not be overwritten.
			if au.lastSeen[id].At.Before(s.At) {
				au.lastSeen[id] = s
			}
		}
	}
	return err
}
