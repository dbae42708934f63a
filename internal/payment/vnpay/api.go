package vnpay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"comanda/internal/payment/gatewayhttp"
)

const (
	// apiTimeout limits one request, from dialling to the last byte of the response. The manual states none; it is LINE
	// Pay's for the same requests, and below the pause before a refund is sent again.
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
	queryAnswer = append(append([]string{}, refundAnswer...), "PromotionCode", "PromotionAmount")
)

// scalar is a JSON value in its original spelling, because the signature covers that: 1000000 and 1e6 are two texts.
// VNPay sends numbers as JSON numbers or as strings.
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
// are the same, also in the signature.
type message map[string]scalar

func (a message) get(name string) string { return string(a["vnp_"+name]) }

func (a message) set(name, value string) { a["vnp_"+name] = scalar(value) }

// signedText returns the text that is signed. Names are without "vnp_", in the order of the manual: other parts of the
// body, such as a TransactionNo in a query, are not signed.
func (a message) signedText(names []string) string {
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = a.get(name)
	}
	return strings.Join(values, "|")
}

// call signs and sends a request and returns the response and its raw text after verifying the signature (V1). An error
// means that VNPay was not reached or that the response is not VNPay's.
func (m *Merchant) call(ctx context.Context, request message, asked, answered []string) (message, string, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	// The hash is not among the signed names, so setting it afterwards does not change the text.
	request.set("SecureHash", m.sign(request.signedText(asked)))
	raw, err := m.send(ctx, request)
	if err != nil {
		return nil, "", fmt.Errorf("vnpay: %s: %w", request.get("Command"), err)
	}
	// The signature covers the text of each value, so it is verified before any of them is parsed.
	var answer message
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, "", fmt.Errorf("vnpay: %s: the response is not a JSON object", request.get("Command"))
	}
	if !m.verify(answer.signedText(answered), answer.get("SecureHash")) {
		return nil, "", &signatureError{answer, request.get("Command")}
	}
	return answer, gatewayhttp.Storable(string(raw), maxRaw), nil
}

// signatureError is the error for a response whose signature is wrong. VNPay's own response to a wrong secret is one of
// them, because VNPay signs it with the right one. Nothing in answer is verified.
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

// checkSubject refuses a signed response to another request. An unsuccessful response may leave the fields empty. A
// replay of an older response has a valid signature too. Fields that are filled must match even then.
func (a message) checkSubject(request message) error {
	for _, name := range []string{"Command", "TmnCode", "TxnRef"} {
		got := a.get(name)
		if got != request.get(name) && (got != "" || a.get("ResponseCode") == "00") {
			return fmt.Errorf("vnpay: %s: the response is about another %s", request.get("Command"), name)
		}
	}
	return nil
}
