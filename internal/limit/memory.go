package limit

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// Memory keeps limits in this process. It is safe for concurrent use, and its size is bounded: when it is full, what has
// been paid off goes first, and then whatever comes, which grants somebody a burst once more.
type Memory struct {
	seed   maphash.Seed
	shards [memoryShards]shard
}

const (
	memoryShards = 32
	shardMax     = 8192 // subjects; a quarter of a million in all, some 20 MB
)

type shard struct {
	mu  sync.Mutex
	tat map[subjectKey]int64
}

type subjectKey struct {
	policy  *Policy
	subject string
}

// NewMemory makes an empty one.
func NewMemory() *Memory {
	m := &Memory{seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].tat = map[subjectKey]int64{}
	}
	return m
}

// Take implements Store; it never fails.
func (m *Memory) Take(_ context.Context, p *Policy, subject string, now time.Time) (Verdict, error) {
	s, k := m.shard(subject), subjectKey{p, subject}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.tat[k]
	next, v := p.Step(old, now.UnixMilli())
	if !known && len(s.tat) >= shardMax {
		s.makeRoom(now.UnixMilli())
	}
	s.tat[k] = next
	return v, nil
}

// Look implements Store; it never fails.
func (m *Memory) Look(_ context.Context, p *Policy, subject string, now time.Time) (Verdict, error) {
	s := m.shard(subject)
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.Look(s.tat[subjectKey{p, subject}], now.UnixMilli()), nil
}

// Len is the number of subjects that are remembered.
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

// makeRoom frees at least a quarter.
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
