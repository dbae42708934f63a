package stockredis

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// maxHoldBytes is the maximum memory in Redis of a live hold of three lines, including all overhead.
const maxHoldBytes = 300

func TestMemory_of_a_hold(t *testing.T) {
	db, srv := redisdbtest.Real(t)
	f := newFixture(t, db)
	raw := rawClient(t, srv.Addr())

	const rounds, holds = 40, 40 * maxBatch * 4
	for _, item := range largeIDs {
		f.SetCap(item, stock.Unlimited)
	}
	one := f.placed(maxBatch)[0] // one-time allocations, such as the scripts, are not part of a hold's cost
	before := used(t, raw)
	for range rounds {
		f.placed(maxBatch * 4)
	}
	each := float64(used(t, raw)-before) / holds
	alone, err := raw.Do(t.Context(), raw.B().MemoryUsage().Key(keyspace.HoldRecord(f.Scope.Branch, one.ID).String()).Build()).AsInt64()
	t.Logf("%.0f bytes per hold in total, of which MEMORY USAGE sees %d", each, alone)
	if each > maxHoldBytes || alone > maxHoldBytes || err != nil {
		t.Errorf("a hold costs %.0f bytes in total, %d by MEMORY USAGE; the limit is %d; %v", each, alone, maxHoldBytes, err)
	}
}

var largeIDs = []int64{104_001, 104_002, 104_003} // ids of the size that a large installation has

// placed creates n holds of three lines through TRY and HELD.
func (f *fixture) placed(n int) []stock.Hold {
	f.Helper()
	holds, ops := make([]stock.Hold, n), make([]stock.Op, n)
	var all sync.WaitGroup
	for i := range holds {
		holds[i] = f.NewHold(
			stock.Line{Item: largeIDs[0], Qty: 2}, stock.Line{Item: largeIDs[1], Qty: 1}, stock.Line{Item: largeIDs[2], Qty: 12})
		ops[i] = stock.Op{Kind: stock.OpHeld, Hold: holds[i]}
		all.Go(func() {
			if v, err := f.Reserve(context.Background(), holds[i]); err != nil || v.Status != stock.Admitted {
				f.Errorf("Reserve = %+v, %v, want ADMITTED", v, err)
			}
		})
	}
	all.Wait()
	testenv.Must(f.Apply(f.Context(), ops))(f)
	return holds
}

func used(t *testing.T, raw rueidis.Client) int64 {
	t.Helper()
	info := testenv.Must(raw.Do(t.Context(), raw.B().Info().Section("memory").Build()).ToString())(t)
	for line := range strings.Lines(info) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "used_memory:"); ok {
			return testenv.Must(strconv.ParseInt(text, 10, 64))(t)
		}
	}
	t.Fatal("no used_memory")
	return 0
}
