package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"comanda/internal/money"
	"comanda/internal/testenv"
)

// counters is an in-memory Levels.
type counters struct {
	mu    sync.Mutex
	left  map[int64]int64
	err   error
	calls int
	dates []string
}

func (c *counters) Left(_ context.Context, _ int64, date string, items []int64) (map[int64]int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.dates = append(c.dates, date)
	got := map[int64]int64{}
	for _, id := range items {
		if n, ok := c.left[id]; ok {
			got[id] = n
		}
	}
	return got, c.err
}

func (c *counters) set(left map[int64]int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.err = left, err
}

func withLiveMenus(t *testing.T, test func(t *testing.T, s *source, c *counters, b *LiveMenus)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, c := &source{revision: 1, price: 100}, &counters{}
		test(t, s, c, NewLiveMenus(NewMenuCache(s, NoSharedCache{}, time.Now), c, time.Now))
		time.Sleep(readTimeout) // loads that still run end within it
	})
}

func liveMenu(t *testing.T, b *LiveMenus) *LiveMenu {
	t.Helper()
	return testenv.Must(b.Get(t.Context(), 1))(t)
}

func TestLiveMenu_Left(t *testing.T) {
	withLiveMenus(t, func(t *testing.T, _ *source, c *counters, b *LiveMenus) {
		for _, tt := range []struct {
			counted map[int64]int64
			left    int64
			limited bool
		}{
			{nil, 20, true}, // no counter yet: the whole quota
			{map[int64]int64{11: 7}, 7, true},
			{map[int64]int64{11: 0}, 0, true},
			{map[int64]int64{11: -1}, 0, false},   // unlimited today
			{map[int64]int64{11: 1500}, 20, true}, // the level of stock, without a counter
		} {
			c.set(tt.counted, nil)
			time.Sleep(time.Second)
			if left, limited := liveMenu(t, b).Left(11); left != tt.left || limited != tt.limited {
				t.Errorf("counted %v: %d left, %t", tt.counted, left, limited)
			}
			if _, limited := liveMenu(t, b).Left(12); limited {
				t.Error("an item without a quota is limited")
			}
		}
	})
}

func TestLiveMenus_Get_is_never_older_than_a_quarter_of_a_second(t *testing.T) {
	withLiveMenus(t, func(t *testing.T, _ *source, c *counters, b *LiveMenus) {
		for n := int64(20); n > 0; n-- {
			c.set(map[int64]int64{11: n}, nil)
			for range 25 { // one call every 10 ms
				time.Sleep(10 * time.Millisecond)
				liveMenu(t, b)
			}
			if left, _ := liveMenu(t, b).Left(11); left != n {
				t.Errorf("after 250 ms %d are left, want %d", left, n)
			}
		}
		if c.calls > 30 {
			t.Errorf("in five seconds the levels were read %d times", c.calls)
		}
	})
}

func TestLiveMenus_Get_keeps_its_pointer(t *testing.T) {
	withLiveMenus(t, func(t *testing.T, s *source, c *counters, b *LiveMenus) {
		c.set(map[int64]int64{11: 5}, nil)
		first := liveMenu(t, b)
		for range 10 {
			time.Sleep(400 * time.Millisecond)
			if liveMenu(t, b) != first {
				t.Fatal("an unchanged menu has another pointer")
			}
		}
		s.change(func() { s.revision, s.price = 2, 200 })
		time.Sleep(4 * time.Second)
		if second := liveMenu(t, b); second == first || second.Items[0].Price != 200 {
			t.Error("a new menu was not seen")
		}
	})
}

// I14: the business date changes at the branch's start hour, four in the morning in Hà Nội.
func TestLiveMenus_Get_follows_the_business_date(t *testing.T) {
	withLiveMenus(t, func(t *testing.T, _ *source, _ *counters, b *LiveMenus) { // a synctest bubble starts at 2000-01-01 at 00:00 UTC
		testenv.Equal(t, "2000-01-01", liveMenu(t, b).Date)
		time.Sleep(21*time.Hour - time.Second)
		if got := liveMenu(t, b).Date; got != "2000-01-01" {
			t.Errorf("a second before four the date is %s", got)
		}
		time.Sleep(time.Second)
		testenv.Equal(t, "2000-01-02", liveMenu(t, b).Date)
	})
}

func TestLiveMenus_Get_while_the_counters_are_down(t *testing.T) {
	withLiveMenus(t, func(t *testing.T, _ *source, c *counters, b *LiveMenus) {
		c.set(nil, errDown)
		if _, err := b.Get(t.Context(), 1); err == nil {
			t.Error("a menu was returned without levels")
		}
		c.set(map[int64]int64{11: 3}, nil)
		liveMenu(t, b)
		c.set(nil, errDown)
		time.Sleep(time.Minute)
		if left, _ := liveMenu(t, b).Left(11); left != 3 {
			t.Errorf("%d are left", left)
		}
	})
}

// An item that is off is sold out whatever the levels say, and a pause ends without a change in SQL.
func TestLiveMenus_Get_shows_unavailable_items_and_pauses(t *testing.T) {
	withLiveMenus(t, func(t *testing.T, s *source, c *counters, b *LiveMenus) {
		c.set(map[int64]int64{11: 7}, nil)
		liveMenu(t, b)
		pause := &Pause{Code: PauseBusy, Until: time.Now().Add(time.Hour)}
		s.change(func() { s.revision, s.off, s.pause = 2, []int64{11, 12}, pause })
		time.Sleep(4 * time.Second)
		for _, item := range []int64{11, 12} { // with a quota and without
			if left, limited := liveMenu(t, b).Left(item); left != 0 || !limited {
				t.Errorf("%d are left of item %d", left, item)
			}
		}
		if p := liveMenu(t, b).Pause; p == nil || p.Code != PauseBusy {
			t.Errorf("the pause is %+v", p)
		}
		time.Sleep(time.Hour)
		if p := liveMenu(t, b).Pause; p != nil {
			t.Errorf("after its end the pause is %+v", p)
		}
	})
}

// Content survives its JSON form.
func TestContent_JSON(t *testing.T) {
	want := Content{
		Revision: 3, Edition: NewEdition(5, 1, []Category{{ID: 1}}, []Item{{ID: 11, Price: 5}}),
		Quotas: map[int64]int64{11: 20}, Off: []int64{11},
	}
	text := testenv.Must(json.Marshal(want))(t)
	var got Content
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("content after a JSON round trip = %+v, %v, want %+v", got, err, want)
	}
}

// oneMenu is a Source with one branch.
type oneMenu struct{ content Content }

func (m *oneMenu) Branch(context.Context, int64) (Branch, error) {
	return NewBranch(Branch{
		ID: 1, Name: "Hà Nội", Currency: money.VND, Timezone: "Asia/Ho_Chi_Minh", DayStart: 4, Locales: []Locale{English},
		AutoClose: time.Hour, Open: true,
	})
}

func (m *oneMenu) Edition(context.Context, int64) (*Edition, error) { return m.content.Edition, nil }

func (m *oneMenu) AddCombination(context.Context, int64, []MenuPart, time.Time) error { return nil }

func (m *oneMenu) Content(context.Context, int64) (Content, error) { return m.content, nil }

// levels are limits by quota and stock, of whichever items are asked for.
type levels map[int64]int64

func (l levels) Left(context.Context, int64, string, []int64) (map[int64]int64, error) {
	return maps.Clone(l), nil
}

// Options follow what is off, their stock and the dishes that they stand for; a dish follows its required groups.
func TestLiveMenu_options(t *testing.T) {
	nested := MenuOption{ID: 4, Groups: []OptionGroup{{ID: 20, Min: 1, MaxEach: 1, Options: []MenuOption{{ID: 5}}}}}
	required := []OptionGroup{{ID: 10, Min: 2, MaxEach: 1, Options: []MenuOption{{ID: 1}, {ID: 2, Component: 99}, {ID: 3}, nested}}}
	for name, c := range map[string]struct {
		off         []int64
		left        map[int64]int64
		quotas      map[int64]int64
		unavailable []int64
		soldOut     bool
	}{
		"all":                         {nil, nil, nil, nil, false},
		"one is off":                  {[]int64{1}, nil, nil, []int64{1}, false},
		"its stock is used up":        {nil, map[int64]int64{OptionLevel(1): 0}, nil, []int64{1}, false},
		"its stock suffices":          {nil, map[int64]int64{OptionLevel(1): 3}, nil, nil, false},
		"its dish is sold out":        {nil, map[int64]int64{99: 0}, map[int64]int64{99: 20}, []int64{2}, false},
		"its own group has none left": {[]int64{5}, nil, nil, []int64{4, 5}, false},
		"too few are left":            {[]int64{1, 3, 5}, nil, nil, []int64{1, 3, 4, 5}, true},
	} {
		t.Run(name, func(t *testing.T) {
			item := Item{ID: 11, Active: true, Groups: required}
			shelf := &oneMenu{Content{Edition: NewEdition(5, 1, nil, []Item{item}), Quotas: c.quotas, OffOptions: c.off}}
			now := func() time.Time { return time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC) }
			m := testenv.Must(NewLiveMenus(NewMenuCache(shelf, NoSharedCache{}, now), levels(c.left), now).Get(t.Context(), 1))(t)
			testenv.Equal(t, c.unavailable, m.Unavailable(&item))
			if left, limited := m.Left(11); (limited && left == 0) != c.soldOut {
				t.Errorf("%d units are left, limited %t, want sold out %t", left, limited, c.soldOut)
			}
		})
	}
}

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

// A dish of several menus is sold under the first item with units left, so it is sold out only if it is on all of them.
func TestLiveMenu_OfDish(t *testing.T) {
	e := NewEdition(5, 1, nil, []Item{
		{ID: 10, DishID: 4, Kinds: []OrderKind{DineIn}, Active: true}, {ID: 11, DishID: 4, Kinds: []OrderKind{Delivery}, Active: true},
		{ID: 12, DishID: 4, Kinds: []OrderKind{PickUp}}, {ID: 13, DishID: 4, Kinds: []OrderKind{PickUp}, Active: true},
	})
	for _, c := range []struct {
		left    map[int64]int64
		lacking []int64
		want    int64
	}{
		{nil, nil, 11},
		{map[int64]int64{11: 1, 13: 5}, nil, 11},
		{map[int64]int64{11: 0, 13: 5}, nil, 13},
		{map[int64]int64{11: 0}, nil, 13},
		{nil, []int64{11}, 13}, // its required options are off
		{map[int64]int64{11: 0, 13: 0}, nil, 11},
	} {
		m := &LiveMenu{Snapshot: &Snapshot{Edition: e}, left: c.left, lacking: c.lacking}
		if it, ok := m.OfDish(4, Delivery, PickUp); !ok || it.ID != c.want {
			t.Errorf("with %v left and %v lacking the dish is item %d, want %d", c.left, c.lacking, it.ID, c.want)
		}
		if it, _ := m.OfDish(4, Delivery); it.ID != 11 {
			t.Errorf("with %v left the dish is item %d for delivery, want 11", c.left, it.ID)
		}
	}
	if _, ok := (&LiveMenu{Snapshot: &Snapshot{Edition: e}}).OfDish(5, PickUp); ok {
		t.Error("an unknown dish has an item")
	}
}

// A dish is sold under its first offered item, or under its first item if none is offered.
func TestEdition_OfDish(t *testing.T) {
	e := NewEdition(5, 1, nil, []Item{
		{ID: 11, DishID: 4, Active: true}, {ID: 12, DishID: 4, Active: true}, {ID: 13, DishID: 5}, {ID: 14, DishID: 5, Active: true},
		{ID: 15, DishID: 6}, {ID: 16, DishID: 6}, {ID: 17, DishID: 7, Active: true}, {ID: 18, DishID: 7},
	})
	for dish, want := range map[int64]int64{4: 11, 5: 14, 6: 15, 7: 17, 8: 0, 0: 0, 11: 0} {
		if it, ok := e.OfDish(dish); it.ID != want || ok != (want != 0) {
			t.Errorf("dish %d is item %d, %t; want %d", dish, it.ID, ok, want)
		}
	}
	kinds := NewEdition(5, 1, nil, []Item{
		{ID: 11, DishID: 4, Kinds: []OrderKind{DineIn}, Active: true}, {ID: 12, DishID: 4, Kinds: []OrderKind{PickUp}},
		{ID: 13, DishID: 4, Kinds: []OrderKind{Delivery}, Active: true},
	})
	for kind, want := range map[OrderKind]int64{DineIn: 11, PickUp: 12, Delivery: 13} {
		if it, _ := kinds.OfDish(4, kind); it.ID != want {
			t.Errorf("for %s the dish is item %d, want %d", kind, it.ID, want)
		}
	}
	if it, _ := kinds.OfDish(4, PickUp, Delivery); it.ID != 13 {
		t.Errorf("to take away the dish is item %d, want the offered one", it.ID)
	}
	if _, ok := NewEdition(1, 1, nil, nil).OfDish(4); ok {
		t.Error("an empty menu has a dish")
	}
}
