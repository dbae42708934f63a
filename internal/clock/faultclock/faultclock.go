//go:build faultclock

package faultclock

import (
	"os"
	"strings"
	"sync"
	"time"

	"comanda/internal/clock"
)

// Variable names the file. It is taken out of the environment, where the server refuses what it does not know.
const Variable = "COMANDA_FAULTCLOCK_FILE"

// look is how long a reading of the file is good for: the clock is asked many times a millisecond.
const look = 5 * time.Millisecond

func init() { //nolint:gochecknoinits // before the server looks into its environment
	name := os.Getenv(Variable)
	if name == "" {
		return
	}
	_ = os.Unsetenv(Variable) // fails only for names that no variable can have
	f := &file{name: name}
	clock.Shift(f.shift)
}

type file struct {
	name string

	mu   sync.Mutex
	seen clock.Stopwatch
	by   time.Duration
}

func (f *file) shift() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen.Elapsed() < look {
		return f.by
	}
	f.seen = clock.Start()
	text, _ := os.ReadFile(f.name)
	if by, err := time.ParseDuration(strings.TrimSpace(string(text))); err == nil || len(text) == 0 {
		f.by = by // half of a write is no span, and the next look finds the whole
	}
	return f.by
}
