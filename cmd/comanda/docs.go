package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"comanda/internal/app"
)

// docs prints the documents that are generated from the code, for make generate.
func (c *cli) docs() *cobra.Command {
	return &cobra.Command{
		Use: "docs openapi|events|keys|configuration", Short: "Print a generated document", Hidden: true,
		Args: oneArgument("the name of a document"), ValidArgs: []string{"openapi", "events", "keys", "configuration"},
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := app.Document(args[0])
			if err != nil {
				return err
			}
			fmt.Fprint(cmd.OutOrStdout(), text)
			return nil
		},
	}
}
