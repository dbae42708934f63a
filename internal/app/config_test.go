package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"comanda/internal/app"
	"comanda/internal/testenv"
)

func load(t *testing.T, environ ...string) (app.Config, error) {
	t.Helper()
	return app.LoadConfig(nil, environ, "", nil)
}

func TestLoadConfig_defaults(t *testing.T) {
	c := testenv.Must(load(t, "HOME=/tmp", "COMANDA_TEST_POSTGRES_URL=x"))(t)
	for what, ok := range map[string]bool{
		"listen":   c.Listen == "127.0.0.1:8080",
		"public":   c.PublicURL == "http://127.0.0.1:8080",
		"database": c.DatabaseURL == "sqlite:data/comanda.db",
		"window":   c.PaymentWindow == 15*time.Minute && c.CounterWindow == 45*time.Minute && c.ExpiryGrace == 90*time.Second,
		"tickets":  c.TicketWarn == 10*time.Minute && c.TicketLate == 20*time.Minute,
		"sandbox":  !c.SandboxPayments,
		"limits":   c.Limits,
	} {
		if !ok {
			t.Errorf("default of %s differs: %+v", what, c)
		}
	}
}

// Commands use the public URL of the running server instead of that of their own settings. An explicit URL takes
// precedence.
func TestConfig_AsServed(t *testing.T) {
	folder := t.TempDir()
	served := func(environ ...string) string {
		t.Helper()
		c := testenv.Must(load(t, append(environ, "COMANDA_DATA_DIR="+folder)...))(t)
		c, _ = c.AsServed()
		return c.PublicURL
	}
	if url := served(); url != "http://127.0.0.1:8080" {
		t.Errorf("address without a server = %s, want http://127.0.0.1:8080", url)
	}
	for note, want := range map[string]string{
		"http://127.0.0.1:18200\n": "http://127.0.0.1:18200", "javascript:x\n": "http://127.0.0.1:8080", "": "http://127.0.0.1:8080",
	} {
		testenv.NoError(t, os.WriteFile(filepath.Join(folder, "public-url"), []byte(note), 0o600))
		if url := served(); url != want {
			t.Errorf("address with note %q = %s, want %s", note, url, want)
		}
		if url := served("COMANDA_PUBLIC_URL=https://pho.example/"); url != "https://pho.example" {
			t.Errorf("configured address = %s, want https://pho.example", url)
		}
	}
}

// Flags take precedence over the environment, the environment over the file, the file over a command's defaults, and a later line
// of the file over an earlier one.
func TestLoadConfig_precedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "comanda.conf")
	text := "# comment\nCOMANDA_LOG_LEVEL=warn\nCOMANDA_LISTEN=127.0.0.1:1\nCOMANDA_LOG_LEVEL = \"debug\"\nCOMANDA_PAYMENT_WINDOW=3s\nCOMANDA_SANDBOX_PAYMENTS=off\n"
	testenv.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	c := testenv.Must(app.LoadConfig(map[string]string{"COMANDA_LISTEN": "127.0.0.1:3"},
		[]string{"COMANDA_LISTEN=127.0.0.1:2", "COMANDA_PAYMENT_WINDOW=4s"}, file,
		map[string]string{"COMANDA_SANDBOX_PAYMENTS": "on", "COMANDA_LOG_FORMAT": "text"}))(t)
	if c.Listen != "127.0.0.1:3" || c.PaymentWindow != 4*time.Second || c.CounterWindow != 12*time.Second || c.Log.Level != "debug" || c.SandboxPayments ||
		c.Log.Format != "text" {
		t.Errorf("config = %+v, want flags over environment over file", c)
	}
}

func TestLoadConfig_refuses(t *testing.T) {
	for name, environ := range map[string][]string{
		"a misspelt name":                 {"COMANDA_LISTN=127.0.0.1:1"},
		"late before it is old":           {"COMANDA_TICKET_LATE=10m"},
		"no duration":                     {"COMANDA_PAYMENT_WINDOW=15"},
		"a key that can be guessed":       {"COMANDA_TOKEN_KEY=" + strings.Repeat("k", 31)},
		"a week at the counter":           {"COMANDA_COUNTER_WINDOW=168h"},
		"a window of a week":              {"COMANDA_PAYMENT_WINDOW=168h"},
		"neither on nor off":              {"COMANDA_LIMITS=maybe"},
		"no limits in public":             {"COMANDA_LIMITS=off", "COMANDA_PUBLIC_URL=https://order.example.com"},
		"a short token in public":         {"COMANDA_SERVICE_TOKEN=short", "COMANDA_PUBLIC_URL=https://order.example.com"},
		"a public address without scheme": {"COMANDA_PUBLIC_URL=order.example.com"},
		"a listen address without a port": {"COMANDA_LISTEN=abc"},
		"profiles for all machines":       {"COMANDA_DEBUG_LISTEN=0.0.0.0:6060"},
		"profiles without a port":         {"COMANDA_DEBUG_LISTEN=127.0.0.1"},
		"a drain of two minutes":          {"COMANDA_DRAIN_DELAY=2m"},
		"a drain that is over before":     {"COMANDA_DRAIN_DELAY=-1s"},
		"an unknown log format":           {"COMANDA_LOG_FORMAT=xml"},
		"a namespace with a space":        {"COMANDA_REDIS_NAMESPACE=a b"},
		"VNPay's page without its API": {
			"COMANDA_VNPAY_TMN_CODE=COMANDA1", "COMANDA_VNPAY_HASH_SECRET=" + strings.Repeat("k", 32),
			"COMANDA_VNPAY_PAY_URL=https://pay.vnpay.vn/vpcpay.html",
		},
	} {
		_, err := load(t, environ...)
		if err == nil {
			t.Errorf("%s is accepted", name)
			continue
		}
		// What follows the variable reads on: "COMANDA_LIMITS must be on or off".
		if text, ok := strings.CutPrefix(err.Error(), "configuration: COMANDA_"); !ok || strings.Contains(text, "configuration") {
			t.Errorf("%s: %v, want the variable", name, err)
		}
	}
	_, err := load(t, "COMANDA_LIMITS=maybe", "COMANDA_TRUST_DAYS=x", "COMANDA_FOO=1", "COMANDA_BAR=1")
	want := `configuration: COMANDA_TRUST_DAYS must be a whole number, not "x"
COMANDA_LIMITS must be on or off, not "maybe"
COMANDA_BAR is not a setting
COMANDA_FOO is not a setting`
	if err == nil || err.Error() != want {
		t.Errorf("several errors = %v, want %s", err, want)
	}
	if _, err := app.LoadConfig(nil, nil, filepath.Join(t.TempDir(), "missing"), nil); err == nil {
		t.Error("a file that is not there is accepted")
	}
}

// A wrong address is reported with the name of its setting, before anything is opened, and without a password.
func TestLoadConfig_addresses(t *testing.T) {
	for setting, want := range map[string]string{
		"COMANDA_LISTEN=http://":                                              `"http://" has no port from 0 to 65535`,
		"COMANDA_LISTEN=127.0.0.1:99999":                                      `"127.0.0.1:99999" has no port from 0 to 65535`,
		"COMANDA_DEBUG_LISTEN=127.0.0.1:99999":                                `"127.0.0.1:99999" has no port from 0 to 65535`,
		"COMANDA_DEBUG_LISTEN=0.0.0.0:6060":                                   `"0.0.0.0:6060" is not a loopback address`,
		"COMANDA_REDIS_LISTEN=6380":                                           `"6380" is not an address with a port, such as 127.0.0.1:8080`,
		"COMANDA_REDIS_LISTEN=0.0.0.0:6380":                                   `"0.0.0.0:6380" is not a loopback address`,
		"COMANDA_REDIS_LISTEN=localhost:99999":                                `"localhost:99999" has no port from 0 to 65535`,
		"COMANDA_REDIS_URL=localhost:6379":                                    "must begin with redis:// or rediss://",
		"COMANDA_REDIS_URL=redis://:hunter2@h:6379/x":                         "address 1 of the Redis URL is malformed",
		"COMANDA_DATABASE_URL=comanda.db":                                     `"comanda.db" is not a database address`,
		"COMANDA_DATABASE_URL=sqlite:":                                        "the SQLite address has no path",
		"COMANDA_DATABASE_URL=postgres://u:hunter2@h:5432/d?pool_max_conns=x": "the PostgreSQL address is not valid",
		"COMANDA_AMQP_URL=http://guest:hunter2@h":                             "the RabbitMQ address is not amqp://",
	} {
		_, err := load(t, setting)
		name, _, _ := strings.Cut(setting, "=")
		if err == nil || !strings.HasPrefix(err.Error(), "configuration: "+name+": ") || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want the setting and %s", setting, err, want)
		}
	}
	for _, setting := range []string{
		"COMANDA_LISTEN=[::1]:0", "COMANDA_REDIS_URL=rediss://a:1,b:2", "COMANDA_DATABASE_URL=sqlite://x.db",
		"COMANDA_AMQP_URL=amqps://h/v",
	} {
		if _, err := load(t, setting); err != nil {
			t.Errorf("%s is refused: %v", setting, err)
		}
	}
}

// Settings for trials are refused if another machine could reach the server, by its listen address or by its public
// URL. One setting permits the demo in a private network, and only there.
func TestLoadConfig_reach(t *testing.T) {
	const listen, public, lan = "COMANDA_LISTEN=", "COMANDA_PUBLIC_URL=", "COMANDA_DEMO_LAN=on"
	toys := []string{"COMANDA_LIMITS=off", "COMANDA_SERVICE_TOKEN=short", "COMANDA_SANDBOX_PAYMENTS=on", "COMANDA_SIMULATORS=on"}
	accepted := func(demo bool, environ ...string) bool {
		c, err := load(t, environ...)
		if err == nil && demo {
			_, err = c.WithDemo()
		}
		return err == nil
	}
	for _, local := range [][]string{
		{}, {listen + "localhost:8080"}, {listen + "[::1]:8080"}, {listen + "127.8.8.8:80", public + "http://localhost"},
	} {
		for _, toy := range toys {
			if !accepted(true, append(local, toy)...) {
				t.Errorf("%s is refused with %v", toy, local)
			}
		}
	}
	for _, remote := range [][]string{
		{listen + ":8080"}, {listen + "0.0.0.0:8080"}, {listen + "[::]:8080"}, {listen + "192.168.1.20:8080"}, {listen + "here:8080"},
		{public + "https://order.example.com"}, {public + "http://192.168.1.20"},
		{listen + "0.0.0.0:8080", public + "http://127.0.0.1:8080"},
	} {
		for _, toy := range toys {
			if accepted(false, append(remote, toy)...) {
				t.Errorf("%s is accepted with %v", toy, remote)
			}
		}
		if accepted(true, remote...) {
			t.Errorf("the demo is accepted with %v", remote)
		}
		if !accepted(false, remote...) {
			t.Errorf("%v is refused", remote)
		}
	}
	for _, private := range [][]string{
		{listen + "192.168.1.20:8080"}, {listen + "10.1.2.3:8080"}, {listen + "172.31.0.1:80"}, {listen + "[fd12::1]:80"},
		{listen + "169.254.1.2:80"}, {listen + "[fe80::1]:80"}, {listen + "127.0.0.1:80", public + "http://192.168.1.20"}, {},
	} {
		private = append(private, lan)
		if !accepted(true, append(private, toys[2], toys[3])...) {
			t.Errorf("the demo is refused with %v", private)
		}
		if len(private) > 1 && (accepted(true, append(private, toys[0])...) || accepted(true, append(private, toys[1])...)) {
			t.Errorf("no limits, or a short token, are accepted with %v", private)
		}
	}
	for _, open := range [][]string{
		{listen + ":8080"}, {listen + "0.0.0.0:8080"}, {listen + "[::]:8080"}, {listen + "203.0.113.9:80"}, {listen + "172.32.0.1:80"},
		{listen + "[2001:db8::1]:80"}, {listen + "100.64.0.1:80"}, {public + "http://203.0.113.9"},
		{listen + "192.168.1.20:8080", public + "https://order.example.com"},
	} {
		if accepted(false, append(open, lan)...) {
			t.Errorf("a demonstration is accepted with %v", open)
		}
	}
}

// In a cluster with services named comanda and comanda-redis, Kubernetes sets variables about them in every container.
func TestLoadConfig_kubernetes(t *testing.T) {
	injected := func(prefix, host, port string) []string {
		at := "tcp://" + host + ":" + port
		return []string{
			prefix + "_SERVICE_HOST=" + host, prefix + "_SERVICE_PORT=" + port, prefix + "_SERVICE_PORT_HTTP=" + port,
			prefix + "_PORT=" + at, prefix + "_PORT_" + port + "_TCP=" + at, prefix + "_PORT_" + port + "_TCP_PROTO=tcp",
			prefix + "_PORT_" + port + "_TCP_PORT=" + port, prefix + "_PORT_" + port + "_TCP_ADDR=" + host,
		}
	}
	environ := slices.Concat(injected("COMANDA", "10.96.0.12", "8080"), injected("COMANDA_REDIS", "fd00::7", "6379"),
		[]string{"COMANDA_LISTEN=0.0.0.0:8080", "COMANDA_SERVICE_TOKEN=0123456789abcdef0123456789abcdef"})
	c := testenv.Must(load(t, environ...))(t)
	if c.Listen != "0.0.0.0:8080" || c.ServiceToken != "0123456789abcdef0123456789abcdef" {
		t.Errorf("config = %+v, want listen 0.0.0.0:8080 and the service token", c)
	}
	for name, environ := range map[string][]string{
		"a port without a service": {"COMANDA_PORT=tcp://10.96.0.12:8080"},
		"a host without a port":    {"COMANDA_SERVICE_HOST=10.96.0.12"},
		"a host that is none":      {"COMANDA_SERVICE_HOST=here", "COMANDA_SERVICE_PORT=8080"},
		"something else of it":     append(injected("COMANDA", "10.96.0.12", "8080"), "COMANDA_PORTS=8080"),
	} {
		if _, err := load(t, environ...); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	file := filepath.Join(t.TempDir(), "comanda.conf")
	testenv.NoError(t, os.WriteFile(file, []byte(strings.Join(injected("COMANDA", "10.96.0.12", "8080"), "\n")), 0o600))
	if _, err := app.LoadConfig(nil, nil, file, nil); err == nil {
		t.Error("a file with these names is accepted")
	}
}

// The error for a misspelt name suggests the right one.
func TestLoadConfig_nearest(t *testing.T) {
	for wrong, right := range map[string]string{
		"COMANDA_LISTN": "COMANDA_LISTEN", "COMANDA_DATABASEURL": "COMANDA_DATABASE_URL", "COMANDA_REDIS_ULR": "COMANDA_REDIS_URL",
		"COMANDA_LOGLEVEL": "COMANDA_LOG_LEVEL",
	} {
		if _, err := load(t, wrong+"=x"); err == nil || !strings.Contains(err.Error(), wrong+" is not a setting; the nearest is "+right) {
			t.Errorf("%s: error %v, want the nearest setting %s", wrong, err, right)
		}
	}
}

// A name that is far from all settings gets no suggestion.
func TestLoadConfig_unknown(t *testing.T) {
	_, err := load(t, "COMANDA_FOO=1")
	if err == nil || !strings.Contains(err.Error(), "COMANDA_FOO is not a setting") || strings.Contains(err.Error(), "nearest") {
		t.Errorf("error %v, want one without a suggestion", err)
	}
}

func TestConfig_Redacted(t *testing.T) {
	c, err := load(t, "COMANDA_DATABASE_URL=postgres://user:hunter2@db.example.com/x?password=hunter2",
		"COMANDA_REDIS_URL=redis://:hunter2@cache:6379, redis://:hunter2@other:6379", "COMANDA_AMQP_URL=amqp://u:hunter2@mq/v", "COMANDA_SERVICE_TOKEN=hunter2-hunter2")
	if err != nil {
		t.Fatal(err)
	}
	shown := ""
	for _, s := range c.Redacted() {
		shown += s.Name + "=" + s.Value + "\n"
	}
	if strings.Contains(shown, "hunter2") {
		t.Errorf("a secret is shown:\n%s", shown)
	}
	for _, where := range []string{"=postgres://db.example.com/x\n", "=redis://cache:6379,redis://other:6379\n"} {
		if !strings.Contains(shown, where) {
			t.Errorf("%s does not show:\n%s", where, shown)
		}
	}
}

// People read on and off, which they also write. JSON keeps the values that programs read.
func TestShown_Text(t *testing.T) {
	c := testenv.Must(load(t, "COMANDA_LIMITS=yes", "COMANDA_ACCESS_LOG=off", "COMANDA_REDIS_NAMESPACE=true"))(t)
	got := map[string][2]string{}
	for _, s := range c.Redacted() {
		if s.Name == "COMANDA_LIMITS" || s.Name == "COMANDA_ACCESS_LOG" || s.Name == "COMANDA_REDIS_NAMESPACE" {
			got[s.Name] = [2]string{s.Text(), string(testenv.Must(json.Marshal(s))(t))}
		}
	}
	testenv.Equal(t, map[string][2]string{
		"COMANDA_LIMITS":          {"on", `{"name":"COMANDA_LIMITS","value":"true"}`},
		"COMANDA_ACCESS_LOG":      {"off", `{"name":"COMANDA_ACCESS_LOG","value":"false"}`},
		"COMANDA_REDIS_NAMESPACE": {"true", `{"name":"COMANDA_REDIS_NAMESPACE","value":"true"}`},
	}, got)
}

func TestParseRoles(t *testing.T) {
	if all, err := app.ParseRoles(""); err != nil || len(all) != 3 {
		t.Errorf("ParseRoles of nothing = %v, %v, want three roles", all, err)
	}
	if roles, err := app.ParseRoles("api, relay"); err != nil || len(roles) != 2 {
		t.Errorf("ParseRoles of api and relay = %v, %v, want two roles", roles, err)
	}
	if _, err := app.ParseRoles("api,cook"); err == nil {
		t.Error("an unknown role is accepted")
	}
}

// Every route of the contract has a policy, and all generated documents can be written.
func TestDocument(t *testing.T) {
	openAPI := testenv.Must(app.Document("openapi"))(t)
	if routes, policies := strings.Count(openAPI, "operationId:"), strings.Count(openAPI, "x-policy:"); routes == 0 || routes != policies {
		t.Errorf("%d routes have %d policies, want one each", routes, policies)
	}
	for name, want := range map[string]string{
		"openapi": "/cis/order/create:", "events": "order.placed", "keys": "q:cap:", "configuration": "COMANDA_LISTEN",
	} {
		text, err := app.Document(name)
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("document %s: %v, want it with %s", name, err, want)
		}
	}
	if _, err := app.Document("novel"); err == nil {
		t.Error("an unknown document was written")
	}
}
