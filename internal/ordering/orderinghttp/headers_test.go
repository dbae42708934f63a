package orderinghttp_test

import (
	"net/http"
	"strings"
	"testing"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/testenv"
)

// sendWithHeaders sends a request with headers of the form "name: value" to a gateway's route.
func (h *testServer) sendWithHeaders(address string, headers ...string) {
	h.t.Helper()
	r := testenv.Must(http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.url+address, http.NoBody))(h.t)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	h.send(r)
}

// wantHeaders checks the recorded headers of the reports with a verdict.
func (h *testServer) wantHeaders(verdict string, want ...string) {
	h.t.Helper()
	got := h.read("SELECT headers FROM payment_event WHERE verdict = '" + verdict + "'")
	if len(got) != 1 || got[0] != strings.Join(want, "\n") {
		h.t.Errorf("with %s is kept %q, want %q", verdict, got, want)
	}
}

const remoteAddress = "Remote-Address: 127.0.0.1"

// TestGateways_headers checks that every gateway message is recorded with its sender's headers, whether from VNPay, a
// guest or a stranger, but without signatures or credentials.
func TestGateways_headers(t *testing.T) {
	secrets := []string{
		"Authorization: Bearer tea", "Cookie: session=tea", "X-LINE-Authorization: tea", "Proxy-Authorization: tea", "X-Tea: tea",
	}
	eachEngine(t, money.VND, func(h *testServer) {
		o := h.order(payment.VNPay)
		ipn := "/payment/vnpay/ipn?"
		brought := append([]string{"User-Agent: VNPay/2", "Content-Type: text/plain", "X-Forwarded-For: 10.0.0.1, 10.0.0.2"}, secrets...)
		h.sendWithHeaders(ipn+h.notice(h.ref(o.ID)), brought...)
		h.wantHeaders("PAID", remoteAddress, "User-Agent: VNPay/2", "Content-Type: text/plain", "X-Forwarded-For: 10.0.0.1, 10.0.0.2")
		h.sendWithHeaders(ipn+h.notice("06gvsv4adlo01am6obvdlo01to"), "User-Agent: VNPay/3")
		h.wantHeaders("UNKNOWN_REF", remoteAddress, "User-Agent: VNPay/3")
		h.sendWithHeaders(ipn+h.notice(h.ref(o.ID), "vnp_TmnCode", "OTHER123"), "User-Agent: VNPay/4")
		h.wantHeaders("FOREIGN", remoteAddress, "User-Agent: VNPay/4")
		h.sendWithHeaders(ipn+"forged", "User-Agent: \xff"+strings.Repeat("x", 5000))
		h.wantHeaders("FORGED", remoteAddress, "User-Agent: ?"+strings.Repeat("x", 256-len("User-Agent: ?")))
	})
	eachEngine(t, money.TWD, func(h *testServer) {
		o := h.order(payment.LINEPay)
		confirm := "/payment/linepay/confirm?orderId=" + h.ref(o.ID) + "&transactionId="
		h.press(o.Payment.RedirectURL, "leave")
		h.sendWithHeaders(confirm+"2026112100000000001", append(secrets, "User-Agent: a stranger's")...)
		h.wantHeaders("FORGED", remoteAddress, "User-Agent: a stranger's")
		h.sendWithHeaders(confirm+h.line.Payments()[0].TransactionID, append(secrets, "User-Agent: Line/14", "X-LINE-Nonce: 7", "X-LINE-ChannelId: 1")...)
		h.wantHeaders("PAID", remoteAddress, "User-Agent: Line/14", "X-Line-Channelid: 1", "X-Line-Nonce: 7")
	})
}

// TestGateways_headersAreBounded checks that the recorded headers stay within their limits, regardless of the request's
// size.
func TestGateways_headersAreBounded(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		var many []string
		for i := range 100 {
			many = append(many, "X-Line-"+strings.Repeat("a", 200)+string(rune('0'+i/10))+string(rune('0'+i%10))+": "+strings.Repeat("é", 100))
		}
		h.sendWithHeaders("/payment/vnpay/ipn?forged", many...)
		kept := h.read("SELECT headers FROM payment_event")
		if len(kept) != 1 || len(kept[0]) > 16*257 || strings.Count(kept[0], "\n") != 15 || !strings.HasPrefix(kept[0], remoteAddress) {
			h.t.Errorf("kept are %q", kept)
		}
	})
}
