package vnpay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/uid"
)

// Check implements payment.Gateway (QUERYDR&REFUND, "vnp_Command=querydr"). A payment that VNPay does not know (91) is one
// whose page nobody has opened: nothing is decided. VNPay refuses to be asked about one payment more often than every
// few minutes (94); like every other code that is ErrGateway, with the code in its cause.
func (m *Merchant) Check(ctx context.Context, a payment.Attempt) (payment.Report, error) {
	now := m.now()
	request := m.request("querydr", uid.New(now), a)
	request.set("CreateDate", clock(now))
	request.set("OrderInfo", plain("Truy van "+a.ID, maxInfo))
	answer, raw, err := m.ask(ctx, request, queryRequest, queryAnswer)
	if err == nil {
		err = answer.about(request)
	}
	if err != nil {
		return payment.Report{}, payment.ErrGateway.Because(err)
	}
	switch answer.get("ResponseCode") {
	case "00":
		return answer.report(raw)
	case "91":
		return payment.Report{State: payment.Redirected, Code: "91", Raw: raw}, nil
	}
	return payment.Report{}, payment.ErrGateway.Because(answer.failure())
}

// Confirm implements payment.Gateway: VNPay takes the money by itself.
func (m *Merchant) Confirm(ctx context.Context, a payment.Attempt) (payment.Report, error) {
	return m.Check(ctx, a)
}

// report reads a query's answer. Its own code is about the question and has been read; the payment's is the status.
func (a message) report(raw string) (payment.Report, error) {
	status := a.get("TransactionStatus")
	amount, ok := dong(a.get("Amount"))
	ref, named := transaction(a.get("TransactionNo"))
	if a.get("Amount") == "" && status != "00" {
		ok = true // what has no payment may have no amount
	}
	if !ok || !named || !code.MatchString(status) {
		return payment.Report{}, payment.ErrGateway.Because(fmt.Errorf("vnpay: querydr: %.20q or %.20q or %.8q is not in its form",
			a.get("Amount"), a.get("TransactionNo"), status))
	}
	r := payment.Report{
		State: stateOf("00", status), Ref: ref, Amount: amount, Currency: money.VND, Code: "00/" + status, Raw: raw,
	}
	if kind := a.get("TransactionType"); r.State == payment.Paid && kind != "" && kind != "01" {
		r.State = payment.Review // it speaks of money that went back (02, 03), of which we have not told it
	}
	return r, nil
}

// AnotherDay is the code of a refund that is not sent again. VNPay knows a request again for a day: a part that was sent
// on an earlier one might be paid twice, and VNPay's query tells nothing of parts. Staff look in its portal. All of an
// amount needs no such care, since there is nothing left to give back.
const AnotherDay = "ANOTHER_DAY"

// midnight is how far from the end of a day a request may be on its way, or VNPay's clock be another than ours.
const midnight = 5 * time.Minute

// Prepare implements payment.Gateway: VNPay knows requests again by their ids.
func (m *Merchant) Prepare(context.Context, payment.Repayment) (before []string, out payment.Outcome, err error) {
	return nil, payment.Outcome{}, nil
}

// Refund implements payment.Gateway (QUERYDR&REFUND, "vnp_Command=refund"). The request is made of the refund alone, so
// that a repetition is the same request to VNPay (V4), and it may be repeated after any error, also after one that leaves
// open whether VNPay has heard it. All outcomes come with VNPay's code, or UNKNOWN with AnotherDay.
func (m *Merchant) Refund(ctx context.Context, r payment.Repayment) (payment.Outcome, error) {
	a := r.Attempt
	if !suitable(a) || r.Amount <= 0 || r.Amount > a.Amount || r.Whole && r.Amount != a.Amount {
		return payment.Outcome{}, payment.ErrUnsuitable
	}
	if !r.Whole && r.Sent && day(r.At.Add(-midnight)) != day(m.now().Add(midnight)) {
		return payment.Outcome{State: payment.RefundUnknown, Code: AnotherDay}, nil
	}
	request := m.request("refund", r.ID, a)
	request.set("TransactionType", "03")
	if r.Whole {
		request.set("TransactionType", "02")
	}
	request.set("Amount", hundredfold(r.Amount))
	request.set("CreateBy", orElse(plain(r.By, 100), "Comanda"))
	request.set("CreateDate", clock(r.At))
	request.set("OrderInfo", plain("Hoan tien "+a.ID+" "+r.Reason, maxInfo))
	answer, _, err := m.ask(ctx, request, refundRequest, refundAnswer)
	if err == nil {
		err = answer.about(request)
	}
	if err != nil {
		return payment.Outcome{}, payment.ErrGateway.Because(err)
	}
	return answer.refunded(r)
}

// refunded reads a refund's answer (QUERYDR&REFUND, "vnp_ResponseCode"):
//
//	00 is done: VNPay has taken it over, unless its status says that it was rejected (09).
//	94 says that VNPay is at work on a refund of this payment. Where we know of another that can have been made it may be
//	   that, so this one is to be sent again. Otherwise it is this one if it was sent before, and if not nobody knows.
//	02, 97 are our contract or our secret: nothing has happened, and once they are put right the same request will do.
//	03, 91, 95 are about this refund, and were said before if it was sent before.
//	99 and codes that nobody knows are refused as well: where refunds by API are not part of the contract, as in the
//	   sandbox, 99 is all that is ever said. Of a refund that was sent before they may mean that it is made and nothing is
//	   left, so what has become of it is not known.
func (a message) refunded(r payment.Repayment) (payment.Outcome, error) {
	out := payment.Outcome{State: payment.RefundRefused, Code: a.get("ResponseCode")}
	switch c := out.Code; {
	case c == "00" && a.get("TransactionStatus") == "09":
		out.Code = "00/09"
	case c == "00":
		out.State = payment.RefundDone
		out.Ref, _ = transaction(a.get("TransactionNo")) // a number in no form is not worth a refund's being sent again
	case c == "94" && alone(r) && r.Sent:
		out.State = payment.RefundDone
	case c == "94" && alone(r):
		out.State = payment.RefundUnknown
	case c == "02", c == "97", c == "94":
		return payment.Outcome{}, payment.ErrGateway.Because(a.failure())
	case c == "03", c == "91", c == "95":
	case r.Sent:
		out.State = payment.RefundUnknown
	}
	return out, nil
}

// alone tells whether no other refund of the attempt can have been made, by us or by hand.
func alone(r payment.Repayment) bool {
	return !slices.ContainsFunc(r.Others, func(o payment.Refund) bool { return o.Sent || o.State == payment.RefundDone })
}

// request makes what both commands have in common. TransactionDate is the time that the pay URL has named.
func (m *Merchant) request(command, id string, a payment.Attempt) message {
	r := message{}
	r.set("RequestId", id)
	r.set("Version", version)
	r.set("Command", command)
	r.set("TmnCode", m.conf.TmnCode)
	r.set("TxnRef", a.ID)
	r.set("TransactionNo", orElse(a.GatewayRef, "0"))
	r.set("TransactionDate", clock(a.CreatedAt))
	r.set("IpAddr", nowhere)
	return r
}

// failure is for the log; the message is VNPay's and signed by it.
func (a message) failure() error {
	return fmt.Errorf("vnpay: %.10q was answered %.8q: %.200q", a.get("Command"), a.get("ResponseCode"), a.get("Message"))
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
