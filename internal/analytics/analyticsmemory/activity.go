package analyticsmemory

import (
	"context"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"time"

	"comanda/internal/analytics"
)

// maxDates is the number of dates that are kept, as in Redis.
const maxDates = 400

// LoginStore implements analytics.ActivityCache in this process. It is safe for concurrent use.
type LoginStore struct {
	mu     sync.Mutex
	dates  map[string]bitmap
	online map[int64]map[string]time.Time // when visitors were last seen, by branch
}

// bitmap has a bit for each member. Bit 0 says that it is complete.
type bitmap []uint64

// with returns the bitmap with one more bit, which may be a longer one.
func (b bitmap) with(id int64) bitmap {
	if at := int(id / 64); at >= len(b) {
		b = append(b, make(bitmap, at+1-len(b))...)
	}
	b[id/64] |= 1 << (id % 64)
	return b
}

func (b bitmap) complete() bool { return len(b) > 0 && b[0]&1 == 1 }

// count returns the number of bits without bit 0.
func (b bitmap) count() (n int64) {
	for _, word := range b {
		n += int64(bits.OnesCount64(word))
	}
	return n - 1
}

// union returns the bits that one of several bitmaps has.
func union(all []bitmap) bitmap {
	sum := bitmap{}
	for _, b := range all {
		sum = append(sum, make(bitmap, max(0, len(b)-len(sum)))...)
		for i, word := range b {
			sum[i] |= word
		}
	}
	return sum
}

// and returns the bits that both bitmaps have.
func (b bitmap) and(other bitmap) bitmap {
	both := make(bitmap, min(len(b), len(other)))
	for i := range both {
		both[i] = b[i] & other[i]
	}
	return both
}

// NewLoginStore returns an empty LoginStore.
func NewLoginStore() *LoginStore {
	return &LoginStore{dates: map[string]bitmap{}, online: map[int64]map[string]time.Time{}}
}

// MarkActive implements analytics.LoginDays.
func (s *LoginStore) MarkActive(_ context.Context, date string, users []int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.add(date, users)
	if _, fit := analytics.Fitting(users); !fit {
		b[0] &^= 1
	}
	return nil
}

// RestoreDay implements analytics.LoginDays.
func (s *LoginStore) RestoreDay(_ context.Context, date string, users []int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.add(date, users)
	if _, fit := analytics.Fitting(users); fit {
		b[0] |= 1
	}
	return nil
}

// add adds members to a date and drops the oldest date if there are too many. The caller holds the lock.
func (s *LoginStore) add(date string, users []int64) bitmap {
	b := s.dates[date]
	if b == nil {
		b = make(bitmap, 1)
	}
	members, _ := analytics.Fitting(users)
	for _, id := range members {
		b = b.with(id)
	}
	s.dates[date] = b
	if len(s.dates) > maxDates {
		delete(s.dates, slices.Min(slices.Collect(maps.Keys(s.dates))))
	}
	return b
}

// CountActive implements analytics.LoginDays.
func (s *LoginStore) CountActive(
	_ context.Context, dates []string,
) (m analytics.ActiveMembers, incomplete []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]bitmap, len(dates))
	for i, date := range dates {
		if all[i] = s.dates[date]; !all[i].complete() {
			incomplete = append(incomplete, date)
		}
	}
	if len(incomplete) > 0 {
		return m, incomplete, nil
	}
	return analytics.ActiveMembers{
		Daily: all[0].count(), Weekly: union(all[:analytics.WeekDays]).count(), Monthly: union(all[:analytics.MonthDays]).count(),
		Returning: all[0].and(union(all[1:])).count(),
	}, nil, nil
}

// SaveLastSeen implements analytics.Presence.
func (s *LoginStore) SaveLastSeen(_ context.Context, branch int64, all []analytics.VisitorSeen) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.online[branch]
	if seen == nil {
		seen = map[string]time.Time{}
		s.online[branch] = seen
	}
	var newest time.Time
	for _, v := range all {
		if v.At.After(seen[v.Visitor]) {
			seen[v.Visitor] = v.At
		}
		if v.At.After(newest) {
			newest = v.At
		}
	}
	maps.DeleteFunc(seen, func(_ string, at time.Time) bool { return newest.Sub(at) > analytics.OnlineWindow })
	return nil
}

// CountOnline implements analytics.Presence.
func (s *LoginStore) CountOnline(_ context.Context, branch int64, since time.Time) (n int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.online[branch] {
		if !at.Before(since) {
			n++
		}
	}
	return n, nil
}
