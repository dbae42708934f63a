package cart

import (
	"context"
	"errors"
	"testing"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/fault"
	"comanda/internal/testenv"
)

// oneTable is a store with the cart of one visit. It counts the reads of the version.
type oneTable struct {
	cart  Shared
	reads int
	err   error
}

func (s *oneTable) Shared(context.Context, string) (Shared, error) { return s.cart, s.err }

func (s *oneTable) ChangeShared(_ context.Context, c SharedChange) (Shared, error) {
	d := NewSharedDraft(s.cart)
	if err := errors.Join(s.err, d.Apply(c.Line, noon)); err != nil {
		return s.cart, err
	}
	s.cart = d.Shared
	return s.cart, nil
}

func (s *oneTable) SharedVersion(context.Context, string) (int64, error) {
	s.reads++
	return s.cart.Version, s.err
}

func (*oneTable) DishNames(context.Context, []int64) (map[int64]catalog.Texts, error) {
	return nil, nil
}

func (*oneTable) Phones(context.Context, string) ([]string, error) {
	return []string{"binh", "an"}, nil
}

// sharing returns the service at a branch that shares carts, or not, with the menu of board.
func sharing(t *testing.T, s *oneTable, now func() time.Time, share bool) (*SharedService, *int) {
	t.Helper()
	b := catalogtest.Branch()
	b.SharedCart = share
	source := catalogtest.NewMemorySource()
	off := catalogtest.Item(13, 500)
	off.Active = false
	source.Put(b, catalogtest.Content(5, nil, catalogtest.Item(11, 65000), off))
	fixed := func() time.Time { return morning }
	menus := catalog.NewLiveMenus(catalog.NewMenuCache(source, catalog.NoSharedCache{}, fixed), &catalogtest.Levels{}, fixed)
	changes := new(int)
	return &SharedService{Store: s, LiveMenus: menus, Phones: s, Now: now, OnChange: func(int64, string) { *changes++ }}, changes
}

func TestSharedService_Put(t *testing.T) {
	an := Guest{Branch: 1, VisitID: "v", Hash: "an"}
	down := fault.New(fault.Unavailable, "down", "Down.")
	for name, c := range map[string]struct {
		share   bool
		line    SharedLine
		store   error
		want    error
		changes int
	}{
		"a line":          {true, SharedLine{ID: "an-1", ItemID: 11, Quantity: 1}, nil, nil, 1},
		"none":            {true, SharedLine{ID: "an-1", ItemID: 11}, nil, ErrQuantity, 0},
		"too many":        {true, SharedLine{ID: "an-1", ItemID: 11, Quantity: 21}, nil, ErrQuantity, 0},
		"not on the menu": {true, SharedLine{ID: "an-1", ItemID: 99, Quantity: 1}, nil, ErrDish, 0},
		"not offered":     {true, SharedLine{ID: "an-1", ItemID: 13, Quantity: 1}, nil, ErrDish, 0},
		"not shared":      {false, SharedLine{ID: "an-1", ItemID: 11, Quantity: 1}, nil, ErrNotShared, 0},
		"out of reach":    {true, SharedLine{ID: "an-1", ItemID: 11, Quantity: 1}, down, down, 0},
	} {
		t.Run(name, func(t *testing.T) {
			store := &oneTable{cart: Shared{VisitID: "v"}, err: c.store}
			s, changes := sharing(t, store, func() time.Time { return noon }, c.share)
			v, err := s.Put(t.Context(), an, c.line)
			if !errors.Is(err, c.want) || *changes != c.changes {
				t.Fatalf("%v, want %v; %d notifications", err, c.want, *changes)
			}
			if c.want == nil && (len(v.Items) != 1 || v.Items[0].Phone != 2 || !v.Items[0].Mine || v.Items[0].DishID != 4) {
				t.Errorf("Put = %+v, want one line of dish 4 from phone 2", v)
			}
		})
	}
}

// Streams request the version often: it is read at most once per versionTTL, and again after each change.
func TestSharedService_Version(t *testing.T) {
	store, now := &oneTable{cart: Shared{VisitID: "v", Version: 3}}, noon
	s, _ := sharing(t, store, func() time.Time { return now }, true)
	want := func(version int64, reads int) {
		t.Helper()
		if got, err := s.Version(t.Context(), "v"); err != nil || got != version || store.reads != reads {
			t.Errorf("version %d after %d reads, %v; want %d after %d", got, store.reads, err, version, reads)
		}
	}
	want(3, 1)
	store.cart.Version = 4 // changed by another process whose notification was lost
	want(3, 1)
	now = now.Add(versionTTL)
	want(4, 2)
	testenv.Must(s.Put(t.Context(), Guest{Branch: 1, VisitID: "v", Hash: "an"},
		SharedLine{ID: "an-1", ItemID: 11, Quantity: 1}))(t)
	want(5, 3)
	store.cart.Version = 6 // by another process, which sent a notification
	s.Notify("v")
	want(6, 4)
	store.cart.Version = 7
	s.Notify("another")
	want(6, 4)
}

// A change wakes the streams of its own table and no others. After lost notifications all streams read again.
func TestSharedService_Follow(t *testing.T) {
	store := &oneTable{cart: Shared{VisitID: "v"}}
	s, _ := sharing(t, store, func() time.Time { return noon }, true)
	changedHere, changedElsewhere := make(chan struct{}, 1), make(chan struct{}, 1)
	leave := s.Follow("v", changedHere)
	s.Follow("w", changedElsewhere)
	want := func(atHere, atThere int) {
		t.Helper()
		if len(changedHere) != atHere || len(changedElsewhere) != atThere {
			t.Errorf("%d and %d notifications, want %d and %d", len(changedHere), len(changedElsewhere), atHere, atThere)
		}
	}
	testenv.Must(s.Put(t.Context(), Guest{Branch: 1, VisitID: "v", Hash: "an"},
		SharedLine{ID: "an-1", ItemID: 11, Quantity: 1}))(t)
	want(1, 0)
	<-changedHere
	testenv.Must(s.Version(t.Context(), "v"))(t)
	reads := store.reads
	s.NotifyAll()
	want(1, 1)
	if testenv.Must(s.Version(t.Context(), "v"))(t); store.reads != reads+1 {
		t.Error("the version was not read again")
	}
	<-changedHere
	<-changedElsewhere
	leave()
	s.Changed(1, "v")
	want(0, 0)
}
