package account

import (
	"context"
	"sync"
)

// keyedMutex is one mutex per key. It serializes check, slow work and count for each subject: without it, a hundred
// concurrent guesses would pass a check that allows one. The zero value is ready to use. It is safe for concurrent
// use.
type keyedMutex struct {
	mu      sync.Mutex
	entries map[string]*keyedLock
}

// keyedLock is the lock of one key: its holder and the callers that wait.
type keyedLock struct {
	held  chan struct{} // buffered, capacity 1: full while locked
	users int           // holder and waiting callers
}

// lock waits for the key's lock and returns the function that unlocks it. It returns ErrBusy if HashQueue callers wait
// already.
func (t *keyedMutex) lock(ctx context.Context, subject string) (done func(), err error) {
	l, ok := t.acquire(subject)
	if !ok {
		return nil, ErrBusy
	}
	select {
	// A channel instead of a sync.Mutex, because a wait must end when the client disconnects.
	case l.held <- struct{}{}:
	case <-ctx.Done():
		t.release(subject, l)
		return nil, ctx.Err()
	}
	return func() {
		<-l.held
		t.release(subject, l)
	}, nil
}

// acquire registers the caller as a user of the key's lock, which keeps the entry in the map. It returns false if the
// queue is full: without a bound an attacker who guesses at one name could tie up every request slot of the server.
func (t *keyedMutex) acquire(subject string) (l *keyedLock, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l = t.entries[subject]; l == nil {
		l = &keyedLock{held: make(chan struct{}, 1)}
		if t.entries == nil {
			t.entries = map[string]*keyedLock{}
		}
		t.entries[subject] = l
	}
	// The holder is a user too, so HashQueue waiting callers and one holder fit.
	if l.users > HashQueue {
		return nil, false
	}
	l.users++
	return l, true
}

// release removes the entry with its last user, so that the map does not keep every name that was ever guessed at.
func (t *keyedMutex) release(subject string, l *keyedLock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(t.entries, subject)
	}
}
