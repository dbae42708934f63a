package redisdb

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
// master does not respond. An embedded store never evicts.
func (db *DB) Memory(ctx context.Context) (Memory, error) {
	m := Memory{Policies: map[string]string{}}
	if db.embedded {
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

// readMemory adds the INFO reply of a server to m. Replicas are ignored: they delete only what their master deletes.
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
	n, _ := strconv.ParseInt(fields["evicted_keys"], 10, 64) // not reported: none
	m.Evicted += n
}
