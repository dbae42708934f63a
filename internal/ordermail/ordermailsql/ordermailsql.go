// Package ordermailsql queues the e-mails about orders in SQL.
package ordermailsql

import (
	"context"
	"embed"
	"time"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/ordermail"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// Queue queues e-mails from events.
type Queue struct {
	Now func() time.Time
	// Sends reports whether there is a mail server (L4).
	Sends func(ctx context.Context) (bool, error)
}

// Consumer returns the inbox consumer that queues the e-mails.
func (q Queue) Consumer() inbox.Consumer {
	return inbox.Consumer{Name: ordermail.Consumer, Types: ordermail.Types(), Apply: q.apply}
}

// queued is an e-mail to queue.
type queued struct {
	ordermail.OrderEmail

	id, recipient, locale string
	branch                int64
}

// apply queues the e-mails that events call for, in the transaction that marks the events as consumed (L1).
func (q Queue) apply(ctx context.Context, tx sqldb.Tx, events []event.Event) error {
	emails, err := ordermail.EmailsFor(events)
	if err != nil || len(emails) == 0 {
		return err
	}
	if sends, err := q.Sends(ctx); err != nil || !sends {
		return err
	}
	all, err := customers(ctx, tx, emails)
	if err != nil {
		return err
	}
	var found []queued
	now := q.Now()
	for _, n := range emails {
		c, ok := all[n.OrderID]
		if !ok {
			continue
		}
		if to := c.Recipient(n.Kind); to != "" {
			found = append(found, queued{n, uid.New(now), to, c.Language(), c.Branch})
		}
	}
	return insert(ctx, tx, found, now)
}

// customers reads the customers of the orders that e-mails are about. Orders that no e-mail can be about are missing.
func customers(
	ctx context.Context, tx sqldb.Tx, emails []ordermail.OrderEmail,
) (map[string]ordermail.Customer, error) {
	// They are sorted by order, so that an order repeats only in a row.
	ids := seq.Map(emails, func(n ordermail.OrderEmail) string { return n.OrderID })
	list, err := sqldb.Collect(ctx, tx, sqldb.Row(func(c *ordermail.Customer) []any {
		return []any{
			&c.OrderID, &c.Branch, sqldb.JSON(&c.Locales), &c.Email, &c.AccountEmail, &c.Locale, sqldb.Bool(&c.NoReceived),
			sqldb.Bool(&c.NoReady),
		}
	}), stmt("customer_select"), sqldb.IDs(ids))
	all := make(map[string]ordermail.Customer, len(list))
	for _, c := range list {
		all[c.OrderID] = c
	}
	return all, err
}

// insert queues those e-mails that were not queued before.
func insert(ctx context.Context, tx sqldb.Tx, found []queued, now time.Time) error {
	if len(found) == 0 {
		return nil
	}
	first, err := sqldb.Collect(ctx, tx, sqldb.Row(func(n *ordermail.OrderEmail) []any {
		return []any{&n.OrderID, &n.Kind, &n.Subject}
	}), stmt("order_mail_insert"), sqldb.NewRowSet(len(found)).
		Text("order_id", func(i int) string { return found[i].OrderID }).
		Text("kind", func(i int) string { return string(found[i].Kind) }).
		Text("subject", func(i int) string { return found[i].Subject }), now.UnixMilli())
	if err != nil || len(first) == 0 {
		return err
	}
	unsent := seq.Set(first)
	var rows []queued
	for _, f := range found {
		if unsent[f.OrderEmail] {
			rows = append(rows, f)
		}
	}
	tx.Queue(stmt("order_mail_queue"), sqldb.NewRowSet(len(rows)).
		Text("id", func(i int) string { return rows[i].id }).
		Text("recipient", func(i int) string { return rows[i].recipient }).
		Text("template", func(i int) string { return rows[i].Kind.Template() }).
		Text("locale", func(i int) string { return rows[i].locale }).
		Int("expires_at", func(i int) int64 { return now.Add(rows[i].Kind.TTL()).UnixMilli() }).
		Int("branch_id", func(i int) int64 { return rows[i].branch }).
		Text("order_id", func(i int) string { return rows[i].OrderID }).
		Text("subject", func(i int) string { return rows[i].Subject }), now.UnixMilli())
	return nil
}
