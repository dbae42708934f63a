package cataloghttp

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/fault"
	"comanda/internal/live"
	"comanda/internal/testenv"
)

// seats accepts the token "ann" as a guest of branch 1 until the visit is closed.
type seats struct {
	closed atomic.Bool
	cart   atomic.Int64 // version of the table's cart
	carts  live.Topic[string]
}

func (s *seats) BranchOf(_ context.Context, token string) (int64, string, error) {
	if token != "ann" || s.closed.Load() {
		return 0, "", fault.New(fault.Unauthenticated, "customer_token_invalid", "")
	}
	return 1, "ann", nil
}

func (s *seats) CartVersion(context.Context, string) (int64, error) { return s.cart.Load(), nil }

func (s *seats) FollowCart(_ context.Context, token string, changed chan struct{}) (func(), error) {
	return s.carts.Join(token, changed), nil
}

// subscriptions reports each subscription that ends.
type subscriptions struct {
	*catalog.LiveMenus
	ended chan struct{}
}

func (l *subscriptions) Subscribe(branch int64) (chan struct{}, func()) {
	changed, unsubscribe := l.LiveMenus.Subscribe(branch)
	return changed, func() {
		unsubscribe()
		l.ended <- struct{}{}
	}
}

func (l *subscriptions) wantEnded(t *testing.T) {
	t.Helper()
	select {
	case <-l.ended:
	case <-time.After(5 * time.Second):
		t.Error("the subscription did not end")
	}
}

// A stream ends with its connection and with the guest's visit, and its subscription ends with it.
func TestLive_streamEnds(t *testing.T) {
	s := newSite(t)
	s.left.Set(11, 7)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)

	ctx, leave := context.WithCancel(t.Context())
	openLiveIn(ctx, t, server.URL, "").next()
	leave()
	s.subscriptions.wantEnded(t) // the client disconnected

	ctx, leave = context.WithTimeout(t.Context(), 10*time.Second)
	defer leave()
	l := openLiveIn(ctx, t, server.URL, "")
	l.next()
	s.seats.closed.Store(true) // the visit is closed
	s.left.Set(11, 0)
	s.expireMenus()
	if data, ok := l.next(); ok || l.text.Err() != nil {
		t.Errorf("the stream continued after the visit with %q, %v", data, l.text.Err())
	}
	s.subscriptions.wantEnded(t)
}

func TestLive_refusals(t *testing.T) {
	s := newSite(t)
	for path, c := range map[string]struct {
		token, code string
		status      int
	}{
		"/cis/branch/1/availability/events": {"eve", "customer_token_invalid", http.StatusUnauthorized},
		"/cis/branch/2/availability/events": {"ann", "branch_not_found", http.StatusNotFound},
		"/cis/branch/x/availability/events": {"ann", "branch_not_found", http.StatusNotFound},
	} {
		wantStatus(t, s.ask(t, http.MethodGet, path, "", "X-Customer-Token", c.token), c.status, c.code)
	}
}

// A stream starts with the full state, unless the client has seen it, and continues with changes.
func TestLive_stream(t *testing.T) {
	s := newSite(t)
	s.left.Set(11, 7)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	l := openLive(t, server.URL, "")
	const rest = `"isActive":true,"isSoldOut":`
	l.want(`{"menuVersionId":"5","bizDate":"2026-02-26","complete":true,"isPaused":false,"isClosed":false,"cartVersion":null,"items":[{"itemId":"11",` + rest + `false,"remaining":7},` +
		`{"itemId":"12",` + rest + `false,"remaining":null}]}`)
	seen := l.id
	s.left.Set(11, 0)
	s.expireMenus()
	l.want(`{"menuVersionId":"5","bizDate":"2026-02-26","complete":false,"isPaused":false,"isClosed":false,"cartVersion":null,"items":[{"itemId":"11",` + rest + `true,"remaining":0}]}`)
	if l.id == seen {
		t.Error("another state has the same id")
	}
	reopened := openLive(t, server.URL, l.id)
	s.left.Set(11, 7)
	s.expireMenus()
	reopened.want(`{"menuVersionId":"5","bizDate":"2026-02-26","complete":false,"isPaused":false,"isClosed":false,"cartVersion":null,"items":[{"itemId":"11",` + rest + `false,"remaining":7}]}`)
	if reopened.id != seen {
		t.Error("the same state has another id")
	}
	s.source.Put(catalogtest.Branch(), catalogtest.Content(6, nil, catalogtest.Item(12, 1)))
	s.expireMenus()
	reopened.want(`{"menuVersionId":"6","bizDate":"2026-02-26","complete":true,"isPaused":false,"isClosed":false,"cartVersion":null,"items":[{"itemId":"12",` + rest + `false,"remaining":null}]}`)

	// A pause is sent although no item changed.
	b, c := catalogtest.Branch(), catalogtest.Content(6, nil, catalogtest.Item(12, 1))
	b.Pause, c.Revision = &catalog.Pause{Code: catalog.PauseBusy}, 7
	s.source.Put(b, c)
	s.expireMenus()
	reopened.want(`{"menuVersionId":"6","bizDate":"2026-02-26","complete":false,"isPaused":true,"isClosed":false,"cartVersion":null,"items":[]}`)
}

// If the phones of a table share a cart, each change of its version is sent, without unchanged items.
func TestLive_cart(t *testing.T) {
	s := newSite(t)
	b := catalogtest.Branch()
	b.SharedCart = true
	s.source.Put(b, catalogtest.Content(5, nil, catalogtest.Item(11, 1)))
	s.seats.cart.Store(3)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	l := openLive(t, server.URL, "")
	const head = `{"menuVersionId":"5","bizDate":"2026-02-26","complete":`
	l.want(head + `true,"isPaused":false,"isClosed":false,"cartVersion":3,"items":[{"itemId":"11","isActive":true,"isSoldOut":false,"remaining":null}]}`)
	seen := l.id
	s.seats.cart.Store(4)
	s.seats.carts.Notify("ann")
	l.want(head + `false,"isPaused":false,"isClosed":false,"cartVersion":4,"items":[]}`)
	if l.id == seen {
		t.Error("another version of the cart has the same id")
	}
	// A phone that reconnects with the id of the last event it has seen receives only the next change.
	reopened := openLive(t, server.URL, l.id)
	s.seats.cart.Store(5)
	s.seats.carts.Notify("ann")
	reopened.want(head + `false,"isPaused":false,"isClosed":false,"cartVersion":5,"items":[]}`)
}

type liveClient struct {
	t    *testing.T
	text *bufio.Scanner
	id   string
}

func openLive(t *testing.T, url, after string) *liveClient {
	t.Helper()
	return openLiveIn(t.Context(), t, url, after)
}

func openLiveIn(ctx context.Context, t *testing.T, url, after string) *liveClient {
	t.Helper()
	r := testenv.Must(http.NewRequestWithContext(ctx, http.MethodGet, url+"/cis/branch/1/availability/events", nil))(t)
	r.Header.Set("X-Customer-Token", "ann")
	r.Header.Set("Last-Event-ID", after)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return &liveClient{t: t, text: bufio.NewScanner(res.Body)}
}

func (l *liveClient) want(data string) {
	l.t.Helper()
	got, ok := l.next()
	if !ok {
		l.t.Fatalf("the stream has ended: %v", l.text.Err())
	}
	testenv.Equal(l.t, data, got)
}

// next returns the data of the next event; ok is false if the stream has ended.
func (l *liveClient) next() (data string, ok bool) {
	for l.text.Scan() {
		if id, ok := strings.CutPrefix(l.text.Text(), "id: "); ok {
			l.id = id
		}
		if data, ok := strings.CutPrefix(l.text.Text(), "data: "); ok {
			return data, true
		}
	}
	return "", false
}

// An event contains exactly the differences from the last one.
func TestDifferences(t *testing.T) {
	s := newSite(t)
	live := catalog.NewLiveMenus(catalog.NewMenuCache(s.source, catalog.NoSharedCache{}, s.clock.Now), s.left, s.clock.Now)
	menu := func(left int64) *state {
		s.left.Set(11, left)
		s.expireMenus()
		b := testenv.Must(live.Get(t.Context(), 1))(t)
		return &state{LiveMenu: b}
	}
	seven, three := menu(7), menu(3)
	if d := differences(nil, seven); d == nil || !d.Complete || len(d.Items) != 2 {
		t.Errorf("the first event: %+v", d)
	}
	if d := differences(seven, seven); d != nil {
		t.Errorf("an event without a change: %+v", d)
	}
	if d := differences(seven, menu(7)); d != nil {
		t.Errorf("an event for an equal menu: %+v", d)
	}
	again := &state{LiveMenu: &catalog.LiveMenu{Snapshot: seven.Snapshot, Date: seven.Date, Pause: &catalog.Pause{Code: catalog.PauseBusy}}}
	same := &state{LiveMenu: &catalog.LiveMenu{Snapshot: seven.Snapshot, Date: seven.Date, Pause: &catalog.Pause{Code: catalog.PauseBusy}}}
	if d := differences(again, same); d != nil {
		t.Errorf("an event for an equal pause: %+v", d)
	}
	again.Closure, same.Closure = &catalog.Closure{OpensAt: lunch}, &catalog.Closure{OpensAt: lunch}
	if d := differences(again, same); d != nil {
		t.Errorf("an event for an equal closure: %+v", d)
	}
	same.Closure = nil
	if d := differences(again, same); d == nil || d.IsClosed || !differences(nil, again).IsClosed || liveID(again) == liveID(same) {
		t.Errorf("the opening: %+v", d)
	}
	if d := differences(seven, three); d == nil || d.Complete || len(d.Items) != 1 || *d.Items[0].Remaining != 3 {
		t.Errorf("one item: %+v", d)
	}
}

// Streams that have seen the same share an encoded event. What a cart adds to it is shared by the carts of that version
// only.
func TestSharedEvents(t *testing.T) {
	s := newSite(t)
	live := catalog.NewLiveMenus(catalog.NewMenuCache(s.source, catalog.NoSharedCache{}, s.clock.Now), s.left, s.clock.Now)
	menu := func(left int64) *catalog.LiveMenu {
		s.left.Set(11, left)
		s.expireMenus()
		return testenv.Must(live.Get(t.Context(), 1))(t)
	}
	seven, three := menu(7), menu(3)
	with := func(m *catalog.LiveMenu, cart ...int64) *state {
		if len(cart) == 0 {
			return &state{LiveMenu: m}
		}
		return &state{LiveMenu: m, cart: &cart[0]}
	}
	events := sharedEvents{byBranch: map[int64]*branchEvents{}}
	between := func(sent, now *state) string {
		t.Helper()
		f := testenv.Must(events.between(sent, now))(t)
		g := testenv.Must(events.between(sent, now))(t)
		if string(f) != string(g) {
			t.Errorf("two streams send %q and %q", f, g)
		}
		return string(f)
	}
	for name, c := range map[string]struct {
		sent, now *state
		want      string // part of the event; empty: no event
	}{
		"a first event":            {nil, with(three), `"complete":true`},
		"a change":                 {with(seven), with(three), `"complete":false,"isPaused":false,"isClosed":false,"cartVersion":null,"items":[{"itemId":"11"`},
		"nothing":                  {with(three), with(three), ""},
		"a first event with cart":  {nil, with(three, 4), `"cartVersion":4`},
		"a change beside a cart":   {with(seven, 4), with(three, 4), `"cartVersion":4,"items":[{`},
		"a change beside another":  {with(seven, 5), with(three, 5), `"cartVersion":5,"items":[{`},
		"a cart":                   {with(three, 4), with(three, 5), `"cartVersion":5,"items":[]`},
		"the same cart and menu":   {with(three, 5), with(three, 5), ""},
		"an older menu once again": {with(three), with(seven), `"remaining":7`},
	} {
		if got := between(c.sent, c.now); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	f := testenv.Must(events.between(with(seven), with(three)))(t)
	if g := testenv.Must(events.between(with(seven), with(three)))(t); &f[0] != &g[0] {
		t.Error("the same event is encoded twice")
	}
	between(with(three), with(seven))
	testenv.Equal(t, 1, len(events.byBranch[1].events))
}
