// Package stocksql is the stock ledger's statements: counters, holds, what the gate must be told, and the comparison of
// all of them. Other stores call it inside their own transactions; locks are taken in one order everywhere: counters by
// (branch, date, item), then holds by id, then whatever the caller owns.
package stocksql

import (
	"embed"

	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

// Statements are all statements of this package.
var Statements = sqldb.Load(files)

var (
	counterEnsure       = Statements.Must("counter_ensure")
	counterEnsureBranch = Statements.Must("counter_ensure_branch")
	counterLock         = Statements.Must("counter_lock")
	counterLockScope    = Statements.Must("counter_lock_scope")
	counterSelectScope  = Statements.Must("counter_select_scope")
	counterAdd          = Statements.Must("counter_add")
	counterCap          = Statements.Must("counter_cap")
	holdInsert          = Statements.Must("hold_insert")
	holdTombstone       = Statements.Must("hold_tombstone")
	holdLineInsert      = Statements.Must("hold_line_insert")
	holdMove            = Statements.Must("hold_move")
	holdExtend          = Statements.Must("hold_extend")
	holdLock            = Statements.Must("hold_lock")
	holdSelect          = Statements.Must("hold_select")
	holdSelectScope     = Statements.Must("hold_select_scope")
	scopeInsert         = Statements.Must("scope_insert")
	scopeClaim          = Statements.Must("scope_claim")
	scopeRelease        = Statements.Must("scope_release")
	scopeSelect         = Statements.Must("scope_select")
	opsInsert           = Statements.Must("ops_insert")
	opsDelete           = Statements.Must("ops_delete")
	opsDeleteScope      = Statements.Must("ops_delete_scope")
	opsSelect           = Statements.Must("ops_select")
	opsCount            = Statements.Must("ops_count")
	driftCounters       = Statements.Must("drift_counters")
	driftOrphans        = Statements.Must("drift_orphans")
)
