package limit

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// Memory is a Store in this process. Its size is bounded: when a shard is full, expired subjects are dropped first,
// then arbitrary ones, which grants those another burst. It is safe for concurrent use.
type Memory struct {
	seed   maphash.Seed
	shards [memoryShards]shard
}

const (
	memoryShards = 32   // each with a lock of its own, so that requests of different clients rarely wait for one another
	shardMax     = 8192 // subjects; a quarter of a million in all, about 20 MB
)

type shard struct {
	mu  sync.Mutex
	tat map[subjectKey]int64
}

type subjectKey struct {
	policy  *Policy
	subject string
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	m := &Memory{seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].tat = map[subjectKey]int64{}
	}
	return m
}

// Reserve implements Store. It never fails.
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

// Peek implements Store. It never fails.
func (m *Memory) Peek(_ context.Context, p *Policy, subject string, now time.Time) (Result, error) {
	s := m.shard(subject)
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.Peek(s.tat[subjectKey{p, subject}], now.UnixMilli()), nil
}

// Len returns the number of stored subjects.
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
	for k, tat := range s.tat {
		if tat <= now {
			delete(s.tat, k)
		}
	}
	for k := range s.tat {
		if len(s.tat) <= shardMax*3/4 {
			return
		}
		delete(s.tat, k)
	}
}
