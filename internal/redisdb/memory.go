package redisdb

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// NoEviction is the maxmemory-policy under which a full server refuses writes instead of deleting keys.
const NoEviction = "noeviction"

// Memory describes how masters behave when their memory is full, as they report it.
type Memory struct {
	Policies map[string]string // the maxmemory-policy of each master by its address; "" if not reported
	Evicted  int64             // keys evicted since the masters were started
}

// Evicting returns the masters that delete keys when they are full, each with its policy.
func (m Memory) Evicting() []string {
	var all []string
	for addr, policy := range m.Policies {
		if policy != "" && policy != NoEviction {
			all = append(all, fmt.Sprintf("%s: %s", addr, policy))
		}
	}
	slices.Sort(all)
	return all
}

// Memory queries every master with INFO, because hosted servers often forbid CONFIG GET. It returns an error if a
// node does not respond. An embedded store never evicts.
func (db *DB) Memory(ctx context.Context) (Memory, error) {
	if db.embedded {
		return Memory{Policies: map[string]string{}}, nil
	}
	nodes, err := db.infos(ctx)
	if err != nil {
		return Memory{}, translate("INFO", classify(err), err)
	}
	return memoryOf(nodes), nil
}

// memoryOf ignores replicas: they delete only what their master deletes.
func memoryOf(nodes map[string]info) Memory {
	m := Memory{Policies: map[string]string{}}
	for addr, fields := range nodes {
		if fields.replica() {
			continue
		}
		m.Policies[addr] = fields["maxmemory_policy"]
		n, _ := strconv.ParseInt(fields["evicted_keys"], 10, 64) // not reported: none
		m.Evicted += n
	}
	return m
}
