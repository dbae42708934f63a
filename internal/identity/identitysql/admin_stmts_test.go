package identitysql

import (
	"testing"

	"comanda/internal/sqldb/sqldbtest"
)

func TestAdminStatements(t *testing.T) { sqldbtest.PrepareAll(t, adminStmts) }
