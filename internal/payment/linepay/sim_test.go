package linepay_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
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

// fixture has both sides of a payment: our merchant and LINE Pay's simulator, with one clock.
type fixture struct {
	*linepay.Merchant

	t      *testing.T
	sim    *linepaysim.Simulator
	client *http.Client
	clock  *testenv.Clock
}

func newFixture(t *testing.T, prefix string) *fixture {
	t.Helper()
	l := &fixture{t: t, clock: testenv.NewClockAt(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))}
	const channel, secret = "1656000001", "a917ab6a2367b536f8e5a6e2977e06f4"
	l.sim = testenv.Must(linepaysim.New(linepaysim.Options{ChannelID: channel, ChannelSecret: secret, Now: l.clock.Now}))(t)
	server := httptest.NewServer(l.sim)
	t.Cleanup(server.Close)
	t.Cleanup(l.sim.Close)
	// Without idle connections no call is sent a second time by the client itself.
	transport := &http.Transport{DisableKeepAlives: true}
	l.client = &http.Client{Transport: transport, CheckRedirect: noRedirect}
	conf := linepay.Config{ChannelID: channel, ChannelSecret: secret, Host: server.URL, Prefix: prefix}
	l.Merchant = testenv.Must(linepay.New(conf, &http.Client{Transport: transport}, linepay.Nonce))(t)
	return l
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// start starts an attempt and returns it with its page.
func (l *fixture) start(amount int64, c money.Currency) (payment.Attempt, string) {
	l.t.Helper()
	a := payment.Attempt{
		ID: uid.New(l.clock.Now()), Method: payment.LINEPay, Amount: amount, Currency: c, State: payment.Redirected, CreatedAt: l.clock.Now(),
	}
	page := testenv.Must(l.Start(l.t.Context(), payment.Purchase{
		Attempt: a, OrderNumber: "A-012", BranchName: "小籠包 <永康店> & 茶", ExpiresAt: l.clock.Now().Add(15 * time.Minute), Language: "zh-TW",
		ReturnBaseURL: "https://eat.example",
	}))(l.t)
	a.GatewayRef = page.Ref
	return a, page.URL
}

// press presses a button of the page and returns the redirect; nil for none.
func (l *fixture) press(page, action string) *url.URL {
	l.t.Helper()
	resp, err := l.client.PostForm(page, url.Values{"action": {action}})
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	to, err := resp.Location()
	if err != nil || resp.StatusCode != http.StatusSeeOther {
		l.t.Fatalf("button %s: status %d, %v, want a redirect", action, resp.StatusCode, err)
	}
	return to
}

// approved starts an attempt that its guest approves.
func (l *fixture) approved(amount int64, c money.Currency) payment.Attempt {
	l.t.Helper()
	a, page := l.start(amount, c)
	if l.press(page, "pay") == nil {
		l.t.Fatal("the guest was not sent back")
	}
	return a
}

func (l *fixture) faults(faults ...linepaysim.Fault) {
	l.t.Helper()
	testenv.NoError(l.t, l.sim.SetFaults(faults...))
}

// confirms and checks expect a report.
func (l *fixture) confirms(a payment.Attempt, state payment.State, code string) {
	l.t.Helper()
	l.expect(a, state, code)(l.Confirm(l.t.Context(), a))
}

func (l *fixture) checks(a payment.Attempt, state payment.State, code string) {
	l.t.Helper()
	l.expect(a, state, code)(l.Check(l.t.Context(), a))
}

func (l *fixture) expect(a payment.Attempt, state payment.State, code string) func(payment.Report, error) {
	return func(r payment.Report, err error) {
		l.t.Helper()
		if err != nil || r.State != state || r.Code != code || r.Ref != a.GatewayRef {
			l.t.Errorf("%+v, %v; want %s %s", r, err, state, code)
		}
		if state == payment.Paid && (r.Amount != a.Amount || r.Currency != a.Currency) {
			l.t.Errorf("%+v is not the amount of %+v", r, a)
		}
	}
}

// Both versions, every currency, and an id that is not representable as a float.
func TestSimulated_pay(t *testing.T) {
	for _, prefix := range []string{"/v3", "/v4"} {
		l := newFixture(t, prefix)
		for currency, amount := range map[money.Currency]int64{"TWD": 12345, "THB": 1205, "USD": 1} {
			a, page := l.start(amount, currency)
			l.checks(a, payment.Redirected, "0000")
			l.confirms(a, payment.Redirected, "1169")
			to := l.press(page, "pay")
			returned, err := linepay.Read(to.RawQuery)
			if err != nil || returned != (linepay.Return{TransactionID: a.GatewayRef, AttemptID: a.ID}) {
				t.Fatalf("guest sent to %s = %+v, %v, want the attempt's ids", to, returned, err)
			}
			if to.Host != "eat.example" || to.Path != "/payment/linepay/confirm" {
				t.Errorf("sent to %s", to)
			}
			l.checks(a, payment.Approved, "0110")
			l.confirms(a, payment.Paid, "0000")
			l.checks(a, payment.Paid, "0123")
			l.confirms(a, payment.Unknown, "1172")
		}
	}
}

func TestSimulated_guestLeaves(t *testing.T) {
	l := newFixture(t, "/v4")
	for action, want := range map[string]struct {
		state payment.State
		code  string
		path  string
	}{
		"cancel":  {payment.Failed, "0121", "/payment/linepay/cancel"},
		"decline": {payment.Failed, "0122", "/payment/linepay/cancel"},
		"close":   {payment.Redirected, "0000", ""},
		"leave":   {payment.Approved, "0110", ""},
		"nothing": {payment.Redirected, "0000", ""},
	} {
		a, page := l.start(360, "TWD")
		to := l.press(page, action)
		if (to == nil) != (want.path == "") || to != nil && to.Path != want.path {
			t.Errorf("%s: sent to %v", action, to)
		}
		if to != nil {
			if returned, err := linepay.Read(to.RawQuery); err != nil || returned.AttemptID != a.ID {
				t.Errorf("guest sent back after %s = %+v, %v, want attempt %s", action, returned, err, a.ID)
			}
		}
		l.checks(a, want.state, want.code)
		if want.state == payment.Failed {
			l.confirms(a, payment.Failed, "1180")
			if l.press(page, "pay") != nil {
				t.Errorf("%s: can be paid afterwards", action)
			}
		}
	}
}

// A guest who pays after the order has ended only approves the payment. Without a confirmation no money moves.
func TestSimulated_late(t *testing.T) {
	l := newFixture(t, "/v4")
	a, page := l.start(360, "TWD")
	l.clock.Advance(16 * time.Minute)
	if l.press(page, "pay") == nil {
		t.Fatal("LINE Pay's window is longer than ours")
	}
	l.checks(a, payment.Approved, "0110")
	l.clock.Advance(linepaysim.Window - 16*time.Minute)
	l.checks(a, payment.Failed, "0121")
	l.confirms(a, payment.Failed, "1180")

	a, page = l.start(360, "TWD")
	l.clock.Advance(linepaysim.Window)
	if l.press(page, "pay") != nil {
		t.Fatal("paid after the window")
	}
	l.checks(a, payment.Failed, "0121")
	if l.press(page, "late") == nil {
		t.Fatal("not paid late")
	}
	l.checks(a, payment.Approved, "0110") // a success after a failure
	l.confirms(a, payment.Paid, "0000")
}

// A confirmation with a lost or broken response is settled by a check, whether or not the money has moved.
func TestSimulated_confirm_lostAnswer(t *testing.T) {
	l := newFixture(t, "/v4")
	for _, response := range []linepaysim.ResponseFault{linepaysim.Lost, linepaysim.Garbled, linepaysim.Broken, linepaysim.Redirect} {
		for _, moves := range []bool{true, false} {
			a := l.approved(360, "TWD")
			l.faults(linepaysim.Fault{Call: linepaysim.Confirm, Times: 1, Response: response, Moves: moves})
			l.confirms(a, payment.Unknown, "")
			if moves {
				l.checks(a, payment.Paid, "0123")
				l.confirms(a, payment.Unknown, "1172")
				continue
			}
			l.checks(a, payment.Approved, "0110")
			l.confirms(a, payment.Paid, "0000")
		}
	}
}

// A confirmation that times out may leave each of the check's codes.
func TestSimulated_confirm_timeout(t *testing.T) {
	l := newFixture(t, "/v4")
	a, page := l.start(360, "TWD")
	for _, c := range []struct {
		press string
		state payment.State
		code  string
	}{{"close", payment.Redirected, "0000"}, {"leave", payment.Approved, "0110"}} {
		l.press(page, c.press)
		l.faults(linepaysim.Fault{Call: linepaysim.Confirm, Times: 1, Response: linepaysim.Hangs})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		l.expect(a, payment.Unknown, "")(l.Confirm(ctx, a))
		cancel()
		l.faults()
		l.checks(a, c.state, c.code)
	}
	// The money moves, and the answer is late.
	b := l.approved(360, "TWD")
	l.faults(linepaysim.Fault{Call: linepaysim.Confirm, Times: 1, Response: linepaysim.Hangs, Moves: true})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.expect(b, payment.Unknown, "")(l.Confirm(ctx, b))
	}()
	testenv.Eventually(t, 10*time.Second, func() bool { return l.sim.Payments()[0].State == "PAID" })
	cancel()
	<-done
	l.checks(b, payment.Paid, "0123")
	l.confirms(a, payment.Paid, "0000")
}

// The confirmation URL is opened twice concurrently: one call captures, and no response reports a failure.
func TestSimulated_confirm_twiceAtOnce(t *testing.T) {
	l := newFixture(t, "/v4")
	a := l.approved(360, "TWD")
	states := make([]payment.State, 10)
	var all sync.WaitGroup
	for i := range states {
		all.Go(func() {
			r, err := l.Confirm(t.Context(), a)
			if err != nil {
				t.Error(err)
			}
			states[i] = r.State
		})
	}
	all.Wait()
	paid := 0
	for _, s := range states {
		switch s {
		case payment.Paid:
			paid++
		case payment.Unknown:
		default:
			t.Errorf("Confirm = %s, want PAID or UNKNOWN", s)
		}
	}
	testenv.Equal(t, 1, paid)
	l.checks(a, payment.Paid, "0123")
}

func TestSimulated_confirm_wrong(t *testing.T) {
	l := newFixture(t, "/v4")
	a := l.approved(360, "TWD")
	more := a
	more.Amount++
	testenv.ErrorIs(t, payment.ErrGateway, testenv.Err(l.Confirm(t.Context(), more)), "another amount")
	for code, state := range map[string]payment.State{"1198": payment.Unknown, "9000": payment.Unknown, "1142": payment.Failed} {
		l.faults(linepaysim.Fault{Call: linepaysim.Confirm, Times: 1, Code: code})
		l.confirms(a, state, code)
	}
	l.checks(a, payment.Approved, "0110")
	l.faults(linepaysim.Fault{Call: linepaysim.Confirm, Times: 1, Response: linepaysim.Short})
	if r, err := l.Confirm(t.Context(), a); err != nil || r.State != payment.Review || r.Amount != 359 {
		t.Errorf("Confirm of a short amount = %+v, %v, want REVIEW with 359", r, err)
	}
	if r, err := l.Check(t.Context(), a); err != nil || r.State != payment.Review || r.Amount != 359 {
		t.Errorf("Check of a short amount = %+v, %v, want REVIEW with 359", r, err)
	}
}

// Two attempts of one order may both be paid; each is its own payment.
func TestSimulated_twoAttempts(t *testing.T) {
	l := newFixture(t, "/v4")
	a, b := l.approved(360, "TWD"), l.approved(360, "TWD")
	l.confirms(a, payment.Paid, "0000")
	l.confirms(b, payment.Paid, "0000")
	got, err := l.Refund(t.Context(), payment.RefundRequest{ID: "r", Attempt: b, Amount: 360, Full: true})
	if got.State != payment.RefundDone || got.Code != "0000" || err != nil {
		t.Errorf("Refund = %+v, %v, want DONE with code 0000", got, err)
	}
	l.checks(a, payment.Paid, "0123")
	for _, p := range l.sim.Payments() {
		if (p.Refunded == "360") != (p.TransactionID == b.GatewayRef) {
			t.Errorf("payment = %+v, want 360 refunded of the second one only", p)
		}
	}
}

// If the response to a start is lost, no payment page exists that could be paid.
func TestSimulated_start_lostAnswer(t *testing.T) {
	l := newFixture(t, "/v4")
	l.faults(linepaysim.Fault{Call: linepaysim.Request, Times: 1, Response: linepaysim.Lost, Moves: true})
	p := payment.Purchase{
		Attempt:       payment.Attempt{ID: uid.New(l.clock.Now()), Amount: 360, Currency: "TWD"},
		ReturnBaseURL: "https://eat.example",
	}
	testenv.ErrorIs(t, payment.ErrGateway, testenv.Err(l.Start(t.Context(), p)))
	l.checks(p.Attempt, payment.Redirected, "1150")
	page := testenv.Must(l.Start(t.Context(), p))(t)
	a := p.Attempt
	a.GatewayRef = page.Ref
	l.press(page.URL, "pay")
	l.confirms(a, payment.Paid, "0000")
	r, err := l.Check(t.Context(), p.Attempt) // by its own id
	if err != nil || r.State != payment.Paid || r.Ref != page.Ref {
		t.Errorf("Check by the attempt's id = %+v, %v, want PAID with %s", r, err, page.Ref)
	}
}

// knownRefunds are the refunds of one attempt in the ledger.
type knownRefunds struct {
	*fixture

	a   payment.Attempt
	all []payment.Refund
}

// refund sends a new refund until it is answered.
func (b *knownRefunds) refund(amount int64) payment.RefundOutcome {
	b.t.Helper()
	r := payment.RefundRequest{ID: "r", Attempt: b.a, Amount: amount, Full: amount == b.a.Amount, OtherRefunds: slices.Clone(b.all)}
	before, out, err := b.Prepare(b.t.Context(), r)
	switch {
	case err != nil:
		b.t.Fatal(err)
	case out.State != "":
		return out
	}
	r.PriorRefunds = before
	for range 3 {
		var got payment.RefundOutcome
		if got, err = b.Refund(b.t.Context(), r); err == nil {
			b.all = append(b.all, payment.Refund{Amount: amount, State: got.State, GatewayRef: got.Ref, Code: got.Code, Sent: true})
			return got
		}
		r.Sent = true
	}
	b.t.Fatal(err)
	return payment.RefundOutcome{}
}

// refundInPortal refunds in the portal and records it.
func (b *knownRefunds) refundInPortal(amount int64) {
	b.t.Helper()
	if b.sim.RefundInPortal(b.a.GatewayRef, json.Number(b.a.Currency.Format(amount))) == "" {
		b.t.Fatalf("%d cannot be given back by hand", amount)
	}
	b.all = append(b.all, payment.Refund{Amount: amount, State: payment.RefundDone})
}

func (b *knownRefunds) want(amount int64, pieces int) {
	b.t.Helper()
	if p := b.sim.Payments()[0]; p.Refunded != trimmed(amount) || p.Refunds != pieces {
		b.t.Errorf("%+v, want %d in %d pieces", p, amount, pieces)
	}
}

func newKnownRefunds(t *testing.T) *knownRefunds {
	t.Helper()
	l := newFixture(t, "/v4")
	a := l.approved(1250, "THB")
	l.confirms(a, payment.Paid, "0000")
	return &knownRefunds{fixture: l, a: a}
}

func TestSimulated_refund_parts(t *testing.T) {
	b := newKnownRefunds(t)
	for _, c := range []struct {
		amount int64
		state  payment.RefundState
		code   string
	}{
		{255, payment.RefundDone, "0000"}, {500, payment.RefundDone, "0000"}, {496, payment.RefundRefused, "1164"},
		{495, payment.RefundDone, "0000"}, {1, payment.RefundRefused, "1165"},
	} {
		if got := b.refund(c.amount); got.State != c.state || got.Code != c.code || (got.Ref != "") != (c.state == payment.RefundDone) {
			t.Errorf("refund of %d = %+v, want %s with code %s", c.amount, got, c.state, c.code)
		}
	}
	b.want(1250, 3)
}

// Parts of equal amounts, some sent and some refunded by hand in the portal: each is refunded once, whichever responses
// are lost.
func TestSimulated_refund_partsByHand(t *testing.T) {
	lost := func(moves bool) linepaysim.Fault {
		return linepaysim.Fault{Call: linepaysim.Refund, Times: 1, Response: linepaysim.Lost, Moves: moves}
	}
	for _, fault := range []linepaysim.Fault{{Call: linepaysim.Check, Times: 1}, lost(true), lost(false)} {
		b := newKnownRefunds(t)
		b.faults(linepaysim.Fault{Call: linepaysim.Refund, Times: 1, Code: "1163"})
		testenv.Equal(t, payment.RefundRefused, b.refund(200).State)
		b.all = nil // the same row, now recorded as refunded by hand
		b.refundInPortal(200)
		for pieces := int64(2); pieces <= 3; pieces++ {
			b.faults(fault)
			if got := b.refund(200); got.State != payment.RefundDone || got.Ref == "" {
				t.Errorf("refund of 200 after %+v = %+v, want DONE with a reference", fault, got)
			}
			b.want(200*pieces, int(pieces))
		}
		b.refundInPortal(200)
		b.faults(fault)
		if got := b.refund(450); got.State != payment.RefundDone {
			t.Errorf("refund of 450 after %+v = %+v, want DONE", fault, got)
		}
		b.want(1250, 5)
	}
}

// A refund made in the portal and not recorded here stops every later refund.
func TestSimulated_refund_notNoted(t *testing.T) {
	b := newKnownRefunds(t)
	b.refundInPortal(200)
	b.all = nil
	for _, amount := range []int64{200, 300} {
		if got := b.refund(amount); got.State != payment.RefundRefused || got.Code != linepay.RefundedElsewhere {
			t.Errorf("refund = %+v, want REFUSED as refunded elsewhere", got)
		}
	}
	b.want(200, 1)
}

// A refund that is retried until it is answered is paid once, whichever messages are lost.
func TestSimulated_refund_lostAnswer(t *testing.T) {
	l := newFixture(t, "/v4")
	for _, whole := range []bool{true, false} {
		for _, f := range []linepaysim.Fault{
			{Call: linepaysim.Refund, Times: 1, Response: linepaysim.Lost, Moves: true},
			{Call: linepaysim.Refund, Times: 1, Response: linepaysim.Lost},
			{Call: linepaysim.Refund, Times: 1, Response: linepaysim.Broken, Moves: true},
			{Call: linepaysim.Refund, Times: 1, Code: "9000", Moves: true},
			{Call: linepaysim.Refund, Times: 1, Code: "1198"},
			{Call: linepaysim.Details, Times: 1, Response: linepaysim.Lost},
			{Call: linepaysim.Details, Times: 1, Code: "1106"},
		} {
			a := l.approved(360, "TWD")
			l.confirms(a, payment.Paid, "0000")
			l.faults(f)
			r := payment.RefundRequest{ID: "r", Attempt: a, Amount: 120}
			if whole {
				r.Amount, r.Full = 360, true
			}
			if got, err := l.Refund(t.Context(), r); !errors.Is(err, payment.ErrGateway) || got.State != "" {
				t.Errorf("Refund after %+v = %+v, %v, want ErrGateway", f, got, err)
			}
			r.Sent = true
			if got, err := l.Refund(t.Context(), r); got.State != payment.RefundDone || got.Code != "0000" || err != nil {
				t.Errorf("Refund again after %+v = %+v, %v, want DONE with code 0000", f, got, err)
			}
			if p := l.sim.Payments()[0]; p.Refunds != 1 || p.Refunded != money.TWD.Format(r.Amount) {
				t.Errorf("payment after %+v = %+v, want one refund of %s", f, p, money.TWD.Format(r.Amount))
			}
		}
	}
}

// For any names of restaurants and orders, the request body equals the signed text, and LINE Pay reads the same
// values.
func TestSimulated_texts(t *testing.T) {
	l := newFixture(t, "/v4")
	rapid.Check(t, func(t *rapid.T) {
		p := payment.Purchase{
			Attempt:     payment.Attempt{ID: uid.New(l.clock.Now()), Method: payment.LINEPay, Amount: 1250, Currency: "THB"},
			OrderNumber: rapid.String().Draw(t, "number"), BranchName: rapid.String().Draw(t, "house"),
			Language: rapid.SampledFrom([]string{"zh-TW", "vi", "", "th"}).Draw(t, "language"), ReturnBaseURL: "https://eat.example",
		}
		page := testenv.Must(l.Start(t.Context(), p))(t)
		a := p.Attempt
		a.GatewayRef = page.Ref
		testenv.Equal(t, payment.Redirected, testenv.Must(l.Check(t.Context(), a))(t).State)
		if got := l.sim.Payments()[0]; got.OrderID != a.ID || got.TransactionID != page.Ref || got.Amount != "12.5" {
			t.Fatalf("payment = %+v, want that of attempt %s for 12.5", got, a.ID)
		}
	})
}

// A merchant with another secret receives no data and moves no money.
func TestSimulated_wrongSecret(t *testing.T) {
	l := newFixture(t, "/v4")
	a, page := l.start(360, "TWD")
	l.press(page, "pay")
	u := testenv.Must(url.Parse(page))(t)
	conf := linepay.Config{ChannelID: "1656000001", ChannelSecret: "another", Host: "http://" + u.Host}
	m := testenv.Must(linepay.New(conf, l.client, linepay.Nonce))(t)
	testenv.ErrorIs(t, payment.ErrGateway, testenv.Err(m.Confirm(t.Context(), a)))
	l.checks(a, payment.Approved, "0110")
}
