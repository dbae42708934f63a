package orderingsql_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stockredis"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

// machine runs all of ordering (service, admission cache in Redis, ledger in SQL) and a plain model of it through
// random sequences of operations and compares them after every step. Each check names the invariant that it verifies.
type machine struct {
	db         *sqldb.DB
	redis      *redisdb.DB
	flush      func(t rapid.TB, node int) // node counts modulo the number of nodes; a negative one flushes all
	restaurant *orderingtest.Restaurant
	keep       *stock.Syncer
	ledger     *orderingsql.Ledger
	svc        *ordering.Service
	clock      clock
	begun      time.Time
	keys       int

	// state of the model
	caps   map[int64]int64
	orders []*modelOrder
}

// clock is the model's clock. It is atomic because the syncer reads it in the background.
type clock struct{ ms atomic.Int64 }

func (c *clock) now() time.Time          { return time.UnixMilli(c.ms.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

type modelOrder struct {
	id, key  string
	lines    []stock.Line
	request  ordering.Request
	guest    ordering.Guest
	date     string
	deadline time.Time
	moved    int // number of extensions
	state    ordering.PaymentStatus
	canceled bool // by the guest
	captures int
}

const window, grace = 15 * time.Minute, 90 * time.Second

func TestModel(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		port := freeAddr(t)
		db := redisOf(t, redisdb.Config{Listen: port, Timeout: 5 * time.Second})
		explore(t, sqldbtest.SQLite(t), db, port)
	})
	t.Run("postgres", func(t *testing.T) {
		s := testenv.RedisServer(t)
		db := redisOf(t, redisdb.Config{URL: "redis://" + s.Addr(), Timeout: 5 * time.Second})
		explore(t, sqldbtest.Postgres(t), db, s.Addr())
	})
	t.Run("cluster", func(t *testing.T) {
		nodes := testenv.RedisCluster(t)
		db := redisOf(t, redisdb.Config{URL: testenv.ClusterURL(nodes), Timeout: 5 * time.Second})
		explore(t, sqldbtest.SQLite(t), db, nodes[0].Addr(), nodes[1].Addr(), nodes[2].Addr())
	})
}

func freeAddr(t *testing.T) string {
	l := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().String()
}

func redisOf(t *testing.T, c redisdb.Config) *redisdb.DB {
	t.Helper()
	db := testenv.Must(redisdb.Open(t.Context(), c))(t)
	t.Cleanup(db.Close)
	return db
}

// explore runs the model with a ledger and an admission cache. It occasionally flushes the Redis servers at addrs.
func explore(t *testing.T, db *sqldb.DB, redis *redisdb.DB, addrs ...string) {
	branch, noon := int64(0), time.Date(2026, 2, 26, 12, 0, 0, 0, time.UTC)
	flush := func(t rapid.TB, addr string) {
		conn := testenv.Must(net.Dial("tcp", addr))(t)
		defer conn.Close()
		testenv.Must(conn.Write([]byte("*1\r\n$8\r\nFLUSHALL\r\n")))(t)
		reply := make([]byte, 5)
		if _, err := conn.Read(reply); err != nil || string(reply) != "+OK\r\n" {
			t.Fatalf("FLUSHALL: %q, %v", reply, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		branch++
		m := &machine{db: db, redis: redis, begun: time.Now(), flush: func(t rapid.TB, node int) {
			for i, addr := range addrs {
				if node < 0 || node%len(addrs) == i {
					flush(t, addr)
				}
			}
		}}
		// The database's clock never goes back, so each run starts on a later day. Otherwise, outbox entries of a
		// failed run would never become due, and all later runs would fail.
		m.clock.ms.Store(noon.UnixMilli())
		defer func() { noon = m.clock.now().Truncate(24 * time.Hour).Add(36 * time.Hour) }()
		m.open(t, branch)
		defer m.close()
		t.Repeat(map[string]func(*rapid.T){
			"place": m.place, "again": m.again, "otherBody": m.otherBody, "pay": m.pay, "fail": m.fail, "cancel": m.cancel,
			"moreTime": m.moreTime, "expire": m.expire, "flush": m.empty, "restart": m.restart, "rotate": m.rotate,
			"setCap": m.setCap, "nextDay": m.nextDay, "": m.check,
		})
		m.settleAll(t)
	})
}

func (m *machine) open(t *rapid.T, branch int64) {
	quotas := rapid.SliceOfN(rapid.Int64Range(-1, 6), 1, 3).Draw(t, "quotas")
	m.restaurant = orderingtest.Open(t, m.db, branch, quotas...)
	m.caps = map[int64]int64{}
	for i, id := range m.restaurant.Items {
		m.caps[id] = quotas[i]
	}
	m.start(t)
}

// start starts the process's components.
func (m *machine) start(t rapid.TB) {
	// Rebuild claims need a clock that advances and does not go back when the process restarts.
	ticking := func() time.Time { return m.clock.now().Add(time.Since(m.begun)) }
	kitchen := m.restaurant.Catalog(t)
	m.keep = stock.NewSyncer(stock.SyncerConfig{
		Cache: stockredis.New(m.redis, stockredis.Config{Now: time.Now, Timeout: 5 * time.Second}), Store: stocksql.New(m.db),
		EndOfDay: func(ctx context.Context, s stock.Scope) (time.Time, error) {
			b, _ := kitchen.Branch(ctx, m.restaurant.Branch) // every branch of the model has the same calendar
			day, err := b.Calendar().Interval(s.Date)
			// Redis expires keys by its own clock, for which the model's dates are in the past.
			return day.End.Add(10 * 365 * 24 * time.Hour), err
		},
		// There is no minimum interval between rebuilds, because the rebuild that converge waits for may follow another
		// at once.
		RebuildInterval: -1, Now: ticking, Log: slog.New(slog.DiscardHandler),
	})
	m.ledger = orderingsql.NewLedger(m.db, m.keep, m.clock.now)
	m.svc = &ordering.Service{
		Settings: func() ordering.Settings {
			return ordering.Settings{Config: ordering.Config{PaymentWindow: window, ExpiryGrace: grace}, Methods: payment.NewMethods(payment.Sandbox)}
		},
		Ledger: m.ledger, Admission: m.keep, Reader: orderingsql.NewOrders(m.db), Catalog: kitchen, Now: m.clock.now,
	}
}

func (m *machine) close() {
	m.ledger.Stop()
	m.keep.Close()
}

// restart discards everything that the process holds in memory. Committed entries that were not applied are replayed.
func (m *machine) restart(t *rapid.T) {
	m.close()
	m.start(t)
}

// empty flushes one Redis node or all of them.
func (m *machine) empty(t *rapid.T) { m.flush(t, rapid.IntRange(-1, 2).Draw(t, "node")) }

func (m *machine) guest() ordering.Guest {
	return ordering.Guest{Branch: m.restaurant.Branch, VisitID: m.restaurant.Visit, Hash: "guest"}
}

func (m *machine) date() string {
	b, _ := m.restaurant.Catalog(fatal{}).Branch(context.Background(), m.restaurant.Branch)
	return b.Calendar().BizDate(m.clock.now())
}

// taken returns the model's held and used units of an item on a date.
func (m *machine) taken(date string, item int64) (held, used int64) {
	for _, o := range m.orders {
		for _, l := range o.lines {
			if l.Item != item || o.date != date {
				continue
			}
			switch o.state {
			case ordering.Unpaid:
				held += l.Qty
			case ordering.Paid:
				used += l.Qty
			}
		}
	}
	return held, used
}

func (m *machine) short(date string, lines []stock.Line) []ordering.ShortLine {
	var short []ordering.ShortLine
	for _, l := range lines {
		held, used := m.taken(date, l.Item)
		if left := max(0, m.caps[l.Item]-held-used); m.caps[l.Item] >= 0 && left < l.Qty {
			short = append(short, ordering.ShortLine{ItemID: l.Item, Requested: l.Qty, Available: left})
		}
	}
	return short
}

func (m *machine) place(t *rapid.T) {
	m.keys++
	r := ordering.Request{Method: payment.Sandbox, ClientTxnID: fmt.Sprint("k", m.keys), MenuVersionID: m.restaurant.Version}
	var lines []stock.Line
	for range rapid.IntRange(1, 3).Draw(t, "lines") {
		l := stock.Line{Item: rapid.SampledFrom(m.restaurant.Items).Draw(t, "item"), Qty: rapid.Int64Range(1, 3).Draw(t, "qty")}
		lines = append(lines, l)
		r.Items = append(r.Items, ordering.RequestItem{ItemID: l.Item, Qty: l.Qty})
	}
	merged, _ := stock.MergeLines(lines)
	m.settle(t)
	want := m.short(m.date(), merged)
	got, err := m.svc.Place(context.Background(), m.guest(), r)
	if errors.Is(err, ordering.ErrSoldOut) && !cmp.Equal(ordering.ShortLines(err), want) {
		// A provisional hold of a process that has ended makes the admission cache reject too much until the syncer
		// releases it.
		m.converge(t)
		m.clock.advance(20 * time.Millisecond) // the cache remembers a rejection for 10 ms
		got, err = m.svc.Place(context.Background(), m.guest(), r)
	}
	if want != nil { // I2
		m.wantSoldOut(t, err, want)
		return
	}
	if err != nil || !got.New {
		t.Fatalf("an order that fits was not made: %+v, %v", got, err)
	}
	total := int64(0) // I13
	for _, it := range r.Items {
		total += it.Qty * orderingtest.Price
	}
	if got.Order.Total != total || got.Order.Scope.Date != m.date() {
		t.Fatalf("total %d on %s, want %d on %s", got.Order.Total, got.Order.Scope.Date, total, m.date())
	}
	m.orders = append(m.orders, &modelOrder{
		id: got.Order.ID, key: r.ClientTxnID, lines: merged, request: r, guest: m.guest(), date: got.Order.Scope.Date,
		deadline: m.clock.now().Add(window + grace), state: ordering.Unpaid,
	})
}

func (m *machine) wantSoldOut(t *rapid.T, err error, want []ordering.ShortLine) {
	testenv.ErrorIs(t, ordering.ErrSoldOut, err, "an order that does not fit was answered")
	if diff := cmp.Diff(want, ordering.ShortLines(err)); diff != "" {
		t.Fatalf("the lines that do not fit (-want +got):\n%s", diff)
	}
}

func (m *machine) pick(t *rapid.T) *modelOrder {
	if len(m.orders) == 0 {
		t.Skip("no orders yet")
	}
	return rapid.SampledFrom(m.orders).Draw(t, "order")
}

// again repeats a request and expects the same order, regardless of later changes (I11).
func (m *machine) again(t *rapid.T) {
	o := m.pick(t)
	got, err := m.svc.Place(context.Background(), o.guest, o.request)
	if err != nil || got.New || got.Order.ID != o.id {
		t.Fatalf("repeated %s: %+v, %v", o.id, got, err)
	}
}

func (m *machine) otherBody(t *rapid.T) {
	o := m.pick(t)
	r := o.request
	r.Items = append(slices.Clone(r.Items), ordering.RequestItem{ItemID: m.restaurant.Items[0], Qty: 1, Notes: "other"})
	if _, err := m.svc.Place(context.Background(), o.guest, r); !errors.Is(err, ordering.ErrIdempotency) {
		t.Fatalf("another body under %s: error %v, want ErrIdempotency", o.key, err)
	}
}

// pay reports a successful payment. In time, it pays the order. For an expired order, it takes the units again if the
// visit is open, else a refund is due (I6).
func (m *machine) pay(t *rapid.T) {
	o := m.pick(t)
	second := o.captures > 0 && o.state == ordering.Paid && rapid.Bool().Draw(t, "second attempt")
	method := payment.Sandbox
	if second {
		return // TestVNPay_paidTwice in orderinghttp covers second attempts
	}
	got, err := m.svc.MockCallback(context.Background(), o.id, method, ordering.MockSuccess, "{}")
	if err != nil {
		t.Fatalf("pay %s (%s): %v", o.id, o.state, err)
	}
	if o.captures == 0 {
		o.captures++
		switch {
		case o.state == ordering.Unpaid:
			o.state = ordering.Paid
		case !o.canceled && o.date == m.date() && o.guest.VisitID == m.restaurant.Visit && m.short(o.date, o.lines) == nil:
			o.state = ordering.Paid
		default:
			o.state = ordering.RefundDue
		}
	}
	if got.PaymentStatus != o.state {
		t.Fatalf("paid %s is %s, want %s", o.id, got.PaymentStatus, o.state)
	}
}

// fail reports a failed payment, which changes only the attempt.
func (m *machine) fail(t *rapid.T) {
	o := m.pick(t)
	got, err := m.svc.MockCallback(context.Background(), o.id, payment.Sandbox, ordering.MockFail, "{}")
	if err != nil || got.PaymentStatus != o.state {
		t.Fatalf("failure of %s: %s, %v", o.id, got.PaymentStatus, err)
	}
}

func (m *machine) cancel(t *rapid.T) {
	o := m.pick(t)
	got, err := m.svc.Cancel(context.Background(), o.guest, o.id)
	switch o.state {
	case ordering.Unpaid:
		o.state, o.canceled = ordering.PaymentCanceled, true
		fallthrough
	case ordering.PaymentCanceled, ordering.RefundDue:
		if err != nil || got.Status != ordering.Canceled {
			t.Fatalf("cancel %s: %s, %v", o.id, got.Status, err)
		}
	default: // I4
		testenv.ErrorIs(t, ordering.ErrNotCancelable, err, "cancel a paid order")
	}
}

// moreTime extends a deadline at most twice and never after it has passed. A repeated request changes nothing.
func (m *machine) moreTime(t *rapid.T) {
	o := m.pick(t)
	shown := o.deadline.Add(-grace)
	want := map[ordering.PaymentStatus]error{
		ordering.Unpaid: nil, ordering.Paid: ordering.ErrAlreadyPaid, ordering.PaymentCanceled: ordering.ErrNotPayable,
		ordering.RefundDue: ordering.ErrNotPayable,
	}[o.state]
	switch {
	case o.state != ordering.Unpaid:
	case !m.clock.now().Before(o.deadline):
		want = ordering.ErrTooLate
	case o.moved == 2:
		want = ordering.ErrNoExtensionLeft
	default:
		o.moved++
		o.deadline = o.deadline.Add(5 * time.Minute)
	}
	for range 2 { // the second call repeats the first after a lost response
		got, err := m.svc.ExtendDeadline(context.Background(), o.guest, o.id, shown)
		if !errors.Is(err, want) {
			t.Fatalf("more time for %s (%s): %v, want %v", o.id, o.state, err, want)
		}
		if err == nil && (!got.PayBy.Equal(o.deadline.Add(-grace)) || got.ExtensionsLeft() != 2-o.moved) {
			t.Fatalf("%s is to be paid by %v, %d more; want %v", o.id, got.PayBy, got.ExtensionsLeft(), o.deadline.Add(-grace))
		}
	}
}

// expire advances the clock and runs the sweeper. It expects that exactly the overdue orders expire (I10).
func (m *machine) expire(t *rapid.T) {
	m.clock.advance(time.Duration(rapid.Int64Range(0, 20).Draw(t, "minutes")) * time.Minute)
	testenv.Must(m.svc.ExpireOverdue(context.Background()))(t)
	for _, o := range m.orders {
		if o.state == ordering.Unpaid && !m.clock.now().Before(o.deadline) {
			o.state = ordering.PaymentCanceled
		}
	}
}

// nextDay advances to the next business date. Holds keep their own date (I14).
func (m *machine) nextDay(t *rapid.T) {
	before := m.date()
	m.clock.advance(20 * time.Hour)
	if m.date() < before {
		t.Fatal("the business date went back")
	}
	m.expire(t)
}

// rotate closes the visit and opens another. Guests of the old visit can no longer order.
func (m *machine) rotate(t *rapid.T) {
	old := m.guest()
	m.restaurant.NextVisit(t)
	m.keys++
	_, err := m.svc.Place(context.Background(), old, ordering.Request{
		Method: payment.Sandbox, ClientTxnID: fmt.Sprint("k", m.keys), MenuVersionID: m.restaurant.Version,
		Items: []ordering.RequestItem{{ItemID: m.restaurant.Items[0], Qty: 1}},
	})
	if !errors.Is(err, ordering.ErrVisitClosed) && !errors.Is(err, ordering.ErrSoldOut) {
		t.Fatalf("an order of a closed visit: %v", err)
	}
}

// setCap changes a quota, possibly below the units taken, which only prevents new holds.
func (m *machine) setCap(t *rapid.T) {
	item := rapid.SampledFrom(m.restaurant.Items).Draw(t, "item")
	quota := rapid.Int64Range(-1, 8).Draw(t, "quota")
	m.restaurant.SetQuota(t, item, quota, m.date(), m.clock.now())
	m.caps[item] = quota
}

// settle waits until the admission cache has applied every committed entry.
func (m *machine) settle(t rapid.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = m.keep.Apply(ctx) }()
	m.eventually(t, func() string { return remaining(int64(m.keep.Pending()), "transactions wait") })
	cancel()
	<-done
	m.eventually(t, func() string { // a rebuild in progress may delay entries until it ends
		testenv.NoError(t, m.keep.ReplayAll(context.Background()))
		b := testenv.Must(stocksql.New(m.db).Backlog(context.Background(), m.clock.now()))(t)
		return remaining(b.Pending, "entries are not applied")
	})
}

func remaining(n int64, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n, " ", what)
}

// eventually calls inTheWay until it returns "", for at most a minute. A call of the cache may take its whole time-out,
// a rebuild restarts only after its claim of five seconds, and the machine may be busy.
func (m *machine) eventually(t rapid.TB, inTheWay func() string) {
	for deadline := time.Now().Add(time.Minute); ; {
		what := inTheWay()
		if what == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited for too long: %s", what)
		}
	}
}

// check compares the ledger's counters (I1) and every order's state with the model.
func (m *machine) check(t *rapid.T) {
	for _, c := range m.restaurant.CountsOf(t, m.date()) {
		held, used := m.taken(m.date(), c.Item)
		if c.Held != held || c.Used != used {
			t.Fatalf("item %d: held %d used %d, the model says %d and %d", c.Item, c.Held, c.Used, held, used)
		}
	}
	for _, o := range m.orders {
		d, _, err := m.svc.Reader.Order(context.Background(), o.id)
		if err != nil || d.PaymentStatus != o.state {
			t.Fatalf("order %s is %s, the model says %s (%v)", o.id, d.PaymentStatus, o.state, err)
		}
		if due := o.state == ordering.RefundDue; due != (len(d.Refunds) == 1) { // I6
			t.Fatalf("order %s is %s with %d refunds", o.id, o.state, len(d.Refunds))
		}
	}
}

// settleAll advances the clock beyond the last deadline and expects that nothing is held (I3) and that the admission
// cache equals the ledger (I9).
func (m *machine) settleAll(t *rapid.T) {
	m.clock.advance(window + grace + 2*5*time.Minute)
	testenv.Must(m.svc.ExpireOverdue(context.Background()))(t)
	for _, c := range m.restaurant.Counts(t) {
		if c.Held != 0 {
			t.Fatalf("%d of item %d are held forever", c.Held, c.Item)
		}
	}
	m.converge(t)
}

// converge waits until the admission cache equals the ledger (I9).
func (m *machine) converge(t *rapid.T) {
	m.settle(t)
	scope := stock.Scope{Branch: m.restaurant.Branch, Date: m.date()}
	gate := stockredis.New(m.redis, stockredis.Config{Now: time.Now})
	m.eventually(t, func() string {
		testenv.NoError(t, m.keep.Reconcile(context.Background()))
		truth := testenv.Must(stocksql.New(m.db).Counts(context.Background(), scope))(t)
		if _, _, err := m.keep.Counts(context.Background(), scope, m.restaurant.Items); err != nil { // as a menu does
			t.Fatal(err)
		}
		shown, ok, err := gate.ReadScope(context.Background(), scope)
		if len(truth) == 0 || ok && slices.Equal(truth, shown.Counts) {
			return ""
		}
		return fmt.Sprintf("ledger %v, gate %v (%v, %v)", truth, shown.Counts, ok, err)
	})
}

// fatal is a rapid.TB for calls that cannot fail, because their input was checked before.
type fatal struct{}

func (fatal) Helper()        {}
func (fatal) Error(a ...any) { panic(fmt.Sprint(a...)) }
func (fatal) Fatal(a ...any) { panic(fmt.Sprint(a...)) }
