package document

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
)

// KeySet is a set of the keys that SQL implies, with the number of members of sets. Keys in Redis that are not in the
// set are compared with SQL. The set stores 48 bits of the hash of each key. A full set drops further keys, so that more
// keys are compared. An orphan whose hash is that of a key of the set is not found, which is very unlikely; each set has
// a new seed, so that the next set finds it. Two keys of the set with one hash share an entry, whose
// members are those of both, so that they may be compared with SQL without need.
type KeySet struct {
	seed  maphash.Seed
	limit int

	mu    sync.RWMutex
	count int
	// A map of the hashes would take more than twice the memory, and a million orders have seven million keys.
	buckets [][]hashedKey // by the first bucketBits of the hash, each sorted
}

// hashedKey is the entry of a key in its bucket.
type hashedKey struct {
	hash    uint32 // the bits that follow bucketBits
	members uint32
}

const (
	maxKeys    = 8 << 20 // bounds the memory of a set to some 80 MB
	bucketBits = 16      // some hundred keys in each bucket of a full set, so that inserting moves few bytes
)

// NewKeySet returns an empty set for a number of keys.
func NewKeySet(most int) *KeySet {
	return &KeySet{seed: maphash.MakeSeed(), limit: most, buckets: make([][]hashedKey, 1<<bucketBits)}
}

// Add adds keys; members is the number of members of each set, nil for keys that are not sets. The members of a set that
// is added again are added to those that it has.
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
	if s.count+len(hashes) > s.limit {
		return
	}
	for i, h := range hashes {
		n, at, found := s.find(h)
		if !found {
			s.buckets[n] = slices.Insert(s.buckets[n], at, hashedKey{hash: secondHash(h)})
			s.count++
		}
		if members != nil {
			s.buckets[n][at].members += uint32(members[i]) //nolint:gosec // a batch has hundreds, a restaurant millions
		}
	}
}

// Has reports whether a key was added, and returns its number of members.
func (s *KeySet) Has(key string) (members int, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, at, found := s.find(maphash.String(s.seed, key))
	if !found {
		return 0, false
	}
	return int(s.buckets[n][at].members), true
}

// find returns the bucket of a hash, and the position of its entry or the one where it belongs.
func (s *KeySet) find(h uint64) (bucket uint64, at int, found bool) {
	bucket = h >> (64 - bucketBits)
	at, found = slices.BinarySearchFunc(s.buckets[bucket], secondHash(h), func(k hashedKey, hash uint32) int {
		return cmp.Compare(k.hash, hash)
	})
	return bucket, at, found
}

// secondHash returns the 32 bits that follow those of the bucket.
func secondHash(h uint64) uint32 {
	return uint32(h >> (64 - bucketBits - 32)) //nolint:gosec // cut on purpose
}
