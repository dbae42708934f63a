package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"comanda/internal/app"
)

//go:embed house-example.yaml
var setupExample string

// setup applies a set-up file to an installation.
func (c *cli) setup() *cobra.Command {
	var file string
	var dryRun, example bool
	cmd := &cobra.Command{
		Use: "setup", Short: "Set up a restaurant from a file: owner, branches, tables, menus, settings, people",
		Args: noArguments,
		Long: "Creates what is missing and changes what differs from the file, and removes nothing. It can be repeated, beside\n" +
			"running servers or before the first start. Branches are found by name, tables by label, dishes by key and\n" +
			"people by e-mail address. Existing tables, and passwords of existing accounts, are not changed.\n\n" +
			"The whole file is checked first; with any problem nothing is written, and the command prints each with its line\n" +
			"and exits with 1. Then the owner, all settings, each branch, its tables, its menu and each person are one\n" +
			"transaction each. If one fails, those before it stay; correct the cause and run the command again.\n\n" +
			"Passwords come from a file or variable that the set-up file names; the owner's also from COMANDA_PASSWORD, the\n" +
			"terminal, or a line of standard input. PINs are not set here: people choose their own, with their password.",
		Example: "  comanda setup --example > house.yaml\n  comanda setup --file house.yaml --dry-run\n" +
			"  comanda setup --file house.yaml < owner-password.txt",
		RunE: c.withConfig(func(cmd *cobra.Command, config app.Config) (result, error) {
			if example {
				_, err := io.WriteString(cmd.OutOrStdout(), setupExample)
				return result{}, err
			}
			if file == "" {
				return result{}, errors.New("setup needs --file or --example")
			}
			raw, err := readLimited(file, app.MaxSetupFile)
			if err != nil {
				return result{}, err
			}
			if len(raw) > app.MaxSetupFile {
				return result{}, fmt.Errorf("%s has more than %d bytes", file, app.MaxSetupFile)
			}
			r, err := app.SetUpRestaurant(cmd.Context(), config, app.RestaurantSetup{
				File: raw, Dir: filepath.Dir(file), DryRun: dryRun,
				Password: func() (string, error) { return readPassword(cmd.InOrStdin(), cmd.ErrOrStderr()) },
			})
			return result{r, func(w io.Writer) { printSetup(w, r) }, len(r.Problems) > 0}, err
		}),
	}
	cmd.Flags().StringVar(&file, "file", "", "set-up file in YAML")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be done, write nothing")
	cmd.Flags().BoolVar(&example, "example", false, "print an example of a set-up file")
	return cmd
}

func printSetup(w io.Writer, r app.RestaurantSetupResult) {
	if len(r.Problems) > 0 {
		fmt.Fprintf(w, "%s, nothing was changed:\n", count(len(r.Problems), "problem", "problems"))
		for _, p := range r.Problems {
			fmt.Fprintf(w, "  %s\n", p)
		}
		return
	}
	printTable(w, "ACTION\tKIND\tNAME\tDETAIL", r.Steps, func(w io.Writer, s app.SetupStep) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Action, s.Kind, s.Name, s.Detail)
	})
	if r.DryRun {
		fmt.Fprintln(w, "nothing was changed (--dry-run)")
	}
}
