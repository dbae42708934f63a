// Command comanda is self-hosted ordering for restaurants: one binary that takes an order from the scan of a table's
// code to a paid ticket, and the tools to look after it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := newRoot().ExecuteContext(ctx)
	if err == nil {
		return
	}
	if !errors.Is(err, errFound) { // what was found has been printed already
		fmt.Fprintln(os.Stderr, "comanda:", err)
	}
	stop()
	os.Exit(1) //nolint:gocritic // nothing is deferred that still matters
}
