package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"comanda/internal/app"
)

func load(t *testing.T, environ ...string) (app.Config, error) {
	t.Helper()
	return app.LoadConfig(nil, environ, "", nil)
}

func TestLoadConfig_defaults(t *testing.T) {
	c, err := load(t, "HOME=/tmp", "COMANDA_TEST_POSTGRES_URL=x")
	if err != nil {
		t.Fatal(err)
	}
	for what, ok := range map[string]bool{
		"listen":   c.Listen == "127.0.0.1:8080",
		"public":   c.PublicURL == "http://127.0.0.1:8080",
		"database": c.DatabaseURL == "sqlite:data/comanda.db",
		"window":   c.PaymentWindow == 15*time.Minute && c.ExpiryGrace == 90*time.Second,
		"tickets":  c.TicketWarn == 10*time.Minute && c.TicketLate == 20*time.Minute,
		"sandbox":  !c.SandboxPayments,
		"limits":   c.Limits,
	} {
		if !ok {
			t.Errorf("%s: %+v", what, c)
		}
	}
}

// Flags go over the environment, the environment over the file, the file over a command's own defaults.
func TestLoadConfig_precedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "comanda.conf")
	text := "# comment\nCOMANDA_LISTEN=127.0.0.1:1\nCOMANDA_LOG_LEVEL = \"debug\"\nCOMANDA_PAYMENT_WINDOW=3s\nCOMANDA_SANDBOX_PAYMENTS=off\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := app.LoadConfig(map[string]string{"COMANDA_LISTEN": "127.0.0.1:3"},
		[]string{"COMANDA_LISTEN=127.0.0.1:2", "COMANDA_PAYMENT_WINDOW=4s"}, file,
		map[string]string{"COMANDA_SANDBOX_PAYMENTS": "on", "COMANDA_LOG_FORMAT": "text"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:3" || c.PaymentWindow != 4*time.Second || c.Log.Level != "debug" || c.SandboxPayments ||
		c.Log.Format != "text" {
		t.Errorf("%+v", c)
	}
}

func TestLoadConfig_refuses(t *testing.T) {
	for name, environ := range map[string][]string{
		"a misspelt name":                 {"COMANDA_LISTN=127.0.0.1:1"},
		"late before it is old":           {"COMANDA_TICKET_LATE=10m"},
		"no duration":                     {"COMANDA_PAYMENT_WINDOW=15"},
		"a key that can be guessed":       {"COMANDA_TOKEN_KEY=" + strings.Repeat("k", 31)},
		"a window of a week":              {"COMANDA_PAYMENT_WINDOW=168h"},
		"neither on nor off":              {"COMANDA_LIMITS=maybe"},
		"no limits in public":             {"COMANDA_LIMITS=off", "COMANDA_PUBLIC_URL=https://order.example.com"},
		"a short token in public":         {"COMANDA_SERVICE_TOKEN=short", "COMANDA_PUBLIC_URL=https://order.example.com"},
		"a public address without scheme": {"COMANDA_PUBLIC_URL=order.example.com"},
		"an unknown log format":           {"COMANDA_LOG_FORMAT=xml"},
		"a namespace with a space":        {"COMANDA_REDIS_NAMESPACE=a b"},
		"VNPay's page without its API": {
			"COMANDA_VNPAY_TMN_CODE=COMANDA1", "COMANDA_VNPAY_HASH_SECRET=" + strings.Repeat("k", 32),
			"COMANDA_VNPAY_PAY_URL=https://pay.vnpay.vn/vpcpay.html",
		},
	} {
		if _, err := load(t, environ...); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := load(t, "COMANDA_LIMITS=off", "COMANDA_SERVICE_TOKEN=only-here"); err != nil {
		t.Errorf("on a machine of one's own: %v", err)
	}
	if _, err := app.LoadConfig(nil, nil, filepath.Join(t.TempDir(), "missing"), nil); err == nil {
		t.Error("a file that is not there is accepted")
	}
}

func TestConfig_Redacted(t *testing.T) {
	c, err := load(t, "COMANDA_DATABASE_URL=postgres://user:hunter2@db.example.com/x?password=hunter2",
		"COMANDA_REDIS_URL=redis://:hunter2@cache:6379", "COMANDA_AMQP_URL=amqp://u:hunter2@mq/v", "COMANDA_SERVICE_TOKEN=hunter2-hunter2")
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
	if !strings.Contains(shown, "postgres://db.example.com/x") {
		t.Errorf("where the database is does not show:\n%s", shown)
	}
}

func TestParseRoles(t *testing.T) {
	if all, err := app.ParseRoles(""); err != nil || len(all) != 3 {
		t.Errorf("%v, %v", all, err)
	}
	if some, err := app.ParseRoles("api, relay"); err != nil || len(some) != 2 {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := app.ParseRoles("api,cook"); err == nil {
		t.Error("an unknown role is accepted")
	}
}

// Every route of the contract has a policy, and the documents that are generated can be.
func TestDocument(t *testing.T) {
	openAPI, err := app.Document("openapi")
	if err != nil {
		t.Fatal(err)
	}
	if routes, policies := strings.Count(openAPI, "operationId:"), strings.Count(openAPI, "x-policy:"); routes == 0 || routes != policies {
		t.Errorf("%d routes have %d policies", routes, policies)
	}
	for name, want := range map[string]string{
		"openapi": "/cis/order/create:", "events": "order.placed", "keys": "q:cap:", "configuration": "COMANDA_LISTEN",
	} {
		text, err := app.Document(name)
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v, without %s", name, err, want)
		}
	}
	if _, err := app.Document("novel"); err == nil {
		t.Error("an unknown document was written")
	}
}
