package vnpaysim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The signed values of each message, in their order and without vnp_.
const (
	queryAsked = "RequestId Version Command TmnCode TxnRef TransactionDate CreateDate IpAddr OrderInfo"

	refundAsked = "RequestId Version Command TmnCode TransactionType TxnRef Amount TransactionNo TransactionDate CreateBy " +
		"CreateDate IpAddr OrderInfo"

	refundSaid = "ResponseId Command ResponseCode Message TmnCode TxnRef Amount BankCode PayDate TransactionNo " +
		"TransactionType TransactionStatus OrderInfo"

	querySaid = refundSaid + " PromotionCode PromotionAmount"
)

// Codes of the API.
const (
	apiOK        = "00"
	apiSite      = "02"
	apiForm      = "03"
	apiUnknown   = "91"
	apiAgain     = "94"
	apiNotPaid   = "95"
	apiSignature = "97"
	apiOther     = "99"
)

// body is a message of the API; a value is a text or a whole number.
type body map[string]any

func (b body) get(name string) string {
	v, ok := b["vnp_"+name]
	if !ok || v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func (b body) data(names string) string {
	var values []string
	for name := range strings.FieldsSeq(names) {
		values = append(values, b.get(name))
	}
	return strings.Join(values, "|")
}

var (
	requestID = newForm(`^[A-Za-z0-9]{1,32}$`)
	moment    = newForm(`^[0-9]{14}$`)
	sender    = newForm(`^[A-Za-z0-9 ]{1,245}$`)
)

// answerAPI is the one address of both calls.
func (s *Simulator) answerAPI(w http.ResponseWriter, r *http.Request) {
	var asked body
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.UseNumber()
	if err := d.Decode(&asked); err != nil {
		http.Error(w, "send JSON", http.StatusBadRequest)
		return
	}
	answer := body{
		"vnp_ResponseId": strconv.FormatInt(s.o.Now().UnixNano(), 36), "vnp_Command": asked.get("Command"),
		"vnp_TmnCode": s.o.TmnCode, "vnp_TxnRef": asked.get("TxnRef"),
	}
	names := querySaid
	if asked.get("Command") == "refund" {
		names = refundSaid
		s.refund(asked, answer)
	} else {
		s.query(asked, answer)
	}
	if s.losesAnswer() {
		panic(http.ErrAbortHandler) // the connection ends, as it does when a network fails
	}
	answer["vnp_SecureHash"] = s.hmac(answer.data(names))
	writeJSON(w, answer)
}

func (s *Simulator) losesAnswer() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults.LoseAnswers == 0 {
		return false
	}
	s.faults.LoseAnswers--
	return true
}

func (b body) say(code, message string) { b["vnp_ResponseCode"], b["vnp_Message"] = code, message }

// admit checks what both calls have in common; it says no in the answer.
func (s *Simulator) admit(asked, answer body, names string) bool {
	switch {
	case asked.get("TmnCode") != s.o.TmnCode:
		answer.say(apiSite, "Invalid TmnCode")
	case !s.verifies(asked.data(names), asked.get("SecureHash")):
		answer.say(apiSignature, "Invalid checksum")
	case asked.get("Version") != "2.1.0" || !requestID.MatchString(asked.get("RequestId")) ||
		!moment.MatchString(asked.get("TransactionDate")) || !moment.MatchString(asked.get("CreateDate")) ||
		!fields["vnp_IpAddr"].MatchString(asked.get("IpAddr")) || !fields["vnp_OrderInfo"].MatchString(asked.get("OrderInfo")):
		answer.say(apiForm, "Invalid data format")
	default:
		return true
	}
	return false
}

// query is querydr: the answer's code is about the question, and its status about the payment.
func (s *Simulator) query(asked, answer body) {
	if !s.admit(asked, answer, queryAsked) {
		return
	}
	if asked.get("Command") != "querydr" {
		answer.say(apiForm, "Invalid command")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(asked)
	switch {
	case !s.requests.add(s.today(asked)):
		answer.say(apiAgain, "Duplicate request")
	case p == nil:
		answer.say(apiUnknown, "Transaction not found")
	default:
		answer.say(apiOK, "QueryDR Success")
		answer.tell(p, s.o.Now())
	}
}

func (b body) tell(p *pay, now time.Time) {
	status, kind := "02", "01"
	switch p.now(now) {
	case waiting:
		status = "01"
	case paid:
		status = p.last.status
	}
	if p.refunded > 0 {
		status, kind = "05", "03"
		if p.whole {
			kind = "02"
		}
	}
	b["vnp_Amount"], b["vnp_OrderInfo"] = p.amount, p.info
	b["vnp_TransactionNo"] = strconv.FormatInt(p.last.number, 10)
	b["vnp_TransactionType"], b["vnp_TransactionStatus"] = kind, status
	if p.state == paid {
		b["vnp_BankCode"], b["vnp_PayDate"] = "NCB", p.last.at.In(hanoi).Format(layout)
	}
}

// today is a request's id with the day on which it came: ids are unique within a day.
func (s *Simulator) today(asked body) string {
	return asked.get("RequestId") + "/" + s.o.Now().In(hanoi).Format(time.DateOnly)
}

// find looks for the payment that is asked about, by its reference and the time at which it was created. The caller holds
// the lock.
func (s *Simulator) find(asked body) *pay {
	created := asked.get("TransactionDate")
	if p := s.byKey[keyOf(asked.get("TxnRef"), created)]; p != nil && p.created == created {
		return p
	}
	return nil
}

func (s *Simulator) refund(asked, answer body) {
	if !s.admit(asked, answer, refundAsked) {
		return
	}
	kind := asked.get("TransactionType")
	amount, err := strconv.ParseInt(asked.get("Amount"), 10, 64)
	if err != nil || amount <= 0 || kind != "02" && kind != "03" || !sender.MatchString(asked.get("CreateBy")) {
		answer.say(apiForm, "Invalid data format")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(asked)
	id := s.today(asked)
	switch {
	case s.faults.RefundCode != "":
		answer.say(s.faults.RefundCode, "As it was set")
	case p == nil:
		answer.say(apiUnknown, "Transaction not found")
	case p.state != paid:
		answer.say(apiNotPaid, "The transaction was not successful")
	case p.refunds[id]:
		answer.say(apiAgain, "The refund is being processed")
	case !p.refundable(amount, kind, asked.get("TransactionNo")):
		answer.say(apiOther, "The refund is not possible")
	default:
		p.refunds[id], p.whole = true, kind == "02"
		p.refunded += amount
		s.number++
		answer.say(apiOK, "Refund accepted")
		answer.tell(p, s.o.Now())
		answer["vnp_Amount"], answer["vnp_TransactionNo"] = amount, strconv.FormatInt(s.number, 10)
	}
}

// GiveBack gives back a part of a payment as the merchant's staff do by hand, in VNPay's portal: nobody is told. It gives
// VNPay's number of the refund, empty where there was not so much.
func (s *Simulator) GiveBack(ref string, amount int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.pays, func(p *pay) bool { return p.ref == ref && p.state == paid })
	if i < 0 || amount <= 0 || !s.pays[i].refundable(amount*100, "03", "0") {
		return ""
	}
	s.number++
	number := strconv.FormatInt(s.number, 10)
	s.pays[i].refunds["portal "+number] = true
	s.pays[i].refunded += amount * 100
	return number
}

// refundable tells whether so much can be given back. All of it is asked for in one piece or not at all.
func (p *pay) refundable(amount int64, kind, number string) bool {
	if number != "0" && number != strconv.FormatInt(p.last.number, 10) || len(p.refunds) >= maxRefunds {
		return false
	}
	if kind == "02" {
		return p.refunded == 0 && amount == p.amount
	}
	return p.refunded+amount <= p.amount
}
