package redisdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/rueidis"
)

// Server describes the server for operators.
type Server struct {
	Version  string
	RunID    string
	Mode     string // standalone, cluster, or embedded
	Embedded bool
}

// Server queries the server, or one node of a Cluster. It does so even while the server counts as down.
func (db *DB) Server(ctx context.Context) (Server, error) {
	nodes, err := db.nodes(ctx)
	for _, n := range nodes {
		return n.Server, nil
	}
	if errors.Is(err, ErrVersion) {
		return Server{}, err
	}
	return Server{}, translate("INFO", classify(err), err)
}

// Identity returns a fingerprint of the masters that hold the keys. It changes when one of them is restarted, replaced
// or promoted, so that its data may be lost or old. It returns an error if a node does not respond.
func (db *DB) Identity(ctx context.Context) (string, error) {
	nodes, err := db.infos(ctx)
	if err != nil {
		return "", translate("INFO", classify(err), err)
	}
	var ids []string
	for _, fields := range nodes {
		if !fields.replica() {
			ids = append(ids, fields["run_id"])
		}
	}
	slices.Sort(ids)
	return shaOf(strings.Join(ids, " ")), nil
}

// nodes returns the identities of the nodes that respond. If none does, or one is too old, it returns an error.
func (db *DB) nodes(ctx context.Context) (map[string]node, error) {
	infos, err := db.infos(ctx)
	db.observeMemory(infos)
	nodes := make(map[string]node, len(infos))
	for addr, fields := range infos {
		n, err := fields.node()
		if err != nil {
			return nil, err
		}
		nodes[addr] = n
	}
	if len(nodes) == 0 {
		return nil, err
	}
	return nodes, nil
}

// info is the reply of a node to INFO, by field, https://redis.io/docs/latest/commands/info/.
type info map[string]string

func parseInfo(text string) info {
	fields := info{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

func (i info) replica() bool { return i["role"] == "slave" }

// node returns the identity of the node, or ErrVersion.
func (i info) node() (node, error) {
	n := node{replID: i["master_replid"]}
	n.Version, n.RunID, n.Mode = i["redis_version"], i["run_id"], i["redis_mode"]
	n.Embedded = n.Mode == embeddedMode
	major, _, _ := strings.Cut(n.Version, ".")
	if m, err := strconv.Atoi(major); err == nil && m < 7 && !n.Embedded {
		return n, fmt.Errorf("%w; this is %s", ErrVersion, n.Version)
	}
	return n, nil
}

// infos queries all nodes concurrently, so that a node that does not respond does not use up the time of the others.
// The error is the error of one of the nodes that did not respond. The time limit starts after connect, which takes up
// to a second if one of a Cluster's addresses is unreachable.
func (db *DB) infos(ctx context.Context) (map[string]info, error) {
	c, err := db.connect()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, db.cfg.probe())
	defer cancel()
	type answer struct {
		addr, text string
		err        error
	}
	all := c.Nodes()
	// The channel has room for all answers, so that no goroutine blocks after infos has returned.
	answers := make(chan answer, len(all))
	for addr, one := range all {
		go func(one rueidis.Client) {
			text, err := one.Do(ctx, one.B().Arbitrary("INFO").Build()).ToString()
			answers <- answer{addr, text, err}
		}(one)
	}
	infos := make(map[string]info, len(all))
	for range all {
		if a := <-answers; a.err == nil {
			infos[a.addr] = parseInfo(a.text)
		} else {
			err = a.err
		}
	}
	return infos, err
}

// NoEviction is the maxmemory-policy under which a full server refuses writes instead of deleting keys.
const NoEviction = "noeviction"

// Memory describes the memory of all masters and how they behave when it is full, as they report it.
type Memory struct {
	Servers []ServerMemory // ordered by address; none for an embedded store
	Evicted int64          // keys evicted since the masters were started
}

// ServerMemory is the memory of one master, in bytes.
type ServerMemory struct {
	Addr    string `json:"addr"`
	Used    int64  `json:"usedBytes"`
	Limit   int64  `json:"limitBytes" doc:"maxmemory; 0: no limit."`
	Evicted int64  `json:"evictedKeys" doc:"Since the server was started."`
	Policy  string `json:"policy" doc:"maxmemory-policy; empty if not reported."`
}

// Share returns the used part of the limit; 0 without a limit.
func (m ServerMemory) Share() float64 {
	if m.Limit <= 0 {
		return 0
	}
	return float64(m.Used) / float64(m.Limit)
}

// Fullest returns the master that is closest to its limit; the zero value if there is none.
func (m Memory) Fullest() ServerMemory {
	var fullest ServerMemory
	for _, s := range m.Servers {
		if fullest.Addr == "" || s.Share() > fullest.Share() {
			fullest = s
		}
	}
	return fullest
}

// Evicting returns the masters that delete keys when they are full, each with its policy.
func (m Memory) Evicting() []string {
	var all []string
	for _, s := range m.Servers {
		if s.Policy != "" && s.Policy != NoEviction {
			all = append(all, fmt.Sprintf("%s: %s", s.Addr, s.Policy))
		}
	}
	return all
}

// Memory queries every master with INFO, because hosted servers often forbid CONFIG GET. It returns an error if a
// node does not respond. An embedded store never evicts.
func (db *DB) Memory(ctx context.Context) (Memory, error) {
	if db.embedded {
		return Memory{}, nil
	}
	nodes, err := db.infos(ctx)
	if err != nil {
		return Memory{}, translate("INFO", classify(err), err)
	}
	return memoryOf(nodes), nil
}

// LastMemory returns what the last heartbeat has read, without asking a server. Nodes that did not respond are missing.
func (db *DB) LastMemory() Memory {
	if m := db.memory.Load(); m != nil {
		return *m
	}
	return Memory{}
}

// observeMemory keeps and exports the memory of a heartbeat. A heartbeat that no node has answered changes nothing.
func (db *DB) observeMemory(nodes map[string]info) {
	if db.embedded || len(nodes) == 0 {
		return
	}
	m := memoryOf(nodes)
	db.memory.Store(&m)
	// The series of a server that was replaced must not keep its last value.
	db.metrics.used.Reset()
	db.metrics.limit.Reset()
	for _, s := range m.Servers {
		db.metrics.used.WithLabelValues(s.Addr).Set(float64(s.Used))
		db.metrics.limit.WithLabelValues(s.Addr).Set(float64(s.Limit))
	}
}

// memoryOf ignores replicas: they delete only what their master deletes.
func memoryOf(nodes map[string]info) Memory {
	var m Memory
	for _, addr := range slices.Sorted(maps.Keys(nodes)) {
		fields := nodes[addr]
		if fields.replica() {
			continue
		}
		s := ServerMemory{
			Addr: addr, Used: fields.number("used_memory"), Limit: fields.number("maxmemory"),
			Evicted: fields.number("evicted_keys"), Policy: fields["maxmemory_policy"],
		}
		m.Servers = append(m.Servers, s)
		m.Evicted += s.Evicted
	}
	return m
}

// number returns a field as a number; 0 if it is not reported.
func (i info) number(field string) int64 {
	n, _ := strconv.ParseInt(i[field], 10, 64)
	return n
}
