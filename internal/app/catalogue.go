package app

import (
	"context"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/catalog/cataloghttp"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/identity"
	"comanda/internal/picture"
	"comanda/internal/stock"
	"comanda/internal/worker"
)

// wireCatalogue makes the use cases by which the staff keep the catalogue. The kitchen counts by rooms that are wired
// later, and asks them only when it is asked itself.
func (k *Core) wireCatalogue(store *catalogsql.Store) {
	k.Catalogue = cataloghttp.Rooms{
		Editor:   k.Editor,
		House:    &catalog.House{Store: store, Menus: k.Menus, Now: k.DB.Now},
		Cookbook: &catalog.Cookbook{Store: store, Menus: k.Menus, Now: k.DB.Now},
		Carte:    &catalog.Carte{Store: store, Branches: k.Menus, Now: k.DB.Now},
		Kitchen: &catalog.Kitchen{
			Absences: quotaStore{store, k}, Counting: ledgerCounts{k}, Boards: k.Boards, Menus: k.Menus, Now: k.DB.Now,
		},
		Album: &catalog.Album{Store: store, Develop: develop(picture.NewDarkroom()), Now: k.DB.Now},
	}
	k.photos = store.Picture
}

// How large pictures are to be, in bytes: a menu of fifty thumbs is a megabyte.
const (
	thumbBytes = 20 << 10
	largeBytes = 120 << 10
)

// develop makes the sizes that the catalogue keeps.
func develop(d *picture.Darkroom) func(context.Context, []byte) (catalog.Picture, error) {
	return func(ctx context.Context, raw []byte) (catalog.Picture, error) {
		id, made, err := d.Develop(ctx, raw,
			picture.Size{Width: catalog.Large, Bytes: largeBytes}, picture.Size{Width: catalog.Thumb, Bytes: thumbBytes})
		if err != nil {
			return catalog.Picture{}, err
		}
		return catalog.Picture{ID: id, Sizes: map[int][]byte{catalog.Large: made[0], catalog.Thumb: made[1]}}, nil
	}
}

// restore has items sold again whose absence has come to its end.
func (k *Core) restore() worker.Loop {
	return worker.Loop{
		Name: "restore", Run: k.Catalogue.Kitchen.RestoreDue, Every: time.Second, Timeout: 10 * time.Second,
		MaxPause: 2 * time.Second,
	}
}

// TakeOff ends the sale of an item.
func (s quotaStore) TakeOff(
	ctx context.Context, by identity.Actor, item int64, until catalog.Until, now time.Time,
) (catalog.Placed, catalog.Absence, error) {
	at, a, err := s.Store.TakeOff(ctx, by, item, until, now)
	s.tell(ctx, err)
	return at, a, err
}

// Restore has an item sold again.
func (s quotaStore) Restore(
	ctx context.Context, by identity.Actor, item int64, now time.Time,
) (catalog.Placed, error) {
	at, err := s.Store.Restore(ctx, by, item, now)
	s.tell(ctx, err)
	return at, err
}

// RestoreDue has those sold again that are due.
func (s quotaStore) RestoreDue(ctx context.Context, now time.Time) ([]int64, error) {
	branches, err := s.Store.RestoreDue(ctx, now)
	if len(branches) > 0 {
		s.tell(ctx, nil)
	}
	return branches, err
}

// ledgerCounts tells the kitchen what the ledger and carts hold.
type ledgerCounts struct{ core *Core }

// Tallies gives the ledger's counters of a business date.
func (c ledgerCounts) Tallies(ctx context.Context, branch int64, date string) ([]catalog.Tally, error) {
	counts, err := c.core.Stock.Counts(ctx, stock.Scope{Branch: branch, Date: date})
	all := make([]catalog.Tally, len(counts))
	for i, n := range counts {
		all[i] = catalog.Tally{Item: n.Item, Held: n.Held, Used: n.Used}
		if n.Cap != stock.Unlimited {
			all[i].Cap = &n.Cap
		}
	}
	return all, err
}

// Hits counts what the absence of an item meets.
func (c ledgerCounts) Hits(ctx context.Context, at catalog.Placed, date string, item int64) (h catalog.Hits, err error) {
	scope := stock.Scope{Branch: at.Branch, Date: date}
	if h.Holds, h.Units, err = c.core.Stock.OpenHolds(ctx, scope, item); err != nil {
		return h, err
	}
	h.Carts, err = c.core.Baskets.With(ctx, at.Branch, at.Dish)
	return h, err
}
