package noticesql

import (
	"context"
	"slices"
	"time"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/notice"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// Consumer makes notices from events.
type Consumer struct {
	Now func() time.Time
	// Changed is called after the commit with the audiences that have new notices. It must not block.
	Changed func(audiences ...string)
}

// Consumer returns the inbox consumer.
func (c Consumer) Consumer() inbox.Consumer {
	return inbox.Consumer{Name: notice.ConsumerName, Types: notice.Types(), Apply: c.apply}
}

// apply stores the notices that events call for and queues their deliveries, in the transaction that marks the events as
// consumed (N1).
func (c Consumer) apply(ctx context.Context, tx sqldb.Tx, events []event.Event) error {
	candidates, err := notice.Candidates(events)
	if err != nil || len(candidates) == 0 {
		return err
	}
	found, err := address(ctx, tx, candidates)
	if err != nil || len(found) == 0 {
		return err
	}
	now := c.Now()
	for i := range found {
		found[i].ID = uid.New(now)
	}
	first, err := insert(ctx, tx, found)
	if err != nil || len(first) == 0 {
		return err
	}
	fresh := seq.Set(first)
	found = slices.DeleteFunc(found, func(n notice.UserNotice) bool { return !fresh[n.ID] })
	audiences := seq.Map(found, func(n notice.UserNotice) string { return string(n.Audience) })
	slices.Sort(audiences)
	tx.OnCommit(func() { c.Changed(slices.Compact(audiences)...) })
	return deliver(ctx, tx, found, now)
}

// address reads the orders and stock items of candidates and returns the notices.
func address(ctx context.Context, tx sqldb.Tx, candidates []notice.Candidate) ([]notice.UserNotice, error) {
	orders, err := ordersOf(ctx, tx, candidates)
	if err != nil {
		return nil, err
	}
	items, err := itemsOf(ctx, tx, candidates)
	if err != nil {
		return nil, err
	}
	var all []notice.UserNotice
	for _, d := range candidates {
		if d.OrderID == "" {
			all = append(all, d.ForBranch(items[d.EventID]))
			continue
		}
		o, known := orders[d.OrderID]
		if n, wanted := d.ForOrder(o); known && wanted {
			all = append(all, n)
		}
	}
	return all, nil
}

// ordersOf reads the orders of all candidates with one statement. Candidates without an order have none in the result.
func ordersOf(ctx context.Context, tx sqldb.Tx, candidates []notice.Candidate) (map[string]notice.OrderInfo, error) {
	var ids []string
	for _, d := range candidates {
		if d.OrderID != "" {
			ids = append(ids, d.OrderID)
		}
	}
	all := map[string]notice.OrderInfo{}
	if len(ids) == 0 {
		return all, nil
	}
	slices.Sort(ids)
	list, err := sqldb.Collect(ctx, tx, sqldb.Row(func(o *notice.OrderInfo) []any {
		return []any{&o.ID, &o.Number, &o.Kind, &o.UserID, &o.VisitID, sqldb.Bool(&o.Returned)}
	}), stmt("notice_orders"), sqldb.IDs(slices.Compact(ids)))
	for _, o := range list {
		all[o.ID] = o
	}
	return all, err
}

// itemsOf returns the names of stock items by event.
func itemsOf(ctx context.Context, tx sqldb.Tx, candidates []notice.Candidate) (map[string]string, error) {
	low := slices.DeleteFunc(slices.Clone(candidates), func(d notice.Candidate) bool { return d.SKU == "" })
	if len(low) == 0 {
		return map[string]string{}, nil
	}
	return sqldb.Map[string, string](ctx, tx, stmt("notice_items"), sqldb.NewRowSet(len(low)).
		Text("event_id", func(i int) string { return low[i].EventID }).
		Int("branch_id", func(i int) int64 { return low[i].Branch }).
		Text("sku", func(i int) string { return low[i].SKU }))
}

// insert stores those notices that are new, and returns their ids.
func insert(ctx context.Context, tx sqldb.Tx, all []notice.UserNotice) ([]string, error) {
	return sqldb.Collect(ctx, tx, sqldb.Value[string], stmt("notice_insert"), sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].ID }).
		Text("audience", func(i int) string { return string(all[i].Audience) }).
		Text("kind", func(i int) string { return string(all[i].Kind) }).
		Text("event_id", func(i int) string { return all[i].EventID }).
		Int("branch_id", func(i int) int64 { return all[i].Branch }).
		NullText("order_id", func(i int) (string, bool) { return all[i].OrderID, all[i].OrderID != "" }).
		Text("data", func(i int) string { return dataText(all[i].Data) }).
		Int("created_at", func(i int) int64 { return all[i].CreatedAt.UnixMilli() }))
}

// target is a browser to which a notice is delivered.
type target struct{ notice, subscription, locale string }

// deliver queues the delivery of notices to the browsers of their audiences. An event that was consumed so late that
// its notice is no longer useful is not delivered.
func deliver(ctx context.Context, tx sqldb.Tx, found []notice.UserNotice, now time.Time) error {
	byID := map[string]notice.UserNotice{}
	for _, n := range found {
		if slices.Contains(notice.CustomerKinds(), n.Kind) && now.Before(n.CreatedAt.Add(n.Kind.TTL())) {
			byID[n.ID] = n
		}
	}
	found = slices.DeleteFunc(found, func(n notice.UserNotice) bool { return byID[n.ID].ID == "" })
	if len(found) == 0 {
		return nil
	}
	targets, err := sqldb.Collect(ctx, tx, sqldb.Row(func(t *target) []any {
		return []any{&t.notice, &t.subscription, &t.locale}
	}), stmt("push_targets"), sqldb.NewRowSet(len(found)).
		Text("id", func(i int) string { return found[i].ID }).
		Text("audience", func(i int) string { return string(found[i].Audience) }).
		Text("kind", func(i int) string { return string(found[i].Kind) }).
		Int("push", func(i int) int64 { return sqldb.Flag(notice.DefaultChoice(found[i].Kind).Push) }), now.UnixMilli())
	if err != nil || len(targets) == 0 {
		return err
	}
	of := func(i int) notice.UserNotice { return byID[targets[i].notice] }
	tx.Queue(stmt("push_queue"), sqldb.NewRowSet(len(targets)).
		Text("id", func(int) string { return uid.New(now) }).
		Text("subscription_id", func(i int) string { return targets[i].subscription }).
		Text("payload", func(i int) string { return dataText(notice.PayloadOf(of(i), targets[i].locale)) }).
		Text("urgency", func(i int) string { return of(i).Kind.Urgency() }).
		Int("expires_at", func(i int) int64 { return of(i).CreatedAt.Add(of(i).Kind.TTL()).UnixMilli() }), now.UnixMilli())
	return nil
}
