// Package analyticsredis counts views, and stores rankings and lists of seen dishes, in a Redis that several processes
// share. Package analyticsmemory does the same in one process.
package analyticsredis

import (
	"context"
	"embed"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/analytics"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

//go:embed lua/*.lua
var files embed.FS

var (
	addScript  = redisdb.MustScript(files, "lua/add.lua")
	takeScript = redisdb.MustScript(files, "lua/take.lua")
	doneScript = redisdb.MustScript(files, "lua/done.lua")
	rankScript = redisdb.MustScript(files, "lua/rank.lua")
	seenScript = redisdb.MustScript(files, "lua/seen.lua")

	scoresScript = redisdb.MustScript(files, "lua/scores.lua")
)

// Store implements analytics.Cache. It is safe for concurrent use.
type Store struct{ db *redisdb.DB }

// New returns a store on a connection.
func New(db *redisdb.DB) *Store { return &Store{db} }

// Add implements analytics.Counters. The member's list is another key, in another slot, and only for display: a failure
// of it is ignored.
func (s *Store) Add(ctx context.Context, scope analytics.BranchDay, v analytics.Views, at time.Time) error {
	ms := decimal(at.UnixMilli())
	var counters, values []string
	for _, dish := range v.Viewed {
		counters = append(counters, "v:"+decimal(dish))
	}
	for _, dish := range v.Opened {
		of := decimal(v.User) + ":" + decimal(dish)
		counters, values = append(counters, "u:"+of), append(values, "t:"+of, ms)
	}
	for _, dish := range v.Added {
		counters = append(counters, "a:"+decimal(dish))
	}
	for _, p := range v.Pages {
		counters = append(counters, "p:"+string(p))
	}
	if v.Visit != "" && len(v.Added) > 0 {
		values = append(values, "c:"+v.Visit, ms)
	}
	args := append([]string{millis(keyspace.ViewCountLife), strconv.Itoa(len(counters))}, counters...)
	key := keyspace.ViewCounts(scope.Branch, scope.Date)
	if err := s.db.Run(ctx, addScript, []keyspace.Key{key}, append(args, values...)).Err(); err != nil {
		return err
	}
	if len(v.Opened) > 0 {
		args := []string{strconv.Itoa(analytics.MaxSeen)}
		for _, dish := range v.Opened {
			args = append(args, ms, decimal(dish))
		}
		_ = s.db.Run(ctx, seenScript, []keyspace.Key{keyspace.MemberViews(v.User)}, args).Err()
	}
	return nil
}

// Take implements analytics.Counters.
func (s *Store) Take(ctx context.Context, scope analytics.BranchDay, id string) (b analytics.ViewBatch, ok bool, err error) {
	keys := []keyspace.Key{
		keyspace.ViewCounts(scope.Branch, scope.Date), keyspace.TakenViews(scope.Branch, scope.Date),
	}
	flat, err := s.db.Run(ctx, takeScript, keys, []string{id}).Texts()
	if err != nil || len(flat) == 0 {
		return b, false, err
	}
	b.BranchDay = scope
	dishes, members := map[int64]*analytics.DishViews{}, map[string]*analytics.MemberCount{}
	for i := 0; i+1 < len(flat); i += 2 {
		kind, of, _ := strings.Cut(flat[i], ":")
		n, _ := strconv.ParseInt(flat[i+1], 10, 64)
		switch kind {
		case "id":
			b.ID = flat[i+1]
		case "v":
			entry(dishes, number(of)).Viewed = n
		case "a":
			entry(dishes, number(of)).Added = n
		case "p":
			b.Pages = append(b.Pages, analytics.PageCount{Page: analytics.Page(of), Opened: n})
		case "c":
			b.Carts = append(b.Carts, of)
		case "u":
			entry(members, of).Viewed = n
		case "t":
			entry(members, of).At = time.UnixMilli(n).UTC()
		}
	}
	for dish, c := range dishes {
		c.Dish = dish
		b.Dishes = append(b.Dishes, *c)
	}
	for of, c := range members {
		user, dish, _ := strings.Cut(of, ":")
		c.User, c.Dish = number(user), number(dish)
		b.Members = append(b.Members, *c)
	}
	b.Sort()
	return b, true, nil
}

// entry returns the value of a key, which it creates if it is missing.
func entry[K comparable, V any](m map[K]*V, key K) *V {
	if m[key] == nil {
		m[key] = new(V)
	}
	return m[key]
}

// Done implements analytics.Counters.
func (s *Store) Done(ctx context.Context, b analytics.ViewBatch) error {
	key := keyspace.TakenViews(b.Branch, b.Date)
	return s.db.Run(ctx, doneScript, []keyspace.Key{key}, []string{b.ID}).Err()
}

// rankOf returns the key of a ranking.
func rankOf(board analytics.RankBoard, branch int64, p analytics.RankPeriod) keyspace.Key {
	if board == analytics.Viewed {
		return keyspace.ViewedRank(branch, string(p))
	}
	return keyspace.SoldRank(branch, string(p))
}

// SetRank implements analytics.Rankings.
func (s *Store) SetRank(
	ctx context.Context, board analytics.RankBoard, branch int64, p analytics.RankPeriod, all []analytics.Score,
) error {
	args := []string{millis(keyspace.RankLife)}
	for _, d := range all {
		args = append(args, decimal(d.N), decimal(d.Dish))
	}
	return s.db.Run(ctx, rankScript, []keyspace.Key{rankOf(board, branch, p)}, args).Err()
}

// Rank implements analytics.Rankings. Redis orders equal scores by text, so they are sorted here. The whole ranking is
// read: a menu has a few hundred dishes, and equal scores may go beyond any limit.
func (s *Store) Rank(
	ctx context.Context, board analytics.RankBoard, branch int64, p analytics.RankPeriod, n int,
) ([]analytics.Score, error) {
	flat, err := s.db.Run(ctx, scoresScript, []keyspace.Key{rankOf(board, branch, p)}, nil).Texts()
	all := make([]analytics.Score, 0, len(flat)/2)
	for i := 0; i+1 < len(flat); i += 2 {
		all = append(all, analytics.Score{Dish: number(flat[i]), N: number(flat[i+1])})
	}
	slices.SortFunc(all, analytics.ByScore)
	return all[:min(n, len(all))], err
}

// Seen implements analytics.Histories.
func (s *Store) Seen(ctx context.Context, user int64) ([]analytics.Seen, bool, error) {
	flat, err := s.db.Run(ctx, scoresScript, []keyspace.Key{keyspace.MemberViews(user)}, nil).Texts()
	all := make([]analytics.Seen, 0, len(flat)/2)
	for i := 0; i+1 < len(flat); i += 2 {
		all = append(all, analytics.Seen{Dish: number(flat[i]), At: time.UnixMilli(number(flat[i+1])).UTC()})
	}
	slices.SortFunc(all, analytics.ByTime)
	return all[:min(len(all), analytics.MaxSeen)], len(all) > 0, err
}

// SetSeen implements analytics.Histories. Redis has no empty sorted sets, so nothing is stored for a member who has
// seen nothing, and the next reader asks SQL again.
func (s *Store) SetSeen(ctx context.Context, user int64, all []analytics.Seen) error {
	args := []string{millis(keyspace.SeenLife)}
	for _, d := range all {
		args = append(args, decimal(d.At.UnixMilli()), decimal(d.Dish))
	}
	return s.db.Run(ctx, rankScript, []keyspace.Key{keyspace.MemberViews(user)}, args).Err()
}

// DropSeen implements analytics.Histories.
func (s *Store) DropSeen(ctx context.Context, user int64) error {
	return s.db.Do(ctx, "DEL", keyspace.MemberViews(user)).Err()
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func millis(d time.Duration) string { return decimal(d.Milliseconds()) }

// number parses a whole number, which Redis may write as a float. It returns 0 for anything else.
func number(s string) int64 {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(s, 64)
	return int64(f)
}

var (
	searchScript   = redisdb.MustScript(files, "lua/search.lua")
	searchesScript = redisdb.MustScript(files, "lua/searches.lua")
)

// maxStream bounds the stream of a business date, which takes about a megabyte then. It is reached only if SQL is
// unreachable for hours; the oldest searches are dropped.
const maxStream = 10_000

// logID names the streams in SQL: all processes share them.
const logID = "redis"

// LogID implements analytics.SearchLog.
func (s *Store) LogID() string { return logID }

// AppendSearches implements analytics.SearchLog.
func (s *Store) AppendSearches(ctx context.Context, date string, all []analytics.SearchEvent) error {
	args := []string{millis(keyspace.SearchLife), strconv.Itoa(maxStream)}
	for _, e := range all {
		found := "0"
		if e.Found {
			found = "1"
		}
		args = append(args, decimal(e.Branch), e.Text, found, decimal(e.Visitor))
	}
	return s.db.Run(ctx, searchScript, []keyspace.Key{keyspace.Searches(date)}, args).Err()
}

// SearchesAfter implements analytics.SearchLog. A position is the id of an entry.
func (s *Store) SearchesAfter(
	ctx context.Context, date, position string, limit int,
) (all []analytics.SearchEvent, next string, err error) {
	from := "-"
	if position != "" {
		from = "(" + position
	}
	args := []string{from, strconv.Itoa(limit)}
	flat, err := s.db.Run(ctx, searchesScript, []keyspace.Key{keyspace.Searches(date)}, args).Texts()
	const fields = 5
	for i := 0; i+fields <= len(flat); i += fields {
		next = flat[i]
		all = append(all, analytics.SearchEvent{
			Branch: number(flat[i+1]), Text: flat[i+2], Found: flat[i+3] == "1", Visitor: number(flat[i+4]),
		})
	}
	return all, next, err
}
