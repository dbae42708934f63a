package paymentsql_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/payment"
	"comanda/internal/payment/paymentsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func ids[T any](all []T, id func(T) string) []string {
	got := []string{}
	for _, a := range all {
		got = append(got, id(a))
	}
	slices.Sort(got)
	return got
}

func attemptID(a payment.Attempt) string { return a.ID }
func refundID(r payment.Refund) string   { return r.ID }

// A due attempt is claimed once per due time. One that waits for the guest is claimed at doubling intervals after 26 hours,
// and one in another state no more.
func TestClaimChecks(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		all := []payment.Attempt{attempt("never", "o"), attempt("now", "o"), attempt("later", "o"), attempt("old", "o"), attempt("over", "o")}
		for i, due := range []time.Time{{}, at, at.Add(time.Second), at, at} {
			all[i].Method, all[i].State, all[i].CheckAt = payment.LINEPay, payment.Redirected, due
		}
		all[3].CreatedAt, all[4].CreatedAt = at.Add(-27*time.Hour), at.Add(-27*time.Hour)
		all[4].State = payment.Unknown
		testenv.NoError(t, write(t, db, func(tx sqldb.Tx) { paymentsql.QueueAttempts(tx, all) }))
		for _, c := range []struct {
			after time.Duration
			want  []string
		}{
			{0, []string{"now", "old", "over"}}, {0, []string{}}, {time.Second, []string{"later"}}, {59 * time.Second, []string{}},
			{time.Minute, []string{"now"}}, {24 * time.Hour, []string{"later", "now"}},
			{27*time.Hour - time.Millisecond, []string{"later", "now"}}, {27 * time.Hour, []string{"old"}}, {53 * time.Hour, []string{}},
			{54 * time.Hour, []string{"later", "now"}}, {80 * time.Hour, []string{}}, {81 * time.Hour, []string{"old"}},
		} {
			got, err := paymentsql.ClaimChecks(t.Context(), db, at.Add(c.after), 10)
			if d := cmp.Diff(c.want, ids(got, attemptID)); err != nil || d != "" {
				t.Errorf("after %v: %v, (-want +got):\n%s", c.after, err, d)
			}
		}
		got := testenv.Must(paymentsql.Attempts(t.Context(), db, []string{"o"}))(t)
		due := map[string]time.Duration{"now": 108 * time.Hour, "later": 108 * time.Hour, "old": 189 * time.Hour}
		for _, a := range got {
			want := time.Time{}
			if d, ok := due[a.ID]; ok {
				want = at.Add(d)
			}
			checks := map[string]int{"now": 5, "later": 4, "old": 3, "over": 1}[a.ID]
			if a.Checks != checks || !a.CheckAt.Equal(want) {
				t.Errorf("%s was claimed %d times and is due at %v, want %d times and %v", a.ID, a.Checks, a.CheckAt, checks, want)
			}
		}
	})
}

// Concurrent processes share the due rows, and no row is claimed twice.
func TestClaims_atOnce(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const n = 200
		var attempts []payment.Attempt
		var refunds []payment.Refund
		for i := range n {
			a := attempt(fmt.Sprintf("a%03d", i), "o")
			a.State, a.CheckAt = payment.Redirected, at
			attempts = append(attempts, a)
			refunds = append(refunds, payment.Refund{
				ID: fmt.Sprintf("r%03d", i), OrderID: "o", AttemptID: a.ID, Amount: 1, Currency: "VND", Method: payment.VNPay,
				State: payment.RefundSending, Reason: payment.RefundedByStaff, CreatedAt: at, SendAt: at,
			})
		}
		testenv.NoError(t, write(t, db, func(tx sqldb.Tx) {
			paymentsql.QueueAttempts(tx, attempts)
			paymentsql.QueueRefunds(tx, refunds)
		}))
		var mu sync.Mutex
		var claimed, sent []string
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range n / 10 {
					checks, err := paymentsql.ClaimChecks(t.Context(), db, at, 10)
					refunds, errRefunds := paymentsql.ClaimRefunds(t.Context(), db, at, 10)
					if err != nil || errRefunds != nil {
						t.Errorf("ClaimChecks: %v, ClaimRefunds: %v", err, errRefunds)
					}
					mu.Lock()
					claimed, sent = append(claimed, ids(checks, attemptID)...), append(sent, ids(refunds, refundID)...)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		slices.Sort(claimed)
		slices.Sort(sent)
		if !slices.Equal(claimed, ids(attempts, attemptID)) || !slices.Equal(sent, ids(refunds, refundID)) {
			t.Errorf("%d attempts and %d refunds were claimed of %d each", len(claimed), len(sent), n)
		}
	})
}

// The refunds of one payment are sent one after the other, and none after its result.
func TestClaimRefunds(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		refund := func(id, attempt string, s payment.RefundState, send time.Time) payment.Refund {
			return payment.Refund{
				ID: id, OrderID: "o", AttemptID: attempt, Amount: 1, Currency: "VND", Method: payment.VNPay, State: s,
				Reason: payment.RefundedByStaff, By: "user:7", Note: "cold", CreatedAt: at, SendAt: send,
			}
		}
		all := []payment.Refund{
			refund("1", "a", payment.RefundSending, at), refund("2", "a", payment.RefundSending, at), refund("3", "b", payment.RefundSending, at),
			refund("4", "c", payment.RefundDue, time.Time{}), refund("5", "c", payment.RefundSending, at.Add(time.Hour)),
		}
		testenv.NoError(t, write(t, db, func(tx sqldb.Tx) { paymentsql.QueueRefunds(tx, all) }))
		claims := func(after time.Duration, want ...string) {
			t.Helper()
			got, err := paymentsql.ClaimRefunds(t.Context(), db, at.Add(after), 10)
			if !slices.Equal(ids(got, refundID), want) || err != nil {
				t.Errorf("after %v %v are claimed, %v; want %v", after, ids(got, refundID), err, want)
			}
		}
		claims(0, "1", "3")
		claims(59 * time.Second)
		finish := func(id int, to payment.RefundState) error {
			all[id-1].SetResult(to, "", "00", at)
			return write(t, db, func(tx sqldb.Tx) { paymentsql.QueueRefundResults(tx, all[id-1:id]) })
		}
		for id, to := range map[int]payment.RefundState{1: payment.RefundDone, 3: payment.RefundRefused} {
			testenv.NoError(t, finish(id, to))
		}
		claims(time.Hour, "2", "5")
		if err := finish(1, payment.RefundDone); err == nil {
			t.Error("a refund that is done was updated")
		}
		if n, oldest, err := paymentsql.OutstandingRefunds(t.Context(), db); n != 4 || !oldest.Equal(at) || err != nil {
			t.Errorf("%d are due since %v, %v", n, oldest, err)
		}
	})
}

// A refund is claimed once more after its last attempt, even if its process was killed, and does not block others
// forever.
func TestClaimRefunds_until_finished(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := payment.Refund{
			ID: "1", OrderID: "o", AttemptID: "a", Amount: 1, Currency: "VND", Method: payment.VNPay, State: payment.RefundSending,
			Reason: payment.RefundedByStaff, CreatedAt: at, SendAt: at,
		}
		testenv.NoError(t, write(t, db, func(tx sqldb.Tx) { paymentsql.QueueRefunds(tx, []payment.Refund{r}) }))
		for tries := range 45 {
			got, err := paymentsql.ClaimRefunds(t.Context(), db, at.Add(time.Duration(tries)*2*time.Hour), 10)
			if err != nil || len(got) != 1 || got[0].Tries != tries || got[0].Exhausted() != (tries >= 40) {
				t.Fatalf("after %d tries %+v is claimed, %v", tries, got, err)
			}
		}
		r.SetResult(payment.RefundUnknown, "", payment.Unreachable, at)
		r.Approve("user:7", "once more", at)
		testenv.NoError(t, write(t, db, func(tx sqldb.Tx) { paymentsql.QueueRefundResults(tx, []payment.Refund{r}) }))
		got, err := paymentsql.ClaimRefunds(t.Context(), db, at, 10)
		if err != nil || len(got) != 1 || got[0].Tries != 0 {
			t.Errorf("decided anew, %+v is claimed, %v", got, err)
		}
	})
}

// An old refund that is approved again waits for a newer one of the same payment that was started.
func TestClaimRefunds_approved_again(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var all []payment.Refund
		for _, id := range []string{"1", "2"} {
			all = append(all, payment.Refund{
				ID: id, OrderID: "o", AttemptID: "a", Amount: 1, Currency: "TWD", Method: payment.LINEPay, State: payment.RefundSending,
				Reason: payment.RefundedByStaff, CreatedAt: at, SendAt: at,
			})
		}
		all[0].State, all[0].SendAt = payment.RefundUnknown, time.Time{}
		testenv.NoError(t, write(t, db, func(tx sqldb.Tx) { paymentsql.QueueRefunds(tx, all) }))
		claims := func(after time.Duration, want ...string) {
			t.Helper()
			got, err := paymentsql.ClaimRefunds(t.Context(), db, at.Add(after), 10)
			if !slices.Equal(ids(got, refundID), want) || err != nil {
				t.Errorf("after %v %v are claimed, %v; want %v", after, ids(got, refundID), err, want)
			}
		}
		claims(0, "2")
		all[0].Approve("user:7", "not in the portal", at)
		testenv.NoError(t, write(t, db, func(tx sqldb.Tx) { paymentsql.QueueRefundResults(tx, all[:1]) }))
		claims(0)
		claims(time.Minute, "2")
		all[1].SetResult(payment.RefundDone, "X", "0000", at)
		testenv.NoError(t, write(t, db, func(tx sqldb.Tx) { paymentsql.QueueRefundResults(tx, all[1:]) }))
		claims(time.Minute, "1")
	})
}

// Before a refund is sent, the ids of earlier refunds at the gateway are stored once. A second process finds them
// stored and does not send.
func TestMarkSent(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var all []payment.Refund
		for _, id := range []string{"none", "some", "over"} {
			all = append(all, payment.Refund{
				ID: id, OrderID: "o", AttemptID: id, Amount: 1, Currency: "TWD", Method: payment.LINEPay, State: payment.RefundSending,
				Reason: payment.RefundedByStaff, CreatedAt: at, SendAt: at,
			})
		}
		all[2].State = payment.RefundDone
		testenv.NoError(t, write(t, db, func(tx sqldb.Tx) { paymentsql.QueueRefunds(tx, all) }))
		for id, before := range map[string][]string{"none": nil, "some": {"1", "2"}} {
			if err := paymentsql.MarkSent(t.Context(), db, id, before); err != nil {
				t.Errorf("MarkSent(%s): %v", id, err)
			}
			if err := paymentsql.MarkSent(t.Context(), db, id, []string{"3"}); err == nil {
				t.Errorf("%s was marked as sent twice", id)
			}
		}
		if err := paymentsql.MarkSent(t.Context(), db, "over", nil); err == nil {
			t.Error("a refund that is done was marked as sent")
		}
		got := testenv.Must(paymentsql.Refunds(t.Context(), db, []string{"o"}))(t)
		for _, r := range got {
			if r.Sent != (r.ID != "over") || len(r.PriorRefunds) != map[string]int{"some": 2}[r.ID] {
				t.Errorf("refund = %+v, want all but one sent, some after two prior ones", r)
			}
		}
	})
}

func TestOwners_and_CountStuck(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var all []payment.Attempt
		for i, s := range []payment.State{payment.Review, payment.Unknown, payment.Unknown, payment.Paid, payment.Confirming, payment.Confirming} {
			a := attempt(fmt.Sprint(i), "o")
			a.State = s
			if i == 5 { // its capture never ended
				a.CreatedAt = at.Add(-61 * time.Minute)
			}
			all = append(all, a)
		}
		testenv.NoError(t, write(t, db, func(tx sqldb.Tx) { paymentsql.QueueAttempts(tx, all) }))
		stuck, err := paymentsql.CountStuck(t.Context(), db, at)
		if d := cmp.Diff(map[payment.State]int64{payment.Review: 1, payment.Unknown: 2, payment.Confirming: 1}, stuck); err != nil || d != "" {
			t.Errorf("CountStuck: error %v, (-want +got):\n%s", err, d)
		}
		if got, err := paymentsql.Owners(t.Context(), db, []string{"0", "none"}); err != nil || len(got) != 0 {
			t.Errorf("attempts of an order that is not there belong to %v, %v", got, err)
		}
	})
}
