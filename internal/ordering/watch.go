package ordering

import "sync"

// Watches wakes those who look on while an order changes. It knows of changes in this process only: who watches also
// looks from time to time, and never misses a change that another process has made. The zero value is ready.
type Watches struct {
	mu sync.Mutex
	of map[string]map[chan struct{}]struct{}
}

// Watch gives a channel that is written to after each change of an order, and a function that ends the watch. Changes
// that come quickly may share a wake-up.
func (w *Watches) Watch(order string) (wake <-chan struct{}, end func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[string]map[chan struct{}]struct{}{}
	}
	if w.of[order] == nil {
		w.of[order] = map[chan struct{}]struct{}{}
	}
	w.of[order][c] = struct{}{}
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.of[order], c)
		if len(w.of[order]) == 0 {
			delete(w.of, order)
		}
	}
}

// Changed wakes the watchers of orders. It never blocks.
func (w *Watches) Changed(results []Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.of) == 0 {
		return
	}
	for i := range results {
		for c := range w.of[results[i].Order.ID] {
			select {
			case c <- struct{}{}:
			default: // it is awake already
			}
		}
	}
}
