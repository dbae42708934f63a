package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/sqldb"
	"comanda/internal/visit/visitsql"
)

// tables prints what the QR codes of a restaurant contain.
func (c *cli) tables() *cobra.Command {
	var branch int64
	cmd := &cobra.Command{
		Use: "tables", Short: "List tables with their QR tokens and links", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withDatabase(cmd.Context(), func(ctx context.Context, _ app.Config, db *sqldb.DB) error {
				return c.printTables(ctx, cmd, db, branch)
			})
		},
	}
	cmd.Flags().Int64Var(&branch, "branch", 0, "only this branch")
	return cmd
}

// printTables also prints the base address of the links and its origin, because a wrong address would be printed on
// tables.
func (c *cli) printTables(ctx context.Context, cmd *cobra.Command, db *sqldb.DB, branch int64) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	config, served := config.AsServed()
	how := "the configured public URL."
	switch {
	case served:
		how = "the public URL of the last server on this data folder."
	case config.DerivedURL:
		how = "the listen address. Set COMANDA_PUBLIC_URL to the address that guests use."
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Links lead to %s, %s\n", config.PublicURL, how)
	links, err := app.Links(ctx, config, visitsql.New(db).Tables, branch)
	if err != nil {
		return err
	}
	return c.print(cmd.OutOrStdout(), links, func(w io.Writer) {
		t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		fmt.Fprintln(t, "BRANCH\tTABLE\tLABEL\tQR TOKEN\tLINK")
		for _, l := range links {
			fmt.Fprintf(t, "%d\t%d\t%s\t%s\t%s\n", l.BranchID, l.TableID, l.Label, l.QRToken, l.URL)
		}
		_ = t.Flush() // the underlying writer reports its errors
	})
}
