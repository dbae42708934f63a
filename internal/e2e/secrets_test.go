package e2e

import (
	"bytes"
	"net/http"
	"os"
	"strings"
	"testing"

	"comanda/internal/testenv"
)

// However tokens are sent, correctly or not, the server logs none of them, and no key of Redis contains one.
func TestSecrets(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, settings{"LOG_LEVEL": "debug", "LOG_FORMAT": "json", "ACCESS_LOG": "on"})
		g := s.guest(0)
		secrets := map[string]string{"service token": s.secret, "customer token": g.token}
		for _, table := range s.tables {
			secrets["code of table "+table.ID] = table.QR
		}
		s.sendSecrets(g)
		s.pay(g.mustPlace(t, line{ItemID: pho, Qty: 1}).ID)
		s.must("stock", "reconcile")
		keys := s.keys()
		if s.redis != nil { // background failures are logged too
			s.redis.Kill()
			s.sendSecrets(g)
			s.redis.Restart()
		}
		s.awaitConsistent()
		s.servers[0].stop()

		log := testenv.Must(os.ReadFile(s.servers[0].log))(t)
		if n := bytes.Count(log, []byte(`"msg":"request"`)); n < 20 {
			t.Errorf("the log has only %d requests", n)
		}
		if !strings.Contains(keys, "visit:byCustomer:") {
			t.Errorf("%d bytes of keys of Redis contain no guest", len(keys))
		}
		for what, secret := range secrets {
			for _, form := range []string{secret, secret[:len(secret)/2], secret[len(secret)/2:]} {
				if strings.Contains(keys, form) {
					t.Errorf("a %s stands in a key of Redis", what)
				}
				if before, _, ok := bytes.Cut(log, []byte(form)); ok {
					line := log[bytes.LastIndexByte(before, '\n')+1:]
					t.Errorf("a %s is logged: %s", what, line[:bytes.IndexByte(line, '\n')])
				}
			}
		}
	}, embedded, servers)
}

// sendSecrets sends every secret in every place where clients put one, and in some where they should not.
func (s *installation) sendSecrets(g guest) {
	qr := s.tables[0].QR
	create := "/cis/order/create"
	w := g.request(line{ItemID: pho, Qty: 1})
	bearer := []string{"Authorization", "Bearer " + s.secret}
	s.send("GET", "/m/"+qr, nil)
	s.send("GET", "/cis/landing?qr="+qr, nil, "X-Customer-Token", g.token)
	s.send("GET", "/cis/landing?qr="+qr+"&customerToken="+g.token, nil)
	s.send("GET", "/cis/landing?qr="+qr+"%00", nil)
	s.send("POST", "/cis/landing", map[string]string{"qr": qr, "customerToken": g.token})
	s.send("POST", "/cis/landing", []byte(`{"qr":"`+qr+`"`))
	s.send("POST", "/cis/landing", map[string]string{"qr": g.token, "more": qr})
	s.send("PUT", "/cis/landing?qr="+qr, nil)
	s.send("GET", "/"+qr+"/"+g.token+"/"+s.secret, nil)
	s.send("POST", create+"?token="+g.token, w, "X-Customer-Token", strings.ToLower(g.token))
	s.send("POST", create, map[string]any{
		"items": w.Items, "paymentMethod": g.token, "clientTxnId": g.token, "menuVersionId": w.MenuVersionID,
		"visitId": qr, "customerToken": g.token,
	})
	s.send("POST", create, []byte(`{"customerToken":"`+g.token+`","customerToken":"`+qr+`"}`))
	s.send("GET", "/cis/order/"+g.token, nil, "X-Customer-Token", g.token+g.token)
	s.send("GET", "/cis/visit/"+g.visit+"/orders", nil, "X-Customer-Token", g.token)
	s.send("GET", "/api/tables?branchId="+s.secret, nil, bearer...)
	s.send("GET", "/api/orders/"+s.secret, nil, bearer...)
	s.send("GET", "/api/tables", nil, "Authorization", "Basic "+s.secret)
	s.send("GET", "/api/tables", nil, "Authorization", "Bearer "+s.secret+"x")
	s.send("GET", "/api/tables?token="+s.secret, nil, "X-Request-Id", "plausible-id")
	s.send(http.MethodPost, "/cis/payments/mock-callback", map[string]string{"orderId": g.token, "method": s.secret, "result": qr})
}
