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
	stockItems   = testenv.Size(10, 100)         // stock items
	unitsPerItem = testenv.Size(20, 50)          // units of each item
	reservations = 2 * stockItems * unitsPerItem // reservations of one unit
	connections  = testenv.Size(64, 10_000)      // connections, at least one request each
	operations   = testenv.Size(16, 64)          // concurrent operations on reservations afterwards
)

const (
	shortTTL    = time.Minute
	stockBranch = "1" // the branch
)

// Twice as many concurrent reservations as there are units: exactly as many succeed as there are units. Then they are
// confirmed, cancelled or left to expire, over HTTP and by messages, up to three times each and in any order, while the
// server is killed three times, Redis is emptied, and the broker is stopped once, killed once and restarted. No unit is
// created or lost, other systems receive every event, and in the end all figures are exact (I1, I2, I4, I7, I8, I9,
// I12). With COMANDA_TEST_SOAK=1 this is inventory-tcc 003-H3: 10,000 reservations are open at the same time.
func TestInventory(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		var broker *testenv.Broker
		if k == servers {
			broker = testenv.RabbitServer(t)
		}
		s := prepare(t, k, nil)
		if broker != nil {
			s.env["AMQP_URL"] = broker.URL()
		}
		s.servers[0].start()
		s.readMenu()
		m := newStockClient(s, broker)
		m.reserveAll()
		s.awaitConsistent()
		m.passDeadlines()
		m.runOperations()
		m.awaitOutcomes()
		s.awaitConsistent()
		s.awaitPublished()
		m.checkEvents()
	}, embedded, servers)
}

// stockClient is another system that reserves stock.
type stockClient struct {
	s        *installation
	client   *http.Client
	broker   *testenv.Broker // nil without a broker
	messages *publisher      // nil without a broker
	won      []int           // successful reservations
}

func newStockClient(s *installation, broker *testenv.Broker) *stockClient {
	transport := &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}
	m := &stockClient{s: s, client: &http.Client{Transport: transport, Timeout: patience}, broker: broker}
	s.t.Cleanup(transport.CloseIdleConnections)
	for i := range stockItems {
		m.do(http.MethodPut, "/inventory/"+stockItemID(i), map[string]any{"branchId": stockBranch, "available": unitsPerItem}).
			want(s.t, http.StatusOK, "")
	}
	if broker != nil {
		m.messages = newPublisher(s, broker.URL())
	}
	return m
}

func stockItemID(i int) string { return fmt.Sprintf("thing-%d", i%stockItems) }
func reservation(i int) string { return fmt.Sprintf("reservation-%d", i) }

// do sends a request of the other system.
func (m *stockClient) do(method, path string, body any) answer {
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

// retry repeats a request until the response is final.
func (m *stockClient) retry(method, path string, body any) answer {
	over := time.Now().Add(patience)
	for {
		a := m.do(method, path, body)
		if a.err == nil && a.status != http.StatusServiceUnavailable && a.status != http.StatusTooManyRequests || time.Now().After(over) {
			return a
		}
		<-time.After(50 * time.Millisecond) // like a real system
	}
}

func (m *stockClient) reserve(i int) answer {
	ttl := 3600
	if outcomeOf(i) == abandoned {
		ttl = int(shortTTL.Seconds())
	}
	return m.retry(http.MethodPost, "/inventory/reservations", map[string]any{
		"orderId": reservation(i), "branchId": stockBranch, "ttlSeconds": ttl,
		"items": []map[string]any{{"itemId": stockItemID(i), "quantity": 1}},
	})
}

// reserveAll sends all reservations, in a soak all 10,000 at once.
func (m *stockClient) reserveAll() {
	t := m.s.t
	answers := make([]answer, reservations)
	var next atomic.Int64
	inParallel(connections, func(int) {
		for i := int(next.Add(1)) - 1; i < reservations; i = int(next.Add(1)) - 1 {
			answers[i] = m.reserve(i)
		}
	})
	for i, a := range answers {
		switch a.status {
		case http.StatusCreated, http.StatusOK: // 200: the answer to an earlier attempt was lost
			m.won = append(m.won, i)
		case http.StatusConflict:
			a.want(t, http.StatusConflict, "insufficient_stock")
		default:
			t.Fatalf("reservation %d is answered %v", i, a)
		}
	}
	if len(m.won) != stockItems*unitsPerItem {
		t.Errorf("%d reservations were made of %d units", len(m.won), stockItems*unitsPerItem)
	}
	for i := range stockItems {
		if l := m.level(i); l.Available != 0 || l.Reserved != unitsPerItem || l.Sold != 0 {
			t.Errorf("level = %+v, want %d reserved and none available", l, unitsPerItem)
		}
	}
}

type level struct {
	Item      string `json:"itemId"`
	Available int    `json:"available"`
	Reserved  int    `json:"reserved"`
	Sold      int    `json:"sold"`
}

func (m *stockClient) level(i int) (l level) {
	m.s.t.Helper()
	m.retry(http.MethodGet, "/inventory/"+stockItemID(i)+"?branchId="+stockBranch, nil).into(m.s.t, &l)
	return l
}

// outcome is the intended outcome of a reservation.
type outcome int

const (
	confirmed outcome = iota
	confirmedByMessage
	canceled
	canceledByMessage
	abandoned
)

func outcomeOf(i int) outcome {
	return [...]outcome{
		confirmed, confirmedByMessage, canceled, canceledByMessage, confirmed, abandoned, confirmedByMessage, confirmed, canceled, abandoned,
	}[i/stockItems%10]
}

// passDeadlines moves the deadlines of the abandoned reservations into the past.
func (m *stockClient) passDeadlines() {
	t, want := m.s.t, int64(0)
	t.Helper()
	for _, i := range m.won {
		if outcomeOf(i) == abandoned {
			want++
		}
	}
	m.s.database(func(db *sqldb.DB) error {
		n, err := db.Exec(t.Context(), statement(fmt.Sprintf(
			"UPDATE hold SET expires_at = created_at WHERE state = 'HELD' AND expires_at <= created_at + %d", shortTTL.Milliseconds())))
		if n != want {
			t.Errorf("%d reservations end after %v, want %d", n, shortTTL, want)
		}
		return err
	})
}

// runOperations performs all operations in random order, some twice or three times, while failures happen.
func (m *stockClient) runOperations() {
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
	for range operations {
		all.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(todo); n = int(next.Add(1)) - 1 {
				m.operate(todo[n])
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
	if m.messages != nil {
		m.messages.close()
	}
}

// failures returns the failures to inject; more makes some progress between them.
func (m *stockClient) failures(more func()) []func() {
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

// operate performs one operation on a reservation.
func (m *stockClient) operate(i int) {
	id, f := reservation(i), outcomeOf(i)
	byMessage := m.messages != nil && (f == confirmedByMessage || f == canceledByMessage)
	switch {
	case f == abandoned:
	case byMessage && f == confirmedByMessage:
		m.messages.send("order.confirmed", id)
	case byMessage:
		m.messages.send("order.cancel.requested", id)
	case f == confirmed, f == confirmedByMessage:
		m.wantOK(m.retry(http.MethodPost, "/inventory/reservations/"+id+"/confirm", struct{}{}))
	default:
		m.wantOK(m.retry(http.MethodPost, "/inventory/reservations/"+id+"/cancel", struct{}{}))
	}
}

func (m *stockClient) wantOK(a answer) {
	if a.status != http.StatusOK {
		m.s.t.Errorf("answered %v", a)
	}
}

// watchInterval is the pause between two queries of watch. Without it they would starve the server of the processor.
const watchInterval = 5 * time.Millisecond

// watch checks single items all the time: units change state, but their number stays the same.
func (m *stockClient) watch(ctx context.Context) {
	next := time.NewTicker(watchInterval)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		l := m.level(rand.IntN(stockItems))
		if l.Available+l.Reserved+l.Sold != unitsPerItem || l.Available < 0 || l.Reserved < 0 || l.Sold < 0 {
			m.s.t.Errorf("level = %+v, want a sum of %d and nothing below 0", l, unitsPerItem)
		}
	}
}

// awaitOutcomes waits until every message is delivered and every deadline has passed, and checks all figures.
func (m *stockClient) awaitOutcomes() {
	want := make([]level, stockItems)
	for i := range want {
		want[i] = level{Item: stockItemID(i)}
	}
	for _, i := range m.won {
		l := &want[i%stockItems]
		if f := outcomeOf(i); f == confirmed || f == confirmedByMessage {
			l.Sold++
		} else {
			l.Available++
		}
	}
	defer m.logUnfinished()
	m.s.await(patience, func() error {
		for i, w := range want {
			if l := m.level(i); l != w {
				return fmt.Errorf("%+v, want %+v", l, w)
			}
		}
		return nil
	})
	for _, i := range m.won[:stockItems] {
		status := map[outcome]string{abandoned: "EXPIRED", canceled: "CANCELLED", canceledByMessage: "CANCELLED"}[outcomeOf(i)]
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

// logUnfinished logs, if the test has failed, the reservations that still hold units and what the queues contain. A lost
// message and one that is not consumed look the same in the figures.
func (m *stockClient) logUnfinished() {
	t := m.s.t
	if !t.Failed() {
		return
	}
	for _, i := range m.won {
		var r struct {
			Status string `json:"status"`
		}
		if a := m.do(http.MethodGet, "/inventory/reservations/"+reservation(i), nil); a.err != nil || json.Unmarshal(a.body, &r) != nil ||
			r.Status == "RESERVED" {
			t.Logf("%s of outcome %d: %v", reservation(i), outcomeOf(i), a)
		}
	}
	if m.broker == nil {
		return
	}
	for _, key := range []string{"order.confirmed", "order.cancel.requested"} {
		name := m.s.env["AMQP_PREFIX"] + "inventory." + key
		q, err := openQueues(t, m.broker.URL()).ch.QueueDeclarePassive(name, true, false, false, false, nil)
		t.Logf("%s: %d messages, %d consumers, %v", name, q.Messages, q.Consumers, err)
	}
}

// checkEvents compares the events that other systems received with the outcomes of the reservations (I7).
func (m *stockClient) checkEvents() {
	if m.messages == nil {
		return
	}
	want, all := map[string]int{"inventory.reserved": len(m.won)}, 2*len(m.won)
	for _, i := range m.won {
		switch outcomeOf(i) {
		case confirmed, confirmedByMessage:
			want["inventory.sold"]++
		case canceled, canceledByMessage, abandoned:
			want["inventory.released"]++
		}
	}
	if diff := cmp.Diff(want, m.messages.receive(all)); diff != "" {
		m.s.t.Errorf("other systems received other events (-want +got):\n%s", diff)
	}
}
