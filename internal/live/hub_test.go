package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/keyspace"
	"comanda/internal/live"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
	"comanda/internal/worker"
)

func TestMain(m *testing.M) { redisdbtest.VerifyMain(m) }

// process is a hub with running loops, and the changes that it receives.
type process struct {
	*live.Hub
	received chan live.Change
	missed   chan struct{}
	lost     chan bool   // whether the process still receives
	noticed  chan string // readers; an empty text when messages may have been missed
	reg      *prometheus.Registry
}

func run(t *testing.T, wire live.PubSub) *process {
	t.Helper()
	p := &process{
		received: make(chan live.Change, 1024), missed: make(chan struct{}, 64), lost: make(chan bool, 64),
		noticed: make(chan string, 1024), reg: prometheus.NewRegistry(),
	}
	p.Hub = live.New(wire, live.Handlers{
		Changed: func(c live.Change) { p.received <- c },
		Missed:  func() { p.missed <- struct{}{} },
		Lost:    func() { p.lost <- p.Receiving() },
		Noticed: func(readers ...string) {
			for _, r := range readers {
				p.noticed <- r
			}
		},
		NoticesMissed: func() { p.noticed <- "" },
	}, p.reg)
	jobs, log := worker.NewMetrics(p.reg), slog.New(slog.DiscardHandler)
	for _, l := range p.Loops() {
		w := worker.New(l, log, jobs)
		testenv.NoError(t, w.Start(context.WithoutCancel(t.Context())))
		t.Cleanup(func() {
			if err := w.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	return p
}

// receives merges received changes until they equal want, since changes may arrive in two messages.
func (p *process) receives(t *testing.T, want live.Change) {
	t.Helper()
	got := live.Change{Branch: want.Branch}
	for !cmp.Equal(got, want) {
		c := <-p.received
		if c.Branch != want.Branch {
			t.Fatalf("received %+v", c)
		}
		got.Orders = append(got.Orders, c.Orders...)
		got.Carts, got.Cart = append(got.Carts, c.Carts...), got.Cart || c.Cart
		got.Left, got.Menu, got.Floor = got.Left || c.Left, got.Menu || c.Menu, got.Floor || c.Floor
	}
}

// reader returns the next reader that is noticed. Two hubs on one client both learn of each subscription.
func (p *process) reader() string {
	for {
		if r := <-p.noticed; r != "" {
			return r
		}
	}
}

// metric returns a metric of the process; way is the label of live_messages_total, empty for other metrics.
func (p *process) metric(t *testing.T, name, way string) float64 {
	t.Helper()
	families := testenv.Must(p.reg.Gather())(t)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && (way == "" || m.GetLabel()[0].GetValue() == way) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// A change in one process is received by the others and not by itself.
func TestHub(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (a, b *redisdb.DB){
		"redis": func(t *testing.T) (a, b *redisdb.DB) {
			a, srv := redisdbtest.Real(t)
			return a, dial(t, srv.Addr())
		},
		"cluster": func(t *testing.T) (a, b *redisdb.DB) {
			a = redisdbtest.Cluster(t)
			return a, a // one client for two hubs
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := open(t)
			north, south := run(t, a), run(t, b)
			<-north.missed // W3
			<-south.missed
			<-north.noticed
			<-south.noticed
			north.NotifyReaders("7", "vab", "7")
			if got := map[string]bool{south.reader(): true, south.reader(): true}; !got["7"] || !got["vab"] {
				t.Errorf("readers %v are noticed", got)
			}
			south.NotifyReaders("b3")
			testenv.Equal(t, "b3", north.reader())
			north.NotifyOrders(1, []string{"a", "b"})
			south.receives(t, live.Change{Branch: 1, Orders: []string{"a", "b"}})
			north.NotifyAvailability(2)
			north.NotifyMenu(2)
			north.NotifyFloor(2)
			south.receives(t, live.Change{Branch: 2, Left: true, Menu: true, Floor: true})
			north.NotifyCart(3, "v")
			north.NotifyCart(3, "w")
			south.receives(t, live.Change{Branch: 3, Carts: []string{"v", "w"}})
			south.NotifyFloor(1)
			north.receives(t, live.Change{Branch: 1, Floor: true})
			if len(south.received) > 0 {
				t.Errorf("received its own notification: %+v", <-south.received)
			}
			if north.metric(t, "live_hearing", "") != 1 || north.metric(t, "live_subscriptions_total", "") < 1 {
				t.Error("live_hearing is not 1")
			}
		})
	}
}

func dial(t *testing.T, addr string) *redisdb.DB {
	t.Helper()
	db := testenv.Must(redisdb.Open(t.Context(), redisdb.Config{URL: "redis://" + addr}))(t)
	t.Cleanup(db.Close)
	return db
}

// W3: after a lost connection the process subscribes again and all streams reload.
func TestHub_resubscribes(t *testing.T) {
	_, srv := redisdbtest.Real(t)
	proxy := testenv.NewProxy(t, srv.Addr())
	proxied, direct := run(t, dial(t, proxy.Addr())), run(t, dial(t, srv.Addr()))
	<-proxied.missed
	<-direct.missed
	for range 3 {
		proxy.Cut()
		if <-proxied.lost { // W5
			t.Error("a process without a subscription reports that it receives notifications")
		}
		<-proxied.missed
	}
	testenv.Eventually(t, time.Minute, proxied.Receiving)
	direct.NotifyMenu(7)
	proxied.receives(t, live.Change{Branch: 7, Menu: true})
}

// A server that hangs is detected even without calls, and the subscription moves to a connection that responds.
func TestHub_hangs(t *testing.T) {
	_, srv := redisdbtest.Real(t)
	proxy := testenv.NewProxy(t, srv.Addr())
	proxied, direct := run(t, dial(t, proxy.Addr())), run(t, dial(t, srv.Addr()))
	<-proxied.missed
	<-direct.missed
	proxy.Mute(true)
	direct.NotifyAvailability(1) // is lost
	testenv.Eventually(t, time.Minute, func() bool { return proxied.metric(t, "live_hearing", "") == 0 })
	proxy.Mute(false)
	<-proxied.missed
	direct.NotifyMenu(7)
	proxied.receives(t, live.Change{Branch: 7, Menu: true})
}

// fake is an in-process PubSub. Publishing waits at the gate, if there is one, and messages are sent to sent.
type fake struct {
	gate chan struct{}
	came chan struct{} // receives a value for each publisher at the gate
	sent chan string
	fail error
	say  chan string // messages of other processes
}

func (f *fake) Publish(_ context.Context, _ keyspace.Channel, message string) error {
	if f.gate != nil {
		f.came <- struct{}{}
		<-f.gate
	}
	f.sent <- message
	return f.fail
}

func (f *fake) Subscribe(ctx context.Context, c keyspace.Channel, begun func(), received func(string)) error {
	if c.IsPattern() { // the tests say messages on the other channel only
		<-ctx.Done()
		return nil
	}
	begun()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-f.say:
			if m == "panic" {
				panic(m)
			}
			received(m)
		}
	}
}

// W1, W2: while Redis hangs, notifying never waits. The collected changes become one or two messages, which name no
// more orders and visits than allowed.
func TestHub_batches_changes(t *testing.T) {
	f := &fake{gate: make(chan struct{}), came: make(chan struct{}, 8192), sent: make(chan string, 8192)}
	p := run(t, f)
	p.NotifyMenu(2)
	<-f.came
	for i := range 5000 {
		p.NotifyOrders(1, []string{fmt.Sprint("order", i)})
		p.NotifyCart(1, fmt.Sprint("visit", i))
		p.NotifyAvailability(2)
		p.NotifyFloor(int64(i))
	}
	close(f.gate)
	p.NotifyMenu(1)
	var all []string
	for seen := false; !seen; {
		m := <-f.sent
		if len(m) > 64<<10 {
			t.Errorf("a message of %d bytes", len(m))
		}
		var got struct{ Changes []live.Change }
		testenv.NoError(t, json.Unmarshal([]byte(m), &got))
		for _, c := range got.Changes {
			seen = seen || c.Branch == 1 && c.Menu
		}
		all = append(all, m)
	}
	if len(all) > 200 { // at most 1024 branches are collected, 8 per message, and the first message was sent before
		t.Errorf("20000 changes became %d messages", len(all))
	}
	for _, mark := range []string{`"many":true`, `"cart":true`} {
		if !strings.Contains(strings.Join(all, ""), mark) {
			t.Errorf("5000 orders and carts of a branch are sent without %s", mark)
		}
	}
}

// A message that cannot be sent is counted and dropped, and the next one is sent.
func TestHub_drops_slow_subscribers(t *testing.T) {
	f := &fake{sent: make(chan string, 64), fail: errors.New("no")}
	p := run(t, f)
	for range 3 {
		p.NotifyAvailability(1)
		<-f.sent
	}
	p.NotifyAvailability(1)
	<-f.sent // the third message is counted before the fourth is sent
	if n := p.metric(t, "live_messages_total", "lost"); n < 3 {
		t.Errorf("%v messages are counted as lost", n)
	}
}

// A command has no loops, and sends its changes with Flush. A hub without subscriptions receives nothing.
func TestHub_Flush(t *testing.T) {
	f := &fake{sent: make(chan string, 64)}
	h := live.New(f, live.Handlers{}, prometheus.NewRegistry())
	h.NotifyMenu(7)
	h.Flush(t.Context())
	if m := <-f.sent; !strings.Contains(m, `{"b":7,"menu":true}`) {
		t.Errorf("sent %s", m)
	}
	if h.Receiving() {
		t.Error("a hub without subscriptions reports that it receives notifications")
	}
}

// Invalid messages are ignored, and a panic ends nothing.
func TestHub_ignores_invalid_messages(t *testing.T) {
	f := &fake{sent: make(chan string, 64), say: make(chan string)}
	p := run(t, f)
	<-p.missed
	for _, m := range []string{
		"", "x", "[]", `{"from":1}`, `{"changes":[{"b":"1"}]}`, `{"from":"other"}`, strings.Repeat(" ", 70<<10) + `{"from":"o","changes":[{"b":9}]}`,
		"panic",
	} {
		f.say <- m
	}
	<-p.missed
	f.say <- `{"from":"other","changes":[{"b":5,"left":true,"new":1}]}`
	p.receives(t, live.Change{Branch: 5, Left: true})
	if len(p.received) > 0 {
		t.Errorf("received %+v", <-p.received)
	}
}

// Messages with as many changes as are collected stay within the size that receivers accept.
func TestHub_largest_messages(t *testing.T) {
	f := &fake{sent: make(chan string, 64)}
	h := live.New(f, live.Handlers{}, prometheus.NewRegistry())
	id := strings.Repeat("x", 26)
	const branches = 20
	for branch := range int64(branches) {
		h.NotifyOrders(1e9+branch, slices.Repeat([]string{id}, 256))
		for visit := range 64 {
			h.NotifyCart(1e9+branch, fmt.Sprintf("%026d", visit))
		}
	}
	h.Flush(t.Context())
	close(f.sent)
	var got int
	for m := range f.sent {
		if len(m) > 64<<10 {
			t.Errorf("a message of %d bytes", len(m))
		}
		got += strings.Count(m, `"b":`)
	}
	testenv.Equal(t, branches, got)
}
