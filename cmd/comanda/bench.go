package main

import "github.com/spf13/cobra"

func (c *cli) bench() *cobra.Command {
	return &cobra.Command{Use: "bench", Short: "Measure the server beside the raw limits of this machine", Args: cobra.NoArgs}
}
