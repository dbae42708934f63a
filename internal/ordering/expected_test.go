package ordering

import (
	"testing"
	"time"
)

func TestCookingTime(t *testing.T) {
	minutes := func(all ...int) (took []time.Duration) {
		for _, m := range all {
			took = append(took, time.Duration(m)*time.Minute)
		}
		return took
	}
	for name, c := range map[string]struct {
		took []time.Duration
		want time.Duration
	}{
		"no orders":             {nil, 0},
		"too few":               {minutes(10, 10, 10, 10), 0},
		"one was forgotten":     {minutes(12, 10, 95, 8, 11), 12 * time.Minute},
		"two of ten took long":  {minutes(5, 6, 7, 8, 9, 10, 11, 12, 30, 40), 12 * time.Minute},
		"four of six took long": {minutes(30, 31, 32, 33, 5, 6), 32 * time.Minute},
	} {
		if got, ok := cookingTime(c.took); got != c.want || ok != (c.want > 0) {
			t.Errorf("%s: %v, %v, want %v", name, got, ok, c.want)
		}
	}
}
