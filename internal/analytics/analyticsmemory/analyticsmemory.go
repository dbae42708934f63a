// Package analyticsmemory counts views and logs searches in this process: for an installation with one process, and while
// Redis is unreachable. It passes the same tests as package analyticsredis. Everything is lost with the process.
package analyticsmemory

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"comanda/internal/analytics"
	"comanda/internal/uid"
)

// maxCounters bounds the memory of a scope while SQL is unreachable. Further views are dropped.
const maxCounters = 50_000

// seenLife is how long a list is kept, as in Redis.
const seenLife = 10 * time.Minute

// Store implements analytics.Cache. It is safe for concurrent use.
type Store struct {
	now func() time.Time
	id  string // of the log of searches

	mu     sync.Mutex
	counts map[analytics.BranchDay]*counts
	taken  map[analytics.BranchDay]analytics.ViewBatch
	ranks  map[rankKey][]analytics.Score
	seen   map[int64]list

	searches map[string]*searchLog // by business date
}

type rankKey struct {
	board  analytics.RankBoard
	branch int64
	period analytics.RankPeriod
}

// list contains the dishes that a member has seen, until it expires.
type list struct {
	dishes map[int64]time.Time
	until  time.Time
}

// counts are the counters of a scope that are not yet taken.
type counts struct {
	dishes  map[int64]analytics.DishViews
	pages   map[analytics.Page]int64
	carts   map[string]bool
	members map[[2]int64]analytics.MemberCount // by user and dish
}

func (c *counts) size() int { return len(c.dishes) + len(c.pages) + len(c.carts) + len(c.members) }

// New returns an empty store.
func New(now func() time.Time) *Store {
	return &Store{
		now: now, id: uid.New(now()), searches: map[string]*searchLog{},
		counts: map[analytics.BranchDay]*counts{}, taken: map[analytics.BranchDay]analytics.ViewBatch{},
		ranks: map[rankKey][]analytics.Score{}, seen: map[int64]list{},
	}
}

// Add implements analytics.Counters. It never fails.
func (s *Store) Add(_ context.Context, scope analytics.BranchDay, v analytics.Views, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts[scope]
	if c == nil {
		c = &counts{
			dishes: map[int64]analytics.DishViews{}, pages: map[analytics.Page]int64{}, carts: map[string]bool{},
			members: map[[2]int64]analytics.MemberCount{},
		}
		s.counts[scope] = c
	}
	if c.size() >= maxCounters {
		return nil
	}
	c.add(v, at)
	if of, ok := s.list(v.User); ok {
		for _, dish := range v.Opened {
			of.dishes[dish] = at
		}
	}
	return nil
}

func (c *counts) add(v analytics.Views, at time.Time) {
	for _, dish := range v.Viewed {
		n := c.dishes[dish]
		c.dishes[dish] = analytics.DishViews{Dish: dish, Viewed: n.Viewed + 1, Added: n.Added}
	}
	for _, dish := range v.Opened {
		key := [2]int64{v.User, dish}
		c.members[key] = analytics.MemberCount{User: v.User, Dish: dish, Viewed: c.members[key].Viewed + 1, At: at}
	}
	for _, dish := range v.Added {
		n := c.dishes[dish]
		c.dishes[dish] = analytics.DishViews{Dish: dish, Viewed: n.Viewed, Added: n.Added + 1}
	}
	for _, p := range v.Pages {
		c.pages[p]++
	}
	if v.Visit != "" && len(v.Added) > 0 {
		c.carts[v.Visit] = true
	}
}

// Take implements analytics.Counters.
func (s *Store) Take(_ context.Context, scope analytics.BranchDay, id string) (analytics.ViewBatch, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.taken[scope]; ok {
		return b, true, nil
	}
	c := s.counts[scope]
	if c == nil {
		return analytics.ViewBatch{}, false, nil
	}
	b := analytics.ViewBatch{
		ID: id, BranchDay: scope, Dishes: slices.Collect(maps.Values(c.dishes)), Carts: slices.Collect(maps.Keys(c.carts)),
		Members: slices.Collect(maps.Values(c.members)),
	}
	for p, n := range c.pages {
		b.Pages = append(b.Pages, analytics.PageCount{Page: p, Opened: n})
	}
	b.Sort()
	delete(s.counts, scope)
	s.taken[scope] = b
	return b, true, nil
}

// Done implements analytics.Counters.
func (s *Store) Done(_ context.Context, b analytics.ViewBatch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[b.BranchDay].ID == b.ID {
		delete(s.taken, b.BranchDay)
	}
	return nil
}

// SetRank implements analytics.Rankings. It drops the rankings of the same kind that ended with another date, because
// they are no longer read.
func (s *Store) SetRank(
	_ context.Context, board analytics.RankBoard, branch int64, p analytics.RankPeriod, all []analytics.Score,
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.ranks, func(k rankKey, _ []analytics.Score) bool {
		return k.board == board && k.branch == branch && k.period[:1] == p[:1]
	})
	if len(all) > 0 {
		s.ranks[rankKey{board, branch, p}] = slices.SortedFunc(slices.Values(all), analytics.ByScore)
	}
	return nil
}

// Rank implements analytics.Rankings.
func (s *Store) Rank(
	_ context.Context, board analytics.RankBoard, branch int64, p analytics.RankPeriod, n int,
) ([]analytics.Score, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.ranks[rankKey{board, branch, p}]
	return slices.Clone(all[:min(n, len(all))]), nil
}

// list returns a member's list unless it has expired. The caller holds the lock.
func (s *Store) list(user int64) (list, bool) {
	of, ok := s.seen[user]
	if ok && !s.now().Before(of.until) {
		delete(s.seen, user)
		ok = false
	}
	return of, ok
}

// Seen implements analytics.Histories.
func (s *Store) Seen(_ context.Context, user int64) ([]analytics.Seen, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of, ok := s.list(user)
	if !ok {
		return nil, false, nil
	}
	all := make([]analytics.Seen, 0, len(of.dishes))
	for dish, at := range of.dishes {
		all = append(all, analytics.Seen{Dish: dish, At: at})
	}
	slices.SortFunc(all, analytics.ByTime)
	return all[:min(len(all), analytics.MaxSeen)], true, nil
}

// SetSeen implements analytics.Histories. It stores no empty list, as Redis has no empty sorted sets. Expired lists of
// other members are dropped, so that lists do not accumulate.
func (s *Store) SetSeen(_ context.Context, user int64, all []analytics.Seen) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	maps.DeleteFunc(s.seen, func(_ int64, l list) bool { return !now.Before(l.until) })
	if len(all) == 0 {
		delete(s.seen, user)
		return nil
	}
	of := list{map[int64]time.Time{}, now.Add(seenLife)}
	for _, d := range all {
		of.dishes[d.Dish] = d.At
	}
	s.seen[user] = of
	return nil
}

// DropSeen implements analytics.Histories.
func (s *Store) DropSeen(_ context.Context, user int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, user)
	return nil
}

// Bounds of the log of searches. Redis keeps more and for longer, because several processes and operators read it; here
// only Flush reads, and it reads two dates.
const (
	maxLog   = 10_000 // searches of a business date; the oldest are dropped
	logDates = 3
)

// searchLog contains the searches of a business date. The position of an entry is its number, counted from 1.
type searchLog struct {
	first  int // the number of the first entry
	events []analytics.SearchEvent
}

// LogID implements analytics.SearchLog. Each process has logs of its own, which begin empty, so their positions in SQL
// have a name of their own.
func (s *Store) LogID() string { return s.id }

// AppendSearches implements analytics.SearchLog. It never fails.
func (s *Store) AppendSearches(_ context.Context, date string, all []analytics.SearchEvent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.searches[date]
	if log == nil {
		log = &searchLog{first: 1}
		s.searches[date] = log
		// Dates of earlier days are in SQL, or too old.
		oldest := before(date, logDates)
		maps.DeleteFunc(s.searches, func(of string, _ *searchLog) bool { return of <= oldest })
	}
	log.events = append(log.events, all...)
	if over := len(log.events) - maxLog; over > 0 {
		log.first += over
		log.events = append([]analytics.SearchEvent(nil), log.events[over:]...)
	}
	return nil
}

// SearchesAfter implements analytics.SearchLog.
func (s *Store) SearchesAfter(
	_ context.Context, date, position string, limit int,
) (all []analytics.SearchEvent, next string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.searches[date]
	if log == nil {
		return nil, "", nil
	}
	read, _ := strconv.Atoi(position) // "" is 0
	from := min(max(read+1-log.first, 0), len(log.events))
	to := min(from+limit, len(log.events))
	if from == to {
		return nil, "", nil
	}
	return append(all, log.events[from:to]...), strconv.Itoa(log.first + to - 1), nil
}

// before returns the date that is a few days earlier.
func before(date string, days int) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return ""
	}
	return day.AddDate(0, 0, -days).Format(time.DateOnly)
}
