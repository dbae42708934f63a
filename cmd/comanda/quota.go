package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/authz"
)

func (c *cli) quota() *cobra.Command {
	var item, daily int64
	var unlimited bool
	set := &cobra.Command{
		Use: "set", Short: "Set the daily quota of a menu item, starting today", Args: noArguments,
		Example: "  comanda quota set --item 11 --daily 50\n  comanda quota set --item 11 --unlimited",
		RunE: c.withConfig(func(cmd *cobra.Command, config app.Config) (result, error) {
			// Exactly one of the two flags is required: a missing number must not mean zero.
			if cmd.Flags().Changed("daily") == unlimited {
				return result{}, errors.New("quota set needs either --daily N or --unlimited")
			}
			// A nil quota means no limit; 0 means that none may be sold.
			quota := &daily
			if unlimited {
				quota = nil
			}
			_, err := app.WithCore(cmd.Context(), config, func(k *app.Core) (struct{}, error) {
				return struct{}{}, k.Editor.SetQuota(cmd.Context(), authz.System(), item, quota)
			})
			value := map[string]any{"itemId": strconv.FormatInt(item, 10), "dailyQuota": quota}
			return result{value: value, text: func(w io.Writer) {
				if quota == nil {
					fmt.Fprintf(w, "item %d is unlimited\n", item)
					return
				}
				fmt.Fprintf(w, "item %d: %d a day\n", item, daily)
			}}, err
		}),
	}
	set.Flags().Int64Var(&item, "item", 0, "menu item")
	set.Flags().Int64Var(&daily, "daily", 0, "units per business date")
	set.Flags().BoolVar(&unlimited, "unlimited", false, "no quota")
	_ = set.MarkFlagRequired("item") // the flag exists
	return group("quota", "Set daily quotas", set)
}
