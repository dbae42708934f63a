package catalog

import (
	"sync"
	"time"
)

// boardRest is how long who looks at a branch's board is left alone after they were woken because something else is left:
// under a storm of orders streams are woken as often as they would look, and after a pause at once.
const boardRest = 250 * time.Millisecond

// wakes is what wakes those who look on while boards change. The zero value is ready.
type wakes struct {
	mu sync.Mutex
	of map[int64]*onlookers
}

// onlookers are who looks at a branch's board.
type onlookers struct {
	all     map[chan struct{}]struct{}
	resting bool // woken a moment ago
	again   bool // and something has changed since
}

// Watch gives a channel that is written to when the board of a branch may be another one, and a function that ends the
// watch. It hears of what this process changes and is told of others: who watches also looks from time to time.
func (b *Boards) Watch(branch int64) (wake <-chan struct{}, end func()) {
	c := make(chan struct{}, 1)
	w := &b.wakes
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[int64]*onlookers{}
	}
	o := w.of[branch]
	if o == nil {
		o = &onlookers{all: map[chan struct{}]struct{}{}}
		w.of[branch] = o
	}
	o.all[c] = struct{}{}
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(o.all, c); len(o.all) == 0 && w.of[branch] == o {
			delete(w.of, branch)
		}
	}
}

// Changed says that something else may be left of what a branch sells. Who watches is woken at once, or a moment later if
// they were woken a moment ago. It never blocks.
func (b *Boards) Changed(branch int64) {
	w := &b.wakes
	w.mu.Lock()
	defer w.mu.Unlock()
	o := w.of[branch]
	switch {
	case o == nil: // nobody looks on, and what is kept is soon too old by itself
	case o.resting:
		o.again = true
	default:
		b.wake(branch, o)
		b.rest(branch, o)
	}
}

// rest leaves onlookers alone for a while. The lock is held.
func (b *Boards) rest(branch int64, o *onlookers) {
	o.resting = true
	time.AfterFunc(boardRest, func() {
		b.wakes.mu.Lock()
		defer b.wakes.mu.Unlock()
		o.resting = false
		if o.again {
			o.again = false
			b.wake(branch, o)
			b.rest(branch, o)
		}
	})
}

// Renewed says that a branch's menu, its quotas or the branch itself has changed: who watches is woken at once, and whoever
// asks waits for what is new.
func (b *Boards) Renewed(branch int64) {
	b.wakes.mu.Lock()
	defer b.wakes.mu.Unlock()
	b.menus.Forget(branch)
	if o := b.wakes.of[branch]; o != nil {
		b.wake(branch, o)
		return
	}
	b.kept.invalidate(branch)
}

// RenewedAll says so of all branches that somebody looks at.
func (b *Boards) RenewedAll() {
	b.wakes.mu.Lock()
	defer b.wakes.mu.Unlock()
	for branch, o := range b.wakes.of {
		b.menus.Forget(branch)
		b.wake(branch, o)
	}
}

// wake has onlookers find a board that was read after now. The lock is held.
func (b *Boards) wake(branch int64, o *onlookers) {
	b.kept.invalidate(branch)
	for c := range o.all {
		select {
		case c <- struct{}{}:
		default: // it is awake already
		}
	}
}
