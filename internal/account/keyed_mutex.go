package account

import (
	"context"
	"sync"
)

// keyedMutex is one mutex per key. It serializes sequences of check, slow work and count per subject: without it a
// hundred concurrent guesses would pass a check that allows one. The zero value is ready to use; it is safe for
// concurrent use.
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
	if l.users > HashQueue {
		return nil, false
	}
	l.users++
	return l, true
}

func (t *keyedMutex) release(subject string, l *keyedLock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(t.entries, subject)
	}
}
