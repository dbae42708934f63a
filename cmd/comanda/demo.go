package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/demo"
	"comanda/internal/sqldb"
)

// demo loads the demo restaurant without starting a server.
func (c *cli) demo() *cobra.Command {
	cmd := &cobra.Command{Use: "demo", Short: "The demo restaurant"}
	cmd.AddCommand(&cobra.Command{
		Use: "load", Short: "Load the demo restaurant into the configured database", Args: cobra.NoArgs,
		Long: "Loads two branches (Hà Nội in VND, Taipei in TWD) with menus and tables. Loading it again changes nothing.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withDatabase(cmd.Context(), func(ctx context.Context, _ app.Config, db *sqldb.DB) error {
				if err := db.Migrate(ctx); err != nil {
					return err
				}
				if err := demo.Load(ctx, db); err != nil {
					return err
				}
				fmt.Fprintln(cmd.ErrOrStderr(), "The demo restaurant is loaded; its tables:")
				return c.printTables(ctx, cmd, db, 0)
			})
		},
	})
	return cmd
}
