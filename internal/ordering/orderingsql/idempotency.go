package orderingsql

import (
	"context"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
)

// keyQuery is a set of idempotency keys with the statements that select the orders, and only their ids, by such keys.
type keyQuery struct {
	orders, ids *sqldb.Stmt
	keys        *sqldb.RowSet
}

// keyQueries returns the query for the keys of guests and the one for those of members. Most batches have keys of one kind,
// and one statement for both would take twice as long.
func keyQueries(keys []ordering.IdempotencyKey) (all []keyQuery) {
	var guests, members []ordering.IdempotencyKey
	for _, k := range keys {
		if k.User == 0 {
			guests = append(guests, k)
		} else {
			members = append(members, k)
		}
	}
	if len(guests) > 0 {
		all = append(all, keyQuery{stmt("order_select_guest_key"), stmt("order_ids_guest_key"), sqldb.NewRowSet(len(guests)).
			Int("branch_id", func(i int) int64 { return guests[i].Branch }).
			Text("key", func(i int) string { return guests[i].ClientTxnID })})
	}
	if len(members) > 0 {
		all = append(all, keyQuery{stmt("order_select_member_key"), stmt("order_ids_member_key"), sqldb.NewRowSet(len(members)).
			Int("user_id", func(i int) int64 { return members[i].User }).
			Text("key", func(i int) string { return members[i].ClientTxnID })})
	}
	return all
}

// queuePrior reads the orders that were placed under the keys of new orders. It must follow the lock of the numbers: a
// transaction that places an order under one of these keys holds that lock, so this transaction waits for its end and
// then reads the order (I11). Two transactions with the same key lock different numbers in two cases: a guest's on two
// business dates, and a member's in two branches. Then the second one fails on the unique key, and Ledger.Do repeats
// it.
//
// It must also follow every other read: the second transaction may wait for the first one at a cart, and then find the
// cart empty or the limit of unpaid orders reached because of the order that it repeats. A refusal for such a reason never
// gets to the unique key. Under READ COMMITTED a later statement sees at least what an earlier one saw, so the last one
// also finds that order.
func (l *loader) queuePrior(places []*ordering.Place) {
	keys := make([]ordering.IdempotencyKey, len(places))
	for i, p := range places {
		keys[i] = p.Order.Key()
	}
	for _, q := range keyQueries(keys) {
		l.tx.QueueQuery(sqldb.Scanned(scanOrder, func(o ordering.Order) { l.batch.Prior[o.Key()] = &o }), q.orders, q.keys)
	}
}

// priorResults reads the order that was placed under each key, or nil. It takes no lock, so an order whose transaction
// has not committed yet is not found. Each refused order asks for its key, and few have an order.
func priorResults(ctx context.Context, db sqldb.Conn, keys []ordering.IdempotencyKey) ([]*ordering.Order, error) {
	var ids []string
	for _, q := range keyQueries(keys) {
		err := sqldb.Each(ctx, db, sqldb.Scanned(sqldb.Value[string], func(id string) { ids = append(ids, id) }), q.ids, q.keys)
		if err != nil {
			return nil, err
		}
	}
	prior := map[ordering.IdempotencyKey]*ordering.Order{}
	if len(ids) > 0 {
		found := sqldb.Scanned(scanOrder, func(o ordering.Order) { prior[o.Key()] = &o })
		err := sqldb.Each(ctx, db, found, stmt("order_select"), sqldb.IDs(ids))
		if err != nil {
			return nil, err
		}
	}
	all := make([]*ordering.Order, len(keys))
	for i, k := range keys {
		all[i] = prior[k]
	}
	return all, nil
}
