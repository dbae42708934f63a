package document

import (
	"hash/maphash"
	"sync"
)

// Seen remembers which keys SQL implies, and of sets how many members: what Redis holds beyond them is looked at more
// closely. Keys are kept as hashes of 64 bits. When it is full it knows less, and more is looked at.
type Seen struct {
	seed maphash.Seed
	most int

	mu  sync.RWMutex
	all map[uint64]int32
}

// maxSeen keys take some hundred megabytes.
const maxSeen = 8 << 20

// NewSeen makes an empty memory for a number of keys.
func NewSeen(most int) *Seen {
	return &Seen{seed: maphash.MakeSeed(), most: most, all: map[uint64]int32{}}
}

// Add notes keys; members tells for each how many members of the set were seen, nil that they are no sets.
func (s *Seen) Add(keys []string, members []int) {
	if s == nil {
		return
	}
	hashes := make([]uint64, len(keys))
	for i, k := range keys {
		hashes[i] = maphash.String(s.seed, k)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all)+len(hashes) > s.most {
		return
	}
	for i, h := range hashes {
		n := int32(0)
		if members != nil {
			n = s.all[h] + int32(members[i]) //nolint:gosec // a batch has hundreds, a house millions
		}
		s.all[h] = n
	}
}

// Has tells whether a key was noted, and with how many members.
func (s *Seen) Has(key string) (members int, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, ok := s.all[maphash.String(s.seed, key)]
	return int(n), ok
}
