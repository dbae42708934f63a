package catalog

import (
	"fmt"
	"testing"
	"time"

	"comanda/internal/testenv"
)

func TestLiveMenu_Sales(t *testing.T) {
	withLiveMenus(t, func(t *testing.T, s *source, c *counters, b *LiveMenus) {
		sale := func() DishSale {
			s.change(func() { s.revision++ })
			b.MenuChanged(1)
			return liveMenu(t, b).Sales(map[int64]int64{11: 3, 99: 5})[4]
		}
		for _, tt := range []struct {
			name   string
			left   map[int64]int64
			change func()
			want   DishSale
		}{
			{"nothing is sold", nil, func() {}, DishSale{new(int64(20)), 3, true}},
			{"some are left", map[int64]int64{11: 7}, func() {}, DishSale{new(int64(7)), 3, true}},
			{"sold out", map[int64]int64{11: 0}, func() {}, DishSale{new(int64(0)), 3, false}},
			{"without a limit", map[int64]int64{11: -1}, func() {}, DishSale{nil, 3, true}},
			{"off sale", nil, func() { s.off = []int64{11} }, DishSale{new(int64(0)), 3, false}},
			{"paused", nil, func() { s.off, s.pause = nil, &Pause{} }, DishSale{new(int64(20)), 3, false}},
			{"resumed", nil, func() { s.pause = nil }, DishSale{new(int64(20)), 3, true}},
		} {
			c.set(tt.left, nil)
			s.change(tt.change)
			got := sale()
			if (got.Stock == nil) != (tt.want.Stock == nil) || got.Stock != nil && *got.Stock != *tt.want.Stock ||
				got.SoldToday != tt.want.SoldToday || got.Available != tt.want.Available {
				t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
			}
		}
	})
}

// A dish on a lunch menu and on the main menu is one dish: its sold units are added, and the menu in force decides what is
// left. One whose menus are not in force cannot be ordered.
func TestLiveMenu_Sales_of_several_menus(t *testing.T) {
	branch, lunch := hanoi(), MenuSchedule{Weekly: map[Weekday][]Period{}}
	for _, d := range []Weekday{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} {
		lunch.Weekly[d] = []Period{{From: "11:00", To: "14:00"}}
	}
	items := []Item{
		{ID: 11, DishID: 4, Version: 1, Active: true}, {ID: 12, DishID: 5, Version: 1, Active: true}, {ID: 13, DishID: 6, Version: 1},
		{ID: 21, DishID: 4, Version: 2, Active: true}, {ID: 22, DishID: 7, Version: 2, Active: true},
	}
	menus := []PublishedMenu{{MenuID: 1, VersionID: 1}, {MenuID: 2, VersionID: 2, Schedule: lunch}}
	quotas := map[int64]int64{11: 10, 21: 4}
	edition := NewEdition(CombinationID(1, []MenuPart{{VersionID: 1}, {VersionID: 2}}), 1, nil, items)
	zone := testenv.Must(NewBranch(branch))(t)
	noon := time.Date(2026, 11, 26, 12, 0, 0, 0, zone.Calendar().Zone())
	for at, want := range map[time.Time]map[int64]string{
		noon:                    {4: "4 left, 5 sold, true", 5: "no limit, 1 sold, true", 7: "no limit, 2 sold, true"},
		noon.Add(6 * time.Hour): {4: "10 left, 5 sold, true", 5: "no limit, 1 sold, true", 7: "no limit, 2 sold, false"},
	} {
		snapshot := testenv.Must(newSnapshot(zone, Content{Edition: edition, Menus: menus, Quotas: quotas}, at))(t)
		m := &LiveMenu{Snapshot: snapshot}
		got := map[int64]string{}
		for dish, s := range m.Sales(map[int64]int64{11: 2, 21: 3, 12: 1, 22: 2, 13: 9}) {
			got[dish] = saleText(s)
		}
		testenv.Equal(t, want, got)
	}
}

func TestDishSales(t *testing.T) {
	five, two := new(int64(5)), new(int64(2))
	for name, tt := range map[string]struct {
		of        DishSales
		stock     int64
		limited   bool
		sold      int64
		available bool
	}{
		"on no menu":              {nil, 0, false, 0, false},
		"everywhere":              {DishSales{1: {five, 1, true}, 2: {two, 3, true}}, 7, true, 4, true},
		"sold out in one":         {DishSales{1: {new(int64), 9, false}, 2: {two, 3, true}}, 2, true, 12, true},
		"without a limit in one":  {DishSales{1: {five, 1, true}, 2: {nil, 0, true}}, 0, false, 1, true},
		"closed where unlimited":  {DishSales{1: {five, 1, true}, 2: {nil, 0, false}}, 5, true, 1, true},
		"nowhere to be had today": {DishSales{1: {new(int64), 1, false}}, 0, true, 1, false},
	} {
		stock, limited := tt.of.Stock()
		if stock != tt.stock || limited != tt.limited || tt.of.SoldToday() != tt.sold || tt.of.Available() != tt.available {
			t.Errorf("%s: %d left (%t), %d sold, available %t", name, stock, limited, tt.of.SoldToday(), tt.of.Available())
		}
	}
}

func saleText(s DishSale) string {
	left := "no limit"
	if s.Stock != nil {
		left = fmt.Sprint(*s.Stock, " left")
	}
	return fmt.Sprintf("%s, %d sold, %t", left, s.SoldToday, s.Available)
}
