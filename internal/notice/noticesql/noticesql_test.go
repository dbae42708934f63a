package noticesql_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/notice"
	"comanda/internal/notice/noticesql"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Sequences(15)
	goleak.VerifyTestMain(m)
}

const (
	anna = 71
	bao  = 72
)

var stmts = sqldb.Load(fstest.MapFS{
	"roles.sql": {Data: []byte(`INSERT INTO role (id, name, description, created_at, updated_at) VALUES (9001, 'NOTICE', '', 0, 0)`)},
	"users.sql": {Data: []byte(`
		INSERT INTO app_user (id, email, role_id, status, registered, created_at, updated_at)
		VALUES (71, 'anna@x.example', 9001, 'ACTIVE', 1, 0, 0), (72, 'bao@x.example', 9001, 'ACTIVE', 1, 0, 0)`)},
	"login.sql": {Data: []byte(`
		INSERT INTO auth_session (id, user_id, token_hash, rotated_at, created_at, last_seen_at, idle_until, expires_at)
		VALUES ($1, $2, $1, 0, 0, 0, $3, $3)`)},
	"logout.sql": {Data: []byte(`UPDATE auth_session SET ended_at = 1 WHERE id = $1`)},
	"stock.sql": {Data: []byte(`
		INSERT INTO stock_item (branch_id, sku, name, created_at, updated_at) VALUES (1, 'beef', 'Thịt bò', 0, 0)`)},
	"events.sql": {Data: []byte(`
		SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at
		FROM event_log ORDER BY position`)},
	"outbox.sql": {Data: []byte(`SELECT subscription_id FROM push_outbox ORDER BY subscription_id, id`)},
	"count.sql": {Data: []byte(`
		SELECT (SELECT count(*) FROM notice), (SELECT count(*) FROM notice_read), (SELECT count(*) FROM notice_choice),
		       (SELECT count(*) FROM push_subscription)`)},
})

// env is a branch with its ledger, and the consumer of its events.
type env struct {
	t        *testing.T
	db       *sqldb.DB
	house    *orderingtest.Restaurant
	ledger   *orderingsql.Ledger
	inbox    *inbox.Inbox
	store    *noticesql.Store
	service  *notice.Service
	consumer noticesql.Consumer
	woken    []string
	keys     int
}

func each(t *testing.T, test func(t *testing.T, h *env)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := &env{
			t: t, db: db, house: orderingtest.Open(t, db, 1, stock.Unlimited), inbox: inbox.New(db, inbox.Options{}),
			ledger: orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now), store: noticesql.New(db),
		}
		h.service = &notice.Service{Store: h.store, Now: db.Now}
		h.consumer = noticesql.Consumer{Now: db.Now, Changed: func(a ...string) { h.woken = append(h.woken, a...) }}
		t.Cleanup(h.ledger.Stop)
		for _, name := range []string{"roles", "users", "stock"} {
			testenv.Must(db.Exec(t.Context(), stmts.Must(name)))(t)
		}
		test(t, h)
	})
}

// place places an order of a member, or of the table's guests for member 0, and returns it.
func (h *env) place(member int64) ordering.Order {
	h.t.Helper()
	h.keys++
	p := h.house.Place(fmt.Sprint("key", h.keys), h.db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1})
	if member != 0 {
		p.Order.Kind, p.Order.VisitID, p.Order.GuestHash, p.Order.UserID = ordering.PickUp, "", "", member
		p.Order.Receiver = ordering.Receiver{Name: "Lan", Phone: "0912345678"}
	}
	return h.do(p)
}

func (h *env) do(c ordering.Command) ordering.Order {
	h.t.Helper()
	return testenv.Must(h.ledger.Do(h.t.Context(), c))(h.t).Order
}

// events returns every event so far, and those given.
func (h *env) events(more ...event.Event) []event.Event {
	h.t.Helper()
	return append(testenv.Must(sqldb.Collect(h.t.Context(), h.db, func(r sqldb.Rows) (e event.Event, err error) {
		var payload string
		err = r.Scan(&e.ID, &e.Aggregate, &e.AggregateID, &e.Seq, &e.BranchID, &e.Type, &payload, sqldb.Time(&e.At))
		e.Payload = []byte(payload)
		return e, err
	}, stmts.Must("events")))(h.t), more...)
}

// deliver delivers events as the bus does, with no memory of earlier deliveries, and then fails with err.
func (h *env) deliver(err error, events ...event.Event) error {
	return h.db.Write(h.t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		if failed := h.inbox.Deliver(ctx, tx, h.consumer.Consumer(), events, false); failed != nil {
			return failed
		}
		return errors.Join(tx.Flush(ctx), err)
	})
}

func account(id int64) notice.Reader {
	a := notice.AccountAudience(id)
	return notice.Reader{ID: string(a), Audiences: []notice.Audience{a}, Kinds: notice.CustomerKinds(), Session: fmt.Sprint("s", id)}
}

func staffOf(branch int64, kinds ...notice.Kind) notice.Reader {
	return notice.Reader{ID: "99", Audiences: []notice.Audience{"99", notice.BranchAudience(branch)}, Kinds: kinds, Session: "s99"}
}

// want compares the kinds of a reader's notices, newest first, unread ones with a star.
func (h *env) want(r notice.Reader, want ...string) {
	h.t.Helper()
	p := testenv.Must(h.service.Page(h.t.Context(), r, "", 100))(h.t)
	var got []string
	unread := 0
	for _, n := range p.Items {
		mark := ""
		if !n.Read {
			mark = "*"
			unread++
		}
		got = append(got, string(n.Kind)+mark)
	}
	if unread != p.Unread {
		h.t.Errorf("%s has %d unread notices, and the bell shows %d", r.ID, unread, p.Unread)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		h.t.Errorf("notices of %s (-want +got):\n%s", r.ID, diff)
	}
}

// N1: an event that is delivered again makes no second notice, and one that was rolled back is made by the repetition.
// Bells are woken after the commit only.
func TestConsumer_once(t *testing.T) {
	each(t, func(t *testing.T, h *env) {
		o := h.place(anna)
		h.do(orderingtest.Pay(o.ID, h.db.Now()))
		broken := errors.New("rolled back")
		testenv.ErrorIs(t, broken, h.deliver(broken, h.events()...))
		h.want(account(anna))
		testenv.Equal(t, len(h.woken), 0)
		for range 3 {
			testenv.NoError(t, h.deliver(nil, h.events()...))
		}
		h.want(account(anna), "ORDER_PAID*")
		testenv.Equal(t, []string{"71"}, h.woken)
		n := testenv.Must(h.store.List(t.Context(), account(anna), "", 1))(t)[0]
		want := notice.Data{Number: ordering.ShortNumber(o.Number), OrderKind: "PICKUP"}
		if n.OrderID != o.ID || n.Branch != 1 || n.Data != want || n.CreatedAt.IsZero() {
			t.Errorf("notice %+v", n)
		}
		// A broker may deliver an event again, also to a consumer that has just crashed.
		for range 2 {
			testenv.Must(h.inbox.Handle(t.Context(), h.consumer.Consumer(), h.events()))(t)
		}
		h.want(account(anna), "ORDER_PAID*")
	})
}

// N2: a member does not see another member's notices, nor those of another visit or branch. Staff see the kinds
// that they may act on.
func TestNotices_are_seen_by_their_audience_only(t *testing.T) {
	each(t, func(t *testing.T, h *env) {
		own, other, table := h.place(anna), h.place(bao), h.place(0)
		for _, o := range []ordering.Order{own, other, table} {
			h.do(orderingtest.Pay(o.ID, h.db.Now()))
		}
		now := h.db.Now()
		testenv.NoError(t, h.deliver(nil, h.events(
			event.InventoryLow.New(now, "beef", 0, 1, event.Low{ItemID: "beef", BranchID: 1, Available: 3, Threshold: 5}),
			event.InventoryLow.New(now, "egg", 0, 2, event.Low{ItemID: "egg", BranchID: 2}),
			event.VisitCalled.New(now, "v", 0, 1, event.Called{VisitID: "v", BranchID: 1, Table: "A1", Reason: "BILL"}),
			event.OrderRefundDue.New(now, own.ID, 9, 1, event.RefundDue{OrderID: own.ID, Amount: 5, Currency: "VND"}),
		)...))
		h.want(account(anna), "ORDER_PAID*")
		h.want(account(bao), "ORDER_PAID*")
		h.want(account(73))
		h.want(notice.GuestReader(table.VisitID, "hash"), "ORDER_PAID*")
		h.want(notice.GuestReader("other", "hash"))
		h.want(staffOf(1, notice.StaffKinds()...), "REFUND_DUE*", "TABLE_CALL*", "STOCK_LOW*")
		h.want(staffOf(1, notice.TableCall), "TABLE_CALL*")
		h.want(staffOf(2, notice.StaffKinds()...), "STOCK_LOW*")
		h.want(staffOf(3, notice.StaffKinds()...))
		low := testenv.Must(h.store.List(t.Context(), staffOf(1, notice.StockLow), "", 9))(t)
		if len(low) != 1 || low[0].Data != (notice.Data{Item: "Thịt bò", Left: 3}) {
			t.Errorf("low stock: %+v", low)
		}
		foreign := testenv.Must(h.store.List(t.Context(), account(bao), "", 1))(t)[0].ID
		if err := h.service.MarkRead(t.Context(), account(anna), foreign); !errors.Is(err, notice.ErrNotice) {
			t.Errorf("marking a foreign notice: %v", err)
		}
		testenv.NoError(t, h.service.MarkAllRead(t.Context(), account(anna), "v"))
		h.want(account(bao), "ORDER_PAID*")
		h.want(account(anna), "ORDER_PAID")
	})
}

// N3: each colleague and each phone has read marks of its own, and a mark wakes the reader's bells.
func TestReadMarks(t *testing.T) {
	each(t, func(t *testing.T, h *env) {
		o := h.place(0)
		h.do(orderingtest.Pay(o.ID, h.db.Now()))
		testenv.NoError(t, h.deliver(nil, h.events()...))
		one, two := notice.GuestReader(o.VisitID, "a"), notice.GuestReader(o.VisitID, "b")
		changed, leave := h.service.Follow(one)
		defer leave()
		id := testenv.Must(h.store.List(t.Context(), one, "", 1))(t)[0].ID
		before := testenv.Must(h.service.State(t.Context(), one))(t)
		for range 2 {
			testenv.NoError(t, h.service.MarkRead(t.Context(), one, id))
		}
		<-changed
		if after := testenv.Must(h.service.State(t.Context(), one))(t); after == before || after.Unread != 0 {
			t.Errorf("state %+v after %+v", after, before)
		}
		h.want(one, "ORDER_PAID")
		h.want(two, "ORDER_PAID*")
	})
}

// A read mark changes the state, by which streams decide whether to send an event, also of a bell that does not count all
// unread notices.
func TestReadMarks_beyond_the_count(t *testing.T) {
	each(t, func(t *testing.T, h *env) {
		calls := make([]event.Event, notice.MaxUnread+10)
		for i := range calls {
			calls[i] = event.VisitCalled.New(h.db.Now(), "v", 0, 1, event.Called{BranchID: 1, Table: "A1", Reason: "HELP"})
		}
		testenv.NoError(t, h.deliver(nil, calls...))
		staff := staffOf(1, notice.StaffKinds()...)
		for _, n := range testenv.Must(h.store.List(t.Context(), staff, "", 2))(t) {
			before := testenv.Must(h.service.State(t.Context(), staff))(t)
			testenv.NoError(t, h.service.MarkRead(t.Context(), staff, n.ID))
			after := testenv.Must(h.service.State(t.Context(), staff))(t)
			if after == before || after.Unread != notice.MaxUnread {
				t.Errorf("state %+v after %+v", after, before)
			}
		}
	})
}

// Kinds that a reader has turned off are neither listed nor counted; choices of others do not matter.
func TestChoices(t *testing.T) {
	each(t, func(t *testing.T, h *env) {
		h.do(orderingtest.Pay(h.place(anna).ID, h.db.Now()))
		testenv.NoError(t, h.deliver(nil, h.events()...))
		off := []notice.Choice{{Kind: notice.OrderPaid}}
		testenv.Must(h.service.Choose(t.Context(), account(bao), off))(t)
		h.want(account(anna), "ORDER_PAID*")
		got := testenv.Must(h.service.Choose(t.Context(), account(anna), off))(t)
		if !slices.Contains(got, off[0]) || len(got) != len(notice.CustomerKinds()) {
			t.Errorf("choices %+v", got)
		}
		h.want(account(anna))
		testenv.Must(h.service.Choose(t.Context(), account(anna), []notice.Choice{{Kind: notice.OrderPaid, Bell: true}}))(t)
		h.want(account(anna), "ORDER_PAID*")
		for name, bad := range map[string][]notice.Choice{
			"twice": {off[0], off[0]}, "not visible": {{Kind: notice.StockLow, Bell: true}}, "unknown": {{Kind: "X"}},
		} {
			if _, err := h.service.Choose(t.Context(), account(anna), bad); !errors.Is(err, notice.ErrChoice) {
				t.Errorf("choices that are %s: error %v, want ErrChoice", name, err)
			}
		}
		_, err := h.service.Choose(t.Context(), staffOf(1, notice.StockLow), []notice.Choice{{Kind: notice.StockLow, Push: true}})
		testenv.ErrorIs(t, notice.ErrChoice, err, "push for staff")
	})
}

// The keys of RFC 8291, appendix A.
const (
	browserKey  = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	browserAuth = "BTBZMqHH6r4Tts7J_aSIgg"
)

// subscribe stores a browser of a reader.
func (h *env) subscribe(r notice.Reader, endpoint string) string {
	h.t.Helper()
	b := testenv.Must(h.service.NewSubscription(r, "https://push.example/"+endpoint, browserKey, browserAuth, "vi"))(h.t)
	testenv.NoError(h.t, h.service.Subscribe(h.t.Context(), b))
	return b.ID
}

// queued returns the browsers with deliveries.
func (h *env) queued() []string {
	h.t.Helper()
	return testenv.Must(sqldb.Collect(h.t.Context(), h.db, sqldb.Value[string], stmts.Must("outbox")))(h.t)
}

// A delivery is queued for each browser of the audience, unless its reader does not want the kind, has logged out or has
// ended the subscription.
func TestConsumer_queues_deliveries(t *testing.T) {
	each(t, func(t *testing.T, h *env) {
		for _, a := range []int64{anna, bao} {
			testenv.Must(h.db.Exec(t.Context(), stmts.Must("login"), fmt.Sprint("s", a), a, h.db.Now().Add(time.Hour).UnixMilli()))(t)
		}
		phone, laptop := h.subscribe(account(anna), "phone"), h.subscribe(account(anna), "laptop")
		h.subscribe(account(bao), "other")
		choose := func(push bool) {
			testenv.Must(h.service.Choose(t.Context(), account(anna), []notice.Choice{{Kind: notice.OrderReady, Bell: true, Push: push}}))(t)
		}
		ready := func(want int) {
			t.Helper()
			o := h.place(anna)
			h.do(orderingtest.Pay(o.ID, h.db.Now()))
			testenv.NoError(t, h.deliver(nil, h.events(event.OrderProgressed.New(h.db.Now(), o.ID, 3, 1,
				event.Progressed{OrderID: o.ID, From: "PREPARING", To: "READY"}))...))
			testenv.Equal(t, len(h.queued()), want)
		}
		ready(2)
		want := []string{laptop, phone}
		slices.Sort(want)
		if diff := cmp.Diff(want, h.queued()); diff != "" { // by default not for the payment
			t.Fatalf("deliveries (-want +got):\n%s", diff)
		}
		testenv.NoError(t, h.service.Unsubscribe(t.Context(), account(bao), laptop)) // not their own
		ready(4)
		testenv.NoError(t, h.service.Unsubscribe(t.Context(), account(anna), laptop))
		ready(5)
		choose(false)
		ready(5)
		choose(true)
		ready(6)
		testenv.Must(h.db.Exec(t.Context(), stmts.Must("logout"), "s71"))(t)
		ready(6)
		if _, found, err := h.store.Subscription(t.Context(), phone, h.db.Now()); err != nil || found {
			t.Errorf("after the logout: %t, %v", found, err)
		}
	})
}

// A reader has a limited number of browsers, of which the oldest go; a browser belongs to its last reader.
func TestSubscribe_limits(t *testing.T) {
	each(t, func(t *testing.T, h *env) {
		at := h.db.Now()
		h.service.Now = func() time.Time { at = at.Add(time.Second); return at }
		guest := notice.GuestReader("v", "hash")
		first := h.subscribe(guest, "0")
		for i := range notice.MaxGuestBrowsers {
			h.subscribe(guest, fmt.Sprint(i+1))
		}
		if _, found, err := h.store.Subscription(t.Context(), first, at); err != nil || found {
			t.Errorf("the oldest browser: %t, %v", found, err)
		}
		moved := h.subscribe(notice.GuestReader("w", "other"), "1")
		got, _ := testenv.Must2(h.store.Subscription(t.Context(), moved, at))(t)
		testenv.Equal(t, got.Audience, notice.VisitAudience("w"))
	})
}

// Rows are deleted past their retention, those of staff earlier.
func TestPurge(t *testing.T) {
	each(t, func(t *testing.T, h *env) {
		o := h.place(0)
		h.do(orderingtest.Pay(o.ID, h.db.Now()))
		now := h.db.Now()
		testenv.NoError(t, h.deliver(nil, h.events(
			event.VisitCalled.New(now, "v", 0, 1, event.Called{VisitID: "v", BranchID: 1, Table: "A1", Reason: "BILL"}))...))
		guest := notice.GuestReader(o.VisitID, "hash")
		testenv.NoError(t, h.service.MarkAllRead(t.Context(), guest, "v"))
		testenv.Must(h.service.Choose(t.Context(), guest, []notice.Choice{{Kind: notice.OrderPaid, Bell: true}}))(t)
		h.subscribe(guest, "x")
		keep := noticesql.Retention{Personal: 4 * time.Hour, Staff: time.Hour, Guests: 2 * time.Hour, Dead: time.Hour}
		for _, c := range []struct {
			after time.Duration
			want  [4]int64 // notices, read marks, choices, subscriptions
		}{
			{30 * time.Minute, [4]int64{2, 1, 1, 1}}, {90 * time.Minute, [4]int64{1, 1, 1, 1}},
			{3 * time.Hour, [4]int64{1, 1, 0, 0}}, {5 * time.Hour, [4]int64{}},
		} {
			testenv.NoError(t, h.store.Purge(t.Context(), now.Add(c.after), keep))
			var got [4]int64
			testenv.Must(sqldb.Read(t.Context(), h.db, []any{&got[0], &got[1], &got[2], &got[3]}, stmts.Must("count")))(t)
			testenv.Equal(t, got, c.want)
		}
	})
}

// Random events and read marks: what each reader sees equals a model, page by page.
func TestModel(t *testing.T) {
	each(t, func(t *testing.T, h *env) {
		type mark struct{ reader, id string }
		now, branch := h.db.Now(), int64(1000)
		rapid.Check(t, func(rt *rapid.T) {
			branch++ // each sequence has a branch without notices
			readers := []notice.Reader{staffOf(branch, notice.StaffKinds()...), staffOf(branch, notice.StaffKinds()...)}
			readers[1].ID = "98"
			read := map[mark]bool{}
			var ids []string
			rt.Repeat(map[string]func(*rapid.T){
				"call": func(rt *rapid.T) {
					e := event.VisitCalled.New(now, "v", 0, branch, event.Called{BranchID: branch, Table: "A", Reason: "HELP"})
					for range rapid.IntRange(1, 2).Draw(rt, "deliveries") {
						testenv.NoError(t, h.deliver(nil, e))
					}
					ids = append([]string{testenv.Must(h.store.List(t.Context(), readers[0], "", 1))(t)[0].ID}, ids...)
				},
				"read": func(rt *rapid.T) {
					if len(ids) == 0 {
						return
					}
					r, id := rapid.SampledFrom(readers).Draw(rt, "reader"), rapid.SampledFrom(ids).Draw(rt, "id")
					testenv.NoError(t, h.service.MarkRead(t.Context(), r, id))
					read[mark{r.ID, id}] = true
				},
				"read all": func(rt *rapid.T) {
					if len(ids) == 0 {
						return
					}
					r, id := rapid.SampledFrom(readers).Draw(rt, "reader"), rapid.SampledFrom(ids).Draw(rt, "id")
					testenv.NoError(t, h.service.MarkAllRead(t.Context(), r, id))
					for _, other := range ids {
						if other <= id {
							read[mark{r.ID, other}] = true
						}
					}
				},
				"": func(rt *rapid.T) {
					for _, r := range readers {
						limit := rapid.IntRange(1, 4).Draw(rt, "limit")
						var got []string
						unread, before := 0, ""
						for more := true; more; {
							p := testenv.Must(h.service.Page(t.Context(), r, before, limit))(t)
							for _, n := range p.Items {
								got, before = append(got, n.ID), n.ID
								if n.Read != read[mark{r.ID, n.ID}] {
									rt.Fatalf("%s: read is %t", n.ID, n.Read)
								}
								if !n.Read {
									unread++
								}
							}
							more = p.More
							if len(ids) > 0 && p.Newest != ids[0] {
								rt.Fatalf("newest %s, want %s", p.Newest, ids[0])
							}
						}
						testenv.Equal(rt, unread, testenv.Must(h.service.State(t.Context(), r))(t).Unread)
						if !slices.Equal(got, ids) {
							rt.Fatalf("%v, want %v", got, ids)
						}
					}
				},
			})
		})
	})
}
