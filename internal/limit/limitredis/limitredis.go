// Package limitredis shares rate limits between processes through Redis.
package limitredis

import (
	"context"
	"embed"
	"errors"
	"strconv"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/limit"
	"comanda/internal/redisdb"
)

//go:embed lua/*.lua
var files embed.FS

var reserveScript = redisdb.MustScript(files, "lua/take.lua")

// Store is limit.Store in Redis. Time comes from the caller: processes that share a database share its clock. It is
// safe for concurrent use. While Redis is down every call fails at once, and the Limiter uses its local count (L2).
type Store struct{ db *redisdb.DB }

// New returns a store on a connection.
func New(db *redisdb.DB) *Store { return &Store{db} }

var errAnswer = errors.New("limitredis: malformed reply")

// Reserve implements limit.Store. A script reads, decides and writes, so that the limit is exact: two processes cannot
// both get the last request. The result is computed from the time that the script returns.
func (s *Store) Reserve(ctx context.Context, p *limit.Policy, subject string, now time.Time) (limit.Result, error) {
	ms := now.UnixMilli()
	reply, err := s.db.Run(ctx, reserveScript, []keyspace.Key{keyspace.Rate(p.Action, subject)}, []string{
		decimal(ms), decimal(p.Interval.Milliseconds()), decimal(p.Window().Milliseconds()),
	}).Ints()
	if err != nil {
		return limit.Result{}, err
	}
	if len(reply) != 2 {
		return limit.Result{}, errAnswer
	}
	if reply[0] == 0 {
		_, v := p.Reserve(reply[1], ms) // computes the waiting time
		return v, nil
	}
	// The script returns the time after this request. From the time before it, which is one interval less,
	// Policy.Reserve computes the result that Memory would have returned.
	_, v := p.Reserve(reply[1]-p.Interval.Milliseconds(), ms)
	return v, nil
}

// Peek implements limit.Store. It needs no script, because it decides about one value that it does not change.
func (s *Store) Peek(ctx context.Context, p *limit.Policy, subject string, now time.Time) (limit.Result, error) {
	text, _, err := s.db.Do(ctx, "GET", keyspace.Rate(p.Action, subject)).Text()
	if err != nil {
		return limit.Result{}, err
	}
	tat, _ := strconv.ParseInt(text, 10, 64) // a value that is not a number counts as unused
	return p.Peek(tat, now.UnixMilli()), nil
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
