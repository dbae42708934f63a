package mail_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/mail"
	"comanda/internal/mail/mailout"
	"comanda/internal/mail/mailsql"
	"comanda/internal/mail/mailtest"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
	"comanda/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	stmts = sqldb.Load(fstest.MapFS{
		"insert.sql": {Data: []byte(`INSERT INTO mail_outbox
			(id, recipient, template, locale, fields, created_at, available_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $6, $7)`)},
		"look.sql":    {Data: []byte(`SELECT id, attempts, dead, fields, last_error, available_at FROM mail_outbox ORDER BY id`)},
		"about.sql":   {Data: []byte(`UPDATE mail_outbox SET branch_id = $2 WHERE id = $1`)},
		"prolong.sql": {Data: []byte(`UPDATE mail_outbox SET expires_at = $1`)},
	})

	insert, look, prolong = stmts.Must("insert"), stmts.Must("look"), stmts.Must("prolong")
)

// env is a sender with its database and server. Its clock stands still until a test moves it.
type env struct {
	t      *testing.T
	db     *sqldb.DB
	server *mailtest.Server
	sender *mail.Sender
	now    time.Time
	log    *bytes.Buffer
	counts map[string]int
}

// code is the decrypted code of the messages in these tests.
const code = "493028"

func newEnv(t *testing.T, db *sqldb.DB) *env {
	t.Helper()
	h := &env{
		t: t, db: db, server: mailtest.New(t), now: time.Now().UTC().Truncate(time.Millisecond), log: &bytes.Buffer{},
		counts: map[string]int{},
	}
	h.sender = h.another()
	return h
}

// another returns the sender of a second process on the same database and server.
func (h *env) another() *mail.Sender {
	post, err := mailout.NewSMTP(mailout.Config{URL: telemetry.Secret(h.server.URL()), From: "Comanda <no-reply@house.example>"})
	if err != nil {
		h.t.Fatal(err)
	}
	return &mail.Sender{
		Store: mailsql.New(h.db), Transport: post, Now: func() time.Time { return h.now },
		Log:    slog.New(slog.NewJSONHandler(h.log, nil)),
		Result: func(r string) { h.counts[r]++ },
		Decrypt: func(fields map[string]string) (map[string]string, error) {
			if fields["code"] != "" && fields["code"] != "encrypted" {
				return nil, errors.New("cannot decrypt " + fields["code"])
			}
			return map[string]string{"code": code, "name": fields["name"]}, nil
		},
	}
}

func (h *env) write(id, to string, life time.Duration, fields map[string]string) {
	h.t.Helper()
	text := testenv.Must(json.Marshal(fields))(h.t)
	ms := h.now.UnixMilli()
	testenv.Must(h.db.Exec(h.t.Context(), insert, id, to, "verify", "en", string(text), ms, ms+life.Milliseconds()))(h.t)
}

func (h *env) letter(id string) {
	h.write(id, id+"@example.com", time.Hour, map[string]string{"code": "encrypted"})
}

type row struct {
	id, fields, reason string
	attempts, dead     int
	due                int64
}

func (h *env) rows() []row {
	h.t.Helper()
	return testenv.Must(sqldb.Collect(h.t.Context(), h.db, func(r sqldb.Rows) (w row, err error) {
		err = r.Scan(&w.id, &w.attempts, &w.dead, &w.fields, &w.reason, &w.due)
		return w, err
	}, look))(h.t)
}

func (h *env) run() {
	h.t.Helper()
	testenv.NoError(h.t, h.sender.RunOnce(h.t.Context()))
}

// wantNoCode checks that neither the log nor the table contains the code (E3).
func (h *env) wantNoCode() {
	h.t.Helper()
	if strings.Contains(h.log.String(), code) || strings.Contains(fmt.Sprint(h.rows()), code) {
		h.t.Errorf("code in the log or in a row:\n%s\n%v", h.log, h.rows())
	}
	if strings.Contains(h.log.String(), "@example.com") {
		h.t.Errorf("recipient in the log:\n%s", h.log)
	}
}

func each(t *testing.T, test func(h *env)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(newEnv(t, db)) })
}

func TestSender(t *testing.T) {
	each(t, func(h *env) {
		for i := range 25 { // more than a batch
			h.letter(fmt.Sprintf("letter%02d", i))
		}
		h.write("late", "late@example.com", 0, map[string]string{"code": "encrypted"})
		h.run()
		got, raw := h.server.Messages()
		if len(got) != 25 || len(h.rows()) != 0 || h.counts["sent"] != 25 || h.counts["expired"] != 1 {
			h.t.Fatalf("%d messages, rows %v, counts %v, want 25 sent and one expired", len(got), h.rows(), h.counts)
		}
		m := got[0].Header
		if m.Get("To") != "<letter00@example.com>" || m.Get("From") != `"Comanda" <no-reply@house.example>` ||
			m.Get("Message-Id") != "<letter00@house.example>" || m.Get("Auto-Submitted") != "auto-generated" ||
			m.Get("Subject") != "Your verification code: "+code || !strings.HasPrefix(m.Get("Content-Type"), "multipart/alternative") {
			h.t.Errorf("headers = %v, want those of a verification code", m)
		}
		if strings.Count(raw[0], code) < 3 { // expected in the subject, the text and the HTML
			h.t.Errorf("message with fewer than three codes:\n%s", raw[0])
		}
		h.wantNoCode()
	})
}

// Temporary failures are retried with growing delays and end as a dead letter (E2).
func TestSender_dead_letters(t *testing.T) {
	each(t, func(h *env) {
		h.letter("a")
		h.server.Reply("DATA", "451 4.3.0 not now, "+code)
		last := time.Duration(0)
		for i := range mail.MaxAttempts {
			h.run()
			r := h.rows()[0]
			if r.attempts != i+1 || (r.dead == 1) != (i+1 == mail.MaxAttempts) {
				h.t.Fatalf("row after %d attempts = %+v, want it dead after the last one", i+1, r)
			}
			if r.dead == 1 {
				testenv.Equal(h.t, "{}", r.fields)
				break
			}
			pause := time.UnixMilli(r.due).Sub(h.now)
			if pause < last || pause <= 0 || pause > time.Hour {
				h.t.Errorf("pause after attempt %d = %v, before %v, want a longer one of at most an hour", i+1, pause, last)
			}
			h.run() // too early: nothing happens
			last = pause
			h.now = h.now.Add(pause)
			h.keepAlive()
		}
		if h.counts["failed"] != mail.MaxAttempts-1 || h.counts["dead"] != 1 {
			h.t.Errorf("counts = %v, want every attempt failed but the last, which is dead", h.counts)
		}
		h.wantNoCode()
	})
}

// keepAlive extends the expiry of all messages.
func (h *env) keepAlive() {
	testenv.Must(h.db.Exec(h.t.Context(), prolong, h.now.Add(time.Hour).UnixMilli()))(h.t)
}

// A permanent rejection is a dead letter at once, and other messages are sent.
func TestSender_refused(t *testing.T) {
	for name, c := range map[string]struct {
		to     string
		fields map[string]string
		reply  string
	}{
		"unknown user":      {"nobody@example.com", map[string]string{"code": "encrypted"}, "550 5.1.1 user unknown"},
		"undecryptable":     {"a@example.com", map[string]string{"code": code}, ""},
		"injected header":   {"a@example.com\r\nBcc: all@example.com", nil, ""},
		"several addresses": {"a@example.com, b@example.com", nil, ""},
		"a name with it":    {"A <a@example.com>", nil, ""},
		"a command":         {"a@example.com>\r\nRCPT TO:<b@example.com", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newEnv(t, sqldbtest.SQLite(t))
			h.write("a", c.to, time.Hour, c.fields)
			h.server.Reply("RCPT", c.reply)
			h.run()
			if r := h.rows(); len(r) != 1 || r[0].dead != 1 || r[0].attempts != 1 || r[0].reason == "" {
				t.Fatalf("rows = %+v, want one dead letter after one attempt", r)
			}
			h.server.Reply("RCPT", "")
			h.letter("b")
			h.run()
			if got, _ := h.server.Messages(); len(got) != 1 || len(h.rows()) != 1 {
				t.Errorf("%d messages, rows %+v, want one each", len(got), h.rows())
			}
			h.wantNoCode()
		})
	}
}

// While the server is unreachable no attempt is counted (E2); afterwards all messages are sent.
func TestSender_unreachable(t *testing.T) {
	each(t, func(h *env) {
		for i := range 3 {
			h.letter(fmt.Sprint("letter", i))
		}
		h.server.Close()
		for range 2 * mail.MaxAttempts {
			testenv.ErrorIs(h.t, mail.ErrUnreachable, h.sender.RunOnce(h.t.Context()), "without a server")
		}
		for _, r := range h.rows() {
			if r.attempts != 0 || r.dead != 0 || r.due != h.now.UnixMilli() {
				h.t.Errorf("row = %+v, want no attempt, due now", r)
			}
		}
		h.server = mailtest.New(h.t)
		h.sender = h.another()
		h.run()
		if got, _ := h.server.Messages(); len(got) != 3 {
			h.t.Errorf("%d messages, want 3", len(got))
		}
		h.wantNoCode()
	})
}

// If a process dies after sending a message and before recording it, the message stays claimed. Another process sends
// it again after the lease, and not before.
func TestSender_restart(t *testing.T) {
	each(t, func(h *env) {
		h.letter("a")
		dying, die := context.WithCancel(h.t.Context())
		h.sender.Transport = transportFunc(func(context.Context, mail.Message) error { die(); return nil })
		h.sender.Store = unreachableStore{h.sender.Store}
		if err := h.sender.RunOnce(dying); err == nil {
			h.t.Fatal("the result was lost without an error")
		}
		next := h.another()
		testenv.NoError(h.t, next.RunOnce(h.t.Context()))
		if got, _ := h.server.Messages(); len(got) != 0 {
			h.t.Error("another process sent a claimed message")
		}
		h.now = h.now.Add(3 * time.Minute)
		testenv.NoError(h.t, next.RunOnce(h.t.Context()))
		if got, _ := h.server.Messages(); len(got) != 1 || len(h.rows()) != 0 {
			h.t.Errorf("%d messages, rows %v, want one and none", len(got), h.rows())
		}
	})
}

// A process that stops while it sends frees the rest of its batch: another process sends it at once.
func TestSender_stop(t *testing.T) {
	each(t, func(h *env) {
		for i := range 4 {
			h.letter(fmt.Sprintf("letter%d", i))
		}
		stopping, stop := context.WithCancel(h.t.Context())
		defer stop()
		h.sender.Transport = transportFunc(func(ctx context.Context, _ mail.Message) error { stop(); return ctx.Err() })
		if err := h.sender.RunOnce(stopping); !errors.Is(err, context.Canceled) {
			h.t.Errorf("RunOnce of a stopping process: error %v, want context.Canceled", err)
		}
		for _, r := range h.rows() {
			if r.attempts != 0 || r.due != h.now.UnixMilli() {
				h.t.Errorf("row = %+v, want no attempt, due now", r)
			}
		}
		testenv.NoError(h.t, h.another().RunOnce(h.t.Context()))
		if got, _ := h.server.Messages(); len(got) != 4 {
			h.t.Errorf("%d messages, want 4", len(got))
		}
	})
}

type transportFunc func(context.Context, mail.Message) error

func (f transportFunc) Send(ctx context.Context, m mail.Message) error { return f(ctx, m) }

// unreachableStore is a store whose Settle fails.
type unreachableStore struct{ mail.Store }

func (unreachableStore) Settle(context.Context, mail.QueuedMessage, bool) error {
	return errors.New("gone")
}

// A connection that breaks before the server's reply leaves the outcome unknown: the message is sent again.
func TestSender_reply_lost(t *testing.T) {
	h := newEnv(t, sqldbtest.SQLite(t))
	h.letter("a")
	h.server.Drop(true)
	testenv.ErrorIs(t, mail.ErrUnreachable, h.sender.RunOnce(t.Context()), "RunOnce without a reply")
	h.server.Drop(false)
	h.run()
	if got, _ := h.server.Messages(); len(got) != 1 {
		t.Errorf("%d messages, want 1", len(got))
	}
}

// If a server takes 25 seconds per message, the claim of a batch expires before the batch ends. No other process sends
// the rest of it meanwhile, and no message is sent twice.
func TestSender_slow_server(t *testing.T) {
	each(t, func(h *env) {
		const n = 12 // a batch of ten, and two for the other process
		for i := range n {
			h.letter(fmt.Sprintf("letter%02d", i))
		}
		sent := map[string]int{}
		other := h.another()
		other.Result, other.Log = nil, slog.New(slog.DiscardHandler)
		other.Transport = transportFunc(func(_ context.Context, m mail.Message) error { sent[m.ID]++; return nil })
		h.sender.Transport = transportFunc(func(ctx context.Context, m mail.Message) error {
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > mail.SendTimeout {
				h.t.Error("a message may take longer than its claim allows")
			}
			h.now = h.now.Add(25 * time.Second)
			sent[m.ID]++
			one := *other // claims before the result is recorded
			one.Store = firstOf{other.Store}
			return one.RunOnce(ctx)
		})
		h.run()
		for id, times := range sent {
			if times != 1 {
				h.t.Errorf("%s was sent %d times, want once", id, times)
			}
		}
		if len(sent) != n || len(h.rows()) != 0 {
			h.t.Errorf("%d messages, rows %v, want %d and none", len(sent), h.rows(), n)
		}
	})
}

// firstOf claims one message at a time.
type firstOf struct{ mail.Store }

func (s firstOf) Claim(ctx context.Context, now, until time.Time, _ int) ([]mail.QueuedMessage, error) {
	return s.Store.Claim(ctx, now, until, 1)
}

// An e-mail about a branch has the branch's sender. While senders cannot be read, no e-mail is sent, and none has
// failed.
func TestSender_from(t *testing.T) {
	each(t, func(h *env) {
		h.letter("account")
		h.letter("branch")
		testenv.Must(h.db.Exec(h.t.Context(), stmts.Must("about"), "branch", 7))(h.t)
		failing := errors.New("the database is away")
		h.sender.From = func(context.Context, int64) (text.Mailbox, error) { return text.Mailbox{}, failing }
		if err := h.sender.RunOnce(h.t.Context()); !errors.Is(err, failing) {
			h.t.Errorf("RunOnce without a sender: error %v, want that of From", err)
		}
		for _, r := range h.rows() {
			if r.attempts != 0 || r.dead != 0 || r.due != h.now.UnixMilli() {
				h.t.Errorf("row = %+v, want no attempt, due now", r)
			}
		}
		h.sender.From = func(_ context.Context, branch int64) (text.Mailbox, error) {
			if branch == 7 {
				return text.Mailbox{Name: `Quán "Hoa", Q.1`, Address: "q1@house.example"}, nil
			}
			return text.Mailbox{Name: "Quán Hoa"}, nil
		}
		h.run()
		got, _ := h.server.Messages()
		want := map[string][2]string{
			"<account@house.example>": {"Quán Hoa", "no-reply@house.example"}, "<branch@house.example>": {`Quán "Hoa", Q.1`, "q1@house.example"},
		}
		if len(got) != len(want) {
			h.t.Fatalf("%d messages, want %d", len(got), len(want))
		}
		for _, m := range got {
			from, err := m.Header.AddressList("From")
			if w := want[m.Header.Get("Message-Id")]; err != nil || len(from) != 1 || [2]string{from[0].Name, from[0].Address} != w {
				h.t.Errorf("%v: %v, want %q", m.Header, err, w)
			}
		}
	})
}

// Several processes share the work and send each message once.
func TestSender_concurrent(t *testing.T) {
	each(t, func(h *env) {
		const n = 60
		for i := range n {
			h.letter(fmt.Sprintf("letter%02d", i))
		}
		var all sync.WaitGroup
		for range 4 {
			s := h.another()
			s.Result, s.Log = nil, slog.New(slog.DiscardHandler)
			all.Go(func() {
				if err := s.RunOnce(h.t.Context()); err != nil {
					h.t.Error(err)
				}
			})
		}
		all.Wait()
		got, _ := h.server.Messages()
		seen := map[string]int{}
		for _, m := range got {
			seen[m.Header.Get("Message-Id")]++
		}
		if len(got) != n || len(seen) != n || len(h.rows()) != 0 {
			h.t.Errorf("%d messages, %d distinct, %d left in the outbox, want %d, all distinct", len(got), len(seen), len(h.rows()), n)
		}
	})
}

func TestStore_backlog(t *testing.T) {
	each(t, func(h *env) {
		s := mailsql.New(h.db)
		expect := func(pending, dead int64, age time.Duration) {
			h.t.Helper()
			b, err := s.Backlog(h.t.Context(), h.now)
			if err != nil || b.Pending != pending || b.Dead != dead || b.Age != age {
				h.t.Errorf("Backlog = %+v, %v, want %d pending, %d dead, age %v", b, err, pending, dead, age)
			}
		}
		expect(0, 0, 0)
		h.letter("a")
		h.letter("b")
		testenv.NoError(h.t, s.RecordFailures(h.t.Context(), h.now, queue.Failure{ID: "b", Dead: true, Reason: "no"}))
		h.now = h.now.Add(time.Minute)
		expect(1, 1, time.Minute)
		testenv.Equal(h.t, 1, testenv.Must(s.Purge(h.t.Context(), h.now))(h.t))
		expect(1, 0, time.Minute)
	})
}

// An e-mail about an order is filled from its order. One that is no longer true is deleted unsent (E1), and one whose
// order cannot be read waits without losing an attempt (E2).
func TestSender_orders(t *testing.T) {
	each(t, func(h *env) {
		about := sqldb.Load(fstest.MapFS{"order.sql": {Data: []byte(
			`UPDATE mail_outbox SET order_id = id, subject = 'r1', template = $1`)}}).Must("order")
		queue := func(ids ...string) {
			for _, id := range ids {
				h.write(id, id+"@example.com", time.Hour, map[string]string{})
			}
			testenv.Must(h.db.Exec(h.t.Context(), about, "order_refunded"))(h.t)
		}
		down := errors.New("database is down")
		h.sender.OrderContent = func(_ context.Context, q mail.QueuedMessage) (mail.TemplateData, error) {
			switch q.OrderID {
			case "o2":
				return mail.TemplateData{}, mail.ErrObsolete
			case "o3":
				return mail.TemplateData{}, fmt.Errorf("%w: its order does not exist", mail.ErrRefused)
			case "o4":
				return mail.TemplateData{}, down
			}
			return mail.TemplateData{Fields: map[string]string{"number": "A-001", "refund": q.Subject}}, nil
		}
		queue("o1", "o2", "o3")
		h.run()
		queue("o4")
		testenv.ErrorIs(h.t, down, h.sender.RunOnce(h.t.Context()))
		left := map[string]row{}
		for _, r := range h.rows() {
			left[r.id] = r
		}
		if len(left) != 2 || left["o3"].dead != 1 || left["o4"].dead != 0 || left["o4"].attempts != 0 {
			h.t.Errorf("e-mails = %+v, want o3 dead, and o4 waiting with all its attempts", left)
		}
		messages, raw := h.server.Messages()
		if len(messages) != 1 || messages[0].Header.Get("Subject") != "Refund for your order A-001" ||
			!strings.Contains(raw[0], "r1") {
			h.t.Errorf("%d messages: %v", len(messages), raw)
		}
	})
}

func TestMaskAddress(t *testing.T) {
	for address, want := range map[string]string{
		"lan@example.com": "l…@example.com", "l@example.com": "l…@example.com", `"a@b"@example.com`: `"…@example.com`,
		"ánh@example.com": "á…@example.com", "": "…", "lan": "…", "@example.com": "…",
	} {
		testenv.Equal(t, mail.MaskAddress(address), want)
	}
}
