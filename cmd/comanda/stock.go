package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
)

func (c *cli) stock() *cobra.Command {
	cmd := &cobra.Command{Use: "stock", Short: "Counters of what is sold and held"}
	cmd.AddCommand(c.stockShow(), c.stockReconcile())
	return cmd
}

func (c *cli) stockShow() *cobra.Command {
	var branch int64
	cmd := &cobra.Command{
		Use: "show", Short: "Show today's counters", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withDatabase(cmd.Context(), func(ctx context.Context, _ app.Config, db *sqldb.DB) error {
				lines, err := app.StockToday(ctx, db, branch)
				if err != nil {
					return err
				}
				return c.print(cmd.OutOrStdout(), lines, func(w io.Writer) {
					t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
					fmt.Fprintln(t, "BRANCH\tDATE\tITEM\tDISH\tCAP\tHELD\tUSED\tLEFT")
					for _, l := range lines {
						fmt.Fprintf(t, "%d\t%s\t%d\t%s\t%s\t%d\t%d\t%s\n",
							l.BranchID, l.BizDate, l.ItemID, l.Dish, orAny(l.Cap), l.Held, l.Used, orAny(l.Left))
					}
					_ = t.Flush() // the writer behind it reports its own failures
				})
			})
		},
	}
	cmd.Flags().Int64Var(&branch, "branch", 0, "only this branch")
	return cmd
}

func orAny(n *int64) string {
	if n == nil {
		return "any"
	}
	return strconv.FormatInt(*n, 10)
}

func (c *cli) stockReconcile() *cobra.Command {
	return &cobra.Command{
		Use: "reconcile", Short: "Compare counters, holds, orders, money and Redis", Args: cobra.NoArgs,
		Long: "Compares the ledger's counters with the holds that they count, holds with their orders, orders with their\n" +
			"money, and all of it with Redis. Exits with 1 and a list on any difference. It may run beside servers: what is\n" +
			"only on its way is looked at again before it counts.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withDatabase(cmd.Context(), func(ctx context.Context, config app.Config, db *sqldb.DB) error {
				redis, note, err := c.attach(ctx, config)
				if err != nil {
					return err
				}
				if redis != nil {
					defer redis.Close()
				}
				r, err := app.Reconcile(ctx, db, redis)
				if err != nil {
					return err
				}
				r.Note = note
				if err := c.print(cmd.OutOrStdout(), r, func(w io.Writer) { printReconciliation(w, r) }); err != nil {
					return err
				}
				if !r.Clean {
					return errFound
				}
				return nil
			})
		},
	}
}

// attach connects to the servers' Redis. One that lives in a server which does not run holds nothing to compare.
func (c *cli) attach(ctx context.Context, config app.Config) (*redisdb.DB, string, error) {
	redis, err := app.AttachRedis(ctx, config)
	if app.IsNoServer(err) {
		return nil, "Redis is in process of the server, which does not run; only SQL was compared.", nil
	}
	return redis, "", err
}

func printReconciliation(w io.Writer, r app.Reconciliation) {
	if r.Note != "" {
		fmt.Fprintln(w, r.Note)
	}
	if r.Clean {
		fmt.Fprintf(w, "clean; %d scopes compared with Redis\n", r.Scopes)
		return
	}
	fmt.Fprintf(w, "%d differences:\n", len(r.Differences))
	for _, d := range r.Differences {
		fmt.Fprintln(w, " ", d)
	}
}
