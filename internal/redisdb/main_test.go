package redisdb_test

import (
	"testing"

	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Parallel(8)
	redisdbtest.VerifyMain(m)
}
