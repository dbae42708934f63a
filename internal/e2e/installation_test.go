package e2e

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// Limits on how long a test waits.
const (
	patience = 60 * time.Second // for results without a promised time, on a busy machine
	// repairTime is the limit for all stores to agree again after a failure (I9). If a scope of the admission cache is
	// lost right after its rebuild, the next rebuild waits ten seconds. Fifteen in all are promised on an idle machine.
	repairTime = 20 * time.Second
	expiryLag  = 5 * time.Second // from the deadline of an unpaid order to its expiry (I10)
)

// kind is the topology of an installation.
type kind string

const (
	embedded kind = "embedded"
	servers  kind = "servers"
	pair     kind = "pair"
	cluster  kind = "cluster"
)

// onInstallations runs a test once on each kind, or with -short only on the first one.
func onInstallations(t *testing.T, test func(t *testing.T, k kind), kinds ...kind) {
	t.Helper()
	t.Parallel()
	if testing.Short() {
		kinds = kinds[:1]
	}
	testenv.NoError(t, noteSources())
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			test(t, k)
		})
	}
}

// settings are configuration values by name, without the prefix COMANDA_.
type settings map[string]string

// limited enables the rate limits and the limits on unpaid orders. Other tests disable them, because they act faster
// than people and poll more often.
var limited = settings{"LIMITS": "on"}

// installation is one installation of Comanda: its stores, its settings and its processes.
type installation struct {
	t       *testing.T
	kind    kind
	env     settings
	servers []*server
	binary  string        // binary of commands; "" is the one under test
	next    atomic.Uint32 // index of the next server, counted up
	http    *http.Client
	redis   *testenv.Server   // nil when embedded; of a Cluster the first node
	nodes   []*testenv.Server // nodes of a Cluster
	secret  string            // the service token
	// postgres is the address of the database in the form that PostgreSQL's programs read; empty when embedded.
	postgres string
	bill     menu    // menu that the guests order from
	tables   []table // tables of the first branch
}

// pooled returns an address with a limit on each process's connections, because all servers of concurrent tests share
// the hundred that PostgreSQL accepts.
func pooled(address string) string {
	mark := "?"
	if strings.Contains(address, mark) {
		mark = "&"
	}
	return address + mark + "pool_max_conns=6"
}

// prepare creates the stores and settings without starting a server. The database is as left by a server that was
// started with the demo and stopped.
func prepare(t *testing.T, k kind, extra settings) *installation {
	t.Helper()
	return assemble(t, k, extra, true)
}

// bare prepares an installation like prepare, with a database without the demo: a file that does not exist yet, or
// migrated tables in PostgreSQL.
func bare(t *testing.T, k kind, extra settings) *installation {
	t.Helper()
	return assemble(t, k, extra, false)
}

func assemble(t *testing.T, k kind, extra settings, demo bool) *installation {
	t.Helper()
	s := &installation{t: t, kind: k, http: newClient(), secret: rand.Text() + rand.Text()}
	dir := testenv.MemoryDir(t)
	s.env = settings{"SERVICE_TOKEN": s.secret, "DATA_DIR": dir, "LISTEN": testenv.FreeAddr(t), "LIMITS": "off"}
	if k == embedded {
		s.useFiles(dir, demo)
	} else {
		s.useServers(demo)
	}
	maps.Copy(s.env, extra)
	s.add(s.env["LISTEN"], dir)
	if k == pair {
		s.add(testenv.FreeAddr(t), testenv.MemoryDir(t))
	}
	return s
}

// useFiles makes the installation store everything in its data folder.
func (s *installation) useFiles(dir string, demo bool) {
	s.t.Helper()
	path := filepath.Join(dir, "comanda.db")
	s.env["REDIS_LISTEN"], s.env["DATABASE_URL"] = testenv.FreeAddr(s.t), "sqlite:"+path
	if !demo {
		return
	}
	testenv.NoError(s.t, os.WriteFile(path, shared.demoSQLite(s.t), 0o600))
}

// useServers sets up a Redis and a database for the installation alone, and the shared broker.
func (s *installation) useServers(demo bool) {
	s.t.Helper()
	s.startRedis()
	s.postgres = sqldbtest.PostgresURL(s.t)
	if demo {
		shared.demoPostgres(s.t).load(s.t, s.postgres)
	}
	s.env["DATABASE_URL"] = pooled(s.postgres)
	s.useBroker()
}

// useBroker sets up exchanges and queues for the installation alone, and deletes them at its end.
func (s *installation) useBroker() {
	address, prefix := shared.brokerURL(s.t), testenv.Name(s.t)+"."
	s.env["AMQP_URL"], s.env["AMQP_PREFIX"] = address, prefix
	var names []string
	for _, q := range []string{
		"order.payment.await.q", "order.expired.q", "store.order.paid", "store.order.canceled", "comanda.daybook",
		"comanda.daybook.dlq", "comanda.order_mail", "comanda.order_mail.dlq", "comanda.trust", "comanda.trust.dlq",
		"comanda.notices", "comanda.notices.dlq",
		"inventory.order.created", "inventory.order.confirmed", "inventory.order.cancel.requested",
		"inventory.order.created.dlq", "inventory.order.confirmed.dlq", "inventory.order.cancel.requested.dlq",
	} {
		names = append(names, prefix+q)
	}
	testenv.DropQueues(s.t, address, names...)
}

func (s *installation) startRedis() {
	if s.kind == cluster {
		s.nodes = shared.cluster(s.t)
		s.redis, s.env["REDIS_URL"] = s.nodes[0], testenv.ClusterURL(s.nodes)
		return
	}
	s.redis = testenv.RedisServer(s.t)
	s.env["REDIS_URL"] = "redis://" + s.redis.Addr()
}

func (s *installation) add(addr, dir string) {
	v := &server{
		s: s, addr: addr, env: settings{"LISTEN": addr, "DATA_DIR": dir}, args: []string{"--demo"},
		log: filepath.Join(s.t.TempDir(), fmt.Sprintf("server-%d.log", len(s.servers)+1)),
	}
	s.servers = append(s.servers, v)
	s.t.Cleanup(v.close)
}

// open returns an installation whose servers run with the demo restaurant.
func open(t *testing.T, k kind, extra settings) *installation {
	t.Helper()
	s := prepare(t, k, extra)
	s.startDemo()
	return s
}

// useRelease makes all processes of the installation run the binary as it is released.
func (s *installation) useRelease() {
	s.t.Helper()
	s.binary = shared.released(s.t)
	for _, v := range s.servers {
		v.binary = s.binary
	}
}

// startDemo starts the servers with the demo, and reads its menu and tables.
func (s *installation) startDemo() {
	s.t.Helper()
	for _, v := range s.servers {
		v.start()
	}
	s.readMenu()
}

// environ returns the environment of the installation's processes: this process's without Comanda's settings, and the
// installation's settings.
func (s *installation) environ(more settings) []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "COMANDA_") {
			env = append(env, kv)
		}
	}
	for _, group := range []settings{s.env, more} {
		for name, v := range group {
			env = append(env, "COMANDA_"+name+"="+v)
		}
	}
	return env
}

// result is the exit code and output of a command.
type result struct {
	code     int
	out, err string
}

// run runs the binary with args until it exits.
func (s *installation) run(args ...string) result {
	s.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(s.t.Context(), cmp.Or(s.binary, binary), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = s.environ(nil), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("comanda %s: %v", strings.Join(args, " "), err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// must runs a command and fails the test if it does not succeed. It returns the output.
func (s *installation) must(args ...string) string {
	s.t.Helper()
	r := s.run(args...)
	if r.code != 0 {
		s.t.Fatalf("comanda %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

// readJSON decodes a command's output with --json.
func (s *installation) readJSON(v any, args ...string) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.must(append(args, "--json")...)), v); err != nil {
		s.t.Fatalf("comanda %s --json: %v", strings.Join(args, " "), err)
	}
}

// await polls check until it returns nil, and fails the test with its last error on a time-out.
func (s *installation) await(within time.Duration, check func() error) {
	s.t.Helper()
	var last error
	defer func() {
		if last != nil {
			s.t.Logf("waiting ended with: %v", last)
		}
	}()
	testenv.Eventually(s.t, within, func() bool {
		last = check()
		return last == nil
	})
}

// awaitCommand polls like await, for a check that runs commands, with longer pauses. Each command is a process with its
// own connections, and without pauses they would take half a core from the servers.
func (s *installation) awaitCommand(within time.Duration, check func() error) {
	s.t.Helper()
	pause := time.Duration(0)
	s.await(within, func() error {
		<-time.After(pause)
		pause = min(max(2*pause, 50*time.Millisecond), 400*time.Millisecond)
		return check()
	})
}

// redisAddr returns the address of the installation's Redis.
func (s *installation) redisAddr() string {
	if s.redis != nil {
		return s.redis.Addr()
	}
	return s.env["REDIS_LISTEN"]
}

// flush empties Redis, as an operator's mistake might.
func (s *installation) flush() {
	s.t.Helper()
	if reply := s.redisReply("*1\r\n$8\r\nFLUSHALL\r\n"); !strings.HasPrefix(reply, "+OK\r\n") {
		s.t.Fatalf("FLUSHALL is answered %q", reply)
	}
}

// keys returns all keys of Redis in the wire format.
func (s *installation) keys() string {
	s.t.Helper()
	return s.redisReply("*2\r\n$4\r\nKEYS\r\n$1\r\n*\r\n")
}

// redisCommand sends a command whose words have no spaces to the node that accepts it.
func (s *installation) redisCommand(line string) {
	s.t.Helper()
	addrs := []string{s.redisAddr()}
	for _, n := range s.nodes {
		addrs = append(addrs, n.Addr())
	}
	words := strings.Fields(line)
	command := fmt.Sprintf("*%d\r\n", len(words))
	for _, w := range words {
		command += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
	}
	for _, addr := range addrs {
		switch reply := s.redisReplyAt(addr, command); {
		case strings.HasPrefix(reply, "-MOVED"):
		case strings.HasPrefix(reply, "+OK"), strings.HasPrefix(reply, ":1"):
			return
		default:
			s.t.Fatalf("%s is answered %q", line, reply)
		}
	}
	s.t.Fatalf("no node takes %s", line)
}

// redisReply sends a command in the wire format and returns the whole reply.
func (s *installation) redisReply(command string) string {
	s.t.Helper()
	return s.redisReplyAt(s.redisAddr(), command)
}

func (s *installation) redisReplyAt(addr, command string) string {
	s.t.Helper()
	conn := testenv.Must(net.Dial("tcp", addr))(s.t)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = conn.Write([]byte(command + "*1\r\n$4\r\nQUIT\r\n")) // makes the server close the connection after the reply
	reply := testenv.Must(io.ReadAll(conn))(s.t)
	return string(reply)
}
