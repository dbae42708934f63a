// Package orderingsql stores orders in SQL: the ledger that runs commands in shared transactions, the reads for guests
// and staff, and the daybook.
//
// Every transaction takes its locks in one order, which rules out deadlocks: idempotency keys, then counters by
// (branch, date, item), then the numbers of business dates, then members' carts, then holds by id, then orders by id,
// and the audit log last.
package orderingsql

import (
	"embed"

	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

// Statements contains all SQL statements of this package.
var Statements = sqldb.Load(files)

var (
	idempotencyInsert   = Statements.Must("idempotency_insert")
	idempotencySelect   = Statements.Must("idempotency_select")
	idempotencyDelete   = Statements.Must("idempotency_delete")
	openSelect          = Statements.Must("open_select")
	unpaidCount         = Statements.Must("unpaid_count")
	numberEnsure        = Statements.Must("number_ensure")
	numberLock          = Statements.Must("number_lock")
	numberSet           = Statements.Must("number_set")
	orderInsert         = Statements.Must("order_insert")
	orderUpdate         = Statements.Must("order_update")
	orderDeadlineMove   = Statements.Must("order_deadline_move")
	orderHolds          = Statements.Must("order_holds")
	orderLock           = Statements.Must("order_lock")
	orderSelect         = Statements.Must("order_select")
	orderSelectVisit    = Statements.Must("order_select_visit")
	orderSelectMember   = Statements.Must("order_select_member")
	orderCountMember    = Statements.Must("order_count_member")
	unpaidCountMember   = Statements.Must("unpaid_count_member")
	orderCountVisit     = Statements.Must("order_count_visit")
	itemInsert          = Statements.Must("item_insert")
	itemSelect          = Statements.Must("item_select")
	itemDone            = Statements.Must("item_done")
	stepInsert          = Statements.Must("step_insert")
	stepSelect          = Statements.Must("step_select")
	boardSelect         = Statements.Must("board_select")
	boardTables         = Statements.Must("board_tables")
	boardStations       = Statements.Must("board_stations")
	boardDishes         = Statements.Must("board_dishes")
	ticketOldest        = Statements.Must("ticket_oldest")
	overdueSelect       = Statements.Must("overdue_select")
	exceptionAttempts   = Statements.Must("exception_attempts")
	exceptionRefunds    = Statements.Must("exception_refunds")
	exceptionMismatches = Statements.Must("exception_mismatches")
	versionSelect       = Statements.Must("version_select")
	daybookAdd          = Statements.Must("daybook_add")
	daybookSelect       = Statements.Must("daybook_select")
)
