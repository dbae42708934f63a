package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// soon is far longer than a notification takes on a busy machine. seldom is far longer than soon, so that polling
// cannot explain a change that a stream receives.
const (
	soon   = 20 * time.Second
	seldom = time.Minute
)

// twoProcesses starts two processes on one PostgreSQL database. redis has the Redis address of each.
func twoProcesses(t *testing.T, look time.Duration, redis ...string) (a, b *fixture) {
	t.Helper()
	database := sqldbtest.PostgresURL(t)
	all := make([]*fixture, len(redis))
	for i, addr := range redis {
		c := testenv.Must(LoadConfig(map[string]string{
			"COMANDA_DATA_DIR": dataDir(t), "COMANDA_LISTEN": "127.0.0.1:0", "COMANDA_SANDBOX_PAYMENTS": "on",
			"COMANDA_SERVICE_TOKEN": matrixToken, "COMANDA_LIMITS": "off", "COMANDA_DATABASE_URL": database,
			"COMANDA_REDIS_URL": "redis://" + addr, "COMANDA_STREAM_LOOK": look.String(),
		}, nil, "", nil))(t)
		all[i] = (&fixture{t: t}).withConfig(c)
	}
	a, b = all[0], all[1]
	codes := testenv.Must(a.core.Floor.Tables(t.Context(), authz.System(), 1))(t)
	a.codes, b.codes = codes, codes
	a.guest["guest"] = a.landing(0).CustomerToken
	b.guest["guest"] = a.guest["guest"]
	return a, b
}

// stream is a live stream that the test reads.
type stream struct {
	t     *testing.T
	data  chan string
	ended chan struct{} // closed when the server has ended the stream
}

// follow opens a stream and returns it after its first event.
func (f *fixture) follow(principal, path string) *stream {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := testenv.Must(http.NewRequestWithContext(ctx, http.MethodGet, f.url+path, nil))(f.t)
	if token := f.bearer[principal]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("X-Customer-Token", f.guest[principal])
	transport := &http.Transport{}
	res, err := transport.RoundTrip(r) //nolint:bodyclose // with the stream
	if err != nil {
		f.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		f.t.Fatalf("%s is answered %d", path, res.StatusCode)
	}
	s := &stream{f.t, make(chan string, 1024), make(chan struct{})}
	go func() {
		defer close(s.ended)
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				s.data <- data
			}
		}
	}()
	f.t.Cleanup(func() {
		cancel()
		_ = res.Body.Close()
		<-s.ended
		transport.CloseIdleConnections()
	})
	s.until("the first event", func(map[string]any) bool { return true })
	return s
}

// until waits for an event for which matches returns true.
func (s *stream) until(what string, says func(map[string]any) bool) {
	s.t.Helper()
	late := time.After(soon)
	for {
		select {
		case data := <-s.data:
			var v map[string]any
			testenv.NoError(s.t, json.Unmarshal([]byte(data), &v))
			if says(v) {
				return
			}
		case <-late:
			s.t.Fatalf("within %s no stream showed %s", soon, what)
		}
	}
}

// left returns a function that reports whether an availability event has n of item 12 left.
func left(n float64) func(map[string]any) bool {
	return func(v map[string]any) bool {
		items, _ := v["items"].([]any)
		for _, it := range items {
			if m, _ := it.(map[string]any); m["itemId"] == "12" && m["remaining"] == n {
				return true
			}
		}
		return false
	}
}

func (f *fixture) sell(n int) {
	f.t.Helper()
	f.must(f.ask("service", "PUT", "/api/menu-items/12/quota", fmt.Sprintf(`{"dailyQuota":%d}`, n)))
}

func (f *fixture) pay(order string) {
	f.t.Helper()
	f.must(f.ask("", "POST", "/cis/payments/mock-callback", `{"orderId":"`+order+`","method":"SANDBOX","result":"SUCCESS"}`))
}

func has(key, value string) func(map[string]any) bool {
	return func(v map[string]any) bool { return v[key] == value }
}

// A change in one process reaches the other's streams long before they poll.
func TestLive_processes_notify_each_other(t *testing.T) {
	t.Parallel()
	redis := testenv.RedisServer(t)
	a, b := twoProcesses(t, seldom, redis.Addr(), redis.Addr())
	a.sell(9)
	order := a.order("SANDBOX")
	guest := b.follow("guest", "/cis/order/"+order+"/events")
	menu := b.follow("guest", "/cis/branch/1/availability/events")
	board := b.follow("service", "/api/boards/1/events")

	a.pay(order)
	guest.until("a payment", has("paymentStatus", "PAID"))
	board.until("a new ticket", func(v map[string]any) bool { return strings.Contains(fmt.Sprint(v["tickets"]), order) })
	a.order("SANDBOX")
	menu.until("a portion that is gone", left(7))
	a.sell(5)
	menu.until("a quota", left(3))
	a.must(a.ask("service", "POST", "/api/menu-items/12/86", `{"until":"RESTORED"}`))
	menu.until("a dish that is off", left(0))
	a.must(a.ask("service", "POST", "/api/menu-items/12/restore", ""))
	menu.until("a dish that is back", left(3))
	a.must(a.ask("service", "POST", "/api/branches/1/pause", `{"reasonCode":"BUSY","until":null}`))
	menu.until("a pause", func(v map[string]any) bool { return v["isPaused"] == true })
	a.must(a.ask("service", "POST", "/api/branches/1/resume", ""))
	menu.until("the end of the pause", func(v map[string]any) bool { return v["isPaused"] == false })
	draft := a.field("service", "POST", "/api/menus/1/versions", "", "id")
	a.must(a.ask("service", "POST", "/api/menu-versions/"+draft+"/publish", ""))
	menu.until("a new menu", has("menuVersionId", draft))
	a.must(a.ask("service", "POST", "/api/visits/"+a.landing(0).VisitID+"/move", `{"tableId":"6"}`))
	board.until("another table", func(v map[string]any) bool { return strings.Contains(fmt.Sprint(v["tickets"]), "A6") })
}

// A process that was disconnected from Redis polls after reconnecting, and so misses no change made in between.
func TestLive_cut_off(t *testing.T) {
	t.Parallel()
	redis := testenv.RedisServer(t)
	proxy := testenv.NewProxy(t, redis.Addr())
	a, b := twoProcesses(t, seldom, redis.Addr(), proxy.Addr())
	for range 3 {
		order := a.order("SANDBOX")
		guest := b.follow("guest", "/cis/order/"+order+"/events")
		proxy.Cut()
		a.pay(order)
		guest.until("a payment", has("paymentStatus", "PAID"))
	}
}

// Without Redis processes do not notify each other. No request fails because of it, and streams poll at their short
// intervals from then on.
func TestLive_without_redis(t *testing.T) {
	t.Parallel()
	redis := testenv.RedisServer(t)
	a, b := twoProcesses(t, 0, redis.Addr(), redis.Addr())
	testenv.Eventually(t, soon, b.core.notified)
	order := a.order("SANDBOX")
	guest := b.follow("guest", "/cis/order/"+order+"/events")
	redis.Stop()
	testenv.Eventually(t, soon, func() bool { return !b.core.notified() })
	a.pay(order)
	guest.until("a payment", has("paymentStatus", "PAID"))
}

// A process with its own store on SQLite is the only server, and knows all changes.
func TestLive_alone(t *testing.T) {
	if f := newFixture(t); !f.core.notified() {
		t.Error("the streams of the only process poll as if notifications could be lost")
	}
}

// A command beside a process with its own store notifies no one. Guests see its changes of the menu long before their
// streams poll, because the menu is read for all of them.
func TestLive_command(t *testing.T) {
	t.Parallel()
	f := newFixtureWith(t, map[string]string{"COMANDA_STREAM_LOOK": seldom.String()})
	menu := f.follow("guest", "/cis/branch/1/availability/events")
	for _, n := range []int64{5, 3} {
		_, err := WithCore(t.Context(), f.core.Config, func(k *Core) (none struct{}, err error) {
			return none, k.Editor.SetQuota(t.Context(), authz.System(), 12, &n)
		})
		testenv.NoError(t, err)
		menu.until("a quota", left(float64(n)))
	}
}

// The streams of a visit end when staff close it, and those of other tables go on.
func TestLive_closed_visit(t *testing.T) {
	f := newFixture(t)
	menu := f.follow("guest", "/cis/branch/1/availability/events")
	f.guest["other"] = f.landing(1).CustomerToken
	other := f.follow("other", "/cis/branch/1/availability/events")
	f.must(f.ask("service", "POST", "/api/visits/"+f.landing(0).VisitID+"/close", ""))
	select {
	case <-menu.ended:
	case <-time.After(httpapi.GuestCheck / 2):
		t.Error("the stream goes on as if its visit was open")
	}
	f.sell(4)
	other.until("a quota", left(4))
}
