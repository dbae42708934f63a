package stocksql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Consumers returns the consumers of other systems' commands, one per queue of the reference documents
// (inventory-tcc.md, event consumers configuration).
func (r *Reservations) Consumers() []inbox.Consumer {
	return []inbox.Consumer{
		r.consumer("inventory_order_created", event.ExternalOrderCreated.Type),
		r.consumer("inventory_order_confirmed", event.ExternalOrderConfirmed.Type),
		r.consumer("inventory_order_cancel_requested", event.ExternalOrderCancelRequested.Type),
	}
}

func (r *Reservations) consumer(name string, t event.Type) inbox.Consumer {
	return inbox.Consumer{Name: name, Types: []string{t.Name}, Queue: "inventory." + t.Name, Apply: r.handle}
}

// handle executes commands from messages and publishes the results as events. It does not use the admission cache: no
// caller waits for the result, and the cache receives it after the commit. It runs in the transaction of the inbox, so
// a message and its effect commit together, and a repeated message has no effect.
func (r *Reservations) handle(ctx context.Context, tx sqldb.Tx, events []event.Event) error {
	received := make([]stock.MessageCommand, len(events))
	for i, e := range events {
		var err error
		if received[i], err = stock.ParseMessage(e); err != nil {
			return fmt.Errorf("%w: %w", inbox.ErrPoison, err)
		}
	}
	if err := r.resolveItems(ctx, tx, received); err != nil {
		return err
	}
	answers, commands := make([]event.Event, 0), make([]stock.Command, 0, len(received))
	for i := range received {
		if received[i].Err != nil {
			answers = append(answers, received[i].Refusal(r.now()))
			continue
		}
		commands = append(commands, received[i].Command)
	}
	if len(commands) > 0 {
		results, err := r.Run(ctx, tx, commands)
		if err != nil {
			return err
		}
		answers = append(answers, stock.Refusals(r.now(), commands, results)...)
	}
	outbox.Queue(tx, answers)
	return retryOnCollision(tx.Flush(ctx))
}

// retryOnCollision restarts a transaction that inserted the same new id as another process; the next attempt finds
// that id. Without the restart, the whole batch of messages would fail because of one id.
func retryOnCollision(err error) error {
	if errors.Is(err, sqldb.ErrUnique) {
		return fmt.Errorf("%w: %w", sqldb.ErrRetry, err)
	}
	return err
}

// resolveItems sets the item numbers of all Try commands. It uses one statement for the whole batch, and a second one
// only if a message names no branch.
func (r *Reservations) resolveItems(ctx context.Context, tx sqldb.Tx, received []stock.MessageCommand) error {
	var wanted []itemRef
	for _, h := range received {
		if h.Err != nil {
			continue
		}
		for _, it := range h.Request.Items {
			wanted = append(wanted, itemRef{h.Request.Branch, it.SKU})
		}
	}
	if wanted == nil {
		return nil
	}
	slices.SortFunc(wanted, func(a, b itemRef) int {
		return cmp.Or(cmp.Compare(a.branch, b.branch), cmp.Compare(a.sku, b.sku))
	})
	wanted = slices.Compact(wanted)
	found, err := sqldb.Collect(ctx, tx, scanItem, stmt("stock_item_find"), sqldb.NewRowSet(len(wanted)).
		Int("branch_id", func(i int) int64 { return wanted[i].branch }).
		Text("sku", func(i int) string { return wanted[i].sku }))
	if err != nil {
		return err
	}
	if wanted[0].branch == 0 { // sorted first: messages without a branch
		unscoped, err := itemsInAnyBranch(ctx, tx, wanted)
		if err != nil {
			return err
		}
		found = append(found, unscoped...)
	}
	ids := map[int64]map[string]int64{}
	for _, t := range found {
		if ids[t.Branch] == nil {
			ids[t.Branch] = map[string]int64{}
		}
		ids[t.Branch][t.SKU] = t.ID
	}
	for i := range received {
		received[i].ResolveItems(ids, r.now())
	}
	return nil
}

// itemsInAnyBranch returns the items of messages without a branch, from all branches.
func itemsInAnyBranch(ctx context.Context, tx sqldb.Tx, wanted []itemRef) ([]stock.Item, error) {
	n, _ := slices.BinarySearchFunc(wanted, 1, func(w itemRef, branch int64) int { return cmp.Compare(w.branch, branch) })
	return sqldb.Collect(ctx, tx, scanItem, stmt("stock_item_by_sku"), sqldb.NewRowSet(n).Text("sku",
		func(i int) string { return wanted[i].sku }))
}
