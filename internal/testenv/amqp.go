package testenv

import (
	"context"
	"net/url"
	"os/exec"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// rabbitmqctlTimeout limits one call of rabbitmqctl, which starts an Erlang VM each time.
const rabbitmqctlTimeout = 30 * time.Second

// AMQP returns the URL of a RabbitMQ virtual host for this test alone, which is deleted after it. If rabbitmqctl cannot
// run (another machine, another user), it returns the configured virtual host, which other tests share. Therefore
// always name queues and exchanges with Name.
func AMQP(t testing.TB) string {
	t.Helper()
	raw := fromEnv("COMANDA_TEST_AMQP_URL", "amqp://guest:guest@127.0.0.1:5672/")
	reach(t, "RabbitMQ", hostPort(t, raw, "5672"))
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatalf("COMANDA_TEST_AMQP_URL is malformed: %v", err)
	}

	vhost := Name(t)
	if rabbitmqctl("add_vhost", vhost) != nil {
		return raw
	}
	t.Cleanup(func() {
		if err := rabbitmqctl("delete_vhost", vhost); err != nil {
			t.Errorf("the virtual host %s is left behind: %v", vhost, err)
		}
	})
	if err := rabbitmqctl("set_permissions", "-p", vhost, u.User.Username(), ".*", ".*", ".*"); err != nil {
		t.Fatalf("permissions on the virtual host: %v", err)
	}
	u.Path = "/" + vhost
	return u.String()
}

// DropQueues deletes queues when the test ends. A virtual host deletes its queues one by one, and with a hundred of
// them the broker serves no other client meanwhile: on a busy machine for minutes.
func DropQueues(t testing.TB, address string, names ...string) {
	t.Helper()
	t.Cleanup(func() {
		// A connection of its own: the test may have closed, or lost, the one it used.
		conn, err := amqp.Dial(address)
		if err != nil {
			t.Errorf("queues are left behind: %v", err)
			return
		}
		defer func() { _ = conn.Close() }()
		ch, err := conn.Channel()
		for i := 0; err == nil && i < len(names); i++ {
			_, err = ch.QueueDelete(names[i], false, false, false)
		}
		if err != nil {
			t.Errorf("queues are left behind: %v", err)
		}
	})
}

// rabbitmqctl runs one command. It has its own time limit instead of the test's context, because cleanups run after
// that has ended.
func rabbitmqctl(args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), rabbitmqctlTimeout)
	defer cancel()
	return exec.CommandContext(ctx, "rabbitmqctl", append([]string{"-q"}, args...)...).Run()
}
