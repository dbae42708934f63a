package load

import (
	"math"
	"math/bits"
	"time"
)

// A bucket is a range of microseconds: exact up to 128, then 64 to every doubling, up to two minutes. That is 5 KB, so
// that every connection can have its own and none waits for another.
const (
	precision = 6 // bits that a bucket keeps
	exact     = 2 << precision
	doublings = 20
	buckets   = doublings<<precision + exact
)

// Histogram counts durations. The zero value is empty. It is not safe for concurrent use.
type Histogram struct {
	counts [buckets]uint32
	n      int64
	max    time.Duration
}

// Record counts one duration; a negative one counts as zero.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	h.counts[bucketOf(d)]++
	h.n++
	h.max = max(h.max, d)
}

// bucketOf rounds up to a whole microsecond, so that nothing is told faster than it was. What is longer than the last
// bucket counts there; the maximum is kept apart.
func bucketOf(d time.Duration) int {
	us := uint64(d+time.Microsecond-1) / uint64(time.Microsecond) //nolint:gosec // never negative
	if us < exact {
		return int(us)
	}
	shift := bits.Len64(us) - precision - 1
	return min(shift<<precision+int(us>>shift), buckets-1) //nolint:gosec // below 2^44
}

// upper is the longest duration that a bucket counts.
func upper(bucket int) time.Duration {
	us := uint64(bucket) //nolint:gosec // an index
	if bucket >= exact {
		shift := bucket>>precision - 1
		us = uint64(bucket-shift<<precision+1)<<shift - 1 //nolint:gosec // below 2^28
	}
	return time.Duration(us) * time.Microsecond //nolint:gosec // below 2^38
}

// Merge adds what another histogram has counted.
func (h *Histogram) Merge(other *Histogram) {
	for i, c := range other.counts {
		h.counts[i] += c
	}
	h.n += other.n
	h.max = max(h.max, other.max)
}

// Count is how many durations were recorded.
func (h *Histogram) Count() int64 { return h.n }

// Max is the longest duration, exactly.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile is the duration that a share q of all did not exceed (L4); zero of nothing.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := max(1, int64(math.Ceil(q*float64(h.n))))
	var seen int64
	for i, c := range h.counts {
		seen += int64(c)
		if seen >= rank && i < buckets-1 {
			return min(upper(i), h.max)
		}
	}
	return h.max
}
