package report

import "regexp"

// Attempts are the payment attempts of one method in one state.
type Attempts struct {
	Method string
	State  string // PAID means captured
	Number int64
	Amount int64
}

// Failures are the reports of one kind about failed payments.
type Failures struct {
	Method string
	Result string // FAILED, CANCELED, REVIEW, AMOUNT_MISMATCH
	Code   string // the gateway's own code; may be empty
	Number int64
}

// Refunds is money refunded, or due, by one method and for one reason.
type Refunds struct {
	Date   string // business date of the order
	Method string
	Reason string
	State  string // DONE means refunded; everything else is owed
	Number int64
	Amount int64
}

// Done reports whether the money is refunded.
func (r Refunds) Done() bool { return r.State == refundDone }

// Undated returns the refunds summed over all dates.
func Undated(all []Refunds) []Refunds {
	index, sums := map[Refunds]int{}, []Refunds{}
	for _, f := range all {
		// The key has no date and no sums, so it is the same for all dates.
		key := Refunds{Method: f.Method, Reason: f.Reason, State: f.State}
		i, known := index[key]
		if !known {
			i = len(sums)
			index[key] = i
			sums = append(sums, key)
		}
		sums[i].Number += f.Number
		sums[i].Amount += f.Amount
	}
	return sums
}

// States and reasons of attempts and refunds as stored.
const (
	captured   = "PAID"
	refundDone = "DONE"
	byStaff    = "STAFF"
)

// Money sums up the money of a span (R3).
type Money struct {
	Captured int64
	Refunded int64 // refunds of sales, decided by staff
	Returned int64 // without an order: paid twice, or too late
	Done     int64 // part of Refunded and Returned that is already refunded
}

// Kept returns the amount that stays with the restaurant.
func (m Money) Kept() int64 { return m.Captured - m.Refunded - m.Returned }

// MoneyOf returns the sums of attempts and refunds.
func MoneyOf(attempts []Attempts, refunds []Refunds) (m Money) {
	for _, a := range attempts {
		if a.State == captured {
			m.Captured += a.Amount
		}
	}
	for _, r := range refunds {
		if r.Reason == byStaff {
			m.Refunded += r.Amount
		} else {
			m.Returned += r.Amount
		}
		if r.Done() {
			m.Done += r.Amount
		}
	}
	return m
}

// Ended counts the orders of one business date that ended unpaid for one reason (R4).
type Ended struct {
	Date   string
	Reason string // EXPIRED, USER_CANCELED, STAFF_CANCELED
	Orders int64
	Amount int64 // total of these orders

	Abandoned       int64 // part of Orders whose guest was sent to a gateway's page and did not pay
	AbandonedAmount int64
}

// codes matches the gateways' own result codes in raw reports. Reports are searched and not decoded, because they are
// query strings or JSON, depending on the gateway.
var codes = regexp.MustCompile(`(?:vnp_ResponseCode=|"vnp_TransactionStatus":\s*"|"returnCode":\s*")([0-9A-Za-z_]{1,20})`)

// CodeIn returns the gateway's own code in a raw report; empty if there is none.
func CodeIn(raw string) string {
	if m := codes.FindStringSubmatch(raw); m != nil {
		return m[1]
	}
	return ""
}
