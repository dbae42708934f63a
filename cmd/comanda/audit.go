package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/audit/auditsql"
	"comanda/internal/sqldb"
)

// audit verifies the log; it offers no way to change it.
func (c *cli) audit() *cobra.Command {
	verify := &cobra.Command{
		Use: "verify", Short: "Verify that the audit log was not changed; exit code 1 if it was", Args: cobra.NoArgs,
		Long: "Verifies the chain of hashes of the whole log. A changed, removed or moved entry breaks it. An attacker with\n" +
			"write access to the database could rebuild the whole log, so store the printed hash elsewhere and compare it.",
		RunE: c.withDatabase(func(cmd *cobra.Command, _ app.Config, db *sqldb.DB) (result, error) {
			r, err := auditsql.Verify(cmd.Context(), db)
			return result{r, func(w io.Writer) {
				fmt.Fprintf(w, "%d entries, the newest has the hash %s\n", r.Entries, r.Hash)
				for _, b := range r.Broken {
					fmt.Fprintf(w, "entry %d: %s\n", b.Seq, b.What)
				}
			}, len(r.Broken) > 0}, err
		}),
	}
	return group("audit", "The audit log", verify)
}
