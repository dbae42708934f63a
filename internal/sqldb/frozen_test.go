//go:build unix

package sqldb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// holdURL names the variable with the database's address. TestDB_Write_frozen sets it when it starts this binary as the
// process that locks a row and waits.
const holdURL = "COMANDA_TEST_HOLD"

func TestMain(m *testing.M) {
	if address := os.Getenv(holdURL); address != "" {
		if err := hold(address); err != nil {
			fmt.Println(err)
		}
		return
	}
	os.Exit(m.Run())
}

// hold locks the first number, prints that it has, and continues its transaction when a line arrives on standard input.
func hold(address string) error {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, sqldb.Config{URL: address})
	if err != nil {
		return err
	}
	defer db.Close()
	err = db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		lock := func() error {
			_, err = sqldb.Collect(ctx, tx, sqldb.Pair, stmts.Must("number_select"), branches(1))
			return err
		}
		if err := lock(); err != nil {
			return err
		}
		fmt.Println("locked")
		if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err != nil {
			return err
		}
		return lock()
	})
	if sqldb.IsUnavailable(err) {
		return errors.New("unavailable")
	}
	return err
}

// A process that hangs in a transaction blocks others for less than their lock time-out. When it continues, its
// transaction has been aborted.
func TestDB_Write_frozen(t *testing.T) {
	t.Parallel()
	address := sqldbtest.PostgresURL(t)
	db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: address}))(t)
	defer db.Close()
	testenv.Must(db.Exec(t.Context(), stmts.Must("number_insert"), 1, "2026-02-26", 1))(t)
	other := exec.CommandContext(t.Context(), os.Args[0])
	other.Env, other.Stderr = append(os.Environ(), holdURL+"="+address), os.Stderr
	in := testenv.Must(other.StdinPipe())(t)
	out := testenv.Must(other.StdoutPipe())(t)
	testenv.NoError(t, other.Start())
	output := bufio.NewReader(out)
	if line, err := output.ReadString('\n'); line != "locked\n" {
		t.Fatalf("first line of the other process = %q, %v, want locked", line, err)
	}
	testenv.NoError(t, other.Process.Signal(syscall.SIGSTOP))
	start := time.Now()
	err := db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		_, err := sqldb.Collect(ctx, tx, sqldb.Pair, stmts.Must("number_add"), numbers(1))
		return err
	})
	if err != nil {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
	testenv.NoError(t, other.Process.Signal(syscall.SIGCONT))
	testenv.Must(io.WriteString(in, "x"))(t)
	if line, err := output.ReadString('\n'); line != "unavailable\n" {
		t.Errorf("going on: %q, %v", line, err)
	}
	testenv.NoError(t, other.Wait())
}

// A transaction that waits for another system, and one that reads, may be idle for longer than one that writes.
func TestDB_idle_in_transaction(t *testing.T) {
	t.Parallel()
	db := sqldbtest.Postgres(t)
	setting := func(on sqldb.Reader) string {
		return testenv.Must(sqldb.Scalar[string](t.Context(), on, stmts.Must("idle_timeout")))(t)
	}
	var writing, waiting, reading string
	err := errors.Join(
		db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error { writing = setting(tx); return nil }),
		db.WriteWaiting(t.Context(), func(_ context.Context, tx sqldb.Tx) error { waiting = setting(tx); return nil }),
		db.Snapshot(t.Context(), func(_ context.Context, at sqldb.Reader) error { reading = setting(at); return nil }),
	)
	if after := setting(db); err != nil || writing != "3s" || waiting != "15s" || reading != "15s" || after != "3s" {
		t.Errorf("%s, %s, %s, then %s, %v", writing, waiting, reading, after, err)
	}
}
