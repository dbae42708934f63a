package eventsql

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/event"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var noon = time.Date(2026, 2, 26, 12, 0, 0, 0, time.UTC)

func TestStatements(t *testing.T) {
	t.Parallel()
	sqldbtest.PrepareAll(t, stmts)
}

func letter(consumer, reason string) DeadLetter {
	e := event.OrderPaid.New(noon, "order1", 2, 7, event.Paid{OrderID: "order1", BizDate: "2026-02-26"})
	return DeadLetter{Event: e, Consumer: consumer, Reason: reason, DiedAt: noon.Add(time.Minute)}
}

func write(t *testing.T, db *sqldb.DB, fn func(ctx context.Context, tx sqldb.Tx) error) {
	t.Helper()
	testenv.NoError(t, db.Write(t.Context(), fn))
}

func insert(t *testing.T, db *sqldb.DB, letters ...DeadLetter) {
	t.Helper()
	write(t, db, func(_ context.Context, tx sqldb.Tx) error {
		InsertDeadLetters(tx, letters)
		return nil
	})
}

func list(t *testing.T, db *sqldb.DB, f Filter) []DeadLetter {
	t.Helper()
	return testenv.Must(DeadLetters(t.Context(), db, f, "", 10))(t)
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		relay, first, second := letter("", "nacked"), letter("daybook", "broken"), letter("daybook", "also \x00\xff")
		insert(t, db, relay, first, second)
		second.Reason = "also ??" // characters that PostgreSQL refuses in text are replaced

		testenv.Equal(t, []DeadLetter{relay}, list(t, db, Filter{}))
		testenv.Equal(t, []DeadLetter{first, second}, list(t, db, Filter{Consumer: "daybook"}))
		if got := list(t, db, Filter{Consumer: "daybook", ID: second.ID}); len(got) != 1 || got[0].ID != second.ID {
			t.Errorf("by id: %v", got)
		}
		if got := list(t, db, Filter{Consumer: "daybook", Type: "order.placed"}); len(got) != 0 {
			t.Errorf("by another type: %v", got)
		}
		page, err := DeadLetters(t.Context(), db, Filter{Consumer: "daybook"}, first.ID, 10)
		if err != nil || len(page) != 1 || page[0].ID != second.ID {
			t.Errorf("second page: %v, %v", page, err)
		}
		counts, err := CountDeadLetters(t.Context(), db)
		if diff := cmp.Diff([]queue.DeadLetterCount{{Consumer: "relay", Letters: 1}, {Consumer: "daybook", Letters: 2}}, counts); diff != "" || err != nil {
			t.Errorf("counts (-want +got): %v\n%s", err, diff)
		}
	})
}

func TestInsertDeadLetters_keeps_the_newer_reason(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		l := letter("daybook", "first")
		insert(t, db, l)
		l.Reason, l.DiedAt = "second", l.DiedAt.Add(time.Hour)
		insert(t, db, l)
		testenv.Equal(t, []DeadLetter{l}, list(t, db, Filter{Consumer: "daybook"}))
	})
}

func TestDeleteDeadLetters_of_one_consumer(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		mine := letter("daybook", "broken")
		other := mine
		other.Consumer = "kitchen"
		insert(t, db, mine, other)
		for _, want := range [][]DeadLetter{{mine}, nil} { // the second call finds nothing
			write(t, db, func(ctx context.Context, tx sqldb.Tx) error {
				got, err := DeleteDeadLetters(ctx, tx, "daybook", []DeadLetter{mine})
				testenv.Equal(t, want, got)
				return err
			})
		}
		if got := list(t, db, Filter{Consumer: "kitchen"}); !slices.EqualFunc(got, []DeadLetter{other}, equalLetters) {
			t.Errorf("the other consumer's letters: %v", got)
		}
	})
}

func equalLetters(a, b DeadLetter) bool { return cmp.Equal(a, b) }

// forOperators returns a dead letter as a page shows it.
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
