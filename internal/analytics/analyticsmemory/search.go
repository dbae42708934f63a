package analyticsmemory

import (
	"context"
	"maps"
	"strconv"
	"time"

	"comanda/internal/analytics"
)

// Bounds of the log of searches. Redis keeps more and for longer, because several processes and operators read it; here
// only Flush reads, and it reads two dates.
const (
	maxLog   = 10_000 // searches of a business date; the oldest are dropped
	logDates = 3
)

// searchLog is the searches of a business date. The position of an entry is its number, counted from 1.
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

// before returns the date that is some days earlier.
func before(date string, days int) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return ""
	}
	return day.AddDate(0, 0, -days).Format(time.DateOnly)
}
