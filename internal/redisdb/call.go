package redisdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
	"comanda/internal/seq"
	"comanda/internal/telemetry"
)

// Cmd is a command on one key: verb, key and arguments. Or it is a script call, see Script.Command.
type Cmd struct {
	verb   string
	key    keyspace.Key
	args   []string
	script *Script
	more   []keyspace.Key // further keys of a script
}

// Command returns a Cmd, such as Command("HSET", key, "field", "value"). It supports every command whose only key is
// its first argument. Commands without a key, MULTI and the scripting commands are not supported.
func Command(verb string, key keyspace.Key, args ...string) Cmd {
	return Cmd{verb: verb, key: key, args: args}
}

// Size returns the approximate size of the command on the wire in bytes, without the text of a script.
func (c Cmd) Size() int {
	n := len(c.key.String())
	for _, k := range c.more {
		n += len(k.String())
	}
	for _, a := range c.args {
		n += len(a)
	}
	return n
}

// Key returns the key of the command.
func (c Cmd) Key() keyspace.Key { return c.key }

func (db *DB) build(c rueidis.Client, cmd Cmd) rueidis.Completed {
	if cmd.script != nil {
		return db.buildScript(c, cmd, "EVALSHA", db.lua(cmd.script).sha)
	}
	return c.B().Arbitrary(cmd.verb).Keys(db.cfg.Namespace.Wire(cmd.key)).Args(cmd.args...).Build()
}

// Do sends one command.
func (db *DB) Do(ctx context.Context, verb string, key keyspace.Key, args ...string) Reply {
	return db.do(ctx, Command(verb, key, args...))
}

// do sends one command or script call. A script that the server has not cached is sent a second time with its text. The
// second attempt shares the time limit of the first.
func (db *DB) do(ctx context.Context, cmd Cmd) Reply {
	if err := cmd.check(); err != nil {
		return Reply{err: err}
	}
	var r Reply
	err := db.send(ctx, cmd.verb, func(ctx context.Context, c rueidis.Client) error {
		r = replyOf(c.Do(ctx, db.build(c, cmd)))
		if cmd.notCached(r.err) {
			r = replyOf(c.Do(ctx, db.buildFull(c, cmd)))
		}
		return r.err
	})
	r.err = err
	return r
}

// DoMulti sends commands in one pipeline, in order but not as a transaction. Scripts that are not cached on the server
// run behind all other commands. The keys may be in different slots. The error is the first failure of the round trip or
// of a command; each reply has its own error. A pipeline costs one round trip, however many commands it has. All of
// them share one time limit.
func (db *DB) DoMulti(ctx context.Context, cmds ...Cmd) ([]Reply, error) {
	if len(cmds) == 0 {
		return nil, nil
	}
	for _, cmd := range cmds {
		if err := cmd.check(); err != nil {
			return nil, err
		}
	}
	calls, sizes := db.merge(cmds)
	replies := make([]Reply, len(cmds))
	err := db.send(ctx, cmds[0].verb, func(ctx context.Context, c rueidis.Client) error {
		built := make([]rueidis.Completed, len(calls))
		for i, call := range calls {
			built[i] = db.build(c, call)
		}
		results := c.DoMulti(ctx, built...)
		db.resend(ctx, c, calls, results)
		var first error
		rest := replies
		for i, res := range results {
			r := replyOf(res)
			if first == nil {
				first = r.err
			}
			r.err = translate(calls[i].verb, classify(r.err), r.err)
			calls[i].distribute(r, rest[:sizes[i]])
			rest = rest[sizes[i]:]
		}
		return first
	})
	return replies, err
}

// Reply is the reply to a command or a script. It is read once, by the accessor that suits the command. A null reply is
// the zero value, not an error.
type Reply struct {
	msg  rueidis.RedisMessage
	null bool
	err  error
}

func replyOf(res rueidis.RedisResult) Reply {
	msg, err := res.ToMessage()
	if rueidis.IsRedisNil(err) {
		return Reply{null: true}
	}
	return Reply{msg: msg, err: err}
}

// Err returns the error of the call, if any.
func (r Reply) Err() error { return r.err }

// read converts a reply; a null one is the zero value.
func read[T any](r Reply, convert func(*rueidis.RedisMessage) (T, error)) (v T, err error) {
	if r.err != nil || r.null {
		return v, r.err
	}
	if v, err = convert(&r.msg); err != nil { // a programming error
		err = fmt.Errorf("redisdb: unexpected reply type: %w", err)
	}
	return v, err
}

// Text returns a string; ok is false for a null reply, as GET returns it for a missing key.
func (r Reply) Text() (s string, ok bool, err error) {
	s, err = read(r, (*rueidis.RedisMessage).ToString)
	return s, err == nil && !r.null, err
}

// Int returns a number.
func (r Reply) Int() (int64, error) { return read(r, (*rueidis.RedisMessage).AsInt64) }

// Ints returns an array of numbers.
func (r Reply) Ints() ([]int64, error) { return read(r, (*rueidis.RedisMessage).AsIntSlice) }

// Texts returns an array of strings; a null element becomes "".
func (r Reply) Texts() ([]string, error) { return read(r, (*rueidis.RedisMessage).AsStrSlice) }

// Map returns the reply to HGETALL; for a missing key it is empty.
func (r Reply) Map() (map[string]string, error) { return read(r, (*rueidis.RedisMessage).AsStrMap) }

// List returns an array whose elements are replies, as scripts return it.
func (r Reply) List() ([]Reply, error) {
	msgs, err := read(r, (*rueidis.RedisMessage).ToArray)
	if msgs == nil {
		return nil, err
	}
	rs := make([]Reply, len(msgs))
	for i, m := range msgs {
		rs[i] = Reply{msg: m, null: m.IsNil()}
	}
	return rs, nil
}

type metrics struct {
	errors  *prometheus.CounterVec
	breaker prometheus.Gauge
	seconds *prometheus.HistogramVec
	used    *prometheus.GaugeVec
	limit   *prometheus.GaugeVec
}

func newMetrics(reg prometheus.Registerer) metrics {
	f := telemetry.Metrics(reg)
	return metrics{
		errors: f.Counters("redis_error_total", "Failed Redis calls by kind.", "kind"),
		breaker: f.Gauges("breaker_state", "0 while a dependency is in use, 1 while it counts as down.", "dep").
			WithLabelValues("redis"),
		seconds: f.Histograms("redis_command_duration_seconds", "Duration of Redis calls by command or script.",
			[]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .2}, "cmd"),
		used:  f.Gauges("redis_memory_used_bytes", "Memory in use by a Redis master.", "server"),
		limit: f.Gauges("redis_memory_limit_bytes", "maxmemory of a Redis master; 0 without a limit.", "server"),
	}
}

// call records one finished call.
func (m metrics) call(cmd string, took time.Duration, k kind) {
	m.seconds.WithLabelValues(cmd).Observe(took.Seconds())
	if k != fine {
		m.errors.WithLabelValues(string(k)).Inc()
	}
}

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
