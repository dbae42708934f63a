package live

import (
	"maps"
	"slices"
	"sync"
)

// Topic notifies subscribers in this process of changes, by key. A notification carries no content: the subscriber
// reads the new state, so that notifications in quick succession can share one. The zero value is ready. It is safe for
// concurrent use. The lock is held only for map accesses and sends that cannot block.
type Topic[K comparable] struct {
	mu          sync.Mutex
	subscribers map[K]map[chan struct{}]struct{}
}

// Subscribe returns a channel that receives a value after each change of a key, and a function that ends the
// subscription. The channel holds one value, so no change after the last received value is missed and no notifier
// waits. Subscribe before the first read of the state. The channel is never closed: the subscriber leaves its loop by
// its own context. unsubscribe may be called while Notify runs, and more than once.
func (t *Topic[K]) Subscribe(key K) (changed chan struct{}, unsubscribe func()) {
	changed = make(chan struct{}, 1)
	return changed, t.Join(key, changed)
}

// Join subscribes the channel of an earlier Subscribe, which may be of another topic, to a key too. A subscriber that
// shows state of several topics then waits for one channel. leave ends this subscription only.
func (t *Topic[K]) Join(key K, c chan struct{}) (leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.subscribers == nil {
		t.subscribers = map[K]map[chan struct{}]struct{}{}
	}
	if t.subscribers[key] == nil {
		t.subscribers[key] = map[chan struct{}]struct{}{}
	}
	t.subscribers[key][c] = struct{}{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.subscribers[key], c)
		// Without this, the map would keep a key for every order that a guest has ever watched.
		if len(t.subscribers[key]) == 0 {
			delete(t.subscribers, key)
		}
	}
}

// Notify notifies the subscribers of keys. A key without subscribers costs a map access, so callers need not check
// first.
func (t *Topic[K]) Notify(keys ...K) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		for c := range t.subscribers[key] {
			select {
			case c <- struct{}{}:
			default: // a value is pending already
			}
		}
	}
}

// Keys returns the keys that have subscribers. They are in no particular order, and a key may lose its subscribers
// right after.
func (t *Topic[K]) Keys() []K {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.subscribers))
}

// Subscribed reports whether a key has subscribers.
func (t *Topic[K]) Subscribed(key K) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.subscribers[key]) > 0
}
