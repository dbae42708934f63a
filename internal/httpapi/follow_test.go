package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

func TestPollInterval(t *testing.T) {
	const short = 750 * time.Millisecond
	for name, c := range map[string]struct {
		short, look time.Duration
		notified    bool
		random      float64
		want        time.Duration
	}{
		"notifications may be lost":           {short, 0, false, 0.5, short},
		"notified, at least":                  {short, 0, true, 0, 15 * time.Second},
		"notified, at most":                   {short, 0, true, 1, 30 * time.Second},
		"notified, a state that polls rarely": {time.Minute, 0, true, 0, time.Minute},
		"an operator's interval":              {short, 2 * time.Second, false, 0.5, 2 * time.Second},
		"an operator's interval, notified":    {short, 2 * time.Second, true, 0.5, 2 * time.Second},
		"an operator's interval, too short":   {5 * time.Second, time.Second, false, 0.5, 5 * time.Second},
	} {
		if got := pollInterval(c.short, c.look, c.notified, c.random); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// followed is a state that streams show, and a server that notifies them of its changes or not.
type followed struct {
	server   *Server
	check    time.Duration
	notified atomic.Bool
	version  atomic.Int64
	denial   atomic.Pointer[error]
	outage   atomic.Bool

	shows, checks atomic.Int64
	mu            sync.Mutex
	instants      map[time.Time]bool // of shows
}

func newFollowed(t *testing.T) *followed {
	t.Helper()
	f := &followed{
		server: testenv.Must(New(Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t),
		check:  GuestCheck, instants: map[time.Time]bool{},
	}
	f.server.Notified = f.notified.Load
	return f
}

const shortPoll = 750 * time.Millisecond

// shown is the version that a stream has shown last.
type shown struct {
	version atomic.Int64
	changed chan struct{}
	ended   atomic.Bool
	body    *httptest.ResponseRecorder
}

// follow runs a stream until ctx or access ends.
func (f *followed) follow(ctx context.Context) *shown {
	w := &shown{changed: make(chan struct{}, 1), body: httptest.NewRecorder()}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	x := newExchange(w.body, r)
	s := &Stream{s: f.server, x: x, ctl: http.NewResponseController(w.body)}
	s.beat = s.after(f.server.conf.StreamBeat)
	go func() {
		defer w.ended.Store(true)
		s.Follow(ctx, Followed{
			Changed: w.changed, Poll: shortPoll, Check: f.check,
			Admit: func(ctx context.Context) (context.Context, error) {
				f.checks.Add(1)
				if err := f.denial.Load(); err != nil {
					return ctx, *err
				}
				return ctx, nil
			},
			Show: func(context.Context) error {
				f.shows.Add(1)
				f.mu.Lock()
				f.instants[time.Now()] = true
				f.mu.Unlock()
				if f.outage.Load() {
					return fault.New(fault.Unavailable, "down", "Down.")
				}
				w.version.Store(f.version.Load())
				return nil
			},
		})
	}()
	synctest.Wait()
	return w
}

// takeInstants returns the number of instants of shows since its last call.
func (f *followed) takeInstants() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.instants)
	f.instants = map[time.Time]bool{}
	return n
}

func (f *followed) deny(err error) { f.denial.Store(&err) }

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func withFollowed(t *testing.T, test func(t *testing.T, ctx context.Context, f *followed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		test(t, ctx, newFollowed(t))
		end()
		synctest.Wait()
	})
}

// A notified stream shows a change at once. A lost notification delays it by less than half a minute.
func TestStream_Follow_lost_notification(t *testing.T) {
	withFollowed(t, func(t *testing.T, ctx context.Context, f *followed) {
		f.notified.Store(true)
		w := f.follow(ctx)
		for n := range int64(20) {
			f.version.Store(2*n + 1)
			w.changed <- struct{}{}
			synctest.Wait()
			if w.version.Load() != 2*n+1 {
				t.Fatal("a notification changes nothing")
			}
			f.version.Store(2*n + 2)
			if pass(14 * time.Second); w.version.Load() == 2*n+2 {
				t.Fatal("a notified stream polls often")
			}
			if pass(16 * time.Second); w.version.Load() != 2*n+2 {
				t.Fatal("a lost notification was not made up for within 30 s")
			}
		}
	})
}

// When notifications are lost, streams that are woken return to the short interval at once, and to the long one when
// they are received again.
func TestStream_Follow_lost_subscription(t *testing.T) {
	withFollowed(t, func(t *testing.T, ctx context.Context, f *followed) {
		f.notified.Store(true)
		w := f.follow(ctx)
		f.notified.Store(false)
		w.changed <- struct{}{} // live.Handlers.Lost
		synctest.Wait()
		for n := range int64(10) {
			f.version.Store(n + 1)
			if pass(shortPoll); w.version.Load() != n+1 {
				t.Fatal("without notifications a change was not shown within the short interval")
			}
		}
		f.notified.Store(true)
		w.changed <- struct{}{} // live.Handlers.Missed
		synctest.Wait()
		f.version.Store(100)
		if pass(14 * time.Second); w.version.Load() == 100 {
			t.Error("the stream still polls at the short interval")
		}
	})
}

// After an outage a notified stream shows the change whose notification it has received during the outage.
func TestStream_Follow_outage(t *testing.T) {
	withFollowed(t, func(t *testing.T, ctx context.Context, f *followed) {
		f.notified.Store(true)
		w := f.follow(ctx)
		for i, down := range []func(bool){
			f.outage.Store,
			func(down bool) {
				f.denial.Store(nil)
				if down {
					f.deny(fault.New(fault.Unavailable, "down", "Down."))
				}
			},
		} {
			down(true)
			f.version.Add(1)
			w.changed <- struct{}{}
			pass(time.Minute)
			if w.ended.Load() || w.version.Load() == f.version.Load() {
				t.Fatalf("%d: the stream has ended, or shows what it cannot read", i)
			}
			down(false)
			if pass(shortPoll); w.version.Load() != f.version.Load() {
				t.Errorf("%d: the change is not shown after the outage", i)
			}
		}
	})
}

// A stream whose access has ended ends within Followed.Check without a change, and at once with one. It shows
// nothing more.
func TestStream_Follow_access(t *testing.T) {
	withFollowed(t, func(t *testing.T, ctx context.Context, f *followed) {
		f.notified.Store(true)
		f.check = AccountCheck
		idle, woken := f.follow(ctx), f.follow(ctx)
		pass(time.Minute)
		f.deny(errors.New("revoked"))
		f.version.Store(1)
		woken.changed <- struct{}{}
		synctest.Wait()
		if !woken.ended.Load() || woken.version.Load() != 0 {
			t.Error("a stream without access goes on after a change")
		}
		if pass(AccountCheck); !idle.ended.Load() || idle.version.Load() != 0 {
			t.Error("a stream without access goes on")
		}
		if n := strings.Count(idle.body.Body.String(), ":\n\n"); n < 3 {
			t.Errorf("%d heartbeats in a minute", n)
		}
	})
}

// Idle streams poll a few times a minute, and together: the number of instants at which they read, and so the number of
// statements that they share, does not grow with them.
func TestStream_Follow_idle(t *testing.T) {
	withFollowed(t, func(t *testing.T, ctx context.Context, f *followed) {
		const streams = 1000
		f.notified.Store(true)
		for range streams {
			f.follow(ctx)
			time.Sleep(time.Millisecond) // guests come one after another
		}
		pass(time.Minute)
		f.shows.Store(0)
		f.checks.Store(0)
		f.takeInstants()
		pass(time.Minute)
		if n := f.shows.Load(); n > 5*streams {
			t.Errorf("%d reads in a minute, of %d streams", n, streams)
		}
		if n := f.takeInstants(); n > int(time.Minute/pollSlot)+1 {
			t.Errorf("the streams read at %d instants of a minute", n)
		}
		if n := f.checks.Load(); n > 6*streams || n < 3*streams {
			t.Errorf("access was checked %d times in a minute, of %d streams", n, streams)
		}
	})
}
