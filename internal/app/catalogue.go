package app

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"comanda/internal/brand"
	"comanda/internal/catalog"
	"comanda/internal/catalog/cataloghttp"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/clock"
	"comanda/internal/picture"
	"comanda/internal/settings/settingssql"
	"comanda/internal/stock"
	"comanda/internal/worker"
)

// wireCatalogServices creates the staff's catalog services. Availability depends on services that are wired later and
// uses them only when it is called.
func (k *Core) wireCatalogServices(store *catalogsql.Store) {
	processor := picture.NewProcessor()
	resize := imageScaler(processor)
	k.CatalogServices = cataloghttp.Services{
		Branches: k.Branches,
		Menus:    k.Editor,
		Options:  &catalog.OptionService{Store: store, Menus: k.Menus, Now: k.DB.Now},
		Dishes:   &catalog.DishService{Store: store, Menus: k.Menus, Now: k.DB.Now},
		Availability: &catalog.Availability{
			Store: store, Options: store, Counters: ledgerCounts{k}, LiveMenus: k.LiveMenus, Menus: k.Menus, Now: k.DB.Now,
		},
		Pricing: &catalog.PricingService{Store: store, Menus: k.Menus, Now: k.DB.Now},
		Images:  &catalog.Images{Store: store, Resize: resize, Now: k.DB.Now},
		Files: &catalog.MenuFiles{
			Store: store, Menus: k.Menus, Resize: resize, Now: k.DB.Now,
			Templates: menuTemplates(),
		},
	}
	k.images = store.Image
	k.Brand = &brand.Service{
		Store: settingssql.New(k.DB), Images: store, Scale: brandScaler(processor), Changed: k.syncSettings, Now: k.DB.Now,
	}
}

// Sizes of images in bytes. A menu of fifty thumbnails is then about a megabyte.
const (
	thumbBytes = 20 << 10
	largeBytes = 120 << 10
	// A cover is one picture for a whole page.
	coverSmallBytes = 90 << 10
	coverLargeBytes = 250 << 10
)

// imageScaler returns a function that scales an image to the sizes that the catalogue stores.
func imageScaler(d *picture.Processor) func(context.Context, []byte) (catalog.Image, error) {
	return func(ctx context.Context, raw []byte) (catalog.Image, error) {
		id, made, err := d.Process(ctx, raw,
			picture.Size{Width: catalog.Large, Bytes: largeBytes}, picture.Size{Width: catalog.Thumb, Bytes: thumbBytes})
		if err != nil {
			return catalog.Image{}, err
		}
		return catalog.Image{ID: id, Sizes: map[int][]byte{catalog.Large: made[0], catalog.Thumb: made[1]}}, nil
	}
}

// brandScaler returns a function that scales the pictures of a brand.
func brandScaler(d *picture.Processor) func(context.Context, brand.Slot, []byte) (catalog.Image, brand.Picture, error) {
	return func(ctx context.Context, slot brand.Slot, raw []byte) (catalog.Image, brand.Picture, error) {
		if slot == brand.Logo {
			l, err := d.ProcessLogo(ctx, raw, brand.LogoMark, brand.IconSmall, brand.IconLarge)
			if err != nil {
				return catalog.Image{}, brand.Picture{}, err
			}
			sizes := map[int][]byte{brand.LogoMark: l.Mark, brand.IconSmall: l.Icons[0], brand.IconLarge: l.Icons[1]}
			return catalog.Image{ID: l.ID, Sizes: sizes}, brand.Picture{ID: l.ID, Width: l.Width, Height: l.Height}, nil
		}
		id, made, err := d.Process(ctx, raw, picture.Size{Width: brand.CoverLarge, Bytes: coverLargeBytes},
			picture.Size{Width: brand.CoverSmall, Bytes: coverSmallBytes})
		if err != nil {
			return catalog.Image{}, brand.Picture{}, err
		}
		width, height, err := picture.Dimensions(made[0])
		return catalog.Image{ID: id, Sizes: map[int][]byte{brand.CoverLarge: made[0], brand.CoverSmall: made[1]}},
			brand.Picture{ID: id, Width: width, Height: height}, err
	}
}

// ledgerCounts implements catalog.CounterReader. It reads SQL and not the admission cache, so its figures are exact.
type ledgerCounts struct{ core *Core }

// Counters returns the ledger's counters of a business date.
func (c ledgerCounts) Counters(ctx context.Context, branch int64, date string) ([]catalog.Counter, error) {
	counts, err := c.core.Stock.Counts(ctx, stock.Scope{Branch: branch, Date: date})
	all := make([]catalog.Counter, len(counts))
	for i, n := range counts {
		all[i] = catalog.Counter{Item: n.Item, Held: n.Held, Used: n.Used}
		if n.Cap != stock.Unlimited {
			all[i].Cap = &n.Cap
		}
	}
	return all, err
}

// Impact counts the holds and carts that contain an item.
func (c ledgerCounts) Impact(
	ctx context.Context, at catalog.ItemRef, date string, item int64,
) (h catalog.OffImpact, err error) {
	scope := stock.Scope{Branch: at.Branch, Date: date}
	if h.Holds, h.Units, err = c.core.Stock.OpenHolds(ctx, scope, item); err != nil {
		return h, err
	}
	h.Carts, err = c.core.CartStore.CountWithDish(ctx, at.Branch, at.Dish)
	return h, err
}

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
