package eventsql

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
)

// forOperators is a letter as a page shows it.
func forOperators(consumer string, l DeadLetter) queue.DeadLetter {
	return queue.DeadLetter{
		ID: l.ID, Consumer: consumer, Type: "order.paid", Branch: 7, About: "order:order1", Payload: l.Payload,
		Reason: l.Reason, CreatedAt: noon, DiedAt: l.DiedAt,
	}
}

func TestDeadLetterPage(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		relay, first, second := letter("", "nacked"), letter("daybook", "broken"), letter("daybook", "also")
		first.DiedAt, second.DiedAt = relay.DiedAt.Add(time.Hour), relay.DiedAt.Add(2*time.Hour)
		insert(t, db, relay, first, second)
		ofRelay, ofFirst, ofSecond := forOperators("relay", relay), forOperators("daybook", first), forOperators("daybook", second)
		for name, c := range map[string]struct {
			f             Filter
			everybody     bool
			limit, offset int
			want          []queue.DeadLetter
			total         int64
		}{
			"all, the newest first": {Filter{}, true, 10, 0, []queue.DeadLetter{ofSecond, ofFirst, ofRelay}, 3},
			"a page":                {Filter{}, true, 1, 1, []queue.DeadLetter{ofFirst}, 3},
			"behind the end":        {Filter{}, true, 10, 3, nil, 3},
			"the relay's":           {Filter{}, false, 10, 0, []queue.DeadLetter{ofRelay}, 1},
			"a consumer's":          {Filter{Consumer: "daybook"}, false, 10, 0, []queue.DeadLetter{ofSecond, ofFirst}, 2},
			"one":                   {Filter{ID: first.ID}, true, 10, 0, []queue.DeadLetter{ofFirst}, 1},
			"a type":                {Filter{Type: "order.paid"}, true, 1, 0, []queue.DeadLetter{ofSecond}, 3},
			"no such type":          {Filter{Type: "order.placed"}, true, 10, 0, nil, 0},
		} {
			page, total, err := DeadLetterPage(t.Context(), db, c.f, c.everybody, c.limit, c.offset)
			if diff := cmp.Diff(c.want, page); diff != "" || total != c.total || err != nil {
				t.Errorf("%s: %d in all, %v (-want +got):\n%s", name, total, err, diff)
			}
		}
	})
}
