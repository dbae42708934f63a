package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"comanda/internal/app"
)

// doctor changes nothing, and exits with 1 if a check fails.
func (c *cli) doctor() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check configuration, versions, connections and clocks", Args: noArguments,
		RunE: c.withConfig(func(cmd *cobra.Command, config app.Config) (result, error) {
			d := app.Diagnose(cmd.Context(), config)
			return result{d, func(w io.Writer) {
				fmt.Fprintf(w, "comanda %s %s (%s)\n", d.Build.Version, d.Build.Revision, d.Build.GoVersion)
				for _, s := range d.Settings {
					fmt.Fprintf(w, "  %-30s %s\n", s.Name, s.Text())
				}
				for _, f := range d.Findings {
					mark := "ok   "
					if !f.OK {
						mark = "WRONG"
					}
					fmt.Fprintf(w, "%s  %-12s %s\n", mark, f.What, f.Detail)
				}
			}, !d.Healthy()}, nil
		}),
	}
}
