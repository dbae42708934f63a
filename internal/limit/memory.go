package limit

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// Memory is a Store in this process. Its size is bounded: when a shard is full, expired subjects are dropped first,
// then arbitrary ones, which get another burst. For a shared policy that burst is limited by the count in Redis. It is
// safe for concurrent use.
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

// Reserve implements Store. It never fails. The time of a refused request is stored too, after clamping, so that a
// clock that was set back is corrected at once.
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
	// A time in the past means a full burst, like a missing entry, so dropping it changes no decision.
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

// Result is the decision about a request. The HTTP headers for rate limits are computed from it. Durations are whole
// milliseconds, as the script in Redis counts.
type Result struct {
	Policy    *Policy
	OK        bool
	Retry     time.Duration // until the next request is allowed; zero if this one was
	Remaining int           // requests that are allowed now
	Reset     time.Duration // until the whole burst is available again
}

// Reserve decides one request. tat is the stored theoretical arrival time of the subject, zero if unknown, and now the
// current time, both in Unix milliseconds. It returns the value to store; a refusal leaves it unchanged. A tat beyond
// now plus the window comes from a clock that went back, and is cut to the window. It is pure: Memory and limitredis
// both decide by it, so a subject sees the same limit whichever store answers.
func (p *Policy) Reserve(tat, now int64) (next int64, v Result) {
	tat = p.clamp(tat, now)
	every, window := p.Interval.Milliseconds(), p.Window().Milliseconds()
	if tat+every-now > window {
		return tat, p.result(tat, now, false)
	}
	return tat + every, p.result(tat+every, now, true)
}

// Peek is Reserve without counting a request.
func (p *Policy) Peek(tat, now int64) Result {
	tat = p.clamp(tat, now)
	return p.result(tat, now, tat+p.Interval.Milliseconds()-now <= p.Window().Milliseconds())
}

// clamp limits tat to the range from now to the end of a full window. The lower end forgets unused time beyond one
// burst. The upper end bounds what a wrong clock can cost a subject to one window.
func (p *Policy) clamp(tat, now int64) int64 {
	return min(max(tat, now), now+p.Window().Milliseconds())
}

// result describes a subject with the theoretical arrival time tat. Reset is the distance of tat from now: the time
// that the subject must make no request until its burst is full.
func (p *Policy) result(tat, now int64, ok bool) Result {
	every, window := p.Interval.Milliseconds(), p.Window().Milliseconds()
	v := Result{
		Policy: p, OK: ok, Remaining: int((window - (tat - now)) / every), Reset: time.Duration(tat-now) * time.Millisecond,
	}
	if !ok {
		v.Retry = time.Duration(tat+every-now-window) * time.Millisecond
	}
	return v
}
