package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/sqldb"
)

func (c *cli) audit() *cobra.Command {
	verify := &cobra.Command{
		Use: "verify", Short: "Check that nobody has changed the audit log; exit code 1 when somebody has", Args: cobra.NoArgs,
		Long: "Follows the chain of hashes through the whole log. A changed, removed or moved entry breaks it. Whoever can\n" +
			"write to the database could make a whole log anew: keep the hash that is printed elsewhere, and compare.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withDatabase(cmd.Context(), func(ctx context.Context, _ app.Config, db *sqldb.DB) error {
				r, err := app.VerifyAudit(ctx, db)
				if err != nil {
					return err
				}
				err = c.print(cmd.OutOrStdout(), r, func(w io.Writer) {
					fmt.Fprintf(w, "%d entries, the newest has the hash %s\n", r.Entries, r.Hash)
					for _, b := range r.Broken {
						fmt.Fprintf(w, "entry %d: %s\n", b.Seq, b.What)
					}
				})
				if err == nil && len(r.Broken) > 0 {
					err = errFound
				}
				return err
			})
		},
	}
	cmd := &cobra.Command{Use: "audit", Short: "The audit log"}
	cmd.AddCommand(verify)
	return cmd
}
