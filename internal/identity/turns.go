package identity

import (
	"context"
	"sync"
)

// turns lets one at a time through for each subject. What is looked up before something slow and counted after it would
// otherwise be the same for everybody who came at the same time: a hundred guesses at once would be one. The zero value
// is ready; it is safe for concurrent use.
type turns struct {
	mu    sync.Mutex
	lines map[string]*line
}

// line is those who are there for one subject: the one whose turn it is, and those who wait.
type line struct {
	turn chan struct{}
	n    int
}

// take waits for a turn; done ends it. Where HashQueue wait already it gives ErrBusy.
func (t *turns) take(ctx context.Context, subject string) (done func(), err error) {
	l, ok := t.join(subject)
	if !ok {
		return nil, ErrBusy
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		t.leave(subject, l)
		return nil, ctx.Err()
	}
	return func() {
		<-l.turn
		t.leave(subject, l)
	}, nil
}

func (t *turns) join(subject string) (l *line, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l = t.lines[subject]; l == nil {
		l = &line{turn: make(chan struct{}, 1)}
		if t.lines == nil {
			t.lines = map[string]*line{}
		}
		t.lines[subject] = l
	}
	if l.n > HashQueue {
		return nil, false
	}
	l.n++
	return l, true
}

func (t *turns) leave(subject string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.n--; l.n == 0 {
		delete(t.lines, subject)
	}
}
