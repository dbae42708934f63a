package load

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// L4: against the quantile of the sorted values.
func TestHistogram_quantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Exponents are drawn evenly: durations differ by orders of magnitude.
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			limit := int64(1) << rapid.IntRange(1, 36).Draw(t, "bits")
			return time.Duration(rapid.Int64Range(0, limit).Draw(t, "ns"))
		}), 1, 200).Draw(t, "durations")
		q := rapid.Float64Range(0, 1).Draw(t, "q")

		var whole, left, right Histogram
		for i, v := range values {
			whole.Record(v)
			[]*Histogram{&left, &right}[i%2].Record(v)
		}
		left.Merge(&right)
		if !left.all().Equals(whole.all()) || left.max != whole.max {
			t.Fatal("merged halves are not the whole")
		}
		slices.Sort(values)
		rank := max(1, int(math.Ceil(q*float64(len(values)))))
		exact, got := values[rank-1], whole.Quantile(q)
		if got < exact || got > exact+exact/64+time.Microsecond {
			t.Fatalf("quantile %v of %d values is %s, exactly %s", q, len(values), got, exact)
		}
		if whole.Max() != values[len(values)-1] || whole.Quantile(1) != whole.Max() {
			t.Fatalf("max %s and quantile 1 %s, exactly %s", whole.Max(), whole.Quantile(1), values[len(values)-1])
		}
	})
}

func TestHistogram_edges(t *testing.T) {
	var h Histogram
	if h.Quantile(0.99) != 0 {
		t.Error("nothing has quantiles")
	}
	var low Histogram
	low.Record(263 * time.Microsecond) // its bucket begins at 262 µs
	if low.Quantile(0) != 263*time.Microsecond {
		t.Errorf("quantile 0 of one value is %s", low.Quantile(0))
	}
	h.Record(-time.Second)
	h.Record(time.Hour)
	if h.Quantile(0.5) != 0 || h.Quantile(0.99) != time.Hour || h.Count() != 2 {
		t.Errorf("p50 %s, p99 %s, count %d", h.Quantile(0.5), h.Quantile(0.99), h.Count())
	}
}

func BenchmarkHistogram_Record(b *testing.B) {
	var h Histogram
	for i := range b.N {
		h.Record(time.Duration(i) * 37 % (50 * time.Millisecond))
	}
}
