package httpapi

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

// eventFeed is a feed whose events the test sends.
type eventFeed struct {
	events chan Event
	ended  chan string // keys of feeds that have ended
}

type eventFeedIn struct {
	LastEvent
	Who string `query:"who" text:"exact" maxLength:"20"`
}

type eventItem struct {
	Text string `json:"text"`
}

func (n *eventFeed) register(a *API) {
	ops := a.Operations("News", Public)
	RegisterStream[eventFeedIn, eventItem](ops, "eventFeed", "GET /eventFeed", "News", func(_ context.Context, in *eventFeedIn) (Feed, error) {
		if in.Who == "" {
			return Feed{}, fault.New(fault.NotFound, "nobody", "Nobody.")
		}
		return Feed{Key: in.Who, End: func() { n.ended <- in.Who }, Run: func(ctx context.Context, s *Stream) {
			changed, next := make(chan struct{}), Event{ID: "0", Name: "hello", Data: eventItem{"after " + in.LastEventID}}
			go func() {
				for {
					select {
					case e := <-n.events:
						next = e // Show reads it after it has received from changed
						select {
						case changed <- struct{}{}:
						case <-ctx.Done():
							return
						}
					case <-ctx.Done():
						return
					}
				}
			}()
			s.Follow(ctx, Followed{
				Changed: changed, Poll: time.Hour, Check: time.Hour,
				Admit: func(ctx context.Context) (context.Context, error) { return ctx, nil },
				Show:  func(context.Context) error { return s.Send(next) },
			})
		}}, nil
	})
}

// listener is a client of a stream.
type listener struct {
	t    *testing.T
	res  *http.Response
	text *bufio.Reader
}

func (h *harness) listen(token, last string) *listener {
	h.t.Helper()
	r := testenv.Must(http.NewRequestWithContext(h.t.Context(), http.MethodGet,
		"http://"+h.Addr().String()+"/eventFeed?who="+token, nil))(h.t)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := (&http.Client{Transport: h.client.Transport}).Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = res.Body.Close() })
	return &listener{h.t, res, bufio.NewReader(res.Body)}
}

// block reads up to the next empty line; "" is the end of the stream.
func (l *listener) block() string {
	l.t.Helper()
	var b strings.Builder
	for {
		line, err := l.text.ReadString('\n')
		if err == io.EOF || line == "\n" {
			return b.String()
		}
		if err != nil {
			l.t.Fatal(err)
		}
		b.WriteString(line)
	}
}

func (l *listener) want(blocks ...string) {
	l.t.Helper()
	for _, want := range blocks {
		testenv.Equal(l.t, want, l.block())
	}
}

const streamHead = "retry: 2000\n"

func TestStream(t *testing.T) {
	n := &eventFeed{events: make(chan Event), ended: make(chan string, 100)}
	h := newHarness(t, nil, n.register)
	l := h.listen("ann", "7")
	if l.res.StatusCode != http.StatusOK || l.res.Header.Get("Content-Type") != "text/event-stream" ||
		l.res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("stream: status %d with headers %v, want 200 with uncached events", l.res.StatusCode, l.res.Header)
	}
	l.want(streamHead, "id: 0\nevent: hello\ndata: {\"text\":\"after 7\"}\n")
	n.events <- Event{ID: "8", Name: "item", Data: eventItem{"two\nlines"}}
	l.want("id: 8\nevent: item\ndata: {\"text\":\"two\\nlines\"}\n")
	_ = l.res.Body.Close()
	testenv.Equal(t, "ann", <-n.ended)
}

// HEAD gets the header of a stream and does not open one: a stream on the connection would keep its next request waiting.
func TestStream_HEAD(t *testing.T) {
	n := &eventFeed{events: make(chan Event), ended: make(chan string, 100)}
	h := newHarness(t, nil, n.register)
	for range 2 { // on one connection
		r := testenv.Must(http.NewRequestWithContext(t.Context(), http.MethodHead,
			"http://"+h.Addr().String()+"/eventFeed?who=ann", nil))(t)
		res, err := h.client.Do(r)
		testenv.NoError(t, err)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("status %d with headers %v, want those of the stream", res.StatusCode, res.Header)
		}
		if key := <-n.ended; key != "ann" {
			t.Errorf("the end of %s", key)
		}
	}
}

// A stream that is refused is a problem like any other.
func TestStream_refused(t *testing.T) {
	n := &eventFeed{events: make(chan Event), ended: make(chan string, 100)}
	h := newHarness(t, func(c *Config) { c.MaxStreams, c.MaxStreamsPerKey = 3, 2 }, n.register)
	for _, token := range []string{"ann", "ann", "bob"} {
		h.listen(token, "").want(streamHead)
		if token == "ann" {
			continue
		}
		for token, code := range map[string]string{"": "nobody", "ann": "overloaded", "eve": "overloaded"} {
			h.refuses(token, code)
		}
	}
}

func TestStream_refused_of_one_key(t *testing.T) {
	n := &eventFeed{events: make(chan Event), ended: make(chan string, 100)}
	h := newHarness(t, func(c *Config) { c.MaxStreamsPerKey = 1 }, n.register)
	first := h.listen("ann", "")
	first.want(streamHead)
	h.refuses("ann", "too_many_streams")
	if key := <-n.ended; key != "ann" {
		t.Errorf("the refused feed of %s was not ended", key)
	}
	_ = first.res.Body.Close()
	<-n.ended // its place is released before the handler returns, and the next request waits for nothing else
	h.listen("bob", "").want(streamHead)
}

func (h *harness) refuses(token, code string) {
	h.t.Helper()
	l := h.listen(token, "")
	body, err := io.ReadAll(l.text)
	if err != nil || l.res.StatusCode < 400 || !strings.Contains(string(body), `"code":"`+code+`"`) {
		h.t.Errorf("%s: %d %s %v, want %s", token, l.res.StatusCode, body, err, code)
	}
}

// A stream without events sends keep-alives.
func TestStream_heartbeat(t *testing.T) {
	n := &eventFeed{events: make(chan Event), ended: make(chan string, 100)}
	h := newHarness(t, func(c *Config) { c.StreamBeat = time.Millisecond }, n.register)
	l := h.listen("ann", "")
	l.want(streamHead)
	for range 3 {
		if got := l.block(); got != ":\n" && !strings.HasPrefix(got, "id: 0") {
			t.Errorf("block = %q, want a heartbeat", got)
		}
	}
}

// A server that stops ends its streams immediately, so that clients connect to another one.
func TestStream_ends_with_the_server(t *testing.T) {
	n := &eventFeed{events: make(chan Event), ended: make(chan string, 100)}
	h := newHarness(t, nil, n.register)
	l := h.listen("ann", "")
	l.want(streamHead, "id: 0\nevent: hello\ndata: {\"text\":\"after \"}\n")
	testenv.NoError(t, h.Stop(t.Context()))
	l.want("")
	<-n.ended
}

// Streams are not counted in the latency, and the contract describes their events.
func TestStream_metrics_and_contract(t *testing.T) {
	n := &eventFeed{events: make(chan Event), ended: make(chan string, 100)}
	h := newHarness(t, nil, n.register)
	l := h.listen("ann", "")
	l.want(streamHead)
	metrics := h.get(t, "/metrics")
	if !strings.Contains(metrics, "http_server_streams 1") {
		t.Error("an open stream is not counted")
	}
	_ = l.res.Body.Close()
	<-n.ended
	if strings.Contains(h.get(t, "/metrics"), `route="/eventFeed"`) {
		t.Error("a stream stands in the histogram of latencies")
	}
	if doc := h.get(t, "/openapi.json"); !strings.Contains(doc, `"text/event-stream"`) || !strings.Contains(doc, "EventItem") {
		t.Error("the contract does not describe the stream")
	}
}

func (h *harness) get(t *testing.T, path string) string {
	t.Helper()
	res, err := h.client.Get("http://" + h.Addr().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text := testenv.Must(io.ReadAll(res.Body))(t)
	return string(text)
}

// revocable is authorized until the test revokes it.
type revocable struct {
	fakeAuthenticator
	evicted *atomic.Bool
}

func (k revocable) Account(ctx context.Context, token string, l *RouteInfo) (context.Context, string, error) {
	if k.evicted.Load() {
		return ctx, "", errBearer
	}
	return k.fakeAuthenticator.Account(ctx, token, l)
}

// A stream can check whether its client is still authorized, and as which account.
func TestStream_polls_again(t *testing.T) {
	var evicted atomic.Bool
	ask, answered := make(chan struct{}), make(chan error)
	h := newHarness(t, nil, func(a *API) {
		ops := a.Operations("kept", Staff)
		RegisterStream[struct{}, eventItem](ops, "flat", "GET /flat", "Flat", func(context.Context, *struct{}) (Feed, error) {
			return Feed{Key: "flat", Run: func(ctx context.Context, s *Stream) {
				for range ask {
					now, err := s.Admitted(ctx)
					if actor, _ := now.Value(actorKey{}).(string); err == nil && !strings.HasPrefix(actor, "user:7 KEPT ") {
						err = fault.Newf(fault.Internal, "wrong", "It is %q.", actor)
					}
					answered <- err
				}
			}}, nil
		})
		a.s.SetAuthenticator(revocable{evicted: &evicted})
	})
	var client sync.WaitGroup
	defer client.Wait()
	client.Go(func() { h.send("GET", "/flat", "", "Authorization", "Bearer good") })
	defer close(ask)
	ask <- struct{}{}
	testenv.NoError(t, <-answered)
	evicted.Store(true)
	ask <- struct{}{}
	testenv.Equal(t, fault.Unauthenticated, fault.KindOf(<-answered))
}
