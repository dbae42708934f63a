package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"comanda/internal/system"
)

func (c *cli) stock() *cobra.Command {
	return group("stock", "Show and reconcile counters of sold and held units", c.stockShow(), c.stockReconcile())
}

func (c *cli) stockShow() *cobra.Command {
	var branch int64
	cmd := &cobra.Command{
		Use: "show", Short: "Show today's counters and the stock", Args: noArguments,
		RunE: c.withSystem(func(cmd *cobra.Command, s *system.Service) (result, error) {
			lines, err := s.StockToday(cmd.Context(), branch)
			return result{value: lines, text: func(w io.Writer) {
				printTable(w, "BRANCH\tDATE\tITEM\tNAME\tCAP\tHELD\tUSED\tLEFT\t", lines, func(w io.Writer, l system.StockLine) {
					fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", l.BranchID, cmp.Or(l.BizDate, "(stock)"), l.ItemID,
						l.Name, orAny(l.Cap), l.Held, l.Used, orAny(l.Left), lowMark(l.Low))
				})
			}}, err
		}),
	}
	cmd.Flags().Int64Var(&branch, "branch", 0, "only this branch")
	return cmd
}

// lowMark marks a stock item at or below its alarm threshold.
func lowMark(low bool) string {
	if low {
		return "low"
	}
	return ""
}

// orAny formats a quantity; nil means that there is no limit.
func orAny(n *int64) string {
	if n == nil {
		return "any"
	}
	return strconv.FormatInt(*n, 10)
}

// stockReconcile checks I1, I6, I9 and I10 on a running installation.
func (c *cli) stockReconcile() *cobra.Command {
	var branch int64
	cmd := &cobra.Command{
		Use: "reconcile", Short: "Compare counters, stock, holds, orders, money and Redis", Args: noArguments,
		Long: "Compares the ledger's counters with the holds, the stock also with its adjustments, holds with\n" +
			"their orders, orders with their payments, and all of it with Redis. Lists differences and exits with 1. It\n" +
			"may run beside servers: differences are checked again before they are reported.",
		RunE: c.withRedis(func(cmd *cobra.Command, s *system.Service) (result, error) {
			r, err := s.Reconcile(cmd.Context(), branch)
			return result{r, func(w io.Writer) { printReconciliation(w, r) }, !r.Clean}, err
		}),
	}
	cmd.Flags().Int64Var(&branch, "branch", 0, "only this branch")
	return cmd
}

// printReconciliation prints every difference as one sentence.
func printReconciliation(w io.Writer, r system.Reconciliation) {
	if r.Note != "" {
		fmt.Fprintln(w, r.Note)
	}
	if r.Clean {
		if r.Cache == system.CacheCompared {
			fmt.Fprintf(w, "clean; %s compared with Redis\n", count(r.Scopes, "scope", "scopes"))
		} else {
			fmt.Fprintln(w, "SQL is clean; nothing was compared with Redis")
		}
		return
	}
	fmt.Fprintf(w, "%d differences:\n", len(r.Differences))
	for _, d := range r.Differences {
		fmt.Fprintln(w, " ", d)
	}
}
