package ordering

import "sync"

// Watches wakes those who look on while orders change. It knows of what this process has changed and of what it is told
// of others: who watches also looks from time to time, and so misses nothing that is not heard here. The zero value is
// ready.
type Watches struct {
	// Told hears which orders of a branch have changed, after the commit, so that other processes may hear it too. It must
	// not block. It is set before the first change; nil for nobody.
	Told func(branch int64, orders []string)

	mu       sync.Mutex
	orders   watched[string]
	branches watched[int64]
}

// watched is who is woken, by what they look at.
type watched[K comparable] map[K]map[chan struct{}]struct{}

// Watch gives a channel that is written to after each change of an order, and a function that ends the watch. Changes
// that come quickly may share a wake-up.
func (w *Watches) Watch(order string) (wake <-chan struct{}, end func()) {
	return watch(w, &w.orders, order)
}

// WatchBranch is Watch for a branch: any of its orders, and who sits where and calls.
func (w *Watches) WatchBranch(branch int64) (wake <-chan struct{}, end func()) {
	return watch(w, &w.branches, branch)
}

func watch[K comparable](w *Watches, in *watched[K], key K) (wake <-chan struct{}, end func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if *in == nil {
		*in = watched[K]{}
	}
	if (*in)[key] == nil {
		(*in)[key] = map[chan struct{}]struct{}{}
	}
	(*in)[key][c] = struct{}{}
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete((*in)[key], c)
		if len((*in)[key]) == 0 {
			delete(*in, key)
		}
	}
}

// Changed wakes the watchers of orders that this process has changed, and of their branches, and tells of them. It never
// blocks.
func (w *Watches) Changed(results []Result) {
	byBranch := map[int64][]string{}
	for i := range results {
		if o := &results[i].Order; o.ID != "" { // a command that was refused may name none
			byBranch[o.Scope.Branch] = append(byBranch[o.Scope.Branch], o.ID)
		}
	}
	for branch, orders := range byBranch {
		w.Wake(branch, orders...)
		if w.Told != nil {
			w.Told(branch, orders)
		}
	}
}

// Wake wakes the watchers of orders and of their branch, and tells nobody: somebody else has changed them. Without orders
// it wakes those of the branch alone.
func (w *Watches) Wake(branch int64, orders ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range orders {
		w.orders.wake(id)
	}
	w.branches.wake(branch)
}

// WakeAll wakes everybody: nobody knows what has changed meanwhile.
func (w *Watches) WakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.orders {
		w.orders.wake(id)
	}
	for branch := range w.branches {
		w.branches.wake(branch)
	}
}

func (w watched[K]) wake(key K) {
	for c := range w[key] {
		select {
		case c <- struct{}{}:
		default: // it is awake already
		}
	}
}
