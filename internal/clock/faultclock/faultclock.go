//go:build faultclock

package faultclock

import (
	"os"
	"strings"
	"sync"
	"time"

	"comanda/internal/clock"
)

// Variable is the environment variable with the path of the file. It is removed from the environment, because the
// server refuses unknown names with its prefix.
const Variable = "COMANDA_FAULTCLOCK_FILE"

// readInterval is how long one read of the file is used: the clock is read many times a millisecond.
const readInterval = 5 * time.Millisecond

func init() { //nolint:gochecknoinits // before the server looks into its environment
	name := os.Getenv(Variable)
	if name == "" {
		return
	}
	_ = os.Unsetenv(Variable) // fails only for invalid names
	f := &file{name: name}
	clock.Shift(f.shift)
}

type file struct {
	name string

	mu   sync.Mutex
	seen clock.Stopwatch
	by   time.Duration
}

// shift returns the current shift of the wall clock. It is called for each reading of the clock, from any goroutine.
func (f *file) shift() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen.Elapsed() < readInterval {
		return f.by
	}
	f.seen = clock.Start()
	text, _ := os.ReadFile(f.name)
	if by, err := time.ParseDuration(strings.TrimSpace(string(text))); err == nil || len(text) == 0 {
		f.by = by // a partial write does not parse, and the next read finds it complete
	}
	return f.by
}
