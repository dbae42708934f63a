package payment_test

import (
	"errors"
	"testing"
	"time"

	"comanda/internal/payment"
)

// A success always wins, nothing undoes one, and a repeated report changes nothing.
func TestAttempt_Settle(t *testing.T) {
	all := []payment.State{payment.Created, payment.Paid, payment.Failed, payment.Canceled}
	now := time.UnixMilli(1)
	for _, from := range all {
		for _, to := range all[1:] {
			a := payment.Attempt{State: from, GatewayRef: "old"}
			want := from != payment.Paid && from != to
			if changed := a.Settle(to, "new", now); changed != want {
				t.Errorf("%s to %s: changed %v", from, to, changed)
			}
			if want && (a.State != to || a.SettledAt != now || a.GatewayRef != "new") {
				t.Errorf("%s to %s: %+v", from, to, a)
			}
			if !want && (a.State != from || a.GatewayRef != "old") {
				t.Errorf("%s to %s left %+v", from, to, a)
			}
		}
	}
}

func TestMethods_Check(t *testing.T) {
	for _, c := range []struct {
		sandbox bool
		method  payment.Method
		ok      bool
	}{
		{false, payment.Counter, true}, {false, payment.Sandbox, false}, {true, payment.Sandbox, true},
		{true, "VNPAY", false}, {true, "", false}, {true, "counter", false},
	} {
		err := payment.NewMethods(c.sandbox).Check(c.method)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, payment.ErrMethod) {
			t.Errorf("%q with sandbox %v: %v", c.method, c.sandbox, err)
		}
	}
}
