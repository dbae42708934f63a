package analyticssql_test

import (
	"testing"

	"comanda/internal/analytics/analyticssql"
	"comanda/internal/sqldb/sqldbtest"
)

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, analyticssql.Statements) }
