package vnpaysim

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"comanda/internal/sim"
)

// returnFirstDelay delays the notice if the browser is to return first: long enough for the return page to be shown.
const returnFirstDelay = 2 * time.Second

// report sends a result in the background until it is confirmed. The returned channel is closed after the first
// attempt.
func (s *Simulator) report(p transaction, r result) <-chan struct{} {
	tried := make(chan struct{})
	if s.o.IPN == "" || !s.Go(func() { s.deliver(p, r, tried) }) {
		close(tried)
	}
	return tried
}

// deliver sends one result until a reply confirms it, the tries are used up, or the simulator closes. It closes tried
// at the latest when it returns, so no page waits forever.
func (s *Simulator) deliver(p transaction, r result, tried chan<- struct{}) {
	first := sync.OnceFunc(func() { close(tried) })
	defer first()
	f := s.Faults()
	delay := time.Duration(f.DelayMS) * time.Millisecond
	if f.ReturnFirst {
		delay += returnFirstDelay
	}
	for try := range s.o.Tries {
		if !s.Wait(context.Background(), delay) {
			return
		}
		f = s.Faults()
		// Faults are read before each attempt, so that a tester can repair a notice that is still being tried.
		if try >= f.Lose && s.send(s.notice(p, r, f.Corrupt), f) {
			return
		}
		first()
		delay = s.o.RetryEvery
	}
}

// send sends a notice and its repetitions, and reports whether a reply confirmed it.
func (s *Simulator) send(query string, f Faults) bool {
	codes := make([]string, f.Repeat+1)
	// Each goroutine has its own element of codes, so they need no lock.
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
	confirmed := false
	for _, code := range codes {
		s.answers[code]++
		confirmed = confirmed || code == "00" || code == "02"
	}
	return confirmed
}

// noAnswer stands for a reply that is not valid.
const noAnswer = "NONE"

var twoDigits = regexp.MustCompile(`^[0-9]{2}$`)

// call sends one notice and returns the code of the reply.
func (s *Simulator) call(query string) string {
	status, body, err := s.Get(sim.WithQuery(s.o.IPN, query))
	var answer struct {
		Code string `json:"RspCode"` //nolint:tagliatelle // as VNPay spells it
	}
	if err != nil || status != http.StatusOK || json.NewDecoder(bytes.NewReader(body)).Decode(&answer) != nil ||
		!twoDigits.MatchString(answer.Code) {
		return noAnswer
	}
	return answer.Code
}

// notice returns the query of an IPN and of a Return URL. A cancelled payment has the form that the sandbox sends:
// number 0, bank VNPAY, no bank number.
func (s *Simulator) notice(p transaction, r result, c Corruption) string {
	params := map[string]string{
		"vnp_TmnCode": s.o.TmnCode, "vnp_Amount": strconv.FormatInt(p.amount, 10), "vnp_OrderInfo": p.info,
		"vnp_ResponseCode": r.response, "vnp_TransactionStatus": r.status, "vnp_TxnRef": p.ref,
		"vnp_TransactionNo": strconv.FormatInt(r.number, 10), "vnp_BankCode": "VNPAY", "vnp_CardType": "QRCODE",
		"vnp_PayDate": r.at.In(ict).Format(layout),
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
	return corrupt(data, s.hmac(data), c)
}

// corrupt assembles a notice with the corruptions that the signature does not cover. The result is what a merchant
// would see from a forger, a proxy or another program in between.
func corrupt(data, hash string, c Corruption) string {
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
	case Duplicated:
		data += "&vnp_Amount=100"
	case Extra:
		data = "utm_source=sim&" + data
	}
	return data + "&vnp_SecureHash=" + hash
}

// returnURL returns the URL to which the browser is redirected. It is never corrupted, because a guest could forge it
// anyway.
func (s *Simulator) returnURL(p transaction) string {
	return sim.WithQuery(p.returnURL.String(), s.notice(p, p.last, ""))
}
