package bench

import (
	"embed"
	"io/fs"

	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
)

//go:embed sql/*.sql
var files embed.FS

var stmts = sqldb.Load(folder(files, "sql"))

// The restaurant, in the order of its foreign keys.
var (
	branchInsert   = stmts.Must("branch_insert")
	branchSelect   = stmts.Must("branch_select")
	categoryInsert = stmts.Must("category_insert")
	dishInsert     = stmts.Must("dish_insert")
	menuInsert     = stmts.Must("menu_insert")
	itemInsert     = stmts.Must("item_insert")
	versionInsert  = stmts.Must("version_insert")
	entryInsert    = stmts.Must("entry_insert")
	tableInsert    = stmts.Must("table_insert")
	qrInsert       = stmts.Must("qr_insert")
	qrList         = stmts.Must("qr_list")
)

// The rows of one order.
var (
	keyInsert       = stmts.Must("key_insert")
	counterInsert   = stmts.Must("counter_insert")
	counterAdd      = stmts.Must("counter_add")
	holdInsert      = stmts.Must("hold_insert")
	holdLineInsert  = stmts.Must("hold_line_insert")
	orderInsert     = stmts.Must("order_insert")
	orderItemInsert = stmts.Must("order_item_insert")
	attemptInsert   = stmts.Must("attempt_insert")
	eventInsert     = stmts.Must("event_insert")
	opsInsert       = stmts.Must("ops_insert")
)

// Queries of the measurements, and the scratch schema.
var (
	batchCount    = stmts.Must("batch_count")
	backlogCheck  = stmts.Must("backlog_check")
	processList   = stmts.Must("process_list")
	attemptList   = stmts.Must("attempt_list")
	paidCount     = stmts.Must("paid_count")
	statistics    = stmts.Must("statistics_gather")
	scratchCreate = stmts.Must("scratch_create")
	scratchDrop   = stmts.Must("scratch_drop")
)

func folder(files embed.FS, name string) fs.FS {
	sub, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // only for an invalid path
	}
	return sub
}

//go:embed lua/*.lua
var scripts embed.FS

var measureScript = redisdb.MustScript(scripts, "lua/measure.lua")
