// Command comanda is self-hosted ordering for restaurants.
//
// One binary contains the server, which takes an order from scanning a table's QR code to the paid kitchen ticket, and
// the tools for operating it: migrations, accounts, exports, backups, consistency checks, benchmarks. Run comanda help
// for the list of commands. Each command has its own file; newRoot is the table of commands.
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
	// The first signal ends the context, so that commands stop in order.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := newRoot().ExecuteContext(ctx)
	if err == nil {
		return
	}
	if !errors.Is(err, errFound) { // the findings have been printed already
		fmt.Fprintln(os.Stderr, "comanda:", err)
	}
	stop()
	// Every failure has this code: scripts distinguish only success.
	os.Exit(1) //nolint:gocritic // stop was called above
}
