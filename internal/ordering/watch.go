package ordering

import "sync"

// Watches notifies subscribers of changed orders. It receives the changes of this process, and those of other
// processes through Wake; notifications between processes may be lost, so subscribers must also poll. The zero value
// is ready to use. It is safe for concurrent use.
type Watches struct {
	// Told is called after the commit with the orders of a branch that this process has changed, to notify other
	// processes. It must not block. Set it before the first change; it may be nil.
	Told func(branch int64, orders []string)

	mu       sync.Mutex
	orders   watched[string]
	branches watched[int64]
}

// watched is the channels of the subscribers, by key.
type watched[K comparable] map[K]map[chan struct{}]struct{}

// Watch returns a channel that receives a value after each change of an order, and a function that ends the
// subscription. Changes in quick succession may share one value.
func (w *Watches) Watch(order string) (wake <-chan struct{}, end func()) {
	return watch(w, &w.orders, order)
}

// WatchBranch is Watch for a branch: any of its orders, its visits and its calls for service.
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

// Changed notifies the subscribers of orders that this process has changed, and of their branches, and calls Told. It
// never blocks on subscribers.
func (w *Watches) Changed(results []Result) {
	byBranch := map[int64][]string{}
	for i := range results {
		if o := &results[i].Order; o.ID != "" { // a refused command may have no order
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

// Wake notifies the subscribers of orders that another process has changed, and of their branch. It does not call
// Told, or processes would notify each other forever. Without orders it notifies only the branch's subscribers.
func (w *Watches) Wake(branch int64, orders ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range orders {
		w.orders.wake(id)
	}
	w.branches.wake(branch)
}

// WakeAll notifies all subscribers, for when notifications from other processes may have been lost.
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
		default: // a value is pending already
		}
	}
}
