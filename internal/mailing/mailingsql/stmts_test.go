package mailingsql

import (
	"testing"

	"comanda/internal/sqldb/sqldbtest"
)

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, stmts) }
