package cart

import (
	"sync"
	"time"

	"comanda/internal/cache"
)

// maxRecentCarts bounds the carts in memory: a cart with all of its lines has several kilobytes.
const maxRecentCarts = 4096

// recentCarts caches the carts that this process has read last. They may be outdated (C5). The zero value is ready to
// use.
type recentCarts struct {
	mu     sync.Mutex // held while a cart is compared with the one that it replaces
	bound  sync.Once
	byUser cache.Cache[int64, Cart] // see carts
}

// carts returns the cache with its bound.
func (r *recentCarts) carts() *cache.Cache[int64, Cart] {
	r.bound.Do(func() { r.byUser.Max = maxRecentCarts })
	return &r.byUser
}

// put stores a cart unless a newer one is cached.
func (r *recentCarts) put(c Cart) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.get(c.UserID)
	switch {
	// Ids increase, so a higher id belongs to a later cart, created after an order. ID 0 means that there is no cart
	// any more.
	case ok && (known.ID > c.ID && c.ID != 0 || known.ID == c.ID && known.Version > c.Version):
	case len(c.Lines) == 0:
		r.evict(c.UserID)
	default:
		r.carts().Put(c.UserID, c, cache.Forever())
	}
}

// get returns a member's cached cart.
func (r *recentCarts) get(user int64) (Cart, bool) { return r.carts().Get(user, time.Time{}) }

func (r *recentCarts) evict(user int64) { r.carts().Delete(user) }
