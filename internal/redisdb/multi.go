package redisdb

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
)

// Command returns a call of the script for DoMulti. R3 applies to each call separately.
func (s *Script) Command(keys []keyspace.Key, args ...string) Cmd {
	if len(keys) == 0 {
		return Cmd{verb: s.name, script: s} // refused like an invalid key
	}
	return Cmd{verb: s.name, key: keys[0], args: args, script: s, more: keys[1:]}
}

// check returns an error if the command violates R1 or R3.
func (c Cmd) check() error {
	if !c.key.Valid() {
		return fmt.Errorf("redisdb: %s: %w", c.verb, ErrKey)
	}
	for i, k := range c.more {
		if !k.Valid() {
			return fmt.Errorf("redisdb: script %s: key %d: %w", c.verb, i+2, ErrKey)
		}
		if k.Slot() != c.key.Slot() {
			return fmt.Errorf("redisdb: script %s: %s and %s: %w", c.verb, c.key, k, ErrSlots)
		}
	}
	return nil
}

// resend repeats the scripts that were not cached on the server, with their text. The first attempt had no effect.
func (db *DB) resend(ctx context.Context, c rueidis.Client, cmds []Cmd, results []rueidis.RedisResult) {
	var at []int
	var again []rueidis.Completed
	for i, r := range results {
		if cmds[i].notCached(r.Error()) {
			at, again = append(at, i), append(again, db.buildFull(c, cmds[i]))
		}
	}
	for j, r := range c.DoMulti(ctx, again...) {
		results[at[j]] = r
	}
}

// Texts returns the values of string keys, "" for missing ones. On a single server it uses one MGET, which costs the
// server a fraction of as many GETs.
func (db *DB) Texts(ctx context.Context, keys []keyspace.Key) ([]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	if !db.option.ForceSingleClient {
		return db.textsOneByOne(ctx, keys)
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		if !k.Valid() {
			return nil, fmt.Errorf("redisdb: MGET: %w", ErrKey)
		}
		names[i] = db.cfg.Namespace.Wire(k)
	}
	var texts []string
	err := db.send(ctx, "MGET", func(ctx context.Context, c rueidis.Client) (err error) {
		texts, err = c.Do(ctx, c.B().Mget().Key(names...).Build()).AsStrSlice()
		return err
	})
	return texts, err
}

func (db *DB) textsOneByOne(ctx context.Context, keys []keyspace.Key) ([]string, error) {
	cmds := make([]Cmd, len(keys))
	for i, k := range keys {
		cmds[i] = Command("GET", k)
	}
	replies, err := db.DoMulti(ctx, cmds...)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(keys))
	for i, r := range replies {
		if texts[i], _, err = r.Text(); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// Slot returns the slot of a key with its namespace.
func (db *DB) Slot(k keyspace.Key) uint16 { return keyspace.Slot(db.cfg.Namespace.Wire(k)) }
