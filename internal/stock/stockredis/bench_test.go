package stockredis

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"

	"comanda/internal/uid"
)

// BenchmarkOrder measures one order of three lines in the cache: its TRY, and the HELD after the commit. The number of
// concurrent callers decides how many orders share a script call: with 1, each has its own.
func BenchmarkOrder(b *testing.B) {
	benchEach(b, func(b *testing.B, g *Cache, callers int) {
		open(b, g, stock.Unlimited)
		drive(b, callers, func(ids []string) {
			holds := tryAll(b, g, ids, stock.Admitted)
			ops := make([]stock.Op, len(holds))
			for i, h := range holds {
				ops[i] = stock.Op{Kind: stock.OpHeld, Hold: h}
			}
			applied, err := g.Apply(context.Background(), ops)
			if err != nil || !applied[0] {
				b.Errorf("HELD: %v, %v", applied[0], err)
			}
		})
	})
}

// BenchmarkRefusal measures a TRY for a sold-out item.
func BenchmarkRefusal(b *testing.B) {
	benchEach(b, func(b *testing.B, g *Cache, callers int) {
		open(b, g, 0)
		drive(b, callers, func(ids []string) { tryAll(b, g, ids, stock.Refused) })
	})
}

// BenchmarkRebuild loads a scope with 100,000 live holds of three lines, more than any restaurant has. A rebuild that
// takes longer than its claim is taken over by another process, and then neither finishes.
func BenchmarkRebuild(b *testing.B) {
	const holds = 100_000
	db, _ := redisdbtest.Real(b)
	g := New(db, Config{Now: time.Now, Timeout: 5 * time.Second})
	im := stock.ScopeSnapshot{Scope: benchScope, Ends: time.Now().Add(24 * time.Hour), Holds: make([]stock.HoldState, holds)}
	for item := int64(1001); item <= 1003; item++ {
		im.Counts = append(im.Counts, stock.Count{Item: item, Cap: stock.Unlimited, Held: holds})
	}
	for i := range im.Holds {
		im.Holds[i] = stock.HoldState{State: stock.Held, Hold: stock.Hold{ID: uid.New(time.Now()), Scope: benchScope, Lines: []stock.Line{
			{Item: 1001, Qty: 1}, {Item: 1002, Qty: 1}, {Item: 1003, Qty: 1},
		}}}
	}
	for b.Loop() {
		epoch, err := g.BeginRebuild(b.Context(), benchScope)
		if err != nil {
			b.Fatal(err)
		}
		im.Epoch = epoch
		testenv.NoError(b, g.FinishRebuild(b.Context(), im))
	}
	b.ReportMetric(float64(b.N*holds)/b.Elapsed().Seconds(), "holds/s")
}

func benchEach(b *testing.B, run func(*testing.B, *Cache, int)) {
	servers := []struct {
		name string
		open func(testing.TB) *redisdb.DB
	}{
		{"redis", func(t testing.TB) *redisdb.DB { db := redisdbtest.Redis(t); return db }},
		{"embedded", redisdbtest.Embedded},
	}
	for _, server := range servers {
		for _, callers := range []int{1, 32, 128, 256} {
			b.Run(fmt.Sprintf("%s/callers=%d", server.name, callers), func(b *testing.B) {
				run(b, New(server.open(b), Config{Now: time.Now, Timeout: 5 * time.Second}), callers)
			})
		}
	}
}

var benchScope = stock.Scope{Branch: 7, Date: time.Now().UTC().Format(time.DateOnly)}

func open(b *testing.B, g *Cache, limit int64) {
	epoch := testenv.Must(g.BeginRebuild(b.Context(), benchScope))(b)
	im := stock.ScopeSnapshot{Scope: benchScope, Epoch: epoch, Ends: time.Now().Add(24 * time.Hour)}
	for item := int64(1001); item <= 1060; item++ {
		im.Counts = append(im.Counts, stock.Count{Item: item, Cap: limit})
	}
	testenv.NoError(b, g.FinishRebuild(b.Context(), im))
}

// drive runs b.N orders with the given number of concurrent callers.
func drive(b *testing.B, callers int, round func(ids []string)) {
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += callers {
		ids := make([]string, min(callers, b.N-n))
		for i := range ids {
			ids[i] = uid.New(time.Now())
		}
		round(ids)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "orders/s")
}

var nextItem atomic.Int64

func tryAll(b *testing.B, g *Cache, ids []string, want stock.AdmissionStatus) []stock.Hold {
	holds := make([]stock.Hold, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		first := 1001 + nextItem.Add(3)%57
		holds[i] = stock.Hold{ID: id, Scope: benchScope, Lines: []stock.Line{
			{Item: first, Qty: 1}, {Item: first + 1, Qty: 2}, {Item: first + 2, Qty: 1},
		}}
		all.Go(func() {
			v, err := g.Reserve(context.Background(), holds[i])
			if err != nil || v.Status != want {
				b.Errorf("TRY: %+v, %v", v, err)
			}
		})
	}
	all.Wait()
	return holds
}
