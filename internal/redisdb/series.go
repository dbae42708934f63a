package redisdb

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// seriesMost is how many groups share a call: a server does nothing else meanwhile, and a group takes it some microseconds.
const seriesMost = 32

// MustSeries loads a script that does the same to each of several groups of keys and returns an array of what each has
// given. A Command of it is one group, whose keys lie in one slot (R3). To start a script costs a server more than what
// a small one does, so a single one gets neighbours of DoMulti in one call; a Cluster, whose groups lie anywhere, gets each
// alone. As in DoMulti, a group that fails undoes nothing, and those that share its call fail with it. The keys and the
// arguments of each group are as many as those of its neighbours, or they share no call.
func MustSeries(files fs.FS, name string) *Script {
	s := MustScript(files, name)
	s.series = true
	return s
}

// gather makes calls of commands: neighbours that are groups of one series become one. sizes tells how many each is.
func (db *DB) gather(cmds []Cmd) (calls []Cmd, sizes []int) {
	calls, sizes = make([]Cmd, 0, len(cmds)), make([]int, 0, len(cmds))
	alone := !db.option.ForceSingleClient
	for i, c := range cmds {
		if last := len(calls) - 1; !alone && i > 0 && c.follows(cmds[i-1]) && sizes[last] < seriesMost {
			calls[last].more = append(append(calls[last].more, c.key), c.more...)
			calls[last].args = append(calls[last].args, c.args...)
			sizes[last]++
			continue
		}
		if c.series() { // what is appended must not reach what the caller holds
			c.more, c.args = slices.Clip(c.more), slices.Clip(c.args)
		}
		calls, sizes = append(calls, c), append(sizes, 1)
	}
	return calls, sizes
}

func (c Cmd) series() bool { return c.script != nil && c.script.series }

func (c Cmd) follows(before Cmd) bool {
	return c.series() && c.script == before.script && len(c.more) == len(before.more) && len(c.args) == len(before.args)
}

var errSeries = errors.New("a series must answer for each of its groups")

// spread gives each group of a call its reply.
func (c Cmd) spread(r Reply, groups []Reply) {
	if c.series() && r.err == nil {
		list, err := r.List()
		if err == nil && len(list) == len(groups) {
			copy(groups, list)
			return
		}
		r.err = shape(errors.Join(err, fmt.Errorf("script %s: %w", c.verb, errSeries)))
	}
	for i := range groups {
		groups[i] = r
	}
}
