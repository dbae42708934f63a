package account

import (
	"context"
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
	testenv.ErrorIs(t, ErrBusy, <-waiting, "one too many")
	cancel()
	for range HashQueue {
		testenv.ErrorIs(t, context.Canceled, <-waiting, "a cancelled caller")
	}
	unlock()
	if len(m.entries) != 0 {
		t.Errorf("left behind: %v", m.entries)
	}
}
