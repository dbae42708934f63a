package inbox

import (
	"sync"
	"testing"

	"comanda/internal/testenv"

	"comanda/internal/event"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
)

// I8: several processes receive the same batch at the same moment, as after a lost connection whose messages the broker
// has redelivered. One applies it; the others wait for it and then skip the batch.
func TestHandle_the_same_batch_at_once(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const rounds, sides, size = 10, 6, 5
		for range rounds {
			batch := make([]event.Event, size)
			for i := range batch {
				batch[i] = paid(int64(i + 1))
			}
			begin := make(chan struct{})
			var all sync.WaitGroup
			for range sides {
				all.Go(func() {
					<-begin
					for _, o := range handle(t, New(db, Options{}), daybook, batch...) {
						if o != (Outcome{}) {
							t.Errorf("outcome %+v", o)
						}
					}
				})
			}
			close(begin)
			all.Wait()
		}
		testenv.Equal(t, rounds*size, number(t, db, daybookPaid))
	})
}
