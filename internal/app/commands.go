package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/catalog"
	"comanda/internal/demo"
	"comanda/internal/event"
	"comanda/internal/event/rabbit"
	"comanda/internal/keyspace"
	"comanda/internal/notice/noticesql"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordermail/ordermailsql"
	"comanda/internal/redisdb"
	"comanda/internal/seq"
)

// MenuTemplates returns the names of all menu templates.
func MenuTemplates() []string {
	return seq.Map(menuTemplates(), func(t catalog.MenuTemplate) string { return t.Name })
}

func menuTemplates() []catalog.MenuTemplate {
	return slices.Concat(catalog.MenuTemplates(), demo.MenuTemplates())
}

// WithCore calls run with the services of a server and returns its result, for commands that run beside servers.
// Redis notifies the servers of changes at once; without Redis they read the changes from SQL within seconds.
func WithCore[T any](ctx context.Context, c Config, run func(*Core) (T, error)) (none T, err error) {
	db, err := OpenDatabase(ctx, c)
	if err != nil {
		return none, err
	}
	defer db.Close()
	redis, err := AttachRedis(ctx, c)
	apart := err != nil
	// Without Redis an empty embedded store is used, so that the services need no special case.
	if err != nil { // SQL decides; servers update Redis from it later
		redis, err = redisdb.Open(ctx, redisdb.Config{})
		if err != nil {
			return none, err
		}
	}
	defer redis.Close()
	k, err := NewCore(ctx, Deps{
		Config: c, DB: db, Redis: redis, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		NoCache: apart,
	})
	if err != nil {
		return none, err
	}
	defer k.Close()
	// No loop sends notifications here. Without Redis they are lost, and streams poll.
	defer k.Live.Flush(ctx)
	return run(k)
}

// Document returns one of the documents that are generated from the code. The Makefile compares the files in docs with
// it.
func Document(name string) (string, error) {
	switch name {
	case "events":
		c, err := LoadConfig(nil, nil, "", nil)
		consumers := Consumers(nil, ordermailsql.Queue{}, orderingsql.ExpiryFlags{}, noticesql.Consumer{})
		return event.Markdown() + "\n" + rabbit.Markdown(c.PaymentWindow, consumers), err
	case "keys":
		return keyspace.Markdown(), nil
	case "configuration":
		return configurationHead + SettingsMarkdown(), nil
	case "openapi":
		return openAPI()
	}
	return "", fmt.Errorf("%q is not a generated document", name)
}

const configurationHead = "# Configuration\n\n" +
	"A flag takes precedence over the environment, and the environment over the file of `--config` (lines of\n" +
	"NAME=value). Unknown names are refused. `comanda doctor` shows the settings in force, without secrets.\n\n" +
	"The settings marked *house* can also be changed in the console or with `PATCH /api/settings`. They are stored in\n" +
	"SQL and take effect in every process within 5 seconds. A flag, the environment and the file take precedence over\n" +
	"them. Secrets are stored encrypted with COMANDA_SETTINGS_KEY; without that key, what needs them is off and /readyz\n" +
	"reports `settings` as degraded.\n\n"

// openAPI renders the contract of all routes, the sandbox's included, without opening a store.
func openAPI() (string, error) {
	c, err := LoadConfig(map[string]string{"COMANDA_SANDBOX_PAYMENTS": "on"}, nil, "", nil)
	if err != nil {
		return "", err
	}
	api, err := routeTable(c)
	if err != nil {
		return "", err
	}
	yaml, err := api.YAML()
	return string(yaml), err
}
