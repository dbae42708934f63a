package analyticsredis

import (
	"context"
	"strconv"

	"comanda/internal/analytics"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

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
