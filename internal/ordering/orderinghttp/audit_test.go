package orderinghttp_test

import (
	"maps"
	"slices"
	"strconv"

	"comanda/internal/payment"
)

// dollars parses an amount of LINE Pay's simulator. The soak uses whole amounts only.
func (v *soak) dollars(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		v.t.Error(err)
	}
	return n
}

// capturedAt returns the amounts captured by the gateways, by attempt.
func (v *soak) capturedAt() map[string]int64 {
	all := map[string]int64{}
	for _, p := range v.vnpay.Payments() {
		if p.State == "PAID" {
			all[p.TxnRef] = p.Amount
		}
	}
	for _, p := range v.line.Payments() {
		if p.State == "PAID" {
			all[p.OrderID] += v.dollars(p.Amount)
		}
	}
	return all
}

// refundedAt returns the amounts refunded by the gateways, by attempt.
func (v *soak) refundedAt() map[string]int64 {
	all := map[string]int64{}
	for _, p := range v.vnpay.Payments() {
		all[p.TxnRef] += p.Refunded
	}
	for _, p := range v.line.Payments() {
		all[p.OrderID] += v.dollars(p.Refunded)
	}
	maps.DeleteFunc(all, func(_ string, n int64) bool { return n == 0 })
	return all
}

// audit compares the database with the gateways, and the database's totals with each other.
func (v *soak) audit() {
	v.t.Helper()
	v.balanced()
	review := v.amountsByKey("SELECT id, amount FROM payment_attempt WHERE state = 'REVIEW'")
	captured := v.amountsByKey("SELECT id, amount FROM payment_attempt WHERE state = 'PAID' AND method <> 'COUNTER'")
	taken := v.capturedAt()
	for id := range review { // LINE Pay captured less than requested, and the staff see it
		if taken[id] == 0 {
			v.t.Errorf("attempt %s is under review, and no money was taken", id)
		}
		delete(taken, id)
	}
	v.same("captured", captured, taken)
	v.same("given back", v.amountsByKey(`
		SELECT attempt_id, sum(amount) FROM refund WHERE state = 'DONE' AND method <> 'COUNTER' AND note <> 'by hand'
		GROUP BY attempt_id`), v.refundedAt())
	sums := v.amountsByKey(`
		SELECT 'captured', sum(amount) FROM payment_attempt WHERE state = 'PAID'
		UNION ALL SELECT 'refunded', sum(amount) FROM refund WHERE state = 'DONE'
		UNION ALL SELECT 'sold', sum(total_amount - refunded_amount) FROM order_info WHERE payment_status = 'PAID'
		UNION ALL SELECT 'left over', count(*) FROM payment_attempt WHERE state IN ('CONFIRMING', 'UNKNOWN')
		UNION ALL SELECT 'open', count(*) FROM order_info WHERE payment_status IN ('UNPAID', 'CONFIRMING', 'REFUND_DUE')
		UNION ALL SELECT 'owed', count(*) FROM refund WHERE state <> 'DONE'
		UNION ALL SELECT 'oversold', count(*) FROM sales_quota_counter WHERE used_qty > cap OR held_qty <> 0
		UNION ALL SELECT 'paid events', count(*) FROM event_log WHERE event_type = 'order.paid'
		UNION ALL SELECT 'paid orders', count(*) FROM order_info WHERE paid_at IS NOT NULL`)
	if sums["captured"]-sums["refunded"] != sums["sold"] || sums["captured"] == 0 || sums["paid events"] != sums["paid orders"] {
		v.t.Errorf("the sums do not agree: %v", sums)
	}
	for _, what := range []string{"left over", "open", "owed", "oversold"} {
		if sums[what] != 0 {
			v.t.Errorf("%d units or orders are %s, want none", sums[what], what)
		}
	}
	v.wantEveryOutcome(sums)
}

func (v *soak) same(what string, ours, gateways map[string]int64) {
	v.t.Helper()
	if maps.Equal(ours, gateways) {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(ours)) {
		if ours[id] != gateways[id] {
			v.t.Errorf("attempt %s: %d %s by our books, %d by the gateway's", id, ours[id], what, gateways[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(gateways)) {
		if _, ok := ours[id]; !ok {
			v.t.Errorf("attempt %s: the gateway has %s %d, and our books do not have it; they received %v", id, what, gateways[id],
				v.read("SELECT received_at || ' ' || method || ' ' || source || ' ' || verdict FROM payment_event WHERE attempt_id = '"+id+"'"))
		}
	}
}

// wantEveryOutcome checks that the random stories covered every important outcome.
func (v *soak) wantEveryOutcome(sums map[string]int64) {
	v.t.Helper()
	seen := v.amountsByKey(`
		SELECT 'report ' || source || ' ' || verdict, count(*) FROM payment_event GROUP BY source, verdict
		UNION ALL SELECT 'refund ' || reason, count(*) FROM refund GROUP BY reason
		UNION ALL SELECT 'refund by hand', count(*) FROM refund WHERE portal_ref <> ''
		UNION ALL SELECT 'mismatch', count(*) FROM payment_mismatch
		UNION ALL SELECT 'order ' || payment_status, count(*) FROM order_info GROUP BY payment_status`)
	for _, what := range []string{
		"report CALLBACK PAID", "report CALLBACK REPEATED", "report CALLBACK FAILED", "report CALLBACK UNKNOWN", "report CALLBACK FORGED",
		"report CALLBACK AMOUNT_MISMATCH", "report CALLBACK FOREIGN", "report CHECK PAID", "report CHECK FAILED", "report STAFF PAID",
		"refund " + string(payment.PaidTwice), "refund " + string(payment.LateSoldOut), "refund " + string(payment.LateCanceled),
		"refund " + string(payment.RefundedByStaff),
		"refund by hand", "mismatch",
		"order PAID", "order CANCELED", "order REFUNDED",
	} {
		if seen[what] == 0 {
			v.t.Errorf("nothing was recorded about %q", what)
		}
	}
	v.t.Logf("sums %v, recorded outcomes %v", sums, seen)
}
