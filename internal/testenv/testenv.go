// Package testenv connects tests to real services: PostgreSQL, Redis and RabbitMQ. Only _test.go files and packages for
// tests import it; no part of the program does.
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
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
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
