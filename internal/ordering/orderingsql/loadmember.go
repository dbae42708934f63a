package orderingsql

import (
	"maps"
	"slices"

	"comanda/internal/cart/cartsql"
	"comanda/internal/ordering"
	"comanda/internal/sqldb"
)

func membersOf(places []*ordering.Place) []int64 {
	set := map[int64]struct{}{}
	for _, p := range places {
		if p.Order.UserID != 0 {
			set[p.Order.UserID] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func (l *loader) queueUnpaidOfMembers(places []*ordering.Place) {
	members := membersOf(places)
	if len(members) == 0 {
		return
	}
	l.tx.QueueQuery(func(rows sqldb.Rows) error {
		var user int64
		var n int
		if err := rows.Scan(&user, &n); err != nil {
			return err
		}
		l.batch.Unpaid[ordering.MemberKey(user)] += n
		return nil
	}, stmt("unpaid_count_member"), sqldb.NewRowSet(len(members)).Int("id", func(i int) int64 { return members[i] }))
}

// queueCarts locks the carts of members who place orders.
func (l *loader) queueCarts(places []*ordering.Place) {
	if members := membersOf(places); len(members) > 0 {
		cartsql.QueueLock(l.tx, members, l.batch.Carts)
	}
}
