package redisdb_test

import (
	"testing"

	"comanda/internal/redisdb/redisdbtest"
)

func TestMain(m *testing.M) { redisdbtest.VerifyMain(m) }
