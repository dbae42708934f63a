package app

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz"
	"comanda/internal/event"
	"comanda/internal/event/rabbit"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

// SetQuota changes an item's quota from today on, from a command beside running servers. Redis notifies them at once;
// without Redis they read it from SQL within seconds.
func SetQuota(ctx context.Context, c Config, item int64, quota *int64) error {
	db, err := OpenDatabase(ctx, c)
	if err != nil {
		return err
	}
	defer db.Close()
	redis, err := AttachRedis(ctx, c)
	// An empty embedded store stands in, so that the services need no special case without Redis.
	if err != nil { // SQL decides; servers update Redis from it later
		redis, err = redisdb.Open(ctx, redisdb.Config{})
		if err != nil {
			return err
		}
	}
	defer redis.Close()
	k, err := NewCore(ctx, Deps{
		Config: c, DB: db, Redis: redis, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		return err
	}
	defer k.Close()
	return k.Editor.SetQuota(ctx, authz.System(), item, quota)
}

// Document returns one of the documents that are generated from the code. The Makefile compares the files in docs with
// it.
func Document(name string) (string, error) {
	switch name {
	case "events":
		c, err := LoadConfig(nil, nil, "", nil)
		return event.Markdown() + "\n" + rabbit.Markdown(c.PaymentWindow, Consumers(nil)), err
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
	"NAME=value). Unknown names are refused. `comanda doctor` shows the settings in force, without secrets.\n\n"

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
