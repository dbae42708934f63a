package vnpay

import (
	"regexp"
	"strconv"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/payment"
)

// Faults of messages that were received.
var (
	// ErrSignature says that nobody knows who sent it: nothing in it is to be believed. VNPay is answered 97.
	ErrSignature = fault.New(fault.Invalid, "payment_signature_invalid", "This message was not signed by the payment service.")
	// ErrForm says that it is signed and no report about a payment of this merchant. VNPay is answered 99.
	ErrForm = fault.New(fault.Invalid, "payment_return_invalid", "This is not a message that the payment service sends.")
)

// maxQuery is the length in bytes of the longest query that is read; VNPay's have about 500.
const maxQuery = 8 << 10

// Notice is what VNPay reports about a payment, by IPN or through the browser: both carry the same.
type Notice struct {
	AttemptID string // vnp_TxnRef; whether there is such an attempt is for the caller to find out

	payment.Report
}

var (
	reference = regexp.MustCompile(`^[A-Za-z0-9]{1,100}$`)
	number    = regexp.MustCompile(`^[0-9]{1,15}$`)
	code      = regexp.MustCompile(`^[A-Za-z0-9]{1,8}$`)
)

// Read reads the raw query of an IPN or a Return URL (PAY, "IPN URL" and "Return URL"): ErrSignature unless the secret has
// signed it, ErrForm when it speaks of something else. Parameters that are not VNPay's are let pass, in whatever order.
func (m *Merchant) Read(rawQuery string) (Notice, error) {
	if len(rawQuery) > maxQuery {
		return Notice{}, ErrSignature
	}
	q, ok := parse(rawQuery)
	if !ok || !m.signed(q) {
		return Notice{}, ErrSignature
	}
	response, status := q.get("vnp_ResponseCode"), q.get("vnp_TransactionStatus")
	amount, ok := dong(q.get("vnp_Amount"))
	ref, named := transaction(q.get("vnp_TransactionNo"))
	n := Notice{AttemptID: q.get("vnp_TxnRef")}
	if !ok || !named || q.get("vnp_TmnCode") != m.conf.TmnCode || !reference.MatchString(n.AttemptID) ||
		!code.MatchString(response) || !code.MatchString(status) {
		return Notice{}, ErrForm
	}
	n.Report = payment.Report{
		State: stateOf(response, status), Ref: ref, Amount: amount, Currency: money.VND,
		Code: response + "/" + status, Raw: storable(rawQuery),
	}
	return n, nil
}

// dong reads an amount in hundredths. A part of a dong is none that we have asked for.
func dong(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n / 100, err == nil && number.MatchString(s) && n%100 == 0
}

// transaction reads VNPay's number of a payment; what was never paid has 0, which names nothing.
func transaction(s string) (ref string, ok bool) {
	if strings.Trim(s, "0") == "" {
		return "", true
	}
	return s, number.MatchString(s)
}

// stateOf reads the two tables of codes (PAY, "vnp_ResponseCode" and "vnp_TransactionStatus"). The response says how the
// guest fared and the status what became of the money. Both must be 00 for PAID: samples that are content with one of
// them are wrong (V5). Money that has moved, or may have, without a plain success is REVIEW: suspected fraud (07),
// debited by the bank and not booked by VNPay (04), or on its way back (05, 06, 09, which only querydr says).
func stateOf(response, status string) payment.State {
	switch {
	case response == "00" && status == "00":
		return payment.Paid
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

// Reply is the body of the answer to an IPN, as JSON with these two names. Its HTTP status is 200 whatever it says.
type Reply struct{ RspCode, Message string }

// The answers to an IPN (PAY, "RspCode"). VNPay stops after the first two and comes again after the others, at most ten
// times, five minutes apart.
const (
	Recorded         = "00" // what it reported is committed now, be it a payment or a failure
	RecordedBefore   = "02"
	UnknownAttempt   = "01"
	WrongAmount      = "04" // undoes nothing: the money is with VNPay, and staff must hear of it
	WrongSignature   = "97"
	NotRecorded      = "99"           // we have failed; it shall come again
	unknownErrorText = "Unknow error" // as VNPay's own samples spell it
)

var replies = map[string]string{
	Recorded:       "Confirm Success",
	RecordedBefore: "Order already confirmed",
	UnknownAttempt: "Order not found",
	WrongAmount:    "Invalid amount",
	WrongSignature: "Invalid signature",
	NotRecorded:    unknownErrorText,
}

// Answer gives the reply with a code; any code that is not among the answers is NotRecorded.
func Answer(code string) Reply {
	if message, ok := replies[code]; ok {
		return Reply{code, message}
	}
	return Reply{NotRecorded, unknownErrorText}
}
