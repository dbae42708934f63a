package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/menufile"
)

func (c *cli) menu() *cobra.Command {
	return group("menu", "Import and export menus as spreadsheets", c.menuImport(), c.menuExport())
}

// menuUsage describes the flag --menu.
const menuUsage = "id of a menu, as GET /api/menus lists it; default the branch's oldest published menu, else its oldest one"

// menuImport changes nothing if the file has a problem.
func (c *cli) menuImport() *cobra.Command {
	var branch int64
	var o catalog.ImportOptions
	var template string
	cmd := &cobra.Command{
		Use: "import [FILE]", Short: "Import a branch's menu from CSV, XLSX or ZIP, or from a template",
		Args: optionalArgument,
		Long: "Creates and changes dishes by their key. The file is a spreadsheet like that of comanda menu export, an item\n" +
			"export of Square or Loyverse, or a ZIP archive of one of them with pictures. If there is any problem,\n" +
			"nothing is written; the command prints all problems and exits with 1. New prices, quotas and dishes are written to a\n" +
			"draft, which --publish publishes. --template imports a built-in menu instead of a file, with prices in\n" +
			"the branch's currency: " + strings.Join(app.MenuTemplates(), ", ") + ".",
		Example: "  comanda menu import menu.xlsx --branch 1 --dry-run\n  comanda menu import menu.zip --branch 1 --publish\n" +
			"  comanda menu import --template pho --branch 1",
		RunE: c.withConfig(func(cmd *cobra.Command, config app.Config) (result, error) {
			if (template != "") == (cmd.Flags().NArg() > 0) {
				return result{}, errors.New("menu import needs a FILE or --template, and not both")
			}
			r, err := importMenu(cmd, config, branch, template, o)
			r.Rows, r.TotalRows = nil, 0 // the preview is for the console; scripts read counts and problems
			return result{r, func(w io.Writer) { printMenuImport(w, r, o.DryRun) }, len(r.Problems) > 0}, err
		}),
	}
	cmd.Flags().Int64Var(&branch, "branch", 0, "branch")
	cmd.Flags().Int64Var(&o.MenuID, "menu", 0, menuUsage)
	cmd.Flags().StringVar(&template, "template", "", "built-in menu, instead of a file")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "check only, write nothing")
	cmd.Flags().BoolVar(&o.Publish, "publish", false, "publish the draft")
	_ = cmd.MarkFlagRequired("branch") // the flag exists
	return cmd
}

// importMenu imports a template or, if none is named, the command's file.
func importMenu(
	cmd *cobra.Command, config app.Config, branch int64, template string, o catalog.ImportOptions,
) (catalog.MenuImportResult, error) {
	if template != "" {
		return app.WithCore(cmd.Context(), config, func(k *app.Core) (catalog.MenuImportResult, error) {
			return k.CatalogServices.Files.ImportTemplate(cmd.Context(), authz.System(), branch, template, o)
		})
	}
	raw, err := readLimited(cmd.Flags().Arg(0), menufile.MaxArchive)
	if err != nil {
		return catalog.MenuImportResult{}, err
	}
	return app.WithCore(cmd.Context(), config, func(k *app.Core) (catalog.MenuImportResult, error) {
		return k.CatalogServices.Files.Import(cmd.Context(), authz.System(), branch, raw, o)
	})
}

func printMenuImport(w io.Writer, r catalog.MenuImportResult, dryRun bool) {
	if len(r.Problems) > 0 {
		fmt.Fprintf(w, "%s, nothing was changed:\n", count(len(r.Problems), "problem", "problems"))
	}
	for _, p := range r.Problems {
		var at []string
		if p.Row > 0 {
			at = append(at, fmt.Sprintf("row %d", p.Row))
		}
		if p.Column != "" {
			at = append(at, p.Column)
		}
		if len(at) > 0 {
			fmt.Fprintf(w, "  %s: %s\n", strings.Join(at, ", "), p.Message)
			continue
		}
		fmt.Fprintf(w, "  %s\n", p.Message)
	}
	if len(r.Problems) > 0 {
		return
	}
	verb := ""
	if dryRun {
		verb = "would be "
	}
	fmt.Fprintf(w, "%s %screated, %d %supdated\n", count(r.Created, "dish", "dishes"), verb, r.Updated, verb)
}

func (c *cli) menuExport() *cobra.Command {
	var branch, menu int64
	var file, format string
	cmd := &cobra.Command{
		Use: "export", Short: "Export a branch's menu as CSV or XLSX", Args: noArguments,
		Long: "Writes the menu's newest draft, or the published version if there is none, as a spreadsheet that\n" +
			"comanda menu import accepts.",
		RunE: c.withConfig(func(cmd *cobra.Command, config app.Config) (result, error) {
			if format == "" {
				format = strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")
			}
			f := menufile.Format(format)
			switch {
			case format == "":
				f = menufile.CSV
			case f != menufile.CSV && f != menufile.XLSX:
				return result{}, fmt.Errorf("--format must be csv or xlsx, not %q", format)
			}
			raw, err := app.WithCore(cmd.Context(), config, func(k *app.Core) ([]byte, error) {
				return k.CatalogServices.Files.Export(cmd.Context(), authz.System(), branch, menu, f)
			})
			if err != nil {
				return result{}, err
			}
			_, err = exportTo(file, cmd.OutOrStdout(), func(to io.Writer) (int, error) { return to.Write(raw) })
			if err != nil || file == "" {
				return result{}, err
			}
			return writtenTo(file), nil
		}),
	}
	cmd.Flags().Int64Var(&branch, "branch", 0, "branch")
	cmd.Flags().Int64Var(&menu, "menu", 0, menuUsage)
	cmd.Flags().StringVar(&file, "output", "", "new file; default standard output")
	cmd.Flags().StringVar(&format, "format", "", "csv or xlsx; default by the file's name, else csv")
	_ = cmd.MarkFlagRequired("branch") // the flag exists
	return cmd
}
