package visit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"sync"
	"time"

	"comanda/internal/cache"
	"comanda/internal/seq"
	"comanda/internal/text"
)

const (
	cacheTTL  = 5 * time.Second // how long this process may treat a visit as open that another process has closed
	readGrace = 30 * time.Minute

	// BindingValid is how long a binding in Redis is valid before SQL is read again. If someone with write access to
	// Redis restores an old binding of a closed visit, it allows reading no longer than readGrace does, and the ledger
	// checks in SQL that the visit is open.
	BindingValid = readGrace
)

// Bindings caches in Redis which visit a token belongs to; visitredis implements it. It is written after SQL and may
// lose any key at any time. On any failure SQL is read.
type Bindings interface {
	// Bind stores a guest with a TTL, which every Find renews. After the instant until, Find does not return it, nor if the
	// clock was set back and more than BindingValid is left until then.
	Bind(ctx context.Context, token string, g Guest, ttl time.Duration, until time.Time) error
	// Find returns the guest of an open visit and renews its TTL to ttl(branch).
	Find(ctx context.Context, token string, now time.Time, ttl func(branch int64) time.Duration) (
		g Guest, found bool, err error)
	// Unbind removes all guests of visits.
	Unbind(ctx context.Context, visits []string) error
}

// Guests resolves customer tokens and records when visits were last seen. It is safe for concurrent use.
type Guests struct {
	// Seen receives guests of open visits, at most once per cacheTTL and guest. Requests wait for it, so it must return at
	// once. It may be nil, and must not change after the first request.
	Seen func(g Guest, at time.Time)

	store    GuestStore
	bindings Bindings
	branches Branches
	now      func() time.Time

	mu         sync.RWMutex
	cache      cache.Cache[string, Guest] // by the hash of the token
	generation uint64                     // incremented by drop: a guest read before that may be outdated
	seen       map[string]time.Time       // visit id -> last seen, until FlushSeen stores it
}

// NewGuests returns an empty cache.
func NewGuests(store GuestStore, bindings Bindings, branches Branches, now func() time.Time) *Guests {
	return &Guests{
		store: store, bindings: bindings, branches: branches, now: now,
		seen: map[string]time.Time{},
	}
}

// Resolve returns the guest of a token. It fails with ErrToken for an unknown token and ErrClosed for a closed visit.
func (s *Guests) Resolve(ctx context.Context, token string) (Guest, error) {
	g, err := s.find(ctx, token)
	if err == nil && !g.VisitOpen {
		return Guest{}, ErrClosed
	}
	return g, err
}

// ResolveForRead is Resolve for reading orders. It also returns guests whose visit was closed less than readGrace ago
// (V2), with VisitOpen false.
func (s *Guests) ResolveForRead(ctx context.Context, token string) (Guest, error) {
	g, err := s.find(ctx, token)
	if err == nil && !g.VisitOpen && s.now().Sub(g.ClosedAt) > readGrace {
		return Guest{}, ErrClosed
	}
	return g, err
}

// find looks in this process, then in Redis, then in SQL.
func (s *Guests) find(ctx context.Context, token string) (Guest, error) {
	if !wellFormed(token, customerBytes) {
		return Guest{}, ErrToken
	}
	hash := HashToken(token)
	if g, ok := s.cache.Get(hash, s.now()); ok {
		return g, nil
	}
	// The generation is read before both reads: a visit that closes during them must not be cached as open.
	generation := s.closings()
	g, found, err := s.bindings.Find(ctx, token, s.now(), s.bindingTTL(ctx))
	g.TokenHash = hash
	if err != nil || !found {
		if g, err = s.load(ctx, token, hash, generation); err != nil {
			return Guest{}, err
		}
	}
	s.cacheGuest(g, generation)
	return g, nil
}

// load reads SQL and stores the guest in Redis, unless drop was called since generation was read.
func (s *Guests) load(ctx context.Context, token, hash string, generation uint64) (Guest, error) {
	g, found, err := s.store.Guest(ctx, hash)
	if err != nil {
		return Guest{}, err
	}
	if !found {
		return Guest{}, ErrToken
	}
	if g.VisitOpen {
		s.bind(ctx, token, g, s.bindingTTL(ctx)(g.BranchID), generation)
	}
	return g, nil
}

// bindingTTL returns the TTL of a branch's bindings. It is a minute if the branch cannot be read.
func (s *Guests) bindingTTL(ctx context.Context) func(branch int64) time.Duration {
	return func(branch int64) time.Duration {
		b, err := s.branches.Branch(ctx, branch)
		if err != nil {
			return time.Minute
		}
		// Visits are closed after AutoClose without use, so a binding that is unused for that long is not needed any
		// more.
		return b.AutoClose
	}
}

// cacheGuest caches a guest, unless drop was called since generation was read. It also records that the visit was seen.
func (s *Guests) cacheGuest(g Guest, generation uint64) {
	now := s.now()
	if s.Seen != nil && g.VisitOpen {
		s.Seen(g, now)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g.VisitOpen {
		s.seen[g.VisitID] = now
	}
	// The guest may be outdated, so it is not cached. The next request reads it again.
	if s.generation != generation {
		return
	}
	// Guests of closed visits are cached too, so that a phone that keeps asking costs no query each time.
	s.cache.PutFor(g.TokenHash, g, now, cacheTTL)
}

// closings returns the generation for admit. Read it before the transaction that stores the guest.
func (s *Guests) closings() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.generation
}

// admit caches a guest after SQL has stored it, unless drop was called since generation was read: the visit that the
// guest joined may be the one that was closed.
func (s *Guests) admit(ctx context.Context, token string, g Guest, life time.Duration, generation uint64) {
	s.bind(ctx, token, g, life, generation)
	s.cacheGuest(g, generation)
}

// bind stores a guest in Redis, unless drop was called since generation was read. Errors are ignored, because SQL has
// the guest; redisdb counts them.
func (s *Guests) bind(ctx context.Context, token string, g Guest, life time.Duration, generation uint64) {
	if s.closings() != generation {
		return
	}
	_ = s.bindings.Bind(ctx, token, g, life, s.now().Add(BindingValid))
	// A drop during Bind may have removed the visit's guests before Bind wrote this one.
	if s.closings() != generation {
		_ = s.bindings.Unbind(ctx, []string{g.VisitID})
	}
}

// drop removes the guests of closed visits from this process and from Redis.
func (s *Guests) drop(ctx context.Context, visits []string) error {
	if len(visits) == 0 {
		return nil
	}
	closed := seq.Set(visits)
	s.mu.Lock()
	// The generation is incremented before Redis is written, so that a concurrent bind detects the change.
	s.generation++
	s.cache.DeleteFunc(func(g Guest) bool { return closed[g.VisitID] })
	s.mu.Unlock()
	return s.bindings.Unbind(ctx, visits)
}

// FlushSeen stores the last-seen times recorded since the last call. Times that could not be stored are kept for the
// next call. That is one write per interval instead of one per request; other processes see the times with a delay,
// see idleSlack.
func (s *Guests) FlushSeen(ctx context.Context) error {
	s.mu.Lock()
	seen := s.seen
	s.seen = map[string]time.Time{}
	s.mu.Unlock()
	if len(seen) == 0 {
		return nil
	}
	err := s.store.UpdateLastSeen(ctx, seen)
	if err != nil {
		s.mu.Lock()
		for visit, at := range seen {
			if s.seen[visit].Before(at) {
				s.seen[visit] = at
			}
		}
		s.mu.Unlock()
	}
	return err
}

// The sizes of tokens in random bytes.
const (
	// A printed code must have few modules to be read well, and each guess costs a rate-limited request.
	qrBytes       = 16 // 22 characters
	customerBytes = 32 // 43 characters
)

// NewQRToken returns a token to print on a table.
func NewQRToken() string { return random(qrBytes) }

// NewCustomerToken returns a token for one guest's phone.
func NewCustomerToken() string { return random(customerBytes) }

// random returns n random bytes in base64url without padding, which needs no escaping in URLs.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return base64.RawURLEncoding.EncodeToString(b)
}

// HashToken returns the SHA-256 of a customer token in hexadecimal, the only form that SQL stores (V5). A token has
// 256 random bits, so a salt or a slow hash would add no security.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// wellFormed reports whether a text can be a token of n random bytes. Other texts are refused without a query.
func wellFormed(token string, n int) bool {
	return text.IsToken(token, base64.RawURLEncoding.EncodedLen(n))
}
