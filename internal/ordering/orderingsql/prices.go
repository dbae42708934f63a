package orderingsql

import (
	"context"
	"errors"
	"fmt"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
)

// PriceAudit is the result of recomputing the totals of orders.
type PriceAudit struct {
	Orders      int      `json:"orders"`
	Quoted      int      `json:"quoted"`      // orders with taxes, service charges or discounts
	Imported    int      `json:"imported"`    // another system computed their totals; not checked
	Unknown     int      `json:"unknown"`     // computed by another version of the price engine, and not checked
	Differences []string `json:"differences"` // one sentence per order, at most maxDrift
}

// AuditPrices recomputes the totals of all orders from a business date on: of each order from its stored quote, or as the
// sum of its lines if it has none. It counts imported orders and does not check them. It takes no locks, so it may run
// beside servers.
func (s *Orders) AuditPrices(ctx context.Context, from string) (a PriceAudit, err error) {
	a.Differences = []string{}
	err = s.db.Snapshot(ctx, func(ctx context.Context, at sqldb.Reader) error {
		for after := ""; ; {
			to, err := nextOrders(ctx, at, after, perWindow)
			if err != nil || to == "" {
				return err
			}
			orders, err := sqldb.Collect(ctx, at, scanOrder, stmt("price_window"), after, to, from)
			if err == nil {
				err = loadItems(ctx, at, orders)
			}
			if err != nil {
				return err
			}
			for i := range orders {
				a.add(&orders[i])
			}
			after = to
		}
	})
	return a, err
}

func (a *PriceAudit) add(o *ordering.Order) {
	a.Orders++
	if o.Digest == ordering.HistoryDigest {
		a.Imported++
		return
	}
	if o.Quote != "" {
		a.Quoted++
	}
	difference, err := o.PriceDifference()
	switch {
	case errors.Is(err, ordering.ErrEngine):
		a.Unknown++
	case difference != "" && len(a.Differences) < maxDrift:
		a.Differences = append(a.Differences, fmt.Sprintf("order %s: %s", o.ID, difference))
	}
}
