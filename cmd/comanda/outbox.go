package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/event/outbox"
	"comanda/internal/sqldb"
)

func (c *cli) outbox() *cobra.Command {
	cmd := &cobra.Command{Use: "outbox", Short: "Events on their way, and dead letters"}
	cmd.AddCommand(c.outboxStatus(), c.outboxReplay())
	return cmd
}

func (c *cli) outboxStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Count what waits and what was given up", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withDatabase(cmd.Context(), func(ctx context.Context, _ app.Config, db *sqldb.DB) error {
				s, err := outbox.ReadStatus(ctx, db)
				if err != nil {
					return err
				}
				return c.print(cmd.OutOrStdout(), s, func(w io.Writer) {
					fmt.Fprintf(w, "pending  %d, the oldest %.1f s old\n", s.Pending, s.OldestAgeSeconds)
					for _, t := range s.ByType {
						fmt.Fprintf(w, "  %-20s %d\n", t.Type, t.Events)
					}
					for _, d := range s.Dead {
						who := d.Consumer
						if who == "" {
							who = "(relay)"
						}
						fmt.Fprintf(w, "dead     %s: %d\n", who, d.Letters)
					}
				})
			})
		},
	}
}

func (c *cli) outboxReplay() *cobra.Command {
	var f app.ReplayFilter
	cmd := &cobra.Command{
		Use: "replay", Short: "Bring dead letters on their way again", Args: cobra.NoArgs,
		Long: "Puts events that the relay gave up back into the outbox, and has each consumer apply what it gave up. A letter\n" +
			"that fails again stays dead.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withDatabase(cmd.Context(), func(ctx context.Context, _ app.Config, db *sqldb.DB) error {
				r, err := app.Replay(ctx, db, f)
				if err != nil {
					return err
				}
				return c.print(cmd.OutOrStdout(), r, func(w io.Writer) {
					fmt.Fprintf(w, "%d back in the outbox, %d applied by consumers, %d failed again\n", r.Relayed, r.Applied, r.Failed)
				})
			})
		},
	}
	cmd.Flags().StringVar(&f.Consumer, "consumer", "", "only this consumer's; \"relay\" for the relay's own")
	cmd.Flags().StringVar(&f.Type, "type", "", "only events of this type")
	cmd.Flags().StringVar(&f.ID, "id", "", "only this event")
	return cmd
}
