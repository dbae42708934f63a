package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/sqldb"
)

// migrate changes the schema by hand. A server applies missing migrations itself when it starts.
func (c *cli) migrate() *cobra.Command {
	type opened = func(run func(*cobra.Command, app.Config, *sqldb.DB) (result, error)) runner
	step := func(use, short string, with opened, run func(context.Context, *sqldb.DB) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: noArguments,
			RunE: with(func(cmd *cobra.Command, _ app.Config, db *sqldb.DB) (result, error) {
				if err := run(cmd.Context(), db); err != nil {
					return result{}, err
				}
				return showMigrations(cmd.Context(), db)
			}),
		}
	}
	return group("migrate", "Migrate the database schema up or down",
		step("up", "Apply all migrations", c.withNewDatabase,
			func(ctx context.Context, db *sqldb.DB) error { return db.Migrate(ctx) }),
		step("down", "Roll back the newest migration and delete the data in its tables", c.withDatabase,
			func(ctx context.Context, db *sqldb.DB) error { return db.MigrateDown(ctx) }),
		step("status", "List the migrations", c.withDatabase, func(context.Context, *sqldb.DB) error { return nil }))
}

// showMigrations returns the state after the step, so that the operator sees what it did.
func showMigrations(ctx context.Context, db *sqldb.DB) (result, error) {
	all, err := db.Migrations(ctx)
	return result{value: all, text: func(w io.Writer) {
		for _, m := range all {
			state := "pending"
			if m.Applied {
				state = "applied"
			}
			fmt.Fprintf(w, "%s  %s\n", state, m.Name)
		}
	}}, err
}
