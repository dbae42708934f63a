package ordering

import "sync"

// Subscriptions notifies subscribers of changed orders. It receives the changes of this process, and those of other
// processes through Notify; notifications between processes may be lost, so subscribers must also poll. The zero value
// is ready to use. It is safe for concurrent use.
type Subscriptions struct {
	// OnChange is called after the commit with the orders of a branch that this process has changed, to notify other
	// processes. It must not block. Set it before the first change; it may be nil.
	OnChange func(branch int64, orders []string)

	mu       sync.Mutex
	orders   subscribers[string]
	branches subscribers[int64]
}

// subscribers is the channels of the subscribers, by key.
type subscribers[K comparable] map[K]map[chan struct{}]struct{}

// Subscribe returns a channel that receives a value after each change of an order, and a function that ends the
// subscription. Changes in quick succession may share one value.
func (w *Subscriptions) Subscribe(order string) (changed <-chan struct{}, end func()) {
	return subscribe(w, &w.orders, order)
}

// SubscribeBranch is Subscribe for a branch: any of its orders, its visits and its calls for service.
func (w *Subscriptions) SubscribeBranch(branch int64) (changed <-chan struct{}, end func()) {
	return subscribe(w, &w.branches, branch)
}

func subscribe[K comparable](w *Subscriptions, in *subscribers[K], key K) (changed <-chan struct{}, end func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if *in == nil {
		*in = subscribers[K]{}
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

// Changed notifies the subscribers of orders that this process has changed, and of their branches, and calls OnChange. It
// never blocks on subscribers.
func (w *Subscriptions) Changed(results []Result) {
	byBranch := map[int64][]string{}
	for i := range results {
		if o := &results[i].Order; o.ID != "" { // a refused command may have no order
			byBranch[o.Scope.Branch] = append(byBranch[o.Scope.Branch], o.ID)
		}
	}
	for branch, orders := range byBranch {
		w.Notify(branch, orders...)
		if w.OnChange != nil {
			w.OnChange(branch, orders)
		}
	}
}

// Notify notifies the subscribers of orders that another process has changed, and of their branch. It does not call
// OnChange, or processes would notify each other forever. Without orders it notifies only the branch's subscribers.
func (w *Subscriptions) Notify(branch int64, orders ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range orders {
		w.orders.notify(id)
	}
	w.branches.notify(branch)
}

// NotifyAll notifies all subscribers, for when notifications from other processes may have been lost.
func (w *Subscriptions) NotifyAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.orders {
		w.orders.notify(id)
	}
	for branch := range w.branches {
		w.branches.notify(branch)
	}
}

func (w subscribers[K]) notify(key K) {
	for c := range w[key] {
		select {
		case c <- struct{}{}:
		default: // a value is pending already
		}
	}
}
