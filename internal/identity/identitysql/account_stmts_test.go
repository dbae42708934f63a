package identitysql

import (
	"testing"

	"comanda/internal/sqldb/sqldbtest"
)

func TestAccountStatements(t *testing.T) { sqldbtest.PrepareAll(t, accountStmts) }
