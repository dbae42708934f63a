package authz

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"comanda/internal/fault"
)

// maxGrantAge is the maximum age of the grants in memory. A revoked permission is thus lost in every process within
// that time.
const maxGrantAge = 5 * time.Second

// errGrantsStale refuses requests while SQL cannot confirm the permissions: a revoked permission must not work again
// because the database is down.
var errGrantsStale = &fault.Error{
	Kind: fault.Unavailable, Code: "identity_stale", RetryAfter: time.Second,
	Detail: "Your permissions cannot be checked right now. Try again in a moment.",
}

// ErrForbidden refuses an account whose role lacks the permission for a route.
var ErrForbidden = fault.New(fault.Forbidden, "forbidden", "Your role does not allow this.")

// RouteKey identifies a route, and the permission for it.
type RouteKey struct{ Method, Path string }

// Key returns the route of the permission.
func (p Permission) Key() RouteKey { return RouteKey{p.Method, p.Path} }

// GrantStore reads the permissions of roles, normally authzsql.
type GrantStore interface {
	// RoleVersions returns the version of every role. It rises with every change of the role's permissions.
	RoleVersions(ctx context.Context) (map[int64]int64, error)
	// Grants returns the routes that each role may use.
	Grants(ctx context.Context) (map[int64][]RouteKey, error)
}

// Authorizer decides for every request whether a role may use a route. It holds one bit per role and route and rebuilds
// them when a role has changed, so that a decision costs nanoseconds and no I/O. It is safe for concurrent use.
type Authorizer struct {
	store GrantStore
	now   func() time.Time
	index map[RouteKey]int // position of each route in the route table
	size  int              // number of routes

	mu       sync.Mutex // held while refreshing
	versions map[int64]int64
	held     atomic.Pointer[map[int64]bits]
	fresh    atomic.Int64 // time of the last refresh, Unix ms
}

// bits is a set of positions in the route table.
type bits []uint64

func (b bits) set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bits) has(i int) bool { return i>>6 < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

// NewAuthorizer returns an authorizer that refuses everyone but owners until Refresh has succeeded. places are the
// positions in the route table of the routes that require a permission.
func NewAuthorizer(store GrantStore, now func() time.Time, places map[RouteKey]int) *Authorizer {
	r := &Authorizer{store: store, now: now, index: places}
	for _, i := range places {
		r.size = max(r.size, i+1)
	}
	return r
}

// Authorize returns ErrForbidden if the actor's role lacks the permission for the route at a position of the route
// table. Owners have every permission. While the grants are older than maxGrantAge it refuses everyone else.
func (r *Authorizer) Authorize(a *Actor, route int) error {
	if a.Role == RoleOwner {
		return nil
	}
	// The map is replaced as a whole and never changed, so Authorize reads it without a lock.
	held := r.held.Load()
	if held == nil || r.now().UnixMilli()-r.fresh.Load() > maxGrantAge.Milliseconds() {
		return errGrantsStale
	}
	if !(*held)[a.RoleID].has(route) {
		return ErrForbidden
	}
	return nil
}

// Refresh reloads the grants if a role has changed. Run it every second and after every change by this process.
func (r *Authorizer) Refresh(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	// The time is taken before the reads, so that the grants are at least as new as fresh.
	at := r.now()
	versions, err := r.store.RoleVersions(ctx) // read before the grants, so that the next call detects a change in between
	if err != nil {
		return err
	}
	if r.held.Load() == nil || !maps.Equal(versions, r.versions) {
		granted, err := r.store.Grants(ctx)
		if err != nil {
			return err
		}
		held := r.compile(granted)
		r.held.Store(&held)
		r.versions = versions
	}
	r.fresh.Store(at.UnixMilli())
	return nil
}

// compile converts grants to sets of positions. An unknown role has no set, and an empty set has no permission.
func (r *Authorizer) compile(granted map[int64][]RouteKey) map[int64]bits {
	held := make(map[int64]bits, len(granted))
	for role, keys := range granted {
		b := make(bits, r.size>>6+1)
		for _, k := range keys {
			// A permission whose route this release lacks belongs to another release, see authzsql.SyncPermissions.
			if i, ok := r.index[k]; ok {
				b.set(i)
			}
		}
		held[role] = b
	}
	return held
}
