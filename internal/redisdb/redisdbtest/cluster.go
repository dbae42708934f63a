package redisdbtest

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/testenv"
)

// Cluster opens a Redis Cluster of three masters. Packages whose TestMain is VerifyMain share one, and each call gets a
// namespace of its own in it; others get one of their own, which takes seconds.
func Cluster(t testing.TB) *redisdb.DB {
	t.Helper()
	cfg := redisdb.Config{Timeout: patience}
	cfg.URL, cfg.Namespace = shared.take(t)
	return open(t, cfg)
}

// OwnCluster starts a Cluster for the test alone, whose nodes it may kill, and opens it.
func OwnCluster(t testing.TB) (*redisdb.DB, []*testenv.Server) {
	t.Helper()
	nodes := testenv.RedisCluster(t)
	return open(t, redisdb.Config{URL: testenv.ClusterURL(nodes), Timeout: patience}), nodes
}

// VerifyMain is the TestMain of packages that test on a Cluster: it ends the shared one and then looks for goroutines
// that were left behind. Two of rueidis are left out, which cannot be stopped: one waits five seconds before it closes
// connections to nodes that have left a Cluster, one up to a second before it looks for the nodes.
func VerifyMain(m *testing.M) {
	goleak.VerifyTestMain(sharing{m}, goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"),
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1"))
}

type sharing struct{ *testing.M }

// Run runs the tests.
func (s sharing) Run() int {
	shared.open = true
	defer shared.end()
	return s.M.Run()
}

// lasting is the Cluster of a test process and what ends it.
type lasting struct {
	mu       sync.Mutex
	open     bool // by VerifyMain, which will end it
	url      string
	taken    int
	cleanups []func()
}

var shared lasting

func (l *lasting) take(t testing.TB) (url string, ns keyspace.Namespace) {
	t.Helper()
	if !l.open {
		return testenv.ClusterURL(testenv.RedisCluster(t)), ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.url == "" {
		l.url = testenv.ClusterURL(testenv.RedisCluster(forAll{t, l}))
	}
	l.taken++
	return l.url, keyspace.Namespace(fmt.Sprintf("test%d", l.taken))
}

func (l *lasting) end() {
	for _, f := range slices.Backward(l.cleanups) {
		f()
	}
}

// forAll is the test that happens to come first, on behalf of all: what it would clean up stays until the last has ended.
type forAll struct {
	testing.TB
	l *lasting
}

// Cleanup implements testing.TB.
func (f forAll) Cleanup(fn func()) { f.l.cleanups = append(f.l.cleanups, fn) }

// TempDir implements testing.TB.
func (f forAll) TempDir() string {
	dir, err := os.MkdirTemp("", "comanda-cluster-")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
