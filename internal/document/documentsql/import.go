package documentsql

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"comanda/internal/document"
	"comanda/internal/fault"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

var imports = func() map[*document.Entity]*sqldb.Stmt {
	all := map[*document.Entity]*sqldb.Stmt{}
	for _, e := range document.Importable() {
		all[e] = stmts.Must(e.Name + "_import")
	}
	return all
}()

var duplicates = func() map[*document.Entity]*sqldb.Stmt {
	all := map[*document.Entity]*sqldb.Stmt{}
	for _, e := range document.Importable() {
		if len(e.UniqueTogether) > 0 {
			all[e] = stmts.Must(e.Name + "_conflict")
		}
	}
	return all
}()

// Duplicates implements document.ImportTarget.
func (s *Store) Duplicates(ctx context.Context, e *document.Entity, records []document.Record) (map[string]string, error) {
	return sqldb.Map[string, string](ctx, s.db, duplicates[e], columns(e, records, func(f document.Field) bool {
		return f.Name == "id" || slices.Contains(e.UniqueTogether, f.Name)
	}))
}

// Import implements document.ImportTarget. Versions continue after those of deleted rows, because Redis would drop a
// lower one.
func (s *Store) Import(ctx context.Context, e *document.Entity, records []document.Record) error {
	deleted, err := s.Tombstones(ctx, e)
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// A checkout may delete the cart meanwhile, and on PostgreSQL no constraint prevents that.
		if e == document.CartDetail {
			if err := lockCarts(ctx, tx, records); err != nil {
				return err
			}
		}
		if s.BeforeImport != nil {
			if err := s.BeforeImport(ctx, tx, e, records); err != nil {
				return err
			}
		}
		tx.QueueExactly(int64(len(records)), imports[e], columns(e, records, isColumn).
			Int("deleted", func(row int) int64 { return deleted[records[row].ID] }))
		if e == document.Role {
			queueGrants(tx, records)
		}
		Changed(tx, s.db.Now(), e.Name, seq.Map(records, func(r document.Record) string { return r.ID })...)
		// Imported ids are explicit. Without this statement, PostgreSQL would assign the same ids to new rows.
		rows, err := tx.Query(ctx, stmt("import_advance"))
		if err != nil {
			return err
		}
		rows.Close()
		return rows.Err()
	})
	for _, refusal := range []error{sqldb.ErrUnique, sqldb.ErrForeignKey, sqldb.ErrCheck} {
		if errors.Is(err, refusal) { // the records were valid; another transaction has changed the data
			return errConcurrentImport.Because(err)
		}
	}
	return err
}

// errConcurrentImport reports that the validated state has changed before the records were written.
var errConcurrentImport = fault.New(fault.Conflict, "import_conflict",
	"The data has changed during the import. Please import again.")

// lockCarts locks the carts of imported lines. A missing cart existed when the lines were validated.
func lockCarts(ctx context.Context, tx sqldb.Tx, lines []document.Record) error {
	at := slices.IndexFunc(document.CartDetail.Fields, func(f document.Field) bool { return f.Name == "cartId" })
	carts := seq.Map(lines, func(l document.Record) int64 { return l.Row[at].N })
	slices.Sort(carts)
	carts = slices.Compact(carts)
	existing, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("cart_keep"), sqldb.IDs(carts))
	if err == nil && len(existing) < len(carts) {
		err = errConcurrentImport
	}
	return err
}

// isColumn reports whether a field is a column of the entity's table.
func isColumn(f document.Field) bool { return !f.Derived && !f.Hidden }

// columns returns records as statement arguments, with the given fields in their order.
func columns(e *document.Entity, records []document.Record, wanted func(document.Field) bool) *sqldb.RowSet {
	set := sqldb.NewRowSet(len(records))
	for i, f := range e.Fields {
		if !wanted(f) {
			continue
		}
		cell := func(row int) *document.Cell { return &records[row].Row[i] }
		switch text := f.Kind == document.Text || f.Kind == document.Object; {
		case text && f.Null:
			set.NullText(column(f.Name), func(row int) (string, bool) { c := cell(row); return c.T, c.PT != nil })
		case text:
			set.Text(column(f.Name), func(row int) string { return cell(row).T })
		case f.Null:
			set.NullInt(column(f.Name), func(row int) (int64, bool) { c := cell(row); return c.N, c.PN != nil })
		default:
			set.Int(column(f.Name), func(row int) int64 { return cell(row).N })
		}
	}
	return set
}

// column returns the column name of a field: deviceId is device_id.
func column(field string) string {
	var b strings.Builder
	for _, r := range field {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// queueGrants replaces the permissions of roles.
func queueGrants(tx sqldb.Tx, roles []document.Record) {
	type grant struct{ role, permission int64 }
	var grants []grant
	for _, r := range roles {
		for _, id := range r.Members["permissionIds"] {
			n, _ := strconv.ParseInt(id, 10, 64) // checked
			grants = append(grants, grant{r.Row[0].N, n})
		}
	}
	tx.Queue(stmt("grant_clear"), sqldb.NewRowSet(len(roles)).Int("role_id", func(i int) int64 { return roles[i].Row[0].N }))
	if len(grants) > 0 {
		tx.Queue(stmt("grant_import"), sqldb.NewRowSet(len(grants)).
			Int("role_id", func(i int) int64 { return grants[i].role }).
			Int("permission_id", func(i int) int64 { return grants[i].permission }))
	}
}
