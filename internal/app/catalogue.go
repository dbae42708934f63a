package app

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/cataloghttp"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/picture"
	"comanda/internal/stock"
	"comanda/internal/worker"
)

// wireCatalogServices creates the staff's catalog services. Availability depends on services that are wired later and
// uses them only when it is called.
func (k *Core) wireCatalogServices(store *catalogsql.Store) {
	k.CatalogServices = cataloghttp.Services{
		Branches: k.Branches,
		Menus:    k.Editor,
		Dishes:   &catalog.DishService{Store: store, Menus: k.Menus, Now: k.DB.Now},
		Availability: &catalog.Availability{
			Store: quotaStore{store, k}, Counters: ledgerCounts{k}, LiveMenus: k.LiveMenus, Menus: k.Menus, Now: k.DB.Now,
		},
		Images: &catalog.Images{Store: store, Resize: imageScaler(picture.NewProcessor()), Now: k.DB.Now},
	}
	k.images = store.Image
}

// Sizes of images in bytes. A menu of fifty thumbnails is then about a megabyte.
const (
	thumbBytes = 20 << 10
	largeBytes = 120 << 10
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

// restoreLoop puts items back on sale when their time off the menu has ended. Several processes may run it: each item
// is restored once, in SQL.
func (k *Core) restoreLoop() worker.Loop {
	return worker.Loop{
		Name: "restore", Run: k.CatalogServices.Availability.RestoreDue, Every: time.Second, Timeout: 10 * time.Second,
		MaxPause: 2 * time.Second,
	}
}

// TakeOff implements catalog.OffItemStore.
func (s quotaStore) TakeOff(
	ctx context.Context, by authz.Actor, item int64, until catalog.Until, now time.Time,
) (catalog.ItemRef, catalog.OffItem, error) {
	at, off, err := s.Store.TakeOff(ctx, by, item, until, now)
	s.updateCache(ctx, err)
	return at, off, err
}

// Restore implements catalog.OffItemStore.
func (s quotaStore) Restore(
	ctx context.Context, by authz.Actor, item int64, now time.Time,
) (catalog.ItemRef, error) {
	at, err := s.Store.Restore(ctx, by, item, now)
	s.updateCache(ctx, err)
	return at, err
}

// RestoreDue implements catalog.OffItemStore. The cache follows also after an error that left some branches restored.
func (s quotaStore) RestoreDue(ctx context.Context, now time.Time) ([]int64, error) {
	branches, err := s.Store.RestoreDue(ctx, now)
	if len(branches) > 0 {
		s.updateCache(ctx, nil)
	}
	return branches, err
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
