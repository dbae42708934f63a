package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"comanda/internal/document"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/system"
)

// export writes documents for import on another installation. It is not a backup.
func (c *cli) export() *cobra.Command {
	var list, file string
	cmd := &cobra.Command{
		Use: "export", Short: "Export documents as JSON lines", Args: noArguments,
		Long: "Writes permissions, roles, accounts, categories, dishes and carts as of one instant, even while a\n" +
			"server runs, one document per line, in a stable order. Passwords and tokens are not\n" +
			"exported. --entity all adds orders and their lines; they cannot be imported, only restored with\n" +
			"a backup. The export is recorded in the audit log.",
		RunE: c.withSystem(func(cmd *cobra.Command, s *system.Service) (result, error) {
			entities, err := system.ParseEntities(list)
			if err != nil {
				return result{}, err
			}
			report, err := c.reporter(cmd, s, false)
			if err != nil {
				return result{}, err
			}
			n, err := exportTo(file, cmd.OutOrStdout(), func(to io.Writer) (int, error) {
				return s.Export(cmd.Context(), entities, to, report)
			})
			if err != nil || file == "" {
				return result{}, err
			}
			return result{value: exported{n, file}, text: func(w io.Writer) {
				fmt.Fprintf(w, "%s in %s\n", count(n, "document", "documents"), file)
			}}, nil
		}),
	}
	cmd.Flags().StringVar(&list, "entity", "", "only these entities, comma-separated; all includes orders")
	cmd.Flags().StringVar(&file, "output", "", "new file; default standard output")
	return cmd
}

// exported is the result of export. It is printed only if the documents are written to a file, because the two would
// be mixed otherwise.
type exported struct {
	Documents int    `json:"documents"`
	File      string `json:"file"`
}

// exportTo writes to a new file that only the operator can read, and removes it if writing fails.
func exportTo(file string, out io.Writer, write func(io.Writer) (int, error)) (int, error) {
	if file == "" {
		return write(out)
	}
	// O_EXCL, because an existing file may be an export that is still needed. 0600, because accounts are personal data.
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	n, err := write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		// An incomplete file must not be mistaken for an export.
		_ = os.Remove(file)
	}
	return n, err
}

// importing checks the whole file before it writes anything; --check stops there.
func (c *cli) importing() *cobra.Command {
	var check bool
	var on string
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Import documents from JSON lines", Args: oneArgument("the file to read"),
		Long: "Imports a file written by export. All lines are checked before any is written: fields, types, references,\n" +
			"and existing ids or unique values, which refuse the whole import unless --on-conflict says\n" +
			"otherwise. Then the lines are written in transactions of a few hundred. Accounts are imported without passwords:\n" +
			"their owners request a new one. Orders are restored from a backup; comanda orders import takes over past ones.",
		RunE: c.withSystem(func(cmd *cobra.Command, s *system.Service) (result, error) {
			how := document.OnConflict(on)
			if !slices.Contains([]document.OnConflict{document.Refuse, document.Skip, document.Replace}, how) {
				return result{}, fmt.Errorf("--on-conflict must be refuse, skip or replace, not %q", on)
			}
			f, err := os.Open(cmd.Flags().Arg(0))
			if err != nil {
				return result{}, fmt.Errorf("import: %w", err)
			}
			defer func() { _ = f.Close() }()
			r, err := s.Import(cmd.Context(), f, how, check)
			return result{value: r, text: func(w io.Writer) { printImported(w, r, check) }}, inFile(f.Name(), err)
		}),
	}
	cmd.Flags().BoolVar(&check, "check", false, "check only, write nothing")
	cmd.Flags().StringVar(&on, "on-conflict", string(document.Refuse), "refuse, skip or replace existing documents")
	return cmd
}

// orders groups the commands on orders.
func (c *cli) orders() *cobra.Command {
	return group("orders", "Import orders of another system", c.ordersImport())
}

// ordersImport takes over past orders. Like importing, it checks the whole file before it writes anything.
func (c *cli) ordersImport() *cobra.Command {
	var check, skip bool
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Import closed orders of the past from JSON lines", Args: oneArgument("the file to read"),
		Long: "Imports orders of another system, so that reports and members have their past. Each line is an order:\n\n" +
			historyExample + "\n\n" +
			"paymentStatus is PAID, REFUNDED or CANCELED; the last two have endedAt, and the last has no paidAt. A PAID order of\n" +
			"which a part was refunded has refundedAmount and the time of the refund as endedAt. Amounts are in\n" +
			"the currency's smallest unit. A dish is named by dishId or by its name in any language, and may be retired.\n" +
			"bizDate must be in the past; the default is that of createdAt. Optional: number, paymentMethod (COUNTER), userId of\n" +
			"a member, receiverName, receiverPhone, receiverAddress, receiverEmail, receiverNote, and notes of items. Nothing is\n" +
			"published, and no e-mail is sent.\n\n" +
			"All lines are checked before any is written. Import an interrupted file again with --skip-existing.",
		RunE: c.withSystem(func(cmd *cobra.Command, s *system.Service) (result, error) {
			f, err := os.Open(cmd.Flags().Arg(0))
			if err != nil {
				return result{}, fmt.Errorf("import: %w", err)
			}
			defer func() { _ = f.Close() }()
			r, err := s.ImportHistory(cmd.Context(), f, skip, check)
			return result{value: r, text: func(w io.Writer) { printHistory(w, r, check) }}, inFile(f.Name(), err)
		}),
	}
	cmd.Flags().BoolVar(&check, "check", false, "check only, write nothing")
	cmd.Flags().BoolVar(&skip, "skip-existing", false, "leave out orders that were imported before")
	return cmd
}

const historyExample = `{"id":"2025-000123","branchId":"1","kind":"DINE_IN","paymentStatus":"PAID","totalPrice":130000,
"currency":"VND","createdAt":"2025-11-03T11:20:00+07:00","paidAt":"2025-11-03T12:05:00+07:00",
"items":[{"name":"Phở bò","quantity":2,"price":65000}]}`

func printHistory(w io.Writer, r ordering.HistoryResult, check bool) {
	verb := "imported"
	if check {
		verb = "would be imported"
	}
	fmt.Fprintf(w, "%s with %s %s, %d exist\n",
		count(r.Orders, "order", "orders"), count(r.Lines, "line", "lines"), verb, r.Skipped)
	if r.Orders > 0 {
		fmt.Fprintf(w, "business dates %s to %s\n", r.FirstDay, r.LastDay)
	}
	for _, c := range slices.Sorted(maps.Keys(r.Totals)) {
		fmt.Fprintf(w, "paid: %s %s\n", money.Currency(c).Format(r.Totals[c]), c)
	}
}

// printImported prints counts by entity, sorted, so that two runs can be compared.
func printImported(w io.Writer, r document.ImportResult, check bool) {
	verb := "written"
	if check {
		verb = "would be written"
	}
	fmt.Fprintf(w, "%s\n", count(r.Lines, "line", "lines"))
	for _, e := range slices.Sorted(maps.Keys(r.Written)) {
		fmt.Fprintf(w, "%-12s %d %s\n", e, r.Written[e], verb)
	}
	for _, e := range slices.Sorted(maps.Keys(r.Skipped)) {
		fmt.Fprintf(w, "%-12s %d skipped\n", e, r.Skipped[e])
	}
}

// backup copies the database through SQLite; copying the file of a running server could be inconsistent.
func (c *cli) backup() *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", Short: "Back up the SQLite database, even while a server runs",
		Args: oneArgument("the file to write"),
		Long: "Writes a consistent copy of the database to a new file. To restore it, stop the\n" +
			"server and replace comanda.db with the file. For PostgreSQL use pg_dump. Redis needs no backup. See\n" +
			"docs/backup.md.",
		RunE: c.withSystem(func(cmd *cobra.Command, s *system.Service) (result, error) {
			file := cmd.Flags().Arg(0)
			return writtenTo(file), s.Backup(cmd.Context(), file)
		}),
	}
}

// writtenTo is the result of a command that has written a file.
func writtenTo(file string) result {
	return result{value: map[string]string{"file": file}, text: func(w io.Writer) { fmt.Fprintln(w, "written to", file) }}
}
