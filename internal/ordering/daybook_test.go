package ordering_test

import (
	"testing"

	"comanda/internal/ordering"
)

// The daybook counts an order that expired and was revived by late money as paid, in whichever order the two events
// arrive.
func TestTally_revived(t *testing.T) {
	b := batch()
	expired := place("a", 1)
	expired.Order.ExpiresAt = now
	for i, r := range b.Decide([]ordering.Command{expired, end("a", ordering.Expired), pay("a")}) {
		if r.Err != nil {
			t.Fatalf("command %d: %v", i, r.Err)
		}
	}
	days, err := ordering.Tally(b.Events)
	want := ordering.Day{Scope: scope, Placed: 1, Paid: 1, Revenue: 1000}
	if err != nil || len(days) != 1 || days[0] != want {
		t.Errorf("%+v, %v; want %+v", days, err, want)
	}
	b.Events[1], b.Events[2] = b.Events[2], b.Events[1]
	if again, err := ordering.Tally(b.Events); err != nil || again[0] != want {
		t.Errorf("the other way round: %+v, %v", again, err)
	}
}
