package visit_test

import (
	"testing"

	"comanda/internal/sqldb/sqldbtest"
)

func BenchmarkZZ(b *testing.B) {
	h := open(b, sqldbtest.Postgres(b))
	qrs := []string{}
	for i := range 12 {
		qrs = append(qrs, h.qr(int64(i+1)))
	}
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		i := 0
		for pb.Next() {
			i++
			if _, err := h.door.Landing(b.Context(), qrs[i%12], ""); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkZZlite(b *testing.B) {
	h := open(b, sqldbtest.SQLite(b))
	qr := h.qr(3)
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := h.door.Landing(b.Context(), qr, ""); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
