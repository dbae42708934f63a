package account

import (
	"context"
	"errors"
	"testing"

	"comanda/internal/testenv"
)

// One holder per key, a bounded number of waiting callers, and no memory left behind.
func TestKeyedMutex(t *testing.T) {
	var m keyedMutex
	unlock := testenv.Must(m.lock(t.Context(), "lan"))(t)
	other, err := m.lock(t.Context(), "minh")
	if err != nil {
		t.Fatalf("another key: %v", err)
	}
	other()

	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	for range HashQueue + 1 { // one too many
		go func() {
			_, err := m.lock(ctx, "lan")
			waiting <- err
		}()
	}
	if err := <-waiting; !errors.Is(err, ErrBusy) {
		t.Errorf("one too many: error %v, want ErrBusy", err)
	}
	cancel()
	for range HashQueue {
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled caller: error %v, want Canceled", err)
		}
	}
	unlock()
	if len(m.entries) != 0 {
		t.Errorf("left behind: %v", m.entries)
	}
}
