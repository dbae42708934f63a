package catalogtest

import "testing"

func TestShelf(t *testing.T) {
	s := NewShelf()
	s.Put(Branch(), Content(5, map[int64]int64{11: 20}, Item(11, 65000)))
	Source(t, s)
}
