package ordermailsql_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/ordermail"
	"comanda/internal/ordermail/ordermailsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	anna = 71 // active, with a verified address
	bao  = 72 // not verified
	chi  = 73 // reads Chinese and wants only what is necessary
)

var stmts = sqldb.Load(fstest.MapFS{
	"roles.sql": {Data: []byte(`INSERT INTO role (id, name, description, created_at, updated_at) VALUES (9001, 'MAIL', '', 0, 0)`)},
	"users.sql": {Data: []byte(`
		INSERT INTO app_user (id, email, role_id, status, registered, created_at, updated_at)
		VALUES (71, 'anna@x.example', 9001, 'ACTIVE', 1, 0, 0), (72, 'bao@x.example', 9001, 'PENDING', 0, 0, 0),
		       (73, 'chi@x.example', 9001, 'ACTIVE', 1, 0, 0)`)},
	"choices.sql": {Data: []byte(`
		INSERT INTO account_mail (user_id, locale, order_received, order_ready, updated_at) VALUES (73, 'zh-TW', 0, 0, 0)`)},
	"events.sql": {Data: []byte(`
		SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at
		FROM event_log ORDER BY position`)},
	"emails.sql": {Data: []byte(`
		SELECT recipient, template, locale, fields, branch_id, order_id, subject, expires_at - created_at
		FROM mail_outbox ORDER BY order_id, template, subject`)},
	"sent.sql": {Data: []byte(`DELETE FROM mail_outbox`)},
})

// env is a branch with its ledger, and the consumer of its events.
type env struct {
	t      *testing.T
	db     *sqldb.DB
	house  *orderingtest.Restaurant
	ledger *orderingsql.Ledger
	inbox  *inbox.Inbox
	queue  ordermailsql.Queue
	keys   int
}

func each(t *testing.T, test func(h *env)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := &env{
			t: t, db: db, house: orderingtest.Open(t, db, 1, stock.Unlimited), inbox: inbox.New(db, inbox.Options{}),
			ledger: orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now),
			queue:  ordermailsql.Queue{Now: db.Now, Sends: func(context.Context) (bool, error) { return true, nil }},
		}
		t.Cleanup(h.ledger.Stop)
		for _, name := range []string{"roles", "users", "choices"} {
			testenv.Must(db.Exec(t.Context(), stmts.Must(name)))(t)
		}
		test(h)
	})
}

// place places an order to pick up and returns its id.
func (h *env) place(member int64, email string) string {
	h.t.Helper()
	h.keys++
	p := h.house.Place(fmt.Sprint("key", h.keys), h.db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1})
	p.Order.Kind, p.Order.VisitID, p.Order.GuestHash, p.Order.UserID = ordering.PickUp, "", "", member
	p.Order.Receiver = ordering.Receiver{Name: "Lan", Phone: "0912345678", Email: email}
	return h.do(p)
}

// do executes a command and returns the id of its order.
func (h *env) do(c ordering.Command) string {
	h.t.Helper()
	return testenv.Must(h.ledger.Do(h.t.Context(), c))(h.t).Order.ID
}

// events returns every event so far.
func (h *env) events() []event.Event {
	h.t.Helper()
	return testenv.Must(sqldb.Collect(h.t.Context(), h.db, func(r sqldb.Rows) (e event.Event, err error) {
		var payload string
		err = r.Scan(&e.ID, &e.Aggregate, &e.AggregateID, &e.Seq, &e.BranchID, &e.Type, &payload, sqldb.Time(&e.At))
		e.Payload = []byte(payload)
		return e, err
	}, stmts.Must("events")))(h.t)
}

// deliver delivers every event so far as the bus does, with no memory of earlier deliveries, and then fails with err.
func (h *env) deliver(err error) error {
	events := h.events()
	return h.db.Write(h.t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		if failed := h.inbox.Deliver(ctx, tx, h.queue.Consumer(), events, false); failed != nil {
			return failed
		}
		return errors.Join(tx.Flush(ctx), err)
	})
}

type email struct {
	To, Template, Locale, Fields string
	Branch                       int64
	Order, Subject               string
	TTL                          time.Duration
}

func (h *env) emails() []email {
	h.t.Helper()
	return testenv.Must(sqldb.Collect(h.t.Context(), h.db, func(r sqldb.Rows) (e email, err error) {
		var ttl int64
		err = r.Scan(&e.To, &e.Template, &e.Locale, &e.Fields, &e.Branch, &e.Order, &e.Subject, &ttl)
		e.TTL = time.Duration(ttl) * time.Millisecond
		return e, err
	}, stmts.Must("emails")))(h.t)
}

// summary returns the e-mails as recipient, template and locale, by order and template.
func (h *env) summary() (all []string) {
	h.t.Helper()
	for _, e := range h.emails() {
		all = append(all, e.To+" "+e.Template+" "+e.Locale)
	}
	return all
}

func (h *env) want(want ...string) {
	h.t.Helper()
	testenv.Equal(h.t, want, h.summary())
}

// L1: a delivery that is repeated queues nothing, neither while the first e-mail waits nor after it was sent. A delivery
// that is rolled back queues nothing, and its repetition does.
func TestConsumer_once(t *testing.T) {
	each(t, func(h *env) {
		id := h.place(anna, "")
		broken := errors.New("rolled back")
		testenv.ErrorIs(t, broken, h.deliver(broken))
		h.want()
		testenv.NoError(t, h.deliver(nil))
		testenv.NoError(t, h.deliver(nil))
		want := []email{{"anna@x.example", "order_received", "vi", "{}", 1, id, "", ordermail.Received.TTL()}}
		testenv.Equal(t, want, h.emails())
		testenv.Must(h.db.Exec(t.Context(), stmts.Must("sent")))(t)
		testenv.NoError(t, h.deliver(nil))
		h.want()
		h.do(orderingtest.Pay(id, h.db.Now()))
		testenv.NoError(t, h.deliver(nil))
		h.want("anna@x.example order_paid vi")

		// A broker may deliver an event again, also to a consumer that has just crashed.
		for range 2 {
			outcomes, err := h.inbox.Handle(t.Context(), h.queue.Consumer(), h.events())
			if err != nil || len(outcomes) != 2 || outcomes[0].State != inbox.Done || outcomes[1].State != inbox.Done {
				t.Fatal(outcomes, err)
			}
		}
		h.want("anna@x.example order_paid vi")
	})
}

// L2, L3: whom e-mails go to, and in which language.
func TestConsumer_recipients(t *testing.T) {
	each(t, func(h *env) {
		// A guest at a table has no address.
		h.do(h.house.Place("table", h.db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1}))
		h.place(bao, "")
		testenv.NoError(t, h.deliver(nil))
		h.want()

		ids := []string{h.place(bao, "gift@x.example"), h.place(chi, ""), h.place(anna, "anna2@x.example")}
		h.do(orderingtest.End(ids[0], ordering.UserCanceled))
		h.do(orderingtest.End(ids[1], ordering.StaffCanceled))
		testenv.NoError(t, h.deliver(nil))
		h.want("gift@x.example order_canceled vi", "gift@x.example order_received vi", "chi@x.example order_canceled zh-TW",
			"anna2@x.example order_received vi")
	})
}

// L4.
func TestConsumer_without_a_mail_server(t *testing.T) {
	each(t, func(h *env) {
		h.place(anna, "")
		h.queue.Sends = func(context.Context) (bool, error) { return false, nil }
		testenv.NoError(t, h.deliver(nil))
		h.want()
		down := errors.New("settings cannot be read")
		h.queue.Sends = func(context.Context) (bool, error) { return false, down }
		if err := h.deliver(nil); !errors.Is(err, down) {
			t.Errorf("delivered with %v, want the event again later", err)
		}
	})
}
