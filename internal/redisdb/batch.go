package redisdb

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// maxGroups is the maximum number of groups per call. A script blocks the server, and each group takes some
// microseconds.
const maxGroups = 32

// MustBatchScript loads a script that processes several groups of keys and returns an array with one result per group.
// A Command of it is one group, whose keys share a slot (R3). Starting a script costs the server more than running a
// small one, so DoMulti merges neighbouring groups into one call. On a Cluster each group is called separately, because
// groups may be in different slots. A group that fails undoes nothing, and groups in the same call fail with it. Only
// groups with equal numbers of keys and arguments are merged.
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
