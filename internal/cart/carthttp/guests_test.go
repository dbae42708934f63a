package carthttp_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/account/accounttest"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/cart"
	"comanda/internal/cart/carthttp"
	"comanda/internal/cart/carttest"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/limit"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// party finds the guests of one visit: the token is the guest's name.
type party struct{ visit string }

func (p party) Guest(_ context.Context, token string) (cart.Guest, error) {
	if !slices.Contains([]string{"an", "binh", "chi"}, token) {
		return cart.Guest{}, fault.New(fault.Unauthenticated, "customer_token_invalid", "")
	}
	return cart.Guest{Branch: 1, VisitID: p.visit, Hash: token}, nil
}

// eachTable runs a test with the routes of a table's cart, which the branch shares, on each engine.
func eachTable(t *testing.T, test func(t *testing.T, s *site)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := &site{Fixture: carttest.Open(t, db, 20, stock.Unlimited, stock.Unlimited)}
		s.Share(t, true)
		server := testenv.Must(httpapi.New(httpapi.Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
		server.SetAuthenticator(authzhttp.Authenticator{Tokens: accounttest.ByID{}, Routes: accounttest.ByID{}})
		server.SetLimiter(&limit.Limiter{Local: limit.NewMemory(), Now: s.Clock.Now})
		shared := &cart.SharedService{
			Store: s.Store, LiveMenus: s.Carts.LiveMenus, Phones: orderingsql.NewOrders(db), Now: s.Clock.Now,
		}
		carthttp.RegisterGuests(server.API(), shared, party{s.Visit})
		s.server = server
		test(t, s)
	})
}

// cart sends a guest's request about the table's cart.
func (s *site) cart(t *testing.T, guest, method, line, body string, headers ...string) answer {
	t.Helper()
	path := "/cis/visit/" + s.Visit + "/cart"
	if line != "" {
		path += "/lines/" + line
	}
	return s.ask(t, "", method, path, body, append([]string{httpapi.CustomerTokenHeader, guest}, headers...)...)
}

func unitsOf(item, qty int) string { return fmt.Sprintf(`{"itemId":"%d","qty":%d}`, item, qty) }

// brief formats the lines of a cart as "phone id×quantity note", with a star for those of the requesting phone.
func (a answer) brief(t *testing.T) string {
	t.Helper()
	list, ok := a.body["lines"].([]any)
	if !ok {
		t.Fatalf("no lines: %v", a.body)
	}
	all := make([]string, len(list))
	for i, it := range list {
		l := it.(map[string]any)
		ownLines := ""
		if l["mine"] == true {
			ownLines = "*"
		}
		all[i] = strings.TrimSpace(fmt.Sprint(l["phone"], ownLines, " ", l["id"], "×", l["qty"], " ", l["notes"]))
	}
	return strings.Join(all, ", ")
}

// Two phones fill one cart: each sees the lines of both, with the numbers of their guests, and changes them all.
func TestGuests_story(t *testing.T) {
	eachTable(t, func(t *testing.T, s *site) {
		empty := map[string]any{"version": 0.0, "lines": []any{}}
		testenv.Equal(t, empty, s.cart(t, "an", "GET", "", "").want(t, 200, "").body)
		for i, c := range []struct {
			guest, method, line, body, want string
		}{
			{"binh", "PUT", "binh-line-1", unitsOf(101, 2), "1* binh-line-1×2"},
			{"an", "PUT", "an-line-1", `{"itemId":"102","qty":1,"notes":" no onion "}`, "1 binh-line-1×2, 2* an-line-1×1 no onion"},
			{"an", "PUT", "an-line-1", `{"itemId":"102","qty":1,"notes":"no onion"}`, "1 binh-line-1×2, 2* an-line-1×1 no onion"},
			{"binh", "PUT", "an-line-1", unitsOf(102, 3), "1* binh-line-1×2, 2 an-line-1×3"},
			{"an", "DELETE", "binh-line-1", "", "2* an-line-1×3"},
			{"an", "DELETE", "binh-line-1", "", "2* an-line-1×3"},
			{"binh", "PUT", "binh-line-2", unitsOf(101, 1), "2 an-line-1×3, 1* binh-line-2×1"},
		} {
			s.Clock.Advance(10 * time.Second)
			got := s.cart(t, c.guest, c.method, c.line, c.body).want(t, 200, "").brief(t)
			if got != c.want {
				t.Errorf("%d: %q, want %q", i, got, c.want)
			}
			if again := s.cart(t, c.guest, "GET", "", "").want(t, 200, "").brief(t); again != got {
				t.Errorf("%d: %q, and then %q", i, got, again)
			}
		}
		// A line keeps its name when its dish leaves the menu, and can be taken out.
		s.Name(t, 102, `{"en":"Soup","vi":"Canh"}`)
		s.Drop(t, 102)
		lines := s.cart(t, "an", "GET", "", "", "Accept-Language", "en").want(t, 200, "").body["lines"].([]any)
		want := map[string]any{
			"id": "an-line-1", "phone": 2.0, "mine": true, "itemId": "102", "name": "Soup", "qty": 3.0, "notes": "",
		}
		testenv.Equal[any](t, want, lines[0])
		testenv.Equal(t, "1 binh-line-2×1", s.cart(t, "an", "DELETE", "an-line-1", "").want(t, 200, "").brief(t))
	})
}

func TestGuests_refusals(t *testing.T) {
	eachTable(t, func(t *testing.T, s *site) {
		s.cart(t, "an", "PUT", "an-line-0", unitsOf(101, 1)).want(t, 200, "")
		s.cart(t, "an", "DELETE", "an-line-0", "").want(t, 200, "")
		s.cart(t, "an", "PUT", "an-line-1", unitsOf(101, 1)).want(t, 200, "")
		for name, c := range map[string]struct {
			guest, line, body string
			status            int
			code              string
		}{
			"no token":         {"", "an-line-2", unitsOf(101, 1), 401, "customer_token_invalid"},
			"a short id":       {"an", "an-2", unitsOf(101, 1), 422, "invalid"},
			"an id with signs": {"an", "an.line.2", unitsOf(101, 1), 422, "invalid"},
			"no such dish":     {"an", "an-line-2", unitsOf(999, 1), 404, "dish_not_found"},
			"none":             {"an", "an-line-2", unitsOf(101, 0), 422, "invalid"},
			"too many":         {"an", "an-line-2", unitsOf(101, 21), 422, "invalid"},
			"a long note":      {"an", "an-line-2", `{"itemId":"101","qty":1,"notes":"` + strings.Repeat("x", 201) + `"}`, 422, "invalid"},
			"another dish":     {"an", "an-line-1", unitsOf(102, 1), 409, "cart_changed"},
			"it was removed":   {"an", "an-line-0", unitsOf(101, 1), 409, "cart_changed"},
		} {
			t.Run(name, func(t *testing.T) { s.cart(t, c.guest, "PUT", c.line, c.body).want(t, c.status, c.code) })
		}
		s.ask(t, "", "GET", "/cis/visit/another/cart", "", httpapi.CustomerTokenHeader, "an").want(t, 404, "visit_not_found")
		s.Share(t, false)
		for method, line := range map[string]string{"GET": "", "DELETE": "an-line-1"} {
			s.cart(t, "an", method, line, "").want(t, 409, "cart_not_shared")
		}
		s.cart(t, "an", "PUT", "an-line-1", unitsOf(101, 1)).want(t, 409, "cart_not_shared")
	})
}

// Changes of a table's cart are limited to the speed of its guests' taps.
func TestGuests_limit(t *testing.T) {
	eachTable(t, func(t *testing.T, s *site) {
		for i := range 80 {
			guest := []string{"an", "binh"}[i%2] // each phone also has its own limit, for all requests
			s.cart(t, guest, "PUT", "an-line-1", unitsOf(101, 1+i%20)).want(t, http.StatusOK, "")
		}
		s.cart(t, "chi", "PUT", "an-line-1", unitsOf(101, 1)).want(t, http.StatusTooManyRequests, "rate_limited")
		s.cart(t, "chi", "GET", "", "").want(t, http.StatusOK, "")
		s.Clock.Advance(250 * time.Millisecond)
		s.cart(t, "chi", "PUT", "an-line-1", unitsOf(101, 1)).want(t, http.StatusOK, "")
	})
}
