package testenv

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// brokerStart bounds the start of a node: five seconds on an idle machine.
const brokerStart = 2 * time.Minute

// Broker is a RabbitMQ node of one test, with a folder, a name and ports of its own, gone when the test ends. What was
// confirmed to somebody is there after Kill and Restart, except that a quorum queue which RabbitMQ 3.10 has declared less
// than a second before a Kill takes nothing any more. Its methods are for the goroutine of the test.
type Broker struct {
	process

	addr string
	data string // folder
	env  []string
}

// RabbitServer starts a RabbitMQ node without plugins. Its user is guest. Where no Erlang port mapper runs on the machine
// the node starts one, which stays: it is the machine's.
func RabbitServer(t testing.TB) *Broker {
	t.Helper()
	script, err := rabbitScript()
	if err != nil {
		unavailablef(t, "rabbitmq-server is not installed: %v", err)
	}
	b := &Broker{}
	b.process = process{
		tb: t, name: "rabbitmq-server", ready: "Server startup complete", within: brokerStart,
		command: func() *exec.Cmd {
			cmd := exec.Command(script)
			cmd.Env = b.env
			return cmd
		},
	}
	for range startTries {
		b.settle(t, t.TempDir())
		if err = b.start(); err == nil {
			return b
		}
	}
	t.Fatalf("rabbitmq-server does not start: %v", err)
	return nil
}

// URL stays the same over Restart.
func (b *Broker) URL() string { return "amqp://guest:guest@" + b.addr + "/" }

// Wipe has the stopped node forget everything, as one does that gets a new disk.
func (b *Broker) Wipe() {
	b.tb.Helper()
	if b.cmd != nil {
		b.tb.Fatal("a running node cannot be wiped")
	}
	if err := os.RemoveAll(b.data); err != nil {
		b.tb.Fatal(err)
	}
}

// rabbitScript finds what starts a node. What Debian has in the path changes the user first, or wants to be called by one.
func rabbitScript() (string, error) {
	const debian = "/usr/lib/rabbitmq/bin/rabbitmq-server"
	if _, err := os.Stat(debian); err == nil {
		return debian, nil
	}
	return exec.LookPath("rabbitmq-server")
}

// settle gives the node a folder and an address. Nothing of a node that the machine has is used: neither its settings nor
// its data nor its name.
func (b *Broker) settle(t testing.TB, dir string) {
	t.Helper()
	t.Cleanup(b.Kill) // runs before the removal of dir
	b.addr, b.data = FreeAddr(t), filepath.Join(dir, "data")
	_, distribution, _ := net.SplitHostPort(FreeAddr(t))
	conf := filepath.Join(dir, "rabbitmq.conf")
	for path, text := range map[string]string{conf: "listeners.tcp.own = " + b.addr + "\n", filepath.Join(dir, "plugins"): ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.env = []string{"HOME=" + dir, "ERL_EPMD_ADDRESS=127.0.0.1"}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name == "PATH" || name == "LANG" || name == "LC_ALL" {
			b.env = append(b.env, kv)
		}
	}
	for name, v := range map[string]string{
		"NODENAME": Name(t) + "@localhost", "DIST_PORT": distribution,
		"CONFIG_FILE": conf, "CONFIG_FILES": filepath.Join(dir, "conf.d"), "ADVANCED_CONFIG_FILE": filepath.Join(dir, "advanced"),
		"CONF_ENV_FILE": os.DevNull, "ENABLED_PLUGINS_FILE": filepath.Join(dir, "plugins"),
		"MNESIA_BASE": b.data, "LOG_BASE": filepath.Join(dir, "log"), "LOGS": "-",
		"SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
	} {
		b.env = append(b.env, fmt.Sprintf("RABBITMQ_%s=%s", name, v))
	}
	// The script then becomes the node, instead of keeping it as a child that would outlive it.
	b.env = append(b.env, "RUNNING_UNDER_SYSTEMD=true")
}
