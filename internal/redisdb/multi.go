package redisdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
	"comanda/internal/seq"
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
	cmds := seq.Map(keys, func(k keyspace.Key) Cmd { return Command("GET", k) })
	replies, err := db.DoMulti(ctx, cmds...)
	if err != nil {
		return nil, err
	}
	return seq.TryMap(replies, func(r Reply) (string, error) {
		text, _, err := r.Text()
		return text, err
	})
}

// Slot returns the slot of a key with its namespace.
func (db *DB) Slot(k keyspace.Key) uint16 { return keyspace.Slot(db.cfg.Namespace.Wire(k)) }

// maxGroups is the maximum number of groups per call. A script blocks the server, and each group takes some
// microseconds.
const maxGroups = 32

// MustBatchScript loads a script that processes several groups of keys and returns an array with one result per group.
// A Command of it is one group, whose keys share a slot (R3). Starting a script costs the server more than running a
// small one, so DoMulti merges neighbouring groups into one call. On a Cluster each group has its own call, because
// groups may be in different slots. If a group fails, the other groups of its call fail too, but nothing is undone.
// Only groups with equal numbers of keys and arguments are merged.
func MustBatchScript(files fs.FS, name string) *Script {
	s := MustScript(files, name)
	s.batch = true
	return s
}

// merge combines neighbouring groups of one batch script into calls. sizes are the numbers of groups per call.
func (db *DB) merge(cmds []Cmd) (calls []Cmd, sizes []int) {
	calls, sizes = make([]Cmd, 0, len(cmds)), make([]int, 0, len(cmds))
	alone := !db.option.ForceSingleClient
	for i, c := range cmds {
		if last := len(calls) - 1; !alone && i > 0 && c.mergesWith(cmds[i-1]) && sizes[last] < maxGroups {
			calls[last].more = append(append(calls[last].more, c.key), c.more...)
			calls[last].args = append(calls[last].args, c.args...)
			sizes[last]++
			continue
		}
		if c.batch() { // appending must not overwrite the caller's slices
			c.more, c.args = slices.Clip(c.more), slices.Clip(c.args)
		}
		calls, sizes = append(calls, c), append(sizes, 1)
	}
	return calls, sizes
}

func (c Cmd) batch() bool { return c.script != nil && c.script.batch }

func (c Cmd) mergesWith(before Cmd) bool {
	return c.batch() && c.script == before.script && len(c.more) == len(before.more) && len(c.args) == len(before.args)
}

var errBatch = errors.New("a batch script must return one result per group")

// distribute assigns the results of a call to its groups.
func (c Cmd) distribute(r Reply, groups []Reply) {
	if c.batch() && r.err == nil {
		list, err := r.List()
		if err == nil && len(list) == len(groups) {
			copy(groups, list)
			return
		}
		r.err = errors.Join(err, fmt.Errorf("redisdb: script %s: %w", c.verb, errBatch))
	}
	for i := range groups {
		groups[i] = r
	}
}
