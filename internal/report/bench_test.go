package report

import (
	"testing"
	"time"

	"comanda/internal/testenv"
)

// A year of orders in a busy restaurant, as the ticket report reads it.
func BenchmarkPace(b *testing.B) {
	zone := testenv.Must(time.LoadLocation("America/New_York"))(b)
	begin := time.Date(2025, 1, 1, 9, 0, 0, 0, time.UTC)
	all := make([]Ticket, 270_000)
	for i := range all {
		at := begin.Add(time.Duration(i) * 365 * 24 * time.Hour / time.Duration(len(all)))
		paid := at.UnixMilli()
		all[i] = Ticket{at.Format(time.DateOnly), paid, paid + int64(i*7%60_000), paid + int64(i*13%900_000), paid + int64(i*17%1_200_000)}
	}
	for b.Loop() {
		if len(PhaseStatsByDay(all)) == 0 || len(PhaseStatsByHour(all, zone)) == 0 {
			b.Fatal("nothing")
		}
	}
}
