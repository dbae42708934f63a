package document

import (
	"fmt"
	"sync"
	"testing"
)

// KeySet has no false positives: every key that it reports was added. A key that it has forgotten is only read again.
func TestKeySet(t *testing.T) {
	s := NewKeySet(4)
	s.Add([]string{"a", "b"}, nil)
	s.Add([]string{"set"}, []int{2})
	s.Add([]string{"set"}, []int{3})
	s.Add([]string{"c", "d"}, nil) // too many
	for key, want := range map[string]int{"a": 0, "b": 0, "set": 5} {
		if n, ok := s.Has(key); !ok || n != want {
			t.Errorf("Has(%s) = %d, %v, want %d", key, n, ok, want)
		}
	}
	if _, ok := s.Has("c"); ok {
		t.Error("c is remembered")
	}
}

// A large set has every key with its members, and none that was not added.
func TestKeySet_large(t *testing.T) {
	const n = 200_000
	s := NewKeySet(2 * n)
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := part; i < n; i += 4 {
				s.Add([]string{fmt.Sprint("document:", i)}, nil)
				s.Add([]string{fmt.Sprint("set:", i/2)}, []int{i % 2 * 3}) // twice each, with 3 members in all
			}
		})
	}
	wg.Wait()
	for i := range n {
		if members, ok := s.Has(fmt.Sprint("document:", i)); !ok || members != 0 {
			t.Fatalf("document %d: %d members, %v", i, members, ok)
		}
		if members, ok := s.Has(fmt.Sprint("set:", i/2)); !ok || members != 3 {
			t.Fatalf("set %d: %d members, %v", i/2, members, ok)
		}
		if _, ok := s.Has(fmt.Sprint("other:", i)); ok {
			t.Fatalf("key %d was not added", i)
		}
	}
}
