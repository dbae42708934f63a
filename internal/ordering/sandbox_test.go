package ordering_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// counts is a counter that tests read. Its labels are joined by slashes.
type counts map[string]int

func (c counts) Count(labels ...string) { c[strings.Join(labels, "/")]++ }

// The sandbox's CANCEL ends the order and its attempt together. The report is stored and counted as what it did.
func TestService_MockCallback_cancel(t *testing.T) {
	const success, fail, cancel = ordering.MockSuccess, ordering.MockFail, ordering.MockCancel
	verdicts := sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(
		"SELECT source || ' ' || verdict FROM payment_event WHERE order_id = $1 ORDER BY received_at, id")}}).Must("it")
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, _, g := service(t, db, &admission{try: admit}, 100)
		for _, c := range []struct {
			name     string
			results  []ordering.MockResult
			before   func(id string) error
			attempts string
			status   ordering.PaymentStatus
			verdicts string
			counted  counts
			err      error // of the last result
		}{
			{
				"canceled", []ordering.MockResult{cancel}, nil, "SANDBOX CANCELED", ordering.PaymentCanceled, "CALLBACK CANCELED",
				counts{"SANDBOX/ok": 1, "CANCELED/USER_CANCELED": 1}, nil,
			},
			{
				"twice", []ordering.MockResult{cancel, cancel}, nil, "SANDBOX CANCELED", ordering.PaymentCanceled,
				"CALLBACK CANCELED, CALLBACK REPEATED", counts{"SANDBOX/ok": 1, "SANDBOX/dup": 1, "CANCELED/USER_CANCELED": 1}, nil,
			},
			{
				"after a failure", []ordering.MockResult{fail, cancel}, nil, "SANDBOX CANCELED", ordering.PaymentCanceled,
				"CALLBACK FAILED, CALLBACK CANCELED", counts{"SANDBOX/ok": 2, "CANCELED/USER_CANCELED": 1}, nil,
			},
			{
				"after a success", []ordering.MockResult{success, cancel}, nil, "SANDBOX PAID", ordering.Paid, "CALLBACK PAID",
				counts{"SANDBOX/ok": 1, "PAID/CALLBACK": 1}, ordering.ErrNotCancelable,
			},
			{
				"before a success", []ordering.MockResult{cancel, success}, nil, "SANDBOX PAID", ordering.RefundDue,
				"CALLBACK CANCELED, CALLBACK PAID", counts{"SANDBOX/ok": 1, "SANDBOX/late": 1, "CANCELED/USER_CANCELED": 1}, nil,
			},
			{
				"after the guest", []ordering.MockResult{cancel}, func(id string) error {
					return second(s.Cancel(t.Context(), g, id))
				}, "SANDBOX CANCELED", ordering.PaymentCanceled, "CALLBACK REPEATED",
				counts{"SANDBOX/dup": 1, "CANCELED/USER_CANCELED": 1}, nil,
			},
			{
				"beside another attempt", []ordering.MockResult{cancel}, func(id string) error {
					return third(s.Pay(t.Context(), g, id, payment.Counter, ordering.Client{}))
				}, "SANDBOX CANCELED, COUNTER CANCELED", ordering.PaymentCanceled, "CALLBACK CANCELED",
				counts{"SANDBOX/ok": 1, "CANCELED/USER_CANCELED": 1}, nil,
			},
		} {
			t.Run(c.name, func(t *testing.T) {
				counted := counts{}
				s.Metrics = &ordering.Metrics{Created: counts{}, Transition: counted, Callback: counted, Step: counts{}}
				id := testenv.Must(s.Place(t.Context(), g, request(c.name)))(t).Order.ID
				if c.before != nil {
					testenv.NoError(t, c.before(id))
				}
				var err error
				for _, r := range c.results {
					_, err = s.MockCallback(t.Context(), id, payment.Sandbox, r, "{}")
				}
				d := testenv.Must(s.Order(t.Context(), g, id))(t)
				var attempts []string
				for _, a := range d.Attempts {
					attempts = append(attempts, string(a.Method)+" "+string(a.State))
				}
				if got := strings.Join(attempts, ", "); got != c.attempts || d.PaymentStatus != c.status || !errors.Is(err, c.err) {
					t.Errorf("attempts %s of an order that is %s, %v; want %s, %s, %v", got, d.PaymentStatus, err, c.attempts, c.status, c.err)
				}
				stored := testenv.Must(sqldb.Collect(t.Context(), db, sqldb.Value[string], verdicts, id))(t)
				testenv.Equal(t, c.verdicts, strings.Join(stored, ", "))
				testenv.Equal(t, c.counted, counted)
			})
		}
	})
}
