package bench

import (
	"embed"

	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
)

var (
	//go:embed *.sql
	files embed.FS
	//go:embed lua/*.lua
	scripts embed.FS

	stmts         = sqldb.Load(files)
	measureScript = redisdb.MustScript(scripts, "lua/measure.lua")
)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must
