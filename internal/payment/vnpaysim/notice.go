package vnpaysim

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// head is how far a browser is ahead of the notice where it is to come first.
const head = 2 * time.Second

// maxAnswer bounds what is read of an answer to a notice, in bytes.
const maxAnswer = 4 << 10

// report sends a result until it is confirmed, in the background. What it gives is closed after the first try.
func (s *Simulator) report(p pay, r result) <-chan struct{} {
	tried := make(chan struct{})
	if s.o.IPN == "" || !s.begin(func() { s.deliver(p, r, tried) }) {
		close(tried)
	}
	return tried
}

func (s *Simulator) deliver(p pay, r result, tried chan<- struct{}) {
	first := sync.OnceFunc(func() { close(tried) })
	defer first()
	f := s.Faults()
	delay := time.Duration(f.DelayMS) * time.Millisecond
	if f.ReturnFirst {
		delay += head
	}
	for try := range s.o.Tries {
		if !s.wait(delay) {
			return
		}
		f = s.Faults()
		if try >= f.Lose && s.send(s.notice(p, r, f.Corrupt), f) {
			return
		}
		first()
		delay = s.o.RetryEvery
	}
}

// send sends a notice as often as the faults want it, and tells whether VNPay would be content with an answer.
func (s *Simulator) send(query string, f Faults) bool {
	codes := make([]string, f.Repeat+1)
	if f.AtOnce {
		var all sync.WaitGroup
		for i := range codes {
			all.Go(func() { codes[i] = s.call(query) })
		}
		all.Wait()
	} else {
		for i := range codes {
			codes[i] = s.call(query)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	content := false
	for _, code := range codes {
		s.answers[code]++
		content = content || code == "00" || code == "02"
	}
	return content
}

// noAnswer stands for an answer that is none of VNPay's.
const noAnswer = "NONE"

var twoDigits = regexp.MustCompile(`^[0-9]{2}$`)

// call sends one notice and gives the code with which it was answered.
func (s *Simulator) call(query string) string {
	ctx, cancel := context.WithTimeout(s.done, ipnTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, join(s.o.IPN, query), http.NoBody)
	if err != nil {
		return noAnswer
	}
	resp, err := s.o.Client.Do(r)
	if err != nil {
		return noAnswer
	}
	defer resp.Body.Close()
	var answer struct {
		Code string `json:"RspCode"` //nolint:tagliatelle // as VNPay spells it
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&answer)
	if err != nil || resp.StatusCode != http.StatusOK || !twoDigits.MatchString(answer.Code) {
		return noAnswer
	}
	return answer.Code
}

// notice is the query of an IPN and of a Return URL.
func (s *Simulator) notice(p pay, r result, c Corruption) string {
	params := map[string]string{
		"vnp_TmnCode": s.o.TmnCode, "vnp_Amount": strconv.FormatInt(p.amount, 10), "vnp_OrderInfo": p.info,
		"vnp_ResponseCode": r.response, "vnp_TransactionStatus": r.status, "vnp_TxnRef": p.ref,
		"vnp_TransactionNo": strconv.FormatInt(r.number, 10), "vnp_BankCode": "VNPAY", "vnp_CardType": "QRCODE",
		"vnp_PayDate": r.at.In(hanoi).Format(layout),
	}
	if r.number > 0 {
		params["vnp_BankCode"], params["vnp_CardType"] = "NCB", "ATM"
		params["vnp_BankTranNo"] = "VNP" + params["vnp_TransactionNo"]
	}
	switch c {
	case OtherAmount:
		params["vnp_Amount"] = strconv.FormatInt(p.amount+100, 10)
	case OtherSite:
		params["vnp_TmnCode"] = "STRANGER"
	case Extra:
		params["vnp_Promotion"] = "Tết ~ 2027 (*)"
	}
	data := hashData(params)
	return spoil(data, s.hmac(data), c)
}

// spoil puts a notice together and corrupts what is not covered by a signature of VNPay's.
func spoil(data, hash string, c Corruption) string {
	switch c {
	case Signature:
		flipped := "0"
		if hash[0] == '0' {
			flipped = "1"
		}
		hash = flipped + hash[1:]
	case UpperCase:
		hash = strings.ToUpper(hash)
	case Tampered:
		data = strings.Replace(data, "vnp_Amount=", "vnp_Amount=9", 1)
	case Twin:
		data += "&vnp_Amount=100"
	case Extra:
		data = "utm_source=sim&" + data
	}
	return data + "&vnp_SecureHash=" + hash
}

// returnURL is where the browser goes afterwards. It is never corrupted: what a guest does with it is theirs to forge.
func (s *Simulator) returnURL(p pay) string { return join(p.back.String(), s.notice(p, p.last, "")) }

func join(address, query string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if u.RawQuery != "" {
		query = u.RawQuery + "&" + query
	}
	u.RawQuery = query
	return u.String()
}
