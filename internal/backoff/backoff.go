// Package backoff computes how long to wait before work that has failed is tried again.
package backoff

import "time"

// Policy is an exponential backoff. It adds no jitter: worker.Loop does, other callers act on instants that they store.
type Policy struct {
	First  time.Duration // after the first failure
	Factor int           // by which each further failure lengthens the pause
	Max    time.Duration
}

// After returns the pause after the n-th failure in a row.
func (p Policy) After(failures int) time.Duration {
	d := p.First
	for ; failures > 1 && d < p.Max; failures-- {
		d *= time.Duration(p.Factor)
	}
	return min(d, p.Max)
}
