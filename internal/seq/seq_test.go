package seq_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/seq"
)

func TestSeq_converts_in_order(t *testing.T) {
	odd := func(n int) bool { return n%2 == 1 }
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"Map", seq.Map([]int{1, 2}, strconv.Itoa), []string{"1", "2"}},
		{"Map of nothing", seq.Map(nil, strconv.Itoa), []string{}},
		{"Filter", seq.Filter([]int{1, 2, 3}, odd), []int{1, 3}},
		{"Filter without matches", seq.Filter([]int{2}, odd), []int(nil)},
		{"Index", seq.Index([]int{1, 2, 3}, odd), map[bool]int{true: 3, false: 2}},
		{"Group", seq.Group([]int{1, 2, 3}, odd), map[bool][]int{true: {1, 3}, false: {2}}},
		{"Set", seq.Set([]int{1, 1, 2}), map[int]bool{1: true, 2: true}},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestTryMap_stops_at_the_first_error(t *testing.T) {
	got, err := seq.TryMap([]string{"1", "x", "y"}, strconv.Atoi)
	if e, ok := errors.AsType[*strconv.NumError](err); !ok || e.Num != "x" || got != nil {
		t.Errorf("TryMap = %v, %v, want nil and the error of x", got, err)
	}
	if got, err := seq.TryMap([]string{"1", "2"}, strconv.Atoi); err != nil || !cmp.Equal(got, []int{1, 2}) {
		t.Errorf("TryMap = %v, %v, want [1 2]", got, err)
	}
}
