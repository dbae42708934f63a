package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/audit/auditsql"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/sqldb"
)

// audit verifies the log; it offers no way to change it.
func (c *cli) audit() *cobra.Command {
	verify := &cobra.Command{
		Use: "verify", Short: "Verify that the audit log was not changed; exit code 1 if it was", Args: noArguments,
		Long: "Verifies the chain of hashes of the whole log. A changed, removed or moved entry breaks it. An attacker with\n" +
			"write access to the database could rebuild the whole log, so store the printed hash elsewhere and compare it.",
		RunE: c.withDatabase(func(cmd *cobra.Command, _ app.Config, db *sqldb.DB) (result, error) {
			r, err := auditsql.Verify(cmd.Context(), db)
			return result{r, func(w io.Writer) {
				fmt.Fprintf(w, "%s, the newest has the hash %s\n", count(r.Entries, "entry", "entries"), r.Hash)
				for _, b := range r.Broken {
					fmt.Fprintf(w, "entry %d: %s\n", b.Seq, b.What)
				}
			}, len(r.Broken) > 0}, err
		}),
	}
	return group("audit", "Verify the audit log and the prices of orders", verify, c.auditPrices())
}

// auditPrices recomputes the totals of orders.
func (c *cli) auditPrices() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use: "prices", Short: "Recompute the total of every order; exit code 1 if one differs", Args: noArguments,
		Long: "Recomputes the discounts, service charges, taxes and total of every order from the numbers that were stored\n" +
			"with it, and compares them with what the guest paid. Orders without any are compared with the sum of their lines.\n" +
			"Imported orders are counted and not checked: another system computed their totals.",
		RunE: c.withDatabase(func(cmd *cobra.Command, _ app.Config, db *sqldb.DB) (result, error) {
			if _, err := time.Parse(time.DateOnly, from); from != "" && err != nil {
				return result{}, fmt.Errorf("--from %q is not a date such as 2026-01-31", from)
			}
			a, err := orderingsql.NewOrders(db).AuditPrices(cmd.Context(), from)
			return result{a, func(w io.Writer) {
				fmt.Fprintf(w, "%s, %d of them with taxes, service charges or discounts\n", count(a.Orders, "order", "orders"), a.Quoted)
				if a.Imported > 0 {
					fmt.Fprintf(w, "%d were imported with the totals of another system and were not checked\n", a.Imported)
				}
				if a.Unknown > 0 {
					fmt.Fprintf(w, "%d were priced by another version of the price engine and were not checked\n", a.Unknown)
				}
				for _, d := range a.Differences {
					fmt.Fprintln(w, d)
				}
			}, len(a.Differences) > 0}, err
		}),
	}
	cmd.Flags().StringVar(&from, "from", "", "first business date, such as 2026-01-31; all by default")
	return cmd
}
