package catalogtest

import "testing"

func TestMemorySource(t *testing.T) {
	s := NewMemorySource()
	s.Put(Branch(), Content(5, map[int64]int64{11: 20}, Item(11, 65000)))
	SourceSuite(t, s)
}
