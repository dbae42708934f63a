package documentsql

import (
	"embed"

	"comanda/internal/document"
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// entityStatements are the statements that read an entity.
type entityStatements struct {
	rows, ids, total *sqldb.Stmt
	find, found      *sqldb.Stmt            // nil without sets
	by               map[string]*sqldb.Stmt // by unique index
	sizes            map[string]*sqldb.Stmt // by set index
}

var statementsOf = func() map[*document.Entity]entityStatements {
	all := map[*document.Entity]entityStatements{}
	for _, e := range document.Entities {
		r := entityStatements{
			rows: stmts.Must(e.Name + "_select"), ids: stmts.Must(e.Name + "_ids"), total: stmts.Must(e.Name + "_total"),
			by: map[string]*sqldb.Stmt{}, sizes: map[string]*sqldb.Stmt{},
		}
		for _, x := range e.Sets() {
			r.sizes[x.Name] = stmts.Must(e.Name + "_sizes_" + x.Name)
		}
		if len(e.Sets()) > 0 {
			r.find, r.found = stmts.Must(e.Name+"_find"), stmts.Must(e.Name+"_found")
		}
		for _, x := range e.Indexes {
			if x.Unique {
				r.by[x.Name] = stmts.Must(e.Name + "_by_" + x.Name)
			}
		}
		all[e] = r
	}
	return all
}()
