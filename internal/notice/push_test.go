package notice_test

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/notice"
	"comanda/internal/notice/noticesql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var stmts = sqldb.Load(fstest.MapFS{
	"queue.sql": {Data: []byte(`
		INSERT INTO push_outbox (id, subscription_id, payload, urgency, created_at, available_at, expires_at)
		VALUES ($1, $2, '{}', 'high', $3, $3, $4)`)},
	"rows.sql": {Data: []byte(`SELECT id, attempts, dead, available_at, last_error FROM push_outbox ORDER BY id`)},
})

// services are push services by endpoint: what each answers, and what it has received.
type services struct {
	mu       sync.Mutex
	answers  map[string]error
	received map[string]int
}

// Send implements notice.PushTransport.
func (s *services) Send(_ context.Context, b notice.Subscription, _ []byte, ttl time.Duration, urgency string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ttl <= 0 || urgency != "high" {
		return errors.New("a delivery without lifetime or urgency")
	}
	if err := s.answers[b.Endpoint]; err != nil {
		return err
	}
	s.received[b.Endpoint]++
	return nil
}

type senderEnv struct {
	t        *testing.T
	db       *sqldb.DB
	now      time.Time
	store    *noticesql.Store
	services *services
	sender   *notice.PushSender
	results  map[string]int
	log      strings.Builder
}

func eachSender(t *testing.T, test func(t *testing.T, h *senderEnv)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := &senderEnv{
			t: t, db: db, now: db.Now(), store: noticesql.New(db), results: map[string]int{},
			services: &services{answers: map[string]error{}, received: map[string]int{}},
		}
		var mu sync.Mutex
		h.sender = &notice.PushSender{
			Store: h.store, Transport: h.services, Now: func() time.Time { return h.now }, Log: slog.New(slog.NewTextHandler(&h.log, nil)),
			Result: func(r string) { mu.Lock(); defer mu.Unlock(); h.results[r]++ },
		}
		test(t, h)
	})
}

// queue queues a delivery to a browser and returns the browser's endpoint.
func (h *senderEnv) queue(name string, ttl time.Duration) string {
	h.t.Helper()
	key := testenv.Must(ecdh.P256().GenerateKey(rand.Reader))(h.t)
	service := &notice.Service{Store: h.store, Now: h.sender.Now}
	b := testenv.Must(service.NewSubscription(notice.GuestReader("v"+name, name), "https://push.example/secret-"+name,
		base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), base64.RawURLEncoding.EncodeToString(make([]byte, 16)), "en"))(h.t)
	testenv.NoError(h.t, service.Subscribe(h.t.Context(), b))
	testenv.Must(h.db.Exec(h.t.Context(), stmts.Must("queue"), name, b.ID, h.now.UnixMilli(), h.now.Add(ttl).UnixMilli()))(h.t)
	return b.Endpoint
}

type deliveryRow struct {
	id                 string
	attempts, dead, at int64
	reason             string
}

func (h *senderEnv) rows() map[string]deliveryRow {
	h.t.Helper()
	all := map[string]deliveryRow{}
	for _, r := range testenv.Must(sqldb.Collect(h.t.Context(), h.db, sqldb.Row(func(r *deliveryRow) []any {
		return []any{&r.id, &r.attempts, &r.dead, &r.at, &r.reason}
	}), stmts.Must("rows")))(h.t) {
		all[r.id] = r
	}
	return all
}

// Each answer of a push service decides about its delivery and no other: sent, gone, later, tried again, or refused for
// good. No log contains an endpoint (N5).
func TestPushSender(t *testing.T) {
	eachSender(t, func(t *testing.T, h *senderEnv) {
		sent := h.queue("sent", time.Hour)
		h.queue("expired", -time.Second)
		h.services.answers[h.queue("gone", time.Hour)] = notice.ErrGone
		h.services.answers[h.queue("later", time.Hour)] = notice.RetryLaterError{After: 2 * time.Minute}
		h.services.answers[h.queue("broken", time.Hour)] = errors.New("status 500")
		h.services.answers[h.queue("refused", time.Hour)] = fmt.Errorf("%w: status 403", notice.ErrRefused)
		testenv.NoError(t, h.sender.RunOnce(t.Context()))
		rows := h.rows()
		if len(rows) != 3 || h.services.received[sent] != 1 {
			t.Fatalf("rows %+v, received %v", rows, h.services.received)
		}
		if r := rows["later"]; r.attempts != 0 || r.dead != 0 || r.at != h.now.Add(2*time.Minute).UnixMilli() {
			t.Errorf("a delivery that should wait: %+v", r)
		}
		if r := rows["broken"]; r.attempts != 1 || r.dead != 0 || r.at <= h.now.UnixMilli() || r.reason == "" {
			t.Errorf("a delivery that failed: %+v", r)
		}
		if r := rows["refused"]; r.dead != 1 {
			t.Errorf("a delivery that was refused: %+v", r)
		}
		for _, r := range notice.Results() {
			if h.results[r] != 1 {
				t.Errorf("%d deliveries have the result %s, want 1", h.results[r], r)
			}
		}
		if strings.Contains(h.log.String(), "secret-") {
			t.Errorf("the log contains an endpoint:\n%s", h.log.String())
		}
		// The browser that is gone gets nothing any more.
		testenv.NoError(t, h.sender.RunOnce(t.Context()))
		if len(h.rows()) != 3 {
			t.Errorf("rows %+v", h.rows())
		}
	})
}

// A delivery that fails is tried again until its last attempt, and one that waits is sent after the pause.
func TestPushSender_tries_again(t *testing.T) {
	eachSender(t, func(t *testing.T, h *senderEnv) {
		broken := h.queue("broken", 1000*time.Hour)
		later := h.queue("later", 1000*time.Hour)
		h.services.answers[broken] = errors.New("status 500")
		h.services.answers[later] = notice.RetryLaterError{After: time.Minute}
		for range 2 * notice.MaxAttempts {
			testenv.NoError(t, h.sender.RunOnce(t.Context()))
			h.now = h.now.Add(time.Hour)
		}
		rows := h.rows()
		if r := rows["broken"]; r.dead != 1 || r.attempts != notice.MaxAttempts {
			t.Errorf("a delivery that always fails: %+v", r)
		}
		if r := rows["later"]; r.dead != 0 || r.attempts != 0 {
			t.Errorf("a delivery that always waits: %+v", r)
		}
		delete(h.services.answers, later)
		testenv.NoError(t, h.sender.RunOnce(t.Context()))
		if h.services.received[later] != 1 || len(h.rows()) != 1 {
			t.Errorf("received %v, rows %+v", h.services.received, h.rows())
		}
	})
}

// Several processes share the work and send each delivery once.
func TestPushSender_concurrent(t *testing.T) {
	eachSender(t, func(t *testing.T, h *senderEnv) {
		const n = 60
		for i := range n {
			h.queue(fmt.Sprintf("d%02d", i), time.Hour)
		}
		var all sync.WaitGroup
		for range 4 {
			s := &notice.PushSender{
				Store: h.store, Transport: h.services, Now: h.sender.Now, Log: slog.New(slog.DiscardHandler),
			}
			all.Go(func() {
				if err := s.RunOnce(t.Context()); err != nil {
					t.Errorf("RunOnce: %v", err)
				}
			})
		}
		all.Wait()
		for endpoint, times := range h.services.received {
			if times != 1 {
				t.Errorf("%s received %d deliveries, want 1", endpoint, times)
			}
		}
		if len(h.services.received) != n || len(h.rows()) != 0 {
			t.Errorf("%d browsers received a delivery and %d rows are left, want %d and none", len(h.services.received), len(h.rows()), n)
		}
	})
}

// A process that stops before it sends frees what it has claimed: another process sends it at once.
func TestPushSender_stop(t *testing.T) {
	eachSender(t, func(t *testing.T, h *senderEnv) {
		endpoint := h.queue("d", time.Hour)
		stopping, stop := context.WithCancel(t.Context())
		defer stop()
		h.sender.Store = stoppingStore{h.store, stop}
		if err := h.sender.RunOnce(stopping); err == nil {
			t.Error("RunOnce of a stopping process: no error")
		}
		if r := h.rows()["d"]; r.attempts != 0 || r.at != h.now.UnixMilli() {
			t.Errorf("row = %+v, want no attempt, due now", r)
		}
		h.sender.Store = h.store
		testenv.NoError(t, h.sender.RunOnce(t.Context()))
		testenv.Equal(t, 1, h.services.received[endpoint])
	})
}

// stoppingStore stops the process when it reads a subscription.
type stoppingStore struct {
	*noticesql.Store

	stop func()
}

func (s stoppingStore) Subscription(ctx context.Context, id string, now time.Time) (notice.Subscription, bool, error) {
	s.stop()
	return s.Store.Subscription(ctx, id, now)
}

// A subscription has an https endpoint, a point of the curve and a secret of 16 bytes.
func TestNewSubscription_refuses(t *testing.T) {
	const key, auth = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "BTBZMqHH6r4Tts7J_aSIgg"
	s, r := &notice.Service{Now: time.Now}, notice.GuestReader("v", "hash")
	testenv.Must(s.NewSubscription(r, "https://push.example/1", key, auth, "en"))(t)
	testenv.Must(s.NewSubscription(r, "https://push.example/1", key+"=", auth+"==", "en"))(t)
	for name, c := range map[string][3]string{
		"http": {"http://push.example/1", key, auth}, "no host": {"https:///1", key, auth}, "user": {"https://a:b@push.example/1", key, auth},
		"file": {"file:///etc/passwd", key, auth}, "no point": {"https://push.example/1", key[:60], auth},
		"not on the curve": {"https://push.example/1", "BA" + strings.Repeat("A", 85), auth}, "short secret": {"https://push.example/1", key, auth[:10]},
		"long": {"https://push.example/" + strings.Repeat("x", 1000), key, auth},
	} {
		if _, err := s.NewSubscription(r, c[0], c[1], c[2], "en"); !errors.Is(err, notice.ErrSubscription) {
			t.Errorf("a subscription with %s: error %v, want ErrSubscription", name, err)
		}
	}
}
