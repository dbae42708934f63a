package ordering_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"

	"comanda/internal/authz"
	"comanda/internal/event"
	"comanda/internal/fault"
	"comanda/internal/ordering"
)

// stepKinds are the columns of the table steps.
var stepKinds = []ordering.StepKind{ordering.Accept, ordering.Start, ordering.Done, ordering.Serve, ordering.Recall}

// steps is the result of each step on a table's order, by status and payment status: the new status, = for no change,
// or an error code. Rows with /version send the current version, rows with /stale an older one.
//
//nolint:dupword // a table
const steps = `
	PLACED     PAID                ACCEPTED    PREPARING   wrong_step  wrong_step  wrong_step
	ACCEPTED   PAID                =           PREPARING   wrong_step  wrong_step  PLACED
	PREPARING  PAID                =           =           READY       wrong_step  ACCEPTED
	READY      PAID                =           =           =           SERVED      PREPARING
	SERVED     PAID                =           =           =           =           READY
	PLACED     PAID/version        ACCEPTED    PREPARING   wrong_step  wrong_step  wrong_step
	READY      PAID/version        =           =           =           SERVED      PREPARING
	PLACED     PAID/stale          changed     changed     changed     changed     changed
	ACCEPTED   PAID/stale          =           changed     changed     changed     changed
	READY      PAID/stale          =           =           =           changed     changed
	SERVED     PAID/stale          =           =           =           =           changed
	PLACED     UNPAID              not_paid    not_paid    not_paid    not_paid    not_paid
	PLACED     CONFIRMING          not_paid    not_paid    not_paid    not_paid    not_paid
	PLACED     UNPAID/version      not_paid    not_paid    not_paid    not_paid    not_paid
	CANCELED   CANCELED            wrong_step  wrong_step  wrong_step  wrong_step  wrong_step
	CANCELED   REFUND_DUE          wrong_step  wrong_step  wrong_step  wrong_step  wrong_step
	CANCELED   REFUNDED/version    wrong_step  wrong_step  wrong_step  wrong_step  wrong_step
	PLACED     REFUND_DUE          voided      voided      voided      voided      wrong_step
	PREPARING  REFUNDED            voided      voided      voided      voided      wrong_step
	PLACED     REFUND_DUE/version  VOIDED      VOIDED      VOIDED      VOIDED      wrong_step
	READY      REFUNDED/version    VOIDED      VOIDED      VOIDED      VOIDED      wrong_step
	PREPARING  REFUND_DUE/stale    changed     changed     changed     changed     changed
	SERVED     REFUNDED            =           =           =           =           READY
	PREPARING  REFUND_DUE/cleared  =           =           =           =           PREPARING
	PLACED     REFUNDED/cleared    =           =           =           =           PLACED`

// between returns the number of stages after from, up to and including to. Each has its own version, event and
// record.
func between(from, to ordering.Status) int {
	way := []ordering.Status{ordering.Placed, ordering.Accepted, ordering.Preparing, ordering.Ready, ordering.Served}
	a, b := slices.Index(way, from), slices.Index(way, to)
	if a < 0 || b < 0 || b <= a {
		return 1
	}
	return b - a
}

func TestBatch_step(t *testing.T) {
	for row := range strings.Lines(strings.TrimSpace(steps)) {
		words := strings.Fields(row)
		status, money, more := ordering.Status(words[0]), words[1], ""
		money, more, _ = strings.Cut(money, "/")
		for i, kind := range stepKinds {
			want := words[2+i]
			t.Run(strings.Join([]string{words[0], words[1], string(kind)}, " "), func(t *testing.T) {
				o := ordering.Order{
					ID: "o", Scope: scope, Kind: ordering.DineIn, Status: status, PaymentStatus: ordering.PaymentStatus(money),
					VoidSeen: more == "cleared", Version: 7, SteppedAt: now.Add(-time.Minute),
				}
				s := ordering.Step{OrderID: "o", Kind: kind, By: authz.Actor{Kind: authz.Account, UserID: 3}, Today: scope.Date}
				switch more {
				case "version":
					s.Version = 7
				case "stale":
					s.Version = 6
				}
				checkStep(t, o, s, want)
			})
		}
	}
}

// A step that is too early is refused with the step that comes first.
func TestBatch_step_too_early(t *testing.T) {
	const notBegun, notReady = "This order has not been started yet. Start it first.", "This order is not ready yet. Mark it as ready first."
	for _, c := range []struct {
		status ordering.Status
		kind   ordering.StepKind
		detail string
	}{
		{ordering.Placed, ordering.Done, notBegun}, {ordering.Accepted, ordering.Done, notBegun}, {ordering.Placed, ordering.Serve, notBegun},
		{ordering.Accepted, ordering.Serve, notBegun}, {ordering.Preparing, ordering.Serve, notReady},
		{ordering.Canceled, ordering.Done, "This order has already moved on."},
	} {
		b := batch()
		b.Orders["o"] = &ordering.Order{ID: "o", Scope: scope, Kind: ordering.DineIn, Status: c.status, PaymentStatus: ordering.Paid}
		r := b.Decide([]ordering.Command{&ordering.Step{OrderID: "o", Kind: c.kind, Today: scope.Date}})[0]
		if f, _ := errors.AsType[*fault.Error](r.Err); !errors.Is(r.Err, ordering.ErrWrongStep) || f.Detail != c.detail {
			t.Errorf("%s of an order that is %s is refused with %v, want %q", c.kind, c.status, r.Err, c.detail)
		}
	}
}

func checkStep(t *testing.T, o ordering.Order, s ordering.Step, want string) {
	t.Helper()
	b, before := batch(), o
	b.Orders["o"] = &o
	r := b.Decide([]ordering.Command{&s})[0]
	if want == "=" || want == strings.ToLower(want) {
		f, _ := errors.AsType[*fault.Error](r.Err)
		refused := f != nil && f.Code == want && f.Extra["orderStatus"] == before.Status && f.Extra["version"] == before.Version
		if want == "=" && r.Err != nil || want != "=" && !refused {
			t.Errorf("%v, want %s with the present status", r.Err, want)
		}
		same := o.Version == before.Version && o.Status == before.Status && o.VoidSeen == before.VoidSeen
		if r.Changed || !same || len(b.Steps)+len(b.Events)+len(b.Changed) != 0 {
			t.Errorf("it has effects: %+v, %v", r, r.Err)
		}
		return
	}
	to, from := ordering.Status(want), before.Status
	n := between(from, to)
	if before.VoidSeen {
		from, n = ordering.Voided, 1
	}
	if r.Err != nil || !r.Changed || b.Changed["o"] == nil || o.Version != before.Version+int64(n) || o.SteppedAt != now {
		t.Fatalf("step = %+v, %v, want %d versions more at %v", r, r.Err, n, now)
	}
	if cleared := to == ordering.Voided; o.VoidSeen != cleared || !cleared && o.Status != to || cleared && o.Status != before.Status {
		t.Errorf("it is %s, cleared %t, want %s", o.Status, o.VoidSeen, want)
	}
	if len(b.Steps) != n || len(b.Events) != n || b.Steps[0].From != from || b.Steps[n-1].To != to {
		t.Fatalf("%d events of %+v", len(b.Events), b.Steps)
	}
	checkProgress(t, b, before, s.By.String())
}

// checkProgress checks that each stage has its event.
func checkProgress(t *testing.T, b *ordering.Batch, before ordering.Order, by string) {
	t.Helper()
	for i, st := range b.Steps {
		p, err := event.OrderProgressed.Decode(b.Events[i])
		if err != nil || p.From != string(st.From) || p.To != string(st.To) || b.Events[i].Seq != st.Version ||
			st.Version != before.Version+int64(i)+1 || st.By != by || st.At != now {
			t.Errorf("event %+v (%v) of %+v", p, err, st)
		}
	}
}

// The last stage of delivery and pick-up orders is COMPLETED.
func TestBatch_stepOfOtherKinds(t *testing.T) {
	for _, kind := range []ordering.Kind{ordering.Delivery, ordering.PickUp} {
		o := ordering.Order{ID: "o", Scope: scope, Kind: kind, Status: ordering.Ready, PaymentStatus: ordering.Paid, Version: 7}
		checkStep(t, o, ordering.Step{OrderID: "o", Kind: ordering.Serve}, "COMPLETED")
		o.Status, o.SteppedAt = ordering.Completed, now
		checkStep(t, o, ordering.Step{OrderID: "o", Kind: ordering.Serve}, "=")
		checkStep(t, o, ordering.Step{OrderID: "o", Kind: ordering.Recall, Today: scope.Date}, "READY")
	}
}

// A served order can be recalled for twelve hours on its business date, and on any date while boards show it.
func TestBatch_recallIsLimited(t *testing.T) {
	for name, c := range map[string]struct {
		ago   time.Duration
		today string
		want  string
	}{
		"at once":                 {0, "2026-02-26", "READY"},
		"in the evening":          {12 * time.Hour, "2026-02-26", "READY"},
		"after half a day":        {12*time.Hour + 1, "2026-02-26", "recall_over"},
		"over the end of the day": {30 * time.Minute, "2026-02-27", "READY"},
		"later on the next day":   {30*time.Minute + 1, "2026-02-27", "recall_over"},
	} {
		t.Run(name, func(t *testing.T) {
			o := ordering.Order{
				ID: "o", Scope: scope, Kind: ordering.DineIn, Status: ordering.Served, PaymentStatus: ordering.Paid, Version: 7,
				SteppedAt: now.Add(-c.ago),
			}
			s := ordering.Step{OrderID: "o", Kind: ordering.Recall, Today: c.today, Version: 7}
			checkStep(t, o, s, c.want)
			o.Status, o.PaymentStatus, o.VoidSeen = ordering.Ready, ordering.Refunded, true
			checkStep(t, o, s, c.want)
			o.PaymentStatus, o.VoidSeen = ordering.Paid, false // voided before it is served: it can be recalled at any time
			checkStep(t, o, s, "PREPARING")
		})
	}
}

func TestBatch_step_of_an_unknown_order(t *testing.T) {
	b := batch()
	r := b.Decide([]ordering.Command{
		&ordering.Step{OrderID: "o", Kind: ordering.Accept}, &ordering.MarkItem{OrderID: "o", Done: true},
	})
	for _, r := range r {
		testenv.ErrorIs(t, ordering.ErrNotFound, r.Err)
	}
}

func TestBatch_mark(t *testing.T) {
	for name, c := range map[string]struct {
		status  ordering.Status
		money   ordering.PaymentStatus
		mark    ordering.MarkItem
		want    error
		changed bool
	}{
		"off":               {ordering.Preparing, ordering.Paid, ordering.MarkItem{Index: 0, Done: true, Version: 7}, nil, true},
		"off, unseen":       {ordering.Placed, ordering.Paid, ordering.MarkItem{Index: 0, Done: true}, nil, true},
		"on again":          {ordering.Ready, ordering.Paid, ordering.MarkItem{Index: 1}, nil, true},
		"off already":       {ordering.Preparing, ordering.Paid, ordering.MarkItem{Index: 1, Done: true, Version: 3}, nil, false},
		"on already":        {ordering.Preparing, ordering.Paid, ordering.MarkItem{Index: 0}, nil, false},
		"changed meanwhile": {ordering.Preparing, ordering.Paid, ordering.MarkItem{Index: 0, Done: true, Version: 6}, ordering.ErrChanged, false},
		"no such line":      {ordering.Preparing, ordering.Paid, ordering.MarkItem{Index: 2, Done: true}, ordering.ErrLine, false},
		"below the first":   {ordering.Preparing, ordering.Paid, ordering.MarkItem{Index: -1, Done: true}, ordering.ErrLine, false},
		"not paid":          {ordering.Placed, ordering.Unpaid, ordering.MarkItem{Index: 0, Done: true}, ordering.ErrNotPaid, false},
		"voided":            {ordering.Preparing, ordering.RefundDue, ordering.MarkItem{Index: 0, Done: true}, ordering.ErrVoided, false},
		"served":            {ordering.Served, ordering.Paid, ordering.MarkItem{Index: 0, Done: true}, ordering.ErrWrongStep, false},
		"canceled":          {ordering.Canceled, ordering.PaymentCanceled, ordering.MarkItem{Index: 0, Done: true}, ordering.ErrWrongStep, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := batch()
			earlier := []ordering.Item{{ItemID: 11, Qty: 1}, {ItemID: 12, Qty: 2, DoneAt: now.Add(-time.Minute)}}
			b.Orders["o"] = &ordering.Order{
				ID: "o", Scope: scope, Kind: ordering.DineIn, Status: c.status, PaymentStatus: c.money, Version: 7, Items: earlier,
			}
			c.mark.OrderID = "o"
			r := b.Decide([]ordering.Command{&c.mark})[0]
			if !errors.Is(r.Err, c.want) || r.Changed != c.changed {
				t.Fatalf("mark = %+v, %v, want %v and changed %t", r, r.Err, c.want, c.changed)
			}
			at, marked := b.Marks[ordering.Line{OrderID: "o", Index: c.mark.Index}]
			if marked != c.changed || (b.Changed["o"] != nil) != c.changed || len(b.Events) != 0 {
				t.Errorf("effects %+v", b.Effects)
			}
			if c.changed && (at.IsZero() == c.mark.Done || r.Order.Items[c.mark.Index].DoneAt != at || r.Order.Version != 8) {
				t.Errorf("marked at %v: %+v, want the line done and version 8", at, r.Order)
			}
			if !earlier[0].DoneAt.IsZero() || earlier[1].DoneAt.IsZero() {
				t.Error("an earlier result was changed")
			}
		})
	}
}

// EffectiveSteps omits the steps that were recalled.
func TestEffectiveSteps(t *testing.T) {
	step := func(from, to ordering.Status) ordering.StepTaken { return ordering.StepTaken{From: from, To: to} }
	record := []ordering.StepTaken{
		step("PLACED", "ACCEPTED"), step("ACCEPTED", "PREPARING"), step("PREPARING", "ACCEPTED"), step("ACCEPTED", "PREPARING"),
		step("PREPARING", "READY"), step("READY", "VOIDED"), step("VOIDED", "READY"), step("READY", "SERVED"), step("SERVED", "READY"),
	}
	var got []string
	for _, s := range ordering.EffectiveSteps(record) {
		got = append(got, string(s.To))
	}
	if strings.Join(got, " ") != "ACCEPTED PREPARING READY" {
		t.Error(got)
	}
}
