package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// Sizes of another system's load on the stock.
var (
	things    = testenv.Size(20, 100)    // stock items
	unitsEach = testenv.Size(25, 50)     // of each
	wanted    = 2 * things * unitsEach   // reservations of one unit
	shopLines = testenv.Size(128, 2_000) // connections
	shopping  = testenv.Size(16, 64)     // concurrent operations on reservations afterwards
)

const (
	timedOut   = time.Minute
	stockPlace = "1" // the branch
)

// Twice as many concurrent reservations as there are units: exactly as many succeed as there are units. Then they are
// confirmed, cancelled or left to expire, over HTTP and by messages, up to three times each and in any order, while the
// server is killed three times, Redis is emptied, and the broker is stopped once, killed once and restarted. No unit is
// created or lost, other systems receive every event, and in the end all figures are exact (I1, I2, I4, I7, I8, I9,
// I12).
func TestInventory(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		var broker *testenv.Broker
		if k == servers {
			broker = testenv.RabbitServer(t)
		}
		s := prepare(t, k, nil)
		if broker != nil {
			s.env["AMQP_URL"] = broker.URL()
		}
		s.servers[0].start()
		s.look()
		m := newMall(s, broker)
		m.storm()
		s.agrees()
		m.late()
		m.aftermath()
		m.settled()
		s.agrees()
		s.drained()
		m.heard()
	}, embedded, servers)
}

// mall is another system.
type mall struct {
	s      *site
	client *http.Client
	broker *testenv.Broker // nil without a broker
	post   *post           // nil without a broker
	won    []int           // successful reservations
}

func newMall(s *site, broker *testenv.Broker) *mall {
	transport := &http.Transport{MaxIdleConnsPerHost: shopLines, MaxConnsPerHost: shopLines}
	m := &mall{s: s, client: &http.Client{Transport: transport, Timeout: patience}, broker: broker}
	s.t.Cleanup(transport.CloseIdleConnections)
	for i := range things {
		m.do(http.MethodPut, "/inventory/"+thing(i), map[string]any{"branchId": stockPlace, "available": unitsEach}).
			want(s.t, http.StatusOK, "")
	}
	if broker != nil {
		m.post = newPost(s, broker.URL())
	}
	return m
}

func thing(i int) string       { return fmt.Sprintf("thing-%d", i%things) }
func reservation(i int) string { return fmt.Sprintf("mall-%d", i) }

// do sends a request of the mall.
func (m *mall) do(method, path string, body any) answer {
	text, err := json.Marshal(body)
	if err != nil {
		return answer{err: err}
	}
	req, err := http.NewRequestWithContext(context.Background(), method, "http://"+m.s.servers[0].addr+path, bytes.NewReader(text))
	if err != nil {
		return answer{err: err}
	}
	req.Header.Set("Authorization", "Bearer "+m.s.secret)
	req.Header.Set("Content-Type", "application/json")
	resp, err := m.client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, body: text, err: err}
}

// insist repeats a request until the answer is final.
func (m *mall) insist(method, path string, body any) answer {
	over := time.Now().Add(patience)
	for {
		a := m.do(method, path, body)
		if a.err == nil && a.status != http.StatusServiceUnavailable && a.status != http.StatusTooManyRequests || time.Now().After(over) {
			return a
		}
		<-time.After(50 * time.Millisecond) // as such a system would
	}
}

func (m *mall) reserve(i int) answer {
	ttl := 3600
	if fateOf(i) == forgotten {
		ttl = int(timedOut.Seconds())
	}
	return m.insist(http.MethodPost, "/inventory/reservations", map[string]any{
		"orderId": reservation(i), "branchId": stockPlace, "ttlSeconds": ttl,
		"items": []map[string]any{{"itemId": thing(i), "quantity": 1}},
	})
}

// storm sends all reservations at once.
func (m *mall) storm() {
	t := m.s.t
	answers := make([]answer, wanted)
	var next atomic.Int64
	atOnce(shopLines, func(int) {
		for i := int(next.Add(1)) - 1; i < wanted; i = int(next.Add(1)) - 1 {
			answers[i] = m.reserve(i)
		}
	})
	for i, a := range answers {
		switch a.status {
		case http.StatusCreated:
			m.won = append(m.won, i)
		case http.StatusConflict:
			a.want(t, http.StatusConflict, "insufficient_stock")
		default:
			t.Fatalf("reservation %d is answered %v", i, a)
		}
	}
	if len(m.won) != things*unitsEach {
		t.Errorf("%d reservations were made of %d units", len(m.won), things*unitsEach)
	}
	for i := range things {
		if l := m.level(i); l.Available != 0 || l.Reserved != unitsEach || l.Sold != 0 {
			t.Errorf("%+v", l)
		}
	}
}

type level struct {
	Item      string `json:"itemId"`
	Available int    `json:"available"`
	Reserved  int    `json:"reserved"`
	Sold      int    `json:"sold"`
}

func (m *mall) level(i int) (l level) {
	m.s.t.Helper()
	m.insist(http.MethodGet, "/inventory/"+thing(i)+"?branchId="+stockPlace, nil).into(m.s.t, &l)
	return l
}

// fate is the intended outcome of a reservation.
type fate int

const (
	confirmed fate = iota
	confirmedByMessage
	called // cancelled
	calledByMessage
	forgotten
)

func fateOf(i int) fate {
	return [...]fate{
		confirmed, confirmedByMessage, called, calledByMessage, confirmed, forgotten, confirmedByMessage, confirmed, called, forgotten,
	}[i/things%10]
}

// late moves the deadlines of the abandoned reservations into the past.
func (m *mall) late() {
	t, want := m.s.t, int64(0)
	t.Helper()
	for _, i := range m.won {
		if fateOf(i) == forgotten {
			want++
		}
	}
	m.s.database(func(db *sqldb.DB) error {
		n, err := db.Exec(t.Context(), statement(fmt.Sprintf(
			"UPDATE hold SET expires_at = created_at WHERE state = 'HELD' AND expires_at <= created_at + %d", timedOut.Milliseconds())))
		if n != want {
			t.Errorf("%d reservations end after %v, want %d", n, timedOut, want)
		}
		return err
	})
}

// aftermath performs all fates in random order, some twice or three times, while failures happen.
func (m *mall) aftermath() {
	var todo []int
	for _, i := range m.won {
		for range 1 + rand.IntN(3) {
			todo = append(todo, i)
		}
	}
	rand.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	var done atomic.Int64
	ctx, stop := context.WithCancel(m.s.t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { m.watch(ctx) })
	var all sync.WaitGroup
	var next atomic.Int64
	for range shopping {
		all.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(todo); n = int(next.Add(1)) - 1 {
				m.settle(todo[n])
				done.Add(1)
			}
		})
	}
	reach := func(n int64) {
		m.s.await(patience, func() error {
			if d := done.Load(); d < n {
				return fmt.Errorf("%d of %d are done", d, len(todo))
			}
			return nil
		})
	}
	failures := m.failures(func() { reach(min(int64(len(todo)), done.Load()+int64(len(todo))/20)) })
	for n, fail := range failures {
		reach(int64((n + 1) * len(todo) / (len(failures) + 1)))
		fail()
	}
	all.Wait()
	stop()
	watching.Wait()
	if m.post != nil {
		m.post.close()
	}
}

// failures returns the failures to inject; more makes some progress between them.
func (m *mall) failures(more func()) []func() {
	kill := func() { m.s.servers[0].kill(); m.s.servers[0].start() }
	if m.broker == nil {
		return []func(){kill, m.s.flush, kill, kill}
	}
	without := func(end func()) func() {
		return func() {
			end()
			more()
			m.broker.Restart()
		}
	}
	return []func(){kill, m.s.flush, without(m.broker.Stop), kill, without(m.broker.Kill), kill}
}

// settle performs one operation on a reservation.
func (m *mall) settle(i int) {
	id, f := reservation(i), fateOf(i)
	byMessage := m.post != nil && (f == confirmedByMessage || f == calledByMessage)
	switch {
	case f == forgotten:
	case byMessage && f == confirmedByMessage:
		m.post.send("order.confirmed", id)
	case byMessage:
		m.post.send("order.cancel.requested", id)
	case f == confirmed, f == confirmedByMessage:
		m.wantOK(m.insist(http.MethodPost, "/inventory/reservations/"+id+"/confirm", struct{}{}))
	default:
		m.wantOK(m.insist(http.MethodPost, "/inventory/reservations/"+id+"/cancel", struct{}{}))
	}
}

func (m *mall) wantOK(a answer) {
	if a.status != http.StatusOK {
		m.s.t.Errorf("answered %v", a)
	}
}

// watchInterval is the pause between two queries of watch. Without it they would starve the server of the processor.
const watchInterval = 5 * time.Millisecond

// watch checks single items all the time: units change state, but their number stays the same.
func (m *mall) watch(ctx context.Context) {
	next := time.NewTicker(watchInterval)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		l := m.level(rand.IntN(things))
		if l.Available+l.Reserved+l.Sold != unitsEach || l.Available < 0 || l.Reserved < 0 || l.Sold < 0 {
			m.s.t.Errorf("%+v", l)
		}
	}
}

// settled waits until every message is delivered and every deadline has passed, and checks all figures.
func (m *mall) settled() {
	want := make([]level, things)
	for i := range want {
		want[i] = level{Item: thing(i)}
	}
	for _, i := range m.won {
		l := &want[i%things]
		if f := fateOf(i); f == confirmed || f == confirmedByMessage {
			l.Sold++
		} else {
			l.Available++
		}
	}
	m.s.await(patience, func() error {
		for i, w := range want {
			if l := m.level(i); l != w {
				return fmt.Errorf("%+v, want %+v", l, w)
			}
		}
		return nil
	})
	for _, i := range m.won[:things] {
		status := map[fate]string{forgotten: "EXPIRED", called: "CANCELLED", calledByMessage: "CANCELLED"}[fateOf(i)]
		if status == "" {
			status = "CONFIRMED"
		}
		var r struct {
			Status string `json:"status"`
		}
		m.do(http.MethodGet, "/inventory/reservations/"+reservation(i), nil).into(m.s.t, &r)
		if r.Status != status {
			m.s.t.Errorf("%s is %s, want %s", reservation(i), r.Status, status)
		}
	}
}

// heard compares the events that other systems received with the outcomes of the reservations (I7).
func (m *mall) heard() {
	if m.post == nil {
		return
	}
	want, all := map[string]int{"inventory.reserved": len(m.won)}, 2*len(m.won)
	for _, i := range m.won {
		switch fateOf(i) {
		case confirmed, confirmedByMessage:
			want["inventory.sold"]++
		case called, calledByMessage, forgotten:
			want["inventory.released"]++
		}
	}
	if diff := cmp.Diff(want, m.post.hear(all)); diff != "" {
		m.s.t.Errorf("other systems received other events:\n%s", diff)
	}
}
