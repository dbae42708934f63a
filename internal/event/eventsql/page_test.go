package eventsql

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
)

func TestDeadLetterPage(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		relay, first, second := letter("", "nacked"), letter("daybook", "broken"), letter("daybook", "also")
		first.DiedAt, second.DiedAt = relay.DiedAt.Add(time.Hour), relay.DiedAt.Add(2*time.Hour)
		insert(t, db, relay, first, second)
		for name, c := range map[string]struct {
			f             Filter
			everybody     bool
			limit, offset int
			want          []DeadLetter
			total         int64
		}{
			"all, the newest first": {Filter{}, true, 10, 0, []DeadLetter{second, first, relay}, 3},
			"a page":                {Filter{}, true, 1, 1, []DeadLetter{first}, 3},
			"behind the end":        {Filter{}, true, 10, 3, nil, 3},
			"the relay's":           {Filter{}, false, 10, 0, []DeadLetter{relay}, 1},
			"a consumer's":          {Filter{Consumer: "daybook"}, false, 10, 0, []DeadLetter{second, first}, 2},
			"one":                   {Filter{ID: first.ID}, true, 10, 0, []DeadLetter{first}, 1},
			"a type":                {Filter{Type: "order.paid"}, true, 1, 0, []DeadLetter{second}, 3},
			"no such type":          {Filter{Type: "order.placed"}, true, 10, 0, nil, 0},
		} {
			page, total, err := DeadLetterPage(t.Context(), db, c.f, c.everybody, c.limit, c.offset)
			if diff := cmp.Diff(c.want, page); diff != "" || total != c.total || err != nil {
				t.Errorf("%s: %d in all, %v (-want +got):\n%s", name, total, err, diff)
			}
		}
	})
}
