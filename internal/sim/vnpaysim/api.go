package vnpaysim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"comanda/internal/sim"
)

// The signed fields of each message, in their order and without vnp_.
const (
	queryAsked = "RequestId Version Command TmnCode TxnRef TransactionDate CreateDate IpAddr OrderInfo"

	refundAsked = "RequestId Version Command TmnCode TransactionType TxnRef Amount TransactionNo TransactionDate CreateBy " +
		"CreateDate IpAddr OrderInfo"

	refundSaid = "ResponseId Command ResponseCode Message TmnCode TxnRef Amount BankCode PayDate TransactionNo " +
		"TransactionType TransactionStatus OrderInfo"

	querySaid = refundSaid + " PromotionCode PromotionAmount"
)

// The response codes of the API.
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

// message is a request or a response of the API; a value is a string or an integer. Values are kept as they were sent,
// because the signature covers their text.
type message map[string]any

func (b message) get(name string) string {
	v, ok := b["vnp_"+name]
	if !ok || v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// signedText returns the text that is signed. A missing field is signed as an empty one.
func (b message) signedText(names string) string {
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

// answerAPI serves both commands, which share one URL. It executes the request before it may lose the response, so that
// a merchant has to find out.
func (s *Simulator) answerAPI(w http.ResponseWriter, r *http.Request) {
	var request message
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, sim.MaxBody))
	// A float would change the text of a long number, and with it the signature.
	d.UseNumber()
	if err := d.Decode(&request); err != nil {
		http.Error(w, "send JSON", http.StatusBadRequest)
		return
	}
	answer := message{
		"vnp_ResponseId": strconv.FormatInt(s.Now().UnixNano(), 36), "vnp_Command": request.get("Command"),
		"vnp_TmnCode": s.o.TmnCode, "vnp_TxnRef": request.get("TxnRef"),
	}
	names := querySaid
	if request.get("Command") == "refund" {
		names = refundSaid
		s.refund(request, answer)
	} else {
		s.query(request, answer)
	}
	if s.takeLostAnswer() {
		panic(http.ErrAbortHandler) // closes the connection, like a network failure
	}
	answer["vnp_SecureHash"] = s.hmac(answer.signedText(names))
	sim.WriteJSON(w, answer)
}

// takeLostAnswer reports whether this response is to be lost, and counts it.
func (s *Simulator) takeLostAnswer() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults.LoseAnswers == 0 {
		return false
	}
	s.faults.LoseAnswers--
	return true
}

func (b message) setCode(code, message string) {
	b["vnp_ResponseCode"], b["vnp_Message"] = code, message
}

// validate checks what both commands share. It sets the code of the response if it refuses the request.
func (s *Simulator) validate(request, answer message, names string) bool {
	switch {
	case request.get("TmnCode") != s.o.TmnCode:
		answer.setCode(apiSite, "Invalid TmnCode")
	case !s.verify(request.signedText(names), request.get("SecureHash")):
		answer.setCode(apiSignature, "Invalid checksum")
	case request.get("Version") != "2.1.0" || !requestID.MatchString(request.get("RequestId")) ||
		!moment.MatchString(request.get("TransactionDate")) || !moment.MatchString(request.get("CreateDate")) ||
		!fields["vnp_IpAddr"].MatchString(request.get("IpAddr")) || !fields["vnp_OrderInfo"].MatchString(request.get("OrderInfo")):
		answer.setCode(apiForm, "Invalid data format")
	default:
		return true
	}
	return false
}

// query serves querydr: the response's code is about the query, its status about the payment.
func (s *Simulator) query(request, answer message) {
	if !s.validate(request, answer, queryAsked) {
		return
	}
	if request.get("Command") != "querydr" {
		answer.setCode(apiForm, "Invalid command")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(request)
	switch {
	case !s.requests.Add(s.requestKey(request), struct{}{}):
		answer.setCode(apiAgain, "Duplicate request")
	case p == nil:
		answer.setCode(apiUnknown, "Transaction not found")
	default:
		answer.setCode(apiOK, "QueryDR Success")
		answer.setPayment(p, s.Now())
	}
}

// setPayment adds the fields about a payment to a response. After a refund the status is that of the refund (05), and
// the type says whether it was full (02) or partial (03).
func (b message) setPayment(p *transaction, now time.Time) {
	status, kind := "02", "01"
	switch p.stateAt(now) {
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
		b["vnp_BankCode"], b["vnp_PayDate"] = "NCB", p.last.at.In(ict).Format(layout)
	}
}

// requestKey returns a request's id with the date, because ids are unique within a day.
func (s *Simulator) requestKey(request message) string {
	return request.get("RequestId") + "/" + s.Now().In(ict).Format(time.DateOnly)
}

// find returns the payment with the reference and the creation time in a request. The caller holds the lock.
func (s *Simulator) find(request message) *transaction {
	created := request.get("TransactionDate")
	if p := s.transactions.Get(keyOf(request.get("TxnRef"), created)); p != nil && p.created == created {
		return p
	}
	return nil
}

// refund serves the command refund. The simulator remembers a request's id for the day, and answers a repetition with
// 94 as VNPay does.
func (s *Simulator) refund(request, answer message) {
	if !s.validate(request, answer, refundAsked) {
		return
	}
	kind := request.get("TransactionType")
	amount, err := strconv.ParseInt(request.get("Amount"), 10, 64)
	if err != nil || amount <= 0 || kind != "02" && kind != "03" || !sender.MatchString(request.get("CreateBy")) {
		answer.setCode(apiForm, "Invalid data format")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(request)
	id := s.requestKey(request)
	switch {
	// First, because the sandbox refuses every refund of an account without this right.
	case s.faults.RefundCode != "":
		answer.setCode(s.faults.RefundCode, "As it was set")
	case p == nil:
		answer.setCode(apiUnknown, "Transaction not found")
	case p.state != paid:
		answer.setCode(apiNotPaid, "The transaction was not successful")
	case p.refunds[id]:
		answer.setCode(apiAgain, "The refund is being processed")
	case !p.refundable(amount, kind, request.get("TransactionNo")):
		answer.setCode(apiOther, "The refund is not possible")
	default:
		p.refunds[id], p.whole = true, kind == "02"
		p.refunded += amount
		s.number++
		answer.setCode(apiOK, "Refund accepted")
		answer.setPayment(p, s.Now())
		answer["vnp_Amount"], answer["vnp_TransactionNo"] = amount, strconv.FormatInt(s.number, 10)
	}
}

// RefundInPortal refunds a part of a payment as staff do in VNPay's portal, without a notice. It returns VNPay's number
// of the refund, or an empty string if less is left.
func (s *Simulator) RefundInPortal(ref string, amount int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.transactions.Latest() {
		if p.ref != ref || p.state != paid || amount <= 0 || !p.refundable(amount*100, "03", "0") {
			continue
		}
		s.number++
		number := strconv.FormatInt(s.number, 10)
		p.refunds["portal "+number] = true
		p.refunded += amount * 100
		return number
	}
	return ""
}

// refundable reports whether an amount can be refunded. A full refund must be the only one.
func (p *transaction) refundable(amount int64, kind, number string) bool {
	if number != "0" && number != strconv.FormatInt(p.last.number, 10) || len(p.refunds) >= maxRefunds {
		return false
	}
	if kind == "02" {
		return p.refunded == 0 && amount == p.amount
	}
	return p.refunded+amount <= p.amount
}
