package redisdb

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
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
