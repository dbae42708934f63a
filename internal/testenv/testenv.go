// Package testenv connects tests to real services: PostgreSQL, Redis and RabbitMQ. It also has the checks, the clock, the
// proxy and the HTTP calls that tests share. Only _test.go files and packages for tests import it; no part of the program
// does.
//
// A service that cannot be reached skips the test, so that the whole suite runs on a machine with only Go. With
// COMANDA_TEST_REQUIRE_SERVICES=1, as continuous integration sets it, the same test fails instead: there a skip would
// hide tests that never run.
//
// Tests that stop, kill or flood a service start one of their own with RedisServer, RedisCluster or RabbitServer. They
// need the programs redis-server and rabbitmq-server.
//
// The addresses of the shared services come from COMANDA_TEST_POSTGRES_URL, COMANDA_TEST_REDIS_ADDR and
// COMANDA_TEST_AMQP_URL. The defaults are the services' own ports on this machine.
package testenv

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// dialTimeout limits the check whether a service listens.
const dialTimeout = 2 * time.Second

// Postgres returns the URL of a database whose role may create databases. The default disables TLS, which pgx would
// accept from Debian's server: the handshake is nearly half of the cost of a connection, and e2e alone opens hundreds.
func Postgres(t testing.TB) string {
	t.Helper()
	raw := fromEnv("COMANDA_TEST_POSTGRES_URL", "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable")
	reach(t, "PostgreSQL", hostPort(t, raw, "5432"))
	return raw
}

// Redis returns the address of a Redis that other tests use at the same time. Use only your own keys (see Name) and
// never flush it. A test that stops, floods or empties Redis starts its own with RedisServer.
func Redis(t testing.TB) string {
	t.Helper()
	addr := fromEnv("COMANDA_TEST_REDIS_ADDR", "127.0.0.1:6379")
	reach(t, "Redis", addr)
	return addr
}

// Name returns a name that no other test or run uses, for anything inside a shared service: a database, a key prefix, a
// queue. It is lower case, starts with a letter and has 18 characters.
func Name(t testing.TB) string {
	t.Helper()
	var b [7]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return "test" + hex.EncodeToString(b[:])
}

// Eventually polls cond and fails the test if it does not hold within the given time. Use it for effects of other
// processes; inside one process, wait for a signal or a channel.
func Eventually(t testing.TB, within time.Duration, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	for pause := time.Millisecond; !cond(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the condition did not hold within %s", within)
		}
		time.Sleep(pause)
	}
}

// unavailablef skips the test, or fails it where the services are required.
func unavailablef(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("COMANDA_TEST_REQUIRE_SERVICES") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// reach checks only whether a process listens. Any fault behind an open port is for the test to find.
func reach(t testing.TB, service, addr string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, dialTimeout)
	if err != nil {
		unavailablef(t, "%s is not reachable: %v", service, err)
		return
	}
	_ = conn.Close()
}

// fromEnv returns a variable of the environment; blanks count as not set.
func fromEnv(name, fallback string) string {
	if v := strings.TrimSpace(os.Getenv(name)); v != "" {
		return v
	}
	return fallback
}

// hostPort returns the address of a URL, with the service's usual port if it names none.
func hostPort(t testing.TB, raw, port string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatalf("a test service's URL is malformed: %v", err)
	}
	if u.Port() != "" {
		port = u.Port()
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// History skips a test that needs an earlier commit if the checkout does not have it, as in a source archive or a
// shallow clone.
func History(t testing.TB, commit string) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "git", "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		t.Skipf("this checkout does not reach back to %s: %v", commit, err)
	}
}

// Parallel sets how many tests of a package run at the same time. It suits tests that mostly wait for other processes,
// so that more of them than processors may run. The flag -parallel of go test overrides it. TestMain calls it. It must
// be called before m.Run, which reads the flag.
func Parallel(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(n)) // package testing has defined the flag
	}
}

// Size returns the size of a test: quick in every run, soak if COMANDA_TEST_SOAK=1, as make soak sets it. quick is the
// smallest size that still proves the rule, because every change waits for it. soak is the load of an exceptional day,
// tested before a release.
func Size(quick, soak int) int {
	if os.Getenv("COMANDA_TEST_SOAK") == "1" {
		return soak
	}
	return quick
}

// Sequences sets the number of random sequences that rapid tries in a package whose steps are transactions on a real
// engine. The flag -rapid.checks overrides it. TestMain calls it.
func Sequences(n int) {
	flag.Parse()
	if !sequencesGiven() {
		_ = flag.Set("rapid.checks", strconv.Itoa(n)) // rapid has defined the flag
	}
}

// SequencesOf is Sequences for one test whose sequences are longer than the package's. The flag is one for the whole
// process, so such a test must not run in parallel with others that use rapid.
func SequencesOf(t testing.TB, n int) {
	t.Helper()
	if sequencesGiven() {
		return
	}
	before := flag.Lookup("rapid.checks").Value.String()
	_ = flag.Set("rapid.checks", strconv.Itoa(n))
	t.Cleanup(func() { _ = flag.Set("rapid.checks", before) })
}

// sequencesGiven reports whether the command line has -rapid.checks. It must be called before the flag is set.
var sequencesGiven = sync.OnceValue(func() bool {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	return given
})

// Shared collects the cleanups of resources that all tests of a package share, such as a server. TestMain calls Close
// after the last test. It is safe for concurrent use.
type Shared struct {
	mu       sync.Mutex
	cleanups []func()
}

// For returns t with its cleanups deferred to Close. The first test that needs a shared resource uses it to create the
// resource for all.
func (s *Shared) For(t testing.TB) testing.TB { return forAll{t, s} }

// Close runs the cleanups in reverse order.
func (s *Shared) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
	s.cleanups = nil
}

// forAll is a testing.TB whose cleanups run after its test has ended.
type forAll struct {
	testing.TB
	s *Shared
}

// Cleanup implements testing.TB. The embedded test would run fn at its own end.
func (f forAll) Cleanup(fn func()) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.s.cleanups = append(f.s.cleanups, fn)
}

// TempDir implements testing.TB. The directory of the embedded test would be removed at the test's end, while other
// tests still use it.
func (f forAll) TempDir() string {
	dir := Must(os.MkdirTemp("", "comanda-shared-"))(f)
	f.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Errorf implements testing.TB. It prints instead of failing a test, because no test is running when Close is called.
func (f forAll) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// TB is the part of testing.TB that tests of package rapid have too.
type TB interface {
	Helper()
	Error(args ...any)
	Fatal(args ...any)
}

// NoError fails the test at once with the first error that is not nil.
func NoError(t TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Must returns the value of a call that must not fail, or fails the test at once with the error of the call:
//
//	db := testenv.Must(sqldb.Open(ctx, config))(t)
//
// The test is passed to a second call, because Go passes several results on only to a function without further
// arguments.
func Must[T any](v T, err error) func(t TB) T {
	return func(t TB) T {
		t.Helper()
		NoError(t, err)
		return v
	}
}

// Must2 is Must for a call with two values.
func Must2[A, B any](a A, b B, err error) func(t TB) (A, B) {
	return func(t TB) (A, B) {
		t.Helper()
		NoError(t, err)
		return a, b
	}
}

// Equal compares what a test wants with what it got. Of two values that differ it reports the difference.
func Equal[T any](t TB, want, got T, opts ...cmp.Option) {
	t.Helper()
	if d := cmp.Diff(want, got, opts...); d != "" {
		t.Error("(-want +got):\n" + d)
	}
}

// ErrorIs reports an error that is not the wanted one, according to errors.Is. what names the call where its line does
// not explain it.
func ErrorIs(t TB, want, got error, what ...string) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Error(strings.Join(append(what, fmt.Sprintf("error %v, want %v", got, want)), ": "))
	}
}

// Err returns the error of a call that also has a value, for ErrorIs.
func Err[T any](_ T, err error) error { return err }

// Serve sends a request to a handler and returns the response. headers are pairs of a name and a value; a pair whose
// value is empty is left out. A body is JSON, unless a header says otherwise.
func Serve(t testing.TB, h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
