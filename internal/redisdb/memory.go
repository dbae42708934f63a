package redisdb

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// NoEviction is the one maxmemory-policy under which a server that is full refuses writes instead of deleting keys.
const NoEviction = "noeviction"

// Memory is what masters do when they are full, as they say it themselves.
type Memory struct {
	Policies map[string]string // the maxmemory-policy of each master by its address; "" where it is not told
	Evicted  int64             // keys that they have deleted to free memory since they were started
}

// Evicting lists the masters that delete keys when they are full, each with its policy.
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

// Memory asks every master, one INFO each: rented servers often forbid CONFIG GET. It is an error while one of them does
// not answer. The store inside a process deletes nothing.
func (db *DB) Memory(ctx context.Context) (Memory, error) {
	m := Memory{Policies: map[string]string{}}
	if db.bare {
		return m, nil
	}
	ctx, cancel := context.WithTimeout(ctx, db.cfg.probe())
	defer cancel()
	c, err := db.connect()
	if err != nil {
		return m, translate("INFO", classify(err), err)
	}
	for addr, one := range c.Nodes() {
		text, err := one.Do(ctx, one.B().Arbitrary("INFO").Build()).ToString()
		if err != nil {
			return m, translate("INFO", classify(err), err)
		}
		readMemory(&m, addr, text)
	}
	return m, nil
}

// readMemory takes what a server has answered to INFO. A replica deletes only what its master does, and does not count.
func readMemory(m *Memory, addr, info string) {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	if fields["role"] == "slave" {
		return
	}
	m.Policies[addr] = fields["maxmemory_policy"]
	n, _ := strconv.ParseInt(fields["evicted_keys"], 10, 64) // not told: none
	m.Evicted += n
}
