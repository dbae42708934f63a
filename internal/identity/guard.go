package identity

import (
	"context"
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"comanda/internal/fault"
)

const (
	admittedFor    = time.Minute // how long an admission is remembered before the session is looked at again
	admittedMax    = 100_000     // tokens; beyond it everything is forgotten and asked again
	staleAfter     = 5 * time.Second
	revocationLife = 15 * time.Minute // longer than every access token
	followOverlap  = time.Minute      // longer than a transaction takes from its instant to its commit
	seenEvery      = 5 * time.Second
)

// RevocationKind says what a revocation is about.
type RevocationKind string

// The kinds. A revocation of a role ends no session: it tells that the role's permissions have changed.
const (
	RevokeSession RevocationKind = "SESSION"
	RevokeUser    RevocationKind = "USER"
	RevokeRole    RevocationKind = "ROLE"
)

// Revocation makes access tokens invalid that are still running.
type Revocation struct {
	ID      string // of the row; empty for one that this process has made
	Kind    RevocationKind
	Subject string // id of the session, the user, the role
	At      time.Time
}

// Sighting is a sign of life of a session.
type Sighting struct {
	Session   string
	At        time.Time
	IdleUntil time.Time
}

// Ledger is what the guard asks SQL, normally identitysql.
type Ledger interface {
	// Standing gives a session that lives and whose account may be used.
	Standing(ctx context.Context, session string, now time.Time) (s Standing, found bool, err error)
	// Revocations gives those that were made since an instant.
	Revocations(ctx context.Context, since time.Time) ([]Revocation, error)
	// Seen moves the signs of life of sessions.
	Seen(ctx context.Context, all []Sighting) error
}

// ErrStale refuses everybody while it is not known who was logged out.
var ErrStale = &fault.Error{
	Kind: fault.Unavailable, Code: "identity_stale", Detail: "It cannot be told who is logged in at this moment; ask again.",
	RetryAfter: time.Second,
}

// Guard tells who a bearer of an access token is. It remembers whom it has admitted, and hears every second whom it
// must not admit any more; when it has not heard for five seconds it admits nobody. It is safe for concurrent use.
type Guard struct {
	tokens Tokens
	ledger Ledger
	memory Memory
	now    func() time.Time
	onRole func(role int64)

	mu       sync.RWMutex
	admitted map[[sha256.Size]byte]*admission
	revoked  map[string]time.Time // sessions
	users    map[string]time.Time // users -> sessions begun up to then are dead
	heard    map[string]time.Time // rows that were taken in
	synced   time.Time            // everything committed by then is known
	swept    time.Time            // when admissions that ran out were last forgotten

	seenMu sync.Mutex
	seen   map[string]Sighting
}

// admission is a token that was found good.
type admission struct {
	actor Actor
	user  string // its id
	begun time.Time
	until time.Time
	noted atomic.Int64 // last sign of life that was noted, unix ms
}

// NewGuard makes a guard. onRole is called when the permissions of a role have changed somewhere, and with 0 when those
// of every role may have, as at the beginning; nil for nobody.
func NewGuard(tokens Tokens, ledger Ledger, memory Memory, now func() time.Time, onRole func(role int64)) *Guard {
	return &Guard{
		tokens: tokens, ledger: ledger, memory: memory, now: now, onRole: onRole,
		admitted: map[[sha256.Size]byte]*admission{}, revoked: map[string]time.Time{}, users: map[string]time.Time{},
		heard: map[string]time.Time{}, seen: map[string]Sighting{},
	}
}

// Admit gives the actor who bears an access token, or ErrToken, or ErrStale.
func (g *Guard) Admit(ctx context.Context, bearer string) (Actor, error) {
	if len(bearer) == 0 || len(bearer) > MaxAccessToken {
		return Actor{}, ErrToken
	}
	now, key := g.now(), sha256.Sum256([]byte(bearer))
	g.mu.RLock()
	a := g.admitted[key]
	stale := now.Sub(g.synced) > staleAfter
	dead := a != nil && g.dead(a)
	g.mu.RUnlock()
	switch {
	case stale:
		return Actor{}, ErrStale
	case dead:
		return Actor{}, ErrToken
	case a == nil || !now.Before(a.until):
		var err error
		if a, err = g.admit(ctx, bearer, key, now); err != nil {
			return Actor{}, err
		}
	}
	g.note(a, now)
	return a.actor, nil
}

// dead tells whether an admission was revoked. The caller holds the lock.
func (g *Guard) dead(a *admission) bool {
	if _, gone := g.revoked[a.actor.Session]; gone {
		return true
	}
	from, ok := g.users[a.user]
	return ok && !a.begun.After(from)
}

// admit looks at a token that is not remembered: its signature, then its session.
func (g *Guard) admit(ctx context.Context, bearer string, key [sha256.Size]byte, now time.Time) (*admission, error) {
	c, err := g.tokens.Read(bearer, now)
	if err != nil {
		return nil, ErrToken
	}
	s, err := g.standing(ctx, c, now)
	if err != nil {
		return nil, err
	}
	a := &admission{actor: s.actor(), user: decimal(s.UserID), begun: s.BegunAt, until: now.Add(admittedFor)}
	if c.ExpiresAt.Before(a.until) {
		a.until = c.ExpiresAt
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dead(a) { // what was just read may be older than what was heard since
		return nil, ErrToken
	}
	if len(g.admitted) >= admittedMax {
		clear(g.admitted)
	}
	g.admitted[key] = a
	return a, nil
}

// standing asks Redis, then SQL.
func (g *Guard) standing(ctx context.Context, c Claims, now time.Time) (Standing, error) {
	s, found, barred, err := g.memory.Find(ctx, c.Session, c.ID)
	if err == nil && barred {
		return Standing{}, ErrToken
	}
	if err == nil && found && s.UserID == c.UserID && now.Before(s.ExpiresAt) {
		return s, nil
	}
	s, found, err = g.ledger.Standing(ctx, c.Session, now)
	if err != nil {
		return Standing{}, err
	}
	if !found || s.UserID != c.UserID {
		return Standing{}, ErrToken
	}
	_ = g.memory.Keep(ctx, s, "") // only saves work
	return s, nil
}

// Forget drops all admissions: every token is read again. It is called when tokens have another key.
func (g *Guard) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.admitted)
}

// Revoke makes revocations count in this process at once. They must stand in SQL already.
func (g *Guard) Revoke(all ...Revocation) {
	g.mu.Lock()
	roles := g.take(all)
	g.mu.Unlock()
	g.tellRoles(roles)
}

// take enters revocations and gives the roles that changed. The caller holds the lock.
func (g *Guard) take(all []Revocation) (roles []string) {
	for _, r := range all {
		if _, known := g.heard[r.ID]; known && r.ID != "" {
			continue
		}
		if r.ID != "" {
			g.heard[r.ID] = r.At
		}
		switch r.Kind {
		case RevokeSession:
			g.revoked[r.Subject] = r.At
		case RevokeUser:
			if r.At.After(g.users[r.Subject]) {
				g.users[r.Subject] = r.At
			}
		case RevokeRole:
			roles = append(roles, r.Subject)
		}
	}
	return roles
}

func (g *Guard) tellRoles(roles []string) {
	if g.onRole == nil {
		return
	}
	for _, role := range roles {
		id, ok := parseDecimal(role)
		if ok {
			g.onRole(id)
		}
	}
}

// Follow hears what was revoked anywhere since the last call. Run it every second.
func (g *Guard) Follow(ctx context.Context) error {
	begun := g.now()
	g.mu.RLock()
	synced := g.synced
	g.mu.RUnlock()
	since := begun.Add(-revocationLife)
	gap := synced.Before(since) // at the beginning, or after a long outage
	if after := synced.Add(-followOverlap); after.After(since) {
		since = after
	}
	all, err := g.ledger.Revocations(ctx, since)
	if err != nil {
		return err
	}
	g.mu.Lock()
	roles := g.take(all)
	g.forget(begun)
	g.synced = begun
	g.mu.Unlock()
	if gap {
		roles = []string{"0"}
	}
	g.tellRoles(roles)
	return nil
}

// forget drops what no living token needs any more. The caller holds the lock.
func (g *Guard) forget(now time.Time) {
	old := now.Add(-revocationLife - followOverlap)
	for _, m := range []map[string]time.Time{g.revoked, g.users, g.heard} {
		for id, at := range m {
			if at.Before(old) {
				delete(m, id)
			}
		}
	}
	if now.Sub(g.swept) < admittedFor {
		return
	}
	g.swept = now
	for key, a := range g.admitted {
		if !now.Before(a.until) {
			delete(g.admitted, key)
		}
	}
}

// note keeps a sign of life, at most one in five seconds for each token.
func (g *Guard) note(a *admission, now time.Time) {
	last := a.noted.Load()
	if now.UnixMilli()-last < seenEvery.Milliseconds() || !a.noted.CompareAndSwap(last, now.UnixMilli()) {
		return
	}
	idle, _ := Spans(a.actor.Role)
	g.seenMu.Lock()
	defer g.seenMu.Unlock()
	g.seen[a.actor.Session] = Sighting{a.actor.Session, now, now.Add(idle)}
}

// FlushSeen writes the signs of life noted since the last call. What could not be written is kept for the next.
func (g *Guard) FlushSeen(ctx context.Context) error {
	g.seenMu.Lock()
	seen := g.seen
	g.seen = map[string]Sighting{}
	g.seenMu.Unlock()
	if len(seen) == 0 {
		return nil
	}
	all := make([]Sighting, 0, len(seen))
	for _, s := range seen {
		all = append(all, s)
	}
	err := g.ledger.Seen(ctx, all)
	if err != nil {
		g.seenMu.Lock()
		defer g.seenMu.Unlock()
		for id, s := range seen {
			if g.seen[id].At.Before(s.At) {
				g.seen[id] = s
			}
		}
	}
	return err
}
