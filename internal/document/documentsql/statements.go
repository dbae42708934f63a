package documentsql

import (
	"embed"

	"comanda/internal/document"
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

var (
	stmts                = sqldb.Load(files)
	outboxInsert         = stmts.Must("outbox_insert")
	outboxMove           = stmts.Must("outbox_deadline_move")
	generationMove       = stmts.Must("generation_deadline_move")
	outboxPosition       = stmts.Must("outbox_position")
	outboxPending        = stmts.Must("outbox_pending")
	tombstonePut         = stmts.Must("tombstone_put")
	tombstoneSelect      = stmts.Must("tombstone_select")
	tombstonePurge       = stmts.Must("tombstone_purge")
	generationEnsure     = stmts.Must("generation_ensure")
	generationSelect     = stmts.Must("generation_select")
	generationInvalidate = stmts.Must("generation_invalidate")
	generationClaim      = stmts.Must("generation_claim")
	generationProgress   = stmts.Must("generation_progress")
	generationFinish     = stmts.Must("generation_finish")
	generationAbandon    = stmts.Must("generation_abandon")
)

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
