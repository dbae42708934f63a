package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"comanda/internal/app"
	"comanda/internal/keyspace"
	"comanda/internal/keyspace/audit"
)

func (c *cli) keys() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "The keys of Redis: what is declared, and what is really there; and the key that signs",
	}
	cmd.AddCommand(c.keysList(), c.keysDocs(), c.keysLint(), c.keysAudit(), c.keysWithdraw())
	return cmd
}

func (c *cli) keysWithdraw() *cobra.Command {
	return &cobra.Command{
		Use: "withdraw", Short: "Replace the key that signs access tokens, after it was stolen", Args: cobra.NoArgs,
		Long: "Makes a new key in the database. Within seconds every running server refuses what was signed with the old\n" +
			"one: access tokens, device cookies, and the sessions, guests and menus in Redis. Apps refresh their tokens by\n" +
			"themselves, so that nobody has to log in again; devices are known again after the next login. Where\n" +
			"COMANDA_TOKEN_KEY is set, that key counts instead: change it and restart every server.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := c.config()
			if err != nil {
				return err
			}
			if err := app.WithdrawTokenKey(cmd.Context(), config); err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "The key in the database was replaced.")
			if config.TokenKey != "" {
				fmt.Fprintln(cmd.ErrOrStderr(),
					"It is not in use: COMANDA_TOKEN_KEY is set. Change that as well, and restart every server.")
			}
			return nil
		},
	}
}

func (c *cli) keysList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the declarations", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all := app.Keys()
			return c.print(cmd.OutOrStdout(), all, func(w io.Writer) {
				t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
				fmt.Fprintln(t, "KEY\tTYPE\tTTL\tCLASS\tOWNER\tRESTORED BY")
				for _, k := range all {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Pattern, k.Type, k.TTL, k.Class, k.Owner, k.Rebuild)
				}
				_ = t.Flush() // the writer behind it reports its own failures
			})
		},
	}
}

func (c *cli) keysDocs() *cobra.Command {
	return &cobra.Command{
		Use: "docs", Short: "Print docs/keyspace.md", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprint(cmd.OutOrStdout(), keyspace.Markdown())
			return nil
		},
	}
}

func (c *cli) keysLint() *cobra.Command {
	return &cobra.Command{
		Use: "lint", Short: "Prove the rules of the declarations", Args: cobra.NoArgs,
		Long: "Checks that no key can belong to two declarations, that none is too long or has letters of its own, that\n" +
			"each has a TTL or is derived from SQL, that what would be missed names what restores it, and that keys which\n" +
			"are used together lie on one node. Exits with 1 and a list on any finding.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := app.LintKeys()
			err := c.print(cmd.OutOrStdout(), found, func(w io.Writer) {
				for _, f := range found {
					fmt.Fprintln(w, f)
				}
				fmt.Fprintf(w, "%d declarations, %d findings\n", len(keyspace.Declarations()), len(found))
			})
			if err == nil && len(found) > 0 {
				return errFound
			}
			return err
		},
	}
}

// auditRate leaves a Redis that serves guests most of its time.
const auditRate = 100_000

func (c *cli) keysAudit() *cobra.Command {
	var o audit.Options
	cmd := &cobra.Command{
		Use: "audit", Short: "Compare what is in Redis with the declarations", Args: cobra.NoArgs,
		Long: "Walks over all keys of every master, on connections of its own, and tells which keys nobody declared, which\n" +
			"are of another type or live longer than declared, which entries of indexes lead to no document, which\n" +
			"documents are in no list, and how much memory each kind of key takes. Exits with 1 on any finding. It only\n" +
			"reads, and may run beside servers: what seems wrong is looked at again before it counts.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := c.config()
			if err != nil {
				return err
			}
			if show := progress(cmd.ErrOrStderr()); show != nil {
				o.Progress = percent(show)
			}
			r, err := app.AuditKeys(cmd.Context(), config, o)
			if err != nil {
				return err
			}
			if err := c.print(cmd.OutOrStdout(), r, func(w io.Writer) { printAudit(w, r) }); err != nil {
				return err
			}
			if !r.Clean {
				return errFound
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&o.Rate, "rate", auditRate, "keys per second at most; 0 for as fast as it goes")
	cmd.Flags().IntVar(&o.Samples, "samples", 10, "how many findings of a kind are shown")
	return cmd
}

// percent draws the bar anew only when it has grown.
func percent(show func(step, steps int, name string)) func(done, total int64) {
	last := int64(-1)
	return func(done, total int64) {
		now := int64(100)
		if total > 0 {
			now = 100 * done / total
		}
		if now != last {
			show(int(now), 100, fmt.Sprintf("%d of about %d keys", done, total))
			last = now
		}
	}
}

func printAudit(w io.Writer, r audit.Report) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "KEYS\tBYTES, ABOUT\tTYPE\t  PATTERN")
	for _, f := range r.Families {
		fmt.Fprintf(t, "%d\t%d\t%s\t  %s\n", f.Keys, f.Bytes, f.Type, f.Pattern)
	}
	_ = t.Flush() // the writer behind it reports its own failures
	for _, n := range r.Nodes {
		fmt.Fprintf(w, "%s holds %d keys\n", n.Addr, n.Keys)
	}
	fmt.Fprintf(w, "%d keys in %.1f s\n", r.Keys, r.Seconds)
	if r.Clean {
		fmt.Fprintln(w, "clean")
		return
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%s: %d\n", f.Kind, f.Count)
		for _, s := range f.Samples {
			fmt.Fprintln(w, "  "+s)
		}
	}
}
