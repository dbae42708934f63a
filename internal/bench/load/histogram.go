package load

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Two significant digits keep a histogram at 25 KB, so that every connection has its own and needs no lock. The longest
// duration is above that of any measurement (MaxDuration).
const (
	digits  = 2
	longest = time.Hour
)

// Histogram counts durations in microseconds. The zero value is empty. It is not safe for concurrent use.
type Histogram struct {
	counts *hdrhistogram.Histogram // nil while empty
	max    time.Duration
}

// Record adds one duration, rounded up to a microsecond (L4). Negative ones count as zero. Rounding up keeps quantiles
// from being too low. A duration above an hour counts as an hour.
func (h *Histogram) Record(d time.Duration) {
	d = min(max(d, 0), longest)
	_ = h.all().RecordValue(int64((d + time.Microsecond - 1) / time.Microsecond)) // fails only above longest
	h.max = max(h.max, d)
}

// all returns the counts. It creates them when they are first needed, because the zero Histogram must work.
func (h *Histogram) all() *hdrhistogram.Histogram {
	if h.counts == nil {
		h.counts = hdrhistogram.New(1, longest.Microseconds(), digits)
	}
	return h.counts
}

// Merge adds the counts of another histogram. The other one is not changed, but may get its empty counts.
func (h *Histogram) Merge(other *Histogram) {
	h.all().Merge(other.all()) // drops nothing: both have the same range
	h.max = max(h.max, other.max)
}

// Count returns the number of recorded durations.
func (h *Histogram) Count() int64 { return h.all().TotalCount() }

// Max returns the exact longest duration.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns the duration that a share q of all did not exceed (L4); zero if empty. The rank is rounded up here,
// because the library rounds it to the nearest.
func (h *Histogram) Quantile(q float64) time.Duration {
	n := float64(max(1, h.Count()))
	return min(h.max, time.Duration(h.all().ValueAtQuantile(100*math.Ceil(q*n)/n))*time.Microsecond)
}
