package document

import (
	"hash/maphash"
	"sync"
)

// KeySet is a set of the keys that SQL implies, with the number of members of sets. Keys in Redis that are not in the
// set are compared with SQL. The set stores 64-bit hashes. A full set drops further keys, so that more keys are
// compared. Two keys with the same hash hide an orphan, which is very unlikely; each set has a new seed, so that the
// next set finds it.
type KeySet struct {
	seed  maphash.Seed
	limit int

	mu   sync.RWMutex
	keys map[uint64]int32
}

// maxKeys bounds the memory to some hundred megabytes.
const maxKeys = 8 << 20

// NewKeySet returns an empty set for a number of keys.
func NewKeySet(most int) *KeySet {
	return &KeySet{seed: maphash.MakeSeed(), limit: most, keys: map[uint64]int32{}}
}

// Add adds keys; members is the number of members of each set, nil for keys that are not sets.
func (s *KeySet) Add(keys []string, members []int) {
	if s == nil {
		return
	}
	hashes := make([]uint64, len(keys))
	for i, k := range keys {
		hashes[i] = maphash.String(s.seed, k)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// The whole batch is dropped, which only costs more reads later.
	if len(s.keys)+len(hashes) > s.limit {
		return
	}
	for i, h := range hashes {
		n := int32(0)
		if members != nil {
			n = s.keys[h] + int32(members[i]) //nolint:gosec // a batch has hundreds, a restaurant millions
		}
		s.keys[h] = n
	}
}

// Has reports whether a key was added, and returns its number of members.
func (s *KeySet) Has(key string) (members int, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, ok := s.keys[maphash.String(s.seed, key)]
	return int(n), ok
}
