package cartsql_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/cart"
	"comanda/internal/cart/carttest"
	"comanda/internal/testenv"
)

// put returns a change that puts a quantity of a line of a guest into the cart of a visit; line ids name their guests.
func put(visit, guest, line string, quantity int64) cart.SharedChange {
	return cart.SharedChange{VisitID: visit, Line: cart.SharedLine{
		ID: guest + "-" + line, GuestHash: guest, ItemID: 101, DishID: 101, Quantity: quantity, Notes: "for " + guest,
	}}
}

// shortOf formats the lines of a cart as "id×quantity".
func shortOf(c cart.Shared) (lines []string) {
	for _, l := range c.Lines {
		lines = append(lines, fmt.Sprint(l.ID, "×", l.Quantity))
	}
	return lines
}

// Lines that one process writes are read by another one, with all their values.
func TestStore_Shared(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		otherProcess, visit := carttest.OpenProcess(t, h.Restaurant, h.Clock).Store, h.Visit
		if c, err := otherProcess.Shared(t.Context(), visit); err != nil || c.Version != 0 || len(c.Lines) != 0 {
			t.Errorf("before the first line: %+v, %v", c, err)
		}
		for i, c := range []struct {
			change cart.SharedChange
			want   []string
			err    error
		}{
			{put(visit, "an", "1", 2), []string{"an-1×2"}, nil},
			{put(visit, "an", "1", 2), []string{"an-1×2"}, nil}, // repeated
			{put(visit, "binh", "1", 1), []string{"an-1×2", "binh-1×1"}, nil},
			{put("another visit", "an", "1", 7), []string{"an-1×7"}, nil},
			{put(visit, "an", "1", 5), []string{"an-1×5", "binh-1×1"}, nil},
			{put(visit, "binh", "1", 0), []string{"an-1×5"}, nil},
			{put(visit, "binh", "1", 3), []string{"an-1×5"}, cart.ErrChanged}, // a tombstone
			{put(visit, "binh", "1", 0), []string{"an-1×5"}, nil},
			{put(visit, "binh", "2", 21), []string{"an-1×5"}, cart.ErrQuantity},
			{put(visit, "an", "3", 0), []string{"an-1×5"}, nil}, // the removal arrives before the addition of the line
			{put(visit, "an", "3", 1), []string{"an-1×5"}, cart.ErrChanged},
		} {
			h.Clock.Advance(time.Second) // lines are in the order of adding
			got, err := h.Store.ChangeShared(t.Context(), c.change)
			if diff := cmp.Diff(c.want, shortOf(got)); diff != "" || !errors.Is(err, c.err) {
				t.Errorf("step %d: error %v, lines (-want +got):\n%s", i, err, diff)
			}
			seen, err := otherProcess.Shared(t.Context(), c.change.VisitID)
			if diff := cmp.Diff(got, seen); err != nil || diff != "" {
				t.Errorf("step %d, cart in the other process: error %v, (-want +got):\n%s", i, err, diff)
			}
			version, err := otherProcess.SharedVersion(t.Context(), c.change.VisitID)
			if err != nil || version != got.Version {
				t.Errorf("%d: version %d, %v", i, version, err)
			}
		}
		c, _ := otherProcess.Shared(t.Context(), visit)
		if c.Version != 5 || c.Added != 3 { // five changes had an effect
			t.Errorf("version %d after %d lines", c.Version, c.Added)
		}
	})
}

// Guests who change a cart at once, in two processes, lose none of each other's changes.
func TestStore_Shared_at_once(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		stores := []cart.SharedStore{h.Store, carttest.OpenProcess(t, h.Restaurant, h.Clock).Store}
		const guests, lines = 8, 6
		var wg sync.WaitGroup
		for g := range guests {
			wg.Go(func() {
				for n := range lines {
					change := put(h.Visit, fmt.Sprint("guest", g), fmt.Sprint(n), 1)
					for range 2 { // each request twice
						if _, err := stores[g%2].ChangeShared(t.Context(), change); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
		c, err := stores[1].Shared(t.Context(), h.Visit)
		if err != nil || len(c.Lines) != guests*lines || c.Added != guests*lines {
			t.Errorf("%d lines, %d added, %v", len(c.Lines), c.Added, err)
		}
	})
}

// The lines of a closed visit are deleted, and those of an open one stay.
func TestStore_PurgeShared(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		closed := h.Visit
		h.NextVisit(t)
		for _, visit := range []string{closed, h.Visit} {
			testenv.Must(h.Store.ChangeShared(t.Context(), put(visit, "an", "1", 1)))(t)
		}
		h.CloseAt(t, closed, h.Clock.Now())
		testenv.NoError(t, h.Store.PurgeShared(t.Context(), h.Clock.Now().Add(-time.Second)))
		testenv.Equal(t, 1, len(testenv.Must(h.Store.Shared(t.Context(), closed))(t).Lines))
		testenv.NoError(t, h.Store.PurgeShared(t.Context(), h.Clock.Now()))
		testenv.Equal(t, 0, testenv.Must(h.Store.Shared(t.Context(), closed))(t).Version)
		testenv.Equal(t, 1, len(testenv.Must(h.Store.Shared(t.Context(), h.Visit))(t).Lines))
	})
}
