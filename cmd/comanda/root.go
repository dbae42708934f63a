package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/telemetry"
)

// errFound ends a command with exit code 1 after it has printed its findings. main prints no message for it.
var errFound = errors.New("found")

// cli is the state that all commands share. A process runs one command, so it needs no lock.
type cli struct {
	json     bool
	file     string
	set      map[string]string // settings from flags
	defaults map[string]string // defaults of the command, overridden by all other sources
}

// newRoot returns the root command with all commands.
func newRoot() *cobra.Command {
	c := &cli{set: map[string]string{}}
	root := &cobra.Command{
		Use: "comanda", Short: "Self-hosted ordering for restaurants",
		Version: telemetry.ReadBuild().Version, SilenceUsage: true, SilenceErrors: true,
	}
	flags := root.PersistentFlags()
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.StringVar(&c.file, "config", "", "file of NAME=value lines, overridden by the environment and by flags")
	for _, name := range []string{"LISTEN", "PUBLIC_URL", "DATA_DIR", "DATABASE_URL", "REDIS_URL", "AMQP_URL"} {
		flag := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		flags.Var(settingFlag{c.set, "COMANDA_" + name}, flag, "overrides COMANDA_"+name)
	}
	root.AddCommand(
		c.serve(), c.migrate(), c.demo(), c.tables(), c.user(), c.quota(), c.stock(), c.outbox(), c.audit(),
		c.keys(), c.index(), c.export(), c.importing(), c.backup(), c.bench(), c.doctor(), c.docs(),
	)
	return root
}

// settingFlag is a flag that overrides a setting. It only stores the text: app.LoadConfig parses and checks settings
// from all sources alike.
type settingFlag struct {
	into map[string]string
	name string
}

// String returns "", because help shows no default: the environment or the file may have set one.
func (f settingFlag) String() string { return "" }
func (f settingFlag) Type() string   { return "value" }
func (f settingFlag) Set(v string) error {
	f.into[f.name] = v
	return nil
}

// config returns the configuration. Flags override the environment, which overrides the file and the defaults.
func (c *cli) config() (app.Config, error) {
	return app.LoadConfig(c.set, os.Environ(), c.file, c.defaults)
}

// print writes a result as JSON if --json is set, otherwise as text. Results go to standard output; prompts, progress
// and hints go to standard error, so that output can be piped.
func (c *cli) print(out io.Writer, v any, text func(io.Writer)) error {
	if !c.json {
		text(out)
		return nil
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
