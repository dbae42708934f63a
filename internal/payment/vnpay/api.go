package vnpay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	apiTimeout = 20 * time.Second // of one call, from the dialling to the last byte of the answer
	maxBody    = 64 << 10         // bytes of an answer, of which it needs about 600
)

// The values that are signed, in their order and without "vnp_" (QUERYDR&REFUND, "checksum"). Other than in the pay URL
// they are joined by | and not encoded, and one that is missing is empty.
var (
	queryRequest  = strings.Fields("RequestId Version Command TmnCode TxnRef TransactionDate CreateDate IpAddr OrderInfo")
	refundRequest = strings.Fields(`RequestId Version Command TmnCode TransactionType TxnRef Amount TransactionNo
		TransactionDate CreateBy CreateDate IpAddr OrderInfo`)
	refundAnswer = strings.Fields(`ResponseId Command ResponseCode Message TmnCode TxnRef Amount BankCode PayDate TransactionNo
		TransactionType TransactionStatus OrderInfo`)
	queryAnswer = append(append([]string{}, refundAnswer...), "PromotionCode", "PromotionAmount")
)

// literal is a value as it stands in JSON, so that what is signed is what was sent: 1000000 and 1e6 are two texts.
type literal string

// UnmarshalJSON takes the text of a string, nothing of null, and everything else as it is written.
func (l *literal) UnmarshalJSON(b []byte) error {
	switch {
	case b[0] == '"':
		var s string
		err := json.Unmarshal(b, &s)
		*l = literal(s)
		return err
	case string(b) == "null":
		*l = ""
	default:
		*l = literal(b)
	}
	return nil
}

// message is a request or an answer of the API; keys have their "vnp_".
type message map[string]literal

func (a message) get(name string) string { return string(a["vnp_"+name]) }

func (a message) set(name, value string) { a["vnp_"+name] = literal(value) }

// joined is the text of which the signature is made.
func (a message) joined(names []string) string {
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = a.get(name)
	}
	return strings.Join(values, "|")
}

// ask signs a request, sends it and gives the answer with its raw text, after its signature was found to hold (V1). An
// error means that VNPay was not reached or that the answer is not known to be its own.
func (m *Merchant) ask(ctx context.Context, request message, asked, answered []string) (message, string, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	request.set("SecureHash", m.sign(request.joined(asked)))
	raw, err := m.send(ctx, request)
	if err != nil {
		return nil, "", fmt.Errorf("vnpay: %s: %w", request.get("Command"), err)
	}
	var answer message
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, "", fmt.Errorf("vnpay: %s: the answer is no object of JSON", request.get("Command"))
	}
	if !m.holds(answer.joined(answered), answer.get("SecureHash")) {
		return nil, "", fmt.Errorf("vnpay: %s: the answer is not signed; it claims the code %.8q", request.get("Command"),
			answer.get("ResponseCode"))
	}
	return answer, storable(string(raw)), nil
}

func (m *Merchant) send(ctx context.Context, request message) ([]byte, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.conf.APIURL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := m.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the status is %d", resp.StatusCode)
	case len(raw) > maxBody:
		return nil, errors.New("the answer is too long")
	}
	return raw, nil
}

// about refuses a signed answer to another question. What VNPay does not know it cannot name, so an answer that is no
// success may name nothing.
func (a message) about(request message) error {
	for _, name := range []string{"Command", "TmnCode", "TxnRef"} {
		got := a.get(name)
		if got != request.get(name) && (got != "" || a.get("ResponseCode") == "00") {
			return fmt.Errorf("vnpay: %s: the answer is about another %s", request.get("Command"), name)
		}
	}
	return nil
}
