package stockredis

import (
	"errors"
	"slices"
	"testing"

	"comanda/internal/redisdb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocktest"
	"comanda/internal/testenv"
)

// Apply returns the invalid operations and those on which a script fails. All others are applied, even over several
// script calls.
func TestCache_Apply_names_rejected_operations(t *testing.T) {
	each(t, func(f *fixture) {
		ops := make([]stock.Op, 3*maxBatch)
		for i := range ops {
			ops[i] = stock.Op{Kind: stock.OpHeld, Hold: f.NewHold(stock.Line{Item: stocktest.Tea, Qty: 1})}
		}
		corrupted := []int{0, 1, 100, maxBatch, len(ops) - 1}
		for _, p := range corrupted {
			testenv.NoError(t, f.db.Do(f.Context(), "SET", recordKey(f.Scope, ops[p].Hold.ID), "x").Err())
		}
		ops[7].Hold.Lines, ops[9].Kind = nil, "UNHEARD"
		applied, err := f.Apply(f.Context(), ops)
		var rejected *stock.RejectedError
		if !errors.As(err, &rejected) || !errors.Is(err, redisdb.ErrReply) || !errors.Is(err, stock.ErrInvalidLines) {
			t.Fatalf("the error is %v", err)
		}
		want := slices.Sorted(slices.Values(append(corrupted, 7, 9)))
		for i := range ops {
			bad := slices.Contains(want, i)
			if applied[i] == bad || (rejected.Ops[i] != nil) != bad {
				t.Errorf("operation %d: applied %t, %v", i, applied[i], rejected.Ops[i])
			}
		}
		f.WantCount(stocktest.Tea, int64(len(ops)-len(want)), 0)
	})
}
