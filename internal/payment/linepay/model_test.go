package linepay_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/payment/linepay"
	"comanda/internal/sim/linepaysim"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// wire passes requests to a simulator without a network. An aborted response is a broken connection.
type wire struct{ sim *linepaysim.Simulator }

func (w wire) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	defer func() {
		if recover() != nil {
			resp, err = nil, errors.New("connection reset by peer")
		}
	}()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	w.sim.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// model is one attempt, its possible true states, and the reports about it.
type model struct {
	m        *linepay.Merchant
	sim      *linepaysim.Simulator
	now      time.Time
	attempt  payment.Attempt
	page     string
	refunded int64
	books    []payment.Refund
}

func newModel(t *rapid.T) *model {
	l := &model{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	const channel, secret = "1656000001", "a917ab6a2367b536f8e5a6e2977e06f4"
	var err error
	l.sim, err = linepaysim.New(linepaysim.Options{ChannelID: channel, ChannelSecret: secret, Now: func() time.Time { return l.now }})
	if err != nil {
		t.Fatal(err)
	}
	l.m = testenv.Must(linepay.New(linepay.Config{ChannelID: channel, ChannelSecret: secret},
		&http.Client{Transport: wire{l.sim}}, linepay.Nonce))(t)
	l.attempt = payment.Attempt{ID: uid.New(l.now), Currency: "THB", Amount: rapid.Int64Range(1, 100_000).Draw(t, "amount")}
	page := testenv.Must(l.m.Start(t.Context(),
		payment.Purchase{Attempt: l.attempt, BranchName: "H", OrderNumber: "1", ReturnBaseURL: "https://eat.example"}))(t)
	l.attempt.GatewayRef, l.page = page.Ref, page.URL
	return l
}

func (l *model) paid() bool { return l.sim.Payments()[0].State == "PAID" }

// failNextCall makes the next call fail in a way that leaves its outcome unknown.
func (l *model) failNextCall(t *rapid.T) {
	f := linepaysim.Fault{Times: 1, Moves: rapid.Bool().Draw(t, "moves")}
	f.Response = rapid.SampledFrom([]linepaysim.ResponseFault{"", linepaysim.Lost, linepaysim.Garbled, linepaysim.Broken}).Draw(t, "spoil")
	if f.Response == "" {
		f.Code = rapid.SampledFrom([]string{"1145", "1198", "1199", "9000", "1900"}).Draw(t, "code")
	}
	testenv.NoError(t, l.sim.SetFaults(f))
}

func (l *model) press(t *rapid.T, action string) {
	r := testenv.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, l.page,
		strings.NewReader(url.Values{"action": {action}}.Encode())))(t)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	if l.sim.ServeHTTP(rec, r); rec.Code >= 400 {
		t.Fatal(rec.Code)
	}
}

// wantTrue compares a report with the true state.
func (l *model) wantTrue(t *rapid.T, r payment.Report, err error) {
	switch {
	case err != nil && !errors.Is(err, payment.ErrGateway):
		t.Errorf("report: error %v, want ErrGateway or none", err)
	case r.State == payment.Paid && (!l.paid() || r.Amount != l.attempt.Amount || r.Currency != "THB"):
		t.Errorf("%+v, and nothing was paid", r)
	case (r.State == payment.Failed || r.State == payment.Redirected || r.State == payment.Approved) && l.paid():
		t.Errorf("%+v, and it was paid", r)
	case r.State == payment.Review:
		t.Errorf("%+v, and all is in order", r)
	}
}

func (l *model) settle(t *rapid.T) {
	testenv.NoError(t, l.sim.SetFaults())
	r, err := l.m.Check(t.Context(), l.attempt)
	l.wantTrue(t, r, err)
	if err != nil || (r.State == payment.Paid) != l.paid() {
		t.Errorf("at last %+v, %v", r, err)
	}
}

// refund sends one refund until it gets a response.
func (l *model) refund(t *rapid.T) {
	amount := rapid.SampledFrom([]int64{l.attempt.Amount, max(1, l.attempt.Amount/4), rapid.Int64Range(1, l.attempt.Amount).Draw(t, "any")}).Draw(t, "refund")
	r := payment.RefundRequest{
		ID: "r", Attempt: l.attempt, Amount: amount, OtherRefunds: slices.Clone(l.books), Full: l.refunded == 0 && amount == l.attempt.Amount,
	}
	before, out, err := l.m.Prepare(t.Context(), r)
	if errors.Is(err, payment.ErrGateway) || out.Code == "1150" {
		return // the lookup failed or nothing was paid: not sent
	}
	if err != nil || out.State != "" {
		t.Fatalf("Prepare of %+v = %+v, %v, want no outcome yet", r, out, err)
	}
	r.PriorRefunds = before
	for range 3 { // at most two calls of one attempt fail
		got, err := l.m.Refund(t.Context(), r)
		r.Sent = true
		switch {
		case errors.Is(err, payment.ErrGateway):
			continue
		case err != nil:
			t.Fatal(err)
		case got.State == payment.RefundDone:
			l.refunded += amount
			l.books = append(l.books, payment.Refund{Amount: amount, State: got.State, GatewayRef: got.Ref, Code: got.Code})
		case !l.paid() && (got.Code == "1150" || got.Code == "1155"), l.paid() && l.refunded+amount > l.attempt.Amount:
		default:
			t.Errorf("refund of %+v = %+v, want DONE or a refusal with a reason", r, got)
		}
		l.same(t)
		return
	}
	t.Error("a refund is never answered")
}

// refundInPortal refunds a part in the portal and records it.
func (l *model) refundInPortal(t *rapid.T) {
	amount := rapid.SampledFrom([]int64{max(1, l.attempt.Amount/4), 1}).Draw(t, "by hand")
	if l.sim.RefundInPortal(l.attempt.GatewayRef, json.Number(money.THB.Format(amount))) != "" {
		l.refunded += amount
		l.books = append(l.books, payment.Refund{Amount: amount, State: payment.RefundDone})
	}
	l.same(t)
}

func (l *model) same(t *rapid.T) {
	if got := l.sim.Payments()[0].Refunded; got != trimmed(l.refunded) {
		t.Errorf("%s were given back instead of %s", got, trimmed(l.refunded))
	}
}

// trimmed formats an amount as the simulator does.
func trimmed(amount int64) string {
	return strings.TrimSuffix(strings.TrimRight(money.THB.Format(amount), "0"), ".")
}

// Whatever the guest does and whichever response is lost, no report is false, checking settles everything, and each refund
// is paid once.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newModel(t)
		defer l.sim.Close()
		t.Repeat(map[string]func(*rapid.T){
			"guest": func(t *rapid.T) {
				l.press(t, rapid.SampledFrom([]string{"pay", "pay", "leave", "late", "cancel", "decline", "close"}).Draw(t, "button"))
			},
			"time": func(t *rapid.T) {
				l.now = l.now.Add(time.Duration(rapid.IntRange(1, 15).Draw(t, "minutes")) * time.Minute)
			},
			"spoil": l.failNextCall,
			"confirm": func(t *rapid.T) {
				r, err := l.m.Confirm(t.Context(), l.attempt)
				l.wantTrue(t, r, err)
				if err != nil {
					t.Errorf("Confirm: %v", err)
				}
			},
			"check": func(t *rapid.T) {
				r, err := l.m.Check(t.Context(), l.attempt)
				l.wantTrue(t, r, err)
			},
			"refund": l.refund,
			"portal": l.refundInPortal,
			"settle": l.settle,
		})
	})
}
