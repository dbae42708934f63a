package cart

import "sync"

// generationSize is the size of a generation: the cache has up to twice as many carts.
const generationSize = 2048

// cache keeps the carts that this process has read last. They may be outdated (C5). A cart that is not used while a
// generation fills up is dropped. The zero value is ready.
type cache struct {
	mu         sync.Mutex
	young, old map[int64]Cart // by member
}

// put stores a cart unless a newer one is cached.
func (r *cache) put(c Cart) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.find(c.UserID)
	switch {
	case ok && (known.ID > c.ID && c.ID != 0 || known.ID == c.ID && known.Version > c.Version):
	case len(c.Lines) == 0:
		r.drop(c.UserID)
	default:
		r.keep(c)
	}
}

// get returns a member's cached cart.
func (r *cache) get(user int64) (Cart, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.find(user)
	if ok {
		r.keep(c)
	}
	return c, ok
}

func (r *cache) evict(user int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(user)
}

func (r *cache) find(user int64) (Cart, bool) {
	c, ok := r.young[user]
	if !ok {
		c, ok = r.old[user]
	}
	return c, ok
}

func (r *cache) keep(c Cart) {
	if r.young == nil || len(r.young) >= generationSize {
		r.young, r.old = make(map[int64]Cart, generationSize), r.young
	}
	r.young[c.UserID] = c
}

func (r *cache) drop(user int64) {
	delete(r.young, user)
	delete(r.old, user)
}
