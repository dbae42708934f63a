package orderingsql_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// kitchen runs random sequences of steps, cancellations, late payments and refunds on orders and on a plain model of
// them. It compares orders, records and the board after every step.
type kitchen struct {
	restaurant *orderingtest.Restaurant
	ledger     *orderingsql.Ledger
	svc        *ordering.Service
	boards     *ordering.BoardHub
	clock      clock
	orders     []*orderModel
}

// orderModel is the model of one order.
type orderModel struct {
	id      string
	counter bool // paid at the counter
	status  ordering.Status
	money   ordering.PaymentStatus
	expired bool // canceled by expiry, not by a person
	cleared bool
	done    [2]bool
	left    int64 // unrefunded amount
	version int64
	steps   []ordering.Status // as recorded
	stepped time.Time
}

// nextStatus has the resulting status of each step of a paid order. A missing entry means that the step is rejected,
// "=" that it changes nothing.
var nextStatus = map[ordering.Status]map[ordering.StepKind]ordering.Status{
	"PLACED":    {"ACCEPT": "ACCEPTED", "START": "PREPARING"},
	"ACCEPTED":  {"ACCEPT": "=", "START": "PREPARING", "RECALL": "PLACED"},
	"PREPARING": {"ACCEPT": "=", "START": "=", "READY": "READY", "RECALL": "ACCEPTED"},
	"READY":     {"ACCEPT": "=", "START": "=", "READY": "=", "SERVE": "SERVED", "RECALL": "PREPARING"},
	"SERVED":    {"ACCEPT": "=", "START": "=", "READY": "=", "SERVE": "=", "RECALL": "READY"},
}

func TestKitchenModel(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		branch := int64(0)
		rapid.Check(t, func(t *rapid.T) {
			branch++
			m := &kitchen{restaurant: orderingtest.Open(t, db, branch, stock.Unlimited, stock.Unlimited)}
			m.clock.ms.Store(time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC).UnixMilli()) // noon local time
			m.ledger = orderingsql.NewLedger(db, orderingtest.NoAdmission{}, m.clock.now)
			defer m.ledger.Stop()
			reader, catalog := orderingsql.NewOrders(db), m.restaurant.Catalog(t)
			m.svc = &ordering.Service{
				Settings: func() ordering.Settings { return ordering.Settings{Methods: payment.NewMethods(payment.Sandbox)} },
				Ledger:   m.ledger, Reader: reader, Catalog: catalog, Now: m.clock.now,
			}
			m.boards = &ordering.BoardHub{Reader: reader, Catalog: catalog, Now: m.clock.now}
			t.Repeat(map[string]func(*rapid.T){
				"place": m.place, "pay": m.pay, "cancel": m.cancel, "refund": m.refund, "step": m.step, "step again": m.step,
				"bump": m.bump, "mark": m.mark, "pass": m.pass, "": m.check,
			})
		})
	})
}

func (m *kitchen) pick(t *rapid.T) *orderModel {
	if len(m.orders) == 0 {
		t.Skip("no orders yet")
	}
	return rapid.SampledFrom(m.orders).Draw(t, "order")
}

func (m *kitchen) place(t *rapid.T) {
	if len(m.orders) == 6 {
		t.Skip("enough")
	}
	c := m.restaurant.Place(fmt.Sprint(len(m.orders)), m.clock.now(), -time.Second, // overdue: may expire at any time
		stock.Line{Item: m.restaurant.Items[0], Qty: 1}, stock.Line{Item: m.restaurant.Items[1], Qty: 2})
	counter := rapid.Bool().Draw(t, "counter")
	if counter {
		c.Order.Method = payment.Counter
	}
	r := testenv.Must(m.ledger.Do(context.Background(), c))(t)
	m.orders = append(m.orders, &orderModel{
		id: r.Order.ID, counter: counter, status: ordering.Placed, money: ordering.Unpaid, left: r.Order.Total, version: 1,
	})
}

// pay settles an order. A payment after the order's end restores an order that expired on the same day, and is due back
// otherwise.
func (m *kitchen) pay(t *rapid.T) {
	o := m.pick(t)
	if o.money != ordering.Unpaid && o.money != ordering.PaymentCanceled {
		t.Skip("it is paid")
	}
	c := orderingtest.Pay(o.id, m.clock.now())
	if o.counter {
		c.Method = payment.Counter
	}
	if o.money == ordering.PaymentCanceled && rapid.Bool().Draw(t, "too late") {
		c.Today = "2026-02-27"
	}
	r := testenv.Must(m.ledger.Do(context.Background(), c))(t)
	o.version = r.Order.Version
	refundDue := o.money == ordering.PaymentCanceled && (!o.expired || c.Today == "2026-02-27")
	if o.money, o.status = ordering.Paid, ordering.Placed; refundDue {
		o.money, o.status = ordering.RefundDue, ordering.Canceled
	}
}

func (m *kitchen) cancel(t *rapid.T) {
	o := m.pick(t)
	reason := rapid.SampledFrom([]ordering.CancelReason{ordering.UserCanceled, ordering.Expired}).Draw(t, "reason")
	r, err := m.ledger.Do(context.Background(), orderingtest.End(o.id, reason))
	switch {
	case o.money == ordering.Unpaid:
		o.money, o.status, o.version = ordering.PaymentCanceled, ordering.Canceled, o.version+1
		o.expired = reason == ordering.Expired
		if err != nil || r.Order.Version != o.version {
			t.Fatalf("cancel = %+v, %v, want version %d", r, err, o.version)
		}
	case o.status == ordering.Canceled:
		if err != nil || r.Changed {
			t.Fatalf("repeated cancel = %+v, %v, want no change", r, err)
		}
	default: // I4, in every kitchen status
		testenv.ErrorIs(t, ordering.ErrNotCancelable, err)
	}
}

// refund refunds an order wholly or in part. A partial refund does not change the order for the kitchen.
func (m *kitchen) refund(t *rapid.T) {
	o := m.pick(t)
	amount := rapid.SampledFrom([]int64{0, 1, o.left}).Draw(t, "amount")
	f, err := m.svc.Refund(context.Background(), service, ordering.Refund{OrderID: o.id, Amount: amount, Note: "cold"})
	if o.money != ordering.Paid {
		testenv.ErrorIs(t, ordering.ErrNotRefundable, err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	o.version++
	if o.left -= f.Amount; o.left == 0 {
		o.money = ordering.Refunded
	}
}

// service is an actor with all permissions.
var service = authz.Actor{Kind: authz.Service, AllBranches: true}

func (m *kitchen) step(t *rapid.T) {
	kinds := []ordering.StepKind{ordering.Accept, ordering.Start, ordering.Done, ordering.Serve, ordering.Recall}
	m.tryStep(t, m.pick(t), rapid.SampledFrom(kinds).Draw(t, "kind"))
}

// bump performs an order's next regular step, so that many orders reach the end.
func (m *kitchen) bump(t *rapid.T) {
	o := m.pick(t)
	m.tryStep(t, o, map[ordering.Status]ordering.StepKind{"PREPARING": ordering.Done, "READY": ordering.Serve}[o.status])
}

func (m *kitchen) tryStep(t *rapid.T, o *orderModel, kind ordering.StepKind) {
	if kind == "" {
		kind = ordering.Start
	}
	seen := rapid.SampledFrom([]int64{0, o.version, max(0, o.version-1)}).Draw(t, "seen")
	got, err := m.svc.Step(context.Background(), service, ordering.Step{OrderID: o.id, Kind: kind, Version: seen})
	to, code := m.expect(o, kind, seen)
	switch {
	case code != "":
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != code {
			t.Fatalf("%s of %+v from version %d: %v, want %s", kind, o, seen, err, code)
		}
		return
	case err != nil:
		t.Fatalf("%s of %+v from version %d: %v", kind, o, seen, err)
	case to == "=":
	case to == ordering.Voided:
		o.cleared = true
		o.recordSteps(m.clock.now(), to)
	case to == ordering.Preparing && o.status == ordering.Placed:
		o.status = to
		o.recordSteps(m.clock.now(), ordering.Accepted, to)
	default:
		o.status, o.cleared = to, false
		o.recordSteps(m.clock.now(), to)
	}
	if got.Version != o.version || got.Status != o.status || got.VoidSeen != o.cleared {
		t.Fatalf("%s: %+v, want %+v", kind, got, o)
	}
}

func (o *orderModel) recordSteps(now time.Time, through ...ordering.Status) {
	o.steps, o.version, o.stepped = append(o.steps, through...), o.version+int64(len(through)), now
}

// expect returns the expected result of a step: the new status, or the code of the rejection.
func (m *kitchen) expect(o *orderModel, kind ordering.StepKind, seen int64) (to ordering.Status, code string) {
	stale := seen != 0 && seen != o.version
	voided := o.money == ordering.Refunded
	finished := o.status == ordering.Served || o.cleared
	to = nextStatus[o.status][kind]
	ago := m.clock.now().Sub(o.stepped)
	switch {
	case o.status == ordering.Canceled:
		return "", "wrong_step"
	case o.money == ordering.Unpaid:
		return "", "not_paid"
	case kind == ordering.Recall && stale:
		return "", "changed"
	case kind == ordering.Recall && finished && ago > 30*time.Minute && (ago > 12*time.Hour || m.today() != "2026-02-26"):
		return "", "recall_over"
	case kind == ordering.Recall && o.cleared:
		return o.status, ""
	case o.cleared:
		return "=", ""
	case voided && o.status != ordering.Served && kind == ordering.Recall:
		return "", "wrong_step"
	case voided && o.status != ordering.Served && seen == 0:
		return "", "voided"
	case voided && o.status != ordering.Served && !stale:
		return ordering.Voided, ""
	case voided && o.status != ordering.Served:
		return "", "changed"
	case to == "=":
		return to, ""
	case stale:
		return "", "changed"
	case to == "":
		return "", "wrong_step"
	}
	return to, ""
}

func (m *kitchen) today() string {
	b, _ := m.restaurant.Catalog(fatal{}).Branch(context.Background(), m.restaurant.Branch)
	return b.Calendar().BizDate(m.clock.now())
}

func (m *kitchen) mark(t *rapid.T) {
	o := m.pick(t)
	i, done := rapid.IntRange(0, 1).Draw(t, "line"), rapid.Bool().Draw(t, "done")
	got, err := m.svc.MarkItem(context.Background(), service, ordering.MarkItem{OrderID: o.id, Index: i, Done: done})
	if o.money != ordering.Paid || o.status == ordering.Served {
		if fault.KindOf(err) != fault.Conflict {
			t.Fatalf("MarkItem = %+v, %v, want Conflict", got, err)
		}
		return
	}
	if o.done[i] != done {
		o.version++
	}
	o.done[i] = done
	if err != nil || got.Version != o.version || got.Items[i].DoneAt.IsZero() == done {
		t.Fatalf("%+v, %v, want %+v", got, err, o)
	}
}

func (m *kitchen) pass(t *rapid.T) {
	m.clock.advance(rapid.SampledFrom([]time.Duration{time.Minute, 31 * time.Minute, 4 * time.Hour}).Draw(t, "time"))
}

// check compares every order with the model. The board must show all of today's open orders and those finished
// recently, no unpaid order, and no order twice.
func (m *kitchen) check(t *rapid.T) {
	lists := map[string]string{}
	portions := int64(0)
	for _, o := range m.orders {
		d, _, err := m.svc.Reader.Order(context.Background(), o.id)
		if err != nil || d.Status != o.status || d.PaymentStatus != o.money || d.Version != o.version || d.VoidSeen != o.cleared {
			t.Fatalf("order %+v, %v, want %+v", d.Order, err, o)
		}
		var to []ordering.Status
		for i, s := range d.Steps {
			if to = append(to, s.To); i > 0 && (s.From != d.Steps[i-1].To || s.Version <= d.Steps[i-1].Version) {
				t.Fatalf("the record has a gap: %+v", d.Steps)
			}
		}
		if diff := cmp.Diff(o.steps, to); diff != "" {
			t.Fatal(diff)
		}
		lists[o.id] = m.listOf(o)
		for i, qty := range []int64{1, 2} {
			if lists[o.id] == "tickets" && o.money == ordering.Paid && o.status != ordering.Ready && !o.done[i] {
				portions += qty
			}
		}
		if lists[o.id] == "" {
			delete(lists, o.id)
		}
	}
	b := testenv.Must(m.boards.Get(context.Background(), service, m.restaurant.Branch))(t)
	shown := map[string]string{}
	for name, list := range map[string][]ordering.Ticket{"tickets": b.Tickets, "served": b.Served, "awaiting": b.Awaiting} {
		for _, tk := range list {
			shown[tk.ID] += name
		}
	}
	if diff := cmp.Diff(lists, shown); diff != "" {
		t.Fatalf("board (-want +got):\n%s", diff)
	}
	for _, d := range b.AllDay(0) {
		portions -= d.Qty
	}
	if portions != 0 {
		t.Fatalf("%d portions are missing from %+v", portions, b.AllDay(0))
	}
}

func (m *kitchen) listOf(o *orderModel) string {
	finished := o.status == ordering.Served || o.cleared
	switch today := m.today() == "2026-02-26"; {
	case finished && m.clock.now().Sub(o.stepped) <= 30*time.Minute:
		return "served"
	case finished, o.status == ordering.Canceled, !today && m.today() != "2026-02-27":
		return ""
	case o.money == ordering.Unpaid && o.counter && (today || m.sinceDay() <= 4*time.Hour):
		return "awaiting"
	case o.money == ordering.Unpaid:
		return ""
	case today || m.sinceDay() <= 4*time.Hour && m.paidLately(o):
		return "tickets"
	}
	return ""
}

// sinceDay returns the time since the current business date began.
func (m *kitchen) sinceDay() time.Duration {
	b, _ := m.restaurant.Catalog(fatal{}).Branch(context.Background(), m.restaurant.Branch)
	return m.clock.now().Sub(b.Calendar().At(m.clock.now()).Start)
}

func (m *kitchen) paidLately(o *orderModel) bool {
	d, _, err := m.svc.Reader.Order(context.Background(), o.id)
	return err == nil && m.clock.now().Sub(d.PaidAt) <= 4*time.Hour
}
