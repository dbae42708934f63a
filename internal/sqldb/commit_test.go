package sqldb_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// replyDropper is a proxy in front of PostgreSQL that can drop the reply to a COMMIT: the server has committed, and the
// connection breaks before the client receives the reply. SQLite needs no such test, because it commits in the process.
type replyDropper struct {
	testenv.Proxy

	lose atomic.Bool // drop the next reply to a COMMIT
	lost atomic.Int64
}

// newReplyDropper starts the proxy and returns it with the address of the database through it.
func newReplyDropper(t *testing.T, address string) (*replyDropper, string) {
	t.Helper()
	m := &replyDropper{}
	m.Replies = m.answer
	u := m.StartURL(t, address)
	q := u.Query()
	q.Set("sslmode", "disable") // the proxy must read the replies
	u.RawQuery = q.Encode()
	return m, u.String()
}

// answer forwards the server's messages. Each is one byte for the kind and four for the length, which counts itself
// (PostgreSQL manual, "Message Formats"). CommandComplete is C with the name of the command.
func (m *replyDropper) answer(client io.Writer, server io.Reader) {
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(server, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(server, body); err != nil {
			return
		}
		if head[0] == 'C' && bytes.Equal(body, []byte("COMMIT\x00")) && m.lose.CompareAndSwap(true, false) {
			m.lost.Add(1)
			return
		}
		if _, err := client.Write(slices.Concat(head, body)); err != nil {
			return
		}
	}
}

// A transaction whose COMMIT was not answered must not run again, because it may have been committed. The caller
// receives an error and repeats the request under its own idempotency key.
func TestDB_Write_unansweredCommit(t *testing.T) {
	t.Parallel()
	address := sqldbtest.PostgresURL(t)
	network, through := newReplyDropper(t, address)
	db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: through}))(t)
	defer db.Close()
	for name, write := range map[string]func(context.Context, func(context.Context, sqldb.Tx) error) error{
		"Write": db.Write, "WriteWaiting": db.WriteWaiting,
	} {
		before, runs, committed := total(t, db), 0, false
		network.lose.Store(true)
		err := write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			runs++
			tx.OnCommit(func() { committed = true })
			tx.Queue(stmts.Must("number_upsert"), numbers(1))
			return nil
		})
		if !sqldb.IsUnavailable(err) || runs != 1 || committed {
			t.Errorf("%s: %v after %d runs, commit reported: %t", name, err, runs, committed)
		}
		if n := total(t, db) - before; n != 1 {
			t.Errorf("%s: the transaction took effect %d times", name, n)
		}
	}
	testenv.Equal(t, 2, network.lost.Load())
}

// The operations that shared the transaction do not run again either, neither together nor one by one.
func TestGroup_unansweredCommit(t *testing.T) {
	t.Parallel()
	network, through := newReplyDropper(t, sqldbtest.PostgresURL(t))
	db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: through}))(t)
	defer db.Close()
	var runs, after atomic.Int64
	first, proceed := make(chan struct{}), make(chan struct{})
	g := sqldb.NewGroup(db, sqldb.GroupConfig[int64, int64]{
		Run: func(ctx context.Context, tx sqldb.Tx, ops []int64) ([]int64, error) {
			if runs.Add(1) == 1 { // the first batch is one operation, so that the others queue behind it
				close(first)
				<-proceed
			} else {
				network.lose.Store(true)
			}
			return adding(ctx, tx, ops)
		},
		After: func(ops, _ []int64) { after.Add(int64(len(ops))) }, Max: 64, Queue: 100,
	})
	defer g.Stop()
	var alone sync.WaitGroup
	alone.Go(func() {
		if _, err := g.Do(t.Context(), 1); err != nil {
			t.Error(err)
		}
	})
	<-first
	const together = 8
	var asking sync.WaitGroup
	for range together {
		asking.Go(func() {
			if _, err := g.Do(t.Context(), 1); !sqldb.IsUnavailable(err) {
				t.Errorf("an operation whose commit was not answered: %v", err)
			}
		})
	}
	for g.Waiting() < together {
		runtime.Gosched()
	}
	close(proceed)
	alone.Wait()
	asking.Wait()
	if runs.Load() != 2 || after.Load() != 1 || total(t, db) != 1+together {
		t.Errorf("%d runs, %d operations reported as committed, %d took effect", runs.Load(), after.Load(), total(t, db))
	}
}

// total returns the sum of all additions.
func total(t *testing.T, db *sqldb.DB) (sum int64) {
	t.Helper()
	all := testenv.Must(sqldb.Collect(t.Context(), db, sqldb.Pair, stmts.Must("number_look")))(t)
	for _, n := range all {
		sum += n[1]
	}
	return sum
}
