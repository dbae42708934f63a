package linepay

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"comanda/internal/testenv"

	"comanda/internal/payment"
)

func TestMerchant_Refund_codes(t *testing.T) {
	for state, codes := range map[payment.RefundState]string{
		payment.RefundDone:    "0000",
		payment.RefundRefused: "1101 1102 1150 1155 1159 1163 1164 1165 1177 1179",
		"":                    "1104 1105 1106 1124 1145 1152 1172 1198 1199 1900 1999 2101 2102 9000 8888",
	} {
		for code := range strings.FieldsSeq(codes) {
			l := fakeLINEPay(map[string]string{"payments": paymentsText("", ""), "refund": `{"returnCode":"` + code + `"}`})
			got, err := merchantOf(t, l).Refund(t.Context(), payment.RefundRequest{Attempt: attempt(), Amount: 60})
			if got.State != state || state != "" && (got.Code != code || err != nil) || state == "" && !errors.Is(err, payment.ErrGateway) {
				t.Errorf("Refund with code %s = %+v, %v, want state %q", code, got, err, state)
			}
		}
	}
}

// The lookup before a refund may be refused too.
func TestMerchant_Refund_lookups(t *testing.T) {
	for text, want := range map[string]payment.RefundState{
		`{"returnCode":"1150"}`: payment.RefundRefused, `{"returnCode":"1106"}`: "", `<html>`: "",
	} {
		l := fakeLINEPay(map[string]string{"payments": text, "refund": `{"returnCode":"0000"}`})
		got, err := merchantOf(t, l).Refund(t.Context(), payment.RefundRequest{Attempt: attempt(), Amount: 60})
		if got.State != want || (err == nil) != (want != "") || len(l.requests) != 1 {
			t.Errorf("%s: %+v, %v, %d calls", text, got, err, len(l.requests))
		}
	}
}

// After a refusal because of an earlier refund, that refund is looked up: it may be this very one.
func TestMerchant_Refund_refused_for_itself(t *testing.T) {
	for _, code := range []string{"1164", "1165"} {
		looked := false
		l := &fakeServer{answer: func(r *http.Request, _ string) (int, string, error) {
			if strings.HasSuffix(r.URL.Path, "/refund") {
				return http.StatusOK, `{"returnCode":"` + code + `"}`, nil
			}
			list := ""
			if looked {
				list = `{"refundTransactionId":` + firstRef + `,"refundAmount":-360}`
			}
			looked = true
			return http.StatusOK, paymentsText("", list), nil
		}}
		got, err := merchantOf(t, l).Refund(t.Context(), payment.RefundRequest{Attempt: attempt(), Amount: 360, Full: true})
		if want := (payment.RefundOutcome{State: payment.RefundDone, Ref: firstRef, Code: "0000"}); got != want || err != nil {
			t.Errorf("Refund after code %s = %+v, %v, want %+v", code, got, err, want)
		}
	}
}

func TestMerchant_Refund_body(t *testing.T) {
	for _, c := range []struct {
		r    payment.RefundRequest
		want string
	}{
		{payment.RefundRequest{Attempt: attempt(), Amount: 360, Full: true}, `{}`},
		{payment.RefundRequest{Attempt: attempt(), Amount: 360}, `{"refundAmount":360}`},
		{payment.RefundRequest{Attempt: attempt(), Amount: 1}, `{"refundAmount":1}`},
	} {
		l := fakeLINEPay(map[string]string{"payments": paymentsText("", ""), "refund": `{"returnCode":"0000"}`})
		if _, err := merchantOf(t, l).Refund(t.Context(), c.r); err != nil || l.bodies[1] != c.want {
			t.Errorf("bodies = %v, %v, want %s", l.bodies, err, c.want)
		}
	}
}

func TestMerchant_Refund_refuses(t *testing.T) {
	l := failingLINEPay(200, "", nil)
	otherCurrency := attempt()
	otherCurrency.Currency = "VND"
	for name, r := range map[string]payment.RefundRequest{
		"nothing":         {Attempt: attempt()},
		"less":            {Attempt: attempt(), Amount: -5},
		"whole of a part": {Attempt: attempt(), Amount: 5, Full: true},
		"currency":        {Attempt: otherCurrency, Amount: 5},
	} {
		if _, err := merchantOf(t, l).Refund(t.Context(), r); !errors.Is(err, payment.ErrUnsuitable) {
			t.Errorf("Refund of %s: error %v, want ErrUnsuitable", name, err)
		}
	}
	lost := attempt()
	lost.GatewayRef = ""
	if _, err := merchantOf(t, l).Refund(t.Context(), payment.RefundRequest{Attempt: lost, Amount: 5}); !errors.Is(err, payment.ErrGateway) {
		t.Error(err)
	}
	testenv.Equal(t, 0, len(l.requests))
}

// LINE Pay's ids of some refunds.
const (
	firstRef  = "2026112100000000001"
	secondRef = "2026112100000000003"
	thirdRef  = "2026112100000000005"
)

// listOf formats a list of refunds from "id amount" pairs.
func listOf(pairs ...string) string {
	var all []string
	for _, pair := range pairs {
		id, amount, _ := strings.Cut(pair, " ")
		all = append(all, `{"refundTransactionId":`+id+`,"transactionType":"PARTIAL_REFUND","refundAmount":`+amount+`}`)
	}
	return strings.Join(all, ",")
}

func doneRefund(ref string, amount int64) payment.Refund {
	return payment.Refund{State: payment.RefundDone, Amount: amount, GatewayRef: ref, Code: "0000", Sent: true}
}

func byHand(amount int64) payment.Refund {
	return payment.Refund{State: payment.RefundDone, Amount: amount}
}

// inPortal returns a refund made in the portal and recorded with the portal's reference.
func inPortal(ref string, amount int64) payment.Refund {
	return payment.Refund{State: payment.RefundDone, Amount: amount, PortalRef: ref}
}

// A refund of 60, with other refunds in LINE Pay's list: it is sent, found in the list, or left to the staff.
func TestMerchant_Refund_looks_up_first(t *testing.T) {
	const none, done, refused, unknown = payment.RefundState(""), payment.RefundDone, payment.RefundRefused, payment.RefundUnknown
	outcomeUnknown := payment.Refund{State: payment.RefundUnknown, Amount: 60, Sent: true}
	list := func(pairs ...string) []string { return pairs }
	others := func(all ...payment.Refund) []payment.Refund { return all }
	for _, c := range []struct {
		name   string
		list   []string
		others []payment.Refund
		sent   bool     // whether it was sent before
		before []string // listed when it was sent before
		state  payment.RefundState
		calls  int // number of calls; two if it is sent
	}{
		{"first", nil, nil, false, nil, done, 2},
		{"second", list(firstRef + " -60"), others(doneRefund(firstRef, 60)), false, list(firstRef), done, 2},
		{"without minus", list(firstRef + " 60"), others(doneRefund(firstRef, 60)), false, list(firstRef), done, 2},
		{"after one by hand", list(firstRef + " -60"), others(byHand(60)), false, list(firstRef), done, 2},
		{"after one in cash", nil, others(byHand(60)), false, nil, done, 2},
		{"after two by hand", list(firstRef+" -60", secondRef+" -10"), others(byHand(10), byHand(60)), false, nil, done, 2},
		{"after one noted", list(firstRef + " -60"), others(inPortal(firstRef, 60)), false, nil, done, 2},
		{"after one misread", list(firstRef + " -60"), others(inPortal(secondRef, 60)), false, nil, done, 2},
		{"after one with another's name", list(firstRef+" -60", secondRef+" -10"), others(inPortal(firstRef, 10)), false, nil, refused, 1},
		{"not reported to us", list(firstRef + " -60"), nil, false, nil, refused, 1},
		{"checked by staff", list(firstRef + " -60"), nil, false, list(firstRef), done, 2},
		{"of another amount", list(firstRef + " -10"), others(byHand(60)), false, nil, refused, 1},
		{"more in the portal than recorded", list(firstRef+" -60", secondRef+" -60"), others(byHand(60)), false, nil, refused, 1},
		{"it may be the one without a response", list(firstRef + " -60"), others(outcomeUnknown), false, nil, refused, 1},
		{"the list is behind", nil, others(doneRefund(firstRef, 60)), false, nil, none, 1},
		{"the list is strange", list(firstRef + " 6e1"), nil, false, nil, none, 1},
		{"it has no name", list("6 -60"), nil, false, nil, none, 1},

		{"again, not there", nil, nil, true, nil, done, 2},
		{"again, there", list(firstRef + " -60"), nil, true, nil, done, 1},
		{"again, second there", list(firstRef+" -60", secondRef+" -60"), others(doneRefund(firstRef, 60)), true, list(firstRef), done, 1},
		{"again, by hand before", list(firstRef + " -60"), others(byHand(60)), true, list(firstRef), done, 2},
		{"again, there, by hand before", list(firstRef+" -60", secondRef+" -60"), others(byHand(60)), true, list(firstRef), done, 1},
		{"again, with an empty list", list(firstRef + " -60"), nil, true, list(firstRef), done, 2},
		{"again, a later one done", list(firstRef + " -60"), others(doneRefund(firstRef, 60)), true, nil, done, 2},
		{"again, by hand since", list(firstRef + " -60"), others(byHand(60)), true, nil, unknown, 1},
		{"again, other by hand since", list(firstRef + " -10"), others(byHand(10)), true, nil, done, 2},
		{"again, other by hand, there", list(firstRef+" -10", secondRef+" -60"), others(byHand(10)), true, nil, done, 1},
		{"again, noted since", list(firstRef + " -60"), others(inPortal(firstRef, 60)), true, nil, done, 2},
		{"again, there, noted since", list(firstRef+" -60", secondRef+" -60"), others(inPortal(firstRef, 60)), true, nil, done, 1},
		{"again, misread since", list(firstRef + " -60"), others(inPortal(thirdRef, 60)), true, nil, unknown, 1},
		{"again, two like it", list(firstRef+" -60", secondRef+" -60"), nil, true, nil, unknown, 1},
		{"again, one like none", list(firstRef + " -360"), nil, true, nil, unknown, 1},
		{"again, the list is behind", nil, nil, true, list(firstRef), none, 1},
	} {
		l := fakeLINEPay(map[string]string{
			"payments": paymentsText("", listOf(c.list...)), "refund": `{"returnCode":"0000","info":{"refundTransactionId":` + thirdRef + `}}`,
		})
		r := payment.RefundRequest{ID: "r", Attempt: attempt(), Amount: 60, OtherRefunds: c.others, Sent: c.sent, PriorRefunds: c.before}
		got, err := merchantOf(t, l).Refund(t.Context(), r)
		if got.State != c.state || (err == nil) != (c.state != none) || len(l.requests) != c.calls {
			t.Errorf("%s: %+v, %v, %d calls", c.name, got, err, len(l.requests))
		}
		if notDone := got.State == refused || got.State == unknown; notDone != (got.Code == RefundedElsewhere) {
			t.Errorf("%s: outcome %+v, want RefundedElsewhere exactly if it is refused or unknown", c.name, got)
		}
		if got.State == done && (got.Ref == thirdRef) != (c.calls == 2) || got.State != done && got.Ref != "" {
			t.Errorf("%s: outcome %+v, want a reference exactly if it is done", c.name, got)
		}
	}
}

func TestMerchant_Prepare(t *testing.T) {
	two := paymentsText("", listOf(firstRef+" -60", secondRef+" -1"))
	for _, c := range []struct {
		name, text string
		others     []payment.Refund
		code       string
		before     []string
		state      payment.RefundState
		wantCode   string
	}{
		{"first", paymentsText("", ""), nil, "", nil, "", ""},
		{"third", two, []payment.Refund{doneRefund(firstRef, 60), byHand(1)}, "", []string{firstRef, secondRef}, "", ""},
		{"one not recorded", two, []payment.Refund{doneRefund(firstRef, 60)}, "", nil, payment.RefundRefused, RefundedElsewhere},
		{"one not recorded, refused before", two, nil, "1163", nil, payment.RefundRefused, RefundedElsewhere},
		{"checked by staff", two, nil, RefundedElsewhere, []string{firstRef, secondRef}, "", ""},
		{"no such payment", `{"returnCode":"1150"}`, nil, "", nil, payment.RefundRefused, "1150"},
	} {
		l := fakeLINEPay(map[string]string{"payments": c.text})
		r := payment.RefundRequest{ID: "r", Attempt: attempt(), Amount: 60, OtherRefunds: c.others, Code: c.code}
		before, out, err := merchantOf(t, l).Prepare(t.Context(), r)
		if !slices.Equal(before, c.before) || out.State != c.state || out.Code != c.wantCode || err != nil || len(l.requests) != 1 {
			t.Errorf("%s: %v, %+v, %v, %d calls", c.name, before, out, err, len(l.requests))
		}
	}
	for _, text := range []string{`{"returnCode":"1106"}`, `<html>`, paymentsText("", `{"refundAmount":-60}`)} {
		_, out, err := merchantOf(t, fakeLINEPay(map[string]string{"payments": text})).Prepare(t.Context(), payment.RefundRequest{Attempt: attempt(), Amount: 60})
		if !errors.Is(err, payment.ErrGateway) || out.State != "" {
			t.Errorf("Prepare with %s = %+v, %v, want ErrGateway", text, out, err)
		}
	}
}
