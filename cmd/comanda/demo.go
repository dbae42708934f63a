package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/demo"
	"comanda/internal/sqldb"
)

// demo loads the demo restaurant without starting a server.
func (c *cli) demo() *cobra.Command {
	return group("demo", "Load the demo restaurant", &cobra.Command{
		Use: "load", Short: "Load the demo restaurant into the configured database", Args: noArguments,
		Long: "Loads three branches (Hà Nội in VND, Taipei in TWD, Berlin in EUR with taxes and a service charge) with\n" +
			"menus and tables. Loading it again changes nothing.",
		RunE: c.withNewDatabase(func(cmd *cobra.Command, config app.Config, db *sqldb.DB) (result, error) {
			if err := db.Migrate(cmd.Context()); err != nil {
				return result{}, err
			}
			if err := demo.Load(cmd.Context(), db); err != nil {
				return result{}, err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "The demo restaurant is loaded; its tables:")
			return showTables(cmd, config, db, 0)
		}),
	})
}
