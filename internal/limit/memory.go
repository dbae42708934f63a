package limit

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// Memory is a Store in this process. Its size is bounded: when a shard is full, expired subjects are dropped first,
// then arbitrary ones, which grants those another burst. It is safe for concurrent use. The burst holds in this process
// only: for a shared policy the count in Redis remains.
type Memory struct {
	seed   maphash.Seed
	shards [memoryShards]shard
}

const (
	memoryShards = 32   // each with a lock of its own, so that requests of different clients rarely wait for one another
	shardMax     = 8192 // subjects; a quarter of a million in all, about 20 MB
)

// shard is one part of the subjects with a lock of its own. tat holds the theoretical arrival time of each subject in
// Unix milliseconds, see Policy.Reserve.
type shard struct {
	mu  sync.Mutex
	tat map[subjectKey]int64
}

// subjectKey identifies a subject under a policy. A policy is identified by its address: the list of policies is
// closed, and each of them exists once.
type subjectKey struct {
	policy  *Policy
	subject string
}

// NewMemory returns an empty store. The seed is random, so that a client cannot choose subjects that all fall into one
// shard and drop the others in it.
func NewMemory() *Memory {
	m := &Memory{seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].tat = map[subjectKey]int64{}
	}
	return m
}

// Reserve implements Store. It never fails. The time of a refused request is stored too. It is the clamped one, so a
// clock that went back is corrected at once.
func (m *Memory) Reserve(_ context.Context, p *Policy, subject string, now time.Time) (Result, error) {
	s, k := m.shard(subject), subjectKey{p, subject}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.tat[k]
	next, v := p.Reserve(old, now.UnixMilli())
	if !known && len(s.tat) >= shardMax {
		s.makeRoom(now.UnixMilli())
	}
	s.tat[k] = next
	return v, nil
}

// Peek implements Store. It never fails. An unknown subject has the time zero, which counts as a full burst.
func (m *Memory) Peek(_ context.Context, p *Policy, subject string, now time.Time) (Result, error) {
	s := m.shard(subject)
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.Peek(s.tat[subjectKey{p, subject}], now.UnixMilli()), nil
}

// Len returns the number of stored subjects. It locks one shard after the other, so the number is not of one instant.
func (m *Memory) Len() (n int) {
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		n += len(s.tat)
		s.mu.Unlock()
	}
	return n
}

func (m *Memory) shard(subject string) *shard {
	return &m.shards[maphash.String(m.seed, subject)%memoryShards]
}

// makeRoom drops at least a quarter of the shard, so that a full shard is not scanned for every new subject.
func (s *shard) makeRoom(now int64) {
	// A time that has passed means a full burst, the same as no entry at all, so dropping it changes no decision.
	for k, tat := range s.tat {
		if tat <= now {
			delete(s.tat, k)
		}
	}
	// The order of a map is random, so a flood of new subjects cannot push out a particular one.
	for k := range s.tat {
		if len(s.tat) <= shardMax*3/4 {
			return
		}
		delete(s.tat, k)
	}
}
