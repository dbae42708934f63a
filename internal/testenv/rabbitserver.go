package testenv

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// brokerStart limits the start of a node, which takes four seconds on an idle machine.
const brokerStart = 2 * time.Minute

// Broker is a RabbitMQ node of one test with its own folder, name and ports. It is removed when the test ends.
// Confirmed messages survive Kill and Restart, with one exception: a quorum queue that RabbitMQ 3.10 declared less than
// a second before a Kill accepts no more messages. Its methods must be called from the goroutine of the test.
type Broker struct {
	process

	addr string
	data string // the node's data folder
	env  []string
}

// RabbitServer starts a RabbitMQ node without plugins. Its user is guest. If no Erlang port mapper runs on the machine,
// the node starts one, which keeps running because other nodes may use it.
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
		b.settle(t, script, t.TempDir())
		if err = b.start(); err == nil {
			return b
		}
	}
	t.Fatalf("rabbitmq-server does not start: %v", err)
	return nil
}

// URL returns the node's URL, which stays the same over Restart.
func (b *Broker) URL() string { return "amqp://guest:guest@" + b.addr + "/" }

// Wipe deletes all data of a stopped node, as a replaced disk would. The next Restart then begins without queues and
// messages.
func (b *Broker) Wipe() {
	b.tb.Helper()
	if b.cmd != nil {
		b.tb.Fatal("a running node cannot be wiped")
	}
	NoError(b.tb, os.RemoveAll(b.data))
}

// rabbitScript returns the script that starts a node. It avoids the wrapper in Debian's path, which changes the user
// first or refuses to run.
func rabbitScript() (string, error) {
	const debian = "/usr/lib/rabbitmq/bin/rabbitmq-server"
	if _, err := os.Stat(debian); err == nil {
		return debian, nil
	}
	return exec.LookPath("rabbitmq-server")
}

// settle sets the node's folder and address. The node shares no settings, data or name with one installed on the
// machine.
func (b *Broker) settle(t testing.TB, script, dir string) {
	t.Helper()
	t.Cleanup(b.Kill) // runs before the removal of dir
	b.addr, b.data = FreeAddr(t), filepath.Join(dir, "data")
	_, distribution, _ := net.SplitHostPort(FreeAddr(t))
	conf := filepath.Join(dir, "rabbitmq.conf")
	for path, text := range map[string]string{conf: "listeners.tcp.own = " + b.addr + "\n", filepath.Join(dir, "plugins"): ""} {
		NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	b.env = []string{"HOME=" + dir, "ERL_EPMD_ADDRESS=127.0.0.1", "ERL_CRASH_DUMP=" + os.DevNull}
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
		// Its scheduler threads sleep at once when idle, instead of spinning on a processor that a test needs.
		"SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none",
	} {
		b.env = append(b.env, fmt.Sprintf("RABBITMQ_%s=%s", name, v))
	}
	// This makes the script exec the node, instead of keeping it as a child that would outlive it.
	b.env = append(b.env, "RUNNING_UNDER_SYSTEMD=true")
	if scripts, err := linkBroker(script, filepath.Join(dir, "home")); err != nil {
		t.Log(err) // the node then starts as installed, in twice the time
	} else {
		b.env = append(b.env, "RABBITMQ_SCRIPTS_DIR="+scripts)
	}
}

// linkBroker builds an installation of symbolic links to that of a script, with the applications that the broker needs
// and no plugins, and returns its folder of scripts. Erlang searches all applications' folders for each of a node's 800
// modules: without the forty plugins a node starts in half the time.
func linkBroker(script, home string) (scripts string, err error) {
	if script, err = filepath.EvalSymlinks(script); err != nil {
		return "", err
	}
	installed := filepath.Dir(filepath.Dir(script))
	scripts = filepath.Join(home, "sbin")
	links := map[string]string{} // link names by target
	files, err := filepath.Glob(filepath.Join(installed, "sbin", "*"))
	for _, f := range files {
		links[f] = filepath.Join(scripts, filepath.Base(f))
	}
	for open := []string{"rabbit"}; len(open) > 0 && err == nil; open = open[1:] {
		found, _ := filepath.Glob(filepath.Join(installed, "plugins", open[0]+"-*"))
		if len(found) != 1 || links[found[0]] != "" {
			continue // part of Erlang, or linked already
		}
		links[found[0]] = filepath.Join(home, "plugins", filepath.Base(found[0]))
		var text []byte
		text, err = os.ReadFile(filepath.Join(found[0], "ebin", open[0]+".app"))
		if needs := applications.FindSubmatch(text); needs != nil {
			open = append(open, strings.FieldsFunc(string(needs[1]), func(r rune) bool { return strings.ContainsRune(" ,\r\n\t", r) })...)
		}
	}
	if err == nil && len(links) == len(files) {
		err = fmt.Errorf("the applications of %s are not beside it", script)
	}
	for to, link := range links {
		if err == nil {
			err = os.MkdirAll(filepath.Dir(link), 0o700)
		}
		if err == nil {
			err = os.Symlink(to, link)
		}
	}
	return scripts, err
}

// applications matches the list of required applications in an Erlang .app file.
var applications = regexp.MustCompile(`{applications,\s*\[([^\]]*)\]`)

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
		// The test may have closed, or lost, its own connection.
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
