package backoff

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestAfter(t *testing.T) {
	for _, c := range []struct {
		p    Policy
		want []time.Duration // pauses after 0, 1, 2, ... failures
	}{
		{Policy{time.Second, 3, 10 * time.Minute}, []time.Duration{
			time.Second, time.Second, 3 * time.Second, 9 * time.Second, 27 * time.Second, 81 * time.Second,
			243 * time.Second, 10 * time.Minute, 10 * time.Minute,
		}},
		{Policy{15 * time.Second, 2, time.Minute}, []time.Duration{
			15 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, time.Minute,
		}},
		{Policy{time.Minute, 2, time.Second}, []time.Duration{time.Second, time.Second}},
	} {
		for failures, want := range c.want {
			if got := c.p.After(failures); got != want {
				t.Errorf("%+v after %d failures: %v, want %v", c.p, failures, got, want)
			}
		}
	}
}

// A pause is never shorter than the one before it, and never longer than Max, however often the work fails.
func TestAfter_grows_up_to_the_maximum(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := Policy{
			First:  time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(r, "first")),
			Factor: rapid.IntRange(1, 10).Draw(r, "factor"),
			Max:    time.Duration(rapid.Int64Range(1, int64(24*time.Hour)).Draw(r, "max")),
		}
		last := time.Duration(0)
		for failures := range 100 {
			got := p.After(failures)
			if got < last || got <= 0 || got > p.Max {
				r.Fatalf("after %d failures %v, before that %v", failures, got, last)
			}
			last = got
		}
	})
}
