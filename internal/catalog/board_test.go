package catalog

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// counters is Availability in memory.
type counters struct {
	mu    sync.Mutex
	left  map[int64]int64
	err   error
	asked int
	dates []string
}

func (c *counters) Left(_ context.Context, _ int64, date string, items []int64) (map[int64]int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
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

func onBoard(t *testing.T, test func(t *testing.T, s *shelf, c *counters, b *Boards)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, c := &shelf{revision: 1, price: 100}, &counters{}
		test(t, s, c, NewBoards(NewMenus(s, Alone{}, time.Now), c, time.Now))
		time.Sleep(readTimeout) // readings under way end within it
	})
}

func board(t *testing.T, b *Boards) *Board {
	t.Helper()
	got, err := b.Get(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestBoard_Left(t *testing.T) {
	onBoard(t, func(t *testing.T, _ *shelf, c *counters, b *Boards) {
		for _, tt := range []struct {
			counted map[int64]int64
			left    int64
			limited bool
		}{
			{nil, 20, true}, // nothing is counted yet: the whole quota
			{map[int64]int64{11: 7}, 7, true},
			{map[int64]int64{11: 0}, 0, true},
			{map[int64]int64{11: -1}, 0, false},   // unlimited today
			{map[int64]int64{11: 1500}, 20, true}, // for so many the stock is enough, and nothing is counted yet
		} {
			c.set(tt.counted, nil)
			time.Sleep(time.Second)
			if left, limited := board(t, b).Left(11); left != tt.left || limited != tt.limited {
				t.Errorf("counted %v: %d left, %t", tt.counted, left, limited)
			}
			if _, limited := board(t, b).Left(12); limited {
				t.Error("an item without a quota is limited")
			}
		}
	})
}

func TestBoards_Get_is_never_older_than_a_quarter_of_a_second(t *testing.T) {
	onBoard(t, func(t *testing.T, _ *shelf, c *counters, b *Boards) {
		for n := int64(20); n > 0; n-- {
			c.set(map[int64]int64{11: n}, nil)
			for range 25 { // somebody asks every 10 ms
				time.Sleep(10 * time.Millisecond)
				board(t, b)
			}
			if left, _ := board(t, b).Left(11); left != n {
				t.Errorf("after 250 ms %d are left, want %d", left, n)
			}
		}
		if c.asked > 30 {
			t.Errorf("in five seconds the counters were asked %d times", c.asked)
		}
	})
}

func TestBoards_Get_keeps_its_pointer(t *testing.T) {
	onBoard(t, func(t *testing.T, s *shelf, c *counters, b *Boards) {
		c.set(map[int64]int64{11: 5}, nil)
		first := board(t, b)
		for range 10 {
			time.Sleep(400 * time.Millisecond)
			if board(t, b) != first {
				t.Fatal("an unchanged board has another pointer")
			}
		}
		s.change(func() { s.revision, s.price = 2, 200 })
		time.Sleep(4 * time.Second)
		if second := board(t, b); second == first || second.Items[0].Price != 200 {
			t.Error("a new menu was not seen")
		}
	})
}

// I14: the board changes its date with the branch, at four in the morning in Hà Nội.
func TestBoards_Get_follows_the_business_date(t *testing.T) {
	onBoard(t, func(t *testing.T, _ *shelf, _ *counters, b *Boards) { // a bubble begins on 2000-01-01 at 00:00 UTC
		if got := board(t, b).Date; got != "2000-01-01" {
			t.Errorf("the date is %s", got)
		}
		time.Sleep(21*time.Hour - time.Second)
		if got := board(t, b).Date; got != "2000-01-01" {
			t.Errorf("a second before four the date is %s", got)
		}
		time.Sleep(time.Second)
		if got := board(t, b).Date; got != "2000-01-02" {
			t.Errorf("at four the date is %s", got)
		}
	})
}

func TestBoards_Get_while_the_counters_are_down(t *testing.T) {
	onBoard(t, func(t *testing.T, _ *shelf, c *counters, b *Boards) {
		c.set(nil, errDown)
		if _, err := b.Get(t.Context(), 1); err == nil {
			t.Error("a board was made without counters")
		}
		c.set(map[int64]int64{11: 3}, nil)
		board(t, b)
		c.set(nil, errDown)
		time.Sleep(time.Minute)
		if left, _ := board(t, b).Left(11); left != 3 {
			t.Errorf("%d are left", left)
		}
	})
}

// What is off is sold out whatever the counters still say, and a pause ends on the board without anybody's doing.
func TestBoards_Get_shows_what_is_off_and_paused(t *testing.T) {
	onBoard(t, func(t *testing.T, s *shelf, c *counters, b *Boards) {
		c.set(map[int64]int64{11: 7}, nil)
		board(t, b)
		pause := &Pause{Code: PauseBusy, Until: time.Now().Add(time.Hour)}
		s.change(func() { s.revision, s.off, s.pause = 2, []int64{11, 12}, pause })
		time.Sleep(4 * time.Second)
		for _, item := range []int64{11, 12} { // with a quota and without
			if left, limited := board(t, b).Left(item); left != 0 || !limited {
				t.Errorf("%d are left of item %d", left, item)
			}
		}
		if p := board(t, b).Pause; p == nil || p.Code != PauseBusy {
			t.Errorf("the board says %+v", p)
		}
		time.Sleep(time.Hour)
		if p := board(t, b).Pause; p != nil {
			t.Errorf("after its end the board says %+v", p)
		}
	})
}

// The stored form of a menu brings everything back.
func TestContent_JSON(t *testing.T) {
	want := Content{
		Revision: 3, Edition: NewEdition(5, 1, 1, []Category{{ID: 1}}, []Item{{ID: 11, Price: 5}}),
		Quotas: map[int64]int64{11: 20}, Off: []int64{11},
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Content
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}
