package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/cataloghttp"
	"comanda/internal/money"
	"comanda/internal/seq"
)

// branch manages branches beside running servers.
func (c *cli) branch() *cobra.Command {
	return group("branch", "Create, list, change and archive branches", c.createBranch(), c.listBranches(), c.setBranch(),
		c.copyBranch(),
		c.changeBranch("retire", "Archive a branch",
			"Archives a branch: it is no longer listed, and its QR codes and new orders are refused. Its orders and reports\n"+
				"stay. A branch with open tables or unfinished orders cannot be archived.",
			func(ctx context.Context, a *catalog.BranchAdmin, id int64) (catalog.Branch, error) {
				return a.Retire(ctx, authz.System(), id)
			}),
		c.changeBranch("restore", "Restore an archived branch", "",
			func(ctx context.Context, a *catalog.BranchAdmin, id int64) (catalog.Branch, error) {
				return a.Restore(ctx, authz.System(), id)
			}))
}

func (c *cli) createBranch() *cobra.Command {
	var r catalog.NewBranchRequest
	var country, currency string
	var locales []string
	var dayStart int
	cmd := &cobra.Command{
		Use: "create", Short: "Create a branch", Args: noArguments,
		Long: "Creates a branch without tables and menus. Currency, time zone, start of the business day and languages come\n" +
			"from the country, unless they are given. A country with several time zones needs --timezone; one whose currency\n" +
			"is not accepted also needs --currency.",
		Example: "  comanda branch create --name \"Quán Hoa\" --country VN --locales vi,en\n" +
			"  comanda branch create --name \"Corner Diner\" --country US --timezone America/Chicago --json",
		RunE: c.withCore(func(cmd *cobra.Command, k *app.Core) (result, error) {
			r.Country, r.Currency, r.Locales = catalog.Country(country), money.Currency(currency), localesOf(locales)
			r.DayStart = given(cmd, "day-start", dayStart)
			b, err := k.Branches.Create(cmd.Context(), authz.System(), r)
			return showBranch(k, b, err)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Name, "name", "", "name that guests see")
	flags.StringVar(&country, "country", "", "ISO code of the country, such as VN")
	flags.StringSliceVar(&locales, "locales", nil, "languages of the menu, the branch's own first")
	flags.StringVar(&currency, "currency", "", "ISO code of the currency")
	flags.StringVar(&r.Timezone, "timezone", "", "IANA time zone, such as Asia/Taipei")
	flags.IntVar(&dayStart, "day-start", 0, "hour at which the business day begins, 0 to 23")
	_ = cmd.MarkFlagRequired("name") // the flags exist
	_ = cmd.MarkFlagRequired("country")
	return cmd
}

func localesOf(texts []string) []catalog.Locale {
	return seq.Map(texts, func(t string) catalog.Locale { return catalog.Locale(strings.TrimSpace(t)) })
}

// showBranch shows the branch that a command has created or changed.
func showBranch(k *app.Core, b catalog.Branch, err error) (result, error) {
	if err != nil {
		return result{}, err
	}
	return result{value: cataloghttp.BranchJSON(b, k.DB.Now()), text: func(w io.Writer) {
		fmt.Fprintf(w, "branch %d: %s, %s, %s\n", b.ID, b.Name, b.Currency, b.Timezone)
	}}, nil
}

// branchID describes the argument of commands on a branch.
const branchID = "the id of a branch"

// withBranch is withCore for a command that changes the branch of its first argument.
func (c *cli) withBranch(change func(*cobra.Command, *app.Core, int64) (catalog.Branch, error)) runner {
	return c.withCore(func(cmd *cobra.Command, k *app.Core) (result, error) {
		id, err := strconv.ParseInt(cmd.Flags().Arg(0), 10, 64)
		if err != nil {
			return result{}, fmt.Errorf("%q is not the id of a branch; comanda branch list shows them", cmd.Flags().Arg(0))
		}
		b, err := change(cmd, k, id)
		return showBranch(k, b, err)
	})
}

// given returns the value of a flag, or nil if the command line does not have it.
func given[T any](cmd *cobra.Command, flag string, value T) *T {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	return &value
}

func (c *cli) listBranches() *cobra.Command {
	var retired bool
	cmd := &cobra.Command{
		Use: "list", Short: "List branches", Args: noArguments,
		RunE: c.withCore(func(cmd *cobra.Command, k *app.Core) (result, error) {
			read := k.Branches.Branches
			if retired {
				read = k.Branches.Retired
			}
			all, err := read(cmd.Context(), authz.System())
			if err != nil {
				return result{}, err
			}
			now := k.DB.Now()
			list := seq.Map(all, func(b catalog.Branch) any { return cataloghttp.BranchJSON(b, now) })
			return result{value: list, text: func(w io.Writer) { printBranches(w, all) }}, nil
		}),
	}
	cmd.Flags().BoolVar(&retired, "retired", false, "list archived branches instead")
	return cmd
}

// printBranches writes branches as a table. A branch without a country has a dash: an empty cell looks like one that was not
// read.
func printBranches(w io.Writer, all []catalog.Branch) {
	open := map[bool]string{true: "yes", false: "no"}
	printTable(w, "BRANCH\tNAME\tCOUNTRY\tCURRENCY\tTIME ZONE\tOPEN", all, func(w io.Writer, b catalog.Branch) {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", b.ID, b.Name, cmp.Or(b.Country, "-"), b.Currency, b.Timezone, open[b.Open])
	})
}

func (c *cli) setBranch() *cobra.Command {
	var name string
	var locales []string
	var dayStart int
	var open, sharedCart bool
	var hoursFile, country, currency, timezone, mailFrom string
	cmd := &cobra.Command{
		Use: "set ID", Short: "Change a branch", Args: withFlags(oneArgument(branchID)),
		Example: "  comanda branch set 1 --name \"Quán Hoa 2\" --open true\n" +
			"  comanda branch set 1 --hours hours.json",
		Long: "Changes only the settings that you pass. A file of opening hours lists periods by weekday and by date:\n" +
			`{"weekly":{"fri":[{"from":"17:00","to":"01:00"}]},"exceptions":[{"date":"2026-12-24","periods":[]}]}` + "\n" +
			"A missing weekday is closed; an empty object {} means always open.",
		RunE: c.withBranch(func(cmd *cobra.Command, k *app.Core, id int64) (_ catalog.Branch, err error) {
			e := catalog.BranchEdit{
				Name: given(cmd, "name", name), DayStart: given(cmd, "day-start", dayStart), Open: given(cmd, "open", open),
				Country:  given(cmd, "country", catalog.Country(country)),
				Currency: given(cmd, "currency", money.Currency(currency)),
				Timezone: given(cmd, "timezone", timezone), SharedCart: given(cmd, "shared-cart", sharedCart),
				MailFrom: given(cmd, "mail-from", mailFrom),
			}
			if cmd.Flags().Changed("locales") {
				e.Locales = localesOf(locales)
			}
			if hoursFile != "" {
				if e.Hours, err = readHours(hoursFile); err != nil {
					return catalog.Branch{}, err
				}
			}
			return k.Branches.Edit(cmd.Context(), authz.System(), id, e)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&name, "name", "", "name that guests see")
	flags.StringSliceVar(&locales, "locales", nil, "languages of the menu, the branch's own first")
	flags.IntVar(&dayStart, "day-start", 0, "first hour of the business day, 0 to 23; cannot change after the first order")
	flags.BoolVar(&open, "open", false, "whether guests can order: true or false")
	flags.StringVar(&country, "country", "", "ISO code of the country; cannot change after the first order")
	flags.StringVar(&currency, "currency", "", "ISO code of the currency; cannot change after the first order")
	flags.StringVar(&timezone, "timezone", "", "IANA time zone; cannot change after the first order")
	flags.StringVar(&hoursFile, "hours", "", "JSON file with the opening hours")
	flags.StringVar(&mailFrom, "mail-from", "", "sender of e-mails about its orders, such as \"Quán Hoa <hoa@house.example>\"")
	flags.BoolVar(&sharedCart, "shared-cart", false, "whether the phones of a table fill one cart: true or false")
	for _, name := range []string{"open", "shared-cart"} {
		flags.Lookup(name).NoOptDefVal = "" // so that --open true is accepted, too
	}
	return cmd
}

// changeBranch is a command that only takes the id of a branch.
func (c *cli) changeBranch(
	name, short, long string, run func(context.Context, *catalog.BranchAdmin, int64) (catalog.Branch, error),
) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Long: long, Args: oneArgument(branchID),
		RunE: c.withBranch(func(cmd *cobra.Command, k *app.Core, id int64) (catalog.Branch, error) {
			return run(cmd.Context(), k.Branches, id)
		}),
	}
}

func (c *cli) copyBranch() *cobra.Command {
	var r catalog.BranchCopy
	cmd := &cobra.Command{
		Use: "copy ID", Short: "Copy a branch", Args: oneArgument(branchID),
		Long:    "Creates a branch with the settings, opening hours and menu of another, without tables, people and stock.",
		Example: "  comanda branch copy 1 --name \"Quán Hoa 2\" --json",
		RunE: c.withBranch(func(cmd *cobra.Command, k *app.Core, id int64) (catalog.Branch, error) {
			r.From = id
			return k.Branches.Copy(cmd.Context(), authz.System(), k.CatalogServices.Files, r)
		}),
	}
	cmd.Flags().StringVar(&r.Name, "name", "", "name that guests see")
	cmd.Flags().StringVar(&r.ClientTxnID, "key", "", "idempotency key: repeating the command creates nothing more")
	_ = cmd.MarkFlagRequired("name") // the flag exists
	return cmd
}

// maxHoursFile is far more than opening hours with every exception have, in bytes.
const maxHoursFile = 1 << 20

// readHours reads a file of opening hours. It refuses null, which a program writes for hours that it does not have: the
// branch would be open at all hours.
func readHours(name string) (*catalog.OpeningHours, error) {
	raw, err := readLimited(name, maxHoursFile)
	if err != nil {
		return nil, err
	}
	var h *catalog.OpeningHours
	if err := decodeJSON(raw, maxHoursFile, name, "comanda branch set", &h); err != nil {
		return nil, err
	}
	if h == nil {
		return nil, fmt.Errorf("%s has null instead of opening hours", name)
	}
	return h, nil
}
