package linepay

import (
	"errors"
	"net/http"
	"strings"
	"testing"

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
	if len(l.requests) != 0 {
		t.Errorf("%d calls", len(l.requests))
	}
}
