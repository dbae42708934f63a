package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"comanda/internal/account/accountsql"
	"comanda/internal/app"
	"comanda/internal/authz"
	"comanda/internal/keyspace"
	"comanda/internal/keyspace/keyaudit"
	"comanda/internal/sqldb"
)

func (c *cli) keys() *cobra.Command {
	return group("keys", "List and audit Redis keys; replace the signing key",
		c.keysList(), c.keysDocs(), c.keysLint(), c.keysAudit(), c.keysWithdraw())
}

// keysWithdraw needs no running server: servers read the key from SQL every few seconds.
func (c *cli) keysWithdraw() *cobra.Command {
	return &cobra.Command{
		Use: "withdraw", Short: "Replace the signing key after a leak", Args: noArguments,
		Long: "Generates a new key in the database. Within seconds every running server rejects everything signed with the old\n" +
			"one: access tokens, device cookies, and the sessions, guests and menus in Redis. Apps refresh their tokens by\n" +
			"themselves, so users stay logged in; devices are recognized again after the next login. If\n" +
			"COMANDA_TOKEN_KEY is set, it is used instead: change it and restart every server.",
		RunE: c.withDatabase(func(cmd *cobra.Command, config app.Config, db *sqldb.DB) (result, error) {
			if err := accountsql.WithdrawTokenKey(cmd.Context(), db, authz.System()); err != nil {
				return result{}, err
			}
			inUse := config.TokenKey == ""
			return result{value: map[string]bool{"replaced": true, "inUse": inUse}, text: func(w io.Writer) {
				fmt.Fprintln(w, "The key in the database was replaced.")
				if !inUse {
					fmt.Fprintln(w, "It is not in use: COMANDA_TOKEN_KEY is set. Change that as well, and restart every server.")
				}
			}}, nil
		}),
	}
}

func (c *cli) keysList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the declarations", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all := keyspace.Declarations()
			return c.print(cmd.OutOrStdout(), result{value: all, text: func(w io.Writer) {
				printTable(w, "KEY\tTYPE\tTTL\tCLASS\tOWNER\tRESTORED BY", all, func(w io.Writer, k keyspace.Decl) {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Pattern, k.Type, k.TTL, k.Class, k.Owner, k.Rebuild)
				})
			}})
		},
	}
}

func (c *cli) keysDocs() *cobra.Command {
	return &cobra.Command{
		Use: "docs", Short: "Print docs/keyspace.md", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprint(cmd.OutOrStdout(), keyspace.Markdown())
			return nil
		},
	}
}

// keysLint reads the declarations of this binary only; keysAudit reads Redis.
func (c *cli) keysLint() *cobra.Command {
	return &cobra.Command{
		Use: "lint", Short: "Verify the rules of the declarations", Args: noArguments,
		Long: "Checks that no key matches two declarations, that keys are short and use allowed characters only, that\n" +
			"each has a TTL or is derived from SQL, that derived and guarded keys name how they are rebuilt, and that keys\n" +
			"used together are on one node. Lists findings and exits with 1 if there are any.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := app.LintKeys()
			return c.print(cmd.OutOrStdout(), result{found, func(w io.Writer) {
				for _, f := range found {
					fmt.Fprintln(w, f)
				}
				fmt.Fprintf(w, "%d declarations, %s\n", len(keyspace.Declarations()), count(len(found), "finding", "findings"))
			}, len(found) > 0})
		},
	}
}

// auditRate, in keys per second, leaves Redis most of its time for guests.
const auditRate = 100_000

func (c *cli) keysAudit() *cobra.Command {
	var o keyaudit.Options
	cmd := &cobra.Command{
		Use: "audit", Short: "Compare the keys in Redis with their declarations", Args: noArguments,
		Long: "Scans all keys of every master on separate connections. Reports undeclared keys, keys of another type\n" +
			"or with a longer TTL than declared, index entries without a document, documents missing from their list,\n" +
			"the memory per kind of key, and the largest and longest keys. Exits with 1 on any finding. It only\n" +
			"reads, and may run beside servers: findings are checked again before they are reported.",
		RunE: c.withConfig(func(cmd *cobra.Command, config app.Config) (result, error) {
			if show := progress(cmd.ErrOrStderr()); show != nil {
				o.Progress = percentOf(show)
			}
			redis, err := app.AttachRedis(cmd.Context(), config)
			if err != nil {
				return result{}, err
			}
			defer redis.Close()
			r, err := keyaudit.Run(cmd.Context(), redis, o)
			return result{r, func(w io.Writer) { printAudit(w, r) }, !r.Clean}, err
		}),
	}
	cmd.Flags().IntVar(&o.Rate, "rate", auditRate, "maximum keys per second; 0 for no limit")
	cmd.Flags().IntVar(&o.Samples, "samples", 10, "number of findings shown per kind")
	return cmd
}

// percentOf converts counts to percent for a progress bar, which it redraws only when the percentage has changed.
func percentOf(show func(step, steps int, name string)) func(done, total int64) {
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

// printAudit prints the families of keys, the nodes, and the findings with samples.
func printAudit(w io.Writer, r keyaudit.Report) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "KEYS\tBYTES, ABOUT\tTYPE\t  PATTERN")
	for _, f := range r.Families {
		fmt.Fprintf(t, "%d\t%d\t%s\t  %s\n", f.Keys, f.Bytes, f.Type, f.Pattern)
	}
	_ = t.Flush() // the underlying writer reports its errors
	printSizes(w, r)
	for _, n := range r.Nodes {
		fmt.Fprintf(w, "%s holds %d keys%s\n", n.Addr, n.Keys, memoryOf(n))
	}
	fmt.Fprintf(w, "%s in %.1f s\n", count(r.Keys, "key", "keys"), r.Seconds)
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

// printSizes prints the keys that need most memory, and the longest keys of each family that has long ones.
func printSizes(w io.Writer, r keyaudit.Report) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "BYTES\tLENGTH\tTYPE\t  LARGEST KEYS")
	for _, k := range r.Largest {
		fmt.Fprintf(t, "%d\t%d\t%s\t  %s\n", k.Bytes, k.Length, k.Type, k.Key)
	}
	fmt.Fprintln(t, "BYTES\tLENGTH\tTYPE\t  LONGEST SETS AND HASHES OF EACH PATTERN")
	for _, f := range r.Families {
		for _, k := range f.Longest {
			if k.Type != string(keyspace.String) {
				fmt.Fprintf(t, "%d\t%d\t%s\t  %s\n", k.Bytes, k.Length, k.Type, k.Key)
			}
		}
	}
	_ = t.Flush() // the underlying writer reports its errors
}

// memoryOf describes the memory of a server; it is empty for an embedded store.
func memoryOf(n keyaudit.Node) string {
	switch {
	case n.Limit > 0:
		return fmt.Sprintf(" and uses %d of %d bytes", n.Used, n.Limit)
	case n.Used > 0:
		return fmt.Sprintf(" and uses %d bytes without a limit", n.Used)
	}
	return ""
}
