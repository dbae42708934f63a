package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/sqldb"
	"comanda/internal/system"
)

// migrate changes the schema by hand. A server applies missing migrations itself when it starts.
func (c *cli) migrate() *cobra.Command {
	cmd := &cobra.Command{Use: "migrate", Short: "Migrate the database schema up or down"}
	step := func(use, short string, run func(context.Context, *sqldb.DB) error) {
		one := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
		one.RunE = func(cmd *cobra.Command, _ []string) error {
			return c.withDatabase(cmd.Context(), func(ctx context.Context, _ app.Config, db *sqldb.DB) error {
				if err := run(ctx, db); err != nil {
					return err
				}
				return c.printMigrations(ctx, cmd.OutOrStdout(), db)
			})
		}
		cmd.AddCommand(one)
	}
	step("up", "Apply all migrations", func(ctx context.Context, db *sqldb.DB) error { return db.Migrate(ctx) })
	step("down", "Take the newest migration back, with the data in its tables",
		func(ctx context.Context, db *sqldb.DB) error { return db.MigrateDown(ctx) })
	step("status", "List the migrations", func(context.Context, *sqldb.DB) error { return nil })
	return cmd
}

// printMigrations prints the state after the step, so that the operator sees what it did.
func (c *cli) printMigrations(ctx context.Context, out io.Writer, db *sqldb.DB) error {
	all, err := db.Migrations(ctx)
	if err != nil {
		return err
	}
	return c.print(out, all, func(w io.Writer) {
		for _, m := range all {
			state := "pending"
			if m.Applied {
				state = "applied"
			}
			fmt.Fprintf(w, "%s  %s\n", state, m.Name)
		}
	})
}

// withDatabase runs a function with the configured database. It does not migrate: a command must not change the schema
// under running servers.
func (c *cli) withDatabase(ctx context.Context, run func(context.Context, app.Config, *sqldb.DB) error) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	db, err := app.OpenDatabase(ctx, config)
	if err != nil {
		return err
	}
	defer db.Close()
	return run(ctx, config, db)
}

// withSystem runs a function with the operators' functions on the configured database. Commands that need Redis use
// withRedis.
func (c *cli) withSystem(ctx context.Context, run func(context.Context, *system.Service) error) error {
	return c.withDatabase(ctx, func(ctx context.Context, _ app.Config, db *sqldb.DB) error {
		s, stop := app.OpenSystem(db, nil)
		defer stop()
		return run(ctx, s)
	})
}

// withRedis is withSystem with the servers' Redis, unless it is embedded in a server that does not run.
func (c *cli) withRedis(ctx context.Context, run func(context.Context, *system.Service) error) error {
	return c.withDatabase(ctx, func(ctx context.Context, config app.Config, db *sqldb.DB) error {
		redis, err := app.AttachRedis(ctx, config)
		switch {
		case err == nil:
			defer redis.Close()
		// A configured Redis that does not respond is an error; the result would be incomplete.
		case !app.IsNoServer(err):
			return err
		}
		s, stop := app.OpenSystem(db, redis)
		defer stop()
		return run(ctx, s)
	})
}
