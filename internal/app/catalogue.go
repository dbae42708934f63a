package app

import (
	"context"

	"comanda/internal/brand"
	"comanda/internal/catalog"
	"comanda/internal/catalog/cataloghttp"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/picture"
	"comanda/internal/settings/settingssql"
	"comanda/internal/stock"
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
