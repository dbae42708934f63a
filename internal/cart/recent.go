package cart

import "sync"

// generation is how many carts are remembered at least, once there are so many, and twice as many at most.
const generation = 2048

// recent remembers the carts that this process has seen last, which may have changed since: who goes by one asks the
// ledger whether it is still so. What was not looked at for a generation is forgotten. The zero value is ready.
type recent struct {
	mu         sync.Mutex
	young, old map[int64]Cart // by member
}

// see remembers a cart, unless a newer one is known.
func (r *recent) see(c Cart) {
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

// recall gives a member's cart as it was last seen here.
func (r *recent) recall(user int64) (Cart, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.find(user)
	if ok {
		r.keep(c)
	}
	return c, ok
}

func (r *recent) forget(user int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(user)
}

func (r *recent) find(user int64) (Cart, bool) {
	c, ok := r.young[user]
	if !ok {
		c, ok = r.old[user]
	}
	return c, ok
}

func (r *recent) keep(c Cart) {
	if r.young == nil || len(r.young) >= generation {
		r.young, r.old = make(map[int64]Cart, generation), r.young
	}
	r.young[c.UserID] = c
}

func (r *recent) drop(user int64) {
	delete(r.young, user)
	delete(r.old, user)
}
