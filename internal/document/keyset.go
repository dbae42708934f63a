package document

import (
	"hash/maphash"
	"sync"
)

// Seen remembers which keys SQL implies, and of sets how many members: what Redis holds beyond them is looked at more
// closely. Keys are kept as hashes of 64 bits. When it is full it knows less, and more is looked at.
type KeySet struct {
	seed  maphash.Seed
	limit int

	mu   sync.RWMutex
	keys map[uint64]int32
}

// maxSeen keys take some hundred megabytes.
const maxKeys = 8 << 20

// NewSeen makes an empty memory for a number of keys.
func NewKeySet(most int) *KeySet {
	return &KeySet{seed: maphash.MakeSeed(), limit: most, keys: map[uint64]int32{}}
}

// Add notes keys; members tells for each how many members of the set were seen, nil that they are no sets.
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
	if len(s.keys)+len(hashes) > s.limit {
		return
	}
	for i, h := range hashes {
		n := int32(0)
		if members != nil {
			n = s.keys[h] + int32(members[i]) //nolint:gosec // a batch has hundreds, a house millions
		}
		s.keys[h] = n
	}
}

// Has tells whether a key was noted, and with how many members.
func (s *KeySet) Has(key string) (members int, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, ok := s.keys[maphash.String(s.seed, key)]
	return int(n), ok
}
