package cartsql_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"comanda/internal/cart/cartsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// plans are statements that explain plans of PostgreSQL, and others that make the tables' statistics those of emptied
// tables.
var plans = sqldb.Load(func() fstest.MapFS {
	files := fstest.MapFS{}
	add := func(name, text string) { files[name+".sql"] = &fstest.MapFile{Data: []byte(text)} }
	add("free_carts", `ALTER TABLE cart DROP CONSTRAINT cart_user_id_fkey`)
	add("free_lines", `ALTER TABLE cart_detail DROP CONSTRAINT cart_detail_dish_id_fkey`)
	add("fill_carts", `INSERT INTO cart (id, user_id, created_at, updated_at) SELECT n, n + 0, 0, 0 FROM generate_series(1, 1500) AS n`)
	add("fill_lines", `INSERT INTO cart_detail (id, cart_id, dish_id, quantity, price) SELECT n, n + 0, 1, 1, 1 FROM generate_series(1, 1500) AS n`)
	add("empty_carts", `DELETE FROM cart`)
	add("empty_lines", `DELETE FROM cart_detail`)
	add("look", `ANALYZE cart, cart_detail`)
	cartsql.Statements.All(func(s *sqldb.Stmt) {
		add("explain_"+s.Name, "EXPLAIN "+s.Text(sqldb.Postgres))
	})
	return files
}())

// quadratic matches a plan that joins all pairs of rows or filters all rows of a table.
var quadratic = regexp.MustCompile(`Join Filter: \(\w+\.\w+ = |Filter: \(.*= ANY`)

// Carts are created and deleted often, so PostgreSQL's statistics may describe empty tables. Even then, its plans must
// not compare each row of a table with each row of a batch.
func TestStatements_with_stale_statistics(t *testing.T) {
	db, ctx := sqldbtest.Postgres(t), t.Context()
	for _, name := range []string{
		"free_carts", "free_lines", "fill_carts", "fill_lines", "empty_lines", "empty_carts", "look", "fill_carts", "fill_lines",
	} {
		testenv.Must(db.Exec(ctx, plans.Must(name)))(t)
	}
	ids, none, names := make([]int64, 32), make([]int64, 32), make([]string, 32)
	for i := range ids {
		ids[i] = int64(i) + 1
	}
	for name, args := range map[string][]any{
		"cart_select": {ids}, "cart_lock": {ids}, "cart_delete": {ids}, "line_select": {ids}, "line_delete": {ids},
		"cart_ensure": {ids, names, int64(0)}, "cart_update": {ids, none, none, names, ids},
	} {
		lines, err := sqldb.Collect(ctx, db, sqldb.Value[string], plans.Must("explain_"+name), args...)
		if err != nil {
			t.Fatal(name, err)
		}
		if plan := strings.Join(lines, "\n"); quadratic.MatchString(plan) || !strings.Contains(plan, "cart") {
			t.Errorf("plan of %s, want indexes and no nested scan:\n%s", name, plan)
		}
	}
}
