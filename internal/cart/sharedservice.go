package cart

import (
	"cmp"
	"context"
	"slices"
	"time"

	"comanda/internal/cache"
	"comanda/internal/catalog"
	"comanda/internal/live"
)

// SharedStore stores the carts that guests share; cartsql implements it.
type SharedStore interface {
	// Shared returns the cart of a visit, empty and with version 0 if it never had a line.
	Shared(ctx context.Context, visit string) (Shared, error)
	// ChangeShared applies one change and returns the cart afterwards. With an error it returns the unchanged cart, if
	// it could be read.
	ChangeShared(ctx context.Context, c SharedChange) (Shared, error)
	// SharedVersion returns the version of a visit's cart, or 0.
	SharedVersion(ctx context.Context, visit string) (int64, error)
	DishNames(ctx context.Context, dishes []int64) (map[int64]catalog.Texts, error)
}

// Phones numbers the phones of a visit from 1, in the order in which they first ordered or added to the cart. A list of
// the table's orders shows the same numbers.
type Phones interface {
	Phones(ctx context.Context, visit string) (hashes []string, err error)
}

// Guest is the phone of a guest at a table.
type Guest struct {
	Branch  int64
	VisitID string
	Hash    string // of the phone, see visit.Guest.ShortHash
}

// SharedService has the use cases of carts that the guests of a table fill together. Every guest of the visit may
// change and remove every line.
type SharedService struct {
	Store     SharedStore
	LiveMenus LiveMenus
	Phones    Phones
	Now       func() time.Time
	// OnChange is called after each change, to notify the streams of other processes. It may be nil.
	OnChange func(branch int64, visit string)

	versions cache.Cache[string, int64] // by visit
	topic    live.Topic[string]         // the streams of each visit
}

// SharedView is a shared cart as one of its guests sees it.
type SharedView struct {
	Version int64
	Items   []SharedItem
	Locales []catalog.Locale // locales of the branch, the main one first
}

// SharedItem is a line with the number of its guest and the names of its dish, even if the dish is not on the menu any
// more.
type SharedItem struct {
	SharedLine

	Phone int
	Mine  bool // the requesting phone has added the line
	Names catalog.Texts

	Price      int64                // current price of one unit with its options; 0 if it cannot be ordered like this
	Configured []catalog.OptionLine // the options with names and prices of the current menu
}

// Get returns the cart of the guest's table, or ErrNotShared if the branch does not share carts.
func (s *SharedService) Get(ctx context.Context, g Guest) (SharedView, error) {
	menu, err := s.menu(ctx, g)
	if err != nil {
		return SharedView{}, err
	}
	c, err := s.Store.Shared(ctx, g.VisitID)
	if err != nil {
		return SharedView{}, err
	}
	return s.view(ctx, g, menu, c)
}

// Put adds a line, or sets the quantity, the note and the options of an existing line. The dish must be active on the menu
// and offer the options. Put is idempotent by the id of the line.
func (s *SharedService) Put(
	ctx context.Context, g Guest, l SharedLine, options ...catalog.ChosenOption,
) (SharedView, error) {
	if err := cmp.Or(checkQuantity(l.Quantity), checkNotes(l.Notes)); err != nil {
		return SharedView{}, err
	}
	menu, err := s.menu(ctx, g)
	if err != nil {
		return SharedView{}, err
	}
	on, ok := menu.Item(l.ItemID)
	if !ok || !on.Offered(catalog.DineIn) {
		return SharedView{}, ErrDish
	}
	if _, l.Options, err = configure(on, options); err != nil {
		return SharedView{}, err
	}
	l.GuestHash, l.DishID = g.Hash, on.DishID
	return s.change(ctx, g, menu, l)
}

// Remove removes a line of any guest. It also succeeds if the line does not exist.
func (s *SharedService) Remove(ctx context.Context, g Guest, id string) (SharedView, error) {
	menu, err := s.menu(ctx, g)
	if err != nil {
		return SharedView{}, err
	}
	return s.change(ctx, g, menu, SharedLine{ID: id, GuestHash: g.Hash})
}

func (s *SharedService) change(ctx context.Context, g Guest, menu *catalog.LiveMenu, l SharedLine) (SharedView, error) {
	c, err := s.Store.ChangeShared(ctx, SharedChange{g.VisitID, l})
	if err != nil {
		return SharedView{}, err
	}
	s.Changed(g.Branch, g.VisitID)
	return s.view(ctx, g, menu, c)
}

// versionTTL bounds the age of the version that the streams of a table share while they poll at short intervals.
const versionTTL = 750 * time.Millisecond

// Version returns the version of a visit's cart for streams. The version is at most versionTTL old; after Notify it is read
// again.
func (s *SharedService) Version(ctx context.Context, visit string) (int64, error) {
	return s.versions.Load(visit, s.Now, versionTTL, func() (int64, error) { return s.Store.SharedVersion(ctx, visit) })
}

// Follow makes changed receive when the cart of a visit changes, until leave is called.
func (s *SharedService) Follow(visit string, changed chan struct{}) (leave func()) {
	return s.topic.Join(visit, changed)
}

// Changed notifies the streams of a visit, here and in other processes: its cart was changed or ordered.
func (s *SharedService) Changed(branch int64, visit string) {
	s.Notify(visit)
	if s.OnChange != nil {
		s.OnChange(branch, visit)
	}
}

// Notify makes Version read again for some visits, and notifies their streams in this process. The streams of other
// tables keep their version and are not woken.
func (s *SharedService) Notify(visits ...string) {
	s.versions.Delete(visits...) // first, so that a notified stream reads the new version
	s.topic.Notify(visits...)
}

// NotifyAll is Notify for every visit with a stream. It is called when notifications of other processes may have been
// lost.
func (s *SharedService) NotifyAll() { s.Notify(s.topic.Keys()...) }

// menu returns the live menu of the guest's branch if it shares carts.
func (s *SharedService) menu(ctx context.Context, g Guest) (*catalog.LiveMenu, error) {
	menu, err := s.LiveMenus.Get(ctx, g.Branch)
	if err == nil && !menu.Branch.SharedCart {
		err = ErrNotShared
	}
	return menu, err
}

// view adds names and the numbers of guests. It reads the phones after the lines, so that the phone of each line is
// found.
func (s *SharedService) view(ctx context.Context, g Guest, menu *catalog.LiveMenu, c Shared) (SharedView, error) {
	v := SharedView{Version: c.Version, Items: make([]SharedItem, len(c.Lines)), Locales: menu.Branch.Locales}
	if len(c.Lines) == 0 {
		return v, nil
	}
	phones, err := s.Phones.Phones(ctx, g.VisitID)
	if err != nil {
		return SharedView{}, err
	}
	var missing []int64
	for i, l := range c.Lines {
		v.Items[i] = SharedItem{SharedLine: l, Phone: slices.Index(phones, l.GuestHash) + 1, Mine: l.GuestHash == g.Hash}
		if on, ok := menu.Item(l.ItemID); ok {
			v.Items[i].Names = on.Names
			v.Items[i].configure(on, menu)
		} else {
			missing = append(missing, l.DishID)
		}
	}
	if len(missing) == 0 {
		return v, nil
	}
	names, err := s.Store.DishNames(ctx, missing)
	for i := range v.Items {
		if v.Items[i].Names == nil {
			v.Items[i].Names = names[v.Items[i].DishID]
		}
	}
	return v, err
}

// configure adds the options of a line. A choice that the menu no longer offers keeps no options and no price.
func (i *SharedItem) configure(on catalog.Item, menu *catalog.LiveMenu) {
	if c, err := on.Configure(catalog.DecodeOptions(i.Options), menu.Branch.Locales); err == nil {
		i.Price, i.Configured = c.Price, c.Options
	}
}
