package sqldb_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"comanda/internal/testenv"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
)

// adding runs a batch of additions to one number. The database refuses the operation -1, and -2 panics.
func adding(_ context.Context, tx sqldb.Tx, ops []int64) ([]int64, error) {
	for _, n := range ops {
		if n == -2 {
			panic("poison")
		}
		tx.Queue(stmts.Must("number_upsert"), numbers(n))
		if n == -1 {
			tx.QueueExactly(99, stmts.Must("number_upsert"), numbers(0))
		}
	}
	return ops, nil
}

func TestGroup_everyOperationOnce(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		committed := 0
		g := sqldb.NewGroup(db, sqldb.GroupConfig[int64, int64]{
			Run: adding, After: func(ops, _ []int64) { committed += len(ops) }, Max: 64, Queue: 1000,
		})
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() {
				op := int64(1)
				switch i % 100 {
				case 0:
					op = -1
				case 50:
					op = -2
				}
				got, err := g.Do(t.Context(), op)
				if op < 0 && err == nil {
					t.Error("a bad operation was acknowledged")
				}
				if op > 0 && (err != nil || got != 1) {
					t.Errorf("a good operation among bad ones: %d, %v", got, err)
				}
			})
		}
		wg.Wait()
		g.Stop()
		testenv.Equal(t, 294, read(t, db, 1)[0][1])
		if committed != 294 {
			t.Errorf("after-commit saw %d of 294", committed)
		}
		if batches, ops := g.Stats(); ops != 294 || batches >= ops {
			t.Errorf("%d operations in %d batches", ops, batches)
		}
		testenv.ErrorIs(t, sqldb.ErrStopped, testenv.Err(g.Do(t.Context(), 1)), "after stop")
	})
}

func TestGroup_boundedQueue(t *testing.T) {
	db := sqldbtest.SQLite(t)
	enter, leave := make(chan struct{}), make(chan struct{})
	g := sqldb.NewGroup(db, sqldb.GroupConfig[int64, int64]{
		Run: func(_ context.Context, _ sqldb.Tx, ops []int64) ([]int64, error) {
			enter <- struct{}{}
			<-leave
			return ops, nil
		}, Max: 1, Queue: 1,
	})
	var wg sync.WaitGroup
	do := func() {
		wg.Go(func() {
			if _, err := g.Do(t.Context(), 1); err != nil {
				t.Error(err)
			}
		})
	}
	do()
	<-enter // the first is being committed
	do()
	for g.Waiting() == 0 { //nolint:revive // the second enters the queue in its own time
	}
	testenv.ErrorIs(t, sqldb.ErrOverloaded, testenv.Err(g.Do(t.Context(), 1)), "a third")
	leave <- struct{}{}
	<-enter
	leave <- struct{}{}
	wg.Wait()
	g.Stop()
}

// On SQLite, whose answers come without waiting, callers that are about to ask share a batch, too. With one processor
// each of them would be alone in a batch, because the one that asks hands its processor to the group.
func TestReadGroup_yields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	g := sqldb.NewReadGroup(sqldbtest.SQLite(t), 64, 64, func(_ context.Context, ops []int) ([]int, error) { return ops, nil })
	defer g.Stop()
	var callers sync.WaitGroup
	for op := range 32 {
		callers.Go(func() {
			if got, err := g.Do(t.Context(), op); got != op || err != nil {
				t.Errorf("%d: got %d, %v", op, got, err)
			}
		})
	}
	callers.Wait()
	if batches, ops := g.Stats(); ops != 32 || batches > 4 {
		t.Errorf("%d operations in %d batches", ops, batches)
	}
}
