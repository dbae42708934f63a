package stocksql_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/stock/stocktest"
	"comanda/internal/testenv"
)

// I1, I2, I4, I10, I12: random commands and adjustments on two processes. Every result follows the rules, and the
// counters are the sums of the holds after every step.
func TestReservations_model(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		rapid.Check(t, func(rt *rapid.T) {
			s.branch++ // each sequence has its own branch
			orderingtest.Open(rt, s.db, s.branch)
			m := &sequence{s: s, levels: stocktest.NewModel(map[int64]int64{s.receive("rice", 8): 8, s.receive("eggs", 5): 5})}
			for range rapid.IntRange(1, 12).Draw(rt, "steps") {
				rapid.SampledFrom([]func(*rapid.T){m.command, m.command, m.adjust, m.later}).Draw(rt, "step")(rt)
				m.compare(rt)
			}
		})
		s.branch = 1
	})
}

// sequence applies the same operations to SQL and to the model.
type sequence struct {
	s      *fixture
	levels *stocktest.Model
}

// randomProcess returns one of the two processes.
func (m *sequence) randomProcess(t *rapid.T) *process {
	if rapid.Bool().Draw(t, "second process") {
		return m.s.second
	}
	return m.s.process
}

func (m *sequence) command(t *rapid.T) {
	batch := make([]stock.Command, rapid.IntRange(1, 6).Draw(t, "demands"))
	m.levels.Now = m.s.clock.now()
	for i := range batch {
		batch[i] = m.draw(t)
	}
	results, failures := m.randomProcess(t).reservations.DoAll(context.Background(), batch)
	for i, d := range batch {
		want := m.levels.Apply(d)
		if failures[i] != nil || code(results[i].Err) != want {
			t.Fatalf("act %d on %s: %v, %v, want %q", d.Action, d.ID, results[i].Err, failures[i], want)
		}
	}
}

// draw draws a command on one of a few reservations of this branch.
func (m *sequence) draw(t *rapid.T) stock.Command {
	acts := []stock.Action{stock.Try, stock.Try, stock.Confirm, stock.Cancel, stock.Return}
	d := stock.Command{
		Action:  rapid.SampledFrom(acts).Draw(t, "act"),
		ID:      fmt.Sprint(m.s.branch, ".", rapid.IntRange(1, 5).Draw(t, "id")),
		Message: rapid.Bool().Draw(t, "message"),
	}
	if d.Action != stock.Try {
		return d
	}
	d.Hold = stock.Hold{ID: stock.HoldID(d.ID), Scope: stock.StockScope(m.s.branch), Until: m.levels.Now.Add(time.Minute)}
	for i, c := range m.levels.Counts() {
		if qty := rapid.Int64Range(-1, 4).Draw(t, "qty"); qty > 0 || i == 1 && d.Hold.Lines == nil {
			d.Hold.Lines = append(d.Hold.Lines, stock.Line{Item: c.Item, Qty: max(qty, 1)})
		}
	}
	return d
}

func (m *sequence) adjust(t *rapid.T) {
	a := stock.Adjustment{
		Branch: m.s.branch, SKU: rapid.SampledFrom([]string{"rice", "eggs"}).Draw(t, "sku"),
		Kind:  rapid.SampledFrom([]stock.AdjustmentKind{stock.Received, stock.Counted, stock.Wasted}).Draw(t, "kind"),
		Units: rapid.Int64Range(1, 4).Draw(t, "units"),
	}
	level, err := m.randomProcess(t).reservations.Adjust(context.Background(), syncer, a)
	left := m.levels.Left(level.ID)
	switch a.Kind {
	case stock.Received:
		left += a.Units
	case stock.Wasted:
		left -= a.Units
	case stock.Counted:
		left = a.Units
	}
	if left < 0 {
		if !errors.Is(err, stock.ErrInsufficientStock) {
			t.Fatalf("Adjust(%+v): error %v, want ErrInsufficientStock", a, err)
		}
		return
	}
	if err != nil || level.Available != left {
		t.Fatalf("%+v: %+v, %v, want %d", a, level, err, left)
	}
	m.levels.Caps[level.ID] += left - m.levels.Left(level.ID)
}

// later advances the clock and expires the overdue reservations.
func (m *sequence) later(t *rapid.T) {
	m.s.clock.jump(time.Duration(rapid.IntRange(1, 40).Draw(t, "seconds")) * time.Second)
	m.levels.Now = m.s.clock.now()
	testenv.NoError(t, m.randomProcess(t).stores.ExpireOverdue(context.Background()))
	for id := range m.levels.Holds {
		m.levels.Apply(stock.Command{Action: stock.Expire, ID: stock.ReservationID(id)})
	}
}

func (m *sequence) compare(t *rapid.T) {
	if diff := cmp.Diff(m.levels.Counts(), m.s.counts()); diff != "" {
		t.Fatal(diff)
	}
	if found, err := m.s.ledger.Drift(context.Background(), ""); err != nil || len(found) != 0 {
		t.Fatal(found, err)
	}
	ids := slices.Collect(maps.Keys(m.levels.Holds))
	states, err := m.s.ledger.Holds(context.Background(), ids)
	if err != nil || len(states) != len(ids) {
		t.Fatalf("%d of %d holds, %v", len(states), len(ids), err)
	}
	for _, h := range states {
		if want := m.levels.Holds[h.Hold.ID]; h.State != want.State || !slices.Equal(h.Hold.Lines, want.Hold.Lines) {
			t.Fatalf("%+v, want %+v", h, want)
		}
	}
}

// inParallel runs n goroutines, half of them on each process.
func (s *fixture) inParallel(n int, do func(i int, p *process)) {
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		p := s.process
		if i%2 == 1 {
			p = s.second
		}
		all.Go(func() {
			<-begin
			do(i, p)
		})
	}
	close(begin)
	all.Wait()
}

// I2: of many concurrent reservations for the last units exactly as many succeed, whether or not the cache has the
// scope. All others are refused as sold out, and no call fails otherwise.
func TestReservations_exactly_n_winners(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		for i, known := range []bool{false, true} {
			const n = 23
			item := s.receive([]string{"rice", "eggs"}[i], n)
			if known {
				s.awaitBuilt()
			}
			var won atomic.Int64
			s.inParallel(64, func(c int, p *process) {
				want := request(fmt.Sprint(i, ".", c), []stock.SKULine{rice(1), eggs(1)}[i])
				res, made, err := p.stores.Reserve(context.Background(), syncer, want)
				switch {
				case err == nil && made && res.Status == stock.StatusReserved:
					won.Add(1)
				case !errors.Is(err, stock.ErrInsufficientStock):
					t.Errorf("Reserve = %+v, %v, want RESERVED or ErrInsufficientStock", res, err)
				}
			})
			testenv.Equal(t, n, won.Load())
			s.wantLevel(item, 0, n, 0)
		}
	})
}

// I11: concurrent requests for the same reservation create it once, and all of them receive it.
func TestReservations_same_id_concurrently(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 1000)
		s.awaitBuilt()
		var made atomic.Int64
		const ids = 10
		s.inParallel(200, func(i int, p *process) {
			id := i / 2 % ids
			if i%2 == 1 {
				id = ids - 1 - id // the other process receives the same new ids in reverse order
			}
			res, first, err := p.stores.Reserve(context.Background(), syncer, request(name(id), rice(3)))
			if err != nil || res.Status != stock.StatusReserved {
				t.Errorf("Reserve = %+v, %v, want RESERVED", res, err)
			}
			if first {
				made.Add(1)
			}
		})
		if made.Load() != ids || s.events("inventory.reserved") != ids {
			t.Errorf("made %d times, published %d times, want %d", made.Load(), s.events("inventory.reserved"), ids)
		}
		s.wantLevel(item, 1000-3*ids, 3*ids, 0)
	})
}

// I12: a Cancel that arrives at the same time as its Try ends the reservation, whichever is first.
func TestReservations_cancel_races_try(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 1000)
		s.awaitBuilt()
		s.inParallel(120, func(i int, p *process) {
			id := name(i / 2 % 30)
			if i/2 >= 30 {
				_, err := p.stores.Cancel(context.Background(), syncer, id)
				if err != nil {
					t.Error(err)
				}
				return
			}
			_, _, err := p.stores.Reserve(context.Background(), syncer, request(id, rice(2)))
			if err != nil && !errors.Is(err, stock.ErrReservationEnded) {
				t.Error(err)
			}
		})
		for i := range 30 {
			testenv.Equal(t, stock.StatusCancelled, testenv.Must(s.reservations.Find(t.Context(), name(i)))(t).Status)
		}
		s.wantLevel(item, 1000, 0, 0)
		if a, b := s.events("inventory.reserved"), s.events("inventory.released"); a != b {
			t.Errorf("%d were reserved, %d released", a, b)
		}
	})
}

// I4: a reservation that is confirmed at its deadline is either sold or expired, and all callers receive the same
// result.
func TestReservations_confirm_races_expiry(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 1000)
		s.awaitBuilt()
		const n = 40
		for i := range n {
			s.mustReserve(name(i), rice(1))
		}
		s.clock.jump(time.Minute)
		var sold atomic.Int64
		s.inParallel(n+2, func(i int, p *process) {
			if i >= n {
				testenv.NoError(t, p.stores.ExpireOverdue(context.Background()))
				return
			}
			_, err := p.stores.Confirm(context.Background(), syncer, name(i))
			switch {
			case err == nil:
				sold.Add(1)
			case !errors.Is(err, stock.ErrReservationEnded):
				t.Error(err)
			}
		})
		s.wantLevel(item, 1000-sold.Load(), 0, sold.Load())
		if soldEvents, releasedEvents := s.events("inventory.sold"), s.events("inventory.released"); soldEvents != sold.Load() || soldEvents+releasedEvents != n {
			t.Errorf("%d were sold; events: %d sold, %d released", sold.Load(), soldEvents, releasedEvents)
		}
	})
}

// A Confirm that arrives as a message is never lost: not before its Try, not after it, and not if another process
// commits the Try at the same time. In the last case neither sees the other, and the next run of ExpireOverdue finds
// both.
func TestReservations_confirm_races_try(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 1000)
		s.awaitBuilt()
		const n = 60
		s.inParallel(2*n, func(i int, p *process) {
			d := stock.Command{Action: stock.Confirm, ID: name(i / 2), Message: true}
			if i%2 == 0 {
				d.Action, d.Hold = stock.Try, stock.Hold{
					ID: stock.HoldID(d.ID), Scope: stock.StockScope(s.branch), Lines: []stock.Line{{Item: item, Qty: 2}},
					Until: s.clock.now().Add(time.Minute),
				}
			}
			if rand.IntN(2) == 0 { // a random process, so that the order varies
				p = s.second
			}
			r, err := p.reservations.Do(context.Background(), d)
			if err != nil || r.Err != nil && !errors.Is(r.Err, stock.ErrReservationNotFound) {
				t.Error(r.Err, err)
			}
		})
		testenv.NoError(t, s.second.stores.ExpireOverdue(t.Context()))
		s.wantLevel(item, 1000-2*n, 0, 2*n)
		testenv.Equal(t, n, s.events("inventory.sold"))
	})
}

// A reservation whose confirmation committed before the deadline does not expire, even if the sweeper runs late.
func TestReservations_early_confirm_outlives_the_deadline(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		s.awaitBuilt() // loadHolds queues no operation, so a rebuild in progress would read half of the hold
		testenv.Must(s.reservations.Do(t.Context(), stock.Command{Action: stock.Confirm, ID: "r", Message: true}))(t)
		h := stock.NewHold{State: stock.Held, Hold: stock.Hold{
			ID: stock.HoldID("r"), Scope: stock.StockScope(s.branch), Lines: []stock.Line{{Item: item, Qty: 3}}, Until: s.clock.now(),
		}}
		loadHolds(t, s.db, h) // like a Try that has not seen the Confirm
		s.clock.jump(time.Hour)
		testenv.NoError(t, s.stores.ExpireOverdue(t.Context()))
		s.wantLevel(item, 7, 0, 3)
	})
}

// appliedQueue records the entries for the cache.
type appliedQueue struct {
	mu      sync.Mutex
	entries []stock.OutboxEntry
}

func (l *appliedQueue) EnqueueCommitted(entries []stock.OutboxEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entries...)
}

func (l *appliedQueue) DrainApplied() []string { return nil }

var errChanged = errors.New("the caller has changed its mind")

// The cache receives only committed entries. A transaction that is rolled back leaves no entry, no row and no event.
func TestReservations_cache_receives_after_commit(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		item := s.receive("rice", 10)
		cache := &appliedQueue{}
		reservations := stocksql.NewReservations(s.db, cache, s.clock.now)
		t.Cleanup(reservations.Stop)
		take := stock.Command{Action: stock.Try, ID: "r", Hold: stock.Hold{
			ID: stock.HoldID("r"), Scope: stock.StockScope(s.branch), Lines: []stock.Line{{Item: item, Qty: 3}}, Until: s.clock.now(),
		}}
		for _, end := range []error{errChanged, nil} {
			err := s.db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
				if _, err := reservations.Run(ctx, tx, []stock.Command{take}); err != nil {
					return err
				}
				if len(cache.entries) != 0 {
					t.Error("the cache was notified before the commit")
				}
				return end
			})
			testenv.ErrorIs(t, end, err)
			want := int64(3)
			if end != nil {
				want = 0
			}
			if units := int64(len(cache.entries)) * 3; units != want || s.events("inventory.reserved")*3 != want {
				t.Errorf("after error %v the cache received %v", end, cache.entries)
			}
			if counts := s.counts(); counts[0].Held != want {
				t.Errorf("undone: %v; %v", end, counts)
			}
		}
	})
}
