package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/sqldb"
)

// audit verifies the log; it offers no way to change it.
func (c *cli) audit() *cobra.Command {
	verify := &cobra.Command{
		Use: "verify", Short: "Verify that the audit log was not changed; exit code 1 if it was", Args: cobra.NoArgs,
		Long: "Verifies the chain of hashes of the whole log. A changed, removed or moved entry breaks it. An attacker with\n" +
			"write access to the database could rebuild the whole log, so store the printed hash elsewhere and compare it.",
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
