package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"comanda/internal/system"
)

func (c *cli) outbox() *cobra.Command {
	return group("outbox", "Show pending events; replay dead letters", c.outboxStatus(), c.outboxReplay())
}

func (c *cli) outboxStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Count pending events and dead letters", Args: noArguments,
		RunE: c.withSystem(func(cmd *cobra.Command, service *system.Service) (result, error) {
			s, err := service.Outbox(cmd.Context())
			return result{value: s, text: func(w io.Writer) {
				fmt.Fprintf(w, "pending  %d%s\n", s.Pending, oldest(s.Pending, s.OldestAgeSeconds))
				for _, t := range s.ByType {
					fmt.Fprintf(w, "  %-20s %d\n", t.Type, t.Events)
				}
				h := s.LastHour
				fmt.Fprintf(w, "hour     %d published, %d waiting, %d retrying, %d dead\n",
					h.Published, h.Waiting, h.Retrying, h.Dead)
				for _, d := range s.Dead {
					fmt.Fprintf(w, "dead     %s: %d\n", d.Consumer, d.Letters)
				}
				fmt.Fprintf(w, "redis    %d pending%s\n", s.Redis.Pending, oldest(s.Redis.Pending, s.Redis.OldestAgeSeconds))
				if s.Redis.Dead > 0 {
					fmt.Fprintf(w, "dead     (redis): %d, the first for %.1f s\n", s.Redis.Dead, s.Redis.DeadAgeSeconds)
				}
				if d := s.Documents; d.VerifiedAt != nil {
					fmt.Fprintf(w, "verified %s: %s between documents and SQL\n",
						d.VerifiedAt.Format(time.RFC3339), count(d.Differences, "difference", "differences"))
				}
			}}, err
		}),
	}
}

// outboxReplay is safe to repeat: consumers apply each event once (I8).
func (c *cli) outboxReplay() *cobra.Command {
	var f system.DeadLetterFilter
	cmd := &cobra.Command{
		Use: "replay", Short: "Replay dead letters", Args: noArguments,
		Long: "Moves dead letters of the relay back to the outbox, has each consumer apply its own again, and retries the\n" +
			"changes that Redis refused. Those that fail again remain dead letters.",
		RunE: c.withSystem(func(cmd *cobra.Command, s *system.Service) (result, error) {
			r, err := s.ReplayWhere(cmd.Context(), f)
			if err == nil && f.ID != "" && r.Sum() == 0 {
				// A script that names an event must notice that nothing was done.
				return result{}, fmt.Errorf("no dead letter of event %q matches; comanda outbox status counts them by consumer", f.ID)
			}
			return result{value: r, text: func(w io.Writer) {
				fmt.Fprintf(w, "%d back in the outbox, %d applied by consumers, %d failed again, %d queued for Redis again\n",
					r.Relayed, r.Applied, r.Failed, r.Revived)
			}}, err
		}),
	}
	cmd.Flags().StringVar(&f.Consumer, "consumer", "",
		"only this consumer; \"relay\" for the relay, \"redis\" for changes that Redis refused")
	cmd.Flags().StringVar(&f.Type, "type", "", "only events of this type")
	cmd.Flags().StringVar(&f.ID, "id", "", "only this event")
	return cmd
}

// oldest returns the age of the oldest of n entries, or nothing if there are none.
func oldest(n int64, seconds float64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", the oldest %.1f s old", seconds)
}
