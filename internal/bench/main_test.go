package bench

import (
	"testing"

	"go.uber.org/goleak"

	"comanda/internal/sqldb/sqldbtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, stmts) }
