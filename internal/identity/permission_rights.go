package identity

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"comanda/internal/fault"
)

// rightsStale is how old what is known of roles and their permissions may be: whoever lost one has lost it everywhere
// within that time.
const rightsStale = 5 * time.Second

var errRightsStale = &fault.Error{
	Kind: fault.Unavailable, Code: "identity_stale", RetryAfter: time.Second,
	Detail: "It cannot be told just now what you may do; ask again.",
}

// ErrForbidden answers an account whose role does not hold the permission for a route.
var ErrForbidden = fault.New(fault.Forbidden, "forbidden", "Your role does not allow this.")

// RouteKey is what a permission and a route have in common.
type RouteKey struct{ Method, Path string }

// Key is the route that the permission is for.
func (p Permission) Key() RouteKey { return RouteKey{p.Method, p.Path} }

// RightsBook tells who holds which permissions, normally identitysql.
type RightsBook interface {
	// RoleVersions gives all roles with their versions, which rise with every change of what they hold.
	RoleVersions(ctx context.Context) (map[int64]int64, error)
	// Granted gives the routes that each role may use.
	Granted(ctx context.Context) (map[int64][]RouteKey, error)
}

// Rights answers for every request whether a role may use a route. What it knows is one bit per role and route, made
// anew when a role has changed: a question costs some nanoseconds and asks nobody.
type Rights struct {
	book  RightsBook
	now   func() time.Time
	index map[RouteKey]int // place of each route in the route table
	size  int              // of the route table

	mu    sync.Mutex // held while reading
	seen  map[int64]int64
	held  atomic.Pointer[map[int64]bits]
	fresh atomic.Int64 // when it was read last, in ms
}

// bits is a set of places in the route table.
type bits []uint64

func (b bits) set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bits) has(i int) bool { return i>>6 < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

// NewRights makes rights that know nothing yet: Follow reads them. places says where in the route table the routes stand
// that ask for a permission.
func NewRights(book RightsBook, now func() time.Time, places map[RouteKey]int) *Rights {
	r := &Rights{book: book, now: now, index: places}
	for _, i := range places {
		r.size = max(r.size, i+1)
	}
	return r
}

// May refuses an actor whose role does not hold the permission for the route at a place of the table. An owner holds
// every one. While nobody knows what roles hold now, nobody is let in.
func (r *Rights) May(a *Actor, route int) error {
	if a.Role == RoleOwner {
		return nil
	}
	held := r.held.Load()
	if held == nil || r.now().UnixMilli()-r.fresh.Load() > rightsStale.Milliseconds() {
		return errRightsStale
	}
	if !(*held)[a.RoleID].has(route) {
		return ErrForbidden
	}
	return nil
}

// Follow looks whether roles have changed, to be run every second and after every change that this process has made.
func (r *Rights) Follow(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.now()
	versions, err := r.book.RoleVersions(ctx) // before the permissions, so that a change in between is seen next time
	if err != nil {
		return err
	}
	if r.held.Load() == nil || !maps.Equal(versions, r.seen) {
		granted, err := r.book.Granted(ctx)
		if err != nil {
			return err
		}
		held := r.compile(granted)
		r.held.Store(&held)
		r.seen = versions
	}
	r.fresh.Store(at.UnixMilli())
	return nil
}

func (r *Rights) compile(granted map[int64][]RouteKey) map[int64]bits {
	held := make(map[int64]bits, len(granted))
	for role, keys := range granted {
		b := make(bits, r.size>>6+1)
		for _, k := range keys {
			if i, ok := r.index[k]; ok {
				b.set(i)
			}
		}
		held[role] = b
	}
	return held
}
