// Package limitredis shares limits between processes through Redis.
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

var takeScript = redisdb.MustScript(files, "lua/take.lua")

// Store is limit.Store in Redis. Time comes from the caller, as everywhere: processes that share a database share its
// clock.
type Store struct{ db *redisdb.DB }

// New makes a store on a connection.
func New(db *redisdb.DB) *Store { return &Store{db} }

var errAnswer = errors.New("limitredis: an answer of the wrong shape")

// Take implements limit.Store.
func (s *Store) Take(ctx context.Context, p *limit.Policy, subject string, now time.Time) (limit.Verdict, error) {
	ms := now.UnixMilli()
	said, err := s.db.Run(ctx, takeScript, []keyspace.Key{keyspace.Rate(p.Action, subject)}, []string{
		decimal(ms), decimal(p.Every.Milliseconds()), decimal(p.Window().Milliseconds()),
	}).Ints()
	if err != nil {
		return limit.Verdict{}, err
	}
	if len(said) != 2 {
		return limit.Verdict{}, errAnswer
	}
	if said[0] == 0 {
		_, v := p.Step(said[1], ms) // refuses again, and says for how long
		return v, nil
	}
	_, v := p.Step(said[1]-p.Every.Milliseconds(), ms)
	return v, nil
}

// Look implements limit.Store.
func (s *Store) Look(ctx context.Context, p *limit.Policy, subject string, now time.Time) (limit.Verdict, error) {
	text, _, err := s.db.Do(ctx, "GET", keyspace.Rate(p.Action, subject)).Text()
	if err != nil {
		return limit.Verdict{}, err
	}
	tat, _ := strconv.ParseInt(text, 10, 64) // what is no number is no debt
	return p.Look(tat, now.UnixMilli()), nil
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
