package vnpay

import (
	"context"
	"fmt"

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

// AnotherDay is the code of a refund that was refused here and not by VNPay. It knows a request again for a day: a part
// that was decided on an earlier one may have been sent then, and sent again it might be paid again. Staff look in
// VNPay's portal. All of an amount needs no such care, since there is nothing left to give back.
const AnotherDay = "ANOTHER_DAY"

// Refund implements payment.Gateway (QUERYDR&REFUND, "vnp_Command=refund"). The request is made of the refund alone, so
// that a repetition is the same request to VNPay (V4), and it may be repeated after any error, also after one that leaves
// open whether VNPay has heard it. DONE and REFUSED come with VNPay's code or AnotherDay.
func (m *Merchant) Refund(ctx context.Context, r payment.Repayment) (payment.RefundState, string, error) {
	a := r.Attempt
	if !suitable(a) || r.Amount <= 0 || r.Amount > a.Amount || r.Whole && r.Amount != a.Amount {
		return "", "", payment.ErrUnsuitable
	}
	if !r.Whole && day(r.At) != day(m.now()) {
		return payment.RefundRefused, AnotherDay, nil
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
		return "", "", payment.ErrGateway.Because(err)
	}
	return answer.refunded(r.Earlier > 0)
}

// refunded reads a refund's answer (QUERYDR&REFUND, "vnp_ResponseCode"):
//
//	00 is done: VNPay has taken it over, unless its status says that it was rejected (09).
//	94 says that VNPay is at work on a refund of this payment. Where nothing was given back before, it is this one, sent
//	   earlier without our hearing of it. Otherwise it may be the one before, so it is to be sent again.
//	02, 97 are our contract or our secret: nothing has happened, and once they are put right the same request will do.
//	03, 91, 95 and codes that nobody knows are about this refund, and would be said again.
//	99 is refused as well: where refunds by API are not part of the contract, as in the sandbox, it is all that is ever
//	   said. Staff look in VNPay's portal before they pay by hand.
func (a message) refunded(earlier bool) (payment.RefundState, string, error) {
	switch c := a.get("ResponseCode"); {
	case c == "00" && a.get("TransactionStatus") == "09":
		return payment.RefundRefused, "00/09", nil
	case c == "00", c == "94" && !earlier:
		return payment.RefundDone, c, nil
	case c == "02", c == "97", c == "94":
		return "", "", payment.ErrGateway.Because(a.failure())
	default:
		return payment.RefundRefused, c, nil
	}
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
