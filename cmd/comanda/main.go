package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/system"
	"comanda/internal/telemetry"
)

func main() {
	// The first signal ends the context, so that commands stop in order. The second one ends the process: a command may wait
	// for a password, and a server for its requests.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	err := newRoot().ExecuteContext(ctx)
	if err == nil {
		return
	}
	if !errors.Is(err, errFound) { // the findings have been printed already
		fmt.Fprintln(os.Stderr, "comanda:", system.ErrorText(err))
	}
	stop()
	// Every failure has this code: scripts distinguish only success.
	os.Exit(1) //nolint:gocritic // stop was called above
}

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
		Args: noArguments, RunE: showHelp,
	}
	root.SetFlagErrorFunc(flagError)
	flags := root.PersistentFlags()
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.StringVar(&c.file, "config", "", "file of NAME=value lines, overridden by the environment and by flags")
	for _, name := range []string{"LISTEN", "PUBLIC_URL", "DATA_DIR", "DATABASE_URL", "REDIS_URL", "AMQP_URL"} {
		flag := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		flags.Var(settingFlag{c.set, "COMANDA_" + name}, flag, "overrides COMANDA_"+name)
	}
	root.AddCommand(
		c.serve(), c.setup(), c.migrate(), c.demo(), c.branch(), c.tables(), c.menu(), c.price(), c.user(),
		c.quota(), c.stock(), c.outbox(), c.audit(), c.keys(), c.index(), c.export(), c.importing(), c.orders(),
		c.backup(),
		c.bench(), c.doctor(), c.docs(),
	)
	completeRoot(root)
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

// result is the outcome of a command: a value for --json, and the same as text. Results go to standard output; prompts,
// progress and hints go to standard error, so that output can be piped.
type result struct {
	value any
	text  func(io.Writer)
	found bool // the result is bad: the command ends with errFound
}

// runner is the function of a cobra command.
type runner = func(*cobra.Command, []string) error

// withConfig returns a command's function that reads the configuration, calls run and prints its result.
func (c *cli) withConfig(run func(*cobra.Command, app.Config) (result, error)) runner {
	return func(cmd *cobra.Command, _ []string) error {
		config, err := c.config()
		if err != nil {
			return err
		}
		r, err := run(cmd, config)
		if err != nil {
			return err
		}
		return c.print(cmd.OutOrStdout(), r)
	}
}

// withDatabase is withConfig with the configured database, which must exist. It does not migrate: a command must not
// change the schema under running servers.
func (c *cli) withDatabase(run func(*cobra.Command, app.Config, *sqldb.DB) (result, error)) runner {
	return c.withOpened(app.OpenExisting, run)
}

// withNewDatabase is withDatabase for commands that may create a SQLite file.
func (c *cli) withNewDatabase(run func(*cobra.Command, app.Config, *sqldb.DB) (result, error)) runner {
	return c.withOpened(app.OpenDatabase, run)
}

func (c *cli) withOpened(
	open func(context.Context, app.Config) (*sqldb.DB, error), run func(*cobra.Command, app.Config, *sqldb.DB) (result, error),
) runner {
	return c.withConfig(func(cmd *cobra.Command, config app.Config) (result, error) {
		db, err := open(cmd.Context(), config)
		if err != nil {
			return result{}, err
		}
		defer db.Close()
		return run(cmd, config, db)
	})
}

// withCore is withConfig with all services, beside running servers.
func (c *cli) withCore(run func(*cobra.Command, *app.Core) (result, error)) runner {
	return c.withConfig(func(cmd *cobra.Command, config app.Config) (result, error) {
		return app.WithCore(cmd.Context(), config, func(k *app.Core) (result, error) { return run(cmd, k) })
	})
}

// withSystem runs a command with a database and a system.Service. Commands that need Redis use withRedis.
func (c *cli) withSystem(run func(*cobra.Command, *system.Service) (result, error)) runner {
	return c.withDatabase(func(cmd *cobra.Command, config app.Config, db *sqldb.DB) (result, error) {
		s, stop := app.OpenSystem(config, db, nil)
		defer stop()
		return run(cmd, s)
	})
}

// withRedis is withSystem with the servers' Redis, unless it is embedded in a server that does not run.
func (c *cli) withRedis(run func(*cobra.Command, *system.Service) (result, error)) runner {
	return c.withDatabase(func(cmd *cobra.Command, config app.Config, db *sqldb.DB) (result, error) {
		redis, err := app.AttachRedis(cmd.Context(), config)
		switch {
		case err == nil:
			defer redis.Close()
		// A configured Redis that does not respond is an error; the result would be incomplete.
		case !errors.Is(err, redisdb.ErrNotRunning):
			return result{}, err
		}
		s, stop := app.OpenSystem(config, db, redis)
		defer stop()
		return run(cmd, s)
	})
}

// print writes a result as JSON if --json is set, otherwise as text. A result without a value is not printed.
func (c *cli) print(out io.Writer, r result) error {
	switch {
	case r.value == nil:
	case c.json:
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		if err := e.Encode(r.value); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	default:
		var text bytes.Buffer
		r.text(&text)
		if _, err := out.Write(text.Bytes()); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}
	if r.found {
		return errFound
	}
	return nil
}

// group returns a command that only contains others. Alone it prints its help; any argument is a misspelt command.
func group(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, Short: short, Args: noArguments, RunE: showHelp,
	}
	cmd.AddCommand(commands...)
	return cmd
}

// count returns a number with its noun, in the singular for 1.
func count[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// printTable prints a header and one row per element in aligned columns. Header and row separate their cells by tabs.
func printTable[T any](w io.Writer, header string, all []T, row func(io.Writer, T)) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, header)
	for _, v := range all {
		row(t, v)
	}
	_ = t.Flush() // the underlying writer reports its errors
}
