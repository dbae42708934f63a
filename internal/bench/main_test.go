package bench

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"comanda/internal/sqldb/sqldbtest"
)

// Environment of this test binary as the process of a floor.
const (
	floorListen   = "COMANDA_TEST_FLOOR_LISTEN"
	floorDatabase = "COMANDA_TEST_FLOOR_DATABASE"
)

func TestMain(m *testing.M) {
	if listen := os.Getenv(floorListen); listen != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if err := ServeFloor(ctx, listen, os.Getenv(floorDatabase)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, stmts) }
