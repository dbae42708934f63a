// Package tagcacheredis stores cached values in a Redis that several processes share. Values are sealed, so that another
// program that can write to Redis cannot change a report or a page.
package tagcacheredis

import (
	"context"
	"embed"
	"strconv"
	"time"

	"comanda/internal/fault"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/tagcache"
)

//go:embed lua/*.lua
var files embed.FS

var (
	lookup = redisdb.MustScript(files, "lua/lookup.lua")
	fill   = redisdb.MustScript(files, "lua/fill.lua")
)

// tagsLife is longer than the life of any value, so that a value never outlives its name.
const tagsLife = 11 * time.Minute

// Store implements tagcache.Store. It is safe for concurrent use.
type Store struct {
	db  *redisdb.DB
	now func() time.Time
}

// New returns a Store on a connection.
func New(db *redisdb.DB, now func() time.Time) *Store { return &Store{db, now} }

// keysOf returns the keys of an entry in the order of the scripts.
func keysOf(e tagcache.Entry) []keyspace.Key {
	return []keyspace.Key{e.Family.Value(e.Kind, e.Scope, e.Hash), e.Family.Lock(e.Scope, e.Hash), e.Family.Tags(e.Scope)}
}

// Lookup implements tagcache.Store. The value is read without a script, because nearly every request finds one. A value
// without this installation's seal counts as missing.
func (s *Store) Lookup(ctx context.Context, e tagcache.Entry, token string) ([]byte, tagcache.Outcome, error) {
	keys := keysOf(e)
	text, found, err := s.db.Do(ctx, "GET", keys[0]).Text()
	if err != nil {
		return nil, 0, err
	}
	if found {
		if value, ok := s.open(keys[0], text); ok {
			return value, tagcache.Found, nil
		}
		if err := s.db.Do(ctx, "DEL", keys[0]).Err(); err != nil {
			return nil, 0, err
		}
	}
	got, err := s.db.Run(ctx, lookup, keys, []string{
		token, millis(keyspace.CacheLeaseLife), e.Member(), decimal(s.now().UnixMilli()), strconv.Itoa(tagcache.MaxEntries),
		millis(tagsLife),
	}).List()
	if err != nil {
		return nil, 0, err
	}
	if len(got) == 0 {
		return nil, 0, errReply
	}
	outcome, err := got[0].Int()
	if err != nil || outcome != int64(tagcache.Found) {
		return nil, tagcache.Outcome(outcome), err
	}
	if len(got) < 2 {
		return nil, 0, errReply
	}
	text, _, err = got[1].Text()
	if err != nil {
		return nil, 0, err
	}
	if value, ok := s.open(keys[0], text); ok {
		return value, tagcache.Found, nil
	}
	return nil, tagcache.Busy, nil // replaced by a value without a seal since it was deleted; looked up again
}

// errReply reports a script that returned another shape than it documents.
var errReply = fault.New(fault.Internal, "redis_reply", "The script that looks up cached values returned an unknown reply.")

// open verifies and removes the seal.
func (s *Store) open(key keyspace.Key, text string) ([]byte, bool) {
	if len(text) < redisdb.SealChars {
		return nil, false
	}
	seal, body := text[:redisdb.SealChars], text[redisdb.SealChars:]
	return []byte(body), s.db.Sealed(seal, key, body)
}

// Fill implements tagcache.Store.
func (s *Store) Fill(
	ctx context.Context, e tagcache.Entry, token string, value []byte, ttl time.Duration,
) (bool, error) {
	keys := keysOf(e)
	body := string(value)
	stored, err := s.db.Run(ctx, fill, keys, []string{
		token, millis(max(ttl, time.Millisecond)), s.db.Seal(keys[0], body) + body, e.Member(),
		decimal(s.now().Add(ttl).UnixMilli()), millis(tagsLife),
	}).Int()
	return stored == 1, err
}

// Release implements tagcache.Store.
func (s *Store) Release(ctx context.Context, e tagcache.Entry, token string) error {
	return s.db.Run(ctx, fill, keysOf(e), []string{token, "0", "", "", "0", "0"}).Err()
}

// Invalidate implements tagcache.Store. It deletes leases before values: a computation that ends in between can then
// store nothing, and one that has ended before is deleted. Names stay until they expire, so that a repetition after an
// error finds them again.
func (s *Store) Invalidate(ctx context.Context, f *keyspace.CacheFamily, scope int64, dates tagcache.DateRange) error {
	names, err := s.db.Do(ctx, "ZRANGE", f.Tags(scope), "0", "-1").Texts()
	if err != nil {
		return err
	}
	var leases, values []redisdb.Cmd
	for _, name := range names {
		e, ok := tagcache.ParseMember(f, scope, name)
		if !ok || !e.Dates.Overlap(dates) {
			continue
		}
		keys := keysOf(e)
		values, leases = append(values, redisdb.Command("DEL", keys[0])), append(leases, redisdb.Command("DEL", keys[1]))
	}
	for _, cmds := range [][]redisdb.Cmd{leases, values} {
		if len(cmds) == 0 {
			return nil
		}
		if _, err := s.db.DoMulti(ctx, cmds...); err != nil {
			return err
		}
	}
	return nil
}

func millis(d time.Duration) string { return decimal(d.Milliseconds()) }

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
