package testenv

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	defer shared.Close()
	return m.Run()
}

var shared Shared

// node is the broker that tests use in turn, because each start takes seconds.
var node struct {
	sync.Mutex

	broker *Broker
}

func borrow(t *testing.T) *Broker {
	t.Helper()
	node.Lock()
	t.Cleanup(node.Unlock)
	if node.broker == nil {
		node.broker = RabbitServer(shared.For(t))
	}
	node.broker.HandTo(t)
	if !node.broker.Running() { // a test failed before restarting it
		node.broker.Restart()
	}
	return node.broker
}

// ping sends PING over a new connection with a short time-out, because a paused server accepts connections and never
// answers.
func ping(addr string) bool { return strings.HasPrefix(ask(addr, "PING"), "+PONG") }

func ask(addr, command string) string {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(200 * time.Millisecond))
	if _, err := conn.Write([]byte(command + "\r\n")); err != nil {
		return ""
	}
	answer := make([]byte, 64)
	n, _ := conn.Read(answer)
	return string(answer[:n])
}

func TestRedisServer_LifeCycle(t *testing.T) {
	s := RedisServer(t)
	addr := s.Addr()
	if !ping(addr) {
		t.Fatal("a started server does not answer")
	}
	for name, end := range map[string]func(){"stop": s.Stop, "kill": s.Kill} {
		end()
		end() // a second call does nothing
		if ping(addr) {
			t.Fatalf("the server answers after %s", name)
		}
		s.Restart()
		if s.Addr() != addr || !ping(addr) {
			t.Fatalf("no answer on the same address after %s and restart", name)
		}
	}
}

func TestRedisServer_ArgumentsWin(t *testing.T) {
	s := RedisServer(t, "--requirepass", "secret")
	if answer := ask(s.Addr(), "PING"); !strings.HasPrefix(answer, "-NOAUTH") {
		t.Errorf("answer %q, want a refusal", answer)
	}
}

func TestRedisServer_RestartIsEmpty(t *testing.T) {
	s := RedisServer(t)
	ask(s.Addr(), "SET a 1")
	s.Restart()
	if answer := ask(s.Addr(), "DBSIZE"); answer != ":0\r\n" {
		t.Errorf("DBSIZE %q after a restart, want 0", answer)
	}
}

func TestRedisServer_PausedServerKeepsConnectionsSilent(t *testing.T) {
	s := RedisServer(t)
	s.Pause()
	if ping(s.Addr()) {
		t.Fatal("a paused server answers")
	}
	s.Resume()
	Eventually(t, 5*time.Second, func() bool { return ping(s.Addr()) })
}

// Confirmed messages survive a kill and a stop, at the same address.
func TestRabbitServer_keeps_confirmed_messages(t *testing.T) {
	t.Parallel()
	b := borrow(t)
	url, queue := b.URL(), Name(t)
	want := []string{"first"}
	publish(t, url, queue, "first")
	for i, end := range []func(){b.Stop, b.Kill} {
		end()
		end() // a second call does nothing
		if _, err := amqp.Dial(url); err == nil {
			t.Fatalf("the broker answers after end %d", i)
		}
		b.Restart()
		if b.URL() != url {
			t.Errorf("%s after end %d, was %s", b.URL(), i, url)
		}
		text := fmt.Sprint("after end ", i)
		publish(t, url, queue, text)
		want = append(want, text)
	}
	if got := drain(t, url, queue); !slices.Equal(got, want) {
		t.Errorf("the queue has %v, want %v", got, want)
	}
	publish(t, url, queue, "last")
	b.Stop()
	b.Wipe()
	b.Restart()
	if got := drain(t, url, queue); got != nil {
		t.Errorf("a wiped broker has %v", got)
	}
}

// Two nodes run beside each other and beside the machine's own, and share nothing.
func TestRabbitServer_IsItsOwn(t *testing.T) {
	t.Parallel()
	a, b, queue := borrow(t), RabbitServer(t), Name(t)
	publish(t, a.URL(), queue, "to a")
	publish(t, b.URL(), queue, "to b")
	if got := drain(t, b.URL(), queue); !slices.Equal(got, []string{"to b"}) {
		t.Errorf("the queue has %v", got)
	}
}

// publish publishes a message to a durable queue and waits for the broker's confirmation.
func publish(t *testing.T, url, queue, text string) {
	t.Helper()
	ch := channel(t, url, queue)
	NoError(t, ch.Confirm(false))
	c, err := ch.PublishWithDeferredConfirm("", queue, true, false, amqp.Publishing{
		Body: []byte(text), DeliveryMode: amqp.Persistent,
	})
	if err != nil || !c.Wait() {
		t.Fatalf("not confirmed: %v", err)
	}
}

// drain takes all messages out of a queue.
func drain(t *testing.T, url, queue string) (all []string) {
	t.Helper()
	ch := channel(t, url, queue)
	for {
		d, ok := Must2(ch.Get(queue, true))(t)
		if !ok {
			return all
		}
		all = append(all, string(d.Body))
	}
}

func channel(t *testing.T, url, queue string) *amqp.Channel {
	t.Helper()
	conn := Must(amqp.Dial(url))(t)
	t.Cleanup(func() { _ = conn.Close() }) // fails if the broker was stopped first
	ch := Must(conn.Channel())(t)
	Must(ch.QueueDeclare(queue, true, false, false, false, amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeQuorum}))(t)
	return ch
}

func TestAMQP_VirtualHostAcceptsQueues(t *testing.T) {
	url := AMQP(t)
	conn := Must(amqp.Dial(url))(t)
	defer conn.Close()
	ch := Must(conn.Channel())(t)
	Must(ch.QueueDeclare(Name(t), false, true, true, false, nil))(t)
}

func TestSharedServicesAreReachable(t *testing.T) {
	if !ping(Redis(t)) {
		t.Error("Redis does not answer")
	}
	if url := Postgres(t); !strings.HasPrefix(url, "postgres") {
		t.Errorf("PostgreSQL's URL is %q", url)
	}
}

func TestName_IsUniqueAndPlain(t *testing.T) {
	a, b := Name(t), Name(t)
	if a == b || len(a) != 18 || strings.ToLower(a) != a || !strings.HasPrefix(a, "test") {
		t.Errorf("names %q and %q", a, b)
	}
}

// recorder is a TB that continues after a failure.
type recorder struct{ failures []string }

func (*recorder) Helper()             {}
func (r *recorder) Error(args ...any) { r.failures = append(r.failures, "error: "+fmt.Sprint(args...)) }
func (r *recorder) Fatal(args ...any) { r.failures = append(r.failures, "fatal: "+fmt.Sprint(args...)) }

func TestMust(t *testing.T) {
	r := &recorder{}
	NoError(r, nil)
	Equal(r, []int{1, 2}, []int{1, 2})
	a, b := Must2(1, "two", nil)(r)
	if n := Must(3, nil)(r); a != 1 || b != "two" || n != 3 || len(r.failures) > 0 {
		t.Errorf("Must2 and Must = %d, %q, %d, want 1, two, 3 and no failure, not %q", a, b, n, r.failures)
	}
	NoError(r, io.EOF)
	Must(1, errors.New("no value"))(r)
	Must2(1, 2, errors.New("no values"))(r)
	if want := []string{"fatal: EOF", "fatal: no value", "fatal: no values"}; !slices.Equal(r.failures, want) {
		t.Errorf("%q, want %q", r.failures, want)
	}
	r.failures = nil
	Equal(r, "wanted", "got")
	if len(r.failures) != 1 || !strings.HasPrefix(r.failures[0], "error: ") || !strings.Contains(r.failures[0], "wanted") {
		t.Errorf("failures = %q, want one error with the wanted value", r.failures)
	}
}
