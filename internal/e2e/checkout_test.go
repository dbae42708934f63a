package e2e

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"comanda/internal/testenv"
)

const memberPassword = "correct horse battery staple"

// member is a logged-in account.
type member struct {
	s       *installation
	id      string
	token   string
	refresh string
}

// newMember registers, verifies the e-mail address with the code from the message, and logs in.
func (s *installation) newMember(name string) member {
	s.t.Helper()
	email := strings.ToLower(name+rand.Text()) + "@example.com"
	account := map[string]string{"email": email, "password": memberPassword}
	s.send(http.MethodPost, "/auth/register", account, "Accept-Language", "en").want(s.t, http.StatusCreated, "")
	proof := map[string]string{"purpose": "VERIFY", "email": email, "code": s.codeSentTo(email)}
	s.send(http.MethodPost, "/auth/otp/verify", proof).want(s.t, http.StatusOK, "")
	var in struct {
		AccessToken  string `json:"accessToken"`
		RefreshToken string `json:"refreshToken"`
		User         struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	s.send(http.MethodPost, "/auth/login", account).want(s.t, http.StatusOK, "").into(s.t, &in)
	return member{s, in.User.ID, in.AccessToken, in.RefreshToken}
}

var codeLine = regexp.MustCompile(`(?m)^\s*([0-9]{6})\s*$`)

// codeSentTo waits for the message to an address, from any process, and returns its code.
func (s *installation) codeSentTo(email string) (code string) {
	s.t.Helper()
	s.await(patience, func() error {
		for _, v := range s.servers {
			files, err := filepath.Glob(filepath.Join(v.env["DATA_DIR"], "mail", "*.eml"))
			if err != nil {
				return err
			}
			for _, f := range files {
				text, err := os.ReadFile(f)
				if m := codeLine.FindSubmatch(text); err == nil && m != nil && strings.Contains(string(text), email) {
					code = string(m[1])
					return nil
				}
			}
		}
		return fmt.Errorf("no message to %s", email)
	})
	return code
}

func (m member) send(method, path string, body any) answer {
	return m.s.send(method, path, body, "Authorization", "Bearer "+m.token)
}

// addToCart adds a quantity of an item's dish to the cart.
func (m member) addToCart(item string, quantity int64) answer {
	return m.send(http.MethodPost, "/cart/add-dish", map[string]any{"dishId": m.s.bill.dish(item).DishID, "quantity": quantity})
}

// memberCart is the response of GET /cart.
type memberCart struct {
	ID    *string `json:"id"`
	Items []struct {
		ID       string `json:"id"`
		DishID   string `json:"dishId"`
		Quantity int64  `json:"quantity"`
	} `json:"items"`
	Total int64 `json:"totalPrice"`
}

func (m member) cart(t testing.TB) (b memberCart) {
	t.Helper()
	m.send(http.MethodGet, "/cart", nil).want(t, http.StatusOK, "").into(t, &b)
	return b
}

// checkOut turns the cart into an order. It is safe for any goroutine.
func (m member) checkOut(key string) answer {
	return m.send(http.MethodPost, "/cart/checkout", map[string]string{
		"receiverName": "Lan", "receiverPhone": "0912 345 678", "receiverAddress": "12 Hàng Bạc, Hà Nội", "paymentMethod": sandbox,
		"clientTxnId": key,
	})
}

// checkoutResponse is the response of a checkout.
type checkoutResponse struct {
	OrderID string `json:"orderId"`
	Total   int64  `json:"totalPrice"`
}

func (a answer) checkedOut(t testing.TB) (b checkoutResponse) {
	t.Helper()
	a.into(t, &b)
	return b
}

// orders lists a member's orders, the newest first.
func (m member) orders(t testing.TB) (all []order) {
	t.Helper()
	var page struct {
		Items []order `json:"items"`
	}
	m.send(http.MethodGet, "/orders?size=100", nil).want(t, http.StatusOK, "").into(t, &page)
	return page.Items
}

// A member registers, orders and pays. A flush of Redis and two kills of the server meanwhile lose nothing.
func TestCheckout(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		s.quota(pho, 10)
		m, other := s.newMember("lan"), s.newMember("minh")
		m.addToCart(pho, 2).want(t, http.StatusCreated, "")
		m.addToCart(bun, 1).want(t, http.StatusCreated, "")
		total := s.price([]line{{ItemID: pho, Qty: 2}, {ItemID: bun, Qty: 1}})
		full := m.cart(t)
		if len(full.Items) != 2 || full.Total != total {
			t.Fatalf("%+v, want %d", full, total)
		}
		s.flush()
		s.servers[0].kill()
		s.servers[0].start()
		if again := m.cart(t); fmt.Sprint(again.Items) != fmt.Sprint(full.Items) {
			t.Errorf("after a flush and a kill the cart is %+v", again)
		}
		o := m.checkOut("first").want(t, http.StatusCreated, "").checkedOut(t)
		s.servers[0].kill()
		s.servers[0].start()
		if again := m.checkOut("first").want(t, http.StatusOK, "").checkedOut(t); again != o || o.Total != total {
			t.Errorf("%+v, and again %+v", o, again)
		}
		if left := m.cart(t); left.ID != nil || len(left.Items) != 0 {
			t.Errorf("the cart is still there: %+v", left)
		}
		m.checkOut("second").want(t, http.StatusConflict, "cart_empty")
		other.send(http.MethodGet, "/orders/"+o.OrderID, nil).want(t, http.StatusNotFound, "order_not_found")
		other.send(http.MethodPost, "/orders/"+o.OrderID+"/cancel", nil).want(t, http.StatusNotFound, "order_not_found")
		s.flush()
		s.pay(o.OrderID)
		got := m.orders(t)
		if len(got) != 1 || got[0].ID != o.OrderID || got[0].PaymentStatus != "PAID" || len(got[0].Items) != 2 {
			t.Errorf("orders = %+v, want order %s, PAID with two items", got, o.OrderID)
		}
		other.addToCart(pho, 9).want(t, http.StatusCreated, "")
		other.checkOut("too much").want(t, http.StatusConflict, "sold_out")
		if kept := other.cart(t); len(kept.Items) != 1 || kept.Items[0].Quantity != 9 {
			t.Errorf("a refused checkout has changed the cart: %+v", kept)
		}
		s.wantStock(pho, 10, 0, 2)
		s.awaitConsistent()
		s.awaitDocuments()
		s.awaitKeysDeclared()
		s.awaitPublished()
	}, embedded, servers, pair, cluster)
}

// Members order one cart after the other while the server is killed. Every confirmed step is stored, unanswered ones
// are retried, and no cart is both ordered and still full (C4, I5, I11).
func TestCheckout_crash(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		var all []*checkoutMember
		for i := range 6 {
			all = append(all, &checkoutMember{member: s.newMember(fmt.Sprint("m", i))})
		}
		for round := range 3 {
			orderUntilKill(s, all, round)
			for _, m := range all {
				m.retryAll(t)
			}
		}
		n := 0
		for _, m := range all {
			n += len(m.bought)
		}
		if left := s.rowCounts(); left["orders"] != int64(n) || left["holds"] != int64(n) {
			t.Errorf("%d orders were promised; there are %v", n, left)
		}
		s.awaitConsistent()
		s.awaitDocuments()
		s.awaitKeysDeclared()
	}, embedded, servers)
}

// checkoutMember is a member who orders one cart after the other.
type checkoutMember struct {
	member

	keys   []string // idempotency keys of requested checkouts
	bought map[string]checkoutResponse
}

// orderUntilKill runs all members until the server is killed, and starts it again.
func orderUntilKill(s *installation, all []*checkoutMember, round int) {
	s.t.Helper()
	beforeKill := testenv.Size(15, 30) // number of orders
	var wg sync.WaitGroup
	orders := make(chan struct{}, 10_000)
	for _, m := range all {
		wg.Go(func() {
			for m.buyOnce(s.t, fmt.Sprint(round, "-", len(m.keys))) {
				orders <- struct{}{}
			}
		})
	}
	finished := make(chan struct{})
	go func() {
		wg.Wait()
		close(finished)
	}()
	for range beforeKill {
		select {
		case <-orders:
		case <-finished:
			s.t.Fatal("no order succeeds any more")
		}
	}
	s.servers[0].kill()
	<-finished
	s.servers[0].start()
}

// buyOnce fills the cart and checks out. It reports whether both requests were answered.
func (m *checkoutMember) buyOnce(t *testing.T, key string) bool {
	if a := m.addToCart(phoGa, 1); a.status != http.StatusCreated {
		return false
	}
	m.keys = append(m.keys, key)
	a := m.checkOut(key)
	if a.status != http.StatusCreated {
		if a.err == nil {
			t.Errorf("a checkout is answered %v", a)
		}
		return false
	}
	m.record(t, key, a)
	return true
}

func (m *checkoutMember) record(t *testing.T, key string, a answer) {
	if m.bought == nil {
		m.bought = map[string]checkoutResponse{}
	}
	m.bought[key] = a.checkedOut(t)
}

// retryAll retries every checkout and compares the result with the member's orders.
func (m *checkoutMember) retryAll(t *testing.T) {
	t.Helper()
	for _, key := range m.keys {
		a := m.checkOut(key)
		before, known := m.bought[key]
		if a.status/100 != 2 || known && (a.status != http.StatusOK || a.checkedOut(t) != before) {
			t.Fatalf("%s was answered %+v, and now %v", key, before, a)
		}
		m.record(t, key, a)
	}
	if n := len(m.orders(t)); n != min(len(m.bought), 100) {
		t.Errorf("%d orders were promised to member %s; there are %d", len(m.bought), m.id, n)
	}
	if len(m.cart(t).Items) > 1 {
		t.Errorf("the dish stands twice in the cart of member %s", m.id)
	}
}
