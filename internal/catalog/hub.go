package catalog

import (
	"sync"
	"time"

	"comanda/internal/live"
)

// minNotifyInterval is the minimum time between two notifications of a branch for changed levels. It is as long as
// streams poll: under a burst of orders subscribers read no more often than by polling, and after a quiet period a
// change is shown at once.
const minNotifyInterval = 250 * time.Millisecond

// hub holds the subscribers of live menus, by branch. The zero value is ready.
type hub struct {
	topic live.Topic[int64]

	mu      sync.Mutex
	pending map[int64]bool // branches notified less than minNotifyInterval ago: whether they have changed since
}

// Subscribe returns a channel that receives when a branch's live menu may have changed, and a function that ends the
// subscription. Notifications of other processes can be lost, so subscribers also poll.
func (l *LiveMenus) Subscribe(branch int64) (changed <-chan struct{}, unsubscribe func()) {
	return l.hub.topic.Subscribe(branch)
}

// LevelsChanged notifies subscribers that the remaining units of a branch may have changed, at most once per
// minNotifyInterval. It never blocks.
func (l *LiveMenus) LevelsChanged(branch int64) {
	if !l.hub.topic.Subscribed(branch) {
		return // the cached menu expires soon by itself
	}
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if _, throttled := l.hub.pending[branch]; throttled {
		l.hub.pending[branch] = true
		return
	}
	l.publish(branch)
	l.throttle(branch)
}

// throttle delays the branch's next notification by minNotifyInterval. The caller holds the lock.
func (l *LiveMenus) throttle(branch int64) {
	h := &l.hub
	if h.pending == nil {
		h.pending = map[int64]bool{}
	}
	h.pending[branch] = false
	// The timer runs on after the last subscriber has left; it then finds no change and ends.
	time.AfterFunc(minNotifyInterval, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.pending[branch] {
			l.publish(branch)
			l.throttle(branch)
			return
		}
		delete(h.pending, branch)
	})
}

// MenuChanged notifies subscribers that a branch, its menu or its quotas changed. Readers wait for the new state.
func (l *LiveMenus) MenuChanged(branch int64) {
	l.menus.InvalidateLocal(branch)
	l.publish(branch)
}

// AllChanged notifies all subscribers. It is called when notifications of other processes may have been lost.
func (l *LiveMenus) AllChanged() {
	for _, branch := range l.hub.topic.Keys() {
		l.MenuChanged(branch)
	}
}

// publish invalidates the cached menu before it notifies, so that subscribers read the new one.
func (l *LiveMenus) publish(branch int64) {
	l.cache.invalidate(branch)
	l.hub.topic.Notify(branch)
}
