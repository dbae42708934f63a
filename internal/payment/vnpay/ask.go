package vnpay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
	"comanda/internal/seq"
	"comanda/internal/uid"
)

// Check implements payment.Gateway (QUERYDR&REFUND, "vnp_Command=querydr"). If VNPay does not have the payment (91),
// its page was never opened, and it is undecided. VNPay refuses to be queried about one payment more often than every
// few minutes (94). Like every other code, that is ErrGateway with the code in its cause.
func (m *Merchant) Check(ctx context.Context, a payment.Attempt) (payment.Report, error) {
	answer, raw, err := m.query(ctx, a)
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

// query sends querydr about an attempt and returns the verified response. If it returns an error, the response is nil
// or is about another payment.
func (m *Merchant) query(ctx context.Context, a payment.Attempt) (message, string, error) {
	now := m.now()
	// A new id for each query: VNPay refuses one that it has seen on the same day.
	request := m.request("querydr", uid.New(now), a)
	request.set("CreateDate", formatTime(now))
	request.set("OrderInfo", asciiText("Truy van "+a.ID, maxInfo))
	answer, raw, err := m.call(ctx, request, queryRequest, queryAnswer)
	if err == nil {
		err = answer.checkSubject(request)
	}
	return answer, raw, err
}

// Confirm implements payment.Gateway by calling Check: VNPay captures by itself.
func (m *Merchant) Confirm(ctx context.Context, a payment.Attempt) (payment.Report, error) {
	return m.Check(ctx, a)
}

// report converts the response to a query. The ResponseCode is about the query and was checked before. The
// TransactionStatus is about the payment.
func (a message) report(raw string) (payment.Report, error) {
	status := a.get("TransactionStatus")
	amount, ok := parseAmount(a.get("Amount"))
	ref, named := parseTransactionNo(a.get("TransactionNo"))
	if a.get("Amount") == "" && status != "00" {
		ok = true // VNPay may state no amount if it has no payment
	}
	if !ok || !named || !code.MatchString(status) {
		return payment.Report{}, payment.ErrGateway.Because(fmt.Errorf("vnpay: querydr: %.20q or %.20q or %.8q is malformed",
			a.get("Amount"), a.get("TransactionNo"), status))
	}
	r := payment.Report{
		State: stateOf("00", status), Ref: ref, Amount: amount, Currency: money.VND, Code: "00/" + status, Raw: raw,
	}
	if kind := a.get("TransactionType"); r.State == payment.Paid && kind != "" && kind != "01" {
		r.State = payment.Review // a refund (02, 03) that Comanda did not send
	}
	return r, nil
}

// AnotherDay is the code of a refund that is not sent again. VNPay recognizes a repeated request within one day only.
// A partial refund that was sent on an earlier day might therefore be paid twice, and VNPay's query does not list
// partial refunds; staff must check its portal. A full refund is safe to repeat, because nothing is left to refund.
const AnotherDay = "ANOTHER_DAY"

// dayMargin is the tolerance around midnight, for the duration of a request and for a difference between VNPay's and
// Comanda's clocks.
const dayMargin = 5 * time.Minute

// Prepare implements payment.Gateway. It does nothing, because VNPay recognizes repeated requests by their ids.
func (m *Merchant) Prepare(context.Context, payment.RefundRequest) (before []string, out payment.RefundOutcome, err error) {
	return nil, payment.RefundOutcome{}, nil
}

// Refund implements payment.Gateway (QUERYDR&REFUND, "vnp_Command=refund"). The request depends only on the refund, so
// a repetition is the same request (V4) and is safe after any error. The outcome has VNPay's code, or is UNKNOWN with
// AnotherDay.
func (m *Merchant) Refund(ctx context.Context, r payment.RefundRequest) (payment.RefundOutcome, error) {
	a := r.Attempt
	if !supportsAmount(a) || r.Amount <= 0 || r.Amount > a.Amount || r.Full && r.Amount != a.Amount {
		return payment.RefundOutcome{}, payment.ErrUnsuitable
	}
	if !r.Full && r.Sent && formatDay(r.DecidedAt.Add(-dayMargin)) != formatDay(m.now().Add(dayMargin)) {
		return payment.RefundOutcome{State: payment.RefundUnknown, Code: AnotherDay}, nil
	}
	// Every field depends on the refund and its attempt, and none on the time or the process (V4).
	request := m.request("refund", r.ID, a)
	request.set("TransactionType", "03")
	if r.Full {
		request.set("TransactionType", "02")
	}
	request.set("Amount", formatAmount(r.Amount))
	request.set("CreateBy", cmp.Or(asciiText(r.By, 100), "Comanda")) // VNPay requires some fields that may be empty here
	request.set("CreateDate", formatTime(r.DecidedAt))
	request.set("OrderInfo", asciiText("Hoan tien "+a.ID+" "+r.Reason, maxInfo))
	answer, _, err := m.call(ctx, request, refundRequest, refundAnswer)
	if err == nil {
		err = answer.checkSubject(request)
	}
	if err != nil {
		return payment.RefundOutcome{}, payment.ErrGateway.Because(err)
	}
	return answer.refundOutcome(r)
}

// refundOutcome converts the response to a refund (QUERYDR&REFUND, "vnp_ResponseCode"):
//
//	00 is DONE: VNPay has accepted it, unless its status is rejected (09).
//	94 means that VNPay is processing a refund of this payment. If another refund may have been made, VNPay may mean that
//	   one, and this one is sent again. Otherwise VNPay means this one if it was sent before without an answer; if not, it
//	   is UNKNOWN. An earlier answer shows that VNPay had not accepted it: 94 then means a refund that Comanda does not know.
//	02, 97 are a wrong contract or secret: nothing has happened, and once it is corrected the same request works.
//	03, 91, 95 are about this refund. A refund that was sent before had the same code then.
//	99 and unknown codes are refusals: where refunds by API are not part of the contract, as in the sandbox, 99 is the only
//	   response. For a refund that was sent before they may also mean that it was made and nothing is left, so its outcome
//	   is UNKNOWN.
func (a message) refundOutcome(r payment.RefundRequest) (payment.RefundOutcome, error) {
	out := payment.RefundOutcome{State: payment.RefundRefused, Code: a.get("ResponseCode")}
	switch c := out.Code; {
	case c == "00" && a.get("TransactionStatus") == "09":
		out.Code = "00/09"
	case c == "00":
		out.State = payment.RefundDone
		out.Ref, _ = parseTransactionNo(a.get("TransactionNo")) // a malformed number is no reason to send the refund again
	case c == "94" && noOtherRefund(r) && r.Sent && (r.Code == "" || r.Code == payment.Unreachable):
		out.State = payment.RefundDone
	case c == "94" && noOtherRefund(r):
		out.State = payment.RefundUnknown
	case c == "02", c == "97", c == "94":
		return payment.RefundOutcome{}, payment.ErrGateway.Because(a.failure())
	case c == "03", c == "91", c == "95":
	case r.Sent:
		out.State = payment.RefundUnknown
	}
	return out, nil
}

// noOtherRefund reports whether no other refund of the attempt can have been made, by Comanda or by hand. A refund
// that was sent without a response counts, because VNPay may be processing it.
func noOtherRefund(r payment.RefundRequest) bool {
	return !slices.ContainsFunc(r.OtherRefunds, func(o payment.Refund) bool { return o.Sent || o.State == payment.RefundDone })
}

// request returns the fields that both commands share. TransactionDate is the creation time in the pay URL.
func (m *Merchant) request(command, id string, a payment.Attempt) message {
	r := message{}
	r.set("RequestId", id)
	r.set("Version", version)
	r.set("Command", command)
	r.set("TmnCode", m.conf.TmnCode)
	r.set("TxnRef", a.ID)
	r.set("TransactionNo", cmp.Or(a.GatewayRef, "0"))
	r.set("TransactionDate", formatTime(a.CreatedAt))
	// A constant, so that a repeated refund is the same request from every process (V4).
	r.set("IpAddr", unknownIP)
	return r
}

// failure returns an error for the log. The message is VNPay's and its signature was verified. Its parts are cut, so
// that a long message does not fill the log.
func (a message) failure() error {
	return fmt.Errorf("vnpay: %.10q returned %.8q: %.200q", a.get("Command"), a.get("ResponseCode"), a.get("Message"))
}

const (
	// apiTimeout limits one request, from dialling to the last byte of the response. The manual states none. It equals
	// LINE Pay's for the same requests, and is shorter than the pause before a refund is sent again.
	apiTimeout = 20 * time.Second

	maxRaw = 64 << 10 // bytes of a response that are stored; VNPay's have about 600
)

// The signed fields, in their order and without "vnp_" (QUERYDR&REFUND, "checksum"). Unlike in the pay URL
// they are joined by | and not encoded, and a missing one is empty.
var (
	queryRequest  = strings.Fields("RequestId Version Command TmnCode TxnRef TransactionDate CreateDate IpAddr OrderInfo")
	refundRequest = strings.Fields(`RequestId Version Command TmnCode TransactionType TxnRef Amount TransactionNo
		TransactionDate CreateBy CreateDate IpAddr OrderInfo`)
	refundAnswer = strings.Fields(`ResponseId Command ResponseCode Message TmnCode TxnRef Amount BankCode PayDate TransactionNo
		TransactionType TransactionStatus OrderInfo`)
	queryAnswer = slices.Concat(refundAnswer, []string{"PromotionCode", "PromotionAmount"})
)

// scalar is a JSON value in its original spelling, because the signature covers the spelling: 1000000 and 1e6 are
// different texts. VNPay sends numbers as JSON numbers or as strings.
type scalar string

// UnmarshalJSON stores the text of a string, nothing for null, and the original text of any other value.
func (l *scalar) UnmarshalJSON(b []byte) error {
	switch {
	case b[0] == '"':
		var s string
		err := json.Unmarshal(b, &s)
		*l = scalar(s)
		return err
	case string(b) == "null":
		*l = ""
	default:
		*l = scalar(b)
	}
	return nil
}

// message is a request or a response of the API; its keys include "vnp_". A field that is missing and one that is empty
// are the same, including in the signature.
type message map[string]scalar

func (a message) get(name string) string { return string(a["vnp_"+name]) }

func (a message) set(name, value string) { a["vnp_"+name] = scalar(value) }

// signedText returns the text that is signed. names are without "vnp_", in the order of the manual. Other parts of the
// body, such as a TransactionNo in a query, are not signed.
func (a message) signedText(names []string) string {
	return strings.Join(seq.Map(names, a.get), "|")
}

// call signs and sends a request and returns the response and its raw text after verifying the signature (V1). An error
// means that VNPay was not reached or that the response is not VNPay's.
func (m *Merchant) call(
	ctx context.Context, request message, requestFields, responseFields []string,
) (message, string, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	// The hash is not among the signed names, so setting it later does not change the signed text.
	request.set("SecureHash", m.sign(request.signedText(requestFields)))
	raw, err := m.send(ctx, request)
	if err != nil {
		return nil, "", fmt.Errorf("vnpay: %s: %w", request.get("Command"), err)
	}
	// The signature covers the text of each value, so it is verified before any value is parsed.
	var answer message
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, "", fmt.Errorf("vnpay: %s: the response is not a JSON object", request.get("Command"))
	}
	if !m.verify(answer.signedText(responseFields), answer.get("SecureHash")) {
		return nil, "", &signatureError{answer, request.get("Command")}
	}
	return answer, gatewayhttp.Storable(string(raw), maxRaw), nil
}

// signatureError is the error for a response whose signature is wrong. If the configured secret is wrong, VNPay's
// response to it is such a response too, because VNPay signs it with the right secret. Nothing in answer is verified.
type signatureError struct {
	answer  message
	command string
}

func (e *signatureError) Error() string {
	return fmt.Sprintf("vnpay: %s: the signature of the response is wrong; its code is %.8q", e.command,
		e.answer.get("ResponseCode"))
}

// send posts a request and returns the body of the response, whose signature is still to be verified.
func (m *Merchant) send(ctx context.Context, request message) ([]byte, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.conf.APIURL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return m.client.Do(r)
}

// checkSubject refuses a response that is signed but belongs to another request, such as a replayed older one. An
// unsuccessful response may leave the fields empty; fields that are set must match even then.
func (a message) checkSubject(request message) error {
	for _, name := range []string{"Command", "TmnCode", "TxnRef"} {
		got := a.get(name)
		if got != request.get(name) && (got != "" || a.get("ResponseCode") == "00") {
			return fmt.Errorf("vnpay: %s: the response is about another %s", request.get("Command"), name)
		}
	}
	return nil
}
