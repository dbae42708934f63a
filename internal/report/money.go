package report

import "regexp"

// Attempts are the tries to pay in one way that have come to the same state.
type Attempts struct {
	Method string
	State  string // PAID is money that was captured
	Number int64
	Amount int64
}

// Failures are the reports of one kind about payments that did not come about.
type Failures struct {
	Method string
	Result string // FAILED, CANCELED, REVIEW, AMOUNT_MISMATCH
	Code   string // the gateway's own word, empty where it has none
	Number int64
}

// Refunds is money that went back, or is to go back, in one way and for one reason.
type Refunds struct {
	Date   string // of the order
	Method string
	Reason string
	State  string // DONE is back; everything else is owed
	Number int64
	Amount int64
}

// Done tells whether the money is back.
func (r Refunds) Done() bool { return r.State == refundDone }

// Undated adds refunds up whatever their dates.
func Undated(all []Refunds) []Refunds {
	index, sums := map[Refunds]int{}, []Refunds{}
	for _, f := range all {
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

// What attempts, refunds and their reasons are called where they are written.
const (
	captured   = "PAID"
	refundDone = "DONE"
	byStaff    = "STAFF"
)

// Money is where all the money of a span went (R3).
type Money struct {
	Captured int64
	Refunded int64 // of sales, as the staff decided
	Returned int64 // that no order could be made of: paid twice, or too late
	Done     int64 // of Refunded and Returned, what is back already
}

// Kept is what stays with the house.
func (m Money) Kept() int64 { return m.Captured - m.Refunded - m.Returned }

// MoneyOf adds up what was captured and what goes back.
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

// Ended is the orders of one business date that came to nothing for one reason (R4).
type Ended struct {
	Date   string
	Reason string // EXPIRED, USER_CANCELED, STAFF_CANCELED
	Orders int64
	Amount int64 // what they would have cost

	Abandoned       int64 // of Orders, those whose guest had been sent to a gateway's page and did not pay there
	AbandonedAmount int64
}

// codes is where the raw reports of gateways have their own word for what happened.
var codes = regexp.MustCompile(`(?:vnp_ResponseCode=|"vnp_TransactionStatus":\s*"|"returnCode":\s*")([0-9A-Za-z_]{1,20})`)

// CodeIn finds a gateway's own word in its report as it came; empty where there is none.
func CodeIn(raw string) string {
	if m := codes.FindStringSubmatch(raw); m != nil {
		return m[1]
	}
	return ""
}
