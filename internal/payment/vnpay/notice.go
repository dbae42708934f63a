package vnpay

import (
	"regexp"
	"strconv"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
)

// The faults of received messages.
var (
	// ErrSignature refuses a message without a valid signature. The reply to an IPN is 97.
	ErrSignature = fault.New(fault.Invalid, "payment_signature_invalid", "This message was not signed by the payment service.")
	// ErrForm refuses a signed message that is not about a payment of this merchant. The reply to an IPN is 99.
	ErrForm = fault.New(fault.Invalid, "payment_return_invalid", "The message from the payment service is invalid.")
)

// maxQuery is the maximum length of a query in bytes; VNPay's have about 500. A longer one is refused before it is
// parsed, because anyone can send it.
const maxQuery = 8 << 10

// Notice is VNPay's report about a payment. An IPN and a Return URL carry the same fields.
type Notice struct {
	AttemptID string // vnp_TxnRef; the caller checks that the attempt exists

	payment.Report
}

var (
	reference = regexp.MustCompile(`^[A-Za-z0-9]{1,100}$`)
	number    = regexp.MustCompile(`^[0-9]{1,15}$`)
	code      = regexp.MustCompile(`^[A-Za-z0-9]{1,8}$`)
)

// Read verifies and parses the raw query of an IPN or a Return URL (PAY, "IPN URL" and "Return URL"). It fails with
// ErrSignature if the secret has not signed the query, and with ErrForm if it is not about a payment of this merchant.
// Other parameters are ignored, and the order does not matter. It is safe for concurrent use and changes nothing, so
// the same query may be read any number of times.
func (m *Merchant) Read(rawQuery string) (Notice, error) {
	if len(rawQuery) > maxQuery {
		return Notice{}, ErrSignature
	}
	q, ok := parse(rawQuery)
	if !ok || !m.verifyQuery(q) {
		return Notice{}, ErrSignature
	}
	response, status := q.get("vnp_ResponseCode"), q.get("vnp_TransactionStatus")
	amount, ok := parseAmount(q.get("vnp_Amount"))
	ref, named := parseTransactionNo(q.get("vnp_TransactionNo"))
	n := Notice{AttemptID: q.get("vnp_TxnRef")}
	if !ok || !named || q.get("vnp_TmnCode") != m.conf.TmnCode || !reference.MatchString(n.AttemptID) ||
		!code.MatchString(response) || !code.MatchString(status) {
		return Notice{}, ErrForm
	}
	n.Report = payment.Report{
		State: stateOf(response, status), Ref: ref, Amount: amount, Currency: money.VND,
		Code: response + "/" + status, Raw: gatewayhttp.Storable(rawQuery, maxQuery),
	}
	return n, nil
}

// parseAmount parses an amount in hundredths of a dong. A fraction of a dong is invalid, because Comanda never
// requests one.
func parseAmount(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n / 100, err == nil && number.MatchString(s) && n%100 == 0
}

// parseTransactionNo parses VNPay's number of a payment. For an unpaid payment it is 0, and ref is empty. All unpaid
// payments have the same number, so it must not be used as a key.
func parseTransactionNo(s string) (ref string, ok bool) {
	if strings.Trim(s, "0") == "" {
		return "", true
	}
	return s, number.MatchString(s)
}

// stateOf maps the two tables of codes (PAY, "vnp_ResponseCode" and "vnp_TransactionStatus"). The response is the
// result of the guest's action and the status that of the money. PAID needs both to be 00; samples that check only one
// of them are wrong (V5). Money that has moved, or may have, without a full success is REVIEW: suspected fraud (07),
// debited by the bank and not booked by VNPay (04), or being refunded (05, 06, 09, which only querydr returns).
func stateOf(response, status string) payment.State {
	switch {
	case response == "00" && status == "00":
		return payment.Paid
	// VNPay has the money and suspects fraud, so the status does not matter.
	case response == "07":
		return payment.Review
	}
	switch status {
	case "04", "05", "06", "07", "09":
		return payment.Review
	case "01":
		return payment.Redirected
	}
	return payment.Failed
}

// IPNResponse is the JSON body of the response to an IPN. Its HTTP status is always 200. The code alone decides what
// VNPay does next.
type IPNResponse struct{ RspCode, Message string }

// The codes of the response to an IPN (PAY, "RspCode"). VNPay stops after the first two and retries after the
// others, at most ten times, five minutes apart.
const (
	Recorded         = "00" // the report was committed now, be it a payment or a failure
	RecordedBefore   = "02"
	UnknownAttempt   = "01"
	WrongAmount      = "04" // VNPay keeps the money; staff must resolve it
	WrongSignature   = "97"
	NotRecorded      = "99"           // our failure; VNPay shall retry
	unknownErrorText = "Unknow error" // as VNPay's own samples spell it
)

// replies are the texts of VNPay's own samples. VNPay uses only the code; the text is for people who read its log.
var replies = map[string]string{
	Recorded:       "Confirm Success",
	RecordedBefore: "Order already confirmed",
	UnknownAttempt: "Order not found",
	WrongAmount:    "Invalid amount",
	WrongSignature: "Invalid signature",
	NotRecorded:    unknownErrorText,
}

// ReplyFor returns the reply with a code. An unknown code becomes NotRecorded. VNPay then tries again, which is safe: a
// repeated notice changes nothing.
func ReplyFor(code string) IPNResponse {
	if message, ok := replies[code]; ok {
		return IPNResponse{code, message}
	}
	return IPNResponse{NotRecorded, unknownErrorText}
}
