package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/authz"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/sqldb"
	"comanda/internal/visit"
	"comanda/internal/visit/visitsql"
)

// tables prints the content of the QR codes of a restaurant.
func (c *cli) tables() *cobra.Command {
	var branch int64
	cmd := &cobra.Command{
		Use: "tables", Short: "List tables with their QR tokens and links", Args: noArguments,
		RunE: c.withDatabase(func(cmd *cobra.Command, config app.Config, db *sqldb.DB) (result, error) {
			return showTables(cmd, config, db, branch)
		}),
	}
	cmd.Flags().Int64Var(&branch, "branch", 0, "only this branch")
	cmd.AddCommand(c.addTables())
	return cmd
}

// addTables creates tables beside running servers.
func (c *cli) addTables() *cobra.Command {
	var branch int64
	var labels, section string
	var seats int
	cmd := &cobra.Command{
		Use: "add", Short: "Create tables, each with its own QR token", Args: noArguments,
		Long: "Creates tables and prints them like comanda tables. If a label is listed twice or in use, none is created.",
		Example: "  comanda tables add --branch 1 --labels A1-A8,T01-T12,Bar\n" +
			"  comanda tables add --branch 1 --labels T1-T4 --section Terrace --seats 8 --json",
		RunE: c.withCore(func(cmd *cobra.Command, k *app.Core) (result, error) {
			list, err := visit.ParseLabels(labels)
			if err != nil {
				return result{}, err
			}
			made, err := k.Floor.AddTables(cmd.Context(), authz.System(), list, visit.Table{
				BranchID: branch, Seats: seats, Section: section,
			})
			if err != nil {
				return result{}, err
			}
			return showLinks(cmd, k.Config, k.DB, made)
		}),
	}
	cmd.Flags().Int64Var(&branch, "branch", 0, "branch of the tables")
	cmd.Flags().StringVar(&labels, "labels", "", "labels and ranges, separated by commas")
	cmd.Flags().IntVar(&seats, "seats", 4, "seats of each table")
	cmd.Flags().StringVar(&section, "section", "", "part of the floor, at most 32 characters")
	_ = cmd.MarkFlagRequired("branch") // the flags exist
	_ = cmd.MarkFlagRequired("labels")
	return cmd
}

// showTables shows the tables of one branch, or for branch 0 of all branches. For an unknown branch it returns
// catalog.ErrBranch: an empty list would hide a mistyped id.
func showTables(cmd *cobra.Command, config app.Config, db *sqldb.DB, branch int64) (result, error) {
	if branch != 0 {
		if _, err := catalogsql.New(db, nil).Branch(cmd.Context(), branch); err != nil {
			return result{}, err
		}
	}
	all, err := visitsql.New(db).Tables(cmd.Context(), branch)
	if err != nil {
		return result{}, err
	}
	return showLinks(cmd, config, db, all)
}

// showLinks also prints the base address of the links and its origin, because a wrong address would be printed on
// tables.
func showLinks(cmd *cobra.Command, config app.Config, db *sqldb.DB, tables []visit.Table) (result, error) {
	config, err := config.WithStored(cmd.Context(), db)
	if err != nil {
		return result{}, err
	}
	config, served := config.AsServed()
	how := "the configured public URL."
	switch {
	case served:
		how = "the public URL of the last server on this data folder."
	case config.DerivedURL:
		how = "the listen address. Set COMANDA_PUBLIC_URL to the address that guests use."
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Links lead to %s, %s\n", config.PublicURL, how)
	links := app.Links(config, tables)
	return result{value: links, text: func(w io.Writer) {
		printTable(w, "BRANCH\tTABLE\tLABEL\tQR TOKEN\tLINK", links, func(w io.Writer, l app.Link) {
			fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\n", l.BranchID, l.TableID, l.Label, l.QRToken, l.URL)
		})
	}}, nil
}
