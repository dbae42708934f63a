package main

import (
	"github.com/spf13/cobra"

	"comanda/internal/app"
)

// serve runs until the context ends, and returns after a clean stop.
func (c *cli) serve() *cobra.Command {
	var demo bool
	var roles string
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the server", Args: noArguments,
		Long: "Runs all roles in one process, or those in --roles. With --demo the demo restaurant is loaded\n" +
			"into the configured stores, the sandbox and simulated gateways are enabled, and links are printed.\n" +
			"In a terminal and with --demo, the log is text and has only warnings and errors.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			// These are only defaults: a flag, the environment or the file overrides each.
			c.defaults = map[string]string{}
			if demo {
				c.defaults["COMANDA_SANDBOX_PAYMENTS"], c.defaults["COMANDA_SIMULATORS"] = "on", "on"
			}
			// A person reads the terminal: the printed links would disappear between JSON records.
			if demo || isTerminal(cmd.ErrOrStderr()) {
				c.defaults["COMANDA_LOG_FORMAT"], c.defaults["COMANDA_LOG_LEVEL"] = "text", "warn"
			}
			config, err := c.config()
			if err != nil {
				return err
			}
			list, err := app.ParseRoles(roles)
			if err != nil {
				return err
			}
			return app.Serve(cmd.Context(), config, app.ServeOptions{
				Roles: list, Demo: demo, Out: cmd.OutOrStdout(), Log: cmd.ErrOrStderr(),
			})
		},
	}
	cmd.Flags().BoolVar(&demo, "demo", false, "load and show the demo restaurant")
	cmd.Flags().StringVar(&roles, "roles", "all", "api, worker, relay, comma-separated, or all")
	return cmd
}
