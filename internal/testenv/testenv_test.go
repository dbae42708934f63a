package testenv

import (
	"net"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// ping asks over a fresh connection and gives up soon: a paused server accepts connections and never answers.
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
		end() // ending twice is harmless
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

func TestAMQP_VirtualHostAcceptsQueues(t *testing.T) {
	url := AMQP(t)
	conn, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclare(Name(t), false, true, true, false, nil); err != nil {
		t.Fatal(err)
	}
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
