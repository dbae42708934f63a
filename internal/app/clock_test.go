package app

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"comanda/internal/clock"
	"comanda/internal/worker"
)

// While the time is in doubt nothing expires, and requests wait for a moment and then continue.
func TestClock_in_doubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.Of(func(context.Context) (time.Time, error) { return time.Now(), nil })
		rounds := 0
		l := whenReliable(c, worker.Loop{Name: "sweeper", Run: func(context.Context) error { rounds++; return nil }})
		waits := func(want time.Duration) {
			t.Helper()
			begun := time.Now()
			awaitClock(c)(t.Context())
			if d := time.Since(begun); d != want {
				t.Errorf("a request waited for %v, want %v", d, want)
			}
		}
		run := func(want int) {
			t.Helper()
			if err := l.Run(t.Context()); err != nil || rounds != want {
				t.Errorf("%d rounds, want %d; %v", rounds, want, err)
			}
		}
		run(0)
		waits(clockWait)
		go func() {
			time.Sleep(clockWait / 10)
			if err := c.Measure(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		waits(clockWait / 10)
		run(1)
	})
}
