package sim

import (
	"slices"
	"testing"
)

func TestRecent_keeps_the_newest(t *testing.T) {
	r := NewRecent[string, int](2)
	for i, key := range []string{"a", "b", "b", "c"} {
		if added := r.Add(key, i); added == (i == 2) {
			t.Errorf("%s is new: %t", key, added)
		}
	}
	if got := Values(r, 5, func(v int) int { return v }); !slices.Equal(got, []int{3, 1}) || r.Len() != 2 || r.Get("a") != 0 {
		t.Errorf("%v of %d entries, and the oldest is %d", got, r.Len(), r.Get("a"))
	}
}
