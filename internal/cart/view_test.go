package cart

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/fault"
	"comanda/internal/testenv"
)

// board returns branch 1 with dish 4 (item 11, of which three are left), dish 5 (item 12), and dish 6 (item 13), which
// is not offered.
func board(t *testing.T) *catalog.LiveMenu {
	t.Helper()
	shelf, left := catalogtest.NewMemorySource(), &catalogtest.Levels{}
	off := catalogtest.Item(13, 500)
	off.Active = false
	shelf.Put(catalogtest.Branch(), catalogtest.Content(5, map[int64]int64{11: 20}, catalogtest.Item(11, 65000),
		catalogtest.Item(12, 1000), off))
	left.Set(11, 3)
	now := func() time.Time { return morning }
	return testenv.Must(catalog.NewLiveMenus(catalog.NewMenuCache(shelf, catalog.NoSharedCache{}, now), left,
		now).Get(t.Context(), 1))(t)
}

func TestPriced(t *testing.T) {
	b := board(t)
	names := map[int64]catalog.Texts{9: {catalog.English: "Gone"}}
	for name, c := range map[string]struct {
		line     Line
		want     Item // without its line
		total    int64
		changed  bool
		soldOut  bool
		nameless bool
	}{
		"as it was":           {Line{DishID: 4, Quantity: 3, Price: 65000}, Item{ItemID: 11, Price: 65000, Total: 195000, Left: 3, Limited: true, Available: true}, 195000, false, false, false},
		"more than there are": {Line{DishID: 4, Quantity: 4, Price: 65000}, Item{ItemID: 11, Price: 65000, Total: 260000, Left: 3, Limited: true, Available: true}, 260000, false, true, false},
		"it was dearer":       {Line{DishID: 5, Quantity: 20, Price: 1001}, Item{ItemID: 12, Price: 1000, Total: 20000, Left: 0, Available: true}, 20000, true, false, false},
		"not offered now":     {Line{DishID: 6, Quantity: 1, Price: 500}, Item{ItemID: 13, Price: 500, Total: 500}, 0, false, false, false},
		"gone from the menu":  {Line{DishID: 9, Quantity: 2, Price: 900}, Item{}, 0, false, false, false},
		"of no name at all":   {Line{DishID: 8, Quantity: 2, Price: 900}, Item{}, 0, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			v := newView(Cart{ID: 3, Lines: []Line{c.line}}, b, names, toTakeAway...)
			c.want.Line = c.line
			got := v.Items[0]
			testenv.Equal(t, c.want, got, cmpopts.IgnoreFields(Item{}, "Names"))
			if v.Total != c.total || got.PriceChanged() != c.changed || got.SoldOut() != c.soldOut {
				t.Errorf("total %d, price changed %t, sold out %t", v.Total, got.PriceChanged(), got.SoldOut())
			}
			if nameless := got.Names.In(catalog.English) == ""; nameless != c.nameless {
				t.Errorf("named %q", got.Names.In(catalog.English))
			}
			if v.Branch.ID != 1 || v.MenuVersionID != 5 || v.Currency != "VND" || v.ID != 3 {
				t.Errorf("view = %+v, want cart 3 in branch 1 with menu version 5 in VND", v)
			}
		})
	}
}

// viewStore is a store with one cart, in a restaurant with no or one branch.
type viewStore struct {
	cart    Cart
	branch  int64
	changes []Change
	err     error
}

func (h *viewStore) Cart(context.Context, int64) (Cart, error) { return h.cart, h.err }

func (h *viewStore) Change(_ context.Context, c Change) (Cart, LineKey, error) {
	h.changes = append(h.changes, c)
	d := NewDraft(h.cart)
	of, err := d.Apply(c, noon)
	h.cart = d.Cart
	return h.cart, of, err
}

func (*viewStore) DishNames(context.Context, []int64) (map[int64]catalog.Texts, error) {
	return nil, nil
}

func (h *viewStore) FirstBranch(context.Context) (int64, error) { return h.branch, h.err }

// only implements the menus of a restaurant with branch 1 only.
type only struct{ *catalog.LiveMenu }

func (o only) Get(_ context.Context, branch int64) (*catalog.LiveMenu, error) {
	if branch != 1 {
		return nil, catalog.ErrBranch
	}
	return o.LiveMenu, nil
}

// A dish that is not on the branch's menu is refused without a call of the store.
func TestService_Add(t *testing.T) {
	for name, c := range map[string]struct {
		first                  int64
		dish, quantity, branch int64
		want                   error
		added                  Add
	}{
		"by the house's first branch": {1, 4, 2, 0, nil, Add{DishID: 4, Quantity: 2, Price: 65000}},
		"by a branch":                 {0, 5, 2, 1, nil, Add{DishID: 5, Quantity: 2, Price: 1000, BranchID: 1}},
		"not on the menu":             {1, 9, 1, 0, ErrDish, Add{}},
		"not offered":                 {1, 6, 1, 0, ErrDish, Add{}},
		"too many":                    {1, 4, 21, 0, ErrQuantity, Add{}},
		"none":                        {1, 4, 0, 0, ErrQuantity, Add{}},
		"no such branch":              {1, 4, 1, 2, catalog.ErrBranch, Add{}},
		"no branch at all":            {0, 4, 1, 0, errNoBranch, Add{}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &viewStore{branch: c.first}
			s := &Service{Store: h, LiveMenus: only{board(t)}}
			v, it, err := s.Add(t.Context(), authz.Actor{UserID: 7}, c.dish, c.quantity, c.branch)
			testenv.ErrorIs(t, c.want, err)
			if c.want != nil {
				if len(h.changes) != 0 {
					t.Errorf("the store was asked: %+v", h.changes)
				}
				return
			}
			testenv.Equal(t, []Change{{UserID: 7, Add: &c.added}}, h.changes)
			if it.DishID != c.dish || it.Quantity != c.quantity || v.Total != it.Total || it.PriceChanged() {
				t.Errorf("%+v of %+v", it, v)
			}
		})
	}
}

// A cart keeps its branch: dishes are added by that branch's menu, whichever branch is the first.
func TestService_keeps_its_branch(t *testing.T) {
	h := &viewStore{cart: Cart{ID: 3, UserID: 7, BranchID: 2, Version: 1}, branch: 1}
	s := &Service{Store: h, LiveMenus: only{board(t)}}
	actor := authz.Actor{UserID: 7}
	if _, _, err := s.Add(t.Context(), actor, 4, 1, 0); !errors.Is(err, catalog.ErrBranch) {
		t.Error(err)
	}
	testenv.ErrorIs(t, catalog.ErrBranch, testenv.Err(s.Get(t.Context(), actor, 0)))
	testenv.Equal(t, 1, testenv.Must(s.Get(t.Context(), actor, 1))(t).Branch.ID)
}

func TestService_store_out_of_reach(t *testing.T) {
	h := &viewStore{err: fault.New(fault.Unavailable, "down", "Down.")}
	s := &Service{Store: h, LiveMenus: only{board(t)}}
	actor := authz.Actor{UserID: 7}
	_, get := s.Get(t.Context(), actor, 0)
	_, _, added := s.Add(t.Context(), actor, 4, 1, 0)
	if !errors.Is(get, h.err) || !errors.Is(added, h.err) {
		t.Error(get, added)
	}
}
