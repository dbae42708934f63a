package vnpaysim_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"comanda/internal/payment"
	"comanda/internal/payment/vnpay"
	"comanda/internal/sim/vnpaysim"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// querydr in every state of a payment.
func TestQuery(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(h *merchant, page string)
		state payment.State
		code  string
	}{
		{"never opened", func(*merchant, string) {}, payment.Redirected, "91"},
		{"opened", func(h *merchant, page string) { h.get(page) }, payment.Redirected, "00/01"},
		{"window closed", func(h *merchant, page string) { h.act(page, "close") }, payment.Redirected, "00/01"},
		{"over", func(h *merchant, page string) { h.get(page); h.pass(h.t, 0, time.Hour) }, payment.Failed, "00/02"},
		{"declined", func(h *merchant, page string) { h.act(page, "decline") }, payment.Failed, "00/02"},
		{"paid", func(h *merchant, page string) { h.act(page, "leave") }, payment.Paid, "00/00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newMerchant(t, func(o *vnpaysim.Options) { o.IPN = "" }) // only queries have results
			id, page := h.begin()
			c.do(h, page)
			for _, ask := range []func() (payment.Report, error){
				func() (payment.Report, error) { return h.m.Check(t.Context(), h.attempt(id)) },
				func() (payment.Report, error) { return h.m.Confirm(t.Context(), h.attempt(id)) },
			} {
				got, err := ask()
				if err != nil || got.State != c.state || got.Code != c.code || got.State == payment.Paid != (got.Ref != "") ||
					got.Code != "91" && got.Amount != 150_000 {
					t.Errorf("report = %+v, %v, want %s with code %s", got, err, c.state, c.code)
				}
			}
			if strings.Contains(h.story(), "ipn") {
				t.Errorf("received %s", h.story())
			}
		})
	}
}

// paid returns a merchant with one attempt that was paid.
func paid(t *testing.T) (*merchant, payment.Attempt) {
	t.Helper()
	h := newMerchant(t)
	id, page := h.begin()
	h.act(page, "pay")
	return h, h.attempt(id)
}

// refundRequest returns a refund beside completed ones.
func (h *merchant) refundRequest(a payment.Attempt, amount int64, others ...int64) payment.RefundRequest {
	r := payment.RefundRequest{
		ID: uid.New(h.Now()), Attempt: a, Amount: amount, Full: amount == a.Amount, By: "lan@house.example", Reason: "Hết món",
		DecidedAt: h.Now(),
	}
	for _, o := range others {
		r.OtherRefunds = append(r.OtherRefunds, payment.Refund{Amount: o, State: payment.RefundDone, Sent: true})
	}
	return r
}

// again returns the same refund, sent once more.
func again(r payment.RefundRequest) payment.RefundRequest {
	r.Sent = true
	return r
}

func (h *merchant) refund(r payment.RefundRequest, want payment.RefundState, code string) {
	h.t.Helper()
	got, err := h.m.Refund(h.t.Context(), r)
	if (err != nil) != (want == "") || err != nil && !errors.Is(err, payment.ErrGateway) || got.State != want || got.Code != code {
		h.t.Errorf("the refund of %d is %+v, %v; want %s, %s", r.Amount, got, err, want, code)
	}
}

func (h *merchant) refunded(amount int64, n int) {
	h.t.Helper()
	if got := h.sim.Payments()[0]; got.Refunded != amount || got.Refunds != n {
		h.t.Errorf("%d were given back in %d pieces, want %d in %d", got.Refunded, got.Refunds, amount, n)
	}
}

// The whole amount is refunded once, however often it is requested.
func TestRefund_whole(t *testing.T) {
	h, a := paid(t)
	r := h.refundRequest(a, 150_000)
	h.refund(r, payment.RefundDone, "00")
	h.refund(again(r), payment.RefundDone, "94")
	h.refunded(150_000, 1)
	testenv.Equal(t, payment.Review, testenv.Must(h.m.Check(t.Context(), a))(t).State)
	h.refund(h.refundRequest(a, 1, 150_000), payment.RefundRefused, "99")
	h.refunded(150_000, 1)
}

func TestRefund_parts(t *testing.T) {
	h, a := paid(t)
	h.refund(h.refundRequest(a, 50_000), payment.RefundDone, "00")
	r := h.refundRequest(a, 60_000, 50_000)
	h.refund(r, payment.RefundDone, "00")
	h.refund(again(r), "", "") // 94 may refer to the first part, so the outcome is unknown
	h.refund(h.refundRequest(a, 40_001, 50_000, 60_000), payment.RefundRefused, "99")
	h.refund(h.refundRequest(a, 150_000, 50_000, 60_000), payment.RefundRefused, "99")
	h.refunded(110_000, 2)
	h.refund(h.refundRequest(a, 40_000, 50_000, 60_000), payment.RefundDone, "00")
	h.refunded(150_000, 3)
}

// The refund is made and its response lost: a repetition is the same refund.
func TestRefund_lost_answer(t *testing.T) {
	h, a := paid(t)
	h.faults(vnpaysim.Faults{LoseAnswers: 1})
	r := h.refundRequest(a, 150_000)
	h.refund(r, "", "")
	h.refunded(150_000, 1)
	h.pass(t, 0, time.Hour)
	h.refund(again(r), payment.RefundDone, "94")
	h.refunded(150_000, 1)
}

// A partial refund that is sent again on another day would be another refund to VNPay, so it is not sent. A full refund
// cannot be made twice.
func TestRefund_anotherDay(t *testing.T) {
	h, a := paid(t)
	h.faults(vnpaysim.Faults{LoseAnswers: 1})
	r := h.refundRequest(a, 50_000)
	h.refund(r, "", "")
	h.pass(t, 0, 24*time.Hour)
	h.refund(again(r), payment.RefundUnknown, vnpay.AnotherDay)
	h.refunded(50_000, 1)

	h, a = paid(t)
	h.faults(vnpaysim.Faults{LoseAnswers: 1})
	r = h.refundRequest(a, 150_000)
	h.refund(r, "", "")
	h.pass(t, 0, 24*time.Hour)
	h.refund(again(r), payment.RefundUnknown, "99")
	h.refunded(150_000, 1)
}

func TestRefund_refused(t *testing.T) {
	h, a := paid(t)
	h.faults(vnpaysim.Faults{RefundCode: "99"}) // the sandbox answers so
	h.refund(h.refundRequest(a, 150_000), payment.RefundRefused, "99")
	h.faults(vnpaysim.Faults{})
	other := a
	other.CreatedAt = a.CreatedAt.Add(time.Second)
	h.refund(h.refundRequest(other, 150_000), payment.RefundRefused, "91")
	other = a
	other.GatewayRef = "1"
	h.refund(h.refundRequest(other, 150_000), payment.RefundRefused, "99")
	id, page := h.begin()
	h.act(page, "decline")
	h.refund(h.refundRequest(h.attempt(id), 150_000), payment.RefundRefused, "95")
	h.refunded(0, 0)
}

// Requests without a valid signature get no data and change nothing.
func TestAPI_strangers(t *testing.T) {
	h, a := paid(t)
	for name, conf := range map[string]vnpay.Config{
		"another secret": {TmnCode: site, HashSecret: "9d2c7f0a9b1e4c3d8f6a7b0c1d2e3f40"},
		"another site":   {TmnCode: "COMANDA2", HashSecret: secret},
	} {
		conf.PayURL, conf.APIURL = h.api+vnpaysim.PayPath, h.api+vnpaysim.APIPath
		m := testenv.Must(vnpay.New(conf, newClient(), h.Now))(t)
		if got, err := m.Check(t.Context(), a); !errors.Is(err, payment.ErrGateway) {
			t.Errorf("Check of %s = %+v, %v, want ErrGateway", name, got, err)
		}
		out, err := m.Refund(t.Context(), h.refundRequest(a, 150_000))
		if !errors.Is(err, payment.ErrGateway) || strings.Contains(err.Error(), string(conf.HashSecret)) {
			t.Errorf("Refund of %s = %+v, %v, want ErrGateway without the secret", name, out, err)
		}
	}
	h.refunded(0, 0)
}

// requestRecorder is a transport that records the requests.
type requestRecorder struct {
	http.RoundTripper

	sent string
}

func (t *requestRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	t.sent, r.Body = string(body), io.NopCloser(bytes.NewReader(body))
	return t.RoundTripper.RoundTrip(r)
}

// A request whose id was used on the same day is refused.
func TestQuery_refuses_a_repeated_request_id(t *testing.T) {
	h, a := paid(t)
	client := newClient()
	recorder := &requestRecorder{RoundTripper: client.Transport}
	client.Transport = recorder
	m := testenv.Must(vnpay.New(vnpay.Config{
		TmnCode: site, HashSecret: secret, PayURL: h.api + vnpaysim.PayPath, APIURL: h.api + vnpaysim.APIPath,
	}, client, h.Now))(t)
	testenv.Equal(t, payment.Paid, testenv.Must(m.Check(t.Context(), a))(t).State)
	for _, want := range []string{`"vnp_ResponseCode":"94"`, `"vnp_ResponseCode":"00"`} {
		if _, text := h.browse(http.MethodPost, h.api+vnpaysim.APIPath, recorder.sent); !strings.Contains(text, want) {
			t.Errorf("sent again, it is answered %s", text)
		}
		h.pass(t, 0, 24*time.Hour)
	}
}

// A refund in the portal reduces the amount that can be refunded, and has a number of VNPay.
func TestSimulator_GiveBack(t *testing.T) {
	h, a := paid(t)
	for _, c := range []struct {
		ref    string
		amount int64
		ok     bool
	}{{"nobody", 1, false}, {a.ID, 0, false}, {a.ID, 150_001, false}, {a.ID, 50_000, true}, {a.ID, 100_001, false}} {
		if number := h.sim.RefundInPortal(c.ref, c.amount); (number != "") != c.ok {
			t.Errorf("of %s %d are given back as %q", c.ref, c.amount, number)
		}
	}
	h.refund(h.refundRequest(a, 100_001, 50_000), payment.RefundRefused, "99")
	h.refund(h.refundRequest(a, 100_000, 50_000), payment.RefundDone, "00")
	h.refunded(150_000, 2)
}
