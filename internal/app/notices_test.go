package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"comanda/internal/event"
	"comanda/internal/event/bus"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/notice"
	"comanda/internal/notice/noticepush"
	"comanda/internal/notice/noticetest"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// notice makes a notice that an order was paid, as the consumer does, and returns its id.
func (f *fixture) notice(order string) string {
	f.t.Helper()
	k := f.core
	paid := event.OrderPaid.New(k.DB.Now(), order, 2, 1, event.Paid{OrderID: order, BranchID: 1})
	testenv.NoError(f.t, k.DB.Write(f.t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		return k.noticeConsumer().Consumer().Apply(ctx, tx, []event.Event{paid})
	}))
	d, _ := testenv.Must2(k.OrderReader.Order(f.t.Context(), order))(f.t)
	to := notice.VisitAudience(d.VisitID)
	if d.UserID != 0 {
		to = notice.AccountAudience(d.UserID)
	}
	all := testenv.Must(k.NoticeStore.List(f.t.Context(), notice.Reader{
		Audiences: []notice.Audience{to}, Kinds: notice.CustomerKinds(),
	}, "", 1))(f.t)
	return all[0].ID
}

// unread returns a function that reports whether an event of a bell has n unread notices.
func unread(n float64) func(map[string]any) bool {
	return func(v map[string]any) bool { return v["unread"] == n }
}

// newest returns a function that reports whether the newest notice of an event is of a kind.
func newest(kind string) func(map[string]any) bool {
	return func(v map[string]any) bool {
		items, _ := v["items"].([]any)
		if len(items) == 0 {
			return false
		}
		first, _ := items[0].(map[string]any)
		return first["kind"] == kind
	}
}

// relayOnce delivers all events to the consumers of this process.
func (f *fixture) relayOnce() {
	f.t.Helper()
	local := testenv.Must(bus.New(inbox.New(f.core.DB, inbox.Options{}), f.core.consumers()...))(f.t)
	testenv.NoError(f.t, outbox.New(f.core.DB, local, outbox.Options{}).RunOnce(f.t.Context()))
}

// 001-B11, app:pub:notification:{userId}: a notice that one process makes and a read mark on one device reach the bells of
// another process without polling. After FLUSHALL in between, rows and bells are the same as without it.
func TestNotices_of_two_processes(t *testing.T) {
	_, srv := redisdbtest.Real(t)
	a, b := twoProcesses(t, seldom, srv.Addr(), srv.Addr())
	phone, laptop := a.follow("guest", "/cis/notices/events"), b.follow("guest", "/cis/notices/events")
	a.notice(a.order("SANDBOX"))
	phone.until("a notice", unread(1))
	laptop.until("a notice of another process", unread(1))
	srv.Say("FLUSHALL")
	id := a.notice(a.order("SANDBOX"))
	phone.until("a notice after FLUSHALL", unread(2))
	laptop.until("a notice of another process after FLUSHALL", unread(2))
	b.must(b.ask("guest", "POST", "/cis/notices/"+id+"/read", ""))
	laptop.until("a read mark", unread(1))
	phone.until("a read mark of another process", unread(1))
	var fromA, fromB struct{ Items []struct{ ID string } }
	a.must(a.ask("guest", "GET", "/cis/notices", "")).into(t, &fromA)
	b.must(b.ask("guest", "GET", "/cis/notices", "")).into(t, &fromB)
	if len(fromA.Items) != 2 || len(fromB.Items) != 2 || fromA.Items[0] != fromB.Items[0] {
		t.Errorf("notices %v and %v", fromA, fromB)
	}
}

// In one process without Redis: an order of a member makes a notice through the relay, on all devices of the member and on
// no other's, and a call makes one for the staff of the branch.
func TestNotices_of_one_process(t *testing.T) {
	f := newFixture(t)
	phone, laptop, other := f.follow("member", "/me/notices/events"), f.follow("member", "/me/notices/events"),
		f.follow("other", "/me/notices/events")
	waiter, elsewhere := f.follow("staffA", "/me/notices/events"), f.follow("staffB", "/me/notices/events")
	id := f.notice(f.fill("{memberorder}"))
	phone.until("a notice", unread(1))
	laptop.until("a notice", unread(1))
	f.must(f.ask("member", "POST", "/me/notices/read", `{"upTo":"`+id+`"}`))
	laptop.until("a read mark", unread(0))
	f.must(f.ask("guest", "POST", f.fill("/cis/visit/{guestvisit}/call"), `{"reason":"BILL"}`))
	f.relayOnce()
	waiter.until("a call", newest("TABLE_CALL"))
	for name, s := range map[string]*stream{"another member": other, "a waiter of another branch": elsewhere} {
		select {
		case data := <-s.data:
			t.Errorf("%s receives %s", name, data)
		default:
		}
	}
}

// A member's browser gets a notice of an order while the page is closed: from the subscription over the event to the push
// service, which verifies this installation and decrypts the message. Then the service forgets the browser.
func TestPush_of_one_process(t *testing.T) {
	f := newFixture(t)
	k, service := f.core, noticetest.NewPushService(t)
	var key struct{ Key string }
	f.must(f.ask("", "GET", "/cis/push-key", "")).into(t, &key)
	service.Expect(key.Key)
	service.Now = k.DB.Now
	client := noticepush.NewHTTPClient(true, service.Roots())
	t.Cleanup(client.CloseIdleConnections)
	log := &strings.Builder{}
	sender := &notice.PushSender{
		Store: k.NoticeStore, Now: k.DB.Now, Log: slog.New(slog.NewTextHandler(log, nil)),
		Transport: &noticepush.Client{HTTP: client, Key: k.pushKey.get, Subject: k.pushSubject, Now: k.DB.Now},
	}
	f.must(f.ask("member", "PUT", "/me/notice-choices", `{"choices":[{"kind":"ORDER_PAID","bell":true,"push":true}]}`))
	f.must(f.ask("member", "POST", "/me/push", fmt.Sprintf(`{"endpoint":%q,"locale":"zh-Hant","keys":{"p256dh":%q,"auth":%q}}`,
		service.Endpoint(), service.Browser.P256dh(), service.Browser.AuthText())))
	f.notice(f.order("SANDBOX")) // of a guest
	f.notice(f.fill("{memberorder}"))
	testenv.NoError(t, sender.RunOnce(t.Context()))
	got, err := service.Messages()
	if err != nil || len(got) != 1 {
		t.Fatalf("received %+v, error %v, want one message", got, err)
	}
	var p notice.Payload
	testenv.NoError(t, json.Unmarshal([]byte(got[0].Text), &p))
	if p.Kind != notice.OrderPaid || p.URL != f.fill("/shop/orders/{memberorder}") || p.Locale != "zh-Hant" || p.Number == "" {
		t.Errorf("payload %s", got[0].Text)
	}
	service.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	for range 2 { // the second notice finds no browser
		f.notice(f.fill("{memberorder}"))
		testenv.NoError(t, sender.RunOnce(t.Context()))
	}
	if b := testenv.Must(k.NoticeStore.Backlog(t.Context(), k.DB.Now()))(t); b.Pending != 0 || b.Dead != 0 {
		t.Errorf("backlog %+v, want none", b)
	}
	if strings.Contains(log.String(), "secret-path") {
		t.Errorf("the log contains the endpoint:\n%s", log)
	}
}
