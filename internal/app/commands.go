package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/demo"
	"comanda/internal/event"
	"comanda/internal/event/rabbit"
	"comanda/internal/keyspace"
	"comanda/internal/menufile"
	"comanda/internal/redisdb"
)

// SetQuota changes an item's quota from today on, from a command beside running servers.
func SetQuota(ctx context.Context, c Config, item int64, quota *int64) error {
	return WithCore(ctx, c, func(k *Core) error { return k.Editor.SetQuota(ctx, authz.System(), item, quota) })
}

// ImportMenu imports a menu file into a branch, from a command beside running servers.
func ImportMenu(
	ctx context.Context, c Config, branch int64, raw []byte, o catalog.ImportOptions,
) (result catalog.MenuImportResult, err error) {
	err = WithCore(ctx, c, func(k *Core) error {
		result, err = k.CatalogServices.Files.Import(ctx, authz.System(), branch, raw, o)
		return err
	})
	return result, err
}

// ImportTemplate imports a menu template into a branch, as ImportMenu does a file.
func ImportTemplate(
	ctx context.Context, c Config, branch int64, name string, o catalog.ImportOptions,
) (result catalog.MenuImportResult, err error) {
	err = WithCore(ctx, c, func(k *Core) error {
		result, err = k.CatalogServices.Files.ImportTemplate(ctx, authz.System(), branch, name, o)
		return err
	})
	return result, err
}

// MenuTemplates returns the names of all menu templates.
func MenuTemplates() []string {
	var names []string
	for _, t := range menuTemplates() {
		names = append(names, t.Name)
	}
	return names
}

func menuTemplates() []catalog.MenuTemplate {
	return slices.Concat(catalog.MenuTemplates(), demo.MenuTemplates())
}

// ExportMenu returns a branch's menu as a file.
func ExportMenu(ctx context.Context, c Config, branch int64, f menufile.Format) (raw []byte, err error) {
	err = WithCore(ctx, c, func(k *Core) error {
		raw, err = k.CatalogServices.Files.Export(ctx, authz.System(), branch, f)
		return err
	})
	return raw, err
}

// WithCore runs a function with the services of a server. Redis notifies running servers of changes at once; without
// Redis they read them from SQL within seconds.
func WithCore(ctx context.Context, c Config, run func(*Core) error) error {
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
	return run(k)
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
	"NAME=value). Unknown names are refused. `comanda doctor` shows the settings in force, without secrets.\n\n" +
	"The settings marked *house* can also be changed in the console or with `PATCH /api/settings`. They are stored in\n" +
	"SQL and take effect in every process within 5 seconds. A flag, the environment and the file take precedence over\n" +
	"them. Secrets are stored sealed with COMANDA_SETTINGS_KEY; without that key, what needs them is off and /readyz\n" +
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
