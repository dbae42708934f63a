package app

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/clock"
	"comanda/internal/stock"
	"comanda/internal/worker"
)

// The pace of the documents of dishes (decision 65). A dish that is sold out or taken off sale is found by the next round,
// within two seconds together with the projector. Figures that do not change what can be ordered are written together, so
// that the cost does not grow with the number of orders.
const (
	dishSalesInterval = time.Second
	dishFiguresPause  = 5 * time.Second
	dishSalesReset    = time.Minute // then everything is compared with SQL again
)

// dishSales is the state of the loop that keeps the sales of dishes. Only its goroutine uses it.
type dishSales struct {
	store   *catalogsql.Store
	written map[int64]catalog.DishSales // by dish; nil before the first round

	figures clock.Stopwatch // since figures were written
	reset   clock.Stopwatch // since everything was compared with SQL
}

// dishSalesLoop keeps what documents of dishes say about each branch. Several processes may run it.
func (k *Core) dishSalesLoop() worker.Loop {
	state := &dishSales{store: catalogsql.New(k.DB, nil)}
	return whenReliable(k.DB.Clock(), worker.Loop{
		Name: "dish_sales", Every: dishSalesInterval, Timeout: 10 * time.Second, MaxPause: 5 * time.Second,
		Run: func(ctx context.Context) error { return k.syncDishSales(ctx, state) },
	})
}

// syncDishSales writes the dishes whose sales have changed: at once if a branch begins or ends to sell a dish, else with
// the next figures. Its cost is that of reading the menus and counters in memory, or one statement per branch.
func (k *Core) syncDishSales(ctx context.Context, d *dishSales) error {
	whole := d.written == nil || d.reset.Elapsed() >= dishSalesReset
	figures := whole || d.figures.Elapsed() >= dishFiguresPause
	now, err := k.readDishSales(ctx, d, figures)
	if err != nil {
		return err
	}
	if whole {
		stored, err := d.store.DishesOnSale(ctx)
		if err != nil {
			return err
		}
		for _, dish := range stored { // that left all menus while no process ran
			if _, ok := now[dish]; !ok {
				now[dish] = nil
			}
		}
	}
	for dish := range d.written {
		if _, ok := now[dish]; !ok {
			now[dish] = nil
		}
	}
	var updates []catalogsql.DishSalesUpdate
	for _, dish := range slices.Sorted(maps.Keys(now)) {
		was, known := d.written[dish]
		if whole || !known || sellsElsewhere(was, now[dish]) || figures && !equalSales(was, now[dish]) {
			updates = append(updates, catalogsql.DishSalesUpdate{Dish: dish, Sales: now[dish]})
		}
	}
	if _, err := d.store.SaveDishSales(ctx, updates, k.DB.Now()); err != nil {
		return err
	}
	if d.written == nil {
		d.written = map[int64]catalog.DishSales{}
	}
	for _, u := range updates {
		if d.written[u.Dish] = u.Sales; len(u.Sales) == 0 {
			delete(d.written, u.Dish)
		}
	}
	if figures {
		d.figures = clock.Start()
	}
	if whole {
		d.reset = clock.Start()
	}
	return nil
}

// readDishSales returns the sales of all dishes on published menus. Between two writes of figures it repeats the units
// sold, which need a statement.
func (k *Core) readDishSales(ctx context.Context, d *dishSales, figures bool) (map[int64]catalog.DishSales, error) {
	branches, err := k.Branches.Store.Branches(ctx)
	if err != nil {
		return nil, err
	}
	all := map[int64]catalog.DishSales{}
	for i := range branches {
		menu, err := k.LiveMenus.Get(ctx, branches[i].ID)
		if errors.Is(err, catalog.ErrMenu) || errors.Is(err, catalog.ErrBranch) {
			continue // nothing is published, or the branch is closed for good
		}
		if err != nil {
			return nil, err
		}
		used := map[int64]int64{}
		if figures {
			counts, err := k.Stock.Counts(ctx, stock.Scope{Branch: branches[i].ID, Date: menu.Date})
			if err != nil {
				return nil, err
			}
			for _, c := range counts {
				used[c.Item] = c.Used
			}
		}
		for dish, s := range menu.Sales(used) {
			if !figures {
				s.SoldToday = d.written[dish][branches[i].ID].SoldToday
			}
			if all[dish] == nil {
				all[dish] = catalog.DishSales{}
			}
			all[dish][branches[i].ID] = s
		}
	}
	return all, nil
}

// sellsElsewhere reports whether another set of branches has or can sell a dish.
func sellsElsewhere(a, b catalog.DishSales) bool {
	return !maps.EqualFunc(a, b, func(x, y catalog.DishSale) bool { return x.Available == y.Available })
}

func equalSales(a, b catalog.DishSales) bool {
	return maps.EqualFunc(a, b, func(x, y catalog.DishSale) bool {
		sameStock := (x.Stock == nil) == (y.Stock == nil) && (x.Stock == nil || *x.Stock == *y.Stock)
		return sameStock && x.SoldToday == y.SoldToday && x.Available == y.Available
	})
}
