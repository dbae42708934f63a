package ordering_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/ordering"
	"comanda/internal/testenv"
)

// boardFeed fakes a branch's kitchen: its catalog, board reader and notifications.
type boardFeed struct {
	ordering.Subscriptions

	t       *testing.T
	mu      sync.Mutex
	now     time.Time
	rows    ordering.BoardRows
	queries []ordering.BoardQuery
	err     error
	reads   chan struct{} // receives a value at each read if there is room

	defect chan struct{} // reads panic once it is closed
}

func (f *boardFeed) Branch(_ context.Context, id int64) (catalog.Branch, error) {
	if id != 1 {
		return catalog.Branch{}, catalog.ErrBranch
	}
	return catalog.NewBranch(catalog.Branch{
		ID: 1, Name: "Test", Currency: "VND", Timezone: "Asia/Ho_Chi_Minh", DayStart: 4, AutoClose: time.Hour, Open: true,
		Locales: []catalog.Locale{catalog.Vietnamese},
	})
}

func (*boardFeed) Version(context.Context, int64, int64) (*catalog.Snapshot, error) {
	return nil, catalog.ErrVersion
}

func (f *boardFeed) Board(_ context.Context, q ordering.BoardQuery) (ordering.BoardRows, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queries = append(f.queries, q)
	select {
	case <-f.defect:
		panic("a defect")
	case f.reads <- struct{}{}:
	default:
	}
	r := f.rows
	r.Tickets = append([]ordering.Ticket{}, r.Tickets...)
	return r, f.err
}

func (f *boardFeed) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *boardFeed) time() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *boardFeed) boards(every time.Duration) *ordering.BoardHub {
	return &ordering.BoardHub{Reader: f, Catalog: f, Changes: f, Interval: every, Log: slog.New(slog.DiscardHandler), Now: f.time}
}

func newBoardFeed(t *testing.T) *boardFeed {
	threeAtNight := time.Date(2026, 2, 26, 20, 0, 0, 0, time.UTC) // in the branch's time zone
	return &boardFeed{t: t, now: threeAtNight, reads: make(chan struct{}, 1), defect: make(chan struct{})}
}

var anywhere = authz.Actor{Kind: authz.Service, AllBranches: true}

func ticket(id string, version int64, status ordering.Status, items ...ordering.Item) ordering.Ticket {
	return ordering.Ticket{Table: ordering.Table{ID: 1, Label: "T1"}, Order: ordering.Order{
		ID: id, Version: version, Status: status, PaymentStatus: ordering.Paid, PaidAt: time.UnixMilli(version), Items: items,
	}}
}

func dish(id, qty int64, done bool) ordering.Item {
	it := ordering.Item{ItemID: id * 10, DishID: id, Name: fmt.Sprint("dish ", id), Qty: qty}
	if done {
		it.DoneAt = time.UnixMilli(1)
	}
	return it
}

// A board's query selects the business date and, early in the day, the orders of the previous date that were paid
// lately.
func TestBoardHub_reads_the_current_day(t *testing.T) {
	w := newBoardFeed(t)
	b, err := w.boards(0).Get(t.Context(), anywhere, 1)
	if err != nil || b.Date != "2026-02-26" || b.At != w.now {
		t.Fatalf("Get = %+v, %v, want the board of 2026-02-26 at %v", b, err, w.now)
	}
	want := ordering.BoardQuery{
		Branch: 1, Date: "2026-02-26", PaidSince: w.now.Add(-4 * time.Hour),
		ServedSince: w.now.Add(-30 * time.Minute), Limit: ordering.MaxTickets + 1,
	}
	testenv.Equal(t, want, w.queries[0])
	for at, before := range map[time.Duration]string{1: "2026-02-26", 5: "2026-02-26", 6: ""} { // days end at four
		late := newBoardFeed(t)
		late.now = late.now.Add(at * time.Hour)
		b, err := late.boards(0).Get(t.Context(), anywhere, 1)
		if err != nil || b.Date != "2026-02-27" || late.queries[0].DateBefore != before {
			t.Errorf("%d hours later: %+v, %v, %+v", at, b, err, late.queries[0])
		}
	}
	for _, c := range []struct {
		by     authz.Actor
		branch int64
	}{{anywhere, 2}, {authz.Actor{Kind: authz.Account, Branches: []int64{2}}, 1}} {
		if _, err := w.boards(0).Get(t.Context(), c.by, c.branch); !errors.Is(err, catalog.ErrBranch) {
			t.Errorf("Get with %+v: error %v, want ErrBranch", c, err)
		}
		if _, _, err := w.boards(0).Follow(t.Context(), c.by, c.branch); !errors.Is(err, catalog.ErrBranch) {
			t.Errorf("Follow with %+v: error %v, want ErrBranch", c, err)
		}
	}
}

// AllDay counts only dishes that must still be cooked: no line that is done, ready, unpaid or voided.
func TestBoard_allDay(t *testing.T) {
	w := newBoardFeed(t)
	voided := ticket("v", 1, ordering.Placed, dish(1, 100, false))
	voided.PaymentStatus = ordering.RefundDue
	w.rows = ordering.BoardRows{
		Tickets: []ordering.Ticket{
			ticket("b", 3, ordering.Accepted, dish(1, 2, false), dish(3, 1, false)),
			ticket("a", 2, ordering.Preparing, dish(2, 1, false), dish(1, 5, true), dish(1, 1, false)),
			ticket("r", 4, ordering.Ready, dish(1, 10, false)), voided,
		},
		Awaiting:   []ordering.Ticket{ticket("u", 5, ordering.Placed, dish(1, 50, false))},
		Served:     []ordering.Ticket{ticket("s", 6, ordering.Served, dish(1, 60, false))},
		Categories: map[int64]int64{1: 7, 2: 8, 3: 7},
	}
	b := testenv.Must(w.boards(0).Get(t.Context(), anywhere, 1))(t)
	want := []ordering.DishCount{
		{DishID: 2, Category: 8, Name: "dish 2", Qty: 1}, {DishID: 1, Category: 7, Name: "dish 1", Qty: 3},
		{DishID: 3, Category: 7, Name: "dish 3", Qty: 1},
	} // by oldest ticket
	testenv.Equal(t, want, b.AllDay(0))
	testenv.Equal(t, want[1:], b.AllDay(7))
	if b.CategoryOf(2) != 8 || b.CategoryOf(99) != 0 {
		t.Errorf("categories %d, %d", b.CategoryOf(2), b.CategoryOf(99))
	}
}

// Sizes of a dish are counted apart, and their other options beside them.
func TestBoard_allDay_options(t *testing.T) {
	w := newBoardFeed(t)
	tea := func(size, short string, qty, pearls int64) ordering.Item {
		id := map[string]int64{"Medium": 1, "Large": 2}[size]
		lines := []catalog.OptionLine{{OptionID: id, Kind: catalog.SizeGroup, Name: size, ShortName: short, Qty: 1}}
		if pearls > 0 {
			lines = append(lines, catalog.OptionLine{OptionID: 3, Kind: catalog.ChoiceGroup, Name: "Pearls", Qty: pearls})
		}
		it := dish(1, qty, false)
		it.Options = catalog.EncodeOptionLines(lines)
		return it
	}
	w.rows = ordering.BoardRows{
		Tickets: []ordering.Ticket{
			ticket("a", 2, ordering.Accepted, tea("Large", "L", 2, 2), tea("Medium", "", 1, 0)),
			ticket("b", 3, ordering.Accepted, tea("Large", "L", 1, 1), dish(2, 1, false)),
		},
		Categories: map[int64]int64{1: 7, 2: 7},
	}
	b := testenv.Must(w.boards(0).Get(t.Context(), anywhere, 1))(t)
	testenv.Equal(t, []ordering.DishCount{
		{DishID: 1, Category: 7, Name: "dish 1", Qty: 3, Size: "L", Options: []ordering.OptionCount{{OptionID: 3, Name: "Pearls", Qty: 5}}},
		{DishID: 1, Category: 7, Name: "dish 1", Qty: 1, Size: "Medium"}, {DishID: 2, Category: 7, Name: "dish 2", Qty: 1},
	}, b.AllDay(0))
}

// A board's ID depends on everything that screens show, and not on the time of reading.
func TestBoard_id(t *testing.T) {
	w := newBoardFeed(t)
	ids := map[string]string{}
	look := func(name string) {
		t.Helper()
		b := testenv.Must(w.boards(0).Get(t.Context(), anywhere, 1))(t)
		if twin, ok := ids[b.ID]; ok {
			t.Errorf("%s looks like %s", name, twin)
		}
		ids[b.ID] = name
		w.now = w.now.Add(time.Second)
		if again, err := w.boards(0).Get(t.Context(), anywhere, 1); err != nil || again.ID != b.ID {
			t.Errorf("%s: another id a second later", name)
		}
	}
	look("nothing")
	w.rows.Tickets = []ordering.Ticket{ticket("a", 1, ordering.Placed)}
	look("a ticket")
	w.rows.Tickets[0].Version++
	look("its next version")
	w.rows.Tickets[0].Table.Label = "T2"
	look("another table")
	w.rows.Served, w.rows.Tickets = w.rows.Tickets, nil
	look("served")
	w.rows.Awaiting, w.rows.Served = w.rows.Served, nil
	look("awaiting")
	w.rows.Stations = []ordering.Station{{Category: 7, Names: catalog.Texts{"vi": "Phở"}}}
	look("a station")
	w.rows.Stations[0].Names = catalog.Texts{"vi": "Bún"}
	look("its name")
	w.rows.Categories = map[int64]int64{1: 7}
	look("a dish")
	w.rows.Categories = map[int64]int64{1: 8}
	look("its station")
	w.now = w.now.Add(2 * time.Hour)
	look("the next day")
}

func TestBoard_isBounded(t *testing.T) {
	w := newBoardFeed(t)
	for i := range ordering.MaxTickets + 1 {
		w.rows.Tickets = append(w.rows.Tickets, ticket(fmt.Sprint(i), int64(1000-i), ordering.Placed))
	}
	b, err := w.boards(0).Get(t.Context(), anywhere, 1)
	if err != nil || !b.More || len(b.Tickets) != ordering.MaxTickets || b.Tickets[0].Version != 1000-ordering.MaxTickets {
		t.Errorf("%d tickets, more %t, %v", len(b.Tickets), b.More, err)
	}
}

// wait receives from c, and fails the test after ten seconds.
func wait[T any](t *testing.T, c <-chan T, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatalf("waited for %s", what)
	}
}

// All screens of a branch share a read, which follows a notification at once. The last screen to leave ends the
// reading.
func TestBoardHub_follow(t *testing.T) {
	w := newBoardFeed(t)
	boards := w.boards(time.Hour)
	const screens = 20
	var all []*ordering.Screen
	var ends []func()
	for range screens {
		s, end := testenv.Must2(boards.Follow(t.Context(), anywhere, 1))(t)
		all, ends = append(all, s), append(ends, end)
	}
	first := all[0].Board()
	wait(t, w.reads, "the first look")
	before := func() (n int) { w.set(func() { n = len(w.queries) }); return n }()
	w.set(func() {
		w.now = w.now.Add(time.Second)
		w.rows.Tickets = []ordering.Ticket{ticket("a", 1, ordering.Placed)}
	})
	w.Notify(1)
	for _, s := range all {
		wait(t, s.Changed(), "the ticket")
		if b := s.Board(); b.ID == first.ID || len(b.Tickets) != 1 || s.Closed() {
			t.Fatalf("board = %+v, want a new one with one ticket", b)
		}
	}
	if n := func() (n int) { w.set(func() { n = len(w.queries) }); return n }() - before; n > 2 {
		t.Errorf("%d looks for one change and %d screens", n, screens)
	}
	for _, end := range ends {
		end()
	}
	for _, s := range all {
		if !s.Closed() {
			t.Error("a screen that has left is still shown boards")
		}
	}
	s, end, err := boards.Follow(t.Context(), anywhere, 1) // starts a new feed
	if err != nil || s.Board().ID == first.ID || s.Closed() {
		t.Fatalf("Follow = %+v, %v, want a new open feed", s, err)
	}
	end()
}

// The next periodic read finds a change without a notification.
func TestBoardHub_look(t *testing.T) {
	w := newBoardFeed(t)
	s, end := testenv.Must2(w.boards(time.Millisecond).Follow(t.Context(), anywhere, 1))(t)
	defer end()
	w.set(func() {
		w.now = w.now.Add(time.Second)
		w.rows.Tickets = []ordering.Ticket{ticket("a", 1, ordering.Placed)}
	})
	wait(t, s.Changed(), "the ticket")
}

// Screens keep an old board for ten seconds while reads fail. Then their streams end, and reconnecting returns the
// error.
func TestBoardHub_stale(t *testing.T) {
	w := newBoardFeed(t)
	boards := w.boards(time.Millisecond)
	s, end := testenv.Must2(boards.Follow(t.Context(), anywhere, 1))(t)
	defer end()
	broken := errors.New("the database is gone")
	w.set(func() { w.err = broken })
	for range 3 {
		wait(t, w.reads, "a look that fails")
	}
	if s.Closed() {
		t.Fatal("given up at the first failure")
	}
	w.set(func() { w.now = w.now.Add(10 * time.Second) })
	wait(t, s.Changed(), "the end")
	if !s.Closed() {
		t.Error("it is not over")
	}
	if _, _, err := boards.Follow(t.Context(), anywhere, 1); !errors.Is(err, broken) {
		t.Error(err)
	}
	w.set(func() { w.err = nil })
	again, leave, err := boards.Follow(t.Context(), anywhere, 1)
	if err != nil || again.Closed() {
		t.Fatal(err)
	}
	leave()
	leave() // the second call does nothing
}

// A clock that is set back neither stops the boards nor delays the end of streams without a readable branch.
func TestBoardHub_clock_set_back(t *testing.T) {
	w := newBoardFeed(t)
	s, end := testenv.Must2(w.boards(time.Millisecond).Follow(t.Context(), anywhere, 1))(t)
	defer end()
	w.set(func() {
		w.now = w.now.Add(-time.Hour)
		w.rows.Tickets = []ordering.Ticket{ticket("a", 1, ordering.Placed)}
	})
	wait(t, s.Changed(), "the ticket")
	if b := s.Board(); len(b.Tickets) != 1 || !b.At.Equal(w.time()) {
		t.Errorf("board = %+v, want the ticket", b)
	}
	w.set(func() { w.now, w.err = w.now.Add(-time.Hour), errors.New("the database is gone") })
	for range 3 {
		wait(t, w.reads, "a read that fails")
	}
	w.set(func() { w.now = w.now.Add(10 * time.Second) })
	wait(t, s.Changed(), "the end")
	if !s.Closed() {
		t.Error("the stream has not ended")
	}
}

// While a branch is notified of all changes its board is read every five seconds, and at the short interval again from the
// moment that notifications may be lost. A branch that cannot be read is noticed as soon in both cases.
func TestBoardHub_notified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBoardFeed(t)
		boards := w.boards(0)
		var notified atomic.Bool
		notified.Store(true)
		boards.Notified, boards.Now = notified.Load, time.Now
		s, end := testenv.Must2(boards.Follow(t.Context(), anywhere, 1))(t)
		defer end()
		reads := func(in time.Duration) (n int) {
			w.set(func() { n = len(w.queries) })
			time.Sleep(in)
			synctest.Wait()
			w.set(func() { n = len(w.queries) - n })
			return n
		}
		time.Sleep(time.Second) // the read after the subscription
		testenv.Equal(t, 12, reads(time.Minute))
		notified.Store(false)
		w.NotifyAll() // live.Handlers.Lost
		if n := reads(6 * time.Second); n < 7 {
			t.Errorf("%d reads in 6 s without notifications", n)
		}
		notified.Store(true)
		w.NotifyAll()
		w.set(func() { w.err = errors.New("the database is gone") })
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if !s.Closed() {
			t.Error("a branch that cannot be read for ten seconds goes on")
		}
	})
}

// A panic ends only the streams of its branch. Screens that reconnect start a new feed.
func TestBoardHub_panic(t *testing.T) {
	w := newBoardFeed(t)
	boards := w.boards(time.Millisecond)
	s, end := testenv.Must2(boards.Follow(t.Context(), anywhere, 1))(t)
	defer end()
	w.set(func() { w.reads = nil; close(w.defect) })
	wait(t, s.Changed(), "the end")
	if !s.Closed() {
		t.Error("it is not over")
	}
	w.set(func() { w.defect = make(chan struct{}) })
	again, leave, err := boards.Follow(t.Context(), anywhere, 1)
	if err != nil || again.Closed() {
		t.Fatal(err)
	}
	leave()
}

func TestCheckAges(t *testing.T) {
	for _, c := range []struct {
		warn, late time.Duration
		ok         bool
	}{
		{10 * time.Minute, 20 * time.Minute, true}, {time.Second, 24 * time.Hour, true}, {0, time.Minute, false},
		{time.Minute, time.Minute, false}, {time.Minute, 24*time.Hour + 1, false}, {-time.Minute, time.Minute, false},
	} {
		if err := ordering.CheckAges(c.warn, c.late); (err == nil) != c.ok {
			t.Errorf("%v and %v: %v", c.warn, c.late, err)
		}
	}
}
