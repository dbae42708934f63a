// Package tagcache caches values that are computed from SQL and read often: reports, counts, searches and public pages.
// The store is Redis, which all processes share, or the memory of one process.
//
// Invariants:
//
//	C1 once Invalidate has returned, no Load that begins later returns a value that was computed before it, in any process
//	C2 at most one process at a time computes a value, unless that takes longer than its lease
//	C3 without its store the cache computes every value; it never fails a request
//	C4 a scope has at most MaxEntries values, and a value MaxValue bytes; more are computed and not stored
//
// C1 follows from the lease. A process that finds no value takes a lease before it computes one. Invalidate deletes the
// leases of the values that it removes, and a value is stored only under the lease of its computation. So a slow
// computation, which may have read rows from before the change, is not stored.
package tagcache

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	mathrand "math/rand/v2"
	"strings"
	"time"

	"comanda/internal/fault"
	"comanda/internal/keyspace"
)

const (
	// MaxEntries is the maximum number of values of one scope. A report has some ten presets and a few hundred spans;
	// anonymous searches could otherwise fill the store.
	MaxEntries = 1000

	// MaxValue is the size in bytes of the largest value that is stored. A year by dish takes some 100 kB.
	MaxValue = 1 << 20

	// ttlSpread is the part of a TTL that is random, so that values stored together do not expire together.
	ttlSpread = 10 // per cent

	waitPoll = 10 * time.Millisecond // interval of reads while another process computes the value
	waitMax  = 5 * time.Second       // then the value is computed here too: its process may have been killed
)

// DateRange is the business dates that a value depends on, both included; empty for all.
type DateRange struct{ From, To string }

// OnlyExpires are the dates of a value that no change of a date invalidates. It is for values that would be outdated
// with every order: they expire within seconds instead.
var OnlyExpires = DateRange{"never", "never"}

// Overlap reports whether two ranges have a date in common. Dates sort as text.
func (d DateRange) Overlap(other DateRange) bool {
	return d == DateRange{} || other == DateRange{} || d.From <= other.To && other.From <= d.To
}

// Entry names a value.
type Entry struct {
	Family *keyspace.CacheFamily
	Kind   Kind
	Scope  int64  // the branch, or 0
	Hash   string // of what was asked for, see NewEntry
	Dates  DateRange
}

// NewEntry returns the name of the value that the parts ask for. They must determine the value: whatever a result
// depends on, such as the language and the caller's branches, is one of them.
func NewEntry(f *keyspace.CacheFamily, kind Kind, scope int64, dates DateRange, parts ...string) Entry {
	text, _ := json.Marshal(append([]string{string(kind), dates.From, dates.To}, parts...)) // texts always marshal
	return Entry{Family: f, Kind: kind, Scope: scope, Hash: keyspace.Secret(string(text)), Dates: dates}
}

// Member returns the entry's name among those of its scope.
func (e Entry) Member() string {
	return strings.Join([]string{string(e.Kind), e.Hash, e.Dates.From, e.Dates.To}, "|")
}

// ParseMember is the inverse of Member; ok is false for a text that is not a name.
func ParseMember(f *keyspace.CacheFamily, scope int64, member string) (e Entry, ok bool) {
	parts := strings.Split(member, "|")
	if len(parts) != 4 {
		return e, false
	}
	return Entry{f, Kind(parts[0]), scope, parts[1], DateRange{parts[2], parts[3]}}, true
}

// Outcome is the result of a lookup.
type Outcome int

// The outcomes.
const (
	Found  Outcome = iota
	Leased         // no value; the caller has the lease and computes one
	Busy           // no value; another process computes it
	Full           // no value, and the scope has MaxEntries
)

// Store keeps values. Its methods are safe for concurrent use. An error means that the store is unavailable.
type Store interface {
	// Lookup returns a value. If there is none, and no other process computes it, the token becomes the holder of its lease.
	Lookup(ctx context.Context, e Entry, token string) (value []byte, o Outcome, err error)
	// Fill stores a value for ttl and ends the lease; stored is false if the token is no longer the lease's holder.
	Fill(ctx context.Context, e Entry, token string, value []byte, ttl time.Duration) (stored bool, err error)
	// Release ends the token's lease, if it has it still.
	Release(ctx context.Context, e Entry, token string) error
	// Invalidate removes the values of a scope that depend on one of the dates, and the leases of those being computed. After
	// an error it has to be repeated.
	Invalidate(ctx context.Context, f *keyspace.CacheFamily, scope int64, dates DateRange) error
}

// Cache reads values from a store or computes them. It is safe for concurrent use.
type Cache struct {
	Store Store
	// Release is part of every name, so that a process never serves what another release has computed: its values may lack
	// fields that clients of this one need. Empty: names do not depend on it.
	Release string
	// Requested counts requests by the entity and the result; it may be nil.
	Requested func(entity string, r Result)
}

// Result is the way in which a request was answered.
type Result string

// The results.
const (
	Hit      Result = "hit"      // from the store
	Filled   Result = "filled"   // computed and stored
	Revoked  Result = "revoked"  // computed and not stored: it was invalidated meanwhile, or the lease ended
	Unstored Result = "unstored" // computed: the store is unavailable or full, or its process takes too long
	Failed   Result = "failed"   // not computed
)

// Load returns a value: from the store, or the result of compute, which is stored for about ttl. An error of compute is
// returned and not stored.
func (c *Cache) Load(
	ctx context.Context, e Entry, ttl time.Duration, compute func(context.Context) ([]byte, error),
) ([]byte, error) {
	value, r, err := c.load(ctx, e, ttl, compute)
	if err != nil {
		r = Failed
	}
	if c.Requested != nil {
		c.Requested(e.Family.String(), r)
	}
	return value, err
}

// load looks a value up, and computes it if the store has none. Each failure of the store ends in computing without storing:
// a cache must not refuse a request.
func (c *Cache) load(
	ctx context.Context, e Entry, ttl time.Duration, compute func(context.Context) ([]byte, error),
) ([]byte, Result, error) {
	if c.Release != "" {
		e.Hash = keyspace.Secret(c.Release + " " + e.Hash)
	}
	// The token is never used twice, so a lease that was revoked is not taken for a newer one of the same process.
	token := rand.Text()
	value, outcome, err := c.Store.Lookup(ctx, e, token)
	if err == nil && outcome == Busy {
		value, outcome, err = c.await(ctx, e, token)
	}
	switch {
	case err == nil && outcome == Found:
		return value, Hit, nil
	case err == nil && outcome == Leased:
		return c.fill(ctx, e, token, ttl, compute)
	}
	value, err = compute(ctx)
	return value, Unstored, err
}

// fill computes a value under a lease and stores it. A failure of the store is not the caller's: it has the value.
func (c *Cache) fill(
	ctx context.Context, e Entry, token string, ttl time.Duration, compute func(context.Context) ([]byte, error),
) ([]byte, Result, error) {
	done := false
	defer func() {
		if !done { // even after a panic, so that others need not wait for the lease to end
			_ = c.Store.Release(context.WithoutCancel(ctx), e, token)
		}
	}()
	value, err := compute(ctx)
	if err != nil || len(value) > MaxValue {
		return value, Unstored, err
	}
	spread := ttl * ttlSpread / 100
	//nolint:gosec // the random part is not a secret
	stored, err := c.Store.Fill(ctx, e, token, value, ttl-spread/2+mathrand.N(max(1, spread)))
	switch done = err == nil; {
	case err != nil:
		return value, Unstored, nil // C3
	case !stored:
		return value, Revoked, nil
	}
	return value, Filled, nil
}

// await looks again until there is a value, a lease, or no more time.
func (c *Cache) await(ctx context.Context, e Entry, token string) ([]byte, Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, waitMax)
	defer cancel()
	tick := time.NewTicker(waitPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, Busy, nil
		case <-tick.C:
		}
		value, outcome, err := c.Store.Lookup(ctx, e, token)
		if err != nil || outcome != Busy {
			return value, outcome, err
		}
	}
}

// Invalidate removes the values that a change of a scope may have made outdated: those that depend on one of the dates.
// Call it after the commit. After an error it has to be repeated; while the store is unavailable nothing is read from it.
func (c *Cache) Invalidate(ctx context.Context, f *keyspace.CacheFamily, scope int64, dates DateRange) error {
	return c.Store.Invalidate(ctx, f, scope, dates)
}

// Value is Cache.Load for a value that is stored as JSON. A nil cache computes every value.
func Value[T any](
	ctx context.Context, c *Cache, e Entry, ttl time.Duration, compute func(context.Context) (T, error),
) (v T, err error) {
	if c == nil {
		return compute(ctx)
	}
	var computed bool
	body, err := c.Load(ctx, e, ttl, func(ctx context.Context) ([]byte, error) {
		if v, err = compute(ctx); err != nil {
			return nil, err
		}
		computed = true
		return json.Marshal(v)
	})
	if err != nil || computed {
		return v, err
	}
	if err := json.Unmarshal(body, &v); err != nil {
		// A value of another build with the same version: it is as good as missing, and expires.
		return compute(ctx)
	}
	return v, nil
}

// errScope reports a programming error: a kind that a family does not declare.
var errScope = errors.New("tagcache: the family has no values of this kind")

// check returns an error for an entry that has no key.
func (e Entry) check() error {
	if !e.Family.Value(e.Kind, e.Scope, e.Hash).Valid() {
		return fault.Wrap(e.Family.String(), errScope)
	}
	return nil
}

// The entities, each with the keys of its values.
var (
	Reports  = keyspace.ReportCache // of a branch
	Orders   = keyspace.OrderCache  // of a branch
	Users    = keyspace.UserCache
	Dishes   = keyspace.DishCache
	Branches = keyspace.BranchCache // public pages of a branch
)

// Kind is the kind of a cached value.
type Kind = keyspace.CacheKind

// The kinds of values.
const (
	Detail = keyspace.CacheDetail
	List   = keyspace.CacheList
	Count  = keyspace.CacheCount
)

// The usual lives of values, by kind.
const (
	DetailLife = keyspace.CacheDetailLife
	ListLife   = keyspace.CacheListLife
	CountLife  = keyspace.CacheCountLife
)
