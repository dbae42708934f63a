package load

import (
	"math"
	"math/bits"
	"time"
)

// A bucket is a range of microseconds: exact up to 128, then 64 per doubling, up to two minutes. A histogram takes 5
// KB, so every connection has its own and needs no lock.
const (
	precision = 6 // significant bits of a bucket
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

// Record adds one duration; negative ones count as zero.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	h.counts[bucketOf(d)]++
	h.n++
	h.max = max(h.max, d)
}

// bucketOf rounds up to a whole microsecond (L4). Durations beyond the last bucket count in it; the maximum is stored
// separately.
func bucketOf(d time.Duration) int {
	us := uint64(d+time.Microsecond-1) / uint64(time.Microsecond) //nolint:gosec // never negative
	if us < exact {
		return int(us)
	}
	shift := bits.Len64(us) - precision - 1
	return min(shift<<precision+int(us>>shift), buckets-1) //nolint:gosec // below 2^44
}

// upper returns the longest duration of a bucket.
func upper(bucket int) time.Duration {
	us := uint64(bucket) //nolint:gosec // an index
	if bucket >= exact {
		shift := bucket>>precision - 1
		us = uint64(bucket-shift<<precision+1)<<shift - 1 //nolint:gosec // below 2^28
	}
	return time.Duration(us) * time.Microsecond //nolint:gosec // below 2^38
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(other *Histogram) {
	for i, c := range other.counts {
		h.counts[i] += c
	}
	h.n += other.n
	h.max = max(h.max, other.max)
}

// Count returns the number of recorded durations.
func (h *Histogram) Count() int64 { return h.n }

// Max returns the exact longest duration.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns the duration that a share q of all did not exceed (L4); zero if empty.
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
