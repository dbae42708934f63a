package redisdb

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
)

// Cmd is a command on one key: a verb, the key, and what follows it. Or it is a script, see Script.Command.
type Cmd struct {
	verb   string
	key    keyspace.Key
	args   []string
	script *Script
	more   []keyspace.Key // of a script, behind the first
}

// Command makes a Cmd, such as Command("HSET", key, "field", "value"). Every command of Redis that takes its one key
// first can be made; those without a key, MULTI and the scripting commands among them, cannot.
func Command(verb string, key keyspace.Key, args ...string) Cmd {
	return Cmd{verb: verb, key: key, args: args}
}

// Size is about how many bytes the command takes on the wire, without the text of a script.
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

// Key is the key that the command is about.
func (c Cmd) Key() keyspace.Key { return c.key }

func (db *DB) build(c rueidis.Client, cmd Cmd) rueidis.Completed {
	if cmd.script != nil {
		return db.buildScript(c, cmd, "EVALSHA", cmd.script.sha(db.bare))
	}
	return c.B().Arbitrary(cmd.verb).Keys(db.cfg.Namespace.Wire(cmd.key)).Args(cmd.args...).Build()
}

// Do sends one command.
func (db *DB) Do(ctx context.Context, verb string, key keyspace.Key, args ...string) Reply {
	if !key.Valid() {
		return Reply{err: fmt.Errorf("redisdb: %s: %w", verb, ErrKey)}
	}
	var r Reply
	err := db.send(ctx, verb, func(ctx context.Context, c rueidis.Client) error {
		r = replyOf(c.Do(ctx, db.build(c, Command(verb, key, args...))))
		return r.err
	})
	r.err = err
	return r
}

// DoMulti sends commands together, in their order but not as a transaction; a script that a server does not know yet is
// run behind all others. The keys may lie in different slots. The error is the first failure of the exchange or of a
// command; each reply carries its own.
func (db *DB) DoMulti(ctx context.Context, cmds ...Cmd) ([]Reply, error) {
	if len(cmds) == 0 {
		return nil, nil
	}
	for _, cmd := range cmds {
		if err := cmd.check(); err != nil {
			return nil, err
		}
	}
	calls, sizes := db.gather(cmds)
	replies := make([]Reply, len(cmds))
	err := db.send(ctx, cmds[0].verb, func(ctx context.Context, c rueidis.Client) error {
		built := make([]rueidis.Completed, len(calls))
		for i, call := range calls {
			built[i] = db.build(c, call)
		}
		results := c.DoMulti(ctx, built...)
		db.introduce(ctx, c, calls, results)
		var first error
		rest := replies
		for i, res := range results {
			r := replyOf(res)
			if first == nil {
				first = r.err
			}
			r.err = translate(calls[i].verb, classify(r.err), r.err)
			calls[i].spread(r, rest[:sizes[i]])
			rest = rest[sizes[i]:]
		}
		return first
	})
	return replies, err
}

// Reply is the answer to a command or a script.
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

// Err is the failure of the call, if any.
func (r Reply) Err() error { return r.err }

// Text is a string; ok is false when there is none, as after GET of a missing key.
func (r Reply) Text() (s string, ok bool, err error) {
	if r.err != nil || r.null {
		return "", false, r.err
	}
	s, err = r.msg.ToString()
	return s, err == nil, shape(err)
}

// Int is a number.
func (r Reply) Int() (int64, error) {
	if r.err != nil || r.null {
		return 0, r.err
	}
	n, err := r.msg.AsInt64()
	return n, shape(err)
}

// Ints is a list of numbers.
func (r Reply) Ints() ([]int64, error) {
	if r.err != nil || r.null {
		return nil, r.err
	}
	ns, err := r.msg.AsIntSlice()
	return ns, shape(err)
}

// Texts is a list of strings; a missing element is "".
func (r Reply) Texts() ([]string, error) {
	if r.err != nil || r.null {
		return nil, r.err
	}
	ss, err := r.msg.AsStrSlice()
	return ss, shape(err)
}

// Map is the answer to HGETALL; a missing key gives an empty map.
func (r Reply) Map() (map[string]string, error) {
	if r.err != nil || r.null {
		return nil, r.err
	}
	m, err := r.msg.AsStrMap()
	return m, shape(err)
}

// List is a list whose elements are replies themselves, as scripts give it.
func (r Reply) List() ([]Reply, error) {
	if r.err != nil || r.null {
		return nil, r.err
	}
	msgs, err := r.msg.ToArray()
	if err != nil {
		return nil, shape(err)
	}
	rs := make([]Reply, len(msgs))
	for i, m := range msgs {
		rs[i] = Reply{msg: m, null: m.IsNil()}
	}
	return rs, nil
}

// shape names an answer of another type than its reader expects: a defect on our side.
func shape(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("redisdb: unexpected answer: %w", err)
}
