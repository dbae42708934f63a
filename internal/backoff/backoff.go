// Package backoff computes how long to wait before work that has failed is tried again.
package backoff

import "time"

// Policy is an exponential backoff. It adds no jitter: worker.Loop does, other callers act on instants that they store.
// It is pure, so that the pauses which operators see in a table can be computed in a test. Factor 1 is a constant
// pause.
type Policy struct {
	First  time.Duration // after the first failure
	Factor int           // by which each further failure lengthens the pause
	Max    time.Duration
}

// After returns the pause after the n-th failure in a row. It never exceeds Max. Zero failures count as one, so a
// caller that has counted none yet still pauses.
func (p Policy) After(failures int) time.Duration {
	d := p.First
	// The loop ends at Max, so a count of thousands neither overflows the duration nor costs time.
	for ; failures > 1 && d < p.Max; failures-- {
		d *= time.Duration(p.Factor)
	}
	return min(d, p.Max)
}
