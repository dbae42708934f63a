package identity

import (
	"context"
	"errors"
	"testing"
)

// One at a time, some wait, and whoever finds too many there is told so at once; nothing stays behind.
func TestKeyedMutex(t *testing.T) {
	var queue keyedMutex
	done, err := queue.lock(t.Context(), "lan")
	if err != nil {
		t.Fatal(err)
	}
	other, err := queue.lock(t.Context(), "minh")
	if err != nil {
		t.Fatalf("somebody else waits for lan: %v", err)
	}
	other()

	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	for range HashQueue + 1 { // of which one finds no place
		go func() {
			_, err := queue.lock(ctx, "lan")
			waiting <- err
		}()
	}
	if err := <-waiting; !errors.Is(err, ErrBusy) {
		t.Errorf("one too many: %v", err)
	}
	cancel()
	for range HashQueue {
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("somebody who gave up: %v", err)
		}
	}
	done()
	if len(queue.entries) != 0 {
		t.Errorf("left behind: %v", queue.entries)
	}
}
