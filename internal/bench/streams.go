package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"comanda/internal/bench/load"
	"comanda/internal/clock"
)

// StreamLoads are the measurements of guests who follow the menu and their orders live.
type StreamLoads struct {
	Streams int     `json:"streams"`        // open at the same time, half of each kind
	Opening float64 `json:"openingSeconds"` // until every stream had its first event
	Bytes   float64 `json:"bytesPerStream"` // growth of the server's memory
	Idle    []Cost  `json:"idle,omitempty"` // processor time per second while nothing changes, without that of a server without streams

	Menu   StreamDelay `json:"menu"`   // an order changes what is left: every stream of the menu has an event
	Orders StreamDelay `json:"orders"` // a guest cancels an order: one stream has an event
}

// StreamDelay is the time from the request of a change until its event arrives.
type StreamDelay struct {
	Changes int     `json:"changes"`
	Events  int64   `json:"events"`
	Missing int64   `json:"missing"` // events that did not arrive within eventWait
	P50     float64 `json:"p50Ms"`
	P99     float64 `json:"p99Ms"`
	Max     float64 `json:"maxMs"`
	CPU     []Cost  `json:"cpu,omitempty"` // processor time per change
}

const (
	// MaxStreams is the maximum number of streams that a server opens.
	MaxStreams = 5000

	menuChanges  = 10
	orderChanges = 100
	// menuPause is longer than the time for which a server collects changes of what is left after it has sent one.
	menuPause  = 400 * time.Millisecond
	eventWait  = 10 * time.Second
	openAtOnce = 64
)

// follower is an open stream. Its arrivals are counted, and the newest one is kept.
type follower struct {
	guest  int
	order  string // empty: of the menu
	stream *load.EventStream

	events atomic.Int64
	mu     sync.Mutex
	since  int64         // events before the change
	at     time.Time     // of the first event after the change
	came   chan struct{} // closed by it
}

// received records an event.
func (f *follower) received(at time.Time) {
	n := f.events.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.came != nil && n == f.since+1 {
		f.at = at
		close(f.came)
	}
}

// expect prepares the follower for a change.
func (f *follower) expect() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.since, f.came = f.events.Load(), make(chan struct{})
}

// arrival waits for the first event after the change.
func (f *follower) arrival(ctx context.Context) (at time.Time, ok bool) {
	f.mu.Lock()
	came := f.came
	f.mu.Unlock()
	select {
	case <-came:
	case <-ctx.Done():
		return at, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at, true
}

// streams measures live streams: their memory, their cost while nothing changes, and the delay of changes.
func (s *session) streams(ctx context.Context) (err error) {
	r := &StreamLoads{Streams: s.Streams}
	followers, err := s.followers(ctx)
	if err != nil {
		return err
	}
	s.settle(ctx)
	alone, err := s.idle(ctx)
	if err != nil {
		return err
	}
	before := rss(s.PID)
	begun := time.Now()
	defer func() {
		for _, f := range followers {
			if f.stream != nil {
				f.stream.Close()
			}
		}
	}()
	if err := s.openStreams(ctx, followers); err != nil {
		return err
	}
	r.Opening = time.Since(begun).Seconds()
	if s.PID > 0 {
		r.Bytes = float64(rss(s.PID)-before) / float64(len(followers))
	}
	if r.Idle, err = s.idle(ctx); err != nil {
		return err
	}
	r.Idle = minus(r.Idle, alone)

	var ofMenu, ofOrders []*follower
	for _, f := range followers {
		if f.order == "" {
			ofMenu = append(ofMenu, f)
		} else {
			ofOrders = append(ofOrders, f)
		}
	}
	next := s.product.orders(run(), 0, s.product.items)
	r.Menu, err = s.delays(ctx, menuChanges, menuPause, func(int) []*follower { return ofMenu },
		func(ctx context.Context, _ int) error { return s.product.place(ctx, next(), http.StatusCreated) })
	if err != nil {
		return err
	}
	r.Orders, err = s.delays(ctx, min(orderChanges, len(ofOrders)), 0, func(i int) []*follower { return ofOrders[i : i+1] },
		func(ctx context.Context, i int) error {
			f := ofOrders[i]
			_, err := s.product.send(ctx, http.MethodPost, "/cis/order/"+f.order+"/cancel", "{}", http.StatusOK, nil,
				guestHeader, s.product.guests[f.guest])
			return err
		})
	s.report.Streams = r
	return err
}

// idle returns the processor time per second while nothing changes.
func (s *session) idle(ctx context.Context) ([]Cost, error) {
	costs := s.cpuUsage(ctx)
	if err := clock.Wait(ctx, s.Idle); err != nil {
		return nil, err
	}
	// The costs are of Idle, which need not be whole seconds.
	all := costs.each(s.cpuUsage(ctx), 1)
	for i := range all {
		all[i].Micros /= s.Idle.Seconds()
	}
	return all, nil
}

// followers scans the codes of the tables again, one guest per order, and places their orders. A server limits the streams
// of one phone.
func (s *session) followers(ctx context.Context) ([]*follower, error) {
	all := make([]*follower, 0, s.Streams)
	name := run()
	for i := range (s.Streams + 1) / 2 {
		var in landingBody
		path := "/cis/landing?qr=" + url.QueryEscape(s.Tokens[i%len(s.Tokens)])
		if _, err := s.product.send(ctx, http.MethodGet, path, "", http.StatusOK, &in); err != nil {
			return nil, err
		}
		guest := len(s.product.guests)
		s.product.guests = append(s.product.guests, in.CustomerToken)
		order := s.product.order(guest, "COUNTER", name+"-"+strconv.Itoa(i), s.product.items[0])
		if err := s.product.placeAs(ctx, guest, order, http.StatusCreated); err != nil {
			return nil, err
		}
		all = append(all, &follower{guest: guest}, &follower{guest: guest, order: s.product.lastID})
	}
	return all[:s.Streams], nil
}

// openStreams opens all streams and waits for the first event of each, which has the whole state.
func (s *session) openStreams(ctx context.Context, all []*follower) error {
	g, opening := errgroup.WithContext(ctx)
	g.SetLimit(openAtOnce)
	for _, f := range all {
		g.Go(func() (err error) {
			path := fmt.Sprintf("/cis/branch/%d/availability/events", s.product.branch)
			if f.order != "" {
				path = "/cis/order/" + f.order + "/events"
			}
			f.expect()
			f.stream, err = s.target.Follow(opening, s.target.Request(http.MethodGet, path, "", guestHeader,
				s.product.guests[f.guest]), f.received)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, eventWait)
	defer cancel()
	for _, f := range all {
		if _, ok := f.arrival(ctx); !ok {
			return errors.New("bench: a stream had no first event")
		}
	}
	return nil
}

// delays makes changes one after another, with a pause before each, and measures when the streams of each have an event.
func (s *session) delays(
	ctx context.Context, changes int, pause time.Duration, of func(i int) []*follower,
	change func(ctx context.Context, i int) error,
) (d StreamDelay, err error) {
	var h load.Histogram
	costs := s.cpuUsage(ctx)
	for i := range changes {
		followers := of(i)
		for _, f := range followers {
			f.expect()
		}
		if err := clock.Wait(ctx, pause); err != nil {
			return d, err
		}
		begun := time.Now()
		if err := change(ctx, i); err != nil {
			return d, err
		}
		waiting, cancel := context.WithTimeout(ctx, eventWait)
		for _, f := range followers {
			if at, ok := f.arrival(waiting); ok {
				h.Record(at.Sub(begun))
				continue
			}
			d.Missing++
		}
		cancel()
	}
	ms := func(t time.Duration) float64 { return float64(t.Microseconds()) / 1000 }
	d.Changes, d.Events, d.P50, d.P99, d.Max = changes, h.Count(), ms(h.Quantile(0.5)), ms(h.Quantile(0.99)), ms(h.Max())
	d.CPU = costs.each(s.cpuUsage(ctx), int64(changes))
	return d, nil
}
