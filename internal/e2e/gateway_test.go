package e2e

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"comanda/internal/sim/linepaysim"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

const (
	vnpay   = "VNPAY"
	linePay = "LINEPAY"

	demoPassword = "the demo's long password"
)

// simulated enables the gateways' simulators, and accounts with a known password.
var simulated = settings{"SIMULATORS": "true", "DEMO_PASSWORD": demoPassword}

// taipeiOrder returns a guest at the demo's second branch, whose prices are in dollars, with an order to place.
func (s *installation) taipeiOrder() (guest, orderRequest) {
	s.t.Helper()
	var page struct {
		Items []table `json:"items"`
	}
	s.staff(http.MethodGet, "/api/tables?branchId=2", nil).into(s.t, &page)
	var landed struct {
		Token string `json:"customerToken"`
		Visit string `json:"visitId"`
	}
	s.send(http.MethodPost, "/cis/landing", map[string]string{"qr": page.Items[0].QR}).into(s.t, &landed)
	var m menu
	s.send(http.MethodPost, "/cis/menu/active", map[string]string{"branchId": "2"}).into(s.t, &m)
	g := guest{s, landed.Token, landed.Visit}
	return g, orderRequest{
		Items: []line{{ItemID: m.items()[0].ItemID, Qty: 2}}, PaymentMethod: linePay, ClientTxnID: rand.Text(),
		MenuVersionID: m.Version, VisitID: g.visit,
	}
}

// placeRedirected places an order to be paid on a gateway's page, and returns the page's address.
func (g guest) placeRedirected(w orderRequest) (o order, page string) {
	t := g.s.t
	t.Helper()
	a := g.place(w).want(t, http.StatusCreated, "")
	return a.order(t), pageOf(t, a)
}

func pageOf(t *testing.T, a answer) string {
	t.Helper()
	var to struct {
		Payment struct {
			RedirectURL string `json:"redirectUrl"`
		} `json:"payment"`
	}
	a.into(t, &to)
	if to.Payment.RedirectURL == "" {
		t.Fatalf("there is no page to pay on: %v", a)
	}
	return to.Payment.RedirectURL
}

// followRedirects follows redirects, as a browser without cookies does, and returns the last path and its text.
func (s *installation) followRedirects(r *http.Request) (path, text string) {
	s.t.Helper()
	client := *s.http
	client.CheckRedirect = nil
	resp, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s is answered %d %.300s, %v", r.URL.Path, resp.StatusCode, body, err)
	}
	return resp.Request.URL.Path, string(body)
}

// pressButton presses a button of a gateway's page as the guest.
func (s *installation) pressButton(page, action string) (path string) {
	s.t.Helper()
	form := url.Values{"action": {action}}.Encode()
	r := testenv.Must(http.NewRequestWithContext(s.t.Context(), http.MethodPost, page, strings.NewReader(form)))(s.t)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	path, _ = s.followRedirects(r)
	return path
}

// wantPages compares the result page, which follows the gateway's page, in its three languages.
func (s *installation) wantPages(path string, words map[string]string) {
	s.t.Helper()
	for language, want := range words {
		r := testenv.Must(http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.servers[0].addr+path,
			http.NoBody))(s.t)
		r.Header.Set("Accept-Language", language)
		if _, text := s.followRedirects(r); !strings.Contains(text, want) || !strings.Contains(text, `lang="`+language+`"`) {
			s.t.Errorf("the page in %s has no %q:\n%s", language, want, text)
		}
	}
}

var (
	saysPaid = map[string]string{"vi": "Đã thanh toán", "en": "Paid", "zh-TW": "付款完成"}
	saysNot  = map[string]string{"vi": "không thành công", "en": "go through", "zh-TW": "付款未成功"}
	saysWait = map[string]string{"vi": "Đang kiểm tra", "en": "Checking the payment", "zh-TW": "正在確認付款"}
)

// awaitPayment waits until an order's payment has the expected state.
func (g guest) awaitPayment(o order, want string) {
	g.s.t.Helper()
	g.s.await(patience, func() error {
		if now := g.get(o.ID).order(g.s.t); now.PaymentStatus != want {
			return fmt.Errorf("order %s is %s", o.ID, now.PaymentStatus)
		}
		return nil
	})
}

// makeQueriesDue makes all queries to gateways due.
func (s *installation) makeQueriesDue() {
	s.t.Helper()
	s.database(func(db *sqldb.DB) error {
		_, err := db.Exec(s.t.Context(), statement("UPDATE payment_attempt SET check_at = 1 WHERE check_at IS NOT NULL"))
		return err
	})
}

func (s *installation) count(query string) (n int64) {
	s.t.Helper()
	s.database(func(db *sqldb.DB) (err error) {
		n, err = sqldb.Scalar[int64](s.t.Context(), db, statement(query))
		return err
	})
	return n
}

// faults sets the faults of a gateway's simulator.
func (s *installation) faults(gateway string, faults any) {
	s.t.Helper()
	s.send(http.MethodPut, "/sim/"+gateway+"/control", map[string]any{"faults": faults}).want(s.t, http.StatusOK, "")
}

// A guest in Hà Nội pays, declines, and closes the window at VNPay. Forged requests change nothing and are recorded.
func TestVNPay(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, simulated)
		g := s.guest(0)
		w := g.request(line{ItemID: phoGa, Qty: 1})
		w.PaymentMethod = vnpay
		paid, page := g.placeRedirected(w)
		s.wantPages(s.pressButton(page, "pay"), saysPaid)
		g.awaitPayment(paid, "PAID")

		w.ClientTxnID = rand.Text()
		declined, page := g.placeRedirected(w)
		s.wantPages(s.pressButton(page, "decline"), saysNot)
		g.awaitPayment(declined, "UNPAID")
		second := g.send(http.MethodPost, "/cis/order/"+declined.ID+"/pay", map[string]string{"method": vnpay})
		s.wantPages(s.pressButton(pageOf(t, second.want(t, http.StatusOK, "")), "twice"), saysPaid)
		g.awaitPayment(declined, "PAID")

		s.faults("vnpay", map[string]any{"lose": 10})
		w.ClientTxnID = rand.Text()
		left, page := g.placeRedirected(w)
		s.pressButton(page, "leave")
		s.makeQueriesDue()
		g.awaitPayment(left, "PAID")

		w.ClientTxnID = rand.Text()
		open, _ := g.placeRedirected(w)
		ref := url.QueryEscape(s.refOf(open.ID))
		forged := s.send(http.MethodGet, "/payment/vnpay/ipn?vnp_TxnRef="+ref+"&vnp_ResponseCode=00&vnp_SecureHash=00", nil)
		var reply struct{ RspCode string }
		forged.into(t, &reply)
		if n := s.count("SELECT count(*) FROM payment_event WHERE verdict = 'FORGED'"); reply.RspCode != "97" || n != 1 {
			t.Errorf("a forgery is answered %v, and %d are kept", forged, n)
		}
		s.wantPages("/pay/"+ref, saysWait)
		g.awaitPayment(open, "UNPAID")
		s.awaitConsistent()
		s.awaitPublished()
	}, embedded, servers)
}

// refOf returns the gateway's reference of an order's newest attempt.
func (s *installation) refOf(id string) (ref string) {
	s.t.Helper()
	s.database(func(db *sqldb.DB) (err error) {
		ref, err = sqldb.Scalar[string](s.t.Context(), db,
			statement("SELECT payment_ref FROM order_info WHERE id = '"+id+"'"))
		return err
	})
	return ref
}

// owner logs in as the demo's owner and returns a function that sends requests as that account.
func (s *installation) owner() func(method, path string, body any) answer {
	s.t.Helper()
	var in struct {
		AccessToken string `json:"accessToken"`
	}
	account := map[string]string{"email": "owner@demo.example", "password": demoPassword}
	s.send(http.MethodPost, "/auth/login", account).want(s.t, http.StatusOK, "").into(s.t, &in)
	return func(method, path string, body any) answer {
		return s.send(method, path, body, "Authorization", "Bearer "+in.AccessToken)
	}
}

// A guest in Taipei pays, declines, and closes the window at LINE Pay. The owner refunds in two parts.
func TestLINEPay(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, simulated)
		g, w := s.taipeiOrder()
		paid, page := g.placeRedirected(w)
		path := s.pressButton(page, "twice") // one of the two browsers waits
		g.awaitPayment(paid, "PAID")
		s.wantPages(path, saysPaid)

		w.ClientTxnID = rand.Text()
		declined, page := g.placeRedirected(w)
		path = s.pressButton(page, "decline")
		s.wantPages(path, saysWait) // LINE Pay itself has not been queried yet
		s.makeQueriesDue()
		s.await(patience, func() error {
			if n := s.count("SELECT count(*) FROM payment_attempt WHERE state = 'FAILED'"); n != 1 {
				return fmt.Errorf("%d have failed", n)
			}
			return nil
		})
		s.wantPages(path, saysNot)

		w.ClientTxnID = rand.Text()
		left, page := g.placeRedirected(w)
		s.pressButton(page, "leave")
		s.makeQueriesDue()
		g.awaitPayment(left, "PAID")
		g.cancel(declined.ID).want(t, http.StatusOK, "")

		owner := s.owner()
		refund := func(amount int64) answer {
			body := map[string]any{"reason": "cold"}
			if amount > 0 { // without an amount, the rest is refunded
				body["amount"] = amount
			}
			return owner(http.MethodPost, "/api/orders/"+paid.ID+"/refunds", body)
		}
		refund(100).want(t, http.StatusCreated, "")
		refund(paid.Total-99).want(t, http.StatusConflict, "not_refundable")
		refund(0).want(t, http.StatusCreated, "")
		g.awaitPayment(paid, "REFUNDED")
		var seen struct {
			Payments []struct{ OrderID, Refunded string }
		}
		s.send(http.MethodGet, "/sim/linepay/control", nil).into(t, &seen)
		if want := fmt.Sprint(paid.Total); !strings.Contains(fmt.Sprint(seen.Payments), " "+want+"}") {
			t.Errorf("%s should have gone back: %v", want, seen.Payments)
		}
		s.awaitConsistent()
		s.awaitPublished()
	}, embedded, servers)
}

// linePayServer is a LINE Pay that survives the servers. It drops its reply to the first confirmation.
type linePayServer struct {
	sim   *linepaysim.Simulator
	once  sync.Once
	taken chan struct{} // closed when the first confirmation has captured the money
}

func (p *linePayServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	first := false
	if strings.HasSuffix(r.URL.Path, "/confirm") {
		p.once.Do(func() { first = true })
	}
	if !first {
		p.sim.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body) // reads to the end, else the server does not notice that the caller is gone
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	p.sim.ServeHTTP(httptest.NewRecorder(), r)
	close(p.taken)
	<-r.Context().Done()
}

// The server is killed after LINE Pay has captured the money and before its reply arrives. After the restart the server
// queries LINE Pay, and the order is paid once (I6).
func TestCrash_between_confirm_and_report(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		const channel, secret = "1656000001", "a917ab6a2367b536f8e5a6e2977e06f4"
		sim := testenv.Must(linepaysim.New(linepaysim.Options{ChannelID: channel, ChannelSecret: secret}))(t)
		t.Cleanup(sim.Close)
		p := &linePayServer{sim: sim, taken: make(chan struct{})}
		away := httptest.NewServer(p)
		t.Cleanup(away.Close)
		s := open(t, k, settings{"LINEPAY_CHANNEL_ID": channel, "LINEPAY_CHANNEL_SECRET": secret, "LINEPAY_URL": away.URL})
		g, w := s.taipeiOrder()
		o, page := g.placeRedirected(w)
		s.pressButton(page, "leave")
		returnPath := fmt.Sprintf("/payment/linepay/confirm?transactionId=%s&orderId=%s", sim.Payments()[0].TransactionID, s.refOf(o.ID))
		answered := make(chan answer, 1)
		go func() { answered <- s.sendTo(s.servers[0].addr, http.MethodGet, returnPath, nil) }()
		<-p.taken
		s.servers[0].kill()
		if a := <-answered; a.status != 0 {
			t.Fatalf("a browser whose server was killed is answered %v", a)
		}
		s.servers[0].start()
		g.awaitPayment(o, "CONFIRMING")
		g.cancel(o.ID).want(t, http.StatusConflict, "payment_in_progress")
		s.makeQueriesDue()
		g.awaitPayment(o, "PAID")
		s.wantPages("/pay/"+s.refOf(o.ID), saysPaid)
		paid := sim.Payments()[0]
		if text, _ := json.Marshal(paid); paid.State != "PAID" || len(sim.Payments()) != 1 {
			t.Errorf("LINE Pay knows %s", text)
		}
		s.awaitConsistent()
		s.awaitPublished()
	}, embedded, servers)
}
