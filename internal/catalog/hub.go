package catalog

import (
	"sync"
	"time"
)

// minNotifyInterval is the minimum time between two notifications of a branch for changed levels. It is as long as
// streams poll: under a burst of orders subscribers read no more often than by polling, and after a quiet period a
// change is shown at once.
const minNotifyInterval = 250 * time.Millisecond

// hub holds the subscribers of live menus. The zero value is ready.
type hub struct {
	mu     sync.Mutex
	topics map[int64]*topic
}

// topic is the subscribers of one branch's live menu.
type topic struct {
	subscribers map[chan struct{}]struct{}
	throttled   bool // notified less than minNotifyInterval ago
	pending     bool // changed since that notification
}

// Subscribe returns a channel that receives when a branch's live menu may have changed, and a function that ends the
// subscription. The channel holds at most one notification. Notifications of other processes can be lost, so
// subscribers also poll.
func (l *LiveMenus) Subscribe(branch int64) (changed <-chan struct{}, unsubscribe func()) {
	c := make(chan struct{}, 1)
	h := &l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics == nil {
		h.topics = map[int64]*topic{}
	}
	t := h.topics[branch]
	if t == nil {
		t = &topic{subscribers: map[chan struct{}]struct{}{}}
		h.topics[branch] = t
	}
	t.subscribers[c] = struct{}{}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if delete(t.subscribers, c); len(t.subscribers) == 0 && h.topics[branch] == t {
			delete(h.topics, branch)
		}
	}
}

// LevelsChanged notifies subscribers that the remaining units of a branch may have changed, at most once per
// minNotifyInterval. It never blocks.
func (l *LiveMenus) LevelsChanged(branch int64) {
	h := &l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[branch]
	switch {
	case t == nil: // no subscribers, and the cached menu expires soon by itself
	case t.throttled:
		t.pending = true
	default:
		l.publish(branch, t)
		l.throttle(branch, t)
	}
}

// throttle delays the topic's next notification by minNotifyInterval. The caller holds the lock.
func (l *LiveMenus) throttle(branch int64, t *topic) {
	t.throttled = true
	time.AfterFunc(minNotifyInterval, func() {
		l.hub.mu.Lock()
		defer l.hub.mu.Unlock()
		t.throttled = false
		if t.pending {
			t.pending = false
			l.publish(branch, t)
			l.throttle(branch, t)
		}
	})
}

// MenuChanged notifies subscribers that a branch, its menu or its quotas changed. Readers wait for the new state.
func (l *LiveMenus) MenuChanged(branch int64) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	l.menus.InvalidateLocal(branch)
	if t := l.hub.topics[branch]; t != nil {
		l.publish(branch, t)
		return
	}
	l.cache.invalidate(branch)
}

// AllChanged notifies all subscribers. It is called when notifications of other processes may have been lost.
func (l *LiveMenus) AllChanged() {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	for branch, t := range l.hub.topics {
		l.menus.InvalidateLocal(branch)
		l.publish(branch, t)
	}
}

// publish invalidates the cached menu before it notifies, so that subscribers read the new one. The caller holds the
// lock.
func (l *LiveMenus) publish(branch int64, t *topic) {
	l.cache.invalidate(branch)
	for c := range t.subscribers {
		select {
		case c <- struct{}{}:
		default: // already notified
		}
	}
}
