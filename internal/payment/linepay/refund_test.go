package linepay

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"comanda/internal/payment"
)

func TestMerchant_Refund_looksFirst(t *testing.T) {
	for name, c := range map[string]struct {
		list            string
		earlier, amount int64
		state           payment.RefundState
		code            string
		sent            bool
	}{
		"first":               {"", 0, 60, payment.RefundDone, "0000", true},
		"second":              {`{"refundAmount":-60}`, 60, 100, payment.RefundDone, "0000", true},
		"there already":       {`{"refundAmount":-60}`, 0, 60, payment.RefundDone, "0000", false},
		"without minus":       {`{"refundAmount":60}`, 0, 60, payment.RefundDone, "0000", false},
		"second there":        {`{"refundAmount":-60},{"refundAmount":-100}`, 60, 100, payment.RefundDone, "0000", false},
		"less in the portal":  {`{"refundAmount":-10}`, 0, 60, payment.RefundRefused, RefundedElsewhere, false},
		"more in the portal":  {`{"refundAmount":-360}`, 0, 60, payment.RefundRefused, RefundedElsewhere, false},
		"the list is behind":  {"", 60, 60, "", "", false},
		"the list is strange": {`{"refundAmount":6e1}`, 0, 60, "", "", false},
	} {
		l := says(map[string]string{"payments": paymentsText("", c.list), "refund": `{"returnCode":"0000"}`})
		r := payment.Repayment{ID: "r", Attempt: attempt(), Amount: c.amount, Earlier: c.earlier}
		state, code, err := merchantOf(t, l).Refund(t.Context(), r)
		if state != c.state || code != c.code || errors.Is(err, payment.ErrGateway) != (c.state == "") {
			t.Errorf("%s: %s, %s, %v", name, state, code, err)
		}
		if sent := len(l.requests) == 2; sent != c.sent {
			t.Errorf("%s: %d calls", name, len(l.requests))
		}
	}
}

func TestMerchant_Refund_codes(t *testing.T) {
	for state, codes := range map[payment.RefundState]string{
		payment.RefundDone:    "0000",
		payment.RefundRefused: "1101 1102 1150 1155 1159 1163 1164 1165 1177 1179",
		"":                    "1104 1105 1106 1124 1145 1152 1172 1198 1199 1900 1999 2101 2102 9000 8888",
	} {
		for code := range strings.FieldsSeq(codes) {
			l := says(map[string]string{"payments": paymentsText("", ""), "refund": `{"returnCode":"` + code + `"}`})
			got, said, err := merchantOf(t, l).Refund(t.Context(), payment.Repayment{Attempt: attempt(), Amount: 60})
			if got != state || state != "" && (said != code || err != nil) || state == "" && !errors.Is(err, payment.ErrGateway) {
				t.Errorf("%s: %s, %s, %v", code, got, said, err)
			}
		}
	}
}

// The list that is looked at first may be refused as well.
func TestMerchant_Refund_lookups(t *testing.T) {
	for text, want := range map[string]payment.RefundState{
		`{"returnCode":"1150"}`: payment.RefundRefused, `{"returnCode":"1106"}`: "", `<html>`: "",
	} {
		l := says(map[string]string{"payments": text, "refund": `{"returnCode":"0000"}`})
		state, _, err := merchantOf(t, l).Refund(t.Context(), payment.Repayment{Attempt: attempt(), Amount: 60})
		if state != want || (err == nil) != (want != "") || len(l.requests) != 1 {
			t.Errorf("%s: %s, %v, %d calls", text, state, err, len(l.requests))
		}
	}
}

// A refusal because of what was given back already is looked into: it may have been this very refund.
func TestMerchant_Refund_refusedForItself(t *testing.T) {
	for _, code := range []string{"1164", "1165"} {
		looked := false
		l := &line{answer: func(r *http.Request, _ string) (int, string, error) {
			if strings.HasSuffix(r.URL.Path, "/refund") {
				return http.StatusOK, `{"returnCode":"` + code + `"}`, nil
			}
			list := ""
			if looked {
				list = `{"refundAmount":-360}`
			}
			looked = true
			return http.StatusOK, paymentsText("", list), nil
		}}
		state, said, err := merchantOf(t, l).Refund(t.Context(), payment.Repayment{Attempt: attempt(), Amount: 360, Whole: true})
		if state != payment.RefundDone || said != "0000" || err != nil {
			t.Errorf("%s: %s, %s, %v", code, state, said, err)
		}
	}
}

func TestMerchant_Refund_body(t *testing.T) {
	for _, c := range []struct {
		r    payment.Repayment
		want string
	}{
		{payment.Repayment{Attempt: attempt(), Amount: 360, Whole: true}, `{}`},
		{payment.Repayment{Attempt: attempt(), Amount: 360}, `{"refundAmount":360}`},
		{payment.Repayment{Attempt: attempt(), Amount: 1}, `{"refundAmount":1}`},
	} {
		l := says(map[string]string{"payments": paymentsText("", ""), "refund": `{"returnCode":"0000"}`})
		if _, _, err := merchantOf(t, l).Refund(t.Context(), c.r); err != nil || l.bodies[1] != c.want {
			t.Errorf("%v, %v", l.bodies, err)
		}
	}
}

func TestMerchant_Refund_refuses(t *testing.T) {
	l := fails(200, "", nil)
	foreign := attempt()
	foreign.Currency = "VND"
	for name, r := range map[string]payment.Repayment{
		"nothing":         {Attempt: attempt()},
		"less":            {Attempt: attempt(), Amount: -5},
		"whole of a part": {Attempt: attempt(), Amount: 5, Whole: true},
		"whole of a rest": {Attempt: attempt(), Amount: 360, Whole: true, Earlier: 60},
		"currency":        {Attempt: foreign, Amount: 5},
	} {
		if _, _, err := merchantOf(t, l).Refund(t.Context(), r); !errors.Is(err, payment.ErrUnsuitable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	lost := attempt()
	lost.GatewayRef = ""
	if _, _, err := merchantOf(t, l).Refund(t.Context(), payment.Repayment{Attempt: lost, Amount: 5}); !errors.Is(err, payment.ErrGateway) {
		t.Error(err)
	}
	if len(l.requests) != 0 {
		t.Errorf("%d calls", len(l.requests))
	}
}
