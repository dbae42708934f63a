package visit

import (
	"context"
	"sync"
	"time"
)

const (
	rememberFor   = 5 * time.Second // how far this process may be behind a closing elsewhere
	rememberMax   = 100_000         // guests; beyond it everything is forgotten and asked again
	readAfterward = 30 * time.Minute

	// believedFor is how long a copy in Redis counts before SQL is asked again. An old copy that somebody puts back
	// after the visit was closed shows its guest no more than readAfterward does, and a closed visit orders nothing: the
	// ledger asks SQL.
	believedFor = readAfterward
)

// Ledger is what resolving needs of the store, normally visitsql.
type Ledger interface {
	Guest(ctx context.Context, tokenHash string) (g Guest, found bool, err error)
	// Seen moves the sign of life of visits that are still open.
	Seen(ctx context.Context, at map[string]time.Time) error
}

// Bindings remembers in Redis which visit a token belongs to, normally visitredis. It is written after SQL and may
// forget at any moment; whatever fails here, SQL is asked.
type Bindings interface {
	// Bind remembers a guest for life, counted anew at every Find, but has nobody believe it after an instant.
	Bind(ctx context.Context, token string, g Guest, life time.Duration, until time.Time) error
	// Find gives a guest of an open visit; life tells by branch how long the guest is remembered from now on.
	Find(ctx context.Context, token string, now time.Time, life func(branch int64) time.Duration) (
		g Guest, found bool, err error)
	// Unbind forgets all guests of visits.
	Unbind(ctx context.Context, visits []string) error
}

// Guests tells who a customer token belongs to, and notes signs of life. It is safe for concurrent use.
type Guests struct {
	store    Ledger
	bindings Bindings
	branches Branches
	now      func() time.Time

	mu       sync.RWMutex
	byHash   map[string]remembered
	closings uint64               // counts calls of forget: what was read before one may be outdated
	seen     map[string]time.Time // visit -> last sign of life, until it is written
}

type remembered struct {
	guest Guest
	until time.Time
}

// NewGuests makes an empty memory.
func NewGuests(store Ledger, bindings Bindings, branches Branches, now func() time.Time) *Guests {
	return &Guests{
		store: store, bindings: bindings, branches: branches, now: now,
		byHash: map[string]remembered{}, seen: map[string]time.Time{},
	}
}

// Resolve gives the guest of a token whose visit is open; otherwise ErrToken or ErrClosed.
func (s *Guests) Resolve(ctx context.Context, token string) (Guest, error) {
	g, err := s.find(ctx, token)
	if err == nil && !g.VisitOpen {
		return Guest{}, ErrClosed
	}
	return g, err
}

// ResolveForRead is Resolve for looking at what was ordered: it also gives guests whose visit was closed less than 30
// minutes ago (V2), with VisitOpen false.
func (s *Guests) ResolveForRead(ctx context.Context, token string) (Guest, error) {
	g, err := s.find(ctx, token)
	if err == nil && !g.VisitOpen && s.now().Sub(g.ClosedAt) > readAfterward {
		return Guest{}, ErrClosed
	}
	return g, err
}

// find asks this process, then Redis, then SQL.
func (s *Guests) find(ctx context.Context, token string) (Guest, error) {
	if !formed(token, customerBytes) {
		return Guest{}, ErrToken
	}
	hash := Hash(token)
	s.mu.RLock()
	r, ok := s.byHash[hash]
	closings := s.closings
	s.mu.RUnlock()
	if ok && s.now().Before(r.until) {
		return r.guest, nil
	}
	g, found, err := s.bindings.Find(ctx, token, s.now(), s.life(ctx))
	g.TokenHash = hash
	if err != nil || !found {
		if g, err = s.ask(ctx, token, hash); err != nil {
			return Guest{}, err
		}
	}
	s.remember(g, closings)
	return g, nil
}

// ask asks SQL, and lets Redis know the answer.
func (s *Guests) ask(ctx context.Context, token, hash string) (Guest, error) {
	g, found, err := s.store.Guest(ctx, hash)
	if err != nil {
		return Guest{}, err
	}
	if !found {
		return Guest{}, ErrToken
	}
	if g.VisitOpen {
		s.bind(ctx, token, g, s.life(ctx)(g.BranchID))
	}
	return g, nil
}

// life tells how long a branch's guest is remembered; a branch that cannot be read now gets little.
func (s *Guests) life(ctx context.Context) func(branch int64) time.Duration {
	return func(branch int64) time.Duration {
		b, err := s.branches.Branch(ctx, branch)
		if err != nil {
			return time.Minute
		}
		return b.AutoClose
	}
}

// remember keeps what was read, unless a visit was closed here since closings was counted.
func (s *Guests) remember(g Guest, closings uint64) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if g.VisitOpen {
		s.seen[g.VisitID] = now
	}
	if s.closings != closings {
		return
	}
	if len(s.byHash) >= rememberMax {
		clear(s.byHash)
	}
	s.byHash[g.TokenHash] = remembered{g, now.Add(rememberFor)}
}

// welcome notes a guest who has just been let in, after SQL has.
func (s *Guests) welcome(ctx context.Context, token string, g Guest, life time.Duration) {
	s.mu.RLock()
	closings := s.closings
	s.mu.RUnlock()
	s.bind(ctx, token, g, life)
	s.remember(g, closings)
}

// bind lets Redis know a guest of an open visit, which only saves work. What fails is counted there.
func (s *Guests) bind(ctx context.Context, token string, g Guest, life time.Duration) {
	_ = s.bindings.Bind(ctx, token, g, life, s.now().Add(believedFor))
}

// forget drops the guests of visits that were closed, here and in Redis.
func (s *Guests) forget(ctx context.Context, visits []string) error {
	if len(visits) == 0 {
		return nil
	}
	closed := make(map[string]bool, len(visits))
	for _, v := range visits {
		closed[v] = true
	}
	s.mu.Lock()
	s.closings++
	for hash, r := range s.byHash {
		if closed[r.guest.VisitID] {
			delete(s.byHash, hash)
		}
	}
	s.mu.Unlock()
	return s.bindings.Unbind(ctx, visits)
}

// FlushSeen writes the signs of life noted since the last call. What could not be written is kept for the next.
func (s *Guests) FlushSeen(ctx context.Context) error {
	s.mu.Lock()
	seen := s.seen
	s.seen = map[string]time.Time{}
	s.mu.Unlock()
	if len(seen) == 0 {
		return nil
	}
	err := s.store.Seen(ctx, seen)
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
