package orderingsql

import (
	"context"
	"maps"
	"slices"
	"time"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/ordering"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Board reads the rows of a kitchen's board. One statement reads all three lists, so they show the same moment.
// Separate statements read lines, categories, tables and stations, which may therefore be newer. If they are, the
// order has a later version too, and the next board includes it.
func (s *Orders) Board(ctx context.Context, q ordering.BoardQuery) (r ordering.BoardRows, err error) {
	tickets, err := sqldb.Collect(ctx, s.db, scanTicket, stmt("board_select"), q.Branch, q.Date, q.DateBefore,
		q.PaidSince.UnixMilli(),
		q.ServedSince.UnixMilli(), q.Limit)
	if err != nil {
		return r, err
	}
	lists := map[string]*[]ordering.Ticket{"tickets": &r.Tickets, "served": &r.Served, "awaiting": &r.Awaiting}
	for _, t := range tickets {
		*lists[t.list] = append(*lists[t.list], t.Ticket)
	}
	if err := s.fill(ctx, &r); err != nil {
		return r, err
	}
	r.Stations, err = sqldb.Collect(ctx, s.db, scanStation, stmt("board_stations"), q.Branch)
	return r, err
}

// listed is a ticket with the name of its list.
type listed struct {
	list string
	ordering.Ticket
}

func scanTicket(r sqldb.Rows) (t listed, err error) {
	t.Order, err = scanOrder(named{r, &t.list})
	return t, err
}

// named scans the first column into name and passes the remaining columns on.
type named struct {
	sqldb.Rows
	name *string
}

// Scan implements sqldb.Rows.
func (n named) Scan(dest ...any) error { return n.Rows.Scan(append([]any{n.name}, dest...)...) }

// scanStation reads a category with its names in all locales.
var scanStation = sqldb.Row(func(s *ordering.Station) []any {
	return []any{&s.Category, sqldb.JSON(&s.Names)}
})

// fill adds the items, their dishes' categories and the table labels to all tickets.
func (s *Orders) fill(ctx context.Context, r *ordering.BoardRows) error {
	tickets := map[string]*ordering.Ticket{}
	visits := map[string]struct{}{}
	for _, list := range [][]ordering.Ticket{r.Tickets, r.Served, r.Awaiting} {
		for i := range list {
			tickets[list[i].ID] = &list[i]
			if list[i].VisitID != "" {
				visits[list[i].VisitID] = struct{}{}
			}
		}
	}
	if len(tickets) == 0 {
		return nil
	}
	r.Categories = map[int64]int64{}
	err := sqldb.Each(ctx, s.db, func(rows sqldb.Rows) error {
		id, it, err := scanItem(rows)
		if err != nil {
			return err
		}
		tickets[id].Items = append(tickets[id].Items, it)
		// Only the dishes on this board are looked up.
		r.Categories[it.DishID] = 0
		return nil
	}, stmt("item_select"), sqldb.IDs(slices.Collect(maps.Keys(tickets))))
	if err != nil {
		return err
	}
	if err := s.categories(ctx, r.Categories); err != nil {
		return err
	}
	tables, err := s.tables(ctx, slices.Collect(maps.Keys(visits)))
	for _, t := range tickets {
		t.Table = tables[t.VisitID]
	}
	return err
}

// categories fills in the category of every dish in of. Dishes without a row keep 0.
func (s *Orders) categories(ctx context.Context, of map[int64]int64) error {
	return sqldb.Each(ctx, s.db, sqldb.IntoMap(of), stmt("board_dishes"), sqldb.IDs(slices.Collect(maps.Keys(of))))
}

// tables returns the tables at which the visits sit now, by visit id. A visit may have moved to another table since its
// orders were placed.
func (s *Orders) tables(ctx context.Context, visits []string) (map[string]ordering.Table, error) {
	found := map[string]ordering.Table{}
	if len(visits) == 0 {
		return found, nil
	}
	err := sqldb.Each(ctx, s.db, func(r sqldb.Rows) error {
		var visit string
		var t ordering.Table
		err := r.Scan(&visit, &t.ID, &t.Label)
		found[visit] = t
		return err
	}, stmt("board_tables"), sqldb.IDs(visits))
	return found, err
}

// OldestTickets returns, by branch, when the oldest open ticket was paid. It ignores tickets paid before since. The
// metric of waiting tickets uses it.
func (s *Orders) OldestTickets(ctx context.Context, since time.Time) (map[int64]time.Time, error) {
	day := since.AddDate(0, 0, -1).Format(time.DateOnly) // the business date may be earlier than the UTC date
	pairs, err := sqldb.Collect(ctx, s.db, sqldb.Pair, stmt("ticket_oldest"), day, since.UnixMilli())
	oldest := make(map[int64]time.Time, len(pairs))
	for _, p := range pairs {
		oldest[p[0]] = sqldb.Instant(p[1])
	}
	return oldest, err
}

// ReadyTimes returns how long a branch's orders took from payment to ready, of at most limit orders with the latest
// step since an instant. For a recalled order, the last time at which it became ready counts.
func (s *Orders) ReadyTimes(ctx context.Context, branch int64, since time.Time, limit int) ([]time.Duration, error) {
	millis, err := sqldb.Collect(ctx, s.db, sqldb.Value[int64], stmt("ready_times"), branch, since.UnixMilli(), limit)
	times := make([]time.Duration, len(millis))
	for i, ms := range millis {
		times[i] = time.Duration(ms) * time.Millisecond
	}
	return times, err
}

// Daybook returns the inbox consumer that adds events to the totals of their business date. The inbox makes it count an
// event once, even if it is delivered repeatedly.
func Daybook() inbox.Consumer {
	return inbox.Consumer{
		Name: ordering.DaybookConsumer, Types: ordering.DaybookTypes(), Apply: addToDaybook,
	}
}

// addToDaybook adds the events of one delivery in the consumer's transaction, in which the inbox also stores that they
// were applied (I8).
func addToDaybook(_ context.Context, tx sqldb.Tx, events []event.Event) error {
	days, err := ordering.Tally(events)
	if err == nil {
		queueDaybook(tx, days)
	}
	return err
}

// queueDaybook adds figures to the totals of their dates.
func queueDaybook(tx sqldb.Tx, days []ordering.Day) {
	if len(days) == 0 {
		return
	}
	tx.Queue(stmt("daybook_add"), sqldb.NewRowSet(len(days)).
		Int("branch_id", func(i int) int64 { return days[i].Scope.Branch }).
		Text("biz_date", func(i int) string { return days[i].Scope.Date }).
		Int("placed", func(i int) int64 { return days[i].Placed }).
		Int("paid", func(i int) int64 { return days[i].Paid }).
		Int("canceled", func(i int) int64 { return days[i].Canceled }).
		Int("revenue", func(i int) int64 { return days[i].Revenue }))
}

// Day reads the totals of a business date. A date without events returns zeros.
func (s *Orders) Day(ctx context.Context, scope stock.Scope) (ordering.Day, error) {
	d, _, err := sqldb.One(ctx, s.db, sqldb.Row(func(d *ordering.Day) []any {
		return []any{&d.Placed, &d.Paid, &d.Canceled, &d.Revenue}
	}), stmt("daybook_select"), scope.Branch, scope.Date)
	d.Scope = scope
	return d, err
}
