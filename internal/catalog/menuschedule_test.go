package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

func everyDay(from, to string) map[Weekday][]Period {
	week := map[Weekday][]Period{}
	for _, d := range weekdays {
		week[d] = []Period{{From: from, To: to}}
	}
	return week
}

// setOf returns the menus of a branch in Hà Nội with the given schedules. Menu n has version 10n.
func setOf(t *testing.T, schedules ...MenuSchedule) menuSet {
	t.Helper()
	menus := make([]PublishedMenu, len(schedules))
	for i, s := range schedules {
		menus[i] = PublishedMenu{MenuID: int64(i + 1), VersionID: int64(10 * (i + 1)), Schedule: s}
	}
	return testenv.Must(newMenuSet(menus, testenv.Must(NewBranch(hanoi()))(t).Calendar()))(t)
}

// local returns an instant by the clock of Hà Nội.
func local(t *testing.T, text string) time.Time {
	t.Helper()
	zone := testenv.Must(time.LoadLocation("Asia/Ho_Chi_Minh"))(t)
	return testenv.Must(time.ParseInLocation("2006-01-02 15:04:05", text, zone))(t)
}

func TestMenuSet_at(t *testing.T) {
	lunch := MenuSchedule{Weekly: map[Weekday][]Period{"mon": {{From: "11:00", To: "14:00"}}}}
	night := MenuSchedule{Weekly: map[Weekday][]Period{"sat": {{From: "22:00", To: "02:00"}}}, ThroughDate: "2026-12-26"}
	feast := MenuSchedule{FromDate: "2026-12-24", ThroughDate: "2026-12-24", Priority: 5}
	carry := MenuSchedule{Kinds: []OrderKind{PickUp}, Priority: 1}
	// The business day begins at four.
	late := MenuSchedule{Weekly: everyDay("00:30", "03:00"), FromDate: "2026-12-24", ThroughDate: "2026-12-24"}
	round := MenuSchedule{Weekly: everyDay("00:00", "00:00"), FromDate: "2026-12-24", ThroughDate: "2026-12-24"}
	all, none := "DINE_IN DELIVERY PICKUP", ""
	for name, c := range map[string]struct {
		menus  []MenuSchedule
		at     string
		want   map[int64]string // kinds by version
		change string
	}{
		"one menu without a schedule":               {[]MenuSchedule{{}}, "2026-12-21 03:00:00", map[int64]string{10: all}, none},
		"lunch is offered beside the main menu":     {[]MenuSchedule{{}, lunch}, "2026-12-21 11:00:00", map[int64]string{20: all, 10: all}, "2026-12-21 14:00:00"},
		"lunch has not begun":                       {[]MenuSchedule{{}, lunch}, "2026-12-21 10:59:59", map[int64]string{10: all}, "2026-12-21 11:00:00"},
		"lunch has ended":                           {[]MenuSchedule{{}, lunch}, "2026-12-21 14:00:00", map[int64]string{10: all}, "2026-12-28 11:00:00"},
		"no menu":                                   {[]MenuSchedule{lunch}, "2026-12-22 12:00:00", map[int64]string{}, "2026-12-28 11:00:00"},
		"a night lasts past midnight":               {[]MenuSchedule{night}, "2026-12-27 01:59:59", map[int64]string{10: all}, "2026-12-27 02:00:00"},
		"the last night is over":                    {[]MenuSchedule{night}, "2027-01-02 23:00:00", map[int64]string{}, none},
		"a feast replaces the other menus":          {[]MenuSchedule{{}, lunch, feast}, "2026-12-24 12:00:00", map[int64]string{30: all}, "2026-12-25 04:00:00"},
		"a feast lasts for its business day":        {[]MenuSchedule{{}, feast}, "2026-12-25 03:59:59", map[int64]string{20: all}, "2026-12-25 04:00:00"},
		"a feast begins with its business day":      {[]MenuSchedule{{}, feast}, "2026-12-24 03:59:59", map[int64]string{10: all}, "2026-12-24 04:00:00"},
		"a feast far ahead":                         {[]MenuSchedule{{}, feast}, "2026-07-01 12:00:00", map[int64]string{10: all}, "2026-12-24 04:00:00"},
		"after midnight of the first date":          {[]MenuSchedule{late}, "2026-12-25 01:00:00", map[int64]string{10: all}, "2026-12-25 03:00:00"},
		"after midnight before the first date":      {[]MenuSchedule{late}, "2026-12-24 01:00:00", map[int64]string{}, "2026-12-25 00:30:00"},
		"all hours begin with the business day":     {[]MenuSchedule{round}, "2026-12-24 03:59:59", map[int64]string{}, "2026-12-24 04:00:00"},
		"all hours end with the business day":       {[]MenuSchedule{round}, "2026-12-25 03:59:59", map[int64]string{10: all}, "2026-12-25 04:00:00"},
		"all hours are over":                        {[]MenuSchedule{round}, "2026-12-25 04:00:00", map[int64]string{}, none},
		"until the last of all dates":               {[]MenuSchedule{{ThroughDate: "9999-12-31"}}, "2026-12-21 12:00:00", map[int64]string{10: all}, none},
		"from the first of all dates":               {[]MenuSchedule{{FromDate: "0000-01-01"}}, "2026-12-21 12:00:00", map[int64]string{10: all}, none},
		"a menu to pick up replaces for its orders": {[]MenuSchedule{{}, carry}, "2026-12-21 12:00:00", map[int64]string{10: "DINE_IN DELIVERY", 20: "PICKUP"}, none},
	} {
		t.Run(name, func(t *testing.T) {
			set := setOf(t, c.menus...)
			parts, change := set.at(local(t, c.at))
			got := map[int64]string{}
			for _, p := range parts {
				got[p.VersionID] = fmt.Sprint(p.kinds())
				got[p.VersionID] = got[p.VersionID][1 : len(got[p.VersionID])-1]
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("in force are %v, want %v", got, c.want)
			}
			want := time.Time{}
			if c.change != "" {
				want = local(t, c.change)
			}
			if !change.Equal(want) {
				t.Errorf("changes at %v, want %v", change, want)
			}
		})
	}
}

func TestMenuSchedule_Check(t *testing.T) {
	for name, c := range map[string]struct {
		schedule MenuSchedule
		field    string
	}{
		"a day that does not exist":   {MenuSchedule{Weekly: map[Weekday][]Period{"xyz": {}}}, "weekly"},
		"a time that does not exist":  {MenuSchedule{Weekly: map[Weekday][]Period{"mon": {{From: "25:00", To: "26:00"}}}}, "weekly.mon[0]"},
		"periods that overlap":        {MenuSchedule{Weekly: map[Weekday][]Period{"mon": {{From: "10:00", To: "12:00"}, {From: "11:00", To: "13:00"}}}}, "weekly.mon"},
		"a week without a period":     {MenuSchedule{Weekly: map[Weekday][]Period{"mon": {}}}, "weekly"},
		"a night into the next day":   {MenuSchedule{Weekly: map[Weekday][]Period{"mon": {{From: "22:00", To: "05:00"}}, "tue": {{From: "04:00", To: "10:00"}}}}, "weekly.mon"},
		"a date that does not exist":  {MenuSchedule{FromDate: "2026-02-30"}, "fromDate"},
		"a last date of another form": {MenuSchedule{ThroughDate: "24.12.2026"}, "throughDate"},
		"dates in the wrong order":    {MenuSchedule{FromDate: "2026-12-25", ThroughDate: "2026-12-24"}, "throughDate"},
		"an unknown kind":             {MenuSchedule{Kinds: []OrderKind{"ROOM"}}, "kinds[0]"},
		"a kind twice":                {MenuSchedule{Kinds: []OrderKind{DineIn, DineIn}}, "kinds[1]"},
		"a negative priority":         {MenuSchedule{Priority: -1}, "priority"},
		"a priority too high":         {MenuSchedule{Priority: 101}, "priority"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.schedule.Check(testenv.Must(NewBranch(hanoi()))(t).Calendar())
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Invalid || f.Extra["field"] != c.field {
				t.Errorf("got %v, want a refusal of %s", err, c.field)
			} else if strings.Contains(strings.ToLower(f.Detail), "opening hours") {
				t.Errorf("%q speaks of the branch, want a sentence about the menu", f.Detail)
			}
		})
	}
}

func TestEdition_Combine(t *testing.T) {
	item := func(id, dish, version, price int64) Item {
		return Item{ID: id, DishID: dish, CategoryID: dish, Version: version, Price: price, Active: true}
	}
	all := NewEdition(CombinationID(1, []MenuPart{{10, nil}, {20, nil}}), 1, []Category{{ID: 1}, {ID: 2}, {ID: 3}},
		[]Item{item(11, 1, 10, 100), item(21, 1, 20, 80), item(12, 2, 10, 50), item(23, 3, 20, 30)})

	one := all.Combine([]MenuPart{{VersionID: 10}})
	if got, ok := one.Item(11); one.VersionID != 10 || len(one.Items) != 2 || len(one.Categories) != 2 || !ok || got.Version != 0 {
		t.Errorf("one version is %+v", one)
	}
	both := all.Combine([]MenuPart{{VersionID: 20}, {VersionID: 10}})
	if got, _ := both.OfDish(1); !IsCombination(both.VersionID) || len(both.Items) != 4 || got.ID != 21 || both.VersionOf(got) != 20 {
		t.Errorf("both versions are %+v, and dish 1 is %+v", both, got)
	}
	if got, _ := both.Item(21); got.Regular != 100 {
		t.Errorf("the regular price is %d, want that of the main menu", got.Regular)
	}
	// The main menu's item stays for its combos, but guests cannot order it.
	if got, ok := both.Item(11); !ok || got.Offered(DineIn) {
		t.Errorf("the dish of the main menu is %+v, %v", got, ok)
	}
	split := all.Combine([]MenuPart{{20, []OrderKind{PickUp}}, {VersionID: 10}})
	main, _ := split.Item(11)
	carry, _ := split.Item(21)
	if !main.Offered(DineIn) || main.Offered(PickUp) || carry.Offered(DineIn) || !carry.Offered(PickUp) {
		t.Errorf("at the table %+v, to pick up %+v", main, carry)
	}
	// A menu for other kinds of orders has no regular price for these.
	for name, c := range map[string]struct {
		parts []MenuPart
		want  int64
	}{
		"dear to pick up":                 {[]MenuPart{{20, []OrderKind{DineIn}}, {10, []OrderKind{PickUp}}}, 0},
		"at all hours for one of two":     {[]MenuPart{{20, []OrderKind{DineIn, Delivery}}, {10, []OrderKind{PickUp, Delivery}}}, 0},
		"at all hours for the same kinds": {[]MenuPart{{20, []OrderKind{DineIn}}, {10, []OrderKind{DineIn, PickUp}}}, 100},
	} {
		if got, _ := all.Combine(c.parts).Item(21); got.Regular != c.want {
			t.Errorf("%s: the regular price is %d, want %d", name, got.Regular, c.want)
		}
	}
	// A dish that one menu lists as unavailable is shown once if another menu offers it, and only to the kinds of orders of its
	// own menu.
	off := slices.Clone(all.Items)
	off[1].Active = false // dish 1 on version 20
	lists := NewEdition(all.VersionID, 1, all.Categories, off)
	if got, _ := lists.Combine([]MenuPart{{VersionID: 20}, {VersionID: 10}}).Item(21); got.Shown() {
		t.Errorf("the unavailable dish is shown beside the available one: %+v", got)
	}
	alone, _ := lists.Combine([]MenuPart{{20, []OrderKind{DineIn}}, {10, []OrderKind{PickUp}}}).Item(21)
	if !alone.Shown(DineIn) || alone.Shown(PickUp) || alone.Regular != 0 {
		t.Errorf("the unavailable dish of the menu at the table is %+v", alone)
	}
	if none := all.Combine(nil); len(none.Items) != 0 || len(none.Categories) != 0 || !IsCombination(none.VersionID) {
		t.Errorf("no version is %+v", none)
	}
	if a, b := CombinationID(1, []MenuPart{{VersionID: 10}, {VersionID: 20}}), CombinationID(2, []MenuPart{{VersionID: 10}, {VersionID: 20}}); a == b {
		t.Errorf("two branches have the combination %d", a)
	}
}

// TestMenuSet_agrees_with_minutes compares the set with a model that looks at each menu alone.
func TestMenuSet_agrees_with_minutes(t *testing.T) {
	calendar := testenv.Must(NewBranch(hanoi()))(t).Calendar()
	rapid.Check(t, func(r *rapid.T) {
		var menus []PublishedMenu
		var covers []func(OrderKind, time.Time) bool
		for i := range rapid.IntRange(1, 4).Draw(r, "menus") {
			from, length := rapid.IntRange(0, 23).Draw(r, "from"), rapid.IntRange(1, 12).Draw(r, "hours")
			day := rapid.IntRange(0, 6).Draw(r, "day")
			kinds := rapid.SliceOfNDistinct(rapid.SampledFrom(orderKinds), 0, 2, rapid.ID[OrderKind]).Draw(r, "kinds")
			always := rapid.Bool().Draw(r, "always")
			s := MenuSchedule{Kinds: kinds, Priority: rapid.IntRange(0, 2).Draw(r, "priority")}
			if !always {
				s.Weekly = map[Weekday][]Period{weekdays[day]: {{
					From: fmt.Sprintf("%02d:00", from), To: fmt.Sprintf("%02d:00", (from+length)%24),
				}}}
			}
			date := func(name string) string {
				if rapid.Bool().Draw(r, name+"Limited") {
					return time.Date(2026, 3, rapid.IntRange(2, 17).Draw(r, name), 0, 0, 0, 0, time.UTC).Format(dateLayout)
				}
				return ""
			}
			if s.FromDate, s.ThroughDate = date("fromDate"), date("throughDate"); s.ThroughDate < s.FromDate {
				s.ThroughDate = ""
			}
			menus = append(menus, PublishedMenu{int64(i + 1), int64(i + 1), s})
			covers = append(covers, func(k OrderKind, at time.Time) bool {
				hour := int(at.Weekday())*24 + at.Hour()
				begin := day*24 + from
				inside := hour >= begin && hour < begin+length || hour+7*24 < begin+length
				biz := calendar.BizDate(at)
				offered := biz >= s.FromDate && (s.ThroughDate == "" || biz <= s.ThroughDate)
				return offered && (always || inside) && (len(kinds) == 0 || slices.Contains(kinds, k))
			})
		}
		set, err := newMenuSet(menus, calendar)
		if err != nil {
			r.Fatal(err)
		}
		start := time.Date(2026, 3, 2, 0, 0, 0, 0, calendar.Zone())
		at := start.Add(time.Duration(rapid.IntRange(0, 14*24*60).Draw(r, "minute")) * time.Minute)
		parts, change := set.at(at)
		for i, m := range set.menus {
			for _, k := range orderKinds {
				own := int(m.MenuID) - 1
				want := covers[own](k, at)
				for other := range menus {
					want = want && (menus[other].Schedule.Priority <= menus[own].Schedule.Priority || !covers[other](k, at))
				}
				p := slices.IndexFunc(parts, func(p MenuPart) bool { return p.VersionID == m.VersionID })
				if got := p >= 0 && slices.Contains(parts[p].kinds(), k); got != want || set.offers(i, k, at) != want {
					r.Fatalf("menu %d is offered to %s at %v: %v, want %v", m.MenuID, k, at, got, want)
				}
			}
		}
		// Nothing changes before the instant of the next change.
		if !change.IsZero() {
			if !change.After(at) {
				r.Fatalf("the next change at %v is not after %v", change, at)
			}
			if last, _ := set.at(change.Add(-time.Millisecond)); fmt.Sprint(last) != fmt.Sprint(parts) {
				r.Fatalf("before the change at %v: %v, want %v", change, last, parts)
			}
		}
	})
}

func TestSnapshot_InForce(t *testing.T) {
	lunch := MenuSchedule{Weekly: everyDay("11:00", "14:00")}
	b := testenv.Must(NewBranch(hanoi()))(t)
	menus := []PublishedMenu{{MenuID: 1, VersionID: 10}, {MenuID: 2, VersionID: 20, Schedule: lunch}}
	edition := NewEdition(CombinationID(1, []MenuPart{{20, nil}, {10, nil}}), 1, nil,
		[]Item{{ID: 11, DishID: 1, Version: 10, Active: true}, {ID: 22, DishID: 2, Version: 20, Active: true}})
	s := testenv.Must(newSnapshot(b, Content{Menus: menus, Edition: edition}, local(t, "2026-12-21 12:00:00")))(t)
	if got, want := s.Ends(Item{Version: 20}), local(t, "2026-12-21 14:00:00"); !got.Equal(want) || !s.Ends(Item{Version: 10}).IsZero() {
		t.Errorf("lunch ends at %v, want %v, and the main menu at %v, want never", got, want, s.Ends(Item{Version: 10}))
	}
	for at, want := range map[string]bool{
		"2026-12-21 10:59:59": false, "2026-12-21 11:00:00": true, "2026-12-21 14:09:59": true, "2026-12-21 14:10:00": false,
	} {
		if got := s.InForce(Item{Version: 20}, DineIn, local(t, at)); got != want {
			t.Errorf("lunch is in force at %s: %v", at, got)
		}
	}
	if !s.InForce(Item{Version: 10}, DineIn, local(t, "2026-12-21 23:00:00")) {
		t.Error("the main menu is not in force at night")
	}
	// Another process may just have published it.
	if !s.InForce(Item{Version: 99}, DineIn, local(t, "2026-12-21 23:00:00")) {
		t.Error("an unknown version is not in force")
	}
}

// scheduled is a source of a branch with a main menu and a lunch menu.
type scheduled struct {
	oneMenu

	added [][]MenuPart
}

func (s *scheduled) AddCombination(_ context.Context, _ int64, parts []MenuPart, _ time.Time) error {
	s.added = append(s.added, parts)
	return errors.New("the table is missing")
}

func TestMenuCache_follows_schedules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock of the bubble begins on 2000-01-01 at midnight UTC
		menus := []PublishedMenu{
			{MenuID: 2, VersionID: 20, Schedule: MenuSchedule{Weekly: everyDay("11:00", "14:00")}}, {MenuID: 1, VersionID: 10},
		}
		edition := NewEdition(CombinationID(1, []MenuPart{{20, nil}, {10, nil}}), 1, nil,
			[]Item{{ID: 11, DishID: 1, Version: 10, Active: true}, {ID: 22, DishID: 2, Version: 20, Active: true}})
		source := &scheduled{oneMenu: oneMenu{Content{Menus: menus, Edition: edition}}}
		var step time.Duration // by which the clock was set
		cache := NewMenuCache(source, NoSharedCache{}, func() time.Time { return time.Now().Add(step) })
		items := func() int { return len(testenv.Must(cache.Active(t.Context(), 1))(t).Items) }
		if got := items(); got != 1 { // 07:00 in Hà Nội
			t.Fatalf("%d items in the morning, want 1", got)
		}
		time.Sleep(4*time.Hour + time.Second)
		testenv.Equal(t, 2, items())
		combined := testenv.Must(cache.Active(t.Context(), 1))(t)
		if again := testenv.Must(cache.Active(t.Context(), 1))(t); again != combined {
			t.Error("an unchanged menu is another pointer")
		}
		time.Sleep(3 * time.Hour)
		testenv.Equal(t, 1, items())
		// An order that began at lunch names the combination.
		if old := testenv.Must(cache.Version(t.Context(), 1, combined.VersionID))(t); len(old.Items) != 2 {
			t.Errorf("the menu of lunch has %d items later, want 2", len(old.Items))
		}
		step = -3 * time.Hour // back to lunch
		time.Sleep(2 * time.Second)
		testenv.Equal(t, 2, items())
		if len(source.added) != 2 || len(source.added[0]) != 2 {
			t.Errorf("stored combinations are %v, want one of two versions, twice", source.added)
		}
	})
}
