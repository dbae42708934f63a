// Package seq converts slices into other slices and into maps.
//
// A function is called once per element. Code that runs for every order uses loops of its own, which read large elements
// in place.
package seq

// Map returns what f returns for each element, in order. The result is never nil, which JSON would show as null.
func Map[T, V any](all []T, f func(T) V) []V {
	out := make([]V, len(all))
	for i, v := range all {
		out[i] = f(v)
	}
	return out
}

// TryMap is Map for a function that may fail. It stops at the first error and returns nil with it.
func TryMap[T, V any](all []T, f func(T) (V, error)) ([]V, error) {
	out := make([]V, len(all))
	for i, v := range all {
		var err error
		if out[i], err = f(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Filter returns the elements that keep accepts, in order; nil if there are none.
func Filter[T any](all []T, keep func(T) bool) []T {
	var out []T
	for _, v := range all {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

// Index returns the elements by key. If a key repeats, the last element counts.
func Index[K comparable, T any](all []T, key func(T) K) map[K]T {
	out := make(map[K]T, len(all))
	for _, v := range all {
		out[key(v)] = v
	}
	return out
}

// Group returns the elements of each key, in order.
func Group[K comparable, T any](all []T, key func(T) K) map[K][]T {
	out := map[K][]T{}
	for _, v := range all {
		k := key(v)
		out[k] = append(out[k], v)
	}
	return out
}

// Set returns the elements as keys of a map in which they are true.
func Set[T comparable](all []T) map[T]bool {
	out := make(map[T]bool, len(all))
	for _, v := range all {
		out[v] = true
	}
	return out
}
