package sim

import (
	"iter"
	"slices"
)

// Recent is a map that keeps its newest entries, so that a simulator that runs for weeks has bounded memory. It is not
// safe for concurrent use. The age of an entry counts from the addition of its key; reading or adding the key again
// does not change it.
type Recent[K comparable, V any] struct {
	keep    int
	keys    []K // oldest first
	entries map[K]V
}

// NewRecent returns an empty map of at most keep entries; 0 means DefaultKeep.
func NewRecent[K comparable, V any](keep int) *Recent[K, V] {
	if keep <= 0 {
		keep = DefaultKeep
	}
	return &Recent[K, V]{keep: keep, entries: map[K]V{}}
}

// Add adds an entry and drops the oldest beyond the limit. It reports whether the key is new; an old one is unchanged.
func (r *Recent[K, V]) Add(key K, v V) bool {
	if _, found := r.entries[key]; found {
		return false
	}
	r.keys, r.entries[key] = append(r.keys, key), v
	if len(r.keys) > r.keep {
		delete(r.entries, r.keys[0])
		// A later append copies the array, so the dropped keys do not stay in memory.
		r.keys = r.keys[1:]
	}
	return true
}

// Get returns the value of a key, or the zero value.
func (r *Recent[K, V]) Get(key K) V { return r.entries[key] }

// Len returns the number of entries.
func (r *Recent[K, V]) Len() int { return len(r.entries) }

// Latest returns the values, newest first. The map must not be changed during the iteration.
func (r *Recent[K, V]) Latest() iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, key := range slices.Backward(r.keys) {
			if !yield(r.entries[key]) {
				return
			}
		}
	}
}

// Values returns at most n values in the form in which a tester sees them, newest first. It returns an empty list
// instead of nil, which is [] in JSON.
func Values[K comparable, V, P any](r *Recent[K, V], n int, form func(V) P) []P {
	all := []P{}
	for v := range r.Latest() {
		if len(all) == n {
			break
		}
		all = append(all, form(v))
	}
	return all
}
